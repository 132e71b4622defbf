"""Pins: what of a tool is held fast, and where a tool differs from it now.

Law: pure. A tool is its name, its description and its two schemas; title, icons and hints of the server decide nothing
and are not pinned.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from metnos.foreign.tables import is_table
from metnos.plan.jsondata import digest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metnos.foreign.model import Tool

VERSION = "metnos.tool/1"


def pin_of(name: str, description: str, input_schema: dict[str, Any], output_schema: dict[str, Any] | None) -> str:
    """`sha256:…` over the tool.

    Raises:
        JSONFault: A schema is outside strict JSON.
    """
    return digest([VERSION, name, description, input_schema, output_schema])


def drift(pinned: Tool, now: Tool | None) -> tuple[str, str] | None:
    """(field, what is there now) of the first difference; None: it is the tool that was pinned."""
    if now is None:
        return "name", "the server no longer has it"
    if now.digest == pinned.digest:
        return None
    fields = (
        ("description", pinned.description, now.description),
        ("inputSchema", pinned.input_schema, now.input_schema),
        ("outputSchema", pinned.output_schema, now.output_schema),
    )
    for field, then, today in fields:
        for place, found in _differences(then, today, field):
            return place, found
    return "digest", now.digest


def _differences(then: Any, today: Any, where: str) -> Iterator[tuple[str, str]]:
    if is_table(then) and is_table(today):
        keys: list[str] = sorted({*then, *today})
        for key in keys:
            yield from _differences(then.get(key, _ABSENT), today.get(key, _ABSENT), f"{where}/{key}")
    elif type(then) is not type(today) or then != today:
        yield where, "it is gone" if today is _ABSENT else f"it is now {_short(today)}"


def _short(value: Any) -> str:
    text = ascii(value)
    return text if len(text) <= 120 else f"{text[:117]}..."


_ABSENT = object()
