"""Which turns are a lesson for the plan cache, and which failures speak against a plan.

Law: pure, and apart from who drives, so that an evaluation learns as an engine does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from metnos.turn.state import TurnState

PLAN_FAULTS: Final = frozenset(("arguments", "data"))
"""Classes of a step's failure that speak against the plan; of all others the world is to blame."""


def is_lesson(state: TurnState) -> bool:
    """Whether the plan that succeeded was made for the request and nothing else, and its words alone admit it."""
    questions = state.dialogs - state.guesses  # that a plan was shown before it began has not changed it
    return (
        not state.inferred
        and state.opened.plan is None
        and len(state.plans) == 1
        and questions == 0
        and not state.inputs
    )
