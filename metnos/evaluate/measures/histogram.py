"""How numbers are spread, in buckets that grow with the number: exact to merge, bounded in size.

Law: whole numbers only, no float. A bucket holds the numbers with the same length in binary and the same five digits
behind the first, so a quantile is too small by less than one part in 32; below 64 every number has its own.

    >>> spread = Histogram()
    >>> for number in (3, 5, 1000, 1001): spread.add(number)
    >>> spread.quantile(1, 2), spread.quantile(1, 1)
    (5, 992)
"""

from __future__ import annotations

import msgspec

DIGITS = 5
"""Binary digits behind the first one that are told apart."""
_EXACT = 1 << (DIGITS + 1)


class Histogram(msgspec.Struct, kw_only=True):
    """Counts of whole numbers from 0; a negative one counts as 0."""

    counts: dict[int, int] = {}
    """Bucket → how many."""
    total: int = 0
    """Of the numbers, exact."""

    def add(self, number: int) -> None:
        """Count `number` once."""
        number = max(number, 0)
        self.total += number
        bucket = _bucket(number)
        self.counts[bucket] = self.counts.get(bucket, 0) + 1

    def merge(self, other: Histogram) -> None:
        """Take in what another one counted."""
        self.total += other.total
        for bucket, count in other.counts.items():
            self.counts[bucket] = self.counts.get(bucket, 0) + count

    @property
    def count(self) -> int:
        """How many numbers there are."""
        return sum(self.counts.values())

    def quantile(self, part: int, of: int) -> int:
        """The smallest number of the bucket in which `part` of `of` are reached; 0 if nothing was counted.

        `quantile(95, 100)` is the 95th percentile (nearest rank).
        """
        rank = -(-self.count * part // of)
        for bucket in sorted(self.counts):
            rank -= self.counts[bucket]
            if rank <= 0:
                return _least(bucket)
        return 0

    def bars(self) -> list[tuple[int, int, int]]:
        """(smallest number, first number of the next bucket, count) of every bucket that is not empty, in order."""
        return [(_least(bucket), _least(bucket + 1), self.counts[bucket]) for bucket in sorted(self.counts)]


def _bucket(number: int) -> int:
    if number < _EXACT:
        return number
    shift = number.bit_length() - DIGITS - 1
    return (shift << DIGITS) + (number >> shift)


def _least(bucket: int) -> int:
    if bucket < _EXACT:
        return bucket
    shift = (bucket >> DIGITS) - 1
    return ((bucket & ((1 << DIGITS) - 1)) + (1 << DIGITS)) << shift
