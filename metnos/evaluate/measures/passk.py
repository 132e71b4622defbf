"""pass^k: the chance that k trials of a task all succeed, estimated without bias from more trials than k.

Law: of a group with n trials and c successes, C(c, k) / C(n, k) (τ-bench, Yao et al. 2024, section 3); a group with fewer
than k trials says nothing about k. The mean is over groups, exact: fractions, made a float when they are shown.

    >>> pass_hat([(4, 2), (2, 2)], 2)
    PassK(k=2, groups=2, value=0.5833333333333334)
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import comb

import msgspec


class PassK(msgspec.Struct, frozen=True):
    """Of `groups` groups with at least k trials; 0 where there is none."""

    k: int
    groups: int
    value: float


def pass_hat(groups: Iterable[tuple[int, int]], k: int) -> PassK:
    """pass^k over groups of (trials, successes).

    Raises:
        ValueError: k is not positive.
    """
    if k < 1:
        raise ValueError(f"pass^{k} is nothing: k is at least 1")
    total, count = Fraction(0), 0
    alike: dict[tuple[int, int], int] = {}
    for trials, successes in groups:
        if trials >= k:
            alike[trials, successes] = alike.get((trials, successes), 0) + 1
    for (trials, successes), times in alike.items():
        total += times * Fraction(comb(successes, k), comb(trials, k))
        count += times
    return PassK(k, count, float(total / count) if count else 0.0)
