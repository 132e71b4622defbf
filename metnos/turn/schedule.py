"""When a step may start: its inputs are there, and no earlier unfinished step conflicts with it.

Law: this module counts and queues; it neither resolves arguments nor asks policy. Work is proportional to the
steps that become ready, not to the plan: each step knows how many inputs are missing and who waits for it, and a
step that is held back stands in the queue of the one call that holds it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from metnos.turn.claims import Board, claims_of
from metnos.turn.commands import ResolveFiller
from metnos.turn.facts import StepSkipped
from metnos.turn.references import fillers_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metnos.turn.claims import Order
    from metnos.turn.commands import AnyCommand
    from metnos.turn.state import Call, PlanRun, StepRun, TurnState
    from metnos.turn.table import StepState


def wire(plan: PlanRun, folder: str) -> None:
    """Connect each step with the steps and fillers it waits for, and enter what touches the outside on the board."""
    runs = plan.runs
    for run in runs:
        waits = run.known.waits
        run.missing = len(waits)
        for number in waits:
            runs[number - 1].dependents.append(run)
    if plan.checked.plan.fillers:
        for run in runs:
            run.fillers = fillers_in(run.step)
            run.missing += len(run.fillers)
            for name in run.fillers:
                plan.fillers.setdefault(name, []).append(run)
    if plan.known.acts:
        plan.board = Board()
        for run in runs:
            contract = run.step.contract
            fixed = all(resource.arg is None for resource in contract.resources or ())
            claims = claims_of(contract, {}, folder) if fixed else None
            if claims != ():
                plan.board.place((run.number, 0), claims, run.step.worst_effect != "read")


def queue_ready(turn: TurnState, plan: PlanRun) -> None:
    """Put every step that waits for nothing into the queue."""
    turn.queue.extend(run for run in plan.runs if run.missing == 0)


def arrived(turn: TurnState, waiting: Sequence[StepRun]) -> None:
    """One input of each of these steps is there (or will never be)."""
    for run in waiting:
        run.missing -= 1
        if run.missing == 0:
            turn.queue.append(run)


def leave(turn: TurnState, order: Order) -> None:
    """`order` is no longer in anybody's way."""
    board = turn.plan.board
    if board is not None:
        board.remove(order)
        turn.queue.extend(board.release(order))


def settle(turn: TurnState, run: StepRun, state: StepState) -> None:
    """`run` has ended: whoever waited for it moves on."""
    run.state = state
    for waiting in run.dependents:
        waiting.missing -= 1
        if waiting.missing == 0:
            turn.queue.append(waiting)
    if turn.plan.board is not None:
        leave(turn, (run.number, 0))


def skip(turn: TurnState, run: StepRun, reason: str) -> None:
    """`run` will not start; the log says why."""
    run.reason = reason
    turn.facts.append(StepSkipped(step=run.key, reason=reason))
    settle(turn, run, "skipped")


def halt(turn: TurnState) -> None:
    """No new step starts; running ones are let finish."""
    if not turn.halted:
        turn.halted = True
        turn.sweep = True


def drop_unstarted(turn: TurnState) -> list[StepRun]:
    """After a halt: skip what has not started; answer the lifted steps of which nothing is left to run."""
    turn.sweep = False
    turn.queue.clear()
    turn.lapsed.update(turn.approvals)
    turn.approvals.clear()
    ended: list[StepRun] = []
    for run in turn.plan.runs if turn.plans else ():
        if run.state in ("waiting", "ready", "asking"):
            skip(turn, run, "stopped")
        elif run.state == "started" and run.lifted:
            _drop_items(run)
            if run.left == 0:
                ended.append(run)
    turn.queue.clear()
    return ended


def _drop_items(run: StepRun) -> None:
    for call in run.calls:
        if call.state in ("ready", "asking"):
            call.state = "skipped"
            run.left -= 1


def held_back(turn: TurnState, waiting: StepRun | Call, order: Order, calls: Sequence[Call]) -> bool:
    """Whether one of `calls` conflicts with something unfinished before `order`; then `waiting` is held there."""
    board = turn.plan.board
    if board is None:
        return False
    for call in calls:
        blocker = board.blocker(order, call.claims, call.effect != "read")
        if blocker is not None:
            board.hold(blocker, waiting)
            return True
    return False


def enter(turn: TurnState, run: StepRun) -> None:
    """The arguments of `run` are resolved: it claims what they name instead of everything."""
    board = turn.plan.board
    if board is None:
        return
    board.remove((run.number, 0))
    for call in run.calls:
        if call.claims != () and call.state == "ready":
            board.place(call.order, call.claims, call.effect != "read")
    turn.queue.extend(board.release((run.number, 0)))


def in_order(commands: list[AnyCommand]) -> tuple[AnyCommand, ...]:
    """Sorted by (plan, step, item); commands of the turn itself come last, fillers first, by name."""
    if len(commands) > 1:
        commands.sort(key=_place)
    return tuple(commands)


_LAST = (1 << 30,)


def _place(command: AnyCommand) -> tuple[int, tuple[int, ...], str]:
    if isinstance(command, ResolveFiller):
        return (0, (), command.name)
    step: str = getattr(command, "step", "")
    place = tuple(int(part) for part in step.split(".")) if step else _LAST
    return (1, place, "")
