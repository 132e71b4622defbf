"""What replay costs, and what a collection of many turns takes: seconds, memory, the same figures whoever counts.

    .venv/bin/python benchmarks/replay.py [--turns N] [--sealed N] [--workers W] [--ray] [--no-peers] [--place DIR]

The turns are made by the real machine (`turns.py`): five steps each, every plan, request and result another one, heads
signed. First some thousand in memory, replayed in this one process: under rules that have seen none of them, again under
rules that have, unsigned; beside them the floor (`json.loads` and SHA-256 of the same bytes, which checks nothing) and
five steps of a langgraph chain that are simply run again, tools doing nothing, with its checkpoints in memory. Then
`--sealed` turns are written as Parquet by W processes, replayed and measured by one process, by W, and on Ray, and the
figures compared byte for byte. The last line is one JSON object.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import resource
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.evaluated import Evaluate
from benchmarks.peers.environment import run_peer
from benchmarks.turns import Maker, catalog_of
from metnos.drivers.rules import make_rules
from metnos.evaluate.collections.model import Turn
from metnos.evaluate.collections.opening import open_collection
from metnos.evaluate.collections.sealed import NAME, Seal, read_seal
from metnos.evaluate.collections.sealing import seal
from metnos.evaluate.mapping.shards import map_shards
from metnos.evaluate.replaying.ground import Ground
from metnos.evaluate.replaying.many import Replay
from metnos.record.codec import encode
from metnos.record.keys import LogKey, open_key
from metnos.record.replay import replay

ROOT = Path(__file__).resolve().parents[1]
STEPS = 5
SLICE = 2_000


class Made(msgspec.Struct, frozen=True):
    """A slice of turns that nobody recorded, as a collection of one part."""

    first: int
    count: int
    folder: str

    @property
    def name(self) -> str:
        """Its first number."""
        return f"made:{self.first}"

    @property
    def weight(self) -> int:
        """Turns."""
        return self.count

    def read(self) -> Iterator[Turn]:
        """Made as they are read."""
        return maker(open_key(Path(self.folder))).turns(self.first, self.count)


class Slices:
    """Slices, as a collection."""

    name = "made"

    def __init__(self, slices: list[Made]) -> None:
        self._slices = slices
        self.folder = None

    def weight(self) -> int:
        """Turns."""
        return sum(one.count for one in self._slices)

    def contracts(self) -> None:
        """Those of the checkout."""

    def shards(self) -> Iterator[Made]:
        """The slices."""
        return iter(self._slices)


def maker(key: LogKey | None) -> Maker:
    """One that makes turns under today's rules."""
    catalog = catalog_of(ROOT)
    rules = make_rules(catalog)
    versions = {"rules": rules.digest, "policy": rules.policy_digest, "catalog": catalog.digest, "metnos": "0.1.0"}
    return Maker(rules, key, versions)


def timed(work: Callable[[], Any]) -> float:
    """Seconds of this process's own time (others share the machine)."""
    started = time.process_time()
    work()
    return time.process_time() - started


def speed(count: int, place: Path) -> dict[str, Any]:
    """One process, turns in memory."""
    turns = [turn.log for turn in maker(open_key(place)).turns(0, count)]
    catalog = catalog_of(ROOT)
    rules = make_rules(catalog)
    replay(turns[0], rules)

    def over(logs: list[Any], under: Any) -> Callable[[], None]:
        def work() -> None:
            for log in logs:
                assert replay(log, under).status == "identical"

        return work

    def floor() -> None:
        for log in turns:
            for record in log.records:
                json.loads(record.body)
                hashlib.sha256(record.body).hexdigest()

    unsigned = [msgspec.structs.replace(log, signed=False, key="") for log in turns]
    cold = timed(over(turns, rules))
    warm = statistics.median(timed(over(turns, rules)) for _ in range(3))
    plain = statistics.median(timed(over(unsigned, rules)) for _ in range(3))
    least = statistics.median(timed(floor) for _ in range(3))
    return {
        "turns": count,
        "records_each": round(sum(len(log.records) for log in turns) / count, 1),
        "bytes_each": round(sum(len(record.body) for log in turns for record in log.records) / count),
        "per_second_core_first_time": round(count / cold),
        "per_second_core_again": round(count / warm),
        "per_second_core_again_unsigned": round(count / plain),
        "per_second_core_floor": round(count / least),
    }


def peer() -> dict[str, Any]:
    """Five steps of langgraph run again, in an environment of its own."""
    with tempfile.TemporaryDirectory() as folder:
        found = run_peer("langgraph", "langgraph_chain.py", "40", folder)
    step = next(value for name, value in found.items() if "memory" in name and isinstance(value, int | float))
    return {"langgraph_per_second_core_plain_rerun": round(1e6 / (step * STEPS)), "langgraph": found}


def write_slices(folder: str, key: str, first: int, count: int) -> None:
    """One process's share, sealed into a folder of its own."""
    slices = [Made(n, min(SLICE, first + count - n), key) for n in range(first, first + count, SLICE)]
    seal(Slices(slices), Path(folder), size=SLICE)


def write(place: Path, count: int, workers: int) -> Path:
    """`count` turns, sealed by some processes, as one folder."""
    key = place / "keys"
    open_key(key)
    share = -(-count // workers)
    context = multiprocessing.get_context("spawn")
    jobs = [(str(place / f"part{n}"), str(key), n * share, min(share, count - n * share)) for n in range(workers)]
    running = [context.Process(target=write_slices, args=job) for job in jobs]
    for process in running:
        process.start()
    for process in running:
        process.join()
        assert process.exitcode == 0
    whole = place / "sealed"
    whole.mkdir()
    parts: list[Any] = []
    for folder, *_ in jobs:
        for part in read_seal(Path(folder)).parts:
            moved = msgspec.structs.replace(part, number=len(parts) + 1)
            for table in ("turn", "record", *(("blob",) if part.blobs else ())):
                (Path(folder) / part.file(table)).rename(whole / moved.file(table))
            parts.append(moved)
    (whole / NAME).write_bytes(encode(Seal(parts=tuple(parts))))
    return whole


def evaluate(place: Path, count: int, workers: int, on_ray: bool) -> dict[str, Any]:
    """Write, then count in each way."""
    started = time.perf_counter()
    whole = write(place, count, workers)
    wrote = time.perf_counter() - started
    size = sum(path.stat().st_size for path in whole.iterdir())
    job = Evaluate(Replay(Ground(catalog_of(ROOT).contracts().values())))
    told: dict[str, Any] = {"turns": count, "write_s": round(wrote, 1), "bytes_on_disk": size, "ways": {}}
    ways: list[tuple[str, int, Any]] = [("processes", workers, "processes"), ("one", 1, "processes")]
    for name, processes, backend in [*ways, *([("ray", workers, "ray")] if on_ray else [])]:
        started = time.perf_counter()
        mapped = map_shards(job, open_collection(whole), workers=processes, backend=backend)
        took = time.perf_counter() - started
        told["ways"][name] = {
            "workers": processes,
            "seconds": round(took, 1),
            "turns_per_second": round(count / took),
            "identical": mapped.partial.replayed.identical,
            "unread": mapped.faults.total,
            "digest": mapped.partial.digest()[:16],
            "outcomes": mapped.partial.sums.counted("outcome"),
            "pass_1": msgspec.to_builtins(mapped.partial.sums.pass_k(1)),
            "peak_mb_parent": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
            "peak_mb_worker": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024,
        }
        print(json.dumps({name: told["ways"][name]}), file=sys.stderr)
    told["same_bytes"] = len({way["digest"] for way in told["ways"].values()}) == 1
    return told


def main() -> None:
    """Measure and print."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--turns", type=int, default=4_000)
    asked.add_argument("--sealed", type=int, default=0)
    asked.add_argument("--workers", type=int, default=2)
    asked.add_argument("--ray", action="store_true")
    asked.add_argument("--no-peers", action="store_true")
    asked.add_argument("--place", type=Path)
    given = asked.parse_args()
    place = Path(tempfile.mkdtemp(prefix="metnos-replay-", dir=given.place))
    try:
        found: dict[str, Any] = {}
        if given.turns:
            found["speed"] = speed(given.turns, place / "speed")
            print(json.dumps(found["speed"]), file=sys.stderr)
        if given.turns and not given.no_peers:
            found["peer"] = peer()
        if given.sealed:
            found["sealed"] = evaluate(place, given.sealed, given.workers, given.ray)
        print(json.dumps(found))
    finally:
        shutil.rmtree(place)


if __name__ == "__main__":
    main()
