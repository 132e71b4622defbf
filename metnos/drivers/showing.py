"""Recorded data as text a person can read: the composed answer of a turn.

Law: nothing is invented; every word comes from a message table, a contract's field name or the recorded data.
Markdown, so that a terminal, a chat and a file can each render it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from metnos.text import message

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_ROWS = 50
MAX_COLUMNS = 6
MAX_TEXT = 8_000
"""Characters of one text shown whole; the rest stays in the log."""
HIDDEN_FIELDS = frozenset({"path_bytes"})
FIRST_FIELDS = ("path", "name", "title", "count")
"""Shown first; the others by name, because the order of keys is not part of recorded data."""


def show_data(data: Any, language: str) -> str:
    """Markdown for one step's `data`: its text, its entries as a table, or its fields line by line."""
    if isinstance(data, dict):
        record = cast("dict[str, Any]", data)
        text = record.get("text")
        if isinstance(text, str):
            return _clip(text)
        entries = record.get("entries")
        if isinstance(entries, list):
            return _show_entries(cast("list[Any]", entries), language)
        return "\n".join(f"{name}: {cell(record[name])}" for name in in_order(record) if record[name] is not None)
    if isinstance(data, list):
        return _show_entries(cast("list[Any]", data), language)
    return _clip(cell(data))


def in_order(names: Iterable[str]) -> list[str]:
    """Field names as people see them: the same whatever order the data have them in."""
    found = set(names) - HIDDEN_FIELDS
    return [*(name for name in FIRST_FIELDS if name in found), *sorted(found.difference(FIRST_FIELDS))]


def cell(value: Any) -> str:
    """One value in one cell: text as it is, numbers unrounded, anything nested as compact JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return ""
    if isinstance(value, int | float):
        return str(value)
    import orjson

    return orjson.dumps(value).decode()


def markdown_table(columns: list[str], rows: list[list[str]]) -> str:
    """A GitHub-flavoured Markdown table; pipes and line ends in cells are escaped."""
    lines = [_line(columns), _line(["---"] * len(columns)), *(_line(row) for row in rows)]
    return "\n".join(lines)


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(text.replace("|", "\\|").replace("\n", " ") for text in cells) + " |"


def _clip(text: str) -> str:
    return text if len(text) <= MAX_TEXT else text[:MAX_TEXT] + " …"


def _show_entries(entries: list[Any], language: str) -> str:
    if not entries:
        return message("answer.empty", language)
    shown = entries[:MAX_ROWS]
    if all(isinstance(entry, dict) for entry in shown):
        if all(isinstance(entry.get("text"), str) for entry in shown):
            body = "\n\n".join(_titled(entry) for entry in shown)
        else:
            columns = in_order(name for entry in shown for name in entry)[:MAX_COLUMNS]
            body = markdown_table(columns, [[cell(entry.get(name)) for name in columns] for entry in shown])
    else:
        body = "\n".join(f"- {cell(entry)}" for entry in shown)
    left = len(entries) - len(shown)
    return body + ("\n\n" + message("answer.more", language, count=left) if left else "")


def _titled(entry: dict[str, Any]) -> str:
    title = entry.get("path")
    text = _clip(str(entry["text"]).rstrip("\n"))
    return f"{title}:\n\n{text}" if title else text
