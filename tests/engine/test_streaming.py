"""A turn as a stream of events: their order, back-pressure, early close, cancellation, and the last event always."""

from __future__ import annotations

import asyncio
import gc
import threading
from typing import TYPE_CHECKING, Any

import pytest

import metnos
from metnos import Engine, NeedEvent, PlanAcceptedEvent, StepFinishedEvent, TurnBrokenEvent, TurnEndedEvent, TurnEvent
from metnos.record.faults import RecordFault
from tests.support import hosted
from tests.support.hosted import lines, plan, step

if TYPE_CHECKING:
    from pathlib import Path

    from tests.engine.conftest import Opens

TWO = plan(step("add_one", n=1), step("add_two", n="${step1.n}"), data="${step2.n}")


def names(events: list[Any]) -> list[str]:
    return [type(event).__name__.removesuffix("Event") for event in events]


async def collect(engine: Engine, *args: Any, **more: Any) -> list[Any]:
    return [event async for event in engine.stream(*args, **more)]


@pytest.fixture(params=[False, True], ids=["sync", "async"])
def later(request: pytest.FixtureRequest) -> bool:
    return request.param


def events_of(engine: Engine, later: bool, *args: Any, **more: Any) -> list[Any]:
    events = asyncio.run(collect(engine, *args, **more)) if later else list(engine.stream_sync(*args, **more))
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert len({event.turn for event in events}) == 1
    assert all(isinstance(event, TurnEvent) for event in events)
    return events


def test_the_events_of_a_turn_in_order(engine: Engine, later: bool) -> None:
    events = events_of(engine, later, plan=TWO)
    assert names(events) == [
        "TurnOpened", "PlanAccepted", "StepStarted", "StepFinished", "StepStarted", "StepFinished", "TurnEnded",
    ]  # fmt: skip
    assert [(one.step, one.tool, one.data) for one in events if isinstance(one, StepFinishedEvent)] == [
        ("1.1", "add_one", {"n": 2}),
        ("1.2", "add_two", {"n": 4}),
    ]
    result = events[-1].result
    assert (result.outcome, result.data) == ("success", 4)
    assert result == metnos.TurnResult(**{name: getattr(result, name) for name in result.__struct_fields__})
    assert engine.read_turn(result.turn).status == "closed"
    assert engine.replay(result.turn).status == "identical"


def test_a_request_tells_where_its_plan_came_from(opens: Opens, later: bool) -> None:
    events = events_of(opens(memory=True), later, "how many files are here")
    assert events[0].request == "how many files are here"
    (accepted,) = (one for one in events if isinstance(one, PlanAcceptedEvent))
    assert accepted.source == "template"
    assert accepted.body == events[-1].result.plan


def test_what_fails_is_skipped_or_sent_back_is_told(opens: Opens, later: bool) -> None:
    engine = opens(memory=True, proposer=lambda *_: plan(step("add_one", m=1)))
    assert names(events_of(engine, later, "fold the laundry")) == [
        "TurnOpened", "PlanRejected", "PlanRejected", "TurnEnded",
    ]  # fmt: skip
    events = events_of(engine, later, plan=plan(step("fail", text="oh"), step("add_one", n="${step1.n ?? 1}"), data=1))
    assert names(events)[-2:] == ["StepSkipped", "TurnEnded"]
    (failed,) = (one for one in events if type(one).__name__ == "StepFailedEvent")
    assert "oh" in failed.error.message
    assert names(events_of(engine, later, plan="no plan")) == ["TurnEnded"]


def test_who_must_be_asked_is_told_before_the_turn_suspends(opens: Opens, later: bool, folder: Path) -> None:
    given = plan(step("append_line", path=str(folder / "x")))
    engine = opens(memory=True)
    events = events_of(engine, later, plan=given)
    assert names(events) == ["TurnOpened", "PlanAccepted", "Need", "TurnEnded"]
    assert events[-1].result.status == "suspended"
    assert events[-1].result.needs == (events[2].need,)
    events = events_of(engine, later, plan=given, approve=lambda asked: asked.targets == (str(folder / "x"),))
    assert names(events) == ["TurnOpened", "PlanAccepted", "Need", "StepStarted", "StepFinished", "TurnEnded"]
    assert lines(folder / "x") == 1


def test_a_stream_that_is_never_read_leaves_no_turn(engine: Engine) -> None:
    engine.stream(plan=TWO)
    engine.stream_sync(plan=TWO).close()
    assert engine.turns() == ()
    with pytest.raises(TypeError):
        engine.stream()


def test_no_step_starts_while_an_event_is_unread(engine: Engine, folder: Path) -> None:
    """The two do not wait for each other, but the second is not begun before the reader has taken the first's result."""
    given = plan(step("append_later", path=str(folder / "x")), step("append_later", path=str(folder / "y")))

    async def run() -> None:
        stream = engine.stream(plan=given, assume_yes=True)
        seen: list[str] = []
        async for event in stream:
            seen.append(type(event).__name__)
            for _ in range(50):
                await asyncio.sleep(0)
            if "StepFinishedEvent" not in seen:
                assert lines(folder / "y") == 0
        assert stream.result is not None
        assert stream.result.ok

    asyncio.run(run())
    assert (lines(folder / "x"), lines(folder / "y")) == (1, 1)


def test_leaving_early_cancels_the_turn(engine: Engine, folder: Path, later: bool) -> None:
    given = plan(step("append_line", path=str(folder / "x")), step("wait_for_ever", after='${step1.path ?? ""}'))

    async def run() -> Any:
        async with engine.stream(plan=given, assume_yes=True) as stream:
            async for event in stream:
                if isinstance(event, StepFinishedEvent):
                    break
        assert len(asyncio.all_tasks()) == 1
        assert [event async for event in stream] == []
        return stream.result

    def run_sync() -> Any:
        with engine.stream_sync(plan=given, assume_yes=True) as stream:
            for event in stream:
                if isinstance(event, StepFinishedEvent):
                    break
        return stream.result

    result = asyncio.run(run()) if later else run_sync()
    assert (result.status, result.outcome) == ("closed", "cancelled")
    assert [one.target for one in result.effects] == [str(folder / "x")]
    assert engine.read_turn(result.turn).outcome == "cancelled"
    assert engine.replay(result.turn).status == "identical"


def test_a_stream_that_goes_away_cancels_its_turn(light: Engine) -> None:
    async def run() -> None:
        async for event in light.stream(plan=plan(step("wait_for_ever"))):
            if type(event).__name__ == "StepStartedEvent":
                break
        gc.collect()
        while len(asyncio.all_tasks()) > 1:
            await asyncio.sleep(0)

    asyncio.run(run())
    assert light.turns(1)[0].outcome == "cancelled"


def test_giving_up_one_event_cancels_nothing(light: Engine) -> None:
    async def run() -> Any:
        stream = light.stream(plan=plan(step("wait_here"), data="${step1.n ?? 0}"))
        async for event in stream:
            if type(event).__name__ == "StepStartedEvent":
                break
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await anext(stream)
        hosted.gates.leave.set()
        return [event async for event in stream][-1].result

    result = asyncio.run(run())
    assert (result.outcome, result.data) == ("success", 1)


def test_cancelling_the_reader_closes_the_turn(engine: Engine) -> None:
    async def read(seen: list[Any]) -> None:
        async with engine.stream(plan=plan(step("wait_for_ever"))) as stream:
            async for event in stream:
                seen.append(event)  # noqa: PERF401 - as they come

    async def run() -> list[Any]:
        hosted.gates.inside = asyncio.Event()
        seen: list[Any] = []
        reader = asyncio.create_task(read(seen))
        await hosted.gates.inside.wait()
        reader.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reader
        assert len(asyncio.all_tasks()) == 1
        return seen

    seen = asyncio.run(run())
    assert engine.read_turn(seen[0].turn).outcome == "cancelled"


def test_a_fault_comes_behind_the_last_event(opens: Opens, later: bool) -> None:
    """The engine is closed under the turn: its log cannot go on."""
    engine = opens()

    def close_it(_asked: Any) -> bool:
        engine.close()
        return True

    seen: list[Any] = []

    async def run() -> None:
        async for event in engine.stream('write "x" to x.txt', approve=close_it):
            seen.append(event)  # noqa: PERF401 - as they come

    def run_sync() -> None:
        seen.extend(iter(engine.stream_sync('write "x" to x.txt', approve=close_it)))

    with pytest.raises(RecordFault):
        asyncio.run(run()) if later else run_sync()
    if later:
        assert isinstance(seen[-1], TurnBrokenEvent)
        assert "RecordFault" in seen[-1].fault
        assert isinstance(seen[-2], NeedEvent)
    again = opens()
    assert again.turns(1)[0].status == "open"
    assert again.resume_sync(again.turns(1)[0].turn).status == "suspended"


def test_a_loop_that_ends_under_a_stream_still_closes_its_turn(light: Engine) -> None:
    kept: list[Any] = []

    async def run() -> None:
        kept.append(light.stream(plan=plan(step("wait_for_ever"))))
        async for event in kept[0]:
            if type(event).__name__ == "StepStartedEvent":
                return

    asyncio.run(run())
    assert light.turns(1)[0].outcome == "cancelled"
    assert kept[0].result.outcome == "cancelled"
    assert isinstance(kept[0]._buffer.events[-1], TurnEndedEvent)


def test_the_sync_twin_refuses_where_a_loop_runs(light: Engine) -> None:
    async def run() -> None:
        with pytest.raises(RuntimeError, match="event loop"):
            next(light.stream_sync(plan=TWO))

    asyncio.run(run())
    assert light.turns() == ()


def test_a_sync_stream_that_was_read_to_its_end_is_closed_without_more_ado(light: Engine) -> None:
    with light.stream_sync(plan=TWO) as stream:
        assert names(list(stream))[-1] == "TurnEnded"
        assert list(stream) == []
    stream.close()
    assert stream.result is not None
    assert stream.result.ok


def test_a_sync_stream_that_could_not_be_closed_where_a_loop_runs_goes_on(light: Engine) -> None:
    stream = light.stream_sync(plan=TWO)
    first = next(stream)

    async def run() -> None:
        with pytest.raises(RuntimeError, match="event loop"):
            stream.close()

    asyncio.run(run())
    assert names([first, *stream])[-1] == "TurnEnded"


def test_a_sync_stream_is_one_threads_at_a_time(light: Engine, folder: Path) -> None:
    told: list[BaseException] = []

    def elsewhere(_asked: Any) -> bool:
        def read() -> None:
            for use in (lambda: next(stream), stream.close):
                try:
                    use()
                except RuntimeError as fault:
                    told.append(fault)

        thread = threading.Thread(target=read)
        thread.start()
        thread.join()
        return True

    with light.stream_sync(plan=plan(step("append_line", path=str(folder / "lines"))), approve=elsewhere) as stream:
        assert names(list(stream))[-1] == "TurnEnded"
    assert [str(fault) for fault in told] == ["another thread uses this stream: one thread at a time may"] * 2
