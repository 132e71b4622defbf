"""The turns of one home, out of its journal.

Law: read only; whoever writes turns meanwhile is not held up, and what they write may or may not be seen. The journal is
opened by each process that reads (a database that was open at a fork cannot be used, docs/adr/0011), and by the one that
lists the turns only while it lists them.
"""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from metnos.evaluate.collections.model import Fault, Turn
from metnos.record.faults import RecordFault
from metnos.record.labels import Labels
from metnos.record.sqlite import SqliteJournal

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from metnos.contracts.model import Contract
    from metnos.evaluate.collections.model import Item

PART_TURNS: Final = 200
DATABASE: Final = "metnos.db"


class JournalPart(msgspec.Struct, frozen=True, kw_only=True):
    """Some turns of a home, by their ids."""

    home: str
    turns: tuple[str, ...]

    @property
    def name(self) -> str:
        """The home and the first turn."""
        return f"{self.home}:{self.turns[0]}"

    @property
    def weight(self) -> int:
        """Turns."""
        return len(self.turns)

    def read(self) -> Iterator[Item]:
        """Its turns with their labels; one that cannot be loaded is a fault."""
        labels = Labels(Path(self.home))
        with _journal(self.home) as journal:
            for turn, found in journal.load_each(self.turns):
                where = f"{self.home}:{turn}"
                if isinstance(found, RecordFault):
                    yield Fault(where=where, code=found.code, detail=found.message)
                else:
                    yield Turn(log=found, where=where, labels=labels.of(turn))


class JournalTurns:
    """All turns of a home, or those that are named.

    Args:
        home: The folder that holds the database.
        turns: Ids; left out, all of them, oldest first.
        contracts: What goes with them where they leave the home; left out, they stay under those of the installation.
    """

    def __init__(
        self, home: Path, turns: tuple[str, ...] | None = None, contracts: tuple[Contract, ...] | None = None
    ) -> None:
        self._home = str(home)
        self._turns = turns
        self._contracts = contracts
        self.name = self._home
        self.folder = None

    def weight(self) -> int:
        """Turns."""
        if self._turns is not None:
            return len(self._turns)
        with _journal(self._home) as journal:
            return journal.count()

    def contracts(self) -> tuple[Contract, ...] | None:
        """None: those of the installation."""
        return self._contracts

    def under(self, contracts: tuple[Contract, ...]) -> JournalTurns:
        """The same turns, with the contracts of the installation named."""
        return JournalTurns(Path(self._home), self._turns, contracts)

    def shards(self) -> Iterator[JournalPart]:
        """Parts of `PART_TURNS` turns."""
        if self._turns is not None:
            for first in range(0, len(self._turns), PART_TURNS):
                yield JournalPart(home=self._home, turns=self._turns[first : first + PART_TURNS])
            return
        last = ""
        while True:
            with _journal(self._home) as journal:
                found = journal.names(after=last, limit=PART_TURNS)
            if not found:
                return
            yield JournalPart(home=self._home, turns=found)
            last = found[-1]


@contextmanager
def _journal(home: str) -> Generator[SqliteJournal]:
    journal = SqliteJournal(Path(home))
    try:
        yield journal
    finally:
        journal.close()
