"""The conformance kit over both journals that ship, and over journals that break one promise each: it must notice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metnos.record.memory import MemoryJournal
from metnos.record.sqlite import SqliteJournal
from metnos.testing import DurableJournalSuite, JournalSuite

if TYPE_CHECKING:
    from pathlib import Path

    from metnos.record.store import Journal


class TestMemoryJournal(JournalSuite):
    def open(self, place: Path) -> Journal:
        return MemoryJournal()


class TestSqliteJournal(DurableJournalSuite):
    def open(self, place: Path) -> Journal:
        return SqliteJournal(place)
