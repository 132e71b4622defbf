"""Several turns of one engine at once, from threads and tasks; and an engine that is closed meanwhile."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from metnos import Engine
from metnos.record.faults import RecordFault
from tests.support import hosted
from tests.support.hosted import lines, plan, step

if TYPE_CHECKING:
    from pathlib import Path

    from tests.engine.conftest import Opens

MANY = 12
DONE = '${step1.path ?? ""}'
"""Makes a step wait for the one before it."""


def numbered(number: int, folder: Path) -> dict[str, Any]:
    """A plan whose answer and effect are its own."""
    return plan(
        step("add_one", n=number), step("add_two", n="${step1.n}"), step("append_line", path=str(folder / f"x{number}")),
        data=["${step2.n}", "${INPUT:name}"],
    )  # fmt: skip


def check(engine: Engine, folder: Path, results: list[Any]) -> None:
    assert len({result.turn for result in results}) == len(results)
    for number, result in enumerate(results):
        assert (result.outcome, result.data) == ("success", [number + 3, f"n{number}"]), result
        assert lines(folder / f"x{number}") == 1
        assert engine.verify(result.turn).ok
        assert engine.replay(result.turn).status == "identical"
        assert engine.read_turn(result.turn).head.hash == result.log_head  # type: ignore[union-attr]
    assert len(engine.turns(100)) == len(results)


def test_threads(engine: Engine, folder: Path) -> None:
    """The rooms of the engine are opened by whoever comes first."""
    start = threading.Barrier(MANY)

    def run(number: int) -> Any:
        start.wait()
        return engine.run_sync(plan=numbered(number, folder), inputs={"name": f"n{number}"}, assume_yes=True)

    with ThreadPoolExecutor(MANY) as threads:
        check(engine, folder, list(threads.map(run, range(MANY))))


def test_tasks(engine: Engine, folder: Path) -> None:
    async def run() -> list[Any]:
        return await asyncio.gather(
            *(
                engine.run(plan=numbered(number, folder), inputs={"name": f"n{number}"}, assume_yes=True)
                for number in range(MANY)
            )
        )

    check(engine, folder, asyncio.run(run()))


def test_loops_in_threads_and_workers_between_them(opens: Opens, folder: Path) -> None:
    engine = opens()

    def run(number: int) -> Any:
        text = "how many files are here" if number % 2 else "leggi a.txt"
        return asyncio.run(engine.run(text)) if number % 3 else engine.run_sync(text)

    with ThreadPoolExecutor(4) as threads:
        results = list(threads.map(run, range(8)))
    assert [result.outcome for result in results] == ["success"] * 8
    answers = {result.answer.strip() for result in results}
    assert len(answers) == 2
    assert "alpha" in answers


def test_one_turn_waits_while_others_run(engine: Engine, folder: Path) -> None:
    waiting = engine.run_sync(plan=plan(step("append_line", path=str(folder / "x"))))
    assert engine.run_sync(plan=plan(step("add_one", n=1))).ok
    assert engine.resume_sync(waiting.turn, approve=[waiting.needs[0].id]).ok


def test_two_engines_of_one_home(opens: Opens, folder: Path) -> None:
    one, two = opens(), opens()
    first = one.run_sync(plan=plan(step("append_line", path=str(folder / "x"))))
    assert two.find_turn("last") == first.turn
    assert two.resume_sync(first.turn, approve=[first.needs[0].id]).ok
    with pytest.raises(RecordFault, match="turn-closed"):
        one.resume_sync(first.turn, approve=[first.needs[0].id])
    assert lines(folder / "x") == 1


# --- closing --------------------------------------------------------------------------------------------------------------


def test_a_closed_engine_runs_and_reads_nothing(engine: Engine) -> None:
    turn = engine.run_sync(plan=plan(step("add_one", n=1))).turn
    engine.close()
    engine.close()
    for call in (
        lambda: engine.run_sync(plan=plan(step("add_one", n=1))),
        lambda: engine.resume_sync(turn),
        lambda: engine.read_turn(turn),
        lambda: engine.turns(),
        lambda: engine.plan_sync("how many files are here"),
    ):
        with pytest.raises(RuntimeError, match="closed"):
            call()
    assert engine.check(plan(step("add_one", n=1))).ok
    assert engine.catalog.names()


def test_an_engine_that_was_never_used_is_closed(folder: Path, home: Path) -> None:
    Engine.open(home, folder=folder).close()
    assert not home.exists()


def test_a_turn_under_way_at_the_close_can_be_resumed(opens: Opens, folder: Path) -> None:
    engine = opens()
    given = plan(step("append_line", path=str(folder / "x")), step("wait_here", after=DONE), step("add_one", n=1))
    found: list[BaseException] = []

    def run() -> None:
        try:
            engine.run_sync(plan=given, assume_yes=True)
        except BaseException as fault:  # noqa: BLE001 - whatever it is, it is looked at below
            found.append(fault)

    thread = threading.Thread(target=run)
    thread.start()
    assert hosted.gates.entered.wait(20)
    engine.close()
    hosted.gates.leave.set()
    thread.join(20)
    assert not thread.is_alive()
    (fault,) = found
    assert isinstance(fault, RecordFault)
    assert fault.code == "writer-unusable"
    other = opens()
    result = other.resume_sync(other.find_turn("last"))
    assert result.outcome == "success"
    assert lines(folder / "x") == 1
    assert other.verify(result.turn).ok


def test_a_log_that_cannot_be_written_is_a_fault_and_no_effect(
    opens: Opens, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where it happens in a task of the loop: nothing is swallowed."""
    from metnos.record.database import Database

    real = Database.commit
    commits = [0]

    def commit(self: Any, *args: Any, **more: Any) -> None:
        commits[0] += 1
        if commits[0] == at:
            raise RecordFault("record-write", "the disk is gone")
        real(self, *args, **more)

    monkeypatch.setattr(Database, "commit", commit)
    for tool in ("append_line", "append_later"):
        for at in (1, 2):
            commits[0] = 0
            path = folder / f"{tool}{at}"
            engine = opens()
            given = plan(step(tool, path=str(path)), step("add_two", n=1), step("append_line", path=str(path)))
            with pytest.raises(RecordFault, match="the disk is gone"):
                asyncio.run(engine.run(plan=given, assume_yes=True))
            assert lines(path) == at - 1
            engine.close()
