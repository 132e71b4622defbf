"""What people say: approvals, answers to dialogs, and stop.

Law: who is asked and how is not known here; what an answer is bound to is in `turn.consent`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from metnos.turn.advance import advance
from metnos.turn.answer import close, end_log
from metnos.turn.arguments import check
from metnos.turn.choice import chosen
from metnos.turn.commands import OpenDialog, StopStep
from metnos.turn.consent import expired, given, refused, seen
from metnos.turn.inputs import VirtualInput
from metnos.turn.planning import answered, confirmed
from metnos.turn.schedule import halt
from metnos.turn.table import refuse
from metnos.turn.wanted import filled

if TYPE_CHECKING:
    from metnos.turn import inputs as i
    from metnos.turn.state import Approval, TurnState

ANSWER = "answer"
"""Name of the input that the answer to an `ask` terminal becomes."""


def targets_seen(turn: TurnState, item: i.TargetsSeen) -> None:
    """The driver has looked at what a question is about."""
    approval = turn.approvals.get(item.approval)
    if approval is not None:
        seen(approval, item)
    elif item.approval not in turn.lapsed:
        refuse(turn.phase, item, f"no approval {item.approval} is open")


def approval_given(turn: TurnState, item: i.ApprovalGiven) -> None:
    """Yes."""
    approval = _approval(turn, item, item.approval)
    if approval is not None:
        given(turn, approval, item)
        advance(turn)


def approval_refused(turn: TurnState, item: i.ApprovalRefused) -> None:
    """No."""
    approval = _approval(turn, item, item.approval)
    if approval is not None:
        refused(turn, approval)
        advance(turn)


def approval_expired(turn: TurnState, item: i.ApprovalExpired) -> None:
    """Nothing, for too long."""
    approval = _approval(turn, item, item.approval)
    if approval is not None:
        expired(turn, approval)
        advance(turn)


def _approval(turn: TurnState, item: i.Input, name: str) -> Approval | None:
    """The open approval `name`, each used once; None if the turn no longer needs the answer."""
    approval = turn.approvals.get(name)
    if approval is None and name not in turn.lapsed:
        refuse(turn.phase, item, f"no approval {name} is open")
    turn.lapsed.discard(name)
    return approval


def dialog_answered(turn: TurnState, item: i.DialogAnswered) -> None:
    """The answers become inputs of the turn; what is left is planned anew, what is done stays done."""
    dialog = _dialog(turn, item, item.dialog)
    if item.by is not UNSET and item.by not in (turn.opened.owner, turn.opened.actor):
        refuse(turn.phase, item, "only the owner or the actor of the turn may answer")
    schemas = answer_schemas(dialog)
    if item.answers.keys() != schemas.keys():
        refuse(turn.phase, item, f"the dialog asks for {', '.join(sorted(schemas))}")
    for name, schema in schemas.items():
        wrong = check(schema, item.answers[name])
        if wrong is not None:
            refuse(turn.phase, item, f"the answer {name} does not fit: {wrong.message}")
    _close_dialog(turn)
    if dialog.guess is not UNSET:
        confirmed(turn, dialog.guess, item.answers)
        return
    if dialog.offers:
        chosen(turn, dialog, item.answers)
        advance(turn)
        return
    if turn.wanted is not None and not turn.plans:
        filled(turn, item.answers)
        return
    for name, schema in schemas.items():
        turn.inputs[name] = VirtualInput(data=item.answers[name], schema=schema, source="user")
    answered(turn, item.answers)


def dialog_expired(turn: TurnState, item: i.DialogExpired) -> None:
    """Nobody answered: as with an approval, silence is a person's no."""
    dialog = _dialog(turn, item, item.dialog)
    _close_dialog(turn)
    turn.mark("user_aborted", "dialog-expired", item.dialog)
    if dialog.offers:
        halt(turn)
        advance(turn)
    else:
        close(turn, "user_aborted")


def _dialog(turn: TurnState, item: i.Input, name: str) -> OpenDialog:
    dialog = turn.dialog
    if dialog is None or dialog.dialog != name:
        refuse(turn.phase, item, f"no dialog {name} is open")
    return dialog


def _close_dialog(turn: TurnState) -> None:
    turn.open.pop("open_dialog", None)
    turn.dialog = None


def answer_schemas(dialog: OpenDialog) -> dict[str, dict[str, Any]]:
    """Name → JSON Schema of what a dialog must be answered with; one name, `answer`, for an `ask`."""
    if dialog.form:
        return {name: field["schema"] for name, field in dialog.form.items()}
    if dialog.choices:
        return {ANSWER: {"enum": list(dialog.choices)}}
    return {ANSWER: {"type": "string"}}


def cancelled(turn: TurnState, item: i.Cancelled) -> None:
    """Stop what runs, start nothing, keep what was done. A second stop changes nothing."""
    if turn.cancelling:
        return
    if turn.phase == "learning":
        end_log(turn)
        return
    turn.cancelling = True
    if turn.phase == "composing":
        turn.outcome = None
    turn.mark("cancelled", "cancelled", item.by)
    if turn.phase not in ("running", "suspended"):
        close(turn, "cancelled")
        return
    halt(turn)
    turn.commands.extend(StopStep(step=key) for key in turn.calls if key not in turn.probing)
    advance(turn)
