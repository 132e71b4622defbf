"""A second reading of NESTFUL's notation, to hold the first one against: straight over the data, no plan, no types.

Law: it shares nothing with `notation.py`, with `convert.py` or with Metnos. It is for plans that were found sound:
what it cannot follow raises.

A string is cut at its dollars; a piece between two of them that begins with a label known so far is a reference.
A path is read along the data: at an object the longest of its names that fits is taken, so that a name may hold
anything.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Callable

_INDEX = re.compile(r"\.?\[(\d+|\*)\]")
_QUOTED = re.compile(r"""\.?\[(['"])(.+?)\1\]""")


def run_gold(calls: list[dict[str, Any]], call_tool: Callable[[str, Any], Any]) -> tuple[list[Any], Any]:
    """Run the calls one after the other.

    Returns:
        The final arguments of each call, and what `var_result` maps (None if there is none).

    Raises:
        LookupError: A path leads nowhere.
    """
    results: dict[str, Any] = {}
    every: list[Any] = []
    answer: Any = None
    for call in calls:
        arguments = call.get("arguments")
        arguments = fill({} if arguments is None else arguments, results)
        if call["name"] == "var_result":
            answer = arguments
            continue
        every.append(arguments)
        label = call.get("label")
        result = call_tool(call["name"], arguments)
        if isinstance(label, str):
            results[label.removeprefix("$")] = result
    return every, answer


def fill(value: Any, results: dict[str, Any]) -> Any:
    """`value` with every reference in it replaced by what it names."""
    if isinstance(value, dict):
        return {name: fill(item, results) for name, item in value.items()}  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, list):
        return [fill(item, results) for item in value]  # pyright: ignore[reportUnknownVariableType]
    return _fill_text(value, results) if isinstance(value, str) and "$" in value else value


def _fill_text(text: str, results: dict[str, Any]) -> Any:
    pieces = text.split("$")
    out = pieces[0]
    at = 1
    while at < len(pieces):
        piece = pieces[at]
        label = _label(piece, results) if at + 1 < len(pieces) else None
        if label is None:
            out += "$" + piece
            at += 1
            continue
        value = _follow(results[label], piece[len(label) :])
        if text == f"${piece}$":
            return value
        out += _spell(value) + pieces[at + 1]
        at += 2
    return out


def _label(piece: str, results: dict[str, Any]) -> str | None:
    fitting = [
        label for label in results if label and piece.startswith(label) and piece[len(label) :][:1] in ("", ".", "[")
    ]
    return max(fitting, key=len, default=None)


def _follow(data: Any, path: str) -> Any:
    if not path:
        return data
    if isinstance(data, dict):
        return _follow_name(cast("dict[str, Any]", data), path)
    index = _INDEX.match(path)
    if index is None or not isinstance(data, list):
        raise KeyError(path)
    items = cast("list[Any]", data)
    rest = path[index.end() :]
    return [_follow(item, rest) for item in items] if index[1] == "*" else _follow(items[int(index[1])], rest)


def _follow_name(data: dict[str, Any], path: str) -> Any:
    quoted = _QUOTED.match(path)
    if quoted:
        return _follow(data[quoted[2]], path[quoted.end() :])
    names = [name for name in data if path[1:].startswith(name) and path[1 + len(name) :][:1] in ("", ".", "[")]
    if not path.startswith(".") or not names:
        raise KeyError(path)
    name = max(names, key=len)
    return _follow(data[name], path[1 + len(name) :])


def _spell(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, (int, float, str)):
        return str(value)
    raise TypeError(f"{type(value).__name__} inside text")
