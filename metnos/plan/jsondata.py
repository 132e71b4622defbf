r"""JSON as data: the one strict reader, the one canonical form, the one digest.

Law: every byte string that is hashed, signed or approved passes through here. A reader elsewhere in
Metnos would keep the last of two duplicate keys, or turn a 30-digit integer into a float. What is not JSON
(NaN, a lone surrogate, an integer beyond 2^53, a set) raises `JSONFault`; nothing is converted in silence.

Order of refusal in `loads_strict`: size, encoding, depth (iterative, before anything recursive), syntax, then
duplicate keys, numbers and surrogates, with a JSON pointer to the first of them.

    >>> canonical({"b": 1.0, "a": "é"})
    b'{"a":"\xc3\xa9","b":1}'
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

import orjson

if TYPE_CHECKING:
    from collections.abc import Iterator

JSON: TypeAlias = "dict[str, JSON] | list[JSON] | str | int | float | bool | None"

MAX_PLAN_BYTES = 256 * 1024
"""Plans, manifests and arguments, in bytes."""
MAX_RESULT_BYTES = 16 * 1024 * 1024
"""A step's result, in bytes."""
MAX_DEPTH = 32
"""Nested objects and lists; a scalar has depth 0."""
MAX_INTEGER = 2**53 - 1
"""The largest integer that every JSON reader keeps (RFC 7493); the smallest is its negative."""


class JSONFault(Exception):
    """Data that are not strict JSON.

    Attributes:
        code: a key of `plan.codes.CODES`.
        where: JSON pointer of the fault, empty where the text as a whole is at fault.
        message: one English sentence.
    """

    def __init__(self, code: str, where: str, message: str) -> None:
        super().__init__(f"{message} (at {where or 'the top'})")
        self.code = code
        self.where = where
        self.message = message


def pointer(base: str, *tokens: str | int) -> str:
    """`base` extended by `tokens`, escaped as RFC 6901 says."""
    for token in tokens:
        base += f"/{token}" if isinstance(token, int) else "/" + token.replace("~", "~0").replace("/", "~1")
    return base


def is_object(value: Any) -> TypeGuard[dict[str, Any]]:
    """Whether JSON data are an object."""
    return type(value) is dict


def is_list(value: Any) -> TypeGuard[list[Any]]:
    """Whether JSON data are a list."""
    return type(value) is list


# --- reading -----------------------------------------------------------------------------------------------
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_SQUARE = bytes.maketrans(b"{}", b"[]")
_OPEN = ord("[")
_NOT_BRACKETS = bytes(code for code in range(256) if code not in b"[]{}")
_ODD_NUMBER = re.compile(r"[0-9]{16}|[0-9][eE]\+?[0-9]{3}")
"""Only text that holds such a run can hold an integer beyond 2^53 or a float that is infinite."""
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")


class _Bad:
    """Stands in the parsed tree where a value is refused, until a walk has found its pointer."""

    __slots__ = ("code", "message")

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        self.message = message


class _Reading:
    """Hooks of one `loads_strict`; `faulty` is set by the first refused value."""

    __slots__ = ("faulty",)

    def __init__(self) -> None:
        self.faulty = False

    def _bad(self, code: str, message: str) -> Any:
        self.faulty = True
        return _Bad(code, message)

    def pairs(self, pairs: list[tuple[str, Any]]) -> Any:
        found = dict(pairs)
        if len(found) != len(pairs):
            seen: set[str] = set()
            for key, _ in pairs:
                if key in seen:
                    found[key] = self._bad("duplicate-key", f"the key {json.dumps(key)} is given twice")
                seen.add(key)
        return found

    def constant(self, text: str) -> Any:
        return self._bad("not-a-number", f"{text} is not JSON")

    def integer(self, text: str) -> Any:
        if len(text) > 17 or not -MAX_INTEGER <= int(text) <= MAX_INTEGER:
            return self._bad("integer-range", f"the integer {_clip(text)} is beyond 2^53 - 1")
        return int(text)

    def number(self, text: str) -> Any:
        value = float(text)
        if value in (float("inf"), float("-inf")):
            return self._bad("not-a-number", f"the number {_clip(text)} is too large")
        return value


def loads_strict(data: bytes | str, *, max_bytes: int = MAX_PLAN_BYTES, max_depth: int = MAX_DEPTH) -> JSON:
    """Read one JSON text.

    Args:
        data: UTF-8 bytes, or text.
        max_bytes: largest size accepted, in UTF-8 bytes.
        max_depth: deepest nesting accepted.

    Raises:
        JSONFault: `too-large`, `not-utf8`, `too-deep`, `json-syntax`, `duplicate-key`, `not-a-number`,
            `integer-range` or `lone-surrogate`.
    """
    if len(data) > max_bytes:
        raise JSONFault("too-large", "", f"more than {max_bytes} bytes")
    try:
        if isinstance(data, bytes):
            text = data.decode("utf-8")
        else:
            text = data
            if not text.isascii() and len(text.encode("utf-8")) > max_bytes:
                raise JSONFault("too-large", "", f"more than {max_bytes} bytes")
    except UnicodeDecodeError as error:
        raise JSONFault("not-utf8", "", f"byte {error.start} is not UTF-8") from None
    except UnicodeEncodeError as error:
        raise JSONFault("lone-surrogate", "", f"character {error.start} is a lone surrogate") from None
    guard_depth(text, max_depth)
    reading = _Reading()
    odd = _ODD_NUMBER.search(text) is not None
    try:
        value: Any = json.loads(
            text,
            object_pairs_hook=reading.pairs,
            parse_constant=reading.constant,
            parse_int=reading.integer if odd else None,
            parse_float=reading.number if odd else None,
        )
    except json.JSONDecodeError as error:
        raise JSONFault("json-syntax", "", f"line {error.lineno}, column {error.colno}: {error.msg}") from None
    if reading.faulty:
        where, bad = next(_faults(value, ""))
        raise JSONFault(bad.code, where, bad.message)
    if _SURROGATE_ESCAPE.search(text) is not None:
        _refuse_unjson(value)
    return value


def guard_depth(text: str, max_depth: int = MAX_DEPTH) -> None:
    """Refuse text nested too deeply, without recursion: to be called before any parser sees it.

    Raises:
        JSONFault: `too-deep`.
    """
    if text.count("[") + text.count("{") <= max_depth:
        return
    # Brackets outside strings only, all made square; each round takes the innermost pairs away and so is one level.
    brackets = rest = _STRING.sub("", text).encode("utf-8").translate(_SQUARE, _NOT_BRACKETS)
    for _ in range(max_depth):
        before, rest = rest, rest.replace(b"[]", b"")
        if not rest:
            return
        if len(rest) == len(before):
            break
    depth = 0
    for bracket in brackets:
        depth += 1 if bracket == _OPEN else -1
        if depth > max_depth:
            raise JSONFault("too-deep", "", f"nested deeper than {max_depth}")


def _faults(value: Any, where: str) -> Iterator[tuple[str, _Bad]]:
    if isinstance(value, _Bad):
        yield where, value
    elif is_object(value):
        for key, item in value.items():
            yield from _faults(item, pointer(where, key))
    elif is_list(value):
        for index, item in enumerate(value):
            yield from _faults(item, pointer(where, index))


def _clip(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."


# --- writing -----------------------------------------------------------------------------------------------
_OPTIONS = (
    orjson.OPT_SORT_KEYS
    | orjson.OPT_STRICT_INTEGER
    | orjson.OPT_PASSTHROUGH_DATACLASS
    | orjson.OPT_PASSTHROUGH_DATETIME
    | orjson.OPT_PASSTHROUGH_SUBCLASS
)
_dumps = orjson.dumps
_sha256 = hashlib.sha256
_FRACTION = re.compile(rb"\.[0-9]").search
_EXPONENT = re.compile(rb"e-?[0-9]").search
"""A float, which RFC 8785 may spell otherwise, is written with one of these; text that looks like it only costs time.
Patterns that begin with a letter are looked for ten times faster than a class of characters."""
_LONG_DIGITS = re.compile(rb"[0-9]{16}").search
_SURE, _TEXT = frozenset((str, int, bool, type(None))), frozenset((str,))
_DEEP: tuple[JSON, ...] = ([],)
_ASTRAL = re.compile(rb"[\xf0-\xf4]").search
"""A character beyond U+FFFF: the one case where UTF-8 order and UTF-16 order of keys can differ."""


def canonical(data: JSON, *, max_bytes: int | None = None) -> bytes:
    """The bytes of RFC 8785.

    A whole float from 2^53 to 1e21 is written as RFC 8785 says, as an integer, which `loads_strict` then refuses.

    Args:
        data: JSON data; a tuple counts as a list.
        max_bytes: refuse more than so many bytes of output.

    Raises:
        JSONFault: `not-json`, `not-a-number`, `integer-range`, `lone-surrogate`, `too-deep` or `too-large`.
    """
    try:
        out = _dumps(data, option=_OPTIONS)
    except TypeError as error:
        _refuse_unjson(data)
        raise JSONFault("too-deep" if "ecursion" in str(error) else "not-json", "", str(error)) from None
    # Cheap tests that can only err towards the walk, and a walk that can only err towards rfc8785.
    values = data.values() if type(data) is dict else data if type(data) is list else _DEEP
    flat = _SURE.issuperset(map(type, values))
    sure = (flat or not _may_hold_float(out)) and (out.isascii() or not _ASTRAL(out))
    if not sure and _is_unsure(data):
        out = _slow(data)
    if max_bytes is not None and len(out) > max_bytes:
        raise JSONFault("too-large", "", f"more than {max_bytes} bytes")
    return out


def copied(data: Any) -> tuple[Any, bytes] | None:
    """A copy of plain JSON data and its canonical bytes, both from one writing; None: that cannot be told so cheaply.

    For what somebody else may hold on to and change. None says nothing against the data: floats and nulls, tuples and
    subclasses, and all that is not JSON need a closer look than this.
    """
    try:
        out = _dumps(data, option=_OPTIONS)
    except TypeError:
        return None
    sure = out.isascii() or not _ASTRAL(out)
    if data.__class__ is dict and _SURE.issuperset(map(type, data.values())) and _TEXT.issuperset(map(type, data)):
        return (data.copy(), out) if sure or not _is_unsure(data) else None
    copy = orjson.loads(out)
    if copy != data or ((_may_hold_float(out) or not sure) and _is_unsure(copy)):
        return None
    return copy, out


def _may_hold_float(out: bytes) -> bool:
    """Whether a float may be in what was written: NaN became `null`."""
    return b"null" in out or _FRACTION(out) is not None or _EXPONENT(out) is not None


def spell(data: JSON) -> str:
    """Text that `loads_strict` reads back as it was: canonical, but for whole floats from 2^53 on, left floats.

    Raises:
        JSONFault: as `canonical`.
    """
    out = canonical(data)
    if _LONG_DIGITS(out) and _holds_large_float(data):
        out = _dumps(data, option=_OPTIONS)
    return out.decode("utf-8")


def check_limits(data: JSON, *, max_bytes: int = MAX_PLAN_BYTES, max_depth: int = MAX_DEPTH) -> None:
    """Hold data that never were text (a host's plan) to what `loads_strict` would have let through.

    Raises:
        JSONFault: as `canonical`, or `too-deep`.
    """
    guard_depth(canonical(data, max_bytes=max_bytes).decode("utf-8"), max_depth)


def digest(data: JSON, *, max_bytes: int | None = None) -> str:
    """`sha256:<hex>` of the canonical bytes; one buffer, hashed in blocks by OpenSSL without a further copy."""
    return "sha256:" + _sha256(canonical(data, max_bytes=max_bytes)).hexdigest()


def digest_bytes(data: bytes) -> str:
    """`sha256:<hex>` of bytes as they are."""
    return "sha256:" + _sha256(data).hexdigest()


def _is_unsure(data: Any) -> bool:
    """Whether a float or a key beyond U+FFFF is really in it. Runs only after orjson bounded the depth."""
    stack: list[Any] = [data]
    while stack:
        value = stack.pop()
        kind = value.__class__
        if kind is dict:
            for key in value:
                if not key.isascii() and max(key) > "\uffff":
                    return True
            stack.extend(value.values())
        elif kind is list or kind is tuple:
            stack.extend(value)
        elif kind is float:
            return True
    return False


def _holds_large_float(data: Any) -> bool:
    """Whether a float is in data that RFC 8785 writes as an integer beyond 2^53 - 1."""
    stack: list[Any] = [data]
    while stack:
        value = stack.pop()
        kind = value.__class__
        if kind is dict:
            stack.extend(value.values())
        elif kind is list or kind is tuple:
            stack.extend(value)
        elif kind is float and MAX_INTEGER < abs(value) < 1e21:
            return True
    return False


def _slow(data: Any) -> bytes:
    import rfc8785

    try:
        return rfc8785.dumps(data)
    except rfc8785.CanonicalizationError as error:
        _refuse_unjson(data)
        raise JSONFault("not-json", "", str(error)) from None  # pragma: no cover - _refuse_unjson names them all


def _refuse_unjson(data: Any) -> None:
    """Raise for the first value, in document order, that is not strict JSON; return if only the depth is at fault."""
    stack: list[tuple[str, Any]] = [("", data)]
    while stack:
        where, value = stack.pop()
        if where.count("/") > 250:
            return  # deeper than the writer goes: the caller says so
        kind = value.__class__
        if kind is dict:
            for key in value:
                if type(key) is not str:
                    raise JSONFault("not-json", where, f"the key {key!r} is not a string")
                _refuse_surrogate(key, where)
            stack.extend((pointer(where, key), item) for key, item in reversed(value.items()))
        elif kind is list or kind is tuple:
            stack.extend((pointer(where, index), value[index]) for index in range(len(value) - 1, -1, -1))
        elif kind is str:
            _refuse_surrogate(value, where)
        else:
            _refuse_scalar(value, where)


def _refuse_scalar(value: Any, where: str) -> None:
    kind = value.__class__
    if kind is bool or value is None:
        return
    if kind is int:
        if not -MAX_INTEGER <= value <= MAX_INTEGER:
            raise JSONFault("integer-range", where, f"the integer {_clip(hex(value))} is beyond 2^53 - 1")
    elif kind is float:
        if value != value or value in (float("inf"), float("-inf")):
            raise JSONFault("not-a-number", where, f"{value} is not JSON")
    else:
        raise JSONFault("not-json", where, f"a {kind.__name__} is not JSON")


def _refuse_surrogate(text: str, where: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise JSONFault("lone-surrogate", where, f"character {error.start} is a lone surrogate") from None
