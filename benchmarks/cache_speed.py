"""From the text of a request to a validated, verified plan: how long it takes, warm, over a large cache on disk.

    .venv/bin/python benchmarks/cache_speed.py [--entries N] [--tools N] [--seconds S] [--no-peers] [--keep DIR]

A home with N signed L0 entries (requests drawn from the starter catalog, every value anew) beside the L1 entries of the
catalog's sentences, a catalog of N executors. What is timed is all that a driver does up to the plan's acceptance:
understand, look up, validate, guard, policy's forecast. Then eight processes read and write the same cache. Times are
µs; a median of each round is taken, and the least of the medians: the machine is shared, and what others run is not
ours. p99 is over all samples, with whatever came between; `own` is the time of the measuring thread alone, without what
other programs took meanwhile. The last line is one JSON object.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.peers.environment import run_peer
from benchmarks.traffic import race
from benchmarks.traffic.sentences import Drawing, Drawn, any_places
from benchmarks.traffic.world import Installation, Missed, Walked

SAMPLE = 400
"""Requests that are timed; fewer than the verdicts that are remembered, because warm means asked before."""
PEER_ROWS = 5000
"""Requests that the peers hold; one of them takes time in the square of their number to be filled."""
LESSONS = 4
"""Successes of each sentence of the catalog, so that those that wait for a second one have it."""
AIMS: dict[str, float] = {
    "normal_form_p50": 40,
    "l0_p50": 100,
    "l0_p99": 3000,
    "l1_p50": 250,
    "l1_p99": 3000,
    "disk_p50": 350,
    "first_p50": 1000,
}
KEYS = (
    "l0_p50", "l0_p99", "l1_p50", "l1_p99", "disk_p50", "first_p50", "normal_form_p50", "gptcache_exact_p50",
    "etchplan_p50",
)  # fmt: skip


class Times:
    """Samples of one kind, by rounds."""

    def __init__(self) -> None:
        self.rounds: list[list[float]] = []
        self.own: list[float] = []
        """The same in time of this thread alone, of all rounds."""

    def measure(self, job: Callable[[str], object], texts: Iterable[str]) -> None:
        """One round: each text once."""
        samples: list[float] = []
        for text in texts:
            own = time.thread_time()
            start = time.perf_counter()
            job(text)
            samples.append((time.perf_counter() - start) * 1e6)
            self.own.append((time.thread_time() - own) * 1e6)
        self.rounds.append(samples)

    @property
    def p50(self) -> float:
        """The least of the rounds' medians."""
        return min(statistics.median(samples) for samples in self.rounds)

    @property
    def p99(self) -> float:
        """Over all samples."""
        return percentile([one for samples in self.rounds for one in samples], 0.99)


def percentile(samples: list[float], share: float) -> float:
    """The sample below which `share` of all lie."""
    return sorted(samples)[min(len(samples) - 1, int(len(samples) * share))]


class Speed:
    """One installation, filled and timed."""

    def __init__(self, folder: Path, tools: int, entries: int) -> None:
        self.here = Installation(folder, tools)
        self.entries = entries
        self.examples = self.here.library.examples()
        self.kept = folder / "requests.jsonl"

    def drawing(self, seed: int) -> Drawing:
        """Draws that nobody else draws."""
        return Drawing(self.here.library, any_places(), random.Random(seed))

    def fill(self) -> list[Drawn]:
        """Write the entries, unless an earlier run has; the requests that they serve."""
        if self.kept.exists():
            lines = self.kept.read_text("utf-8").splitlines()
            return [Drawn(**json.loads(line)) for line in lines]
        start = time.perf_counter()
        cache = self.here.cache()
        drawing = self.drawing(1)
        for example in self.examples:
            for number in range(LESSONS):
                drawn = drawing.like(example)
                if drawn is not None:
                    cache.learn(self.here.lesson(drawn, f"lesson{number}"))
        count = max(4 * SAMPLE, self.entries - cache.store.size()[0] + self.entries // 100)  # a few have one key
        wanted = self.drawing(2).different(self.examples, 2 * self.entries)
        filled = list(self.here.fill(cache, wanted, count))
        rows, size = cache.store.size()
        cache.close()
        took = time.perf_counter() - start
        print(f"{rows} rows, {size / 1e6:.0f} MB, written in {took:.0f} s ({len(filled)} of them L0 of drawn requests)")
        self.kept.write_text("".join(json.dumps(one._asdict()) + "\n" for one in filled), "utf-8")
        return filled

    def walked(self, layer: str, cache: Any) -> Callable[[str], Walked]:
        """The whole path, which must end in this layer."""

        def job(text: str) -> Walked:
            found = self.here.walk(cache, text)
            if found.layer != layer:
                raise Missed(f"{text!r} was served by {found.layer}, not by {layer}")
            return found

        return job

    def measure(self, filled: list[Drawn], rounds: int) -> dict[str, float]:
        """Every figure of ours."""
        texts = self._accepted(filled)
        gc.collect()
        gc.freeze()  # the requests that were drawn are no part of what is measured
        first, disk, front, l1, again, form = Times(), Times(), Times(), Times(), Times(), Times()
        per_round = max(1, len(texts) // rounds)
        for number in range(rounds):
            part = texts[number * per_round :][:per_round]
            first.measure(self.walked("l0", self.here.cache()), part)
        for _ in range(rounds):
            cache = self.here.cache()
            disk.measure(self.walked("l0", cache), texts[:SAMPLE])
            job = self.walked("l0", cache)
            for _ in range(5):
                front.measure(job, texts[:SAMPLE])
        cache = self.here.cache()
        fresh = self._served_by_l1(cache, (rounds + 1) * SAMPLE)
        job = self.walked("l1", cache)
        for number in range(1, rounds + 1):
            l1.measure(job, fresh[number * SAMPLE :][:SAMPLE])
            again.measure(job, fresh[number * SAMPLE :][:SAMPLE])
        for number in range(rounds):
            form.measure(
                lambda text: self.here.rules.normalise(text, None).normal_form, texts[number * per_round :][:per_round]
            )
        return {
            "l0_p50": front.p50,
            "l0_p99": front.p99,
            "l1_p50": l1.p50,
            "l1_p99": l1.p99,
            "disk_p50": disk.p50,
            "first_p50": first.p50,
            "normal_form_p50": form.p50,
            "l1_said_again_p50": again.p50,
            "disk_p99": disk.p99,
            "first_p99": first.p99,
            "l0_p99_own": percentile(front.own, 0.99),
            "l1_p99_own": percentile(l1.own, 0.99),
            "l1_p50_own": percentile(l1.own, 0.5),
        }

    def _accepted(self, filled: list[Drawn]) -> list[str]:
        """Requests whose rows nobody has looked at yet, spread over all; only plans that guards and policy accept."""
        step = max(1, len(filled) // (4 * SAMPLE))
        return [drawn.text for drawn in filled[::step]][: 2 * SAMPLE]

    def _served_by_l1(self, cache: Any, count: int) -> list[str]:
        """Requests with values that were never said, of forms that were learned."""
        found: list[str] = []
        for drawn in self.drawing(3).different(self.examples, 8 * count):
            try:
                walked = self.here.walk(cache, drawn.text)
            except Missed:
                continue
            if walked.layer == "l1":
                found.append(drawn.text)
            if len(found) == count:
                break
        return found


def show(figures: dict[str, float]) -> None:
    """A line for each, with its aim."""
    for key, value in figures.items():
        aim = AIMS.get(key)
        said = "" if aim is None else f"aim <= {aim:.0f}, {'met' if value <= aim else 'MISSED'}"
        print(f"{key:28} {value:10.1f}   {said}", flush=True)


def main() -> int:
    """Fill, time, race; 1 if the race found anything wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entries", type=int, default=100_000)
    parser.add_argument("--tools", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long the processes read and write; 0: not")
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--keep", type=Path, help="a folder to fill, or that an earlier run has filled")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder: Path = given.keep or Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        speed = Speed(folder, given.tools, given.entries)
        filled = speed.fill()
        figures = speed.measure(filled, given.rounds)
        show(figures)
        if not given.no_peers:
            rows = Path(name) / "rows.json"
            some = filled[:PEER_ROWS]
            rows.write_text(json.dumps([[one.text, json.dumps(one.plan)] for one in some]), "utf-8")
            theirs = run_peer("similarity", "exact_match.py", str(rows), str(SAMPLE), str(given.rounds))
            theirs |= run_peer("etchplan", "etchplan_match.py", str(rows), str(given.tools), str(SAMPLE // 4), "3")
            show(theirs)
            figures |= theirs
        told = race.run(folder, given.tools, given.processes, given.seconds) if given.seconds else None
        if told is not None:
            print(f"{given.processes} processes, {given.seconds:.0f} s: {json.dumps(told)}")
    print(json.dumps({key: round(figures[key], 1) for key in KEYS if key in figures}))
    return 1 if told is not None and race.is_wrong(told) else 0


if __name__ == "__main__":
    sys.exit(main())
