"""The scripted proposer, the fake clock and stand-ins, as an outside test uses them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from metnos import Effect, Engine, Failure, Result
from metnos.testing import FakeClock, ScriptedProposer, StandIns
from tests.support.hosted import add_one, plan, step

if TYPE_CHECKING:
    from pathlib import Path

GOOD = plan(step("add_one", n=1), data="${step1.n}")
SAYING = "fold the laundry, please"


def engine(tmp_path: Path, **more: Any) -> Engine:
    settings = {"home": tmp_path / "home", "folder": tmp_path, "memory": True, "zone": "UTC"}
    return Engine.open(**(settings | {"shipped": False, "executors": [add_one]} | more))


# --- the proposer -------------------------------------------------------------------------------------------------------


def test_it_says_what_was_enqueued_and_keeps_what_it_was_asked(tmp_path: Path) -> None:
    proposer = ScriptedProposer(plan(step("add_one", m=1))).enqueue(GOOD)
    with pytest.raises(AssertionError, match="2 answers are left"):
        proposer.assert_done()
    with engine(tmp_path, proposer=proposer) as one:
        result = one.run_sync(SAYING)
    assert (result.outcome, result.data) == ("success", 2)
    proposer.assert_done()
    first, repair = proposer.asked
    assert [one.request.purpose for one in proposer.asked] == ["first", "repair"]
    assert {fault.code for fault in repair.request.diagnostics} == {"unknown-argument", "missing-argument"}
    assert "add_one" in {contract.name for contract in first.candidates}


def test_a_callable_is_asked_and_may_be_awaited(tmp_path: Path) -> None:
    async def later(_request: Any, _candidates: Any) -> Any:
        await asyncio.sleep(0)
        return GOOD

    proposer = ScriptedProposer(lambda request, candidates: GOOD, later)
    with engine(tmp_path, proposer=proposer) as one:
        for _ in range(2):
            assert one.run_sync(SAYING, cache="off").data == 2
    proposer.assert_done()


@pytest.mark.parametrize("raised", [ConnectionError("no route"), TimeoutError])
def test_an_exception_is_raised(tmp_path: Path, raised: Any) -> None:
    with engine(tmp_path, proposer=ScriptedProposer(raised)) as one:
        result = one.run_sync(SAYING)
    assert (result.outcome, result.code) == ("not_understood", "proposer-failed")


def test_where_nothing_is_left_to_say_the_turn_and_the_test_fail(tmp_path: Path) -> None:
    proposer = ScriptedProposer()
    proposer.assert_done()
    with engine(tmp_path, proposer=proposer) as one:
        result = one.run_sync(SAYING)
    assert (result.outcome, result.code) == ("error", "proposer-failed")
    assert "nothing was enqueued" in result.detail
    with pytest.raises(AssertionError, match="asked 1 times, 1 of them without"):
        proposer.assert_done()


# --- the clock ----------------------------------------------------------------------------------------------------------


def test_a_clock_goes_when_it_is_told_to(tmp_path: Path) -> None:
    clock = FakeClock("2026-11-30T12:00:00+01:00")
    assert clock() == 1_796_036_400_000_001
    clock.advance(-1)
    assert clock() == 1_796_036_399_000_002
    still = FakeClock("2026-01-01T00:00:00+00:00", tick=0)
    assert still() == still() == 1_767_225_600_000_000
    for bad in ("2026-11-30T12:00:00", "yesterday"):
        with pytest.raises(ValueError, match=bad):
            still.set(bad)


def test_a_turn_is_at_the_clocks_time_and_an_approval_expires_by_it(tmp_path: Path) -> None:
    clock = FakeClock()
    with engine(tmp_path) as real:
        world = StandIns(real.catalog)
        world.answer("add_one", {"n": 2})
    with engine(tmp_path, clock=clock, executors=world.executors()) as one:
        clock.set("2026-11-30T12:00:00+01:00")
        turn = one.run_sync(plan=GOOD).turn
        assert turn.startswith("20261130-110000-")
        assert one.read_turn(turn).outcome == "success"


# --- stand-ins ----------------------------------------------------------------------------------------------------------

ENTRY = {"path": "big.bin", "name": "big.bin", "ext": ".bin", "size": 5, "modified": "2026-11-30T12:00:00Z"}


@pytest.fixture
def world(tmp_path: Path) -> StandIns:
    with Engine.open(tmp_path / "home", memory=True) as real:
        return StandIns(real.catalog)


def test_a_plan_for_real_tools_runs_on_their_stand_ins(tmp_path: Path, world: StandIns) -> None:
    found = {"entries": [ENTRY, ENTRY | {"path": "s"}], "count": 2}
    world.answer("find_files", found)
    world.answer(
        "write_files",
        lambda args: Result.done(
            {"path": args["path"], "bytes": len(args["content"]), "digest": "sha256:" + "0" * 64},
            effects=(Effect(cls="create", target=args["path"]),),
        ),
    )
    with engine(tmp_path, executors=world.executors()) as one:
        given = plan(step("find_files"), step("write_files", path="x.txt", content="${step1.count} files"))
        result = one.run_sync(plan=given, assume_yes=True)
        assert result.outcome == "success", result
        assert one.replay(result.turn).status == "identical"
    assert [(call.tool, call.args.get("content")) for call in world.calls] == [
        ("find_files", None),
        ("write_files", "2 files"),
    ]
    assert len({call.operation for call in world.calls}) == 2
    assert [effect.target for effect in result.effects] == ["x.txt"]
    assert not (tmp_path / "x.txt").exists()


def test_a_stand_in_fails_as_it_is_told_and_cannot_answer_what_the_tool_could_not(
    tmp_path: Path, world: StandIns
) -> None:
    error = Failure(cls="denied", code="no-permission", message="no")
    world.answer(
        "find_files", Result(ok=False, error=error), OSError("gone"), {"entries": 5}, {"entries": [], "count": 0}
    )
    codes: list[str] = []
    with engine(tmp_path, executors=world.executors()) as one:
        for _ in range(5):
            result = one.run_sync(plan=plan(step("find_files")))
            codes.append(result.code if result.outcome != "success" else "success")
    assert codes[0] == "no-permission"
    assert codes[2] == "result-schema"
    assert codes[3:] == ["success", "success"]
    assert "success" not in codes[:3]


def test_only_tools_of_the_catalog_have_stand_ins(world: StandIns) -> None:
    with pytest.raises(KeyError, match="fold_laundry"):
        world.answer("fold_laundry", {})
    with pytest.raises(ValueError, match="find_files"):
        world.answer("find_files")
    assert world.executors() == ()
