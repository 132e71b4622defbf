"""Thresholds of near matches: from which score on a plan's outcomes prove that it errs less than the operator allows.

Law: nothing is trusted because nothing went wrong yet. What counts is the upper bound of the error (Clopper-Pearson)
over outcomes that were confirmed or disproved, pooled by plan. Looking again and again would find luck sooner or
later, so it is looked at 1, 2, 4, 8 … outcomes only, and the j-th look spends 1/(j(j+1)) of the doubt that is allowed:
over all looks together the promise holds. Of the scores of `STEPS` each is tried only if the one above it held, or
nothing came so near.

    thresholds = Thresholds()
    thresholds.record("plan", 0.97, right=True)         # 600 times
    thresholds.threshold("plan", bound=0.01)            # 0.95
"""

from __future__ import annotations

import math

STEPS = (0.95, 0.9, 0.85, 0.8)
DOUBT = 0.05
"""How often the whole of a plan's learning may be wrong about its error."""


class Thresholds:
    """Outcomes by plan. Not safe between threads: the store that holds it locks."""

    def __init__(self) -> None:
        self._outcomes: dict[str, list[tuple[float, bool]]] = {}

    def record(self, plan: str, score: float, *, right: bool) -> None:
        """One near match of `plan` turned out right or wrong."""
        self._outcomes.setdefault(plan, []).append((score, right))

    def outcomes(self, plan: str) -> tuple[tuple[float, bool], ...]:
        """(score, right) of all near matches of a plan, in order."""
        return tuple(self._outcomes.get(plan, ()))

    def threshold(self, plan: str, bound: float) -> float | None:
        """The lowest score from which the error is below `bound`; None if no score is known to be good enough."""
        found: float | None = None
        for step in STEPS:
            right = [outcome for score, outcome in self._outcomes.get(plan, ()) if score >= step]
            look = len(right).bit_length()
            # Outcomes behind the last look wait for the next one.
            seen = right[: 1 << (look - 1)] if look else []
            doubt = DOUBT / (look * (look + 1)) if look else 1.0
            if not seen:
                continue  # nothing came so near; the next one counts what did
            if upper_bound(seen.count(False), len(seen), doubt) > bound:
                break
            found = step
        return found


def upper_bound(errors: int, count: int, doubt: float) -> float:
    """The largest error rate that `errors` of `count` leave possible with probability `doubt` (Clopper-Pearson)."""
    if errors >= count:
        return 1.0
    low, high = errors / count, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if _at_most(errors, count, middle) > doubt:
            low = middle
        else:
            high = middle
    return high


def _at_most(errors: int, count: int, rate: float) -> float:
    """Probability of at most so many errors."""
    if rate >= 1.0:
        return 0.0
    if rate <= 0.0:
        return 1.0
    return math.fsum(
        math.exp(
            math.lgamma(count + 1)
            - math.lgamma(k + 1)
            - math.lgamma(count - k + 1)
            + k * math.log(rate)
            + (count - k) * math.log1p(-rate)
        )
        for k in range(errors + 1)
    )
