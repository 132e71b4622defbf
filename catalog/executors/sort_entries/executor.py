"""Puts entries in order by a field; equal ones keep their order, those without a value come last.

Law: all numbers, all text or all truth values; times (ISO 8601 with offset) as instants, other text without regard
to case first. A mixture is an error that names the first entry that differs. A field that is left open is the only one
that holds numbers (`leftopen.py`).
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from metnos.sdk import Context, Result

from .leftopen import is_open, number_column


def run(args: dict[str, Any], _ctx: Context) -> Result:
    """Sort."""
    by, missing = args["by"], args.get("missing", "error")
    if is_open(by, args["entries"]):
        by = number_column(args["entries"], "by", by)
        if isinstance(by, Result):
            return by
    with_value: list[tuple[Any, dict[str, Any]]] = []
    without: list[dict[str, Any]] = []
    first = ""
    for at, entry in enumerate(args["entries"]):
        where = f"/entries/{at}/{by.replace('~', '~0').replace('/', '~1')}"
        if by not in entry and missing == "error":
            hint = 'set missing to "drop" or "null"'
            return Result.failed("data", "value-missing", f"entry {at + 1} has no field {by}", where=where, hint=hint)
        value = entry.get(by)
        if value is None:
            if by in entry or missing == "null":
                without.append(entry)
            continue
        kind = _kind(value)
        first = first or kind
        if kind != first or kind == "other":
            message = (
                f"{_NAMES[kind]} cannot be put in order with {_NAMES[first]}" if kind != "other" else "it has no order"
            )
            return Result.failed("data", "value-type", message, where=where)
        with_value.append((value, entry))
    keys = _keys([value for value, _ in with_value], first)
    order = sorted(range(len(with_value)), key=keys.__getitem__, reverse=args.get("order", "asc") == "desc")
    entries = [with_value[at][1] for at in order] + without
    return Result.done({"entries": entries, "count": len(entries)})


_NAMES = {"number": "a number", "text": "text", "truth": "a truth value", "other": "a list or an object"}


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "truth"
    if isinstance(value, int | float):
        return "number"
    return "text" if isinstance(value, str) else "other"


def _keys(values: list[Any], kind: str) -> list[Any]:
    if kind != "text":
        return values
    instants = [_instant(value) for value in values]
    if all(instant is not None for instant in instants):
        return instants
    return [(value.casefold(), value) for value in values]


def _instant(value: str) -> datetime | None:
    if len(value) < 17 or value[4:5] != "-" or value[10:11] not in ("T", " "):
        return None
    try:
        when = datetime.fromisoformat(value)
    except ValueError:
        return None
    return when if when.tzinfo is not None else None
