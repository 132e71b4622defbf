from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import jsonschema
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from metnos.values.runtime import (
    DATES,
    PERIODS,
    RUNTIME_KEYS,
    UnknownRuntimeKey,
    UnknownZone,
    runtime_schema,
    runtime_value,
)

NOW = "2026-03-30T01:30:00+02:00"  # Monday, the day after the clocks of Rome went forward
ROME = "Europe/Rome"

EXPECTED: dict[str, Any] = {
    "now": NOW,
    "today": "2026-03-30",
    "yesterday": "2026-03-29",
    "tomorrow": "2026-03-31",
    "day": {"start": "2026-03-30T00:00:00+02:00", "end": "2026-03-31T00:00:00+02:00"},
    "day-1": {"start": "2026-03-29T00:00:00+01:00", "end": "2026-03-30T00:00:00+02:00"},
    "week": {"start": "2026-03-30T00:00:00+02:00", "end": "2026-04-06T00:00:00+02:00"},
    "week-1": {"start": "2026-03-23T00:00:00+01:00", "end": "2026-03-30T00:00:00+02:00"},
    "month": {"start": "2026-03-01T00:00:00+01:00", "end": "2026-04-01T00:00:00+02:00"},
    "month-3": {"start": "2025-12-01T00:00:00+01:00", "end": "2026-01-01T00:00:00+01:00"},
    "year": {"start": "2026-01-01T00:00:00+01:00", "end": "2027-01-01T00:00:00+01:00"},
    "year-1": {"start": "2025-01-01T00:00:00+01:00", "end": "2026-01-01T00:00:00+01:00"},
}


@pytest.mark.parametrize("key", EXPECTED)
def test_every_key_has_its_value(key: str) -> None:
    assert runtime_value(key, NOW, ROME) == EXPECTED[key]
    schema = runtime_schema(key)
    assert schema is not None
    jsonschema.validate(EXPECTED[key], schema, jsonschema.Draft202012Validator)


def test_the_list_is_closed() -> None:
    assert RUNTIME_KEYS == (
        "now", "yesterday", "today", "tomorrow", "day", "day-N", "week", "week-N", "month", "month-N", "year", "year-N",
    )  # fmt: skip
    for unit, most in PERIODS.items():
        assert runtime_schema(f"{unit}-{most}") is not None
        assert runtime_value(f"{unit}-{most}", NOW, ROME) is not None
        for key in (f"{unit}-0", f"{unit}-{most + 1}", f"{unit}-01", f"{unit}+1", f"{unit}s", unit.upper(), f"{unit}-"):
            assert runtime_schema(key) is None
            with pytest.raises(UnknownRuntimeKey, match=r"^" + key.replace("+", r"\+") + "$"):
                runtime_value(key, NOW, ROME)
    for key in ("", "noon", "today-1", "now-1"):
        assert runtime_schema(key) is None


def test_the_owners_zone_decides_the_day() -> None:
    assert runtime_value("today", NOW, "UTC") == "2026-03-29"
    assert runtime_value("today", NOW, "America/New_York") == "2026-03-29"
    assert runtime_value("now", NOW, "UTC") == "2026-03-29T23:30:00+00:00"
    assert runtime_value("now", "2026-03-29T23:30:00.000001Z", ROME) == "2026-03-30T01:30:00.000001+02:00"


@pytest.mark.parametrize("zone", ["Mars/Olympus", "", "../etc/passwd", "/etc/localtime"])
def test_an_unknown_zone_is_a_fault(zone: str) -> None:
    with pytest.raises(UnknownZone):
        runtime_value("today", NOW, zone)


def test_the_reference_time_has_an_offset() -> None:
    with pytest.raises(ValueError, match="no offset"):
        runtime_value("today", "2026-03-30T01:30:00", ROME)


ODD_MIDNIGHTS = [
    # no midnight: the clocks went from 00:00 to 01:00
    ("America/Sao_Paulo", "2018-11-04T12:00:00-02:00", "2018-11-04T01:00:00-02:00", 23),
    # two midnights: from 01:00 back to 00:00; the first counts
    ("America/Havana", "2025-11-02T12:00:00-05:00", "2025-11-02T00:00:00-04:00", 25),
    # no day at all
    ("Pacific/Apia", "2011-12-31T12:00:00+14:00", "2011-12-31T00:00:00+14:00", 24),
    # half an hour
    ("Australia/Lord_Howe", "2026-10-04T12:00:00+11:00", "2026-10-04T00:00:00+10:30", 23.5),
]


@pytest.mark.parametrize(("zone", "now", "start", "hours"), ODD_MIDNIGHTS, ids=[row[0] for row in ODD_MIDNIGHTS])
def test_a_day_begins_with_its_first_instant(zone: str, now: str, start: str, hours: float) -> None:
    day = runtime_value("day", now, zone)
    assert isinstance(day, dict)
    assert day["start"] == start
    assert _instant(day["end"]) - _instant(day["start"]) == timedelta(hours=hours)


def test_a_day_that_was_skipped_is_empty() -> None:
    skipped = runtime_value("day-1", "2011-12-31T12:00:00+14:00", "Pacific/Apia")
    assert isinstance(skipped, dict)
    assert skipped["start"] == skipped["end"] == "2011-12-31T00:00:00+14:00"


def _instant(text: Any) -> datetime:
    return datetime.fromisoformat(text)


def _period(key: str, now: datetime, zone: str) -> tuple[datetime, datetime]:
    value = runtime_value(key, now.isoformat(), zone)
    assert isinstance(value, dict)
    return _instant(value["start"]), _instant(value["end"])


zones = st.sampled_from(
    [ROME, "UTC", "America/New_York", "America/Sao_Paulo", "Pacific/Apia", "Asia/Kathmandu", "Australia/Lord_Howe"]
)
moments = st.datetimes(datetime(1985, 1, 1), datetime(2037, 12, 31), timezones=st.just(UTC))  # noqa: DTZ001


@given(zones, moments, st.sampled_from(sorted(PERIODS)), st.integers(0, 49))
@example(ROME, datetime(2026, 3, 29, 0, 59, tzinfo=UTC), "day", 0)
@example(ROME, datetime(2026, 10, 25, 1, 30, tzinfo=UTC), "day", 0)
@example("Pacific/Apia", datetime(2012, 1, 3, tzinfo=UTC), "day", 4)
def test_periods_tile(zone: str, now: datetime, unit: str, back: int) -> None:
    older, newer = (f"{unit}-{back + 1}", f"{unit}-{back}" if back else unit)
    start, end = _period(older, now, zone)
    next_start, next_end = _period(newer, now, zone)
    assert start <= end == next_start <= next_end
    if not back:
        assert next_start <= now < next_end
        local = now.astimezone(ZoneInfo(zone)).date().isoformat()
        assert runtime_value("today", now.isoformat(), zone) == local


@given(zones, moments)
def test_longer_periods_hold_shorter_ones(zone: str, now: datetime) -> None:
    day, week, month, year = (_period(unit, now, zone) for unit in ("day", "week", "month", "year"))
    for longer in (week, month, year):
        assert longer[0] <= day[0] <= day[1] <= longer[1]
    assert year[0] <= month[0] <= month[1] <= year[1]
    assert sorted(DATES, key=lambda key: str(runtime_value(key, now.isoformat(), zone))) == list(DATES)
