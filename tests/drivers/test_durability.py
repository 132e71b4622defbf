"""What must be on disk before the driver goes on, input by input."""

from __future__ import annotations

import pytest

from metnos.drivers.durability import CLOSING, is_intent, must_commit
from metnos.sdk import Failure
from metnos.turn import commands as c
from metnos.turn import inputs as i

STARTED = i.StepStarted(step="1.1", operation="op")
ASK = c.AskApproval(approval="a", step="1.2", executor="x@1", action="create", reason="", digest="")
START = c.StartStep(
    step="1.2", operation="op", executor="x@1", args={}, digest="", effect="create", placement="host", timeout_s=1
)
CLOSE, COMPOSE = c.Close(outcome="success"), c.Compose(outcome="success", language="en")


@pytest.mark.parametrize("effects", [set(), {"1.1"}])
def test_only_an_effects_intent_is_anchored(effects: set[str]) -> None:
    assert is_intent(STARTED, effects) == bool(effects)
    assert not is_intent(i.StepFinished(step="1.1", data=None), effects)


OUTCOMES: list[i.AnyInput] = [
    i.StepFinished(step="1.1", data=None), i.StepStopped(step="1.1"), i.EffectProbed(step="1.1", found="done"),
    i.StepFailed(step="1.1", error=Failure(cls="data", code="x")),
]  # fmt: skip


@pytest.mark.parametrize("item", OUTCOMES, ids=lambda item: type(item).__name__)
def test_an_effects_outcome_is_committed_unless_only_the_close_is_left(item: i.AnyInput) -> None:
    effects = {"1.1"}
    for commands, others, wanted in (
        ((), False, True), ((START,), False, True), ((CLOSE,), False, False), ((COMPOSE,), False, False),
        ((CLOSE,), True, True), ((COMPOSE, START), False, True),
    ):  # fmt: skip
        assert must_commit(item, commands, effects, others_run=lambda _step, others=others: others) == wanted
        assert not must_commit(item, commands, set(), others_run=lambda _step, others=others: others)


def nobody(_step: str) -> bool:
    return False


def test_a_question_is_committed_before_anybody_is_asked() -> None:
    opened = i.TurnOpened(turn="t", now="2026-01-01T00:00:00+00:00")
    for question in (ASK, c.OpenDialog(dialog="d")):
        assert must_commit(opened, (START, question), set(), others_run=nobody)
    assert not must_commit(opened, (START,), set(), others_run=nobody)
    assert {c.Close, c.Compose, c.Learn} == set(CLOSING)
