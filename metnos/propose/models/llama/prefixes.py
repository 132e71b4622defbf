"""Prefixes whose state is at hand, each in a sequence of its own: what reads a request and what plans it go turn about.

Law: pure bookkeeping. The prefix that was wanted least lately makes room; so does every other one, where the context would
be left without `ROOM`. What is mostly the same as a prefix at hand takes its place, as far as they are alike.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MOST: Final = 2
"""Prefixes at hand."""
ROOM: Final = 1024
"""Tokens that requests and their plans need beside the prefixes."""


class Place(NamedTuple):
    sequence: int
    alike: int
    """Tokens that stand there already."""
    gone: tuple[int, ...] = ()
    """Sequences that make room."""


class Prefixes:
    """Which prefix stands in which sequence."""

    def __init__(self, sequences: Iterable[int], context: int) -> None:
        """`sequences` are for prefixes alone; `context` is what all sequences share, in tokens."""
        self._held: dict[int, list[int]] = {number: [] for number in sequences}  # the one wanted last is last
        self._context = context

    def nearest(self, tokens: Sequence[int]) -> Place:
        """The sequence that begins most like `tokens`."""
        return max(
            (Place(number, alike(held, tokens)) for number, held in self._held.items()), key=lambda place: place.alike
        )

    def placed(self, tokens: Sequence[int]) -> Place:
        """Where `tokens` are to stand, and what is given up for it: `hold` says when they do."""
        nearest = self.nearest(tokens)
        if nearest.alike == len(tokens) or 2 * nearest.alike >= len(self._held[nearest.sequence]) > 0:
            place = nearest
        else:
            free = next((number for number, held in self._held.items() if not held), next(iter(self._held)))
            place = Place(free, alike(self._held[free], tokens))
        others = [number for number in self._held if number != place.sequence and self._held[number]]
        taken = len(tokens) + sum(len(self._held[number]) for number in others)
        gone: list[int] = []
        while others and taken + ROOM > self._context:
            taken -= len(self._held[others[0]])
            gone.append(others.pop(0))
        return place._replace(gone=tuple(gone))

    def want(self, sequence: int) -> None:
        """What stands in `sequence` was wanted last."""
        self.hold(sequence, self._held[sequence])

    def hold(self, sequence: int, tokens: Sequence[int]) -> None:
        """`tokens` stand in `sequence` now; none: nothing does."""
        del self._held[sequence]
        self._held[sequence] = list(tokens)


def alike(one: Sequence[int], other: Sequence[int]) -> int:
    """How many tokens both begin with."""
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count
