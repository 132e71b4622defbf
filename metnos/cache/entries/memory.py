"""Rows in memory: a store of one process, for engines that write nothing.

Law: as a store on disk, as far as one process can tell; what it may lose is everything, at the end.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from metnos.cache.entries.store import MAX_QUARANTINED

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from metnos.cache.entries.disk import Tampered
    from metnos.cache.entries.store import Alarm


class MemoryStore:
    """Rows of one process, gone with it."""

    def __init__(self) -> None:
        self._rows: dict[str, bytes] = {}
        self._alarms: list[Alarm] = []
        self._version = 0
        self._added = 0
        self._lock = threading.RLock()

    def get(self, key: str) -> bytes | Tampered | None:
        """The row under `key`."""
        return self._rows.get(key)

    def get_many(self, keys: Sequence[str]) -> dict[str, bytes | Tampered]:
        """The rows under `keys`."""
        found = {key: self.get(key) for key in keys}
        return {key: row for key, row in found.items() if row is not None}

    def put(self, key: str, row: bytes) -> None:
        """Write a row."""
        with self._lock:
            self._rows[key] = row

    def drop(self, key: str | Tampered) -> None:
        """Take a row away."""
        with self._lock:
            self._rows.pop(str(key), None)

    def every_key(self) -> Iterator[str | Tampered]:
        """Every key, oldest first."""
        return iter(tuple(self._rows))

    def size(self) -> tuple[int, int]:
        """Number of rows, and bytes that they take."""
        return len(self._rows), sum(map(len, tuple(self._rows.values())))

    def version(self) -> int:
        """Grows with each `took_back`."""
        return self._version

    def state(self) -> tuple[int, int]:
        """How often something was taken back, and added."""
        return self._version, self._added

    def took_back(self) -> None:
        """Something must not be served any more."""
        with self._lock:
            self._version += 1

    def added(self) -> None:
        """A key has a row that had none."""
        with self._lock:
            self._added += 1

    @contextmanager
    def locked(self) -> Generator[None]:
        """While inside, nobody else writes."""
        with self._lock:
            yield

    def quarantine(self, alarm: Alarm, row: bytes) -> None:  # noqa: ARG002 - there is nowhere to keep it
        """Sound the alarm."""
        self._alarms = [*self._alarms, alarm][-MAX_QUARANTINED:]

    def alarms(self) -> tuple[Alarm, ...]:
        """The latest alarms."""
        return tuple(self._alarms)

    def close(self) -> None:
        """Nothing is open."""
