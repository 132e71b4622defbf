"""Inputs that a given plan lacks: a form, then the same plan."""

from __future__ import annotations

from typing import Any

import pytest

from metnos.sdk import Failure
from metnos.turn import commands as c
from metnos.turn import facts as f
from metnos.turn import inputs as i
from metnos.turn.table import ProtocolError
from tests.support.turns import Play, opened, plan, step

LACKING = plan(step("write", {"path": "${INPUT:where}", "content": "see ${INPUT:text}"}))


def test_a_given_plan_is_held_while_its_inputs_are_asked_for() -> None:
    play = Play(opened(LACKING))
    (command,) = play.asked(c.OpenDialog)
    scalar = {"type": ["string", "number", "boolean"]}
    assert command.form == {
        "where": {"schema": {"type": "string"}, "label": ""},
        "text": {"schema": scalar, "label": ""},
    }
    assert play.phase == "suspended"
    assert play.told(f.PlanRejected) == []
    with pytest.raises(ProtocolError, match="does not fit"):
        play.send(i.DialogAnswered(dialog=command.dialog, answers={"where": 5, "text": "x"}))
    play.send(i.DialogAnswered(dialog=command.dialog, answers={"where": "a.txt", "text": 7}))
    assert play.asked(c.Propose) == []
    (asked,) = play.asked(c.AskApproval)
    assert (asked.step, asked.targets) == ("1.1", ("/home/ada/a.txt",))


def test_a_form_that_is_not_answered_ends_the_turn() -> None:
    play = Play(opened(LACKING))
    play.send(i.DialogExpired(dialog=play.asked(c.OpenDialog)[0].dialog))
    assert (play.ended.outcome, play.ended.code) == ("user_aborted", "dialog-expired")


@pytest.mark.parametrize(
    ("given", "fields"),
    [
        (plan(step("noop", {"x": "${INPUT:a}"}), step("noop", {"nope": 1})), {}),
        (plan(step("nope", {"x": "${INPUT:a}"})), {}),
        (plan(step("noop", {"x": ["${INPUT:a}"]})), {"mode": "plan"}),
    ],
    ids=["another fault", "no such tool", "only planned"],
)
def test_nobody_is_asked_for_the_inputs_of_a_plan_that_would_be_refused(
    given: dict[str, Any], fields: dict[str, Any]
) -> None:
    play = Play(opened(given, **fields))
    assert play.asked(c.OpenDialog) == []
    assert play.ended.outcome == "plan_rejected"


def test_a_models_plan_is_repaired_not_asked_for() -> None:
    play = Play(opened(request="Do it"))
    play.send(i.PlanMissed(reason="new"))
    play.send(i.PlanProposed(plan=plan(step("noop", {"x": "${INPUT:a}"}))))
    assert play.asked(c.Propose)[-1].purpose == "repair"


def form(*steps: dict[str, Any], **end: Any) -> dict[str, Any]:
    play = Play(opened(plan(*steps, **end)))
    (command,) = play.asked(c.OpenDialog)
    return {name: field["schema"] for name, field in command.form.items()}


def test_a_field_asks_for_what_its_places_take() -> None:
    string = {"type": "string"}
    scalar = {"type": ["string", "number", "boolean"]}
    assert form(step("write", {"path": "${INPUT:a}", "content": "${INPUT:a}"})) == {"a": string}
    assert form(step("write", {"path": "${INPUT:a}", "content": "see ${INPUT:a}"})) == {
        "a": {"allOf": [scalar, string]}
    }
    assert form(step("write", {"path": "$<INPUT:a>", "content": ["${INPUT:b}"]})) == {"a": string, "b": {}}
    assert form(step("noop", {"x": 1}), end={"tool": "final_answer", "args": {"text": "${INPUT:a}"}}) == {"a": {}}


@pytest.mark.parametrize(
    ("schema", "points"),
    [
        ({"$ref": "#/$defs/x"}, True),
        ({"anyOf": [{"type": "null"}, {"$ref": "#"}]}, True),
        ({"properties": {"a": {"items": {"$ref": "#"}}}}, True),
        ({"enum": [1, "$ref"], "items": [{"type": "string"}]}, False),
    ],
)
def test_a_schema_that_points_elsewhere_is_not_taken_alone(schema: dict[str, Any], points: bool) -> None:
    from metnos.turn.wanted import _refers

    assert _refers(schema) is points


def test_what_lay_at_the_targets_is_told_once_and_goes_with_the_start() -> None:
    play = Play(opened(plan(step("write", {"path": "a.txt", "content": 1}))))
    (asked,) = play.asked(c.AskApproval)
    play.send(i.TargetsSeen(approval=asked.approval, seen={"1.1": {"/home/ada/a.txt": "absent"}}))
    play.send(i.TargetsSeen(approval=asked.approval, seen={"1.1": {"/home/ada/a.txt": "folder"}}))
    with pytest.raises(ProtocolError, match="no approval other is open"):
        play.send(i.TargetsSeen(approval="other", seen={}))
    play.send(i.ApprovalGiven(approval=asked.approval, digest=asked.digest, by="local"))
    assert play.starts["1.1"].expects == {"/home/ada/a.txt": "absent"}


SIZE = i.Wanted(name="size", words="than", forms=("find files larger than 1 mb",))
NOBODY = i.CommandFailed(command="propose", error=Failure(cls="unavailable", code="no-model"))


def lacking(**fields: Any) -> Play:
    play = Play(opened(request="Find files  larger?", **({"choices": True} | fields)))
    play.send(i.PlanMissed(reason="new", wanted=SIZE))
    return play


def test_what_a_request_lacks_is_asked_for_and_the_whole_sentence_looked_up() -> None:
    play = lacking()
    play.send(NOBODY)
    (dialog,) = play.asked(c.OpenDialog)
    assert dialog.form["size"]["label"] == "Find files larger than …"
    play.send(i.DialogAnswered(dialog=dialog.dialog, answers={"size": " 1 MB "}))
    assert play.asked(c.LookUpPlan)[-1] == c.LookUpPlan(
        request="Find files larger than 1 MB", language="en", normal_form="find files larger than 1 mb"
    )
    play.send(i.PlanFound(plan=plan(step("noop", {"x": 1})), source="template", entry="t@sha256:0"))
    play.done("1.1")
    play.compose()
    assert play.ended.outcome == "success"


@pytest.mark.parametrize("answer", ["large", "1 MB and more", "1 MB; delete everything", '1 MB"'])
def test_an_answer_that_makes_another_sentence_is_none(answer: str) -> None:
    play = lacking()
    play.send(NOBODY)
    play.send(i.DialogAnswered(dialog=play.asked(c.OpenDialog)[0].dialog, answers={"size": answer}))
    assert len(play.asked(c.LookUpPlan)) == 1
    assert (play.ended.outcome, play.ended.code) == ("not_understood", "answer-misfit")


def test_it_is_asked_once_and_not_where_somebody_proposes() -> None:
    play = lacking()
    play.send(NOBODY)
    play.send(i.DialogAnswered(dialog=play.asked(c.OpenDialog)[0].dialog, answers={"size": "1 MB"}))
    play.send(i.PlanMissed(reason="new", wanted=SIZE))
    play.send(NOBODY)
    assert (play.ended.outcome, len(play.asked(c.OpenDialog))) == ("not_understood", 1)
    other = lacking()
    question = {"tool": "ask", "args": {"question": "Which?"}}
    other.send(i.PlanProposed(plan=plan(step("noop", {"x": 1}), end=question)))
    other.done("1.1")
    other.send(i.DialogAnswered(dialog=other.asked(c.OpenDialog)[0].dialog, answers={"answer": "a"}))
    assert other.asked(c.Propose)[-1].purpose == "continuation"


@pytest.mark.parametrize("fields", [{"choices": False}, {"mode": "plan"}], ids=["nobody to ask", "only planned"])
def test_a_request_that_lacks_something_is_not_understood_where_nobody_is_asked(fields: dict[str, Any]) -> None:
    play = lacking(**fields)
    play.send(NOBODY)
    assert (play.asked(c.OpenDialog), play.ended.outcome) == ([], "not_understood")


def test_the_question_comes_again_after_a_crash_and_silence_ends_it() -> None:
    play = lacking()
    play.send(NOBODY)
    (dialog,) = play.asked(c.OpenDialog)
    assert play.send(i.TurnResumed()).commands == (dialog,)
    play.send(i.DialogExpired(dialog=dialog.dialog))
    assert (play.ended.outcome, play.ended.code) == ("user_aborted", "dialog-expired")
