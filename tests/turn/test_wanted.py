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
