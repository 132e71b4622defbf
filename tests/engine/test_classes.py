"""The class of an error as a host sees it; what is operational is never hidden, and nothing is claimed that was not done."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from metnos import Effect, Engine, Result, executor
from tests.engine.conftest import Opens
from tests.support.hosted import plan, step


@executor(version="1.0.0", effect="read", description="Looks at a service that answers as it is told.", resources=())
def look(cls: str, code: str) -> Result:
    return Result.failed(cls, code, "it says no")  # pyright: ignore[reportArgumentType]


@executor(version="1.0.0", effect="read", description="Another one that would do as well.", resources=())
def look_elsewhere() -> dict[str, int]:
    return {"n": 1}


@executor(version="1.0.0", effect="delete", description="Finds nothing to delete.", resources=())
def sweep() -> Result:
    return Result.done({"deleted": 3}, counters={"deleted": 0})


@executor(version="1.0.0", effect="change", description="Writes what is there already.", resources=())
def write_again() -> Result:
    digest = "sha256:" + "a" * 64
    return Result.done({"ok": True}, effects=(Effect(cls="change", target="notes.txt", before=digest, after=digest),))


@pytest.mark.parametrize(
    ("cls", "code", "expected"),
    [
        ("operational", "rate-limit", "operational"),
        ("unavailable", "service-down", "operational"),
        ("operational", "no-space", "operational"),
        ("timeout", "too-slow", "operational"),
        ("arguments", "odd", "wrong-arguments"),
        ("missing", "not-found", "wrong-arguments"),
        ("denied", "outside-roots", "out-of-scope"),
        ("conflict", "exists", "missing-input"),
    ],
)
def test_a_failed_step_gives_turn_step_and_log_their_class(opens: Opens, cls: str, code: str, expected: str) -> None:
    engine = opens(shipped=False, executors=[look])
    result = engine.run_sync(plan=plan(step("look", cls=cls, code=code)))
    assert (result.outcome, result.code, result.error_class) == ("error", code, expected)
    assert [one.error_class for one in result.steps] == [expected]
    view = engine.read_turn(result.turn)
    assert (view.error_class, view.steps[0].error_class) == (expected, expected)


def test_what_is_operational_is_told_and_no_other_tool_is_tried(opens: Opens) -> None:
    """A proposer that would gladly name another tool is not asked again; what was found before is kept."""
    asked: list[Any] = []

    def propose(command: Any, _candidates: Any) -> dict[str, Any]:
        asked.append(command)
        if len(asked) > 1:
            return plan(step("look_elsewhere"))
        return plan(step("look_elsewhere"), step("look", cls="unavailable", code="service-down"))

    engine = opens(memory=True, shipped=False, executors=[look, look_elsewhere], proposer=propose)
    result = engine.run_sync("fold the laundry, please")
    assert (result.outcome, result.code, result.error_class) == ("partial", "service-down", "operational")
    assert [one.status for one in result.steps] == ["done", "failed"]
    assert len(asked) == 1
    assert "it says no" in result.answer


def test_outcomes_have_their_class(opens: Opens, folder: Path) -> None:
    engine = opens(memory=True)
    assert engine.run_sync("count the files here").error_class == ""
    refused = engine.run_sync(plan=plan(step("send_message", to="x")))
    assert (refused.outcome, refused.error_class) == ("policy_denied", "out-of-scope")
    assert engine.run_sync("fold the laundry, please").error_class == "out-of-scope"
    assert engine.run_sync(plan=plan(step("no_such_tool"))).error_class == "wrong-tool"
    assert engine.run_sync(plan=b"[]").error_class == "wrong-arguments"
    no = engine.run_sync('write "x" to new.txt', approve=lambda _asked: False)
    assert (no.outcome, no.error_class) == ("user_aborted", "")
    waiting = engine.run_sync('write "x" to new.txt')
    assert (waiting.status, waiting.error_class) == ("suspended", "")
    planned = engine.plan_sync("fold the laundry, please")
    assert getattr(planned, "error_class", None) == "out-of-scope"


def own(*steps: dict[str, Any], text: str) -> dict[str, Any]:
    return plan(*steps, text=text)


def test_an_answer_of_the_plans_own_cannot_claim_what_was_not_done(opens: Opens) -> None:
    engine = opens(memory=True, shipped=False, executors=[sweep, look_elsewhere], approve=lambda _asked: True)
    result = engine.run_sync(plan=own(step("sweep"), text="I deleted 3 files."))
    assert result.effects == ()
    assert result.notes == ("Step 1.1 (sweep) changed nothing.",)
    composed = engine.run_sync(plan=plan(step("sweep")))
    assert "Step 1.1 (sweep) changed nothing." in composed.answer
    assert "Deleted" not in composed.answer


def test_a_step_that_was_passed_over_is_told_beside_a_claim(light: Engine, folder: Path) -> None:
    steps = [
        step("list_numbers", count=0),
        step("append_line", path=str(folder / "x.txt")) | {"when": {"nonempty": 1}},
    ]
    result = light.run_sync(plan=own(*steps, text="A line was added."), approve=lambda _asked: True)
    assert (result.outcome, result.effects) == ("success", ())
    assert result.notes == ("Step 1.2 (append_line) changed nothing.",)
    assert not (folder / "x.txt").exists()


def test_an_effect_that_left_everything_as_it_was_is_told_so(opens: Opens) -> None:
    engine = opens(memory=True, shipped=False, executors=[write_again], approve=lambda _asked: True)
    answer = engine.run_sync(plan=plan(step("write_again"))).answer
    assert "Left as it was: notes.txt" in answer
    assert "Changed" not in answer
