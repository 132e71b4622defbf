"""The job that replays turns, and the sums it gives.

    mapped = map_shards(Replay(Ground(contracts)), open_collection("turns/"), workers=2)
    mapped.partial.groups     # by first cause, the most frequent first

Law: exact, in whichever order. A turn that makes the replay itself fail is broken (`bug`), named as any other, and the
run goes on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from metnos.evaluate.replaying.cause import Cause, cause_of
from metnos.record.replay import ReplayResult, replay

if TYPE_CHECKING:
    from collections.abc import Iterable

    from metnos.evaluate.collections.model import Turn
    from metnos.evaluate.replaying.ground import Ground

EXAMPLES: Final = 5
MOST_DETAIL: Final = 300


class Example(msgspec.Struct, frozen=True, order=True):
    """One turn of a group."""

    turn: str
    where: str
    seq: int
    """The first record that differs; 0: none can be named."""
    detail: str


class Group(msgspec.Struct):
    """Turns with one first cause."""

    count: int
    examples: list[Example]
    """The first ones by their ids."""


class Replayed(msgspec.Struct):
    """What came of replaying some turns."""

    turns: int = 0
    identical: int = 0
    diverged: int = 0
    broken: int = 0
    records: int = 0
    """Records that were compared and found the same."""
    causes: dict[Cause, Group] = {}

    @property
    def groups(self) -> list[tuple[Cause, Group]]:
        """The most frequent first."""
        return sorted(self.causes.items(), key=lambda one: (-one[1].count, one[0]))

    def add(self, turn: Turn, result: ReplayResult) -> None:
        """Count one."""
        self.turns += 1
        self.records += result.records
        if result.status == "identical":
            self.identical += 1
            return
        self.diverged += result.status == "diverged"
        self.broken += result.status == "broken"
        example = Example(turn.log.turn, turn.where, result.seq, result.detail[:MOST_DETAIL])
        self._join(cause_of(result, turn.log), Group(1, [example]))

    def merge(self, other: Replayed, /) -> None:
        """Count those of others."""
        self.turns += other.turns
        self.identical += other.identical
        self.diverged += other.diverged
        self.broken += other.broken
        self.records += other.records
        for cause, group in other.causes.items():
            self._join(cause, group)

    def _join(self, cause: Cause, group: Group) -> None:
        found = self.causes.setdefault(cause, Group(0, []))
        found.count += group.count
        found.examples = sorted([*found.examples, *group.examples])[:EXAMPLES]


class Replay(msgspec.Struct, frozen=True):
    """The job."""

    ground: Ground

    def __call__(self, turns: Iterable[Turn], /) -> Replayed:
        """Each turn, fed to a fresh machine."""
        made, rules = Replayed(), None
        for turn in turns:
            rules = rules or self.ground.rules
            try:
                result = replay(turn.log, rules)
            except Exception as fault:  # noqa: BLE001 - no turn may end the run; this one is named
                detail = f"{type(fault).__name__}: {fault}"
                result = ReplayResult(turn=turn.log.turn, status="broken", kind="bug", detail=detail)
            made.add(turn, result)
        return made
