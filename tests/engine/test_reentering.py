"""What may call the engine from inside a turn, and on whose thread the host's functions are called."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from typing import TYPE_CHECKING, Any

import pytest

from metnos import executor
from tests.support import hosted
from tests.support.hosted import lines, plan, step

if TYPE_CHECKING:
    from pathlib import Path

    from metnos import Engine
    from tests.engine.conftest import Opens

ADD = plan(step("add_one", n=1), data="${step1.n}")
held: dict[str, Any] = {}
"""The engine, for executors of it."""


@executor(version="1.0.0", effect="read", description="Runs another turn.", resources=())
def again() -> dict[str, int]:
    return {"n": held["engine"].run_sync(plan=ADD).data}


@executor(version="1.0.0", effect="read", description="Awaits another turn.", resources=())
async def again_later() -> dict[str, int]:
    return {"n": (await held["engine"].run(plan=ADD)).data}


@executor(version="1.0.0", effect="read", description="Blocks its own loop.", resources=())
async def again_wrongly() -> dict[str, int]:
    return {"n": held["engine"].run_sync(plan=ADD).data}


def reopened(opens: Opens, **more: Any) -> Engine:
    engine = held["engine"] = opens(executors=[again, again_later, again_wrongly, *hosted.ALL], **more)
    return engine


@pytest.mark.parametrize("on_loop", [False, True])
@pytest.mark.parametrize("memory", [False, True])
@pytest.mark.parametrize("tool", ["again", "again_later"])
def test_an_executor_runs_a_turn(opens: Opens, tool: str, memory: bool, on_loop: bool) -> None:
    engine = reopened(opens, memory=memory)
    given = plan(step(tool), data="${step1.n ?? 0}")
    result = asyncio.run(engine.run(plan=given)) if on_loop else engine.run_sync(plan=given)
    assert result.data == 2
    assert len(engine.turns()) == 2


def test_a_sync_twin_on_a_loop_is_refused_in_words(opens: Opens) -> None:
    engine = reopened(opens, memory=True)
    result = engine.run_sync(plan=plan(step("again_wrongly"), data="${step1.n ?? 0}"))
    assert result.steps[0].error is not None
    assert "instead of its sync twin" in result.steps[0].error.message

    async def run() -> None:
        for call in (
            lambda: engine.run_sync(plan=ADD),
            lambda: engine.plan_sync("how many files are here"),
            lambda: engine.resume_sync(result.turn),
            lambda: next(engine.stream_sync(plan=ADD)),
        ):
            with pytest.raises(RuntimeError, match="event loop"):
                call()

    asyncio.run(run())


def test_who_is_asked_runs_a_turn(opens: Opens, folder: Path) -> None:
    """An async `approve`, and an async proposer; a plain one in its thread."""
    engine = reopened(opens, memory=True)

    async def approve(_asked: Any) -> bool:
        return (await engine.run(plan=ADD)).data == 2

    given = plan(step("append_line", path=str(folder / "x")))
    assert asyncio.run(engine.run(plan=given, approve=approve)).ok
    assert lines(folder / "x") == 1

    async def later(_request: Any, _candidates: Any) -> dict[str, Any]:
        return plan(data=(await held["engine"].run(plan=ADD)).data)

    def plain(_request: Any, _candidates: Any) -> dict[str, Any]:
        return plan(data=held["engine"].run_sync(plan=ADD).data)

    for proposer in (later, plain):
        engine = reopened(opens, memory=True, proposer=proposer)
        assert asyncio.run(engine.run("fold the laundry")).data == 2
    assert engine.run_sync("fold the laundry").data == 2


@pytest.mark.parametrize("memory", [False, True])
def test_a_turn_cannot_go_on_inside_itself(opens: Opens, folder: Path, memory: bool) -> None:
    engine = reopened(opens, memory=memory)
    said: list[str] = []

    def approve(_asked: Any) -> bool:
        try:
            engine.resume_sync(engine.find_turn("last"))
        except Exception as fault:
            said.append(str(fault))
            raise
        return True

    result = engine.run_sync(plan=plan(step("append_line", path=str(folder / "x"))), approve=approve)
    assert "turn-busy" in said[0]
    assert (result.outcome, result.code, lines(folder / "x")) == ("user_aborted", "answer-failed", 0)


# --- whose thread ----------------------------------------------------------------------------------------------------

where: contextvars.ContextVar[str] = contextvars.ContextVar("where", default="nowhere")


def test_a_plain_proposer_does_not_hold_the_loop(opens: Opens) -> None:
    """It waits for what only the loop can do, and sees the context of who runs the turn."""
    served, seen = threading.Event(), []

    def propose(_request: Any, _candidates: Any) -> dict[str, Any]:
        seen.append((where.get(), threading.current_thread() is threading.main_thread()))
        assert served.wait(20)
        return plan(data=1)

    async def run() -> Any:
        where.set("here")
        asyncio.get_running_loop().call_later(0, served.set)
        return await opens(memory=True, proposer=propose).run("fold the laundry")

    assert asyncio.run(run()).data == 1
    assert seen == [("here", False)]


def test_the_sync_twins_call_it_in_the_thread_of_who_calls_them(opens: Opens) -> None:
    seen: list[bool] = []

    def propose(request: Any, _candidates: Any) -> dict[str, Any]:
        seen.append(threading.current_thread() is threading.main_thread())
        return plan(step("add_two", n=1), data="${step1.n}" if request.feedback else "${step7.n}")

    engine = opens(memory=True, proposer=propose)
    assert engine.run_sync("fold the laundry").data == 3
    assert list(engine.stream_sync("fold the linen"))[-1].result.data == 3
    assert seen == [True] * 4


def test_a_turn_whose_proposer_is_slow_is_cancelled_at_once(opens: Opens) -> None:
    inside, leave = threading.Event(), threading.Event()

    def propose(_request: Any, _candidates: Any) -> dict[str, Any]:
        inside.set()
        leave.wait(20)
        return plan(data=1)

    engine = opens(memory=True, proposer=propose)

    async def run() -> None:
        task = asyncio.create_task(engine.run("fold the laundry"))
        await asyncio.to_thread(inside.wait, 20)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not leave.is_set()

    asyncio.run(run())
    leave.set()
    assert engine.turns(1)[0].outcome == "cancelled"


@pytest.mark.parametrize("fault", [StopIteration, ValueError, TimeoutError])
def test_what_a_proposer_raises_in_its_thread_is_its_failure(opens: Opens, fault: type[Exception]) -> None:
    def propose(_request: Any, _candidates: Any) -> dict[str, Any]:
        raise fault("oh")

    result = asyncio.run(opens(memory=True, proposer=propose).run("fold the laundry"))
    assert (result.status, result.code) == ("closed", "proposer-failed")


def test_a_plain_function_may_give_an_awaitable(opens: Opens) -> None:
    async def ask() -> dict[str, Any]:
        await asyncio.sleep(0)
        return plan(data=1)

    engine = opens(memory=True, proposer=lambda *_: ask())
    assert asyncio.run(engine.run("fold the laundry")).data == 1
