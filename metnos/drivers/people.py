"""Commands that ask a person: approvals and dialogs. They are on disk before anybody is asked."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from metnos.turn import inputs as i

if TYPE_CHECKING:
    from metnos.drivers.state import TurnUnderWay
    from metnos.turn import commands as c


def ask(turn: TurnUnderWay, command: c.AskApproval) -> None:
    """Ask for consent; without anybody to ask the turn will suspend."""
    turn.ports.boundary("approval-committed")
    if turn.ports.approve is None or command.approval not in turn.machine.state.approvals:
        return
    said = turn.ports.approve(command)
    if inspect.isawaitable(said):
        turn.pending.append((command, said))
    else:
        answered(turn, command, said)


def answered(turn: TurnUnderWay, command: c.AskApproval, said: Any) -> None:
    """Report yes or no. Only `True` is a yes; None: nobody can say now."""
    if said is None or command.approval not in turn.machine.state.approvals:
        return
    turn.suspended = False
    at, by = turn.clock(), turn.grant.owner
    if said is True:
        turn.feed(i.ApprovalGiven(at=at, approval=command.approval, digest=command.digest, by=by))
    else:
        turn.feed(i.ApprovalRefused(at=at, approval=command.approval, by=by))


def open_dialog(turn: TurnUnderWay, command: c.OpenDialog) -> None:
    """Ask a question or show a form."""
    if turn.ports.answer is None or turn.machine.state.dialog is not command:
        return
    answers = turn.ports.answer(command)
    if inspect.isawaitable(answers):
        turn.pending.append((command, answers))
    else:
        dialog_answered(turn, command, answers)


def dialog_answered(turn: TurnUnderWay, command: c.OpenDialog, answers: Any) -> None:
    """Report the answers; None: nobody can say now."""
    if answers is None or turn.machine.state.dialog is not command:
        return
    turn.suspended = False
    turn.feed(i.DialogAnswered(at=turn.clock(), dialog=command.dialog, answers=dict(answers)))
