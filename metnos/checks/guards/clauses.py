"""Clause coverage and clause order: all that was asked for is in the plan, and in the order said.

Law: coverage looks at each clause for itself; order looks at pairs of clauses, and only where order matters: one of
the two has an effect. A reading that an effect is fed by comes before it, whatever the order of words. A plan that asks
back is no answer yet and may do less; one that goes on after done steps need not do them again. Where plans go on one
by one, none of them owes the whole request.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from metnos.checks.guards.asked import Action, actions_of, answering, inputs_of, is_particular
from metnos.checks.guards.model import Checker, Finding, verdict
from metnos.checks.guards.values import texts_of
from metnos.checks.model import Fine
from metnos.plan.diagnostics import Diagnostic
from metnos.plan.model import FinalAnswer

if TYPE_CHECKING:
    from metnos.checks.model import CheckContext, Checked, CheckedStep
    from metnos.request.model import Request


def clause_coverage(checked: Checked, context: CheckContext) -> Finding:
    """Each action that was asked for has a step that answers it."""
    request = context.request
    if request is None or not _is_whole(checked, context):
        return Fine(guard="clause-coverage", applicable=False)
    found: list[Diagnostic] = []
    for action in actions_of(request):
        if not is_particular(action) or answering(action, checked) or _is_answered_by_data(action, checked):
            continue
        there = ", ".join(step.contract.name for step in checked.steps) or "no step"
        expected = f"a step that answers `{action.said()}`: {_clause(request, action)}"
        found.append(Diagnostic(code="action-missing", where="/steps", found=there, expected=expected))
    return verdict("clause-coverage", context, list(dict.fromkeys(found)))


def _is_whole(checked: Checked, context: CheckContext) -> bool:
    ends = isinstance(checked.plan.terminal, FinalAnswer)
    return ends and not context.earlier_steps and not context.goes_on


def _is_answered_by_data(action: Action, checked: Checked) -> bool:
    """A host draws its own tables from the answer's data."""
    return action.intent.verb == "render" and checked.answer_data is not None


def _clause(request: Request, action: Action) -> str:
    clause = request.clauses[action.clause]
    return request.text[clause.start : clause.end].strip(" ,;:") or action.said()


def clause_order(checked: Checked, context: CheckContext) -> Finding:
    """Of two clauses of which one has an effect, the first comes first."""
    request = context.request
    if request is None:
        return Fine(guard="clause-order", applicable=False)
    found: list[Diagnostic] = []
    actions = actions_of(request)
    for at, one in enumerate(actions):
        for other in actions[at + 1 :]:
            if one.clause == other.clause or not (one.effectful or other.effectful):
                continue
            wrong = _out_of_order(_steps_for(one, checked), _steps_for(other, checked), checked)
            if wrong is not None:
                expected = f"`{one.said()}` before `{other.said()}`: {_clause(request, one)}"
                where = f"/steps/{wrong.number - 1}"
                found.append(Diagnostic(code="clause-order", where=where, found=wrong.contract.name, expected=expected))
    return verdict("clause-order", context, list(dict.fromkeys(found)))


def _steps_for(action: Action, checked: Checked) -> list[CheckedStep]:
    """The steps that answer an action: of several, those that name most of what its clause names. None: nothing is claimed."""
    if not is_particular(action) and action.intent.verb != "find":
        return []
    steps = [step for step in answering(action, checked) if action.effectful or step.worst_effect == "read"]
    named = {step.number: _named_by(step, action) for step in steps}
    most = max(named.values(), default=0)
    return [step for step in steps if named[step.number] == most]


def _named_by(step: CheckedStep, action: Action) -> int:
    """How many of the values that the clause names stand in the step."""
    texts = {text for text, _ in texts_of(step)}
    return sum(not texts.isdisjoint((slot.text, str(slot.value))) for slot in action.slots)


def _out_of_order(earlier: list[CheckedStep], later: list[CheckedStep], checked: Checked) -> CheckedStep | None:
    """The last step that answers the later clause, if all of them come before all that answer the earlier one."""
    if not earlier or not later:
        return None
    first = min(step.number for step in earlier)
    last = max(later, key=lambda step: step.number)
    if last.number >= first:
        return None
    fed = any({step.number for step in later} & inputs_of(step, checked) for step in earlier)
    return None if fed else last


CLAUSE_COVERAGE = Checker(name="clause-coverage", judge=clause_coverage, needs_request=True)
CLAUSE_ORDER = Checker(name="clause-order", judge=clause_order, needs_request=True)
