"""Keeps some fields of every entry, under new names where asked.

Law: values are passed on as they are. Two fields never get one name.
"""

from __future__ import annotations

from typing import Any

from metnos.sdk import Context, Result


def run(args: dict[str, Any], _ctx: Context) -> Result:
    """Pick."""
    fields: list[str] = [args["fields"]] if isinstance(args["fields"], str) else args["fields"]
    rename: dict[str, str] = args.get("rename", {})
    missing = args.get("missing", "error")
    for name in rename:
        if name not in fields:
            message, where = f"{name} is renamed, but not among the fields", f"/rename/{_escaped(name)}"
            return Result.failed("arguments", "unknown-field", message, where=where)
    names = {field: rename.get(field, field) for field in fields}
    if len(set(names.values())) < len(fields):
        message = "two fields would have one name"
        return Result.failed("arguments", "field-taken", message, where="/rename" if rename else "/fields")
    kept: list[dict[str, Any]] = []
    for at, entry in enumerate(args["entries"]):
        lacking = next((field for field in fields if field not in entry), None)
        if lacking is not None and missing == "error":
            message, hint = f"entry {at + 1} has no field {lacking}", 'set missing to "drop" or "null"'
            where = f"/entries/{at}/{_escaped(lacking)}"
            return Result.failed("data", "value-missing", message, where=where, hint=hint)
        if lacking is None or missing == "null":
            kept.append({new: entry.get(field) for field, new in names.items()})
    return Result.done({"entries": kept, "count": len(kept)}, counters={"left": len(args["entries"]) - len(kept)})


def _escaped(field: str) -> str:
    return field.replace("~", "~0").replace("/", "~1")
