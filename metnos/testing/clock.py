"""A clock that goes only when it is told to: `Engine.open(clock=FakeClock("2026-11-30T12:00:00+01:00"))`.

Law: it reads no other clock, so a test with one sees the same times on every machine and at every speed.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_US = timedelta(microseconds=1)


class FakeClock:
    """Called, it gives µs since 1970-01-01 UTC, as the `clock` port wants.

    Args:
        now: ISO 8601 with an offset.
        tick: Seconds that each reading takes, so that two events need not be at one time.

    Raises:
        ValueError: `now` has no offset, or is no time.
    """

    def __init__(self, now: str = "2026-11-30T12:00:00+00:00", *, tick: float = 0.000_001) -> None:
        self._now = _microseconds(now)
        self._tick = round(tick * 1_000_000)

    def __call__(self) -> int:
        """The time, and go one tick on."""
        self._now += self._tick
        return self._now

    def advance(self, seconds: float) -> None:
        """Go on, or back if it is negative."""
        self._now += round(seconds * 1_000_000)

    def set(self, now: str) -> None:
        """Jump to a time.

        Raises:
            ValueError: `now` has no offset, or is no time.
        """
        self._now = _microseconds(now)


def _microseconds(now: str) -> int:
    moment = datetime.fromisoformat(now)
    if moment.tzinfo is None:
        raise ValueError(f"{now!r} has no offset: write it as 2026-11-30T12:00:00+01:00")
    return (moment - _EPOCH) // _US
