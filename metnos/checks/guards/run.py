"""Every plan passes the guards, whatever its source: rewriters first, then all checkers.

Law: fail closed: a guard that raises is a refusal with the code `guard-failed`. After a rewrite the plan is checked
again as a whole, and a rewrite that breaks it is refused. Nothing stops at the first finding.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from metnos.checks.guards.afterwards import CLAUSE_PLACE
from metnos.checks.guards.clauses import CLAUSE_COVERAGE, CLAUSE_ORDER
from metnos.checks.guards.destination import EXPLICIT_DESTINATION
from metnos.checks.guards.effects import OVERWRITE_PROTECTION, REQUESTED_EFFECTS
from metnos.checks.guards.grounding import GROUNDING
from metnos.checks.guards.model import Checker, Rewriter
from metnos.checks.guards.provider import PROVIDER_NAMED
from metnos.checks.guards.rewriters import REWRITERS
from metnos.checks.model import CheckContext, Checked, Fine, Guarded, GuardFinding, Refuse, Rewritten
from metnos.plan.diagnostics import Diagnostic

CHECKERS: tuple[Checker, ...] = (
    REQUESTED_EFFECTS,
    GROUNDING,
    OVERWRITE_PROTECTION,
    CLAUSE_COVERAGE,
    CLAUSE_ORDER,
    CLAUSE_PLACE,
    EXPLICIT_DESTINATION,
    PROVIDER_NAMED,
)

Validate = Callable[[Any, CheckContext], Checked]


def guard(
    checked: Checked,
    context: CheckContext,
    validator: Validate,
    *,
    rewriters: tuple[Rewriter, ...] = REWRITERS,
    checkers: tuple[Checker, ...] = CHECKERS,
) -> Guarded:
    """Pass a plan through every guard.

    Args:
        checked: What the validator gave; a plan with faults is handed back as it is.
        context: The context it was checked in.
        validator: Checks the plan again after a rewrite.
        rewriters: The first table.
        checkers: The second table.

    Returns:
        The plan after the rewriters, and what every guard found.
    """
    if not checked.ok:
        return Guarded(checked=checked)
    if context.request is not None and not context.providers:
        known: dict[str, tuple[str, ...]] = getattr(validator, "providers", {})
        context = msgspec.structs.replace(context, providers=known) if known else context
    findings: list[GuardFinding] = []
    for rewriter in rewriters:
        checked = _rewrite(rewriter, checked, context, validator, findings)
    findings += [_judge(checker, checked, context) for checker in checkers]
    return Guarded(checked=checked, findings=tuple(findings))


def guard_with(validator: Validate) -> Callable[[Checked, CheckContext], Guarded]:
    """`guard` as the turn machine's rules take it."""

    def guarded(checked: Checked, context: CheckContext) -> Guarded:
        return guard(checked, context, validator)

    return guarded


def _rewrite(
    rewriter: Rewriter, checked: Checked, context: CheckContext, validator: Validate, findings: list[GuardFinding]
) -> Checked:
    try:
        plan = rewriter.rewrite(checked, context)
        if plan is checked.plan:
            findings.append(Fine(guard=rewriter.name))
            return checked
        again = validator(plan, context)
    except Exception as error:  # noqa: BLE001 - fail closed: whatever it is, the plan is refused
        findings.append(_failed(rewriter.name, error))
        return checked
    if not again.ok:
        findings.append(Refuse(guard=rewriter.name, diagnostics=again.diagnostics))
        return checked
    findings.append(Rewritten(guard=rewriter.name, plan=again.plan))
    return again


def _judge(checker: Checker, checked: Checked, context: CheckContext) -> GuardFinding:
    if checker.needs_request and context.request is None:
        return Fine(guard=checker.name, applicable=False)
    try:
        return checker.judge(checked, context)
    except Exception as error:  # noqa: BLE001 - fail closed
        return _failed(checker.name, error)


def _failed(name: str, error: Exception) -> Refuse:
    fault = Diagnostic(code="guard-failed", where="", found=f"{name}: {type(error).__name__}: {error}"[:200])
    return Refuse(guard=name, diagnostics=(fault,))
