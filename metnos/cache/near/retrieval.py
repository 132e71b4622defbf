"""Retrievers: which learned requests look like this one. They propose; `metnos.cache.near.gates` decides.

Law: a retriever knows texts and scores, no plan and no request. Two unlike ones must name the same plan before
anything is asked: one looks at letters, one at words (or at embeddings, where the operator has a model for them).

    letters = Letters(["list the {glob} files", "count the {glob} files"])
    letters.nearest("lists {glob} files", 1)        # [(0, 0.8…)]
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Protocol

Embed = Callable[[list[str]], Any]
"""Texts → a matrix with one row each, of length 1 (what `wordllama`'s `embed(texts, norm=True)` gives)."""
_SIZES = (3, 4)


class Retriever(Protocol):
    def nearest(self, text: str, count: int) -> list[tuple[int, float]]:
        """(number of the text, score from 0 to 1), best first; ties by number."""
        ...


class _Weighted:
    """Cosine over weighted features: rare ones count more."""

    def __init__(self, texts: Sequence[str]) -> None:
        counted = [Counter(self.features(text)) for text in texts]
        self._seen: Counter[str] = Counter(feature for counts in counted for feature in counts)
        self._count = len(texts)
        self._where: dict[str, list[tuple[int, float]]] = {}
        for number, counts in enumerate(counted):
            for feature, weight in self._weights(counts).items():
                self._where.setdefault(feature, []).append((number, weight))

    def features(self, text: str) -> Iterator[str]:
        """What is counted."""
        raise NotImplementedError

    def nearest(self, text: str, count: int) -> list[tuple[int, float]]:
        """(number of the text, score from 0 to 1), best first; ties by number."""
        scores: dict[int, float] = {}
        for feature, weight in self._weights(Counter(self.features(text))).items():
            for number, other in self._where.get(feature, ()):
                scores[number] = scores.get(number, 0.0) + weight * other
        best = sorted(scores.items(), key=lambda found: (-found[1], found[0]))[:count]
        return [(number, min(score, 1.0)) for number, score in best]

    def _weights(self, counts: Counter[str]) -> dict[str, float]:
        raw = {
            feature: (1 + math.log(number)) * math.log((1 + self._count) / (0.5 + self._seen[feature]) + 1)
            for feature, number in counts.items()
        }
        length = math.sqrt(math.fsum(weight * weight for weight in raw.values()))
        return {feature: weight / length for feature, weight in raw.items()} if length else {}


class Letters(_Weighted):
    """Runs of three and four letters, word by word; a slot is one feature."""

    def features(self, text: str) -> Iterator[str]:
        """Runs of letters, words padded."""
        for word in text.split(" "):
            if word.startswith("{"):
                yield word
                continue
            padded = f" {word} "
            for size in _SIZES:
                yield from (padded[at : at + size] for at in range(len(padded) - size + 1))


class Words(_Weighted):
    """Words, and words side by side: what stands next to what."""

    def features(self, text: str) -> Iterator[str]:
        """Words and pairs of neighbours."""
        words = text.split(" ")
        yield from words
        yield from map(" ".join, pairwise(words))


class Embeddings:
    """Sentence embeddings by a model that the operator brings."""

    def __init__(self, texts: Sequence[str], embed: Embed) -> None:
        self._embed = embed
        self._rows: Any = embed(list(texts)) if texts else None

    def nearest(self, text: str, count: int) -> list[tuple[int, float]]:
        """(number of the text, cosine), best first; ties by number."""
        if self._rows is None:
            return []
        scores: list[float] = (self._rows @ self._embed([text])[0]).tolist()
        best = sorted(range(len(scores)), key=lambda number: (-scores[number], number))[:count]
        return [(number, max(0.0, min(scores[number], 1.0))) for number in best]
