"""Puts entries that share values into groups: how many, the figures of a field, the entries themselves.

Law: groups stand in the order of their first entry, entries in theirs. Values are equal as JSON: 1 and 1.0 are one
number, `true` is none. Whole numbers are added exactly, others without loss in between (`fsum`). A field that is left
open is the only one that holds numbers, beside those that it is grouped by (`leftopen.py`).
"""

from __future__ import annotations

import math
from typing import Any, cast

from metnos.sdk import Context, Result

from .leftopen import is_open, number_column

OWN = ("count", "sum", "min", "max", "mean", "entries")
LARGEST = 2**53 - 1


class Fault(Exception):
    """The data do not fit; `code`, and the field at fault."""

    def __init__(self, code: str, field: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.field = field
        self.message = message


def run(args: dict[str, Any], _ctx: Context) -> Result:
    """Group."""
    by: list[str] = [args["by"]] if isinstance(args["by"], str) else args["by"]
    field, missing = args.get("field"), args.get("missing", "error")
    taken = next((name for name in by if name in OWN), None)
    if taken is not None:
        message, hint = f"groups have a {taken} of their own", "rename the field with select_fields"
        return Result.failed("arguments", "field-taken", message, where="/by", hint=hint)
    if field is not None and is_open(field, args["entries"]):
        others = [{name: entry[name] for name in entry if name not in by} for entry in args["entries"]]
        field = number_column(others, "field", field)
        if isinstance(field, Result):
            return field
    groups: dict[Any, tuple[list[dict[str, Any]], list[int | float]]] = {}
    left = 0
    for at, entry in enumerate(args["entries"]):
        try:
            if _lacks(entry, at, by, field, missing) and missing == "drop":
                left += 1
                continue
            members, values = groups.setdefault(comparable([entry.get(name) for name in by]), ([], []))
            members.append(entry)
            if field is not None and entry.get(field) is not None:
                values.append(_number(entry[field], at, field))
        except Fault as fault:
            where = f"/entries/{at}/{fault.field.replace('~', '~0').replace('/', '~1')}"
            hint = 'set missing to "drop" or "null"' if fault.code == "value-missing" else ""
            return Result.failed("data", fault.code, fault.message, where=where, hint=hint)
    made: list[dict[str, Any]] = []
    for members, values in groups.values():
        group = {name: members[0].get(name) for name in by} | {"count": len(members)}
        try:
            group |= _figures(values) if field is not None and values else {}
        except OverflowError:
            message = "the figures are beyond what JSON numbers hold"
            return Result.failed("data", "integer-range", message, where=f"/{field}")
        made.append(group | {"entries": members} if args.get("keep", False) else group)
    return Result.done({"entries": made, "count": len(made)}, counters={"left": left})


def _lacks(entry: dict[str, Any], at: int, by: list[str], field: str | None, missing: str) -> bool:
    """Whether the entry lacks a field; a null is a value to group by, and none to sum up."""
    lacking = next((name for name in by if name not in entry), None)
    if lacking is None and field is not None and entry.get(field) is None:
        lacking = field
    if lacking is not None and missing == "error":
        raise Fault("value-missing", lacking, f"entry {at + 1} has no value in {lacking}")
    return lacking is not None


def _number(value: Any, at: int, field: str) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Fault("value-type", field, f"entry {at + 1}: {field} is no number")
    return value


def _figures(values: list[int | float]) -> dict[str, int | float]:
    whole = all(isinstance(value, int) for value in values)
    total = sum(values) if whole else math.fsum(values)
    if math.isinf(total) or (whole and abs(total) > LARGEST):
        raise OverflowError
    return {"sum": total, "min": min(values), "max": max(values), "mean": total / len(values)}


def comparable(value: Any) -> Any:
    """Something to look up: equal for values that are equal as JSON, and for no others."""
    if isinstance(value, dict):
        pairs = cast("dict[str, Any]", value)
        return ("object", frozenset((name, comparable(each)) for name, each in pairs.items()))
    if isinstance(value, list):
        return ("array", tuple(comparable(each) for each in cast("list[Any]", value)))
    return ("boolean", value) if isinstance(value, bool) else value
