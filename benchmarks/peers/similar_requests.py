"""The peers of the plan cache: GPTCache (exact), a cosine cache over `wordllama`, character TF-IDF nearest neighbour.

Run in an environment of its own by `cache_safety.py`; it imports nothing of Metnos. It reads one JSON file:

    {"streams": {NAME: [[request, plan], …]}, "pairs": {NAME: {"learned": [[request, plan], …], "asked": [[request, plan or null], …]}}}

A plan is text; two requests mean the same if their plans are equal, and null equals nothing. A stream is taken in its
order: a request is looked up, and learned if nothing served it. The last line is one JSON object:
{PEER: {NAME: {"requests", "hits", "false_hits", "keys": [key of each request]}}}; `best` cosine is the threshold with
the best F1 of right hits, chosen in sample, which no real cache could.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any, Protocol

import numpy as np

FIXED = 0.92
LINE = 0.7
BLOCK = 512
SWEEP = tuple(round(0.60 + 0.04 * step, 2) for step in range(10))


class Cache(Protocol):
    """Something that was asked before, or None."""

    def find(self, at: int) -> int | None: ...
    def learn(self, at: int) -> None: ...


class Nearest:
    """The nearest of the vectors learned so far, if it is near enough. Rows are of length one."""

    def __init__(self, vectors: np.ndarray, threshold: float) -> None:
        self.vectors = vectors
        self.threshold = threshold
        self.rows = np.empty_like(vectors)
        self.names: list[int] = []

    def find(self, at: int) -> int | None:
        count = len(self.names)
        if not count:
            return None
        likeness = self.rows[:count] @ self.vectors[at]
        best = int(likeness.argmax())
        return self.names[best] if likeness[best] >= self.threshold else None

    def learn(self, at: int) -> None:
        self.rows[len(self.names)] = self.vectors[at]
        self.names.append(at)


class NearestSparse:
    """As `Nearest`, over sparse rows: the likeness of a block of rows to all others is computed at once."""

    def __init__(self, matrix: Any, threshold: float) -> None:
        self.matrix = matrix
        self.turned = matrix.T.tocsc()
        self.threshold = threshold
        self.learned = np.zeros(matrix.shape[0], dtype=bool)
        self.begin = -BLOCK
        self.likeness: Any = None

    def find(self, at: int) -> int | None:
        if not self.begin <= at < self.begin + BLOCK:
            self.begin = at
            self.likeness = (self.matrix[at : at + BLOCK] @ self.turned).toarray()
        row = np.where(self.learned, self.likeness[at - self.begin], -1.0)
        best = int(row.argmax())
        return best if row[best] >= self.threshold else None

    def learn(self, at: int) -> None:
        self.learned[at] = True


class Exact:
    """GPTCache as its quick start has it: the prompt itself is the key."""

    def __init__(self, texts: list[str]) -> None:
        from gptcache import Cache as Store
        from gptcache.manager.factory import get_data_manager
        from gptcache.processor.pre import get_prompt

        self.texts = texts
        self.store = Store()
        place = str(Path(tempfile.mkdtemp()) / "map.txt")
        self.store.init(
            pre_embedding_func=get_prompt, data_manager=get_data_manager(data_path=place, max_size=1_000_000)
        )

    def find(self, at: int) -> int | None:
        from gptcache.adapter.api import get

        found = get(self.texts[at], cache_obj=self.store)
        return None if found is None else int(found)

    def learn(self, at: int) -> None:
        from gptcache.adapter.api import put

        put(self.texts[at], str(at), cache_obj=self.store)


def stream(cache: Cache, plans: list[str]) -> dict[str, Any]:
    hits = wrong = 0
    keys: list[int] = []
    for at, plan in enumerate(plans):
        found = cache.find(at)
        if found is None:
            cache.learn(at)
            keys.append(at)
            continue
        hits += 1
        wrong += plans[found] != plan
        keys.append(found)
    return {"requests": len(plans), "hits": hits, "false_hits": wrong, "keys": keys}


def pairs(cache: Cache, learned: int, plans: list[str | None]) -> dict[str, Any]:
    """The first `learned` requests are learned, the rest is asked and not learned."""
    for at in range(learned):
        cache.learn(at)
    found = {at: cache.find(at) for at in range(learned, len(plans))}
    served = {at: by for at, by in found.items() if by is not None}
    wrong = [at for at, by in served.items() if plans[at] is None or plans[at] != plans[by]]
    return {
        "requests": len(found),
        "hits": len(served),
        "false_hits": len(wrong),
        "right": [at - learned for at in served if at not in wrong],
        "wrong": [at - learned for at in wrong],
    }


def score(result: dict[str, Any]) -> float:
    """F1 of right hits: of all requests, how many were served rightly, and how many of the served were right."""
    right = result["hits"] - result["false_hits"]
    return 2 * right / (result["hits"] + result["requests"]) if right else 0.0


def main(source: str) -> None:
    import wordllama
    from sklearn.feature_extraction.text import TfidfVectorizer

    job = json.loads(Path(source).read_text("utf-8"))
    model = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
    out: dict[str, dict[str, Any]] = {}

    def measure(name: str, texts: list[str], run: Any) -> None:
        vectors = np.vstack([model.embed(texts[at : at + 512], norm=True) for at in range(0, len(texts), 512)])
        sparse = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4), dtype=np.float32).fit_transform(texts)
        out.setdefault("gptcache_exact", {})[name] = run(Exact(texts))
        out.setdefault(f"wordllama_{FIXED}", {})[name] = run(Nearest(vectors, FIXED))
        tried = {threshold: run(Nearest(vectors, threshold)) for threshold in SWEEP}
        best = max(tried, key=lambda threshold: score(tried[threshold]))
        out.setdefault("wordllama_best", {})[name] = tried[best] | {"threshold": best}
        out.setdefault(f"tfidf_{LINE}", {})[name] = run(NearestSparse(sparse, LINE))

    for name, rows in job["streams"].items():
        plans = [plan for _, plan in rows]
        measure(name, [text for text, _ in rows], lambda cache, plans=plans: stream(cache, plans))
    for name, both in job["pairs"].items():
        rows = [*both["learned"], *both["asked"]]
        plans = [plan for _, plan in rows]
        count = len(both["learned"])
        measure(name, [text for text, _ in rows], lambda cache, n=count, p=plans: pairs(cache, n, p))
    print(json.dumps(out))


if __name__ == "__main__":
    main(sys.argv[1])
