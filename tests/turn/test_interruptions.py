"""Cancelling, crashing, resuming, and effects whose end nobody knows."""

from __future__ import annotations

from typing import Any

import pytest

from metnos.sdk import Effect
from metnos.turn import commands as c
from metnos.turn import facts as f
from metnos.turn import inputs as i
from metnos.turn.turn import ProtocolError, ResumeRefused
from tests.support.turns import Play, failure, opened, plan, step

WRITTEN = {"path": "a", "content": None}


def writing(tool: str, *more: dict[str, Any], **changed: Any) -> Play:
    """A turn in which step 1 has been announced and may have changed the outside."""
    play = Play(opened(plan(step(tool, {"path": "a"}), *more), **changed))
    play.approve()
    play.begin("1.1")
    return play


# --- cancelled ---------------------------------------------------------------------------------------------------


def test_cancelling_stops_what_runs_and_keeps_what_was_done() -> None:
    play = Play(opened(plan(step("noop", {"x": 1}), step("noop", {"x": 2}), step("noop", {"x": "${step2.v}"}))))
    play.done("1.1", {"v": 5})
    play.begin("1.2")
    play.send(i.Cancelled(by="ada"))
    assert play.asked(c.StopStep) == [c.StopStep(step="1.2")]
    assert (play.phase, play.skipped) == ("stopping", {"1.3": "stopped"})
    play.send(i.Cancelled())
    assert play.last.commands == ()
    play.send(i.StepStopped(step="1.2"))
    assert (play.ended.outcome, play.ended.detail) == ("cancelled", "ada")
    assert play.machine.state.steps[0].value.data == {"v": 5}
    assert play.states == {"1.1": "done", "1.2": "stopped", "1.3": "skipped"}


def test_a_step_that_ends_before_it_can_be_stopped_is_done() -> None:
    play = Play(opened(plan(step("noop", {"x": 1}))))
    play.begin("1.1")
    play.send(i.Cancelled())
    play.send(i.CommandFailed(command="stop_step", ref="1.1", error=failure()))
    play.done("1.1")
    assert (play.states["1.1"], play.close.outcome) == ("done", "cancelled")


def test_a_step_that_was_not_announced_is_stopped_too() -> None:
    play = Play(opened(plan(step("noop", {"x": 1}))))
    play.send(i.Cancelled())
    play.send(i.StepStopped(step="1.1"))
    assert play.close.outcome == "cancelled"


@pytest.mark.parametrize("phase", ["looking_up", "proposing", "suspended", "dialog", "composing"])
def test_cancelling_where_no_step_runs_closes_at_once(phase: str) -> None:
    if phase == "suspended":
        play = Play(opened(plan(step("write", {"path": "a"}))))
    elif phase == "dialog":
        play = Play(opened(plan(end={"tool": "ask", "args": {"question": "Why?"}})))
    elif phase == "composing":
        play = Play(opened(plan()))
    else:
        play = Play(opened(request="Do it"))
        if phase == "proposing":
            play.send(i.PlanMissed(reason="new"))
    assert play.phase == ("suspended" if phase == "dialog" else phase)
    play.send(i.Cancelled())
    assert play.close.outcome == "cancelled"


def test_items_that_have_not_started_are_dropped() -> None:
    play = Play(opened(plan(step("save", {"path": "a", "content": "${item}"}, for_each=[1, 2, 3]))))
    play.approve()
    play.begin("1.1.1")
    play.send(i.Cancelled())
    play.send(i.StepStopped(step="1.1.1", effects=(Effect(cls="change", target="/home/ada/a"),)))
    assert (play.states["1.1"], play.close.outcome) == ("stopped", "cancelled")
    assert [effect.target for effect in play.machine.state.effects] == ["/home/ada/a"]


def test_stopping_a_step_that_does_not_run_cannot_fail() -> None:
    play = Play(opened(plan(step("noop", {"x": 1}))))
    with pytest.raises(ProtocolError, match="is not running"):
        play.send(i.CommandFailed(command="stop_step", ref="1.7", error=failure()))
    with pytest.raises(ProtocolError, match="no command `close`"):
        play.send(i.CommandFailed(command="close", error=failure()))


def test_a_step_that_could_not_be_started_has_failed() -> None:
    play = Play(opened(plan(step("noop", {"x": 1}))))
    play.send(i.CommandFailed(command="start_step", ref="1.1", error=failure("unavailable", "no-worker")))
    assert (play.close.outcome, play.ended.code) == ("error", "no-worker")


# --- effects of which nobody knows the end -------------------------------------------------------------------------


@pytest.mark.parametrize("cls", ["crashed", "timeout", "memory"])
def test_a_broken_off_effect_is_unknown_not_failed(cls: Any) -> None:
    play = writing("write", step("noop", {"x": 1}))
    play.fail("1.1", cls)
    assert play.told(f.StepUnknown) == [f.StepUnknown(step="1.1", operation=play.starts["1.1"].operation)]
    play.done("1.2")
    assert (play.ended.outcome, play.ended.detail) == ("effect_unknown", "1.1")
    assert play.states == {"1.1": "unknown", "1.2": "done"}


def test_an_effect_that_failed_cleanly_or_never_began_has_failed() -> None:
    play = writing("write")
    play.fail("1.1", "conflict")
    assert play.close.outcome == "error"
    play = Play(opened(plan(step("write", {"path": "a"}))))
    play.approve()
    play.send(i.StepFailed(step="1.1", error=failure("crashed")))
    assert play.close.outcome == "error"


def test_a_broken_off_idempotent_effect_has_failed() -> None:
    play = writing("save")
    play.fail("1.1", "timeout")
    assert play.close.outcome == "error"


@pytest.mark.parametrize(
    ("found", "state", "outcome"),
    [
        ("done", "done", "success"),
        ("absent", "failed", "error"),
        ("unknown", "unknown", "effect_unknown"),
    ],
)
def test_a_broken_off_effect_with_a_probe_is_probed(found: Any, state: str, outcome: str) -> None:
    play = writing("put")
    play.fail("1.1", "crashed")
    assert play.asked(c.ProbeEffect) == [
        c.ProbeEffect(step="1.1", operation=play.starts["1.1"].operation, executor="put@1", args={"path": "a"})
    ]
    with pytest.raises(ProtocolError, match="is not running"):
        play.send(i.StepFinished(step="1.1", data={}))
    play.send(i.EffectProbed(step="1.1", found=found, data=WRITTEN))
    assert play.states["1.1"] == state
    if found == "done":
        play.compose()
    assert play.close.outcome == outcome


def test_a_probe_that_fails_leaves_it_unknown() -> None:
    play = writing("put")
    play.fail("1.1", "crashed")
    play.send(i.CommandFailed(command="probe_effect", ref="1.1", error=failure()))
    assert play.close.outcome == "effect_unknown"


def test_unknown_outranks_cancelled() -> None:
    play = writing("write")
    play.send(i.Cancelled())
    play.send(i.StepStopped(step="1.1"))
    assert play.close.outcome == "effect_unknown"


def test_a_cancelled_effect_is_probed_and_not_run_again() -> None:
    play = writing("put")
    play.send(i.Cancelled())
    play.send(i.StepStopped(step="1.1"))
    assert play.phase == "stopping"
    play.send(i.TurnResumed())
    assert len(play.asked(c.ProbeEffect)) == 2
    play.send(i.EffectProbed(step="1.1", found="absent"))
    assert (play.states["1.1"], play.close.outcome) == ("stopped", "cancelled")
    assert play.started == ["1.1"]


def test_an_unknown_item_makes_its_step_unknown() -> None:
    play = Play(opened(plan(step("write", {"path": "${item}"}, for_each=["a", "b"]))))
    play.approve()
    play.fail("1.1.2", "crashed")
    play.done("1.1.1", WRITTEN)
    assert (play.states["1.1"], play.ended.detail) == ("unknown", "1.1.2")


# --- resumed -----------------------------------------------------------------------------------------------------


def test_a_read_in_flight_is_run_again_under_the_same_operation() -> None:
    play = Play(opened(plan(step("noop", {"x": 1}), step("noop", {"x": 2}))))
    play.begin("1.1")
    play.send(i.TurnResumed())
    assert play.last.facts == (f.StepUnknown(step="1.1", operation=play.starts["1.1"].operation),)
    assert play.last.commands == (play.asked(c.StartStep)[0], play.asked(c.StartStep)[1])
    play.done("1.1")
    play.done("1.2")
    assert play.asked(c.Compose)[0].outcome == "success"


def test_an_idempotent_effect_is_run_again_under_the_same_operation() -> None:
    play = writing("save")
    play.send(i.TurnResumed())
    play.send(i.TurnResumed())
    assert len({start.operation for start in play.asked(c.StartStep)}) == 1
    assert len(play.started) == 3
    play.done("1.1", WRITTEN)
    play.compose()
    assert play.close.outcome == "success"


def test_an_effect_that_was_asked_for_and_not_announced_is_asked_for_again() -> None:
    play = Play(opened(plan(step("write", {"path": "a"}))))
    play.approve()
    play.send(i.TurnResumed())
    assert play.told(f.StepUnknown) == []
    assert play.started == ["1.1", "1.1"]


def test_an_effect_that_can_be_neither_repeated_nor_probed_is_unknown() -> None:
    play = writing("write", step("noop", {"x": "${step1.path}"}))
    play.send(i.TurnResumed())
    assert play.close.outcome == "effect_unknown"
    assert play.started == ["1.1"]


@pytest.mark.parametrize("found", ["done", "absent"])
def test_an_effect_with_a_probe_goes_on_from_what_the_probe_finds(found: Any) -> None:
    play = writing("put")
    play.send(i.TurnResumed())
    play.send(i.EffectProbed(step="1.1", found=found, data=WRITTEN))
    if found == "absent":
        assert play.started == ["1.1", "1.1"]
        play.done("1.1", WRITTEN)
    play.compose()
    assert play.close.outcome == "success"


def test_a_suspended_turn_asks_again_and_goes_on() -> None:
    play = Play(opened(plan(step("write", {"path": "a"}))))
    play.send(i.TurnResumed())
    assert play.last.commands == (play.asked(c.AskApproval)[0],)
    assert play.last.facts == (f.TurnSuspended(waiting=("t1.1.1",), ticket="t1.2"),)
    play.approve()
    assert play.started == ["1.1"]
    play = Play(opened(plan(end={"tool": "ask", "args": {"question": "Why?"}})))
    play.send(i.TurnResumed())
    assert play.asked(c.OpenDialog)[0] == play.asked(c.OpenDialog)[1]
    assert play.phase == "suspended"


@pytest.mark.parametrize("missed", [True, False])
def test_what_was_open_is_asked_again(missed: bool) -> None:
    play = Play(opened(request="Do it"))
    if missed:
        play.send(i.PlanMissed(reason="new"))
    before = play.last.commands
    play.send(i.TurnResumed())
    assert play.last.commands == before


def test_fillers_and_composing_are_asked_again() -> None:
    fillers = {"t": {"prompt": "A title", "schema": {"type": "string"}}}
    play = Play(opened(plan(step("noop", {"x": "${FILLER:t}"}), fillers=fillers)))
    play.send(i.TurnResumed())
    play.send(i.FillerResolved(name="t", value="x"))
    play.done("1.1")
    before = play.last.commands
    play.send(i.TurnResumed())
    assert play.last.commands == before
    assert play.phase == "composing"


def test_nothing_starts_again_in_a_turn_that_was_stopping() -> None:
    play = Play(opened(plan(step("noop", {"x": 1}), step("noop", {"x": 2}))))
    play.begin("1.1")
    play.send(i.Cancelled())
    play.send(i.TurnResumed())
    assert play.states == {"1.1": "stopped", "1.2": "stopped"}
    assert play.close.outcome == "cancelled"


def test_after_a_failure_only_what_was_running_is_run_again() -> None:
    play = Play(opened(plan(step("noop", {"x": 1}), step("noop", {"x": 2}), step("noop", {"x": 3}))))
    play.begin("1.1")
    play.fail("1.3")
    play.send(i.TurnResumed())
    assert play.states["1.2"] == "stopped"
    assert play.started[3:] == ["1.1"]
    play.done("1.1")
    assert play.asked(c.Compose)[0].outcome == "partial"


@pytest.mark.parametrize(
    ("name", "recorded"), [("rules", "sha256:r"), ("policy", "sha256:p"), ("noop@1", "sha256:noop")]
)
def test_another_version_of_what_the_turn_needs_is_refused_by_name(name: str, recorded: str) -> None:
    play = Play(
        opened(plan(step("noop", {"x": 1})), versions={"rules": "sha256:r", "policy": "sha256:p", "metnos": "1"})
    )
    at = play.machine.state.at
    with pytest.raises(ResumeRefused, match=name) as caught:
        play.send(i.TurnResumed(at=9, versions={"metnos": "2", name: "sha256:other"}))
    assert (caught.value.name, caught.value.recorded, caught.value.found) == (name, recorded, "sha256:other")
    assert play.machine.state.at == at
    play.send(i.TurnResumed(versions={name: recorded, "another@1": "sha256:x"}))
    play.done("1.1")


def test_the_strongest_verdict_wins_whichever_comes_first() -> None:
    play = writing("write", step("noop", {"x": 1}))
    play.fail("1.1", "crashed")
    play.send(i.Cancelled())
    play.send(i.StepStopped(step="1.2"))
    assert (play.ended.outcome, play.ended.detail) == ("effect_unknown", "1.1")
