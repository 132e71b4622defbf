"""Homogeneity and completeness of the keys that requests got (Rosenberg and Hirschberg, 2007).

Homogeneity is 1 if every key holds requests of one meaning only; completeness is 1 if every meaning has one key.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence


def homogeneity(meanings: Sequence[Hashable], keys: Sequence[Hashable]) -> float:
    """1 - H(meaning | key) / H(meaning); 1 where there is one meaning."""
    whole = _entropy(Counter(meanings).values())
    return 1.0 if whole == 0 else 1.0 - _conditional(meanings, keys) / whole


def completeness(meanings: Sequence[Hashable], keys: Sequence[Hashable]) -> float:
    """1 - H(key | meaning) / H(key); 1 where there is one key."""
    return homogeneity(keys, meanings)


def _entropy(counts: Iterable[int]) -> float:
    numbers = list(counts)
    total = sum(numbers)
    return -sum(n / total * math.log(n / total) for n in numbers if n)


def _conditional(left: Sequence[Hashable], given: Sequence[Hashable]) -> float:
    """H(left | given), in nats."""
    total = len(left)
    apart = Counter(given)
    both = Counter(zip(left, given, strict=True))
    return -sum(n / total * math.log(n / apart[key]) for (_, key), n in both.items())
