"""Writes entries as a table: Markdown, CSV, or text in columns.

Law: numbers stay as they are, nothing is rounded or given a unit; in Markdown and text a time is shown to the second,
in CSV whole. Pipes, line ends and control characters are
escaped, so that what a file is called cannot change the table or the terminal.
"""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
from typing import Any

from metnos.sdk import Context, Result

FIRST = ("path", "name", "title", "count")
MOMENT = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.\d+(Z|[+-]\d\d:\d\d)")


def run(args: dict[str, Any], _ctx: Context) -> Result:
    """Render."""
    entries, missing = args["entries"], args.get("missing", "null")
    columns = args.get("columns")
    if columns is None:
        columns = _all_columns(entries)
    rows: list[list[Any]] = []
    for at, entry in enumerate(entries):
        lacking = next((column for column in columns if column not in entry), None)
        if lacking is not None and missing == "error":
            where = f"/entries/{at}/{lacking.replace('~', '~0').replace('/', '~1')}"
            hint = 'set missing to "drop" or "null"'
            return Result.failed(
                "data", "value-missing", f"entry {at + 1} has no field {lacking}", where=where, hint=hint
            )
        if lacking is None or missing != "drop":
            rows.append([entry.get(column) for column in columns])
    table = FORMATS[args.get("format", "markdown")](columns, rows) if columns else ""
    title = args.get("title")
    text = (
        table
        if not title
        else f"{_line(title)}\n{table}"
        if args.get("format") == "csv"
        else f"{_line(title)}\n\n{table}"
    )
    return Result.done({"text": text, "rows": len(rows)})


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def _shown(value: Any) -> str:
    """A cell for people: a time without its fraction of a second."""
    text = _cell(value)
    return MOMENT.sub(r"\1\2", text) if MOMENT.fullmatch(text) else text


def _line(text: str) -> str:
    """One line that a terminal shows as it is: line ends are spaces, other controls are spelled."""
    text = text.replace("\r\n", " ").replace("\n", " ").replace("\r", " ").replace("\t", " ")
    if text.isprintable():
        return text
    return "".join(character if _harmless(character) else f"\\u{ord(character):04x}" for character in text)


def _harmless(character: str) -> bool:
    # Cc: terminal controls; Cf holds the marks that turn text around; Zl and Zp end lines.
    return unicodedata.category(character) not in ("Cc", "Cf", "Zl", "Zp", "Cs")


def _markdown(columns: list[str], rows: list[list[Any]]) -> str:
    def escaped(text: str) -> str:
        text = text.replace("\\", "\\\\").replace("|", "\\|").replace("\r\n", "\n").replace("\r", "\n")
        return "<br>".join(_line(part) for part in text.split("\n"))

    ruler = ["---:" if _is_numeric(rows, at) else "---" for at in range(len(columns))]
    lines = [[escaped(column) for column in columns], ruler]
    lines += [[escaped(_shown(value)) for value in row] for row in rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def _csv(columns: list[str], rows: list[list[Any]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return out.getvalue()


def _columns(columns: list[str], rows: list[list[Any]]) -> str:
    lines = [[_line(column) for column in columns], *([_line(_shown(value)) for value in row] for row in rows)]
    widths = [max(_width(cells[at]) for cells in lines) for at in range(len(columns))]
    numeric = [_is_numeric(rows, at) for at in range(len(columns))]
    lines.insert(1, ["-" * width for width in widths])
    return "".join(_padded(cells, widths, numeric) for cells in lines)


def _padded(cells: list[str], widths: list[int], numeric: list[bool]) -> str:
    parts: list[str] = []
    for cell, width, right in zip(cells, widths, numeric, strict=True):
        space = " " * (width - _width(cell))
        parts.append(space + cell if right else cell + space)
    return "  ".join(parts).rstrip() + "\n"


def _is_numeric(rows: list[list[Any]], at: int) -> bool:
    values = [row[at] for row in rows if row[at] is not None]
    return bool(values) and all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)


def _width(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def _all_columns(entries: list[dict[str, Any]]) -> list[str]:
    """Every field, the telling ones first and the others by name: the order of keys is not part of data."""
    found = {field for entry in entries for field in entry}
    return [*(field for field in FIRST if field in found), *sorted(found.difference(FIRST))]


FORMATS = {"markdown": _markdown, "csv": _csv, "text": _columns}
