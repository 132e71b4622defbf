"""The job of the benchmark of replay: every turn replayed and measured in one pass.

Law: a module of its own, so that every worker imports it by its name (Ray would else take it along by value).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import msgspec

from metnos.evaluate.collections.model import Turn
from metnos.evaluate.measures.figures import Labels, figures_of
from metnos.evaluate.measures.sums import Sums
from metnos.evaluate.replaying.many import Replay, Replayed
from metnos.record.codec import encode


class Counted(msgspec.Struct):
    """What replay and figures say of some turns."""

    replayed: Replayed
    sums: Sums

    def merge(self, other: Counted, /) -> None:
        """Add another's."""
        self.replayed.merge(other.replayed)
        self.sums.merge(other.sums)

    def digest(self) -> str:
        """Over everything that was counted."""
        sums: dict[Any, Any] = msgspec.to_builtins(self.sums, str_keys=True)
        told = [self.replayed.groups, self.replayed.turns, self.replayed.records, sums]
        return hashlib.sha256(encode(told)).hexdigest()


class Evaluate(msgspec.Struct, frozen=True):
    """The job: every turn replayed and measured."""

    replay: Replay

    def __call__(self, turns: Iterable[Turn], /) -> Counted:
        """Both, in one pass."""
        made = Counted(Replayed(), Sums())
        for turn in turns:
            made.replayed.merge(self.replay((turn,)))
            labels = Labels(group=str(turn.labels["task"]), trial=int(turn.labels["trial"]))
            made.sums.add(figures_of(turn.log, labels))
        return made
