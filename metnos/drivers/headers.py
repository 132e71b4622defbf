"""The names of a table's columns, from the beginning of its bytes.

Law: pure, and bounded by what it is given; what is no table of the kinds that executors read has none. A reader decides
for itself when the plan runs: this only tells readings of a request apart.
"""

from __future__ import annotations

import csv
import io
import json
from itertools import islice
from typing import Any, Final, cast

DELIMITERS: Final = (",", ";", "\t", "|")
LOOKED_AT: Final = 20
"""Rows by which a delimiter is found, and records whose keys are taken together."""
MOST: Final = 1024
"""Columns."""
ENDINGS: Final = frozenset({"csv", "tsv", "tab", "json", "jsonl", "ndjson"})


def header_of(name: str, data: bytes, *, whole: bool) -> tuple[str, ...]:
    """The columns; empty: none can be told.

    Args:
        name: Of the file; its ending says what it holds.
        data: Its beginning.
        whole: It is all of it.
    """
    ending = name.rsplit(".", 1)[-1].casefold()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        if whole or fault.start < len(data) - 4:  # else a letter was cut
            return ()
        text = data[: fault.start].decode("utf-8-sig")
    if not whole and ending != "json":
        text = text[: text.rfind("\n") + 1]
    if ending not in ENDINGS:
        return ()
    found = _of_json(text, lines=ending != "json") if "json" in ending else _of_rows(text)
    return tuple(found[:MOST])


def _of_rows(text: str) -> list[str]:
    best: list[list[str]] = []
    for delimiter in DELIMITERS:
        try:
            rows = list(islice(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), LOOKED_AT))
        except csv.Error:
            continue
        rows = [row for row in rows if row]
        widths = {len(row) for row in rows}
        if rows and (not best or (len(widths) == 1 and len(rows[0]) > len(best[0]))):
            best = rows
    return [cell.strip() for cell in best[0] if cell.strip()] if best else []


def _of_json(text: str, *, lines: bool) -> list[str]:
    """The keys of the first records: of a list its elements, of anything else itself."""
    parts = [line for line in text.split("\n") if line.strip()][:LOOKED_AT] if lines else [text]
    found: dict[str, None] = {}
    try:
        values: list[Any] = [json.loads(part) for part in parts]
    except (ValueError, RecursionError):
        return []
    for value in values:
        records: list[Any] = cast("list[Any]", value)[:LOOKED_AT] if isinstance(value, list) and not lines else [value]
        for record in records:
            if isinstance(record, dict):
                found |= dict.fromkeys(cast("dict[str, Any]", record))
    return list(found)
