"""Jobs over turns that a spawned worker can import: some end their worker, some fail. `from tests.support.jobs import …`."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from metnos.evaluate.collections.model import Item, Shard, Turn
from metnos.record.faults import RecordFault


class Counted(msgspec.Struct):
    """A partial: turns by their status, and the longest."""

    statuses: dict[str, int] = {}
    longest: int = 0

    def merge(self, other: Counted, /) -> None:
        for status, count in other.statuses.items():
            self.statuses[status] = self.statuses.get(status, 0) + count
        self.longest = max(self.longest, other.longest)


def count(turns: Iterable[Turn], /) -> Counted:
    made = Counted()
    for turn in turns:
        made.merge(Counted({turn.log.status: 1}, len(turn.log.records)))
    return made


class Dies(msgspec.Struct, frozen=True):
    """Counts, and is killed by the system at one turn: the first `times` times that it comes there."""

    turn: str
    folder: str
    """Where a file is left for each time."""
    times: int

    def __call__(self, turns: Iterable[Turn], /) -> Counted:
        return count(self._watched(turn) for turn in turns)

    def _watched(self, turn: Turn) -> Turn:
        folder = Path(self.folder)
        if turn.log.turn == self.turn and len(list(folder.iterdir())) < self.times:
            (folder / f"{os.getpid()}").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return turn


def fail(turns: Iterable[Turn], /) -> Counted:
    for turn in turns:
        raise ZeroDivisionError(f"at {turn.where}")
    return Counted()


class Dawdles(msgspec.Struct, frozen=True):
    """Says that it is there, and takes for ever."""

    folder: str

    def __call__(self, turns: Iterable[Turn], /) -> Counted:
        for _turn in turns:
            (Path(self.folder) / f"{os.getpid()}").touch()
            time.sleep(600)
        return Counted()


class Part(msgspec.Struct, frozen=True):
    """A shard with a name and nothing in it."""

    name: str
    weight: int = 1

    def read(self) -> Iterator[Item]:
        return iter(())


class Named(msgspec.Struct, frozen=True):
    """A task: the name of each part, and a fault at one of them."""

    bad: str = ""

    def open(self) -> Named:
        return self

    def __call__(self, shard: Shard) -> str:
        if shard.name == self.bad:
            raise RecordFault("seal-differs", f"{shard.name} cannot be read", hint="seal it again")
        return f"{shard.name}!"
