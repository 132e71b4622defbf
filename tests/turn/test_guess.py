"""A plan whose proposer is not sure: shown first, begun as it was shown, or not at all."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from metnos.policy.model import Allow
from metnos.sdk import Effect
from metnos.testing import simulation
from metnos.testing.simulation import Broken, Faults, Script, Simulation
from metnos.turn import commands as c
from metnos.turn import facts as f
from metnos.turn import inputs as i
from metnos.turn.guess import GO_ON, NO, YES
from metnos.turn.table import TURN, ProtocolError
from metnos.turn.turn import Machine
from tests.support.turns import FOLDER, Files, Play, failure, opened, plan, rules, step

BOTH = ["1.1", "1.2"]
READS = plan(step("list"), step("read", {"path": "a"}))
WRITES = plan(step("list"), step("put", {"path": "new", "content": "text"}))
LEARNS: Any = rules(policy=lambda _question: Allow(), learn=lambda _source, outcome: outcome == "success")


def proposed(given_plan: dict[str, Any] = READS, used: Any = None, **changed: Any) -> Play:
    play = Play(opened(request="Do it", **changed), used or rules())
    play.send(i.PlanMissed(reason="new"))
    play.send(i.PlanProposed(plan=given_plan, unsure=True))
    return play


def say(play: Play, word: str, by: Any = "local") -> None:
    play.send(i.DialogAnswered(dialog=play.asked(c.OpenDialog)[-1].dialog, answers={GO_ON: word}, by=by))


def test_it_is_accepted_and_shown_and_nothing_starts() -> None:
    play = proposed(WRITES)
    (accepted,) = play.told(f.PlanAccepted)
    (dialog,) = play.asked(c.OpenDialog)
    assert (dialog.dialog, dialog.guess.plan, dialog.guess.digest) == ("t1.dialog1", 1, accepted.digest)
    assert [(one.step, one.tool, one.effect) for one in dialog.guess.steps] == [
        ("1.1", "list", "read"),
        ("1.2", "put", "change"),
    ]
    assert dialog.guess.steps[1].args == {"path": "new", "content": "text"}
    assert (play.phase, play.started, play.machine.state.waiting) == ("suspended", [], ("t1.dialog1",))


@pytest.mark.parametrize("by", [UNSET, "local", "ada"])
def test_yes_begins_the_plan_and_its_effects_are_asked_for_as_ever(by: Any) -> None:
    play = proposed(WRITES, actor="ada")
    say(play, YES, by)
    assert play.started == ["1.1"]
    play.done("1.1", {"entries": []})
    assert [one.step for one in play.asked(c.AskApproval)] == ["1.2"]
    play.approve()
    play.done("1.2", {"path": "new", "content": "text"}, effects=(Effect(cls="change", target="new"),))
    play.compose()
    assert (play.ended.outcome, [one.plan for one in play.told(f.PlanAccepted)]) == ("success", [1])


def test_to_allow_effects_beforehand_answers_nothing_here() -> None:
    play = proposed(plan(step("make", {"path": "new"})), assume_yes=True)
    assert (play.phase, play.started) == ("suspended", [])
    say(play, YES)
    assert (play.started, play.asked(c.AskApproval)) == (["1.1"], [])


def test_no_ends_the_turn_with_nothing_run_and_nothing_learnt() -> None:
    play = proposed(used=LEARNS)
    say(play, NO)
    assert (play.ended.outcome, play.ended.code) == ("not_understood", "plan-declined")
    assert (play.started, play.asked(c.Learn), play.close.outcome) == ([], [], "not_understood")


def test_what_was_agreed_to_is_learned_once_it_succeeded() -> None:
    play = proposed(used=LEARNS)
    say(play, YES)
    play.done("1.1", {"entries": []})
    play.done("1.2", {"path": "a", "text": "x"})
    play.compose()
    (learn,) = play.asked(c.Learn)
    assert learn.plan_digest == play.told(f.PlanAccepted)[0].digest


@pytest.mark.parametrize("failed", [False, True])
def test_silence_is_what_it_is_for_every_dialog(failed: bool) -> None:
    play = proposed()
    if failed:
        play.send(i.CommandFailed(command="open_dialog", ref="t1.dialog1", error=failure()))
    else:
        play.send(i.DialogExpired(dialog="t1.dialog1"))
    assert (play.ended.outcome, play.ended.code) == ("user_aborted", "broken" if failed else "dialog-expired")
    assert play.started == []


def test_who_is_a_stranger_or_says_something_else_or_says_it_again_is_refused_and_changes_nothing() -> None:
    play = proposed()
    for answers, by in (({GO_ON: YES}, "eve"), ({GO_ON: "maybe"}, "local"), ({GO_ON: True}, "local"), ({}, "local")):
        with pytest.raises(ProtocolError):
            play.send(i.DialogAnswered(dialog="t1.dialog1", answers=answers, by=by))
        assert (play.phase, play.started) == ("suspended", [])
    with pytest.raises(ProtocolError, match="no dialog"):
        play.send(i.DialogAnswered(dialog="t1.dialog2", answers={GO_ON: YES}))
    say(play, YES)
    for word in (YES, NO):
        with pytest.raises(ProtocolError):
            say(play, word)
    assert play.started == BOTH


def test_cancelled_while_it_is_shown() -> None:
    play = proposed()
    play.send(i.Cancelled())
    assert (play.ended.outcome, play.started, set(play.skipped)) == ("cancelled", [], set(BOTH))


def test_after_a_crash_the_same_question_is_asked_again() -> None:
    play = proposed()
    play.send(i.TurnResumed())
    first, second = play.asked(c.OpenDialog)
    assert first == second
    say(play, YES)
    assert play.started == BOTH


@pytest.mark.parametrize("told", [UNSET, False])
def test_who_is_sure_is_not_asked_about(told: Any) -> None:
    play = Play(opened(request="Do it"))
    play.send(i.PlanMissed(reason="new"))
    play.send(i.PlanProposed(plan=READS, unsure=told))
    assert (play.started, play.asked(c.OpenDialog)) == (BOTH, [])


def test_a_plan_that_is_only_planned_is_handed_back() -> None:
    play = proposed(mode="plan")
    assert (play.ended.outcome, play.asked(c.OpenDialog), play.machine.state.plan.unsure) == ("success", [], True)


@pytest.mark.parametrize(
    ("bad", "outcome"), [(plan(step("send", {"path": "x"})), "policy_denied"), (plan(step("nothing")), "")]
)
def test_what_is_refused_anyway_is_not_shown(bad: dict[str, Any], outcome: str) -> None:
    play = proposed(bad)
    assert play.asked(c.OpenDialog) == []
    if outcome:
        assert play.ended.outcome == outcome
    else:
        assert play.asked(c.Propose)[-1].purpose == "repair"
        play.send(i.PlanProposed(plan=READS, unsure=True))
        assert play.asked(c.OpenDialog)[0].guess.plan == 2


def test_a_recovery_that_is_not_sure_is_given_up_and_the_failure_stands() -> None:
    play = Play(opened(request="Do it", budget=i.Budget(recoveries=1)), LEARNS)
    play.send(i.PlanMissed(reason="new"))
    play.send(i.PlanProposed(plan=READS))
    play.done("1.1", {"entries": []})
    play.fail("1.2", "data", "not-text")
    play.send(i.PlanProposed(plan=plan(step("peek")), unsure=True))
    assert [(one.by, one.diagnostics[0].code) for one in play.told(f.PlanRejected)] == [("recovery", "plan-unsure")]
    play.compose()
    assert (play.ended.outcome, play.ended.code, play.asked(c.OpenDialog)) == ("partial", "not-text", [])


def test_one_that_goes_on_is_shown_too_and_a_no_keeps_what_was_done() -> None:
    asks = plan(step("noop", {"x": 1}), end={"tool": "ask", "args": {"question": "Which?"}})
    play = Play(opened(asks, source="host", request="Do it"))
    play.done("1.1")
    play.send(i.DialogAnswered(dialog="t1.dialog1", answers={"answer": "a"}))
    play.send(i.PlanProposed(plan=plan(step("noop", {"x": "${INPUT:answer}"})), unsure=True))
    assert play.asked(c.OpenDialog)[1].guess.plan == 2
    say(play, NO)
    assert (play.ended.outcome, play.ended.code, play.started) == ("partial", "plan-declined", ["1.1"])


def test_resumed_under_another_tool_it_is_not_begun() -> None:
    from metnos.turn.table import ResumeRefused

    play = proposed()
    with pytest.raises(ResumeRefused):
        play.send(i.TurnResumed(versions={"list@1": "sha256:other"}))


def test_the_machine_of_before_reads_no_word_of_it() -> None:
    assert b"unsure" not in msgspec.json.encode(i.PlanProposed(plan=READS))
    assert b"by" not in msgspec.json.encode(i.DialogAnswered(dialog="d", answers={}))
    assert b"guess" not in msgspec.json.encode(c.OpenDialog(dialog="d"))


# --- under a driver that crashes and doubles ------------------------------------------------------------------------


def simulated(seed: int, faults: Faults, **script: Any) -> tuple[Any, Files]:
    world = Files({f"{FOLDER}/a": "1"})
    told = Script(proposals=(WRITES,), **script)
    run = Simulation(rules(), opened(request="Do it"), world, seed=seed, faults=faults, script=told).run()
    return run, world


@given(st.integers(0, 2**32), st.sampled_from([None, 0.0, 0.5, 1.0]))
def test_drawn_doubts_and_answers(seed: int, agrees: float | None) -> None:
    run, world = simulated(seed, Faults(crash=0.1, double=0.3, cancel=0.02), unsure=0.5, agrees=agrees)
    said = [item.answers[GO_ON] for item, _ in run.log if isinstance(item, i.DialogAnswered)]
    asked = any(isinstance(item, i.PlanProposed) and item.unsure is True for item, _ in run.log)
    if asked and YES not in said:
        assert run.outcome == ("cancelled" if run.outcome == "cancelled" else "not_understood" if said else "suspended")
        assert not [event for event in run.events if event.kind == "performed"] or run.crashes
    elif run.outcome != "cancelled":
        assert run.outcome == "success"
        assert world.contents[f"{FOLDER}/new"] == "text"
    machine = Machine(rules())
    for item, _ in run.log:
        before = machine.state.phase
        machine.receive(item)
        assert machine.state.phase in TURN[before][type(item)].to


def test_a_machine_that_begins_before_the_answer_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    from metnos.turn import guess, planning

    def hasty(turn: Any, made: Any) -> None:
        guess.show(turn, made)
        planning._begin(turn, made)

    monkeypatch.setattr(planning, "show", hasty)
    monkeypatch.setattr(simulation, "Machine", Machine)
    with pytest.raises(Broken, match="before a person has said yes"):
        simulated(1, Faults(), unsure=1.0, agrees=None)
