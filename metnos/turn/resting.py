"""Nothing is left in the queue: what the turn does then.

Law: it goes on waiting for what runs, suspends where only people can go on, asks what its plan asks, asks for the next
plan where this one has no end (`GoesOn`), or ends; a plan that failed by its own fault may be replaced first
(`turn.recovery`). A plan that was stopped is not gone on from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from metnos.plan.model import Ask, GoesOn, NeedsInputs
from metnos.turn.answer import ask, conclude, suspend
from metnos.turn.commands import OpenDialog
from metnos.turn.proposals import propose
from metnos.turn.recovery import may_recover, recover

if TYPE_CHECKING:
    from metnos.turn.state import TurnState


def rest(turn: TurnState) -> None:
    """Nothing is left in the queue: go on waiting, suspend, or end the turn."""
    if turn.calls or turn.pausing or (turn.open_fillers and not turn.halted):
        turn.phase = "stopping" if turn.cancelling else "running"
    elif turn.approvals or (turn.dialog is not None and turn.outcome is None):
        suspend(turn)
    elif turn.outcome is None and not turn.halted and not _is_last(turn):
        _go_on(turn)
    elif may_recover(turn):
        _recover_when_alone(turn)
    else:
        conclude(turn)


def _recover_when_alone(turn: TurnState) -> None:
    """A filler that is still being written belongs to the plan that failed: the next one may use its name."""
    if turn.open_fillers:
        turn.phase = "running"
    else:
        recover(turn)


def _is_last(turn: TurnState) -> bool:
    return not isinstance(turn.plan.checked.plan.terminal, Ask | NeedsInputs | GoesOn)


def _go_on(turn: TurnState) -> None:
    if isinstance(turn.plan.checked.plan.terminal, GoesOn):
        propose(turn, "continuation")
    else:
        _open_dialog(turn)


def _open_dialog(turn: TurnState) -> None:
    terminal = turn.plan.checked.plan.terminal
    turn.dialogs += 1
    name = f"{turn.opened.turn}.dialog{turn.dialogs}"
    if isinstance(terminal, Ask):
        turn.dialog = OpenDialog(dialog=name, question=terminal.question, choices=terminal.choices)
    else:
        assert isinstance(terminal, NeedsInputs)
        form: dict[str, dict[str, Any]] = {
            key: {"schema": field.schema, "label": field.label} for key, field in terminal.form.items()
        }
        turn.dialog = OpenDialog(dialog=name, form=form)
    ask(turn, turn.dialog)
    suspend(turn)
