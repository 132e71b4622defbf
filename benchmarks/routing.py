"""Whether routing finds the tools that a plan needs, among many: recall and time, beside BM25 alone.

    .venv/bin/python benchmarks/routing.py [--data DIR] [--sizes 100,1000,4076,10000] [--unserved FILE] [--list]

DIR holds `tool.jsonl` and other `*.jsonl` with requests and their gold calls (Seal-Tools; see `seal_tools.py`). All its
tools count as reading. A catalog smaller than the data set holds the gold tools of some requests, at most half of it, and
others drawn by a seed; there are as many such catalogs as it takes to ask every request. A larger one has made-up tools
beside: half the words of one tool and half of another. Recall is the share of a request's gold tools among the first 1, 5
or 10 names, and all that may be named (`recall_cap`); `single` looks at requests with one gold tool. `ms` is one call of
a warm router, clauses and intents of the request included; `build_ms` its first.

`bm25` in the same run: bm25s with its own tokeniser over name and description; `bm25_split`: names split into words.

`own`: the requests of `data/routing_requests.toml` over the shipped executors, judged by hand. `recall` is the share of
needed tools that may be named, `whole` that of requests which have all of them, `false_unserved` how many servable ones
had a part that was said to be served by no tool, `unserved_found` the share of the others where one was. FILE: JSON
lines with a `request`, none of which a shipped executor serves.

Figures are the last line, as JSON. Exit code: 0; 2 if a file cannot be used.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import time
import tomllib
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.seal_tools import TOOLS, Unusable, described_as, read
from metnos.contracts.catalog import Catalog
from metnos.contracts.foreign import ForeignFault, foreign_contracts
from metnos.propose.routing import Router
from metnos.request.understand import understand

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from metnos.contracts.model import Contract

OWN = Path(__file__).with_name("data") / "routing_requests.toml"
SIZES = (100, 1_000, 4_076, 10_000)
DEPTHS = (1, 5, 10)
SEED = 5
_CASE = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


class Asked(NamedTuple):
    """A request and the names of its gold tools."""

    text: str
    gold: frozenset[str]


# --- the arms ---------------------------------------------------------------------------------------------------


def bm25_arm(contracts: Sequence[Contract], *, split: bool) -> Callable[[str], list[str]]:
    """Names by bm25s over name and description, best first."""
    import bm25s

    def cut(text: str) -> list[str]:
        return bm25s.tokenize(text, stopwords="en", return_ids=False, show_progress=False)[0]

    names = [contract.name for contract in contracts]
    shown = [" ".join(_CASE.findall(c.original or c.name)) if split else c.original or c.name for c in contracts]
    told = [" ".join(c.descriptions.values()) for c in contracts]
    rows = [cut(f"{name} {about}") for name, about in zip(shown, told, strict=True)]
    ids: dict[str, int] = {}
    numbers = [[ids.setdefault(word, len(ids)) for word in row] for row in rows]
    model = bm25s.BM25()
    model.index((numbers, dict(ids)), show_progress=False)

    def rank(text: str) -> list[str]:
        found = [ids[word] for word in cut(text) if word in ids]
        if not found:
            return []
        scores = model.get_scores_from_ids(found)
        return [names[number] for number in (-scores).argsort(kind="stable")[:50]]

    return rank


def routed_arm(router: Router) -> Callable[[str], list[str]]:
    """Names as routing gives them, best first."""
    return lambda text: list(router(understand(text)).names)


class Tally:
    """Ranks of one arm, and what they come to."""

    def __init__(self) -> None:
        self.asked: list[tuple[Asked, list[str]]] = []
        self.seconds: list[float] = []

    def ask(self, rank: Callable[[str], list[str]], one: Asked) -> None:
        start = time.perf_counter()
        names = rank(one.text)
        self.seconds.append(time.perf_counter() - start)
        self.asked.append((one, names))

    def recall(self, depth: int | None, *, single: bool = False) -> float:
        found = [
            len(one.gold.intersection(names[:depth])) / len(one.gold)
            for one, names in self.asked
            if not single or len(one.gold) == 1
        ]
        return round(sum(found) / len(found), 3) if found else 0.0

    def figures(self) -> dict[str, Any]:
        recalls = {f"recall_{depth}": self.recall(depth) for depth in DEPTHS}
        single = {f"recall_{depth}": self.recall(depth, single=True) for depth in DEPTHS}
        whole = sum(one.gold <= set(names[:10]) for one, names in self.asked) / max(1, len(self.asked))
        times = sorted(self.seconds)
        at = {
            name: times[min(len(times) - 1, int(len(times) * share))] for name, share in (("p50", 0.5), ("p99", 0.99))
        }
        ms = {f"ms_{name}": round(1e3 * seconds, 2) for name, seconds in at.items()}
        return {**recalls, "whole_10": round(whole, 3), "single": single, **ms}


# --- Seal-Tools at several sizes ----------------------------------------------------------------------------------


class Seal:
    """The tools and requests of a folder."""

    def __init__(self, folder: Path) -> None:
        described = [each for each in map(described_as, read(folder / TOOLS)) if _is_sound(each)]
        self.described = list({each["name"]: each for each in described}.values())
        foreign = foreign_contracts(described, effect="read", numerals=True)
        self.contracts = foreign.contracts
        self.asked: list[Asked] = []
        for path in sorted(folder.glob("*.jsonl")):
            if path.name != TOOLS:
                for row in read(path):
                    gold = {foreign.names.get(call.get("api")) for call in row.get("calling") or []}
                    if gold and None not in gold:
                        self.asked.append(Asked(str(row.get("query", "")), frozenset(filter(None, gold))))

    def catalogs(self, size: int) -> Iterable[tuple[list[Contract], list[Asked]]]:
        """Catalogs of `size` tools, each with the requests that are asked of it."""
        drawn = random.Random(f"{SEED} {size}")
        if size >= len(self.contracts):
            made = self._made_up(size - len(self.contracts), drawn)
            yield [*self.contracts, *made], self.asked
            return
        for asked in self._groups(size // 2):
            gold = frozenset[str]().union(*(one.gold for one in asked))
            others = [contract for contract in self.contracts if contract.name not in gold]
            held = [contract for contract in self.contracts if contract.name in gold]
            yield [*held, *drawn.sample(others, max(0, size - len(held)))], asked

    def _groups(self, most: int) -> Iterable[list[Asked]]:
        """Requests in a drawn order, cut where their gold tools would be more than `most`."""
        order = random.Random(SEED).sample(self.asked, len(self.asked))
        group: list[Asked] = []
        gold: set[str] = set()
        for one in order:
            if group and len(gold | one.gold) > most:
                yield group
                group, gold = [], set()
            group.append(one)
            gold |= one.gold
        if group:
            yield group

    def _made_up(self, count: int, drawn: random.Random) -> tuple[Contract, ...]:
        """Tools that nobody asks for: the words of two others."""
        found: list[dict[str, Any]] = []
        for number in range(count):
            one, other = drawn.sample(self.described, 2)
            head, tail = _CASE.findall(one["name"]), _CASE.findall(other["name"])
            name = "".join([*head[: (len(head) + 1) // 2], *tail[len(tail) // 2 :], f"_{number}"])
            about, beside = str(one.get("description", "")).split(), str(other.get("description", "")).split()
            words = [*about[: (len(about) + 1) // 2], *beside[len(beside) // 2 :]]
            found.append({**one, "name": name, "description": " ".join(words)})
        return foreign_contracts(found, effect="read", numerals=True).contracts


def _is_sound(described: dict[str, Any]) -> bool:
    try:
        foreign_contracts([described])
    except ForeignFault:
        return False
    return True


def measure_size(seal: Seal, size: int) -> dict[str, Any]:
    """The figures of every arm at one size."""
    arms = {"routed": Tally(), "bm25": Tally(), "bm25_split": Tally()}
    builds: list[float] = []
    catalogs = weak = 0
    for contracts, asked in seal.catalogs(size):
        catalogs += 1
        router = Router(Catalog().with_contracts(contracts))
        start = time.perf_counter()
        router(understand("warm"))
        builds.append(time.perf_counter() - start)
        ranks = {
            "routed": routed_arm(router),
            "bm25": bm25_arm(contracts, split=False),
            "bm25_split": bm25_arm(contracts, split=True),
        }
        for name, rank in ranks.items():
            rank(asked[0].text)
            for one in asked:
                arms[name].ask(rank, one)
        weak += sum(router(understand(one.text)).weak for one in asked)
    routed = arms["routed"]
    return {
        **routed.figures(),
        "recall_cap": routed.recall(None),
        "named": round(sum(len(names) for _, names in routed.asked) / max(1, len(routed.asked)), 1),
        "weak": round(weak / max(1, len(routed.asked)), 3),
        "catalogs": catalogs,
        "build_ms": round(1e3 * max(builds), 1),
        **{name: tally.figures() for name, tally in arms.items() if name != "routed"},
    }


def index_mb(contracts: Sequence[Contract]) -> float:
    """What a router over `contracts` holds beside them, in MB."""
    router = Router(Catalog().with_contracts(contracts))
    understand("warm")
    tracemalloc.start()
    router(understand("warm"))
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return round(held / 1e6, 3)


# --- the shipped executors ----------------------------------------------------------------------------------------


def measure_own(router: Router, told: list[dict[str, Any]]) -> dict[str, Any]:
    """The figures of the requests judged by hand."""
    data = tomllib.loads(OWN.read_text("utf-8"))
    rank = bm25_arm(router.contracts, split=True)
    found: dict[str, Any] = {}
    for part in ("first", "later", "last"):
        rows = [(language, text, need) for language, asked in data[part].items() for text, need in asked]
        arms: dict[str, list[float]] = {"recall": [], "recall_10": [], "bm25_recall": [], "bm25_recall_10": []}
        false = named = 0
        for language, text, need in rows:
            routed = router(understand(text, language))
            by_words = rank(text)
            arms["recall"].append(_share(need, routed.names))
            arms["recall_10"].append(_share(need, routed.names[:10]))
            arms["bm25_recall"].append(_share(need, by_words[: len(routed.names)]))
            arms["bm25_recall_10"].append(_share(need, by_words[:10]))
            false += bool(routed.unserved)
            named += len(routed.names)
            if arms["recall"][-1] < 1 or routed.unserved:
                told.append({"request": text, "needs": need, "names": routed.names, "unserved": routed.unserved})
        found[part] = {
            "requests": len(rows),
            **{name: round(sum(values) / len(values), 3) for name, values in arms.items()},
            "whole": round(sum(share == 1 for share in arms["recall"]) / len(rows), 3),
            "named": round(named / len(rows), 1),
            "false_unserved": false,
        }
    for part in ("unserved", "unserved_last"):
        none = [(text, understand(text, language)) for language, texts in data[part].items() for text in texts]
        missed = [text for text, request in none if not router(request).unserved]
        told += [{"request": text, "served": True} for text in missed]
        found[part] = {"requests": len(none), "unserved_found": round(1 - len(missed) / len(none), 3)}
    return found


def _share(need: str, names: Iterable[str]) -> float:
    held, groups = set(names), need.split()
    return sum(not held.isdisjoint(group.split("|")) for group in groups) / len(groups)


def measure_unserved(router: Router, path: Path) -> dict[str, Any]:
    """How many of the requests of a file, none of which a shipped executor serves, are known as such."""
    routed = [router(understand(str(row["request"]))) for row in read(path)]
    count = max(1, len(routed))
    found = sum(bool(one.unserved) for one in routed) / count
    weak = sum(one.weak for one in routed) / count
    return {"requests": len(routed), "unserved_found": round(found, 3), "weak": round(weak, 3)}


def shipped_router() -> Router:
    """Over the shipped executors."""
    from metnos import Engine

    with Engine.open(memory=True) as engine:
        return Router(engine.catalog)


def main(argv: list[str] | None = None) -> int:
    """The command line; the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, metavar="DIR", help=f"holds {TOOLS} and other *.jsonl")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="of the catalogs, between commas")
    parser.add_argument(
        "--unserved", type=Path, action="append", default=[], metavar="FILE", help="requests for nothing"
    )
    parser.add_argument("--list", action="store_true", help="print what went wrong among the own requests")
    given = parser.parse_args(argv)
    figures: dict[str, Any] = {}
    told: list[dict[str, Any]] = []
    try:
        if given.data is not None:
            seal = Seal(given.data)
            figures["seal_tools"] = {size: measure_size(seal, int(size)) for size in given.sizes.split(",")}
            largest = max(map(int, given.sizes.split(",")))
            figures["index_mb"] = {str(largest): index_mb(next(iter(seal.catalogs(largest)))[0])}
        router = shipped_router()
        figures["own"] = measure_own(router, told)
        for path in given.unserved:
            figures.setdefault("unserved", {})[path.stem] = measure_unserved(router, path)
    except Unusable as fault:
        print(fault, file=sys.stderr)
        return 2
    for line in told if given.list else ():
        print(json.dumps(line, ensure_ascii=False))
    print(json.dumps(figures))
    return 0


if __name__ == "__main__":
    sys.exit(main())
