"""The names of a table's columns, which of them hold numbers, and the texts in them, from the bytes of it.

Law: pure, and bounded by what it is given; what is no table of the kinds that executors read has none. A reader decides
for itself when the plan runs: this only tells readings of a request apart.
"""

from __future__ import annotations

import csv
import io
import json
import re
from itertools import islice
from typing import Any, Final, cast

DELIMITERS: Final = (",", ";", "\t", "|")
LOOKED_AT: Final = 20
"""Rows by which a delimiter is found, and records whose keys are taken together."""
MOST: Final = 1024
"""Columns."""
ENDINGS: Final = frozenset({"csv", "tsv", "tab", "json", "jsonl", "ndjson"})
_NUMBER: Final = re.compile(r"-?(0|[1-9]\d*)(?:([.,])(\d+))?", re.ASCII)
_LARGEST: Final = 2**53 - 1
_MOST_DIGITS: Final = 15
_GROUP: Final = 3


def header_of(name: str, data: bytes, *, whole: bool) -> tuple[str, ...]:
    """The columns; empty: none can be told.

    Args:
        name: Of the file; its ending says what it holds.
        data: Its beginning.
        whole: It is all of it.
    """
    ending, text = _text_of(name, data, whole=whole)
    found = _of_json(text, lines=ending != "json") if "json" in ending else _of_rows(text)
    return tuple(found[:MOST])


def numbers_of(name: str, data: bytes, *, whole: bool) -> frozenset[str]:
    """The columns that hold numbers, as far as they are read: by the rule of the reader of CSV; of JSON, all values.

    Args:
        name: Of the file; its ending says what it holds.
        data: Its beginning.
        whole: It is all of it.
    """
    ending, text = _text_of(name, data, whole=whole)
    if "json" in ending:
        held: dict[str, list[Any]] = {}
        for record in _records(text, lines=ending != "json", most=None):
            for key, value in record.items():
                held.setdefault(key, []).append(value)
        return frozenset(key for key, values in held.items() if all(type(each) in (int, float) for each in values))
    delimiter, first = _cut(text)
    if not first:
        return frozenset()
    header, *rows = (row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row)
    return frozenset(
        column.strip()
        for at, column in enumerate(header)
        if _are_numbers([row[at].strip() for row in rows if at < len(row) and row[at].strip()], delimiter)
    )


def texts_of(name: str, data: bytes) -> dict[str, list[str | bool]]:
    """Column → its cells that are text or truth values, as the readers keep them: not trimmed; empty: it is no table.

    Args:
        name: Of the file; its ending says what it holds.
        data: All of it.

    Raises:
        csv.Error: A cell is longer than any reader takes.
    """
    ending, text = _text_of(name, data, whole=True)
    held: dict[str, list[str | bool]] = {}
    if "json" in ending:
        for record in _records(text, lines=ending != "json", most=None):
            for key, value in record.items():
                held.setdefault(key, []).extend([value] if isinstance(value, str | bool) else [])
        return held
    delimiter, first = _cut(text)
    columns = [cell.strip() or f"column{at}" for at, cell in enumerate(first, 1)]
    held = {column: [] for column in columns}
    rows = (row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row)
    for row in islice(rows, 1, None):
        for column, cell in zip(columns, row, strict=False):
            held[column].append(cell)
    return held


def _are_numbers(cells: list[str], delimiter: str) -> bool:
    found = [_NUMBER.fullmatch(cell) for cell in cells]
    parts = [each.groups() for each in found if each is not None]
    if not cells or len(parts) != len(cells) or any(c[0] == "-" and not c.strip("-0.,") for c in cells):
        return False
    if any(int(whole) > _LARGEST for whole, mark, _ in parts if mark is None and len(whole) <= len(str(_LARGEST))):
        return False
    if any(len(whole) > len(str(_LARGEST)) for whole, mark, _ in parts if mark is None):
        return False
    marked = [(whole, mark, decimals) for whole, mark, decimals in parts if mark is not None]
    return not marked or _are_decimals(marked, delimiter)


def _are_decimals(marked: list[tuple[str, str, str]], delimiter: str) -> bool:
    marks = {mark for _, mark, _ in marked}
    lengths = {len(decimals) for _, _, decimals in marked}
    if len(marks) > 1 or (marks == {","} and delimiter == ","):
        return False
    if any(len(whole) + len(decimals) > _MOST_DIGITS for whole, _, decimals in marked):
        return False
    if len(lengths) > 1 and any(decimals.endswith("0") for _, _, decimals in marked):
        return False
    grouped = all(len(whole) <= _GROUP and len(decimals) == _GROUP and whole != "0" for whole, _, decimals in marked)
    return not (grouped and (marks == {","} or delimiter == ";"))


def _text_of(name: str, data: bytes, *, whole: bool) -> tuple[str, str]:
    """The ending of a table's name, and its text; empty: it is none."""
    ending = name.rsplit(".", 1)[-1].casefold()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        if whole or fault.start < len(data) - 4:  # else a letter was cut
            return ending, ""
        text = data[: fault.start].decode("utf-8-sig")
    if not whole and ending != "json":
        text = text[: text.rfind("\n") + 1]
    return ending, text if ending in ENDINGS else ""


def _of_rows(text: str) -> list[str]:
    return [cell.strip() for cell in _cut(text)[1] if cell.strip()]


def _cut(text: str) -> tuple[str, list[str]]:
    """What rows are cut by, and the first one."""
    best: list[list[str]] = []
    by = DELIMITERS[0]
    for delimiter in DELIMITERS:
        try:
            rows = list(islice(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), LOOKED_AT))
        except csv.Error:
            continue
        rows = [row for row in rows if row]
        widths = {len(row) for row in rows}
        if rows and (not best or (len(widths) == 1 and len(rows[0]) > len(best[0]))):
            best, by = rows, delimiter
    return by, best[0] if best else []


def _of_json(text: str, *, lines: bool) -> list[str]:
    """The keys of the first records: of a list its elements, of anything else itself."""
    return list(dict.fromkeys(key for record in _records(text, lines=lines, most=LOOKED_AT) for key in record))


def _records(text: str, *, lines: bool, most: int | None) -> list[dict[str, Any]]:
    parts = [line for line in text.split("\n") if line.strip()][:most] if lines else [text]
    found: list[dict[str, Any]] = []
    try:
        values: list[Any] = [json.loads(part) for part in parts]
    except (ValueError, RecursionError):
        return []
    for value in values:
        records: list[Any] = cast("list[Any]", value)[:most] if isinstance(value, list) and not lines else [value]
        found += [cast("dict[str, Any]", record) for record in records if isinstance(record, dict)]
    return found
