"""Facts: what the machine decided. Each is a record of the TurnLog, computed again and compared by replay."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec

from metnos.plan.diagnostics import Diagnostic
from metnos.policy.model import Verdict

Outcome = Literal[
    "effect_unknown",
    "cancelled",
    "budget_hit",
    "policy_denied",
    "user_aborted",
    "tool_hallucination",
    "plan_rejected",
    "not_understood",
    "timeout_steps",
    "error",
    "partial",
    "success",
]
OUTCOMES: tuple[Outcome, ...] = (
    "effect_unknown",
    "cancelled",
    "budget_hit",
    "policy_denied",
    "user_aborted",
    "tool_hallucination",
    "plan_rejected",
    "not_understood",
    "timeout_steps",
    "error",
    "partial",
    "success",
)
"""In order of precedence."""


class Fact(msgspec.Struct, frozen=True, kw_only=True, tag_field="fact", omit_defaults=True, gc=False):
    pass


class PlanRewritten(Fact, frozen=True, tag="plan_rewritten"):
    plan: int
    guard: str


class PlanRejected(Fact, frozen=True, tag="plan_rejected"):
    plan: int
    by: str
    """`reader` (the reply was no plan at all), `validator` or a guard's name."""
    diagnostics: tuple[Diagnostic, ...]


class PlanAccepted(Fact, frozen=True, tag="plan_accepted"):
    plan: int
    digest: str
    executors: dict[str, str]
    """`name@version` → contract digest."""
    body: dict[str, Any] = {}
    """The accepted plan, canonical; left out where it equals the plan of the input that brought it."""


class PolicyDecided(Fact, frozen=True, tag="policy_decided"):
    step: str
    verdict: Verdict
    forecast: bool = False
    digest: str = ""
    """Argument digest the verdict is bound to; empty for a forecast."""


class StepSkipped(Fact, frozen=True, tag="step_skipped"):
    step: str
    reason: str
    """`when`, `blocked_by 1.2`, `stopped`, `empty`."""


class StepUnknown(Fact, frozen=True, tag="step_unknown"):
    step: str
    operation: str


class TurnSuspended(Fact, frozen=True, tag="turn_suspended"):
    waiting: tuple[str, ...]
    """Approval and dialog ids."""
    ticket: str


class TurnClosed(Fact, frozen=True, tag="turn_closed"):
    outcome: Outcome
    detail: str = ""
    code: str = ""


AnyFact: TypeAlias = (
    PlanRewritten | PlanRejected | PlanAccepted | PolicyDecided | StepSkipped | StepUnknown | TurnSuspended | TurnClosed
)

__all__ = [
    "AnyFact",
    "Fact",
    "PlanAccepted",
    "PlanRejected",
    "PlanRewritten",
    "PolicyDecided",
    "StepSkipped",
    "StepUnknown",
    "TurnClosed",
    "TurnSuspended",
]
