"""Steps whose service is down for a while: tried again by the live driver, stopped, killed, resumed."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Any

import pytest

from metnos.turn import retry
from tests.support.crashing import Crashes
from tests.support.hosted import lines, plan, step

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.engine.conftest import Opens


def down(path: Path, times: int) -> str:
    path.with_name(f"{path.name}.down").write_text(str(times))
    return str(path)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retry, "FIRST_US", 1_000)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("tool", ["append_flaky", "count_flaky"])
def test_a_service_that_comes_back_is_waited_for(opens: Opens, folder: Path, tool: str) -> None:
    path = down(folder / "log", 2)
    engine = opens()
    result = engine.run_sync(plan=plan(step(tool, path=path)), assume_yes=True)
    assert result.outcome == "success", result
    assert lines(folder / "log") == (tool == "append_flaky")
    view = engine.read_turn(result.turn)
    assert [(line.step, line.state, line.tries) for line in view.steps] == [("1.1", "done", 3)]
    assert engine.replay(result.turn).status == "identical"
    assert engine.verify(result.turn).ok


@pytest.mark.usefixtures("quick")
def test_one_that_does_not_is_told_in_the_end(opens: Opens, folder: Path) -> None:
    path = down(folder / "log", 9)
    engine = opens(memory=True)
    result = engine.run_sync(plan=plan(step("count_flaky", path=path)))
    assert (result.outcome, result.code, result.error_class) == ("error", "foreign-unreachable", "operational")
    assert (folder / "log.down").read_text() == "6"
    assert "it is down" in result.answer


def test_a_setting_says_how_often(opens: Opens, folder: Path, home: Path) -> None:
    home.mkdir()
    (home / "settings.toml").write_text("tries = 1\n")
    path = down(folder / "log", 1)
    assert opens().run_sync(plan=plan(step("count_flaky", path=path))).outcome == "error"


@pytest.mark.usefixtures("quick")
def test_it_is_streamed_like_the_rest(opens: Opens, folder: Path) -> None:
    path = down(folder / "log", 1)
    with opens(memory=True).stream_sync(plan=plan(step("count_flaky", path=path))) as events:
        names = [type(event).__name__ for event in events]
    assert names.count("StepStartedEvent") == 2
    assert names[-1] == "TurnEndedEvent"


def test_a_turn_that_is_cancelled_does_not_wait(opens: Opens, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retry, "FIRST_US", 3_600_000_000)
    monkeypatch.setattr(retry, "LONGEST_US", 3_600_000_000)
    path = down(folder / "log", 1)
    engine = opens()

    async def main() -> None:
        running = asyncio.ensure_future(engine.run(plan=plan(step("count_flaky", path=path))))
        while not (folder / "log.down").exists() or (folder / "log.down").read_text() != "0":
            await asyncio.sleep(0.01)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(main())
    (turn,) = engine.turns(1)
    assert turn.outcome == "cancelled"


# --- kill -9 ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def server() -> Iterator[Crashes]:
    with Crashes() as one:
        yield one


@pytest.mark.kill
@pytest.mark.skipif(sys.platform == "win32", reason="no fork")
@pytest.mark.parametrize(
    "die",
    [
        ("before-intent", 2), ("intent-committed", 2), ("effect-done", 1), ("effect-done", 2),
        ("outcome-recorded", 1), ("outcome-recorded", 2),
    ],
    ids=str,
)  # fmt: skip
def test_killed_between_its_tries_it_is_still_one_operation(
    server: Crashes, opens: Opens, folder: Path, home: Path, die: Any
) -> None:
    path = down(folder / "log", 1)
    assert server.at(home, folder).run(plan(step("append_flaky", path=path)), die=die) == -9
    engine = opens()
    (turn,) = engine.turns(1)
    result = engine.resume_sync(turn.turn)
    assert result.outcome == "success", result
    assert lines(folder / "log") >= 1
    assert {line.operation for line in engine.read_turn(turn.turn).steps} == {
        engine.read_turn(turn.turn).steps[0].operation
    }
    assert engine.replay(turn.turn).status == "identical"
