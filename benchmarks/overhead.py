"""What a step costs: Metnos beside etchplan and langgraph, in one run on one machine.

    .venv/bin/python benchmarks/overhead.py [--rounds N] [--no-peers]

The job: a plan of ten no-op steps in this process, each fed by the one before. Metnos does it whole (plan checked, policy
asked, every step recorded in a hash chain, head signed where it is durable); etchplan interprets it with its audit
records; langgraph runs it as a graph with checkpoints. Times are medians, in µs a step unless the key says otherwise.
The last line is one JSON object.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypedDict

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.peers.environment import run_peer
from metnos import Engine, executor
from metnos.checks.validator import Validator
from metnos.contracts.catalog import Catalog
from metnos.contracts.foreign import foreign_contract
from metnos.record.connection import load_driver

STEPS = 10
WIDTH = 8
SLEEP_S = 0.010
AIMS: dict[str, str] = {
    "metnos_memory": "<= 1.5 x etchplan",
    "metnos_durable": "<= 2.5 x etchplan + bare_commit / 10; >= 20 x below langgraph_sqlite",
    "metnos_effect": "<= 1.3 x bare_effect",
    "effect_ratio": "median of metnos_effect / bare_effect, pair by pair",
    "validate": "<= 10",
    "fanout_ms": "<= 12",
    "import_s": "<= 0.1",
    "help_s": "<= 0.35",
    "ask_s": "<= 1",
}


class Value(TypedDict):
    value: int


@executor(version="1.0.0", effect="read", resources=())
def noop(value: int) -> Value:
    """Give back what came in."""
    return {"value": value}


@executor(version="1.0.0", effect="create")
def touch(value: int) -> Value:
    """An effect that does nothing, so that only its bookkeeping is measured."""
    return {"value": value}


@executor(version="1.0.0", effect="read", resources=())
async def nap(value: int) -> Value:
    """A read that takes ten milliseconds."""
    await asyncio.sleep(SLEEP_S)
    return {"value": value}


def chain(tool: str, steps: int) -> dict[str, Any]:
    """`steps` calls of one tool, each fed by the one before."""
    calls: list[dict[str, Any]] = [
        {"tool": tool, "args": {"value": 1 if number == 1 else f"${{step{number - 1}.value}}"}}
        for number in range(1, steps + 1)
    ]
    return {"steps": [*calls, {"tool": "final_answer", "args": {"data": f"${{step{steps}.value}}"}}]}


def fan(tool: str, width: int) -> dict[str, Any]:
    """`width` calls of one tool that do not depend on each other."""
    calls: list[dict[str, Any]] = [{"tool": tool, "args": {"value": number}} for number in range(width)]
    data = [f"${{step{number}.value}}" for number in range(1, width + 1)]
    return {"steps": [*calls, {"tool": "final_answer", "args": {"data": data}}]}


def median_us(job: Callable[[], object], rounds: int) -> float:
    """Median time of one call, µs, after a tenth of the rounds as warm-up."""
    for _ in range(max(3, rounds // 10)):
        job()
    times: list[float] = []
    for _ in range(rounds):
        start = time.perf_counter()
        job()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e6


def must_succeed(engine: Engine, plan: dict[str, Any]) -> Callable[[], None]:
    """A job that runs `plan` and insists on its success."""

    def job() -> None:
        result = engine.run_sync(plan=plan, assume_yes=True)
        if result.outcome != "success":
            raise SystemExit(f"the turn ended {result.outcome}: {result.answer} {result.diagnostics}")

    return job


def measure_chain(rounds: int) -> float:
    """µs a step of the ten-step chain, whole turn, recorded in memory."""
    with Engine.open(memory=True, shipped=False, executors=[noop]) as engine:
        return median_us(must_succeed(engine, chain("noop", STEPS)), rounds) / STEPS


def measure_disk(folder: Path, rounds: int) -> dict[str, float]:
    """What is written to disk, and the bare writes beside it, turn about: a shared disk is slow for all of them alike.

    Keys: `metnos_durable` (µs a step of the chain), `metnos_effect` (µs of a turn of one step with an effect),
    `bare_commit` (one FULL commit), `bare_effect` (two FULL commits and one fdatasync).
    """
    with (
        Engine.open(folder / "durable", shipped=False, executors=[noop]) as durable,
        Engine.open(folder / "effect", shipped=False, executors=[touch]) as effect,
        bare_disk(folder) as (commit, commit_twice_and_sync),
    ):
        jobs = {
            "metnos_durable": must_succeed(durable, chain("noop", STEPS)),
            "bare_commit": commit,
            "metnos_effect": must_succeed(effect, chain("touch", 1)),
            "bare_effect": commit_twice_and_sync,
        }
        times: dict[str, list[float]] = {name: [] for name in jobs}
        for number in range(rounds + 5):
            for name, job in jobs.items():
                start = time.perf_counter()
                job()
                if number >= 5:
                    times[name].append(time.perf_counter() - start)
    found = {name: statistics.median(samples) * 1e6 for name, samples in times.items()}
    found["metnos_durable"] /= STEPS
    found["effect_ratio"] = statistics.median(
        ours / bare for ours, bare in zip(times["metnos_effect"], times["bare_effect"], strict=True)
    )
    return found


def measure_fan(rounds: int) -> float:
    """ms of a turn of eight reads that sleep ten milliseconds each."""

    async def whole(engine: Engine, plan: dict[str, Any]) -> list[float]:
        times: list[float] = []
        for _ in range(rounds):
            start = time.perf_counter()
            result = await engine.run(plan=plan)
            times.append(time.perf_counter() - start)
            if result.data != list(range(WIDTH)):
                raise SystemExit(f"the fan-out gave {result.data}")
        return times

    with Engine.open(memory=True, shipped=False, executors=[nap]) as engine:
        return statistics.median(asyncio.run(whole(engine, fan("nap", WIDTH)))) * 1e3


def measure_validation(rounds: int) -> float:
    """µs a step of validating a plan of ten steps over a catalog of 100 tools, without any memory of the plan."""
    tools = [
        foreign_contract(
            f"tool_{number}", parameters={"value": {"type": "integer"}}, outputs={"value": {"type": "integer"}}
        )
        for number in range(100)
    ]
    validator = Validator(Catalog().with_contracts(tools))
    plan = {
        "steps": [
            {"tool": f"tool_{number * 9}", "args": {"value": 1 if number == 0 else f"${{step{number}.value}}"}}
            for number in range(STEPS)
        ]
        + [{"tool": "final_answer", "args": {}}]
    }
    if not validator(plan).ok:
        raise SystemExit(f"the plan is not valid: {validator(plan).diagnostics}")
    return median_us(lambda: validator(plan), rounds) / STEPS


@contextmanager
def bare_disk(folder: Path) -> Generator[tuple[Callable[[], None], Callable[[], None]]]:
    """(one FULL commit, two FULL commits with an fdatasync between) with the same SQLite and as many rows."""
    driver = load_driver()
    connection = driver.connect(folder / "bare.sqlite", isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE record (seq INTEGER PRIMARY KEY, body BLOB, hash TEXT)")
    rows = [(b"x" * 200, "sha256:" + "0" * 64)] * 5
    anchor = os.open(folder / "bare.anchor", os.O_CREAT | os.O_WRONLY | os.O_APPEND)

    def commit() -> None:
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany("INSERT INTO record (body, hash) VALUES (?, ?)", rows)
        connection.execute("COMMIT")

    def effect() -> None:
        commit()
        os.write(anchor, b"x" * 160 + b"\n")
        os.fdatasync(anchor)
        commit()

    try:
        yield commit, effect
    finally:
        os.close(anchor)
        connection.close()


def measure_process(arguments: list[str], rounds: int, environment: dict[str, str]) -> float:
    """Median seconds of a whole process."""
    times: list[float] = []
    for _ in range(rounds):
        start = time.perf_counter()
        done = subprocess.run(
            [sys.executable, *arguments], capture_output=True, env={**os.environ, **environment}, check=False
        )
        times.append(time.perf_counter() - start)
        if done.returncode != 0:
            raise SystemExit(f"{arguments} failed:\n{done.stdout.decode()}{done.stderr.decode()}")
    return statistics.median(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--no-peers", action="store_true", help="leave etchplan and langgraph out")
    options = parser.parse_args()
    rounds: int = options.rounds
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment = {"METNOS_HOME": str(folder / "cli")}
        figures["metnos_memory"] = measure_chain(rounds)
        figures |= measure_disk(folder, rounds)
        figures["validate"] = measure_validation(rounds)
        figures["fanout_ms"] = measure_fan(max(10, rounds // 10))
        python = measure_process(["-c", "pass"], 11, environment)
        figures["python_s"] = python
        figures["import_s"] = measure_process(["-c", "import metnos; metnos.Engine"], 11, environment)
        figures["help_s"] = measure_process(["-m", "metnos", "--help"], 11, environment)
        question = "the five largest files here, as a table"
        figures["ask_s"] = measure_process(["-m", "metnos", "ask", question], 7, environment)
        if not options.no_peers:
            figures |= run_peer("etchplan", "etchplan_chain.py", str(rounds))
            figures |= run_peer("langgraph", "langgraph_chain.py", str(max(20, rounds // 4)), name)
    for key, value in figures.items():
        print(f"{key:18} {value:12.3f}   {AIMS.get(key, '')}")
    print(json.dumps({key: round(value, 4) for key, value in figures.items()}))


if __name__ == "__main__":
    main()
