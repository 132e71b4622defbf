"""Calls that are run again after a passing failure: which, how often, under which id, and what is on record."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.policy.model import Allow
from metnos.sdk import Effect, Failure
from metnos.testing.simulation import Faults, Simulation
from metnos.turn import commands as c
from metnos.turn import inputs as i
from metnos.turn.retry import FIRST_US, LONGEST_US, wait_us
from metnos.turn.turn import ProtocolError
from tests.support.turns import Files, Play, opened, plan, rules, step

DOWN = Failure(cls="unavailable", code="foreign-unreachable", retryable=True)
SLOW = Failure(cls="timeout", code="step-timeout", retryable=True)
TRYING = i.Budget(tries=3, retries=20)
FREE: Any = rules(policy=lambda _question: Allow())


def started(given_plan: dict[str, Any], budget: i.Budget = TRYING) -> Play:
    return Play(opened(given_plan, budget=budget), FREE)


def down(play: Play, key: str, error: Failure = DOWN, **more: Any) -> None:
    if not play.machine.state.calls[key].announced:
        play.begin(key)
    play.send(i.StepFailed(step=key, error=error, **more))


def fire(play: Play) -> None:
    (timer,) = play.machine.state.pausing
    play.send(i.TimerFired(timer=timer))


READ = plan(step("read", {"path": "a"}))
SAVE = plan(step("save", {"path": "a", "content": 1}))


@pytest.mark.parametrize("given_plan", [READ, SAVE], ids=["read", "idempotent"])
def test_the_same_operation_is_tried_again_until_it_is_done(given_plan: dict[str, Any]) -> None:
    play = started(given_plan)
    down(play, "1.1")
    (timer,) = play.asked(c.SetTimer)
    assert (timer.timer, play.phase, play.states["1.1"]) == ("1.1.try2", "running", "pausing")
    assert play.at + FIRST_US * 3 // 4 <= timer.at <= play.at + FIRST_US * 5 // 4
    fire(play)
    down(play, "1.1")
    fire(play)
    first, second, third = play.asked(c.StartStep)
    assert first == second == third
    play.done("1.1", {"path": "a", "text": "", "content": 1})
    play.compose()
    assert (play.ended.outcome, play.states["1.1"]) == ("success", "done")


def test_the_last_failure_is_told_when_the_tries_are_used_up() -> None:
    play = started(READ)
    for _ in range(2):
        down(play, "1.1")
        fire(play)
    down(play, "1.1", Failure(cls="operational", code="tool-error", retryable=True))
    assert (play.ended.outcome, play.ended.code) == ("error", "tool-error")
    assert len(play.asked(c.StartStep)) == 3


def test_a_whole_time_that_was_used_up_is_given_once_more() -> None:
    play = started(READ)
    down(play, "1.1", SLOW)
    fire(play)
    down(play, "1.1", SLOW)
    assert play.ended.code == "step-timeout"


@pytest.mark.parametrize(
    ("given_plan", "error", "effects"),
    [
        (plan(step("write", {"path": "a"})), DOWN, ()),
        (plan(step("put", {"path": "a"})), DOWN, ()),
        (SAVE, DOWN, (Effect(cls="change", target="a"),)),
        (READ, Failure(cls="unavailable", code="variable-missing"), ()),
        (READ, Failure(cls="operational", code="no-space"), ()),
        (READ, Failure(cls="missing", code="not-found", retryable=True), ()),
        (READ, Failure(cls="denied", code="no-permission", retryable=True), ()),
        (READ, Failure(cls="crashed", code="worker-crashed", retryable=True), ()),
    ],
)
def test_what_does_harm_or_no_good_is_not_tried_again(
    given_plan: dict[str, Any], error: Failure, effects: tuple[Effect, ...]
) -> None:
    play = started(given_plan)
    down(play, "1.1", error, effects=effects)
    assert play.asked(c.SetTimer) == []
    assert play.ended.outcome == "error"


@pytest.mark.parametrize(
    "budget", [i.Budget(), i.Budget(tries=3), i.Budget(retries=9), i.Budget(steps=1, tries=3, retries=9)]
)
def test_without_a_budget_for_it_nothing_is_repeated(budget: i.Budget) -> None:
    play = started(READ, budget)
    down(play, "1.1")
    assert play.ended.outcome == "error"


def test_all_steps_of_a_turn_share_its_tries() -> None:
    play = started(plan(*(step("peek", {}, on_error="continue") for _ in range(3))), i.Budget(tries=5, retries=2))
    for key in ("1.1", "1.2", "1.3"):
        down(play, key)
    assert [timer.timer for timer in play.asked(c.SetTimer)] == ["1.1.try2", "1.2.try2"]
    assert play.states["1.3"] == "failed"


def test_items_of_a_list_wait_each_for_itself_and_what_comes_later_waits_too() -> None:
    lifted = plan(step("save", {"path": "${item}", "content": 1}, for_each=["a", "b"]), step("list"))
    play = started(lifted)
    down(play, "1.1.1")
    play.done("1.1.2", {"path": "b", "content": 1})
    assert play.started == ["1.1.1", "1.1.2"]
    fire(play)
    play.done("1.1.1", {"path": "a", "content": 1})
    assert play.started == ["1.1.1", "1.1.2", "1.1.1", "1.2"]
    assert play.machine.state.steps[0].value.data["count"] == 2


def test_when_the_turn_stops_it_has_failed_and_its_timer_means_nothing() -> None:
    play = started(plan(step("peek"), step("read", {"path": "a"})))
    down(play, "1.1")
    down(play, "1.2", Failure(cls="data", code="not-text"))
    assert play.states == {"1.1": "failed", "1.2": "failed"}
    assert play.ended.outcome == "error"


def test_a_cancelled_turn_does_not_wait() -> None:
    play = started(plan(step("peek"), step("peek")))
    down(play, "1.1")
    play.send(i.Cancelled())
    assert play.phase == "stopping"
    play.send(i.TimerFired(timer="1.1.try2"))
    with pytest.raises(ProtocolError):
        play.send(i.TimerFired(timer="1.1.try2"))
    play.send(i.StepStopped(step="1.2"))
    assert play.close.outcome == "cancelled"


def test_after_a_crash_the_timer_is_asked_for_again() -> None:
    play = started(READ)
    down(play, "1.1")
    again = play.send(i.TurnResumed())
    assert again.commands == tuple(play.asked(c.SetTimer)[:1])
    fire(play)
    assert play.started == ["1.1", "1.1"]


def test_a_timer_that_cannot_be_set_leaves_the_failure() -> None:
    play = started(READ)
    down(play, "1.1")
    failed = i.CommandFailed(command="set_timer", ref="1.1.try2", error=DOWN)
    play.send(failed)
    assert (play.ended.outcome, play.ended.code) == ("error", "foreign-unreachable")
    with pytest.raises(ProtocolError):
        play.send(failed)
    play = started(plan(step("peek"), step("peek")))
    down(play, "1.1")
    with pytest.raises(ProtocolError, match="no timer"):
        play.send(i.CommandFailed(command="set_timer", ref="1.2.try2", error=DOWN))
    play.send(i.Cancelled())
    play.send(failed)
    assert play.phase == "stopping"


def test_a_choice_is_offered_when_nothing_waits_for_another_try() -> None:
    exists = Failure(cls="conflict", code="exists", options=())
    play = started(plan(step("peek", {}, on_error="continue"), step("read", {"path": "a"})))
    down(play, "1.1")
    down(play, "1.2", exists)
    assert play.ended.outcome == "error"


def test_what_a_person_saw_still_binds_a_try_after_one_that_did_nothing() -> None:
    play = Play(opened(SAVE, budget=TRYING))
    (asked,) = play.machine.state.asked
    play.send(i.TargetsSeen(approval=asked.approval, seen={"1.1": {"a": "nothing"}}))
    play.approve()
    assert play.starts["1.1"].expects == {"a": "nothing"}
    down(play, "1.1")
    fire(play)
    assert play.starts["1.1"].expects == {"a": "nothing"}
    down(play, "1.1", SLOW)  # it may have done it
    assert play.ended.code == "step-timeout"


def test_what_may_have_been_done_is_not_bound_to_what_lay_there_before() -> None:
    play = Play(opened(SAVE, budget=TRYING))
    (asked,) = play.machine.state.asked
    play.send(i.TargetsSeen(approval=asked.approval, seen={"1.1": {"a": "nothing"}}))
    play.approve()
    down(play, "1.1", SLOW)
    fire(play)
    assert play.starts["1.1"].expects == {}


def test_waits_double_are_spread_and_are_the_same_in_every_replay() -> None:
    waits = [wait_us("t", "1.1", tries) for tries in range(1, 20)]
    assert waits == [wait_us("t", "1.1", tries) for tries in range(1, 20)]
    for tries, wait in enumerate(waits, 1):
        whole = min(FIRST_US * 2 ** (tries - 1), LONGEST_US)
        assert whole * 3 // 4 <= wait <= whole * 5 // 4
    assert len({wait_us(f"t{n}", "1.1", 1) for n in range(100)}) > 90


# --- simulated ---------------------------------------------------------------------------------------------------


class Flaky(Files):
    """An outside that is down now and then, before it has done anything."""

    def __init__(self, seed: int) -> None:
        super().__init__({"/home/ada/a": 1, "/home/ada/sub/c": 2})
        self._random = Random(seed)
        self.failed = 0

    def perform(self, start: c.StartStep) -> i.StepFinished | i.StepFailed:
        if self._random.random() < 0.3:
            self.failed += 1
            return i.StepFailed(step=start.step, error=self._random.choice([DOWN, SLOW]))
        return super().perform(start)


WHOLE = plan(
    step("list"),
    step("read", {"path": "${item.path}"}, for_each="${step1.entries}"),
    step("save", {"path": "b", "content": 5}),
    step("save", {"path": "${item}", "content": 6}, for_each=["x", "y", "z"]),
    step("peek"),
)


@given(st.integers(0, 2**32), st.booleans())
def test_a_flaky_outside_with_crashes_and_stops_ends_well(seed: int, cancel: bool) -> None:
    world = Flaky(seed)
    faults = Faults(crash=0.03, double=0.1, cancel=0.02 if cancel else 0.0)
    budget = i.Budget(tries=4, retries=50)
    run = Simulation(FREE, opened(WHOLE, budget=budget), world, seed=seed, faults=faults).run()
    assert run.outcome in ("success", "partial", "error", "cancelled")
    operations: dict[str, set[str]] = {}
    for operation, key in world.performed:
        operations.setdefault(key, set()).add(operation)
    assert all(len(found) == 1 for found in operations.values())
    if run.outcome == "success":
        assert {world.contents[f"/home/ada/{name}"] for name in "xyz"} == {6}
