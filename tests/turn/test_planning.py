"""From a request or a plan to an accepted one, and every way not to get there."""

from __future__ import annotations

from typing import Any

import pytest

from metnos.checks.model import CheckContext, Checked, Guarded, Refuse, Repropose, Rewritten
from metnos.plan.diagnostics import Diagnostic
from metnos.plan.write import to_json
from metnos.policy.model import Allow, AskUser, Deny
from metnos.turn import commands as c
from metnos.turn import facts as f
from metnos.turn import inputs as i
from metnos.turn.turn import ProtocolError
from tests.support.turns import VALIDATOR, Play, failure, opened, plan, rules, step

GOOD = plan(step("noop", {"x": 1}))
UNKNOWN = plan(step("no_such_tool"))
WRONG = plan(step("noop", {"y": 1}))
FAULT = Diagnostic(code="bad-value", where="/steps/0")


def asked(**changed: Any) -> Play:
    return Play(opened(request="Do it", **changed))


def missed(**changed: Any) -> Play:
    play = asked(**changed)
    play.send(i.PlanMissed(reason="new"))
    return play


def guarded(finding: Any, *, once: bool = False) -> Any:
    """Rules whose guard finds `finding`; with `once` in the first plan only."""
    left = [finding]

    def guard(checked: Checked, _context: CheckContext) -> Guarded:
        found = tuple(left)
        if once:
            left.clear()
        return Guarded(checked=checked, findings=found)

    return rules(guard=guard)


# --- where plans come from ---------------------------------------------------------------------------------------


def test_a_request_is_looked_up_in_its_normal_form() -> None:
    play = asked(language="it")
    assert play.commands == [c.LookUpPlan(request="Do it", language="it", normal_form="do it")]
    assert play.phase == "looking_up"


def test_a_found_plan_is_accepted_with_its_entry_and_origins() -> None:
    play = asked()
    play.send(i.PlanFound(plan=GOOD, source="template", entry="e@sha256:1", origins={"/steps/0/args/x": "user"}))
    accepted = play.told(f.PlanAccepted)[0]
    assert (accepted.plan, accepted.executors, accepted.body) == (1, {"noop@1": "sha256:noop"}, {})
    assert accepted.digest == play.machine.state.plan.checked.digest
    assert (play.machine.state.plan.source, play.machine.state.plan.entry) == ("template", "e@sha256:1")
    play.done("1.1")
    assert play.machine.state.steps[0].value.sources == {"user", "local"}


def test_the_accepted_body_is_recorded_where_it_differs_from_what_came() -> None:
    written = plan(step("noop", {"x": 1}, id="first"), step("noop", {"x": "${first.v}"}))
    accepted = Play(opened(written)).told(f.PlanAccepted)[0]
    assert accepted.body["steps"][1]["args"] == {"x": "${step1.v}"}


def test_a_miss_asks_the_proposer() -> None:
    play = missed()
    assert play.asked(c.Propose) == [c.Propose(request="Do it", language="en")]
    play.send(i.PlanProposed(plan=GOOD))
    assert play.started == ["1.1"]
    assert play.machine.state.plan.source == "model"


def test_a_look_up_that_fails_is_a_miss() -> None:
    play = asked()
    play.send(i.CommandFailed(command="look_up_plan", error=failure()))
    assert play.phase == "proposing"


def test_a_turn_needs_a_request_or_a_plan() -> None:
    with pytest.raises(ProtocolError, match="a request or a plan"):
        Play(opened())


def test_a_hosts_plan_may_come_with_a_request() -> None:
    seen: list[CheckContext] = []

    def validate(given: Any, context: CheckContext) -> Checked:
        seen.append(context)
        return VALIDATOR(given, context)

    Play(opened(GOOD, request="Do it", source="host"), rules(validate=validate))
    assert (seen[0].source, seen[0].request.text) == ("host", "Do it")
    Play(opened(GOOD, source="an importer"), rules(validate=validate))
    assert seen[1].source == "model"


def test_mode_plan_stops_after_the_forecast() -> None:
    play = Play(opened(plan(step("write", {"path": "a"})), mode="plan"))
    assert play.close == c.Close(outcome="success")
    assert play.started == []
    assert [(fact.step, fact.forecast, type(fact.verdict)) for fact in play.told(f.PolicyDecided)] == [
        ("1.1", True, AskUser)
    ]


# --- rejected ----------------------------------------------------------------------------------------------------


def test_a_given_plan_is_not_repaired() -> None:
    play = Play(opened(WRONG))
    rejected = play.told(f.PlanRejected)[0]
    assert rejected.by == "validator"
    assert play.ended == f.TurnClosed(
        outcome="plan_rejected", code=rejected.diagnostics[0].code, detail=rejected.diagnostics[0].where
    )
    assert Play(opened(UNKNOWN)).close.outcome == "plan_rejected"


def test_a_rejected_found_plan_is_a_miss() -> None:
    play = asked()
    play.send(i.PlanFound(plan=WRONG, source="cache", entry="e"))
    assert play.asked(c.Propose)[0].purpose == "first"
    play.send(i.PlanProposed(plan=GOOD))
    assert play.started == ["2.1"]


def test_a_rejected_found_plan_is_the_answer_where_nobody_can_propose() -> None:
    play = asked()
    play.send(i.PlanFound(plan=WRONG, source="template", entry="e"))
    play.send(i.CommandFailed(command="propose", error=failure("unavailable", "no-model")))
    assert (play.ended.outcome, play.ended.code) == ("plan_rejected", play.told(f.PlanRejected)[0].diagnostics[0].code)


def test_a_proposed_plan_is_repaired_once() -> None:
    play = missed()
    play.send(i.PlanProposed(plan=WRONG))
    repair = play.asked(c.Propose)[1]
    assert (repair.purpose, repair.plan, repair.diagnostics) == (
        "repair",
        WRONG,
        play.told(f.PlanRejected)[0].diagnostics,
    )
    play.send(i.PlanProposed(plan=WRONG))
    assert play.close.outcome == "plan_rejected"
    assert len(play.asked(c.Propose)) == 2


def test_a_tool_that_does_not_exist_twice_is_a_hallucination() -> None:
    for second, outcome in ((UNKNOWN, "tool_hallucination"), (WRONG, "plan_rejected")):
        play = missed()
        play.send(i.PlanProposed(plan=UNKNOWN))
        play.send(i.PlanProposed(plan=second))
        assert play.close.outcome == outcome


def test_a_repair_that_nobody_makes_leaves_the_rejection() -> None:
    play = missed()
    play.send(i.PlanProposed(plan=WRONG))
    play.send(i.CommandFailed(command="propose", error=failure("unavailable")))
    assert play.close.outcome == "plan_rejected"


def test_nobody_proposes() -> None:
    play = missed()
    play.send(i.CommandFailed(command="propose", error=failure("unavailable", "no-model")))
    assert (play.ended.outcome, play.ended.code) == ("not_understood", "no-model")
    play = missed()
    play.send(i.CommandFailed(command="propose", error=failure("timeout", "slow")))
    assert (play.ended.outcome, play.ended.code) == ("error", "slow")


def test_the_plan_budget() -> None:
    play = missed(budget=i.Budget(plans=1))
    play.send(i.PlanProposed(plan=WRONG))
    assert (play.ended.outcome, play.ended.code) == ("budget_hit", "plan-budget")


# --- guards ------------------------------------------------------------------------------------------------------


def test_rewrites_are_facts() -> None:
    checked = VALIDATOR(GOOD, CheckContext())
    play = Play(opened(GOOD), guarded(Rewritten(guard="order", plan=checked.plan)))
    assert play.told(f.PlanRewritten) == [f.PlanRewritten(plan=1, guard="order")]
    assert play.started == ["1.1"]


def test_a_rewriter_that_breaks_a_plan_rejects_it() -> None:
    play = Play(opened(GOOD), rules(guard=lambda checked, _: Guarded(checked=VALIDATOR(WRONG, CheckContext()))))
    assert play.told(f.PlanRejected)[0].by == "validator"
    assert play.close.outcome == "plan_rejected"


def test_a_repropose_counts_as_the_repair() -> None:
    play = Play(opened(request="Do it"), guarded(Repropose(guard="cover", diagnostics=(FAULT,)), once=True))
    play.send(i.PlanMissed(reason="new"))
    play.send(i.PlanProposed(plan=GOOD))
    assert play.told(f.PlanRejected) == [f.PlanRejected(plan=1, by="cover", diagnostics=(FAULT,))]
    assert play.asked(c.Propose)[1].purpose == "repair"
    play.send(i.PlanProposed(plan=GOOD))
    assert play.started == ["2.1"]


def test_a_refusal_cannot_be_repaired() -> None:
    used = guarded(Refuse(guard="effects", diagnostics=(FAULT,)))
    play = Play(opened(request="Do it"), used)
    play.send(i.PlanMissed(reason="new"))
    play.send(i.PlanProposed(plan=GOOD))
    assert play.ended == f.TurnClosed(outcome="plan_rejected", code="bad-value", detail="/steps/0")
    assert len(play.asked(c.Propose)) == 1
    assert Play(opened(GOOD), used).close.outcome == "plan_rejected"


def test_a_refusal_without_diagnostics_still_closes() -> None:
    play = Play(opened(GOOD), guarded(Refuse(guard="effects", diagnostics=())))
    assert play.ended == f.TurnClosed(outcome="plan_rejected")


# --- forecast ----------------------------------------------------------------------------------------------------


def test_a_certain_denial_ends_the_turn_before_step_1() -> None:
    play = Play(opened(plan(step("noop"), step("send", {"path": "a"}), step("send", {"path": "b"}))))
    assert play.started == []
    assert play.ended.outcome == "policy_denied"
    assert [(fact.step, type(fact.verdict)) for fact in play.told(f.PolicyDecided)] == [("1.2", Deny), ("1.3", Deny)]


def test_a_denial_is_not_certain_while_something_weaker_may_be_let_through() -> None:
    def policy(question: Any) -> Any:
        verdicts = {"change": Deny("no changes"), "create": AskUser("create?")}
        return verdicts.get(question.effect, Allow())

    end = plan(step("noop", {"x": 1}), step("make", {"path": "a", "overwrite": "${step1.v}"}))
    play = Play(opened(end), rules(policy=policy))
    assert type(play.told(f.PolicyDecided)[0].verdict) is AskUser
    assert play.started == ["1.1"]


# --- fillers -----------------------------------------------------------------------------------------------------

FILLERS = {
    "title": {"prompt": "A title", "schema": {"type": "string", "maxLength": 9}},
    "end": {"prompt": "A farewell", "schema": {"type": "string"}},
}


def with_fillers(**changed: Any) -> Play:
    end = step("final_answer", {"text": "${FILLER:end}"})
    return Play(opened(plan(step("noop", {"x": 1}), step("noop", {"x": "${FILLER:title}"}), end=end, fillers=FILLERS)))


def test_fillers_are_asked_for_at_once_and_only_their_steps_wait() -> None:
    play = with_fillers()
    assert [command.name for command in play.asked(c.ResolveFiller)] == ["end", "title"]
    assert play.started == ["1.1"]
    play.send(i.FillerResolved(name="title", value="Hello"))
    assert play.starts["1.2"].args == {"x": "Hello"}
    play.done("1.1")
    play.done("1.2")
    assert play.machine.state.steps[1].value.sources == {"model", "local"}
    assert play.phase == "running"
    play.send(i.FillerResolved(name="end", value="bye"))
    assert play.close.answer == "bye"


@pytest.mark.parametrize("misfit", [True, False])
def test_a_filler_that_fails_blocks_the_steps_that_need_it(misfit: bool) -> None:
    play = with_fillers()
    if misfit:
        play.send(i.FillerResolved(name="title", value="much too long a title"))
    else:
        play.send(i.CommandFailed(command="resolve_filler", ref="title", error=failure("unavailable", "no-model")))
    assert play.skipped == {"1.2": "blocked_by FILLER:title"}
    play.send(i.FillerResolved(name="end", value="bye"))
    play.done("1.1")
    assert play.ended.outcome == "partial"
    assert play.ended.code == ("value-misfit" if misfit else "no-model")


def test_a_halted_turn_does_not_wait_for_fillers_and_takes_late_ones() -> None:
    play = with_fillers()
    play.fail("1.1")
    assert play.close.outcome == "error"
    title = {"title": FILLERS["title"]}
    play = Play(opened(plan(step("noop"), step("noop"), step("noop", {"x": "${FILLER:title}"}), fillers=title)))
    play.done("1.1")
    play.fail("1.2")
    assert play.phase == "composing"
    play.send(i.FillerResolved(name="title", value="late"))
    assert play.phase == "composing"
    with pytest.raises(ProtocolError, match="no `resolve_filler title` is open"):
        play.send(i.FillerResolved(name="title", value="later"))


# --- dialogs and continuation --------------------------------------------------------------------------------------

FORM = {"name": {"schema": {"type": "string"}, "label": "Your name"}}
NEEDS = plan(step("noop", {"x": 1}), end={"tool": "needs_inputs", "args": {"form": FORM}})
ASK = plan(step("noop", {"x": 1}), end={"tool": "ask", "args": {"question": "Which?", "choices": ["a", "b"]}})


def dialog(given: dict[str, Any], used: Any = None) -> Play:
    play = Play(opened(given), used)
    play.done("1.1", {"v": 3})
    return play


def test_needs_inputs_opens_a_form_and_suspends() -> None:
    play = dialog(NEEDS)
    (command,) = play.asked(c.OpenDialog)
    assert command.form == FORM
    assert play.told(f.TurnSuspended) == [f.TurnSuspended(waiting=(command.dialog,), ticket="t1.1")]
    assert play.phase == "suspended"


def test_answers_become_inputs_of_a_continuation_that_sees_done_steps() -> None:
    seen: list[CheckContext] = []

    def validate(given: Any, context: CheckContext) -> Checked:
        seen.append(context)
        return VALIDATOR(given, context)

    play = dialog(NEEDS, rules(validate=validate))
    name = play.asked(c.OpenDialog)[0].dialog
    play.send(i.DialogAnswered(dialog=name, answers={"name": "Ada"}))
    assert play.asked(c.Propose)[0].purpose == "continuation"
    play.send(i.PlanProposed(plan=plan(step("noop", {"x": ["${INPUT:name}", "${plan1.step1.v}"]}))))
    assert seen[1].inputs == {"name": {"type": "string"}}
    assert list(seen[1].earlier_steps) == ["plan1.step1"]
    assert play.starts["2.1"].args == {"x": ["Ada", 3]}


def test_an_ask_takes_one_of_its_choices() -> None:
    play = dialog(ASK)
    (command,) = play.asked(c.OpenDialog)
    assert (command.question, command.choices) == ("Which?", ("a", "b"))
    for answers in ({"answer": "c"}, {}, {"answer": "a", "more": 1}):
        with pytest.raises(ProtocolError):
            play.send(i.DialogAnswered(dialog=command.dialog, answers=answers))
    with pytest.raises(ProtocolError, match="no dialog d9 is open"):
        play.send(i.DialogAnswered(dialog="d9", answers={"answer": "a"}))
    play.send(i.DialogAnswered(dialog=command.dialog, answers={"answer": "a"}))
    assert play.machine.state.inputs["answer"].data == "a"
    open_ended = plan(end={"tool": "ask", "args": {"question": "Why?"}})
    play = Play(opened(open_ended))
    play.send(i.DialogAnswered(dialog=play.asked(c.OpenDialog)[0].dialog, answers={"answer": "because"}))
    assert play.phase == "proposing"


def test_a_models_plan_that_nobody_continues_is_partial_or_an_error() -> None:
    play = Play(opened(ASK, source="model"))
    play.done("1.1", {"v": 3})
    play.send(i.DialogAnswered(dialog=play.asked(c.OpenDialog)[0].dialog, answers={"answer": "a"}))
    play.send(i.CommandFailed(command="propose", error=failure("unavailable", "no-model")))
    assert (play.ended.outcome, play.ended.code) == ("partial", "no-model")
    play = Play(opened(plan(end={"tool": "ask", "args": {"question": "Why?"}}), source="model"))
    play.send(i.DialogAnswered(dialog=play.asked(c.OpenDialog)[0].dialog, answers={"answer": "so"}))
    play.send(i.CommandFailed(command="propose", error=failure("unavailable", "no-model")))
    assert play.close.outcome == "error"


def test_the_answers_are_what_a_plan_of_the_callers_was_for_where_nobody_goes_on() -> None:
    play = dialog(ASK)
    play.send(i.DialogAnswered(dialog=play.asked(c.OpenDialog)[0].dialog, answers={"answer": "a"}))
    play.send(i.CommandFailed(command="propose", error=failure("unavailable", "no-model")))
    assert play.asked(c.Compose)[0].show == ("1.1",)  # what its steps found is told besides
    play.send(i.AnswerComposed(text="3"))
    assert (play.close.outcome, play.close.answer, play.close.data) == ("success", "3", {"answer": "a"})
    play = dialog(ASK)
    play.send(i.DialogAnswered(dialog=play.asked(c.OpenDialog)[0].dialog, answers={"answer": "a"}))
    play.send(i.CommandFailed(command="propose", error=failure("unavailable", "proposer-failed")))
    assert (play.ended.outcome, play.ended.code) == ("partial", "proposer-failed")  # somebody was to go on, and failed


@pytest.mark.parametrize("failed", [True, False])
def test_a_dialog_that_nobody_answers_aborts(failed: bool) -> None:
    play = dialog(ASK)
    name = play.asked(c.OpenDialog)[0].dialog
    if failed:
        play.send(i.CommandFailed(command="open_dialog", ref=name, error=failure()))
    else:
        play.send(i.DialogExpired(dialog=name))
    assert (play.ended.outcome, play.ended.code) == ("user_aborted", "broken" if failed else "dialog-expired")


def test_no_dialog_opens_where_a_step_failed_for_good() -> None:
    play = Play(opened(ASK))
    play.fail("1.1")
    assert play.close.outcome == "error"


def test_a_continuation_does_not_repeat_a_done_effect() -> None:
    first = plan(step("write", {"path": "a", "content": 1}), end={"tool": "ask", "args": {"question": "More?"}})
    play = Play(opened(first))
    play.approve()
    play.done("1.1", {"path": "a", "content": 1})
    play.send(i.DialogAnswered(dialog=play.asked(c.OpenDialog)[0].dialog, answers={"answer": "yes"}))
    again = plan(
        step("write", {"path": "a", "content": 1}),
        step("noop", {"x": "${step1.path}"}),
        step("write", {"path": "a", "content": 2}),
        step("write", {"path": "${item}", "content": 1}, for_each=["a", "b"]),
    )
    play.send(i.PlanProposed(plan=again))
    assert play.skipped == {"2.1": "repeats 1.1"}
    assert play.states["2.1"] == "done"
    assert play.starts["2.2"].args == {"x": "a"}
    assert [command.step for command in play.asked(c.AskApproval)] == ["1.1", "2.3"]
    play.approve()
    play.done("2.3", {"path": "a", "content": 2})
    assert play.skipped["2.4.1"] == "repeats 1.1"
    asked_last = play.asked(c.AskApproval)[-1]
    assert (asked_last.step, asked_last.targets, asked_last.count) == ("2.4", ("/home/ada/b",), 1)
    play.done("2.2")
    play.approve()
    play.done("2.4.2", {"path": "b", "content": 1})
    assert play.machine.state.steps[-1].value.data["count"] == 2


# --- the end -----------------------------------------------------------------------------------------------------


def test_an_answer_that_cannot_be_composed_leaves_what_was_done() -> None:
    play = Play(opened(GOOD))
    play.done("1.1")
    play.send(i.CommandFailed(command="compose", error=failure("unavailable", "no-model")))
    assert (play.close.outcome, play.close.answer, play.ended.code) == ("success", "", "no-model")
    play = Play(opened(plan(step("noop", on_error="continue"), step("noop", {"x": 1}))))
    play.fail("1.1", code="gone")
    play.done("1.2")
    play.send(i.CommandFailed(command="compose", error=failure("unavailable", "no-model")))
    assert (play.close.outcome, play.ended.code) == ("partial", "gone")


@pytest.mark.parametrize("last", [i.Learned(), i.CommandFailed(command="learn", error=failure()), i.Cancelled()])
def test_what_a_rule_wants_learnt_is_learnt_before_the_log_ends(last: i.AnyInput) -> None:
    play = Play(opened(GOOD), rules(learn=lambda source, outcome: (source, outcome) == ("author", "success")))
    play.done("1.1")
    play.compose()
    assert play.phase == "learning"
    assert play.asked(c.Learn) == [c.Learn(plan_digest=play.machine.state.plan.checked.digest)]
    play.send(last)
    assert play.close.outcome == "success"
    play = Play(opened(GOOD), rules(learn=lambda source, outcome: False))
    play.done("1.1")
    play.compose()
    assert play.asked(c.Learn) == []


def test_the_accepted_plan_can_be_read_from_the_state() -> None:
    play = Play(opened(GOOD))
    assert play.machine.state.plan.body == to_json(play.machine.state.plan.checked.plan)
