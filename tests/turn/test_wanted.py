"""Inputs that a given plan lacks: a form, then the same plan."""

from __future__ import annotations

from typing import Any

import pytest

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
