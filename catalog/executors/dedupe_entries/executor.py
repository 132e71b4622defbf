"""Keeps one of all entries that are equal in the fields named, or in every field; or only those that are equal to another.

Law: the order stays; those that are equal to another stand side by side, in the order of the first of them. Values are
equal as JSON: 1 and 1.0 are one number, `true` is none. A field that is absent is told apart from null where entries are
compared whole.
"""

from __future__ import annotations

from typing import Any, cast

from metnos.sdk import Context, Result


def run(args: dict[str, Any], _ctx: Context) -> Result:
    """Keep one of each."""
    entries: list[dict[str, Any]] = args["entries"]
    by, missing = args.get("by"), args.get("missing", "error")
    fields = [by] if isinstance(by, str) else by
    alike: dict[Any, list[int]] = {}
    for at, entry in enumerate(entries):
        lacking = next((field for field in fields or () if field not in entry), None)
        if lacking is not None and missing == "error":
            where = f"/entries/{at}/{lacking.replace('~', '~0').replace('/', '~1')}"
            message, hint = f"entry {at + 1} has no field {lacking}", 'set missing to "drop" or "null"'
            return Result.failed("data", "value-missing", message, where=where, hint=hint)
        if lacking is not None and missing == "drop":
            continue
        key = comparable(entry if fields is None else [entry.get(field) for field in fields])
        alike.setdefault(key, []).append(at)
    kept = _kept(list(alike.values()), args.get("keep", "first"))
    found = [entries[at] for at in kept]
    return Result.done({"entries": found, "count": len(found)}, counters={"left": len(entries) - len(found)})


def _kept(alike: list[list[int]], keep: str) -> list[int]:
    """Which entries are kept, of lists of equal ones."""
    if keep == "repeated":
        return [at for same in alike if len(same) > 1 for at in same]
    return sorted(same[-1 if keep == "last" else 0] for same in alike)


def comparable(value: Any) -> Any:
    """Something to look up: equal for values that are equal as JSON, and for no others."""
    if isinstance(value, dict):
        pairs = cast("dict[str, Any]", value)
        return ("object", frozenset((name, comparable(each)) for name, each in pairs.items()))
    if isinstance(value, list):
        return ("array", tuple(comparable(each) for each in cast("list[Any]", value)))
    return ("boolean", value) if isinstance(value, bool) else value
