"""The turn machine: `receive(input) -> Reaction(facts, commands)`, a pure fold over a turn's inputs.

Law: the tables of `turn.table` say what may come and where it leads; this module walks them. It reads no clock,
draws no number and awaits nothing. The same inputs give the same facts and the same commands, always.

    machine = Machine(rules)
    reaction = machine.receive(TurnOpened(turn="t1", now="2026-11-30T12:00:00+01:00", mode="run", plan=plan))
    for command in reaction.commands:
        ...  # obey it, and report what came of it

A handler checks its whole input before it changes anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from metnos.turn.answer import answer_composed, learned
from metnos.turn.failed import command_failed
from metnos.turn.people import (
    approval_expired,
    approval_given,
    approval_refused,
    cancelled,
    dialog_answered,
    dialog_expired,
    targets_seen,
)
from metnos.turn.planning import plan_found, plan_missed, plan_proposed, turn_opened
from metnos.turn.resume import turn_resumed
from metnos.turn.retry import timer_fired
from metnos.turn.rules import Reaction, Rules
from metnos.turn.running import (
    effect_probed,
    filler_resolved,
    judged,
    step_failed,
    step_finished,
    step_started,
    step_stopped,
)
from metnos.turn.schedule import in_order
from metnos.turn.state import TurnState
from metnos.turn.table import TURN, ProtocolError, ResumeRefused, row_for

if TYPE_CHECKING:
    from collections.abc import Callable

    from metnos.turn.inputs import AnyInput, Input
    from metnos.turn.table import Phase

NOTHING: Final = Reaction()

HANDLERS: Final[dict[str, Callable[[TurnState, Any], None]]] = {
    handler.__name__: handler
    for handler in (
        turn_opened,
        plan_found,
        plan_missed,
        plan_proposed,
        filler_resolved,
        step_started,
        step_finished,
        step_failed,
        step_stopped,
        effect_probed,
        targets_seen,
        approval_given,
        approval_refused,
        approval_expired,
        dialog_answered,
        dialog_expired,
        judged,
        timer_fired,
        answer_composed,
        learned,
        cancelled,
        turn_resumed,
        command_failed,
    )
}
"""Handler of each row of the table, by name."""

_BY_PHASE: Final[dict[Phase, dict[type[Input], Callable[[TurnState, Any], None]]]] = {
    phase: {kind: HANDLERS[row.handler] for kind, row in rows.items()} for phase, rows in TURN.items()
}


class Machine:
    """One turn. `state` is for reading.

    Args:
        rules: The rules of the turn; evaluation swaps them.
    """

    __slots__ = ("state",)

    def __init__(self, rules: Rules) -> None:
        self.state = TurnState(rules)

    def receive(self, item: AnyInput) -> Reaction:
        """Take one input in.

        Returns:
            The facts decided, in order, and the commands to obey, sorted by (plan, step, item).

        Raises:
            ProtocolError: The input cannot come now; nothing has changed. The driver's fault.
            ResumeRefused: `TurnResumed` under other versions than the turn was begun with; nothing has changed.
        """
        turn = self.state
        handler = _BY_PHASE[turn.phase].get(type(item))
        if handler is None:
            row_for(turn.phase, item)
            raise AssertionError(f"{turn.phase} has a row and no handler")
        before = turn.at
        turn.at = item.at
        try:
            handler(turn, item)
        except (ProtocolError, ResumeRefused):
            turn.at = before
            raise
        if not turn.facts and not turn.commands:
            return NOTHING
        commands = turn.commands
        reaction = Reaction(tuple(turn.facts), in_order(commands) if len(commands) > 1 else tuple(commands))
        turn.facts.clear()
        commands.clear()
        return reaction


__all__ = ["HANDLERS", "Machine", "ProtocolError", "ResumeRefused"]
