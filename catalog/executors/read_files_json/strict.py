"""JSON text as data, strictly, and a pointer into it.

Law: pure. A fault is `BadJSON`: a stable code, and a message that begins with the place.
"""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn, cast

LARGEST = 2**53 - 1
DEEPEST = 28
"""A result is nested 32 deep at most, and holds the records four levels down."""


class BadJSON(Exception):
    """The text is no strict JSON, or has nothing at the pointer."""

    def __init__(self, code: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint


def loads(text: str, place: str) -> Any:
    """Read one value; `place` is where the text stands in its file, for messages."""
    if depth_of(text) > DEEPEST:
        raise BadJSON("too-deep", f"{place}: nested deeper than {DEEPEST}")
    try:
        value = json.loads(
            text, object_pairs_hook=_object, parse_constant=_constant, parse_int=_integer, parse_float=_number
        )
    except BadJSON as fault:
        raise BadJSON(fault.code, f"{place}: {fault.message}", fault.hint) from None
    except json.JSONDecodeError as fault:
        where = place or f", line {fault.lineno}"
        hint = "" if place else 'for one value a line, set format to "lines"'
        raise BadJSON("bad-json", f"{where}, column {fault.colno}: {fault.msg}", hint) from None
    if "\\u" in text:
        _refuse_surrogates(value, place)
    return value


def depth_of(text: str) -> int:
    """How deep brackets are nested outside strings; counted without recursion."""
    deepest = depth = 0
    in_string = escaped = False
    for character in text if text.count("[") + text.count("{") > DEEPEST else "":
        if in_string:
            in_string = escaped or character != '"'
            escaped = character == "\\" and not escaped
        elif character == '"':
            in_string = True
        elif character in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif character in "]}":
            depth -= 1
    return deepest


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))
        raise BadJSON("duplicate-key", f"the key {twice[:80]!r} is given twice in one object")
    return made


def _constant(text: str) -> NoReturn:
    raise BadJSON("not-finite", f"{text} is no JSON number")


def _integer(text: str) -> int:
    if len(text) > 17 or abs(int(text)) > LARGEST:
        raise BadJSON("integer-range", f"{text[:40]} is beyond what JSON numbers hold", "write it as text")
    return int(text)


def _number(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise BadJSON("not-finite", f"{text[:40]} is beyond what JSON numbers hold")
    return value


def _refuse_surrogates(value: Any, place: str) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise BadJSON("lone-surrogate", f"{place}: half a surrogate pair is no text") from None


def steps_of(pointer: str) -> list[str] | None:
    """The steps of a JSON pointer (RFC 6901); None if it is none."""
    if pointer and not pointer.startswith("/"):
        return None
    if any(part[:1] not in ("0", "1") for part in pointer.split("~")[1:]):
        return None
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]


def walk(value: Any, steps: list[str], place: str) -> Any:
    """What stands at the end of the pointer."""
    for index, step in enumerate(steps):
        if isinstance(value, dict) and step in value:
            value = cast("dict[str, Any]", value)[step]
        elif isinstance(value, list) and _is_index(step) and int(step) < len(cast("list[Any]", value)):
            value = cast("list[Any]", value)[int(step)]
        else:
            before = "/".join(["", *steps[:index]]) or "the whole"
            names = ", ".join(sorted(cast("dict[str, Any]", value))[:12]) if isinstance(value, dict) else ""
            hint = f"there are: {names}" if names else ""
            raise BadJSON("value-missing", f"{place}: {before} has no {step[:80]!r}", hint)
    return value


def _is_index(step: str) -> bool:
    return step.isascii() and step.isdecimal() and len(step) < 12 and (step == "0" or not step.startswith("0"))
