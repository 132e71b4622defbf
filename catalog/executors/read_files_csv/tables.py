"""One CSV text as rows: delimiter, header, cells.

Law: pure. What is detected is told; what does not fit is `BadTable`, with the line where it stands.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, Any

from metnos.sdk import ErrorClass

if TYPE_CHECKING:
    from collections.abc import Iterator

DELIMITERS = (",", ";", "\t", "|")
"""Tried in this order."""
LOOKED_AT = 20
"""Rows by which the delimiter is found."""
NUMBER = re.compile(r"[+-]?(\d+)(\.\d+)?([eE][+-]?\d{1,3})?", re.ASCII)
LARGEST = 2**53 - 1


class BadTable(Exception):
    """The text is no such table."""

    def __init__(self, code: str, message: str, hint: str = "", cls: ErrorClass = "data") -> None:
        super().__init__(message)
        self.cls: ErrorClass = cls
        self.code = code
        self.message = message
        self.hint = hint


class Table:
    """What was read."""

    def __init__(self, delimiter: str) -> None:
        """Empty."""
        self.delimiter = delimiter
        self.columns: list[str] = []
        self.rows: list[dict[str, Any]] = []
        self.counters: Counter[str] = Counter()
        self.truncated = False


def read_table(text: str, args: dict[str, Any], most: int) -> Table:
    """Read `text` as the arguments say; `most`: rows that may still be taken."""
    table = Table(args["delimiter"] if "delimiter" in args else detected(text))
    ragged = args.get("ragged", "error")
    lines = _cells(text, table.delimiter)
    first = next(lines, None) if args.get("header", True) else None
    if first is not None:
        table.columns = _names(first[1])
    if "columns" in args:
        table.columns = _unique(list(args["columns"]))
    numbers: set[str] = set(args.get("numbers", ()))
    for line, cells in lines:
        if not cells:
            table.counters["blank"] += 1
            continue
        if not table.columns:
            table.columns = [f"column{at}" for at in range(1, len(cells) + 1)]
        if len(cells) > len(table.columns) or (len(cells) < len(table.columns) and ragged == "error"):
            if ragged != "drop":
                message = f"line {line}: {len(cells)} cells under {len(table.columns)} columns"
                raise BadTable("row-length", message, 'set ragged to "pad" or "drop", or name the delimiter')
            table.counters["dropped"] += 1
            continue
        if len(cells) < len(table.columns) and ragged == "drop":
            table.counters["dropped"] += 1
            continue
        if len(table.rows) >= most:
            table.truncated = True
            break
        table.rows.append(_row(table, line, cells, numbers, args.get("decimal", ".")))
    for name in sorted(numbers.difference(table.columns)) if table.columns else ():
        message = f"there is no column {name}; there are {', '.join(table.columns[:12])}"
        raise BadTable("unknown-column", message, cls="arguments")
    return table


def _row(table: Table, line: int, cells: list[str], numbers: set[str], decimal: str) -> dict[str, Any]:
    row: dict[str, Any] = {}
    if len(cells) < len(table.columns):
        table.counters["padded"] += 1
    for at, name in enumerate(table.columns):
        cell = cells[at] if at < len(cells) else None
        row[name] = cell if name not in numbers or cell is None else _number(cell, decimal, f"line {line}, {name}")
    return row


def _number(cell: str, decimal: str, where: str) -> int | float | None:
    """A plain number; an empty cell is none. Thousands are not grouped: 1,234 may be two things."""
    text = cell.strip()
    if not text:
        return None
    if decimal == ",":
        text = text.replace(".", "?").replace(",", ".")
    found = NUMBER.fullmatch(text)
    if found is None:
        raise BadTable("value-type", f"{where}: {cell[:40]!r} is no number", 'leave the column out of numbers, or set decimal')
    value = float(text) if found[2] or found[3] else int(text) if len(found[1]) < 20 else LARGEST + 1
    if math.isinf(value) or (isinstance(value, int) and abs(value) > LARGEST):
        raise BadTable("integer-range", f"{where}: {cell[:40]!r} is beyond what JSON numbers hold", "read it as text")
    return value


def _names(cells: list[str]) -> list[str]:
    """Names of the columns; one without a name is called by its place."""
    return _unique([cell.strip() or f"column{at}" for at, cell in enumerate(cells, 1)])


def _unique(names: list[str]) -> list[str]:
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise BadTable("duplicate-column", f"two columns are called {twice[0]}", "name them all with columns")
    return names


def _cells(text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """(line, cells) of each row; the line is that on which it ends."""
    csv.field_size_limit(len(text) + 1)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        for cells in reader:
            yield reader.line_num, cells
    except csv.Error as fault:
        raise BadTable("bad-csv", f"line {reader.line_num}: {fault}", "name the delimiter") from fault


def detected(text: str) -> str:
    """The delimiter that cuts the first rows into the same number of cells, more than one; else a comma."""
    best, most = ",", 1
    for delimiter in DELIMITERS:
        try:
            widths = {len(cells) for _, cells in islice(_cells(text, delimiter), LOOKED_AT) if cells}
        except BadTable:
            continue
        if len(widths) == 1 and (width := widths.pop()) > most:
            best, most = delimiter, width
    return best
