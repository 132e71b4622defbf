"""What a job is, and what comes of it. Pure.

    class Longest(msgspec.Struct):                      # a partial: exact, and merged in whichever order
        records: int = 0

        def merge(self, other: Longest) -> None:
            self.records = max(self.records, other.records)

    def longest(turns: Iterable[Turn]) -> Longest:      # a job: a function of a module, or a value that can be called
        return Longest(max((len(turn.log.records) for turn in turns), default=0))

    mapped = map_shards(longest, open_collection("turns/"), workers=4)

Law: a partial is merged in any order and in any grouping with the same result: whole numbers, counters, the smallest N of
an order; never a sum of floats. Job and partial can be pickled. A job of no turns gives the partial that changes none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Generic, Protocol, Self, TypeVar

import msgspec

from metnos.evaluate.collections.model import Fault
from metnos.record.faults import RecordFault

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from metnos.evaluate.collections.model import Shard, Turn

NAMED: Final = 20
"""Faults that are named; all are counted."""


class Partial(Protocol):
    """What a job gives for some turns."""

    def merge(self, other: Self, /) -> None:
        """Add what it gave for others."""
        ...


P = TypeVar("P", bound=Partial)
P_co = TypeVar("P_co", bound=Partial, covariant=True)


class Job(Protocol[P_co]):
    """A pure function over turns."""

    def __call__(self, turns: Iterable[Turn], /) -> P_co: ...


class Faults(msgspec.Struct):
    """What could not be read: counted by code, the first ones named."""

    counts: dict[str, int] = {}
    named: list[Fault] = []
    """The first `NAMED` in the order of their places."""

    def add(self, fault: Fault) -> None:
        """Count one."""
        self.merge(Faults({fault.code: 1}, [fault]))

    def merge(self, other: Faults, /) -> None:
        """Count those of others."""
        for code, count in other.counts.items():
            self.counts[code] = self.counts.get(code, 0) + count
        self.counts = dict(sorted(self.counts.items()))
        self.named = sorted([*self.named, *other.named], key=_in_order)[:NAMED]

    @property
    def total(self) -> int:
        """How many there are."""
        return sum(self.counts.values())


def _in_order(fault: Fault) -> tuple[str, int, str, str]:
    file, colon, line = fault.where.rpartition(":")
    known = bool(colon) and line.isascii() and line.isdecimal()
    return (file if known else fault.where, int(line) if known else 0, fault.code, fault.detail)


class Lost(msgspec.Struct, frozen=True, kw_only=True):
    """A worker process that ended while it was at work."""

    worker: str
    """`worker 2 (process 4711)`."""
    by: str
    """`SIGKILL`, or `exit code 3`."""
    shard: str
    """The part that it was at."""
    again: bool
    """Whether the part is done again; no: it was lost for the second time, and counts as a fault `worker-lost`."""


class Mapped(msgspec.Struct, Generic[P], kw_only=True):
    """A job, done over a collection."""

    partial: P
    turns: int = 0
    """Turns that the job was handed."""
    faults: Faults
    lost: list[Lost] = []
    """Not exact: it tells of this run, not of the turns."""


class Progress(Protocol):
    """Told of what is going on, in the process that asked."""

    def begin(self, weight: int) -> None:
        """How much there is to do; 0: nobody knows."""
        ...

    def advance(self, weight: int, turns: int) -> None:
        """A part is done."""
        ...

    def lost(self, lost: Lost) -> None:
        """A worker is."""
        ...


class Silent:
    """Tells nobody."""

    def begin(self, weight: int) -> None:
        """Nothing."""

    def advance(self, weight: int, turns: int) -> None:
        """Nothing."""

    def lost(self, lost: Lost) -> None:
        """Nothing."""


class Done(msgspec.Struct, Generic[P]):
    """One part, done."""

    partial: P
    turns: int
    faults: Faults


def run_shard(job: Job[P], shard: Shard) -> Done[P]:
    """The job over one part, in this process. Where the part cannot be read on, that is a fault, and the job ends well."""
    faults, count = Faults(), 0

    def turns() -> Iterator[Turn]:
        nonlocal count
        try:
            for item in shard.read():
                if isinstance(item, Fault):
                    faults.add(item)
                else:
                    count += 1
                    yield item
        except RecordFault as fault:
            faults.add(Fault(where=shard.name, code=fault.code, detail=fault.message))
        except OSError as fault:
            faults.add(Fault(where=shard.name, code="environment", detail=fault.strerror or str(fault)))

    partial = job(turns())
    return Done(partial, count, faults)


def empty(job: Job[P]) -> Mapped[P]:
    """What a job gives for no turns."""
    nothing: tuple[Any, ...] = ()
    return Mapped(partial=job(nothing), faults=Faults())


def take(mapped: Mapped[P], done: Done[P]) -> None:
    """Merge one part in."""
    mapped.partial.merge(done.partial)
    mapped.faults.merge(done.faults)
    mapped.turns += done.turns
