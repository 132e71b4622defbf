"""The rest of the contract in docs/embedding.md: streams, frozen results, threads, and ends from outside."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from metnos import TurnEvent, TurnResult, executor
from metnos.record.faults import RecordFault
from metnos.turn import commands, facts, inputs
from tests.support import hosted
from tests.support.hosted import lines, plan, step

if TYPE_CHECKING:
    from pathlib import Path

    from tests.engine.conftest import Opens

ADD = plan(step("add_one", n=1), data="${step1.n}")


def test_a_stream_is_read_in_one_loop(opens: Opens) -> None:
    stream = opens(memory=True).stream(plan=ADD)

    async def one() -> Any:
        return await anext(stream)

    with asyncio.Runner() as runner:
        runner.run(one())
        with pytest.raises(RuntimeError, match="belongs to the event loop"):
            asyncio.run(one())
        runner.run(stream.aclose())


@pytest.mark.parametrize("kind", [TurnResult, TurnEvent, commands.Command, inputs.Input, facts.Fact])
def test_what_is_handed_out_is_frozen(kind: type[msgspec.Struct]) -> None:
    kinds = [kind, *kind.__subclasses__()]
    assert all(one.__struct_config__.frozen for one in kinds)


def test_where_a_plain_executor_is_called(opens: Opens) -> None:
    threads: list[threading.Thread] = []

    @executor(version="1.0.0", effect="read", description="Notes its thread.", resources=())
    def note(n: int) -> dict[str, int]:
        threads.append(threading.current_thread())
        meeting.wait(20)
        return {"n": n}

    engine = opens(memory=True, executors=[note])
    meeting = threading.Barrier(1)
    assert engine.run_sync(plan=plan(step("note", n=1))).ok
    assert threads == [threading.main_thread()]
    threads.clear()
    meeting = threading.Barrier(2)
    assert asyncio.run(engine.run(plan=plan(step("note", n=1), step("note", n=2)))).ok
    assert len(set(threads)) == 2
    assert all(thread.daemon for thread in threads)


@pytest.mark.parametrize("on_loop", [False, True])
def test_a_plain_answer_is_given_on_the_thread_of_the_loop(opens: Opens, folder: Path, on_loop: bool) -> None:
    threads: list[threading.Thread] = []

    def approve(_asked: Any) -> bool:
        threads.append(threading.current_thread())
        return True

    engine = opens(memory=True, approve=approve)
    given = plan(step("append_line", path=str(folder / "x")))
    assert (asyncio.run(engine.run(plan=given)) if on_loop else engine.run_sync(plan=given)).ok
    assert threads == [threading.main_thread()]


def test_ctrl_c_that_nobody_catches_leaves_a_turn_that_can_be_resumed(opens: Opens, folder: Path) -> None:
    engine = opens()

    def approve(_asked: Any) -> bool:
        os.kill(os.getpid(), signal.SIGINT)
        return True

    with pytest.raises(KeyboardInterrupt):
        engine.run_sync(plan=plan(step("append_line", path=str(folder / "x"))), approve=approve)
    (turn,) = engine.turns()
    again = engine.resume_sync(turn.turn)
    assert (again.status, lines(folder / "x")) == ("suspended", 0)
    assert engine.resume_sync(turn.turn, approve=[again.needs[0].id]).ok


@pytest.mark.parametrize("tool", ["wait_for_ever", "append_and_wait"])
@pytest.mark.parametrize("on_loop", [False, True])
def test_a_step_that_runs_at_the_close_is_stopped(opens: Opens, folder: Path, tool: str, on_loop: bool) -> None:
    """From another thread: who waits for the turn waits no longer."""
    engine = opens()
    args = {"path": str(folder / "y")} if tool == "append_and_wait" else {"after": '${step1.path ?? ""}'}
    given = plan(step("append_line", path=str(folder / "x")), step(tool, **args))

    def close() -> None:
        assert hosted.gates.entered.wait(20)
        engine.close()

    closer = threading.Thread(target=close)
    closer.start()
    with pytest.raises(RecordFault, match="writer-unusable"):
        if on_loop:
            asyncio.run(engine.run(plan=given, assume_yes=True))
        else:
            engine.run_sync(plan=given, assume_yes=True)
    closer.join(20)
    other = opens()
    (turn,) = other.turns()
    assert turn.status == "open"
    assert other.verify(turn.turn).ok
