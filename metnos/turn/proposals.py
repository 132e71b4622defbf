"""Asking for a plan.

Law: each time is counted, and past the budget nobody is asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from metnos.turn.answer import ask, close, language_of
from metnos.turn.commands import Propose

if TYPE_CHECKING:
    from metnos.plan.diagnostics import Diagnostic
    from metnos.turn.state import Brought, TurnState


def propose(
    turn: TurnState,
    purpose: Brought,
    plan: dict[str, Any] | None = None,
    written: str = "",
    told: tuple[Diagnostic, ...] = (),
) -> None:
    """Ask for a plan, if the budget has one left.

    Args:
        turn: The turn.
        purpose: Of the plan.
        plan: The one that was rejected, or that failed.
        written: What was written in its place, where it was no plan.
        told: What is wrong with it.
    """
    if turn.proposals >= turn.opened.budget.plans:
        turn.mark("budget_hit", "plan-budget")
        close(turn, "budget_hit")
        return
    assert purpose in ("first", "repair", "recovery", "continuation")
    turn.proposals += 1
    turn.purpose = purpose
    turn.phase = "proposing"
    ask(
        turn,
        Propose(
            request=turn.opened.request or "",
            language=language_of(turn),
            purpose=purpose,
            diagnostics=told,
            plan=plan,
            written=written,
        ),
    )
