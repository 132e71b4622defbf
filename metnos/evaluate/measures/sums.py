"""Figures of many turns, added up exactly and in bounded memory.

Law: whole numbers only; `merge` is associative and commutative, so one process, many of them and a cluster give the same
bytes (`encoded`). Names that can be as many as there are turns (requests, entries) are not kept; groups are, because a
data set has few of them. Of each cause the `EXAMPLES` turns with the smallest ids are named.
"""

from __future__ import annotations

from collections import Counter
from itertools import chain, repeat
from typing import TYPE_CHECKING, Final

import msgspec

from metnos.evaluate.measures.histogram import Histogram
from metnos.evaluate.measures.passk import PassK, pass_hat

if TYPE_CHECKING:
    from collections.abc import Mapping

    from metnos.evaluate.measures.figures import TurnFigures

EXAMPLES: Final = 5
ADDED: Final = (
    "succeeded", "judged", "valid", "plans", "rejected", "proposals", "steps", "done", "failed", "skipped",
    "repeated_calls", "model_calls", "tokens_in", "tokens_out", "cost", "unpriced", "latency_us", "approvals_asked",
    "approvals_given", "approvals_refused",
)  # fmt: skip
"""Fields that are added up as they are."""
SPREAD: Final = ("latency_us", "steps", "model_calls", "tokens_in", "tokens_out")
"""Fields whose distribution is kept, too."""
BY_NAME: Final = ("outcome", "cause", "plan_source", "cache_reason", "language")
"""Text fields, of which each value is counted; an empty one is not."""
COUNTED: Final = ("verdicts", "guards", "rewritten_by", "effects", "error_codes")
"""Fields that are counts themselves."""
LISTED: Final = ("tools", "models")
"""Fields that are lists of names."""


class Group(msgspec.Struct, kw_only=True):
    """The trials of one task."""

    trials: int = 0
    successes: int = 0


class Sums(msgspec.Struct, kw_only=True):
    """Of the turns of a shard, or of all."""

    turns: int = 0
    unknown: int = 0
    """Turns that cannot be judged; in every sum, and in no share of successes."""
    totals: dict[str, int] = {}
    """Field of `ADDED` → sum."""
    counts: dict[str, dict[str, int]] = {}
    """Field of `BY_NAME` or `COUNTED`, `tools`, `models`, `cause_tool` → value → how many."""
    spreads: dict[str, Histogram] = {}
    """Field of `SPREAD` → its distribution."""
    groups: dict[str, Group] = {}
    alone: Group = msgspec.field(default_factory=Group)
    """Turns without a group, each its own."""
    examples: dict[str, list[str]] = {}
    """Cause → turns."""

    def add(self, one: TurnFigures) -> None:
        """Count one turn."""
        self.turns += 1
        for name in ADDED:
            number = int(getattr(one, name))
            if number:
                self.totals[name] = self.totals.get(name, 0) + number
        for name in SPREAD:
            self.spreads.setdefault(name, Histogram()).add(getattr(one, name))
        for name in BY_NAME:
            value: str = getattr(one, name)
            if value:
                self._count(name, value, 1)
        for name in COUNTED:
            self._count_all(name, getattr(one, name))
        for name in LISTED:
            self._count_all(name, Counter(getattr(one, name)))
        if one.cause_tool:
            self._count("cause_tool", f"{one.cause} {one.cause_tool}", 1)
        if one.cause:
            self._example(one.cause, one.turn)
        if not one.known:
            self.unknown += 1
            return
        group = self.groups.setdefault(one.group, Group()) if one.group else self.alone
        group.trials += 1
        group.successes += one.succeeded

    def merge(self, other: Sums) -> None:
        """Take in what another one counted."""
        self.turns += other.turns
        self.unknown += other.unknown
        for name, number in other.totals.items():
            self.totals[name] = self.totals.get(name, 0) + number
        for name, counts in other.counts.items():
            self._count_all(name, counts)
        for name, spread in other.spreads.items():
            self.spreads.setdefault(name, Histogram()).merge(spread)
        for name, group in other.groups.items():
            _join(self.groups.setdefault(name, Group()), group)
        _join(self.alone, other.alone)
        for cause, turns in other.examples.items():
            for turn in turns:
                self._example(cause, turn)

    def total(self, name: str) -> int:
        """The sum of a field; 0 where nothing was counted."""
        return self.totals.get(name, 0)

    def counted(self, name: str) -> dict[str, int]:
        """Value → how many, the most frequent first, equal ones by name."""
        return dict(sorted(self.counts.get(name, {}).items(), key=lambda item: (-item[1], item[0])))

    def pass_k(self, k: int) -> PassK:
        """pass^k over all groups; a turn without one is a group of one trial."""
        tried = ((group.trials, group.successes) for group in self.groups.values())
        missed = self.alone.trials - self.alone.successes
        return pass_hat(chain(tried, repeat((1, 1), self.alone.successes), repeat((1, 0), missed)), k)

    @property
    def judged(self) -> int:
        """Turns that succeeded or did not."""
        return self.turns - self.unknown

    def encoded(self) -> bytes:
        """JSON with sorted keys: equal sums give equal bytes."""
        return msgspec.json.encode(msgspec.to_builtins(self, str_keys=True), order="sorted")

    def _count_all(self, name: str, counts: Mapping[str, int]) -> None:
        for value, number in counts.items():
            self._count(name, value, number)

    def _count(self, name: str, value: str, number: int) -> None:
        counts = self.counts.setdefault(name, {})
        counts[value] = counts.get(value, 0) + number

    def _example(self, cause: str, turn: str) -> None:
        turns = self.examples.setdefault(cause, [])
        if turn not in turns:
            turns.append(turn)
            turns.sort()
            del turns[EXAMPLES:]


def _join(group: Group, other: Group) -> None:
    group.trials += other.trials
    group.successes += other.successes
