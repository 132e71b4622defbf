"""Counts entries, and sums up a numeric field.

Law: whole numbers are added exactly, others without loss in between (`fsum`); `decimals` rounds mean and median and
nothing else. A value that is no number is an
error that names its entry; a missing or null one is left out if `missing` says so. A field that is left open is the only
one that holds numbers (`leftopen.py`); of its null values, which are empty cells, there is nothing to sum up.
"""

from __future__ import annotations

import math
import statistics
from typing import Any

from metnos.sdk import Context, Result

from .leftopen import is_open, number_column

LARGEST = 2**53 - 1


def run(args: dict[str, Any], _ctx: Context) -> Result:
    """Compute."""
    entries, field = args["entries"], args.get("field")
    if field is None:
        return Result.done({"count": len(entries)})
    missing = args.get("missing", "error")
    if is_open(field, entries):
        field = number_column(entries, "field", field)
        if isinstance(field, Result):
            return field
        missing = args.get("missing", "drop")
    values: list[int | float] = []
    count = 0
    for at, entry in enumerate(entries):
        where = f"/entries/{at}/{field.replace('~', '~0').replace('/', '~1')}"
        value = entry.get(field)
        if value is None:
            if missing == "error":
                hint = 'set missing to "drop" or "null"'
                message = f"entry {at + 1} has no value in {field}"
                return Result.failed("data", "value-missing", message, where=where, hint=hint)
            count += missing == "null"
            continue
        if isinstance(value, bool) or not isinstance(value, int | float):
            return Result.failed("data", "value-type", f"entry {at + 1}: {field} is no number", where=where)
        values.append(value)
        count += 1
    data: dict[str, Any] = {"count": count}
    try:
        data["sum"] = _sum(values)
        if values:
            data |= {"min": min(values), "max": max(values)}
            middle = {"mean": _mean(values), "median": statistics.median(values)}
            data |= {name: _rounded(figure, args.get("decimals")) for name, figure in middle.items()}
    except OverflowError:
        data["sum"] = math.inf
    if any(abs(data[name]) > LARGEST and isinstance(data[name], int) for name in data) or math.isinf(data["sum"]):
        return Result.failed(
            "data", "integer-range", "the figures are beyond what JSON numbers hold", where=f"/{field}"
        )
    return Result.done(data, counters={"values": len(values)})


def _rounded(figure: float, decimals: int | None) -> int | float:
    if decimals is None or isinstance(figure, int) or not math.isfinite(figure):
        return figure
    return round(figure, decimals) if decimals else round(figure)


def _sum(values: list[int | float]) -> int | float:
    return sum(values) if all(isinstance(value, int) for value in values) else math.fsum(values)


def _mean(values: list[int | float]) -> float:
    return (
        statistics.fmean(values) if not all(isinstance(value, int) for value in values) else sum(values) / len(values)
    )
