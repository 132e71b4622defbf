"""Each way to drive a turn takes what the others take; a turn that goes on, and an undo, can be watched as well."""

from __future__ import annotations

import asyncio
import inspect
from typing import TYPE_CHECKING, Any

import pytest

from metnos import Engine, TurnEndedEvent, TurnResumedEvent
from metnos.record.faults import RecordFault
from tests.engine.test_streaming import names
from tests.support.hosted import lines, plan, step

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.engine.conftest import Opens

WAYS = {
    "run": ("run_sync", "stream", "stream_sync"),
    "resume": ("resume_sync", "stream_resume", "stream_resume_sync"),
    "undo": ("undo_sync", "stream_undo", "stream_undo_sync"),
    "plan": ("plan_sync",),
}


def parameters(name: str) -> list[tuple[str, Any, Any, Any]]:
    found = inspect.signature(getattr(Engine, name)).parameters.values()
    return [(one.name, one.kind, one.default, one.annotation) for one in found]


@pytest.mark.parametrize("way", WAYS)
def test_all_take_the_same_and_each_is_there(way: str) -> None:
    for other in WAYS[way]:
        assert parameters(other) == parameters(way), other


def test_there_is_no_other_way() -> None:
    """Whoever adds one adds it to the table, and its twins."""
    found = {name for name in dir(Engine) if name.endswith("_sync") or name.startswith("stream")}
    assert found == {name for ways in WAYS.values() for name in ways}


@pytest.fixture(params=[False, True], ids=["sync", "async"])
def stream(request: pytest.FixtureRequest, opens: Opens) -> Callable[..., list[Any]]:
    """Read a stream of `opens()` to its end, by either twin."""

    def read(engine: Engine, way: str, *args: Any, **more: Any) -> list[Any]:
        if not request.param:
            return list(getattr(engine, f"{way}_sync")(*args, **more))

        async def collect() -> list[Any]:
            return [event async for event in getattr(engine, way)(*args, **more)]

        return asyncio.run(collect())

    return read


def test_a_turn_that_goes_on_as_a_stream(opens: Opens, folder: Path, stream: Callable[..., list[Any]]) -> None:
    engine = opens()
    waiting = engine.run_sync(plan=plan(step("append_line", path=str(folder / "x")), data=1))
    events = stream(engine, "stream_resume", waiting.turn, approve=[waiting.needs[0].id])
    assert names(events) == ["TurnResumed", "Need", "StepStarted", "StepFinished", "TurnEnded"]
    assert [event.seq for event in events] == [1, 2, 3, 4, 5]
    assert {event.turn for event in events} == {waiting.turn}
    assert isinstance(events[0], TurnResumedEvent)
    assert (events[-1].result.outcome, events[-1].result.data, lines(folder / "x")) == ("success", 1, 1)
    assert engine.verify(waiting.turn).ok


def test_a_turn_that_waits_on_says_so(opens: Opens, folder: Path, stream: Callable[..., list[Any]]) -> None:
    engine = opens()
    waiting = engine.run_sync(plan=plan(step("append_line", path=str(folder / "x"))))
    events = stream(engine, "stream_resume", waiting.turn)
    assert names(events) == ["TurnResumed", "Need", "TurnEnded"]
    assert (events[1].need,) == waiting.needs
    assert events[-1].result.needs == waiting.needs


def test_what_resume_raises_is_raised_at_the_first_event(
    opens: Opens, folder: Path, stream: Callable[..., list[Any]]
) -> None:
    engine = opens()
    closed = engine.run_sync(plan=plan(step("add_one", n=1))).turn
    with pytest.raises(RecordFault, match="turn-closed"):
        stream(engine, "stream_resume", closed)
    waiting = engine.run_sync(plan=plan(step("append_line", path=str(folder / "x"))))
    engine.stream_resume(waiting.turn)
    with engine.stream_resume_sync(waiting.turn, approve=["nothing"]) as events:
        with pytest.raises(Exception, match="no approval 'nothing'"):
            next(events)
        assert list(events) == []
        assert events.result is None
    assert engine.resume_sync(waiting.turn, approve=[waiting.needs[0].id]).ok, "no claim is left"


def agree(_asked: Any) -> bool:
    return True


def test_an_undo_as_a_stream(opens: Opens, folder: Path, stream: Callable[..., list[Any]]) -> None:
    engine = opens()
    done = engine.run_sync('write "hello" to x.txt', approve=agree)
    assert (folder / "x.txt").read_text() == "hello"
    events = stream(engine, "stream_undo", done.turn, approve=agree)
    assert names(events)[0] == "TurnOpened"
    assert isinstance(events[-1], TurnEndedEvent)
    assert events[-1].result.outcome == "success"
    assert not (folder / "x.txt").exists()
    assert names(stream(engine, "stream", plan=plan(step("add_one", n=1)), cache="off"))[-1] == "TurnEnded"


def test_a_stream_takes_the_cache_as_run_does(opens: Opens, stream: Callable[..., list[Any]]) -> None:
    asked: list[str] = []

    def propose(request: Any, _candidates: Any) -> dict[str, Any]:
        asked.append(request.text)
        return plan(step("add_one", n=2), data="${step1.n}")

    engine = opens(proposer=propose)
    for caching in ("use", "use", "off", "refresh"):
        events = stream(engine, "stream", "add one to the number 2 please", cache=caching)
        assert events[-1].result.data == 3
    assert len(asked) >= 2, "`off` and `refresh` have it proposed"
    before = len(asked)
    stream(engine, "stream", "add one to the number 2 please", cache="off")
    assert len(asked) == before + 1
