"""What a model read in a request, as the machine takes it: asked about always, learned never, replayed as ever."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import UNSET

from metnos.checks.guards.run import guard_with
from metnos.drivers.lessons import is_lesson
from metnos.request.understand import understand
from metnos.turn import commands as c
from metnos.turn import facts as f
from metnos.turn import inputs as i
from tests.support.turns import VALIDATOR, Play, opened, plan, rules, step

GAP = "new.txt ought to be there as well"
MAKES = plan(step("make", {"path": "new.txt"}))
GUARDED: Any = rules(guard=guard_with(VALIDATOR), normalise=understand)


def proposed(acts: Any, request: str = GAP, given_plan: dict[str, Any] = MAKES, **changed: Any) -> Play:
    play = Play(opened(request=request, **changed), GUARDED)
    play.send(i.PlanMissed(reason="new"))
    play.send(i.PlanProposed(plan=given_plan, acts=acts))
    return play


def codes(play: Play) -> list[str]:
    return [each.code for fact in play.told(f.PlanRejected) for each in fact.diagnostics]


@pytest.mark.parametrize("acts", [UNSET, ()])
def test_the_words_alone_do_not_admit_the_effect(acts: Any) -> None:
    play = proposed(acts)
    assert codes(play) == ["unrequested-effect"]
    assert play.asked(c.AskApproval) == []


@pytest.mark.parametrize("assume_yes", [False, True])
def test_what_was_read_admits_it_and_a_person_is_asked_whatever_was_allowed(assume_yes: bool) -> None:
    play = proposed(("write",), assume_yes=assume_yes)
    assert [one.step for one in play.asked(c.AskApproval)] == ["1.1"]
    assert play.started == []
    play.approve()
    play.done("1.1", {"path": "new.txt", "size": 0}, effects=())
    assert not is_lesson(play.machine.state)


def test_what_the_words_ask_for_is_allowed_beforehand_as_ever() -> None:
    play = proposed(("write",), request="create the file new.txt", assume_yes=True)
    assert (play.started, play.asked(c.AskApproval)) == (["1.1"], [])
    assert is_lesson(play.machine.state)


@pytest.mark.parametrize("request_text", ["don't create new.txt", "new.txt ought not to be there, don't touch it"])
def test_a_negation_admits_nothing_that_was_read(request_text: str) -> None:
    play = proposed(("write", "delete"), request=request_text)
    assert codes(play)
    assert (play.started, play.asked(c.AskApproval)) == ([], [])


def test_one_effect_that_was_read_admits_no_other() -> None:
    play = proposed(("write",), given_plan=plan(step("remove", {"path": "new.txt"})))
    assert codes(play) == ["unrequested-effect"]


def test_what_was_read_holds_for_the_repair_too() -> None:
    play = proposed(("write",), given_plan=plan(step("make", {"path": 7})))
    assert [one.purpose for one in play.asked(c.Propose)] == ["first", "repair"]
    play.send(i.PlanProposed(plan=MAKES))
    assert [one.step for one in play.asked(c.AskApproval)] == ["2.1"]
