"""The tables are complete and say what the machine does."""

from __future__ import annotations

from typing import get_args

import pytest

from metnos.turn import commands as c
from metnos.turn import inputs as i
from metnos.turn.failed import ON_FAILURE
from metnos.turn.table import CLOSES, LAPSES, PHASES, STEP, TURN, Phase, ProtocolError, StepState, row_for, tag_of
from metnos.turn.turn import HANDLERS, Machine
from tests.support.turns import failure, rules

INPUTS: tuple[type[i.Input], ...] = get_args(i.AnyInput)
COMMANDS: tuple[type[c.Command], ...] = get_args(c.AnyCommand)
SAMPLES: dict[type[i.Input], dict[str, object]] = {
    i.TurnOpened: {"turn": "t", "now": "2026-11-30T12:00:00+01:00"},
    i.PlanFound: {"plan": {}, "source": "template", "entry": "e"},
    i.PlanMissed: {"reason": "new"},
    i.PlanProposed: {"plan": {}},
    i.FillerResolved: {"name": "n", "value": 1},
    i.StepStarted: {"step": "1.1", "operation": "o"},
    i.StepFinished: {"step": "1.1", "data": {}},
    i.StepFailed: {"step": "1.1", "error": failure()},
    i.StepStopped: {"step": "1.1"},
    i.EffectProbed: {"step": "1.1", "found": "done"},
    i.TargetsSeen: {"approval": "a", "seen": {}},
    i.ApprovalGiven: {"approval": "a", "digest": "d"},
    i.ApprovalRefused: {"approval": "a"},
    i.ApprovalExpired: {"approval": "a"},
    i.DialogAnswered: {"dialog": "d", "answers": {}},
    i.DialogExpired: {"dialog": "d"},
    i.Judged: {"step": "1.1", "verdict": "allow"},
    i.TimerFired: {"timer": "t"},
    i.AnswerComposed: {"text": ""},
    i.Learned: {},
    i.Cancelled: {},
    i.TurnResumed: {},
    i.CommandFailed: {"command": "compose", "error": failure()},
}


def test_every_phase_has_rows_and_every_row_a_handler() -> None:
    assert set(TURN) == set(PHASES) == set(get_args(Phase))
    assert {row.handler for rows in TURN.values() for row in rows.values()} == set(HANDLERS)
    assert {phase for rows in TURN.values() for row in rows.values() for phase in row.to} <= set(PHASES) - {"new"}


def test_every_input_may_come_somewhere() -> None:
    assert {kind for rows in TURN.values() for kind in rows} == set(INPUTS) == set(SAMPLES)


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("kind", INPUTS)
def test_each_input_has_an_answer_in_each_phase(kind: type[i.Input], phase: Phase) -> None:
    item = kind(**SAMPLES[kind])
    if kind in TURN[phase]:
        assert row_for(phase, item).handler in HANDLERS
        return
    machine = Machine(rules())
    machine.state.phase = phase
    with pytest.raises(ProtocolError) as caught:
        machine.receive(item)
    assert (caught.value.item, caught.value.phase) == (tag_of(item), phase)
    assert "expected" in caught.value.detail


def test_every_phase_can_reach_the_close() -> None:
    reached: set[Phase] = {"closed"}
    for _ in PHASES:
        reached |= {phase for phase, rows in TURN.items() if any(set(row.to) & reached for row in rows.values())}
    assert reached == set(PHASES)


def test_every_command_has_its_closing_inputs_and_only_close_has_none() -> None:
    assert set(CLOSES) == set(COMMANDS)
    assert [kind for kind, by in CLOSES.items() if not by] == [c.Close]
    assert set(LAPSES) == set(COMMANDS) - {c.StartStep, c.StopStep, c.ProbeEffect, c.Close}


def test_every_command_but_close_may_fail() -> None:
    tags = {str(kind.__struct_config__.tag) for kind in COMMANDS} - {"close", "judge"}
    assert set(ON_FAILURE) == tags, "no rule asks a judge yet"


def test_the_life_of_a_step_is_closed_over_its_states() -> None:
    assert set(STEP) == set(get_args(StepState))
    assert {state for to in STEP.values() for state in to} <= set(STEP)
    assert {state for state, to in STEP.items() if not to} == {"done", "failed", "stopped", "skipped"}


@pytest.mark.parametrize("item", [i.Judged(step="1.1", verdict="allow"), i.TimerFired(timer="t")])
def test_judges_and_timers_that_nobody_asked_for_are_refused(item: i.AnyInput) -> None:
    machine = Machine(rules())
    machine.state.phase = "running"
    with pytest.raises(ProtocolError, match="no "):
        machine.receive(item)
