"""What a guard is: a name and one pure function. Two sorts, rewriters and checkers.

Law: derived from contracts and the request, never from an incident. A guard reads the accepted plan and the context
and nothing else; it does not know the other guards.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import msgspec

from metnos.checks.model import CheckContext, Checked, Fine, Refuse, Repropose
from metnos.plan.diagnostics import Diagnostic
from metnos.plan.model import Plan

Rewrite: TypeAlias = Callable[[Checked, CheckContext], Plan]
"""The plan as it should be; the very same object where nothing is to be done."""
Judge: TypeAlias = Callable[[Checked, CheckContext], "Finding"]
Finding: TypeAlias = Fine | Repropose | Refuse


class Rewriter(msgspec.Struct, frozen=True, kw_only=True):
    """`reads` and `writes` name parts of a plan; no rewriter writes what another reads or writes."""

    name: str
    rewrite: Rewrite
    reads: frozenset[str]
    writes: frozenset[str]


class Checker(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    judge: Judge
    needs_request: bool = False
    """Without a request it is not applicable."""


def verdict(guard: str, context: CheckContext, diagnostics: list[Diagnostic]) -> Finding:
    """Fine if there is nothing to say; a model may propose again, everyone else is refused."""
    if not diagnostics:
        return Fine(guard=guard)
    if context.source == "model":
        return Repropose(guard=guard, diagnostics=tuple(diagnostics))
    return Refuse(guard=guard, diagnostics=tuple(diagnostics))
