"""A command that could not be carried out: what that means for each.

Law: `CommandFailed` closes the command that it names, whichever that is; the failure of a command about the outside
is reported like any other end of that command.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from metnos.turn import inputs as i
from metnos.turn.advance import advance
from metnos.turn.answer import close, end_log, take
from metnos.turn.people import approval_expired, dialog_expired
from metnos.turn.planning import nobody_proposes
from metnos.turn.proposals import propose
from metnos.turn.retry import timer_failed
from metnos.turn.running import effect_probed, filler_came, step_failed
from metnos.turn.table import refuse

if TYPE_CHECKING:
    from collections.abc import Callable

    from metnos.turn.state import TurnState


def command_failed(turn: TurnState, item: i.CommandFailed) -> None:
    """Hand the failure to whoever asked."""
    handler = ON_FAILURE.get(item.command)
    if handler is None:
        refuse(turn.phase, item, f"there is no command `{item.command}` that could fail here")
    handler(turn, item)


def _look_up(turn: TurnState, item: i.CommandFailed) -> None:
    """A cache that cannot be read is a miss."""
    take(turn, item, "look_up_plan")
    propose(turn, "first")


def _propose(turn: TurnState, item: i.CommandFailed) -> None:
    take(turn, item, "propose")
    nobody_proposes(turn, item.error)


def _filler(turn: TurnState, item: i.CommandFailed) -> None:
    take(turn, item, f"resolve_filler {item.ref}")
    filler_came(turn, item.ref, item.error)


def _start(turn: TurnState, item: i.CommandFailed) -> None:
    step_failed(turn, i.StepFailed(at=item.at, step=item.ref, error=item.error))


def _stop(turn: TurnState, item: i.CommandFailed) -> None:
    """A step that cannot be stopped runs on; its own closing input ends the matter."""
    if item.ref not in turn.calls:
        refuse(turn.phase, item, f"step {item.ref} is not running")


def _probe(turn: TurnState, item: i.CommandFailed) -> None:
    effect_probed(turn, i.EffectProbed(at=item.at, step=item.ref, found="unknown"))


def _approval(turn: TurnState, item: i.CommandFailed) -> None:
    """Who cannot be asked cannot say yes; why not is kept."""
    if item.ref in turn.approvals:
        turn.mark("user_aborted", item.error.code, item.error.message)
    approval_expired(turn, i.ApprovalExpired(at=item.at, approval=item.ref))


def _dialog(turn: TurnState, item: i.CommandFailed) -> None:
    if turn.dialog is not None and turn.dialog.dialog == item.ref:
        turn.mark("user_aborted", item.error.code, item.error.message)
    dialog_expired(turn, i.DialogExpired(at=item.at, dialog=item.ref))


def _timer(turn: TurnState, item: i.CommandFailed) -> None:
    timer_failed(turn, item)
    advance(turn)


def _compose(turn: TurnState, item: i.CommandFailed) -> None:
    """What was done stands; only its wording is missing."""
    take(turn, item, "compose")
    assert turn.outcome is not None
    if not turn.code:
        turn.code, turn.detail = item.error.code, item.error.message
    close(turn, turn.outcome)


def _learn(turn: TurnState, item: i.CommandFailed) -> None:
    take(turn, item, "learn")
    end_log(turn)


ON_FAILURE: Final[dict[str, Callable[[TurnState, i.CommandFailed], None]]] = {
    "look_up_plan": _look_up,
    "propose": _propose,
    "resolve_filler": _filler,
    "start_step": _start,
    "stop_step": _stop,
    "probe_effect": _probe,
    "ask_approval": _approval,
    "open_dialog": _dialog,
    "compose": _compose,
    "learn": _learn,
    "set_timer": _timer,
}
"""Tag of a command → what its failure means."""
