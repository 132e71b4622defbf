"""Clause place: what is only said of the next thing that is asked for is not acted on by what comes before it.

Law: a place binds to its own clause. "Delete the logs and show what is in documents" deletes nothing in documents: a
name that stands only behind the next clause that asks for something is neither a target of a step that answers an
earlier one, nor where its input was looked for. A step that may as well answer the later clause may use it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from metnos.checks.guards.asked import Action, actions_of, answers, inputs_of
from metnos.checks.guards.grounding import normalised
from metnos.checks.guards.model import Checker, Finding, verdict
from metnos.checks.guards.values import texts_of
from metnos.checks.model import Fine
from metnos.plan.diagnostics import Diagnostic
from metnos.request.named import names_said
from metnos.request.tokens import tokenise
from metnos.request.wider import names_with_blanks

if TYPE_CHECKING:
    from metnos.checks.model import CheckContext, Checked, CheckedStep
    from metnos.request.model import Request

_NAMING = frozenset({"path", "name", "quoted", "glob"})


def clause_place(checked: Checked, context: CheckContext) -> Finding:
    """No step with an effect uses a name that belongs to a later clause alone."""
    request = context.request
    if request is None:
        return Fine(guard="clause-place", applicable=False)
    actions = [action for action in actions_of(request) if action.effectful]
    acting = [step for step in checked.steps if step.worst_effect != "read"]
    found: list[Diagnostic] = []
    if actions and acting and next_asked(request, actions[0]) < len(request.text):
        later = {action: _only_later(request, action) for action in actions}
        for step in acting:
            for text in _strange(step, checked, [later[action] for action in actions if answers(action, step)]):
                where = f"/steps/{step.number - 1}"
                expected = "what its own clause, or one before it, names"
                found.append(Diagnostic(code="clause-place", where=where, found=text, expected=expected))
    return verdict("clause-place", context, list(dict.fromkeys(found)))


def next_asked(request: Request, action: Action) -> int:
    """Where the next clause that asks for something begins; behind everything if there is none."""
    later = (clause.start for clause in request.clauses[action.clause + 1 :] if clause.intents)
    return next(later, len(request.text))


def _only_later(request: Request, action: Action) -> frozenset[str]:
    """Names that only stand behind the clause that follows, normalised."""
    start = next_asked(request, action)
    slots = [item for slot in request.slots for item in slot.items or (slot,) if item.kind in _NAMING]
    said = [(slot.start, text) for slot in slots for text in (slot.text, str(slot.value))]
    said += [(reading.start, reading.text) for reading in names_with_blanks(request)]
    bare = frozenset(names_said(request))
    tokens = ((token.start, request.text[token.start : token.end]) for token in tokenise(request.text))
    said += [(at, text) for at, text in tokens if text in bare]
    sooner = {normalised(text) for at, text in said if at < start}
    return frozenset(normalised(text) for at, text in said if at >= start) - sooner


def _strange(step: CheckedStep, checked: Checked, later: list[frozenset[str]]) -> list[str]:
    """What a step uses, itself or by its inputs, of what only later clauses say."""
    if not later:
        return []
    names = frozenset[str].intersection(*later)
    inputs = [checked.steps[number - 1] for number in sorted(inputs_of(step, checked))]
    texts = texts_of(step, step.contract.targets)
    texts += [text for each in inputs if each.worst_effect == "read" for text in texts_of(each)]
    return [text for text, _ in texts if normalised(text) in names]


CLAUSE_PLACE = Checker(name="clause-place", judge=clause_place, needs_request=True)
