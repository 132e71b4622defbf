"""The rules a machine is built with, as one value: pure callables with one digest; evaluation swaps them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from metnos.checks.model import CheckContext, Checked, Guarded
from metnos.plan.model import Plan
from metnos.policy.model import Question, Verdict
from metnos.request.model import Request
from metnos.turn.commands import AnyCommand
from metnos.turn.facts import AnyFact


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    normalise: Callable[[str, str | None], Request]
    """(text, language or None) → what the person said."""
    validate: Callable[[Any, CheckContext], Checked]
    """Plan file (JSON object) → checked plan with every fault; never raises on bad data."""
    guard: Callable[[Checked, CheckContext], Guarded]
    policy: Callable[[Question], Verdict]
    learn: Callable[[str, str], bool] | None = None
    """(plan source, outcome) → whether the turn ends with a `Learn`; None: never."""
    digest: str = ""
    policy_digest: str = ""


class Reaction(msgspec.Struct, frozen=True, gc=False):
    """Facts in the order decided; commands sorted by (plan, step, item)."""

    facts: tuple[AnyFact, ...] = ()
    commands: tuple[AnyCommand, ...] = ()


__all__ = ["Plan", "Reaction", "Rules"]
