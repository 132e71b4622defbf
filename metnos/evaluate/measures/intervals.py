"""How sure a rate or a difference is: Wilson's interval, and a paired bootstrap that is drawn from a seed.

Law: the same counts and the same seed give the same interval, on any machine and in any order of merging.

- *Wilson*: of a share of independent trials (Wilson, 1927); right at 0 and at 1, where the normal one is not.
- *Paired bootstrap* (Efron, 1979; percentiles): both sides are measured on the same units, units are drawn with
  replacement, both sides together. A unit is a group (the trials of one task are not independent of each other). It
  knows nothing of units that were not drawn, so of a handful it says more than can be known: nothing is certain below
  the number of moved units that the sign test asks for (6 at 95 %).
- `Paired` keeps exact sums for each unit; past `MOST_UNITS` units they are put together into `BLOCKS` blocks by a digest
  of their name, so memory is bounded and which block a unit falls into does not depend on who counted it.

    >>> wilson(9, 10)
    Interval(low=0.5958499732047615, high=0.9821237869049271)
"""

from __future__ import annotations

import hashlib
from math import ceil, log2, sqrt
from random import Random
from statistics import NormalDist
from typing import Final, TypeAlias

import msgspec

LEVEL: Final = 0.95
ROUNDS: Final = 2_000
MOST_UNITS: Final = 2_048
BLOCKS: Final = 1_024
Unit: TypeAlias = "list[int]"
"""[pairs, sum before, sum after]."""


class Interval(msgspec.Struct, frozen=True):
    """Between which two values the true one lies, at the level that was asked for."""

    low: float
    high: float

    def around(self, value: float) -> bool:
        """Whether `value` is one of those that cannot be ruled out."""
        return self.low <= value <= self.high


class Changed(msgspec.Struct, frozen=True, kw_only=True):
    """A mean, before and after, over the same units."""

    pairs: int
    before: float
    after: float
    interval: Interval
    """Of `after - before`."""
    moved: int = 0
    """Units in which anything differs."""
    enough: int = 0
    """So many of them it takes: the fewest that, all moved one way, chance would hardly move so (sign test)."""

    @property
    def difference(self) -> float:
        """After less before."""
        return self.after - self.before

    @property
    def certain(self) -> bool:
        """Whether no difference can be ruled out."""
        return self.pairs > 0 and self.moved >= self.enough and not self.interval.around(0.0)


def wilson(successes: int, trials: int, level: float = LEVEL) -> Interval:
    """Of a share; the whole range where nothing was tried.

    Raises:
        ValueError: More successes than trials, or a negative number.
    """
    if not 0 <= successes <= trials:
        raise ValueError(f"{successes} of {trials} is no share")
    if trials == 0:
        return Interval(0.0, 1.0)
    z = NormalDist().inv_cdf(0.5 + level / 2)
    share = successes / trials
    scale = 1 + z * z / trials
    middle = (share + z * z / (2 * trials)) / scale
    reach = z * sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials)) / scale
    low = 0.0 if successes == 0 else max(0.0, middle - reach)
    high = 1.0 if successes == trials else min(1.0, middle + reach)
    return Interval(low, high)


class Paired(msgspec.Struct, kw_only=True):
    """Whole numbers measured twice on the same things, summed for each unit."""

    units: dict[str, Unit] = {}
    blocked: bool = False
    """Whether the names are those of blocks."""

    def add(self, unit: str, before: int, after: int) -> None:
        """One pair of `unit`."""
        self._put(_block(unit) if self.blocked else unit, [1, before, after])
        self._bound()

    def merge(self, other: Paired) -> None:
        """Take in what another one counted."""
        if other.blocked and not self.blocked:
            self._fold()
        for name, unit in other.units.items():
            self._put(_block(name) if self.blocked and not other.blocked else name, unit)
        self._bound()

    def changed(self, seed: int, level: float = LEVEL, rounds: int = ROUNDS) -> Changed:
        """The means of both sides and the interval of their difference."""
        units = [self.units[name] for name in sorted(self.units)]
        pairs = sum(unit[0] for unit in units)
        if pairs == 0:
            return Changed(pairs=0, before=0.0, after=0.0, interval=Interval(0.0, 0.0))
        before, after = sum(unit[1] for unit in units), sum(unit[2] for unit in units)
        interval = _bootstrap([(unit[0], unit[2] - unit[1]) for unit in units], seed, level, rounds)
        moved = sum(unit[1] != unit[2] for unit in units)
        enough = ceil(log2(2 / (1 - level)))
        return Changed(
            pairs=pairs,
            before=before / pairs,
            after=after / pairs,
            interval=interval,
            moved=moved,
            enough=enough,
        )

    def _put(self, name: str, unit: Unit) -> None:
        there = self.units.setdefault(name, [0, 0, 0])
        for place, number in enumerate(unit):
            there[place] += number

    def _bound(self) -> None:
        if not self.blocked and len(self.units) > MOST_UNITS:
            self._fold()

    def _fold(self) -> None:
        units, self.units, self.blocked = self.units, {}, True
        for name, unit in units.items():
            self._put(_block(name), unit)


def _block(unit: str) -> str:
    number = int.from_bytes(hashlib.sha256(unit.encode("utf-8", "surrogatepass")).digest()[:4], "big") % BLOCKS
    return f"block {number:04}"


def _bootstrap(units: list[tuple[int, int]], seed: int, level: float, rounds: int) -> Interval:
    """Percentiles of the mean difference over `rounds` draws of units with replacement."""
    if all(difference == 0 for _, difference in units):
        return Interval(0.0, 0.0)
    random, means = Random(seed), list[float]()  # noqa: S311 - drawn again from the same seed, it must be the same
    for _ in range(rounds):
        drawn = random.choices(units, k=len(units))
        means.append(sum(difference for _, difference in drawn) / sum(pairs for pairs, _ in drawn))
    means.sort()
    cut = round((1 - level) / 2 * rounds)
    return Interval(means[cut], means[-cut - 1])
