"""What a live turn is driven with: the edges of the world as callables, so that each can be swapped.

Law: types only. A port never decides; it does what one command says and reports what came of it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

if TYPE_CHECKING:
    from metnos.propose.candidates import Candidates
    from metnos.propose.model import PlanRequest, Proposal
    from metnos.turn.commands import AskApproval, Compose, OpenDialog, Propose, ResolveFiller

Clock: TypeAlias = "Callable[[], int]"
"""µs since 1970-01-01 UTC."""
Approve: TypeAlias = "Callable[[AskApproval], bool | Awaitable[bool | None] | None]"
"""`True`: allowed, `False`: refused, None: nobody can say now (the turn suspends); anything else is a failure."""
Answer: TypeAlias = "Callable[[OpenDialog], dict[str, Any] | Awaitable[dict[str, Any] | None] | None]"
"""Field → value (`answer` for a single question), or None: nobody can say now (the turn suspends)."""
Proposed: TypeAlias = "dict[str, Any] | str | bytes | Proposal"
"""A plan: an object with `steps`, JSON or line notation as text (also in one fenced block), or one with what it cost."""
Proposer: TypeAlias = "Callable[[PlanRequest, Candidates], Proposed | Awaitable[Proposed]]"
"""From a request and the candidates to a plan. It may raise; the fault becomes a `CommandFailed`."""
Question: TypeAlias = "Propose | AskApproval | OpenDialog | ResolveFiller | Compose"
"""Commands that a callable of the host's answers, or a model of the home."""
Boundary: TypeAlias = "Callable[[str], None]"
"""Called with the name of each durable boundary just passed (`BOUNDARIES`); tests crash the process there."""
Progress: TypeAlias = "Callable[[StepEvent], None]"

BOUNDARIES: tuple[str, ...] = (
    "turn-opened",
    "approval-committed",
    "before-intent",
    "intent-committed",
    "effect-done",
    "outcome-recorded",
    "turn-finished",
)


class StepEvent(msgspec.Struct, frozen=True, kw_only=True):
    """Progress of one step, for people; never recorded."""

    step: str
    tool: str
    state: str
    """`started`, `done`, `failed`, `stopped`."""


def no_boundary(_name: str) -> None:
    """The default: nothing is waiting at the boundary."""


def no_progress(_event: StepEvent) -> None:
    """The default: nobody is watching."""
