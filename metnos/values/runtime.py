"""Symbolic time: the closed list of `${RUNTIME:…}` keys, and what each means at one reference time.

Law: no clock is read; the reference is `TurnOpened.now`, the zone the owner's. Periods are half-open, from the
first instant of a day to the first instant of a later one, so that neighbours meet exactly, whatever daylight
saving does to midnight. Weeks begin on Monday. `-N` counts back: `day-1` is yesterday as a period.

| key | value |
|---|---|
| `now` | instant, ISO 8601 with offset |
| `today`, `yesterday`, `tomorrow` | date, `YYYY-MM-DD` |
| `day`, `week`, `month`, `year`, each also with `-N` | `{"start": instant, "end": instant}` |
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from metnos.plan.jsondata import JSON

DATES: dict[str, int] = {"yesterday": -1, "today": 0, "tomorrow": 1}
"""Key → days from today."""
PERIODS: dict[str, int] = {"day": 3660, "week": 520, "month": 120, "year": 50}
"""Key → the largest N of `key-N`."""
RUNTIME_KEYS: tuple[str, ...] = ("now", *DATES, *(form for key in PERIODS for form in (key, f"{key}-N")))
"""The whole list, as people read it."""

_PERIOD = re.compile(r"([a-z]+)(?:-([1-9][0-9]{0,3}))?")
_PERIOD_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "start": {"type": "string", "format": "date-time"},
        "end": {"type": "string", "format": "date-time"},
    },
    "required": ["start", "end"],
    "additionalProperties": False,
}


class UnknownRuntimeKey(ValueError):
    """A key that is not in the list (code `unknown-runtime-key`)."""


class UnknownZone(ValueError):
    """A time zone that this system does not know (code `unknown-zone`)."""


def runtime_schema(key: str) -> dict[str, Any] | None:
    """JSON Schema of a key's value; None if there is no such key."""
    if key == "now":
        return {"type": "string", "format": "date-time"}
    if key in DATES:
        return {"type": "string", "format": "date"}
    return _PERIOD_SCHEMA if _period(key) is not None else None


def runtime_value(key: str, now_iso: str, zone: str) -> JSON:
    """What `key` means.

    Args:
        key: `now`, `today`, `day-1` …
        now_iso: the turn's reference time, ISO 8601 with offset.
        zone: IANA name of the owner's time zone.

    Raises:
        UnknownRuntimeKey: there is no such key.
        UnknownZone: there is no such zone here.
        ValueError: `now_iso` has no offset.
    """
    where = _zone(zone)
    now = datetime.fromisoformat(now_iso)
    if now.tzinfo is None:
        raise ValueError(f"{now_iso!r} has no offset")
    now = now.astimezone(where)
    if key == "now":
        return now.isoformat()
    if key in DATES:
        return (now.date() + timedelta(days=DATES[key])).isoformat()
    period = _period(key)
    if period is None:
        raise UnknownRuntimeKey(key)
    unit, back = period
    start = _STARTS[unit]
    return {
        "start": _first_instant(start(now.date(), -back), where),
        "end": _first_instant(start(now.date(), 1 - back), where),
    }


def _period(key: str) -> tuple[str, int] | None:
    match = _PERIOD.fullmatch(key)
    if match is None or match[1] not in PERIODS:
        return None
    back = int(match[2] or 0)
    return (match[1], back) if back <= PERIODS[match[1]] else None


def _day(today: date, offset: int) -> date:
    return today + timedelta(days=offset)


def _week(today: date, offset: int) -> date:
    return today + timedelta(days=7 * offset - today.weekday())


def _month(today: date, offset: int) -> date:
    years, month = divmod(today.year * 12 + today.month - 1 + offset, 12)
    return date(years, month + 1, 1)


def _year(today: date, offset: int) -> date:
    return date(today.year + offset, 1, 1)


_STARTS: dict[str, Callable[[date, int], date]] = {"day": _day, "week": _week, "month": _month, "year": _year}
"""Unit → first day of the period that lies `offset` units from the one of today."""


def _first_instant(day: date, where: tzinfo) -> str:
    # fold=0 takes the first of two midnights; where midnight is skipped it lies before the gap, and the way
    # through UTC moves it to the first instant behind it.
    midnight = datetime(day.year, day.month, day.day, tzinfo=where)
    return midnight.astimezone(UTC).astimezone(where).isoformat()


@lru_cache(maxsize=64)
def _zone(name: str) -> tzinfo:
    if name == "UTC":
        return UTC
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise UnknownZone(name) from None
