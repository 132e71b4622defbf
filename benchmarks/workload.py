"""A long day: ten thousand requests to a real engine, and how many of them needed somebody to propose a plan.

    .venv/bin/python benchmarks/workload.py [--requests N] [--proposal-seconds S] [--repeats SHARE] [--list]

Requests are the example sentences of the starter catalog, drawn by Zipf's law, with every value drawn anew; a share is
said again to the letter. The starter templates themselves are left out: a scripted proposer gives the plan that they
would have given. Each request runs twice, on real files that are put back after each change: with the plan
cache, and without. A served plan is wrong if it is not the very plan that was accepted without the cache; one that is,
but for words that a slot of equal value was said in ("two weeks" where "14 days" was asked), is counted apart.

`break_even` is the median, over all proposals that were reused, of the number of reuses after which all turns with the
cache have taken no longer than the same turns without. What a proposal costs is an assumption (`--proposal-seconds`: a
small local model, warm); beside it stands the same with the scripted proposer's own time, which is next to nothing. The
last line is one JSON object.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import statistics
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.traffic.sentences import Drawing, Drawn
from benchmarks.traffic.tree import Tree
from metnos import Engine
from metnos.cache.model import Match
from metnos.request.understand import understand

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metnos.cache.templates.library import TemplateLibrary
    from metnos.propose.model import PlanRequest

ZIPF = 1.0
PROPOSAL_S = 3.6
"""Seconds of a proposal of a small local model, warm: measured once, an assumption here."""


Differs: TypeAlias = tuple[Any, Any]
"""The plan that was served, and the right one."""


class Ran(NamedTuple):
    """One request, with the cache and without."""

    text: str
    template: str
    with_s: float
    without_s: float
    source: str
    entry: str
    outcome: str
    turn: str
    code: str
    """Of a turn that did not succeed."""


def stream(drawing: Drawing, library: TemplateLibrary, count: int, repeats: float, seed: int) -> Iterator[Drawn]:
    """`count` requests: sentences by Zipf's law, values drawn anew, `repeats` of them said before to the letter."""
    rng = random.Random(seed)
    examples = library.examples()
    rng.shuffle(examples)
    weights = [1 / rank**ZIPF for rank in range(1, len(examples) + 1)]
    said: list[Drawn] = []
    while len(said) < count:
        if said and rng.random() < repeats:
            drawn: Drawn | None = rng.choice(said)
        else:
            drawn = drawing.like(rng.choices(examples, weights)[0])
        if drawn is not None:
            said.append(drawn)
            yield drawn


class Day:
    """Two engines over the same files: one with the cache, one without."""

    def __init__(self, folder: Path) -> None:
        with Engine.open(memory=True) as shipped:
            self.library = shipped.parts.library
            bare = folder / "catalog"
            shutil.copytree(shipped.settings.catalog, bare, ignore=shutil.ignore_patterns("plans"))
        self.tree = Tree(folder)
        os.environ["HOME"] = str(self.tree.home)
        self.proposals: Counter[str] = Counter()
        self.engines = {
            name: Engine.open(
                folder / name,
                folder=self.tree.work,
                roots=[self.tree.documents],
                catalog=bare,
                zone="UTC",
                approve=lambda _question: True,
                proposer=lambda asked, _candidates, name=name: self.propose(asked, name),
            )
            for name in ("with", "without")
        }

    def propose(self, asked: PlanRequest, engine: str) -> dict[str, Any]:
        """What the starter template would have given."""
        self.proposals[engine] += 1
        found = self.library.match(understand(asked.text, asked.language))
        if not isinstance(found, Match):
            raise LookupError(asked.text)  # noqa: TRY004 - the library has no plan
        return found.plan

    def ask(self, name: str, drawn: Drawn) -> tuple[float, Any]:
        """(seconds, result) of one turn."""
        start = time.perf_counter()
        result = self.engines[name].run_sync(drawn.text, cache="use" if name == "with" else "off")
        took = time.perf_counter() - start
        if drawn.effect != "read":
            self.tree.put_back()
        return took, result

    def both(self, drawn: Drawn, *, cache_first: bool) -> tuple[Ran, Differs | None]:
        """(the request as it ran, the plan that was served and the right one where they differ)."""
        order = ("with", "without") if cache_first else ("without", "with")
        told = {name: self.ask(name, drawn) for name in order}
        (with_s, result), (without_s, other) = told["with"], told["without"]
        differ = result.source == "cache" and result.plan != other.plan
        told_by = (result.source, result.entry, result.outcome, result.turn, result.code or result.error_class)
        ran = Ran(drawn.text, drawn.template, with_s, without_s, *told_by)
        return ran, (result.plan, other.plan) if differ else None

    def is_worded(self, ran: Ran, differs: Differs, turns: list[Ran]) -> bool:
        """Whether the served plan came from a request of the same values, and differs by how these were said alone."""
        return any(
            _only_words(before.text, ran.text, *differs)
            for before in turns
            if before.template == ran.template and before.source != "cache" and ran.entry in self.taught(before.turn)
        )

    def taught(self, turn: str) -> tuple[str, ...]:
        """Entries that a turn left, by its log."""
        records = self.engines["with"].parts.journal.load(turn).records
        bodies = [json.loads(record.body) for record in records if record.kind == "learned"]
        return tuple(bodies[0].get("entries", ())) if bodies else ()

    def close(self) -> None:
        """Close both engines."""
        for engine in self.engines.values():
            engine.close()


def _only_words(before: str, now: str, served: Any, right: Any) -> bool:
    """Whether `served` is `right` once each slot of `before` is said as in `now`, all values being equal."""
    old, new = understand(before), understand(now)
    if (old.normal_form, [slot.value for slot in old.slots]) != (new.normal_form, [slot.value for slot in new.slots]):
        return False
    written = json.dumps(served, sort_keys=True, ensure_ascii=False)
    for one, other in zip(old.slots, new.slots, strict=True):
        written = written.replace(one.text, other.text)
    return written == json.dumps(right, sort_keys=True, ensure_ascii=False)


def break_even(day: Day, turns: list[Ran], proposal_s: float) -> dict[str, Any]:
    """Reuses until the cache has paid for itself, for each proposal that was reused."""
    by_entry: dict[str, Ran] = {}
    reuses: dict[str, list[Ran]] = {}
    for ran in turns:
        if ran.source == "cache":
            first = by_entry.get(ran.entry)
            if first is not None:
                reuses.setdefault(first.turn, [first]).append(ran)
        elif ran.source and ran.outcome == "success":
            by_entry.update(dict.fromkeys(day.taught(ran.turn), ran))
    counts = [_even(group, proposal_s) for group in reuses.values()]
    even = [count for count in counts if count is not None]
    return {"break_even": statistics.median(even) if even else None, "reused": len(counts), "paid": len(even)}


def _even(group: list[Ran], proposal_s: float) -> int | None:
    """The smallest number of reuses, at least one, that makes it even; None: it was not reused often enough."""
    first, *later = group
    spent, saved = first.with_s + proposal_s, first.without_s + proposal_s
    for count, ran in enumerate(later, 1):
        spent += ran.with_s
        saved += ran.without_s + proposal_s
        if spent <= saved:
            return count
    return None


def main() -> int:
    """Live the day; 1 if a plan was wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--repeats", type=float, default=0.3, help="share that was said before, to the letter")
    parser.add_argument("--proposal-seconds", type=float, default=PROPOSAL_S)
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--list", action="store_true", help="name what was not served although its sentence was known")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        day = Day(Path(name).resolve())
        drawing = Drawing(day.library, day.tree.places(), random.Random(given.seed))
        turns: list[Ran] = []
        wrong = worded = 0
        for drawn in stream(drawing, day.library, given.requests, given.repeats, given.seed):
            ran, differs = day.both(drawn, cache_first=len(turns) % 2 == 0)
            turns.append(ran)
            if differs and day.is_worded(ran, differs, turns):
                worded += 1
            elif differs:
                wrong += 1
                print(f"WRONG: {drawn.text!r} was served by {ran.entry}")
        print(f"right, but a value is said in the words of an earlier request: {worded}")
        figures = report(day, turns, given.proposal_seconds, listed=given.list)
        day.close()
    print(json.dumps({"requests": len(turns), "wrong": wrong} | figures))
    return 1 if wrong else 0


def report(day: Day, turns: list[Ran], proposal_s: float, *, listed: bool) -> dict[str, Any]:
    """Lines for people; what goes into the last line."""
    served = [ran for ran in turns if ran.source == "cache"]
    layers = Counter(ran.entry.partition(":")[0] for ran in served)
    outcomes = Counter(ran.outcome for ran in turns)
    print(f"outcomes {dict(outcomes)}; served {dict(layers)} of {len(turns)}")
    failed = Counter((ran.outcome, ran.template, ran.code) for ran in turns if ran.outcome != "success")
    for (outcome, template, code), count in failed.most_common(None if listed else 12):
        print(f"ended in {outcome}, {template}, {code or 'no code'}: {count}")
    proposed = [ran for ran in turns if ran.source != "cache"]
    for label, some in (("served", served), ("proposed", proposed)):
        if some:
            ours, bare = (statistics.median(getattr(r, key) for r in some) * 1e3 for key in ("with_s", "without_s"))
            print(f"a turn that was {label}: {ours:.2f} ms, the same without the cache {bare:.2f} ms (medians)")
    model = break_even(day, turns, proposal_s)
    script = break_even(day, turns, 0.0)
    print(f"break_even at {proposal_s} s a proposal: {model}; with the script's own time: {script}")
    known: set[str] = set()
    missed: Counter[str] = Counter()
    for ran in turns:
        if ran.source != "cache" and ran.template in known:
            missed[ran.template] += 1
        known.add(ran.template)
    for template, count in missed.most_common(None if listed else 8):
        print(f"proposed again {template}: {count}")
    return {
        "served": round(len(served) / len(turns), 4),
        "proposals": day.proposals["with"],
        "break_even": model["break_even"],
    }


if __name__ == "__main__":
    sys.exit(main())
