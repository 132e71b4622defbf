"""Cancelling: a task, Ctrl-C, another thread; what runs is stopped, the log is closed, what was done is kept."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from typing import TYPE_CHECKING, Any

import pytest

from metnos.turn.inputs import Cancelled
from tests.support import hosted
from tests.support.hosted import lines, plan, step

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from metnos import Engine, TurnResult
    from tests.engine.conftest import Opens

DONE = '${step1.path ?? ""}'
"""Makes a step wait for the one before it."""


async def cancel_inside(engine: Engine, given: Any, **more: Any) -> str:
    """Run a plan, cancel its task once the waiting step is inside; the turn's id."""
    hosted.gates.inside = asyncio.Event()
    running = asyncio.create_task(engine.run(plan=given, **more))
    await hosted.gates.inside.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert [task for task in asyncio.all_tasks() if task is not asyncio.current_task()] == []
    return engine.turns(1)[0].turn


def test_a_task_that_is_cancelled_closes_its_turn(engine: Engine) -> None:
    given = plan(step("add_one", n=1), step("wait_for_ever"), step("add_two", n="${step1.n}"))
    turn = asyncio.run(cancel_inside(engine, given))
    view = engine.read_turn(turn)
    assert (view.status, view.outcome) == ("closed", "cancelled")
    assert {one.step: one.state for one in view.steps}["1.2"] == "stopped"
    assert engine.verify(turn).ok
    assert engine.replay(turn).status == "identical"


def test_what_was_done_before_is_kept_and_told(engine: Engine, folder: Path) -> None:
    given = plan(step("append_line", path=str(folder / "x")), step("wait_for_ever", after=DONE))
    turn = asyncio.run(cancel_inside(engine, given, assume_yes=True))
    view = engine.read_turn(turn)
    assert view.outcome == "cancelled"
    assert [effect["target"] for effect in view.effects] == [str(folder / "x")]
    assert lines(folder / "x") == 1


def test_an_effect_that_is_cancelled_in_its_midst_is_unknown(engine: Engine, folder: Path) -> None:
    given = plan(step("append_and_wait", path=str(folder / "x")))
    turn = asyncio.run(cancel_inside(engine, given, assume_yes=True))
    assert engine.read_turn(turn).outcome == "effect_unknown"
    assert engine.replay(turn).status == "identical"


@pytest.mark.parametrize("role", ["approve", "answer", "proposer"])
def test_a_person_who_is_being_asked_is_asked_no_more(opens: Opens, folder: Path, role: str) -> None:
    """The awaited answer is cancelled with the turn, and nothing of it is left on the loop."""
    asked = asyncio.Event()
    gone: list[str] = []

    async def waiting(*_command: Any) -> Any:
        asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            gone.append(role)

    async def run() -> str:
        question = {"steps": [{"tool": "ask", "args": {"question": "Which?"}}]}
        given: dict[str, Any] = {"plan": question}
        if role == "approve":
            given = {"plan": plan(step("append_line", path=str(folder / "x")))}
        elif role == "proposer":
            given = {"request": "fold the laundry"}
        running = asyncio.create_task(engine.run(**given))
        await asked.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert len(asyncio.all_tasks()) == 1
        return engine.turns(1)[0].turn

    engine = opens(memory=True, **{role: waiting})
    turn = asyncio.run(run())
    assert gone == [role]
    assert engine.read_turn(turn).outcome == "cancelled"
    assert engine.replay(turn).status == "identical"
    assert lines(folder / "x") == 0


def test_a_worker_at_work_is_stopped(opens: Opens, folder: Path) -> None:
    """A real worker: reading a pipe that nobody writes into would never end, but pipes are refused; so a large tree."""
    engine = opens()
    started = asyncio.Event()

    async def run() -> None:
        running = asyncio.create_task(engine.run("how many files are here"))
        await started.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    def progress(event: Any) -> None:
        if event.state == "started":
            started.set()

    engine = opens(progress=progress)
    asyncio.run(run())
    turn = engine.turns(1)[0].turn
    assert engine.read_turn(turn).status == "closed"
    assert engine.read_turn(turn).outcome in ("cancelled", "success")
    assert engine.verify(turn).ok
    assert engine.run_sync("how many files are here").ok


def interrupted(engine: Engine, call: Callable[[], TurnResult]) -> TurnResult:
    """Call with Ctrl-C sent once the waiting step is inside."""

    def send() -> None:
        assert hosted.gates.entered.wait(20)
        os.kill(os.getpid(), signal.SIGINT)
        hosted.gates.leave.set()

    sender = threading.Thread(target=send)
    sender.start()
    try:
        with engine.interruptible():
            return call()
    finally:
        sender.join()


@pytest.mark.parametrize(("tool", "status"), [("wait_for_ever", "stopped"), ("wait_here", "done")])
def test_ctrl_c_ends_the_turn_cancelled(engine: Engine, folder: Path, tool: str, status: str) -> None:
    before = signal.getsignal(signal.SIGINT)
    given = plan(step("append_line", path=str(folder / "x")), step(tool, after=DONE))
    result = interrupted(engine, lambda: engine.run_sync(plan=given, assume_yes=True))
    assert (result.status, result.outcome) == ("closed", "cancelled")
    assert [one.status for one in result.steps] == ["done", status]
    assert f"Created {folder / 'x'}" in result.answer
    assert result.answer.startswith("Cancelled. What was done before is kept and recorded.")
    assert signal.getsignal(signal.SIGINT) is before
    assert engine.replay(result.turn).status == "identical"


def test_after_ctrl_c_no_step_starts_not_even_one_that_was_asked_for(engine: Engine, folder: Path) -> None:
    """The effect becomes ready when the step that waits has ended, and is in the queue when the signal is seen."""
    given = plan(step("wait_here"), step("append_line", path=f"{folder}/x${{step1.n ?? 1}}"))
    result = interrupted(engine, lambda: engine.run_sync(plan=given, assume_yes=True))
    assert result.outcome == "cancelled"
    assert [one.status for one in result.steps] == ["done", "stopped"]
    assert lines(folder / "x1") == 0
    assert engine.replay(result.turn).status == "identical"


def test_ctrl_c_that_comes_when_all_is_done_changes_nothing(engine: Engine) -> None:
    """The step is the last, and the plan has its own answer: the machine has closed the turn when the signal is seen."""
    result = interrupted(engine, lambda: engine.run_sync(plan=plan(step("wait_here"), data="${step1.n ?? 0}")))
    assert (result.outcome, result.data) in (("success", 1), ("cancelled", None))
    assert engine.read_turn(result.turn).status == "closed"
    assert engine.verify(result.turn).ok


def test_ctrl_c_where_no_turn_is_under_way_is_an_interrupt(engine: Engine) -> None:
    with pytest.raises(KeyboardInterrupt), engine.interruptible():
        os.kill(os.getpid(), signal.SIGINT)
        signal.sigtimedwait([], 0)


def test_a_second_ctrl_c_is_an_interrupt_and_the_turn_can_be_resumed(opens: Opens) -> None:
    engine = opens()
    before = signal.getsignal(signal.SIGINT)

    def stubborn(_asked: Any) -> bool:
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
        return True

    with pytest.raises(KeyboardInterrupt), engine.interruptible():
        engine.run_sync('write "x" to x.txt', approve=stubborn)
    assert signal.getsignal(signal.SIGINT) is before
    turn = engine.turns(1)[0].turn
    assert engine.read_turn(turn).status == "open"
    assert engine.verify(turn).ok
    again = engine.resume_sync(turn)
    assert (again.status, len(again.needs)) == ("suspended", 1)


def test_interruptible_in_another_thread_leaves_the_signal_alone(engine: Engine) -> None:
    found: list[Any] = []

    def other() -> None:
        with engine.interruptible():
            found.append(signal.getsignal(signal.SIGINT))

    before = signal.getsignal(signal.SIGINT)
    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert found == [before]


def test_a_cancelled_turn_can_not_be_resumed(opens: Opens) -> None:
    engine = opens()
    turn = asyncio.run(cancel_inside(engine, plan(step("wait_for_ever"))))
    records = engine.parts.journal.load(turn).records
    assert str(Cancelled.__struct_config__.tag) in [record.kind for record in records]
    with pytest.raises(Exception, match="turn-closed"):
        engine.resume_sync(turn)


def test_a_timeout_around_run_cancels_it(light: Engine) -> None:
    async def run() -> None:
        async with asyncio.timeout(0.05):
            await light.run(plan=plan(step("wait_for_ever")))

    with pytest.raises(TimeoutError):
        asyncio.run(run())
    assert light.turns(1)[0].outcome == "cancelled"


def test_an_executor_that_cancels_itself_is_a_failed_step(light: Engine) -> None:
    from metnos import executor

    @executor(version="1.0.0", effect="read", description="Cancels itself.", resources=())
    async def give_up() -> dict[str, int]:
        raise asyncio.CancelledError

    engine = type(light).open(memory=True, shipped=False, executors=[give_up])
    result = asyncio.run(engine.run(plan=plan(step("give_up"))))
    assert result.outcome == "error"
    engine.close()


def awaited(call: Callable[[], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        return await call()

    return asyncio.run(run())


def test_an_answer_that_is_cancelled_by_itself_is_no_answer(opens: Opens, folder: Path) -> None:
    async def give_up(_asked: Any) -> bool:
        raise asyncio.CancelledError

    engine = opens(memory=True, approve=give_up)
    result = awaited(lambda: engine.run(plan=plan(step("append_line", path=str(folder / "x")))))
    assert (result.outcome, result.code) == ("user_aborted", "answer-failed")
    assert lines(folder / "x") == 0


@pytest.mark.parametrize(("tool", "outcome"), [("wait_for_ever", "cancelled"), ("append_and_wait", "effect_unknown")])
def test_a_loop_that_ends_closes_the_turns_on_it(engine: Engine, folder: Path, tool: str, outcome: str) -> None:
    """It cancels every task at once, those of steps too: the log is closed all the same, and an effect is in doubt."""
    given = plan(step(tool, **({"path": str(folder / "x")} if tool == "append_and_wait" else {})))
    kept: list[Any] = []

    async def run() -> None:
        hosted.gates.inside = asyncio.Event()
        kept.append(asyncio.create_task(engine.run(plan=given, assume_yes=True)))
        await hosted.gates.inside.wait()

    asyncio.run(run())
    assert kept[0].cancelled()
    (turn,) = engine.turns()
    assert (turn.status, turn.outcome) == ("closed", outcome)
    assert engine.verify(turn.turn).ok
    assert engine.replay(turn.turn).status == "identical"
