"""Says what time it is: the turn's one reference time, taken apart.

Law: it reads no clock. All steps of a turn, and its replay, see the same time.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from metnos.sdk import Context, Result

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


def run(args: dict[str, Any], ctx: Context) -> Result:
    """Say it."""
    now = datetime.fromisoformat(ctx.now)
    zone = args.get("zone")
    if zone is not None:
        try:
            now = now.astimezone(ZoneInfo(zone))
        except (ZoneInfoNotFoundError, ValueError, OSError):
            hint = "write it as Europe/Rome or UTC"
            return Result.failed(
                "arguments", "unknown-zone", f"no time zone is called {zone}", where="/zone", hint=hint
            )
    _, week, weekday = now.isocalendar()
    data = {
        "now": now.isoformat(),
        "utc": now.astimezone(UTC).isoformat(),
        "date": now.date().isoformat(),
        "time": now.time().isoformat(timespec="seconds"),
        "zone": zone or _offset(now),
        "weekday": WEEKDAYS[weekday - 1],
        "weekday_number": weekday,
        "week": week,
        "year": now.year,
        "month": now.month,
        "day": now.day,
    }
    return Result.done(data)


def _offset(now: datetime) -> str:
    """`+01:00`: the turn's time carries an offset, not the name of its zone."""
    text = now.strftime("%z")
    return f"{text[:3]}:{text[3:5]}"
