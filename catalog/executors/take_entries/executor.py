"""Keeps the first or the last entries, in their order."""

from __future__ import annotations

from typing import Any

from metnos.sdk import Context, Result


def run(args: dict[str, Any], _ctx: Context) -> Result:
    """Take."""
    entries, count = args["entries"], args["count"]
    taken = entries[:count] if args.get("from", "start") == "start" else entries[max(len(entries) - count, 0) :]
    return Result.done({"entries": taken, "count": len(taken)}, counters={"left": len(entries) - len(taken)})
