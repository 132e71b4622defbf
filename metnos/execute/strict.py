"""Is it JSON, and nothing but JSON? The same question in the worker and in the parent.

Law: imports msgspec and nothing of Metnos, for a worker loads it. A value is asked twice: once encoded and decoded
again in C (equal: it was JSON), and only if that differs, walked in Python to find the place and the reason.
Encoders are lenient (NaN becomes null, an integer key becomes text); the comparison is what makes this strict.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, cast

import msgspec

MAX_DEPTH = 32
"""Containers within containers; arguments have the same limit, and a result becomes an argument."""

_encode = msgspec.json.encode
_decode = msgspec.json.decode


class NotJSON(Exception):
    """The value is outside JSON; `where` is a JSON pointer into it."""

    def __init__(self, code: str, where: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.where = where
        self.message = message


def settle(data: object) -> Any:
    """`data` as plain JSON types, a copy: tuples become lists, subclasses their base.

    Raises:
        NotJSON: not a JSON value: NaN, infinity, a key that is no text, half a surrogate pair, an object.
    """
    try:
        plain = _decode(_encode(data))
        if plain == data:
            return plain
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError):
        pass
    return _walk(data, "", 0)


def require_depth(data: object) -> None:
    """Refuse plain JSON that is nested too deeply.

    Raises:
        NotJSON: `too-deep`.
    """
    if not _within_depth(data, MAX_DEPTH):
        raise NotJSON("too-deep", "", f"nested deeper than {MAX_DEPTH}")


def _within_depth(data: object, most: int) -> bool:
    level = _containers([data])
    for _ in range(most):
        if not level:
            return True
        level = [child for holder in level for child in _containers(_inside(holder))]
    return not level


def _inside(holder: Any) -> Iterable[Any]:
    return cast("dict[str, Any]", holder).values() if type(holder) is dict else holder


def _containers(values: Iterable[Any]) -> list[Any]:
    return [value for value in values if type(value) is dict or type(value) is list]


def _walk(value: object, where: str, depth: int) -> Any:
    if value is None or value is True or value is False:
        return value
    if isinstance(value, str):
        return _text(str(value), where)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise NotJSON("not-a-number", where, f"{value} is not a JSON number")
        return float(value)
    if depth >= MAX_DEPTH:
        raise NotJSON("too-deep", where, f"nested deeper than {MAX_DEPTH}")
    if isinstance(value, Mapping):
        return _object(cast("Mapping[object, object]", value), where, depth)
    if isinstance(value, list | tuple):
        items = cast("list[object]", value)
        return [_walk(item, f"{where}/{number}", depth + 1) for number, item in enumerate(items)]
    raise NotJSON("not-json", where, f"a {type(value).__name__} is not a JSON value")


def _object(value: Mapping[object, object], where: str, depth: int) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, item in value.items():
        if not isinstance(key, str):
            raise NotJSON("not-json", where, f"the key {key!r} is a {type(key).__name__}, not text")
        _text(key, where)
        place = f"{where}/{key.replace('~', '~0').replace('/', '~1')}"
        made[str(key)] = _walk(item, place, depth + 1)
    return made


def _text(value: str, where: str) -> str:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as fault:
        raise NotJSON("lone-surrogate", where, "the text holds half a surrogate pair") from fault
    return value
