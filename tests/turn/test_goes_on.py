"""Plans that go on: accepted without an end under the flag alone, each followed by the next, budgets and guards as ever."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.checks.model import CheckContext
from metnos.plan.model import GoesOn
from metnos.plan.parse import read_plan
from metnos.plan.write import to_json
from metnos.policy.model import Allow
from metnos.sdk import Failure
from metnos.turn import commands as c
from metnos.turn import facts as f
from metnos.turn import inputs as i
from metnos.turn.logic import GOES_ON
from tests.support.turns import VALIDATOR, Play, opened, plan, rules, step

FREE: Any = rules(policy=lambda _question: Allow(), learn=lambda _source, _outcome: True)
ON = {GOES_ON: 1}


def bare(*steps: dict[str, Any]) -> dict[str, Any]:
    """A plan without an end."""
    return {"steps": list(steps)}


def begun(first: dict[str, Any], **changed: Any) -> Play:
    play = Play(opened(request="Do it", **({"logic": ON, "budget": i.Budget(plans=5)} | changed)), FREE)
    play.send(i.PlanMissed(reason="new"))
    play.send(i.PlanProposed(plan=first))
    return play


def ending(text: str) -> dict[str, Any]:
    """A plan that is nothing but its end."""
    return plan(end={"tool": "final_answer", "args": {"text": text}})


READ = bare(step("read", {"path": "a"}))


def test_when_its_steps_are_over_the_next_plan_is_asked_for() -> None:
    play = begun(READ)
    play.done("1.1", {"text": "x"})
    assert [asked.purpose for asked in play.asked(c.Propose)] == ["first", "continuation"]
    play.send(i.PlanProposed(plan=bare(step("read", {"path": "b"}), step("read", {"path": "c"}))))
    play.done("2.2", {"text": "y"})
    assert play.phase == "running"
    play.done("2.1", {"text": "z"})
    play.send(i.PlanProposed(plan=ending("${plan1.step1.text} and ${plan2.step1.text}")))
    assert play.close.answer == "x and z"
    assert play.ended.outcome == "success"
    assert [told.plan for told in play.told(f.PlanAccepted)] == [1, 2, 3]


def test_without_the_flag_a_plan_has_an_end() -> None:
    play = Play(opened(request="Do it"), FREE)
    play.send(i.PlanMissed(reason="new"))
    play.send(i.PlanProposed(plan=READ))
    (rejected,) = play.told(f.PlanRejected)
    assert [one.code for one in rejected.diagnostics] == ["terminal-missing"]


def test_only_a_model_s_plan_may_go_on() -> None:
    play = Play(opened(plan=READ, logic=ON), FREE)
    (rejected,) = play.told(f.PlanRejected)
    assert [one.code for one in rejected.diagnostics] == ["terminal-missing"]


def test_a_plan_of_nothing_has_no_end_either() -> None:
    (rejected,) = begun(bare()).told(f.PlanRejected)
    assert [one.code for one in rejected.diagnostics] == ["terminal-missing"]


def test_a_failure_that_the_plan_passes_over_is_an_observation() -> None:
    play = begun(bare(step("read", {"path": "a"}, on_error="continue")))
    play.fail("1.1", "data", "not-text")
    assert play.asked(c.Propose)[-1].purpose == "continuation"
    play.send(i.PlanProposed(plan=ending("done")))
    assert (play.ended.outcome, play.ended.code, play.close.answer) == ("error", "not-text", "done")


def test_a_plan_that_was_stopped_is_not_gone_on_from() -> None:
    play = begun(READ)
    play.fail("1.1", "data", "not-text")
    assert len(play.asked(c.Propose)) == 1
    assert play.ended.outcome == "error"


def test_the_budget_of_plans_holds() -> None:
    play = begun(READ, budget=i.Budget(plans=1))
    play.done("1.1", {"text": "x"})
    assert (play.ended.outcome, play.ended.code) == ("budget_hit", "plan-budget")


def test_nothing_is_learnt_of_a_turn_whose_plans_go_on() -> None:
    play = begun(ending("done"))
    assert play.ended.outcome == "success"
    assert play.asked(c.Learn) == []
    ended = begun(ending("done"), logic={})
    assert len(ended.asked(c.Learn)) == 1


def test_who_declines_to_go_on_ends_the_turn() -> None:
    play = begun(READ)
    play.done("1.1", {"text": "x"})
    play.send(i.CommandFailed(command="propose", error=Failure(cls="data", code="not-recorded", message="cut off")))
    assert (play.ended.outcome, play.ended.code) == ("partial", "not-recorded")


def test_it_is_folded_again_after_a_crash() -> None:
    play = begun(READ)
    play.begin("1.1")
    play.send(i.TurnResumed(fence=2))
    play.done("1.1", {"text": "x"})
    assert play.asked(c.Propose)[-1].purpose == "continuation"


@given(st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=4))
def test_it_is_written_as_it_was_read(paths: list[str]) -> None:
    raw = bare(*(step("read", {"path": path}) for path in paths))
    read = read_plan(raw, goes_on=True)
    assert read.ok
    assert read.plan is not None
    assert isinstance(read.plan.terminal, GoesOn)
    assert to_json(read.plan) == raw
    assert not read_plan(raw).ok


@pytest.mark.parametrize("source", ["author", "host", "template", "cache", "user"])
def test_the_validator_knows_it_of_models_only(source: Any) -> None:
    validate = VALIDATOR
    assert not validate(READ, CheckContext(source=source, goes_on=True)).ok
    assert validate(READ, CheckContext(source="model", goes_on=True)).ok
    assert not validate(READ, CheckContext(source="model")).ok
