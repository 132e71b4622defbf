"""Working off the queue until nothing more can start; then wait, suspend, or end the turn.

Law: the queue holds steps whose last input has come and calls whose way is free; each is looked at once for each
time that it is put in. Nothing here depends on the order in which results came, but the order of the facts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from metnos.turn.choice import leave_unchosen, offer
from metnos.turn.consent import clear
from metnos.turn.filling import ask_due
from metnos.turn.resting import rest
from metnos.turn.retry import leave_pausing
from metnos.turn.schedule import drop_unstarted, enter, settle, skip
from metnos.turn.state import Call
from metnos.turn.step import fail_step, gather, launch, prepare, why_not

if TYPE_CHECKING:
    from metnos.turn.state import StepRun, TurnState


def advance(turn: TurnState) -> None:
    """Start what can start, skip what will not, then rest."""
    if turn.phase not in ("running", "suspended", "stopping"):
        return
    queue = turn.queue
    while queue or turn.sweep:
        if turn.sweep:
            leave_unchosen(turn)
            leave_pausing(turn)
            for run in drop_unstarted(turn):
                gather(turn, run)
            continue
        waiting = queue.popleft()
        if isinstance(waiting, Call):
            launch(turn, waiting)
        elif waiting.state == "waiting":
            _offer(turn, waiting)
        elif waiting.state == "ready":
            clear(turn, waiting)
    if turn.due and not turn.halted:
        ask_due(turn)
    if turn.choosing:
        offer(turn)
    rest(turn)


def _offer(turn: TurnState, run: StepRun) -> None:
    """The inputs of `run` are there, or will never be."""
    reason = why_not(turn, run)
    if reason is not None:
        skip(turn, run, reason)
        return
    fault = prepare(turn, run)
    if fault is not None:
        fail_step(turn, run, fault)
        settle(turn, run, "failed")
        return
    if turn.plan.board is not None:
        enter(turn, run)
    if run.left:
        clear(turn, run)
    else:
        gather(turn, run)
