"""Going on after a crash or a suspension, in the same log.

Law:

1. A turn goes on only under what it was begun with: `rules`, `policy`, and each executor of an accepted plan
   (`name@version` → contract digest). Whatever is named in both `TurnOpened.versions` (or an accepted plan) and
   `TurnResumed.versions` must be equal; else `ResumeRefused` names it and nothing changes, so that the turn can
   still be resumed once the recorded version is back.
2. Whatever was open is asked again: the driver that knew of it is gone.
3. A step that was announced and has no end is unknown. Read or idempotent: the same operation again, under the same
   id. Else its probe; failing that, unknown for good.
4. In a turn that was stopping, nothing starts again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from metnos.turn.advance import advance
from metnos.turn.facts import StepUnknown
from metnos.turn.step import end, in_doubt, is_doubtful, probe, start_again
from metnos.turn.table import ResumeRefused

if TYPE_CHECKING:
    from metnos.turn.inputs import TurnResumed
    from metnos.turn.state import Call, TurnState

PINNED = ("rules", "policy")


def turn_resumed(turn: TurnState, item: TurnResumed) -> None:
    """A new driver takes over."""
    _check_versions(turn, item)
    turn.commands.extend(turn.open.values())
    turn.commands.extend(approval.command for approval in turn.approvals.values())
    for call in tuple(turn.calls.values()):
        _again(turn, call)
    turn.waiting = ()
    advance(turn)


def _again(turn: TurnState, call: Call) -> None:
    if call.key in turn.probing:
        probe(turn, call)
        return
    if not call.began:
        if turn.halted:
            end(turn, call, "stopped")
        else:
            start_again(turn, call)
    elif is_doubtful(call):
        in_doubt(turn, call, None)
    elif turn.cancelling:
        end(turn, call, "stopped")
    else:
        turn.facts.append(StepUnknown(step=call.key, operation=call.operation))
        start_again(turn, call)


def _check_versions(turn: TurnState, item: TurnResumed) -> None:
    recorded = {name: turn.opened.versions.get(name, "") for name in PINNED}
    for plan in turn.plans:
        recorded |= {run.step.contract.reference: run.step.contract.digest for run in plan.runs}
    for name, before in recorded.items():
        now = item.versions.get(name, "")
        if before and now and before != now:
            raise ResumeRefused(name, before, now)
