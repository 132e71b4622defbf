"""The machine with the rules as they are shipped: understanding, validator, guards and policy."""

from __future__ import annotations

from metnos.checks.guards import guard
from metnos.policy.approval import policy_digest
from metnos.request.understand import understand
from metnos.turn import facts as f
from metnos.turn import inputs as i
from metnos.turn.rules import Rules
from tests.support.turns import VALIDATOR, Play, opened, plan, rules, step


def shipped() -> Rules:
    return rules(
        normalise=understand,
        guard=lambda checked, context: guard(checked, context, VALIDATOR),
        policy_digest=policy_digest(),
    )


def test_an_authors_plan_passes_the_guards_and_still_asks() -> None:
    play = Play(opened(plan(step("list"), step("save", {"path": "a.txt", "content": "${step1.entries}"}))), shipped())
    play.done("1.1", {"entries": []})
    assert [command.step for command in play.machine.state.asked] == ["1.2"]


def test_an_effect_that_nobody_asked_for_is_not_run() -> None:
    play = Play(opened(request="the five largest files"), shipped())
    assert play.machine.state.request is not None
    play.send(i.PlanMissed(reason="new"))
    unasked = plan(step("list"), step("save", {"path": "a.txt", "content": "${step1.entries}"}))
    play.send(i.PlanProposed(plan=unasked))
    (rejected,) = play.told(f.PlanRejected)
    assert rejected.by != "validator"
    assert play.started == []


def test_a_read_that_was_asked_for_runs() -> None:
    play = Play(opened(request="the five largest files"), shipped())
    play.send(i.PlanMissed(reason="new"))
    play.send(i.PlanProposed(plan=plan(step("list"))))
    assert play.started == ["1.1"]
