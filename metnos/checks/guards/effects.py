"""No unrequested effect, and nothing replaced unasked: what a plan may do is what was asked for.

Law: the effect of a step is the worst its contract still allows; what was asked for is what the lexicon found in
the request. A request with a negation admits no effect at all: which part of it is negated is not guessed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from metnos.checks.bound import rank
from metnos.checks.guards.model import Checker, Finding, verdict
from metnos.plan.diagnostics import Diagnostic
from metnos.values.expressions import DictOf

if TYPE_CHECKING:
    from metnos.checks.model import CheckContext, Checked, CheckedStep
    from metnos.contracts.model import Contract
    from metnos.request.model import Request
    from metnos.sdk import EffectClass

REPLACING = frozenset({"overwrite", "replace"})
"""Modifiers and verbs that ask for something to be replaced."""
ADMITS: dict[EffectClass, frozenset[EffectClass]] = {
    "create": frozenset({"create", "change"}),
    "change": frozenset({"change"}),
    "delete": frozenset({"delete"}),
    "send": frozenset({"send"}),
    "execute": frozenset({"execute"}),
}
"""Effect of a step → effects of a request intent that ask for it. Who asks to change a file accepts a new one."""
_READING: frozenset[EffectClass] = frozenset({"read"})
OWN_WORDS = frozenset({"author", "host"})
"""Sources of a plan whose writer is the person who runs it."""


def requested_effects(checked: Checked, context: CheckContext) -> Finding:
    """Each step with an effect needs a request intent that asks for it."""
    request = context.request
    found: list[Diagnostic] = []
    for step in checked.steps:
        if request is None or step.worst_effect == "read":
            continue
        where = f"/steps/{step.number - 1}/tool"
        said = f"`{step.contract.name}` may {step.worst_effect}"
        if request.negated:
            found.append(
                Diagnostic(code="negated-effect", where=where, found=said, expected="a request without a negation")
            )
        elif not asks_for(request, step.worst_effect):
            asked = ", ".join(sorted({intent.effect for intent in request.intents})) or "nothing"
            found.append(Diagnostic(code="unrequested-effect", where=where, found=said, expected=f"asked for: {asked}"))
    return verdict("requested-effects", context, found)


def asks_for(request: Request, effect: EffectClass) -> bool:
    """Whether some words of the request ask for `effect`; what is negated is not looked at here."""
    if any(intent.effect in ADMITS.get(effect, frozenset()) for intent in request.intents):
        return True
    return effect == "change" and _replaces(request) and any(intent.effect == "create" for intent in request.intents)


def admitted_effects(request: Request) -> frozenset[EffectClass]:
    """The effects that a plan for this request may have: reading, and what is asked for; with a negation, reading alone."""
    if request.negated:
        return _READING
    return _READING.union(effect for effect in ADMITS if asks_for(request, effect))


def _replaces(request: Request) -> bool:
    return any(intent.verb in REPLACING or not REPLACING.isdisjoint(intent.modifiers) for intent in request.intents)


def overwrite_protection(checked: Checked, context: CheckContext) -> Finding:
    """A step that an argument makes stronger than it is by itself (`overwrite: true`) must be asked for."""
    if context.source in OWN_WORDS and context.request is None:
        return verdict("overwrite-protection", context, [])
    found: list[Diagnostic] = []
    for step in checked.steps:
        if rank(step.worst_effect) <= rank(mildest(step.contract)):
            continue
        request = context.request
        if request is not None and not request.negated and (_replaces(request) or asks_for(request, step.worst_effect)):
            continue
        found.append(
            Diagnostic(
                code="unrequested-overwrite",
                where=_where(step),
                found=f"`{step.contract.name}` may {step.worst_effect}",
                expected=f"{mildest(step.contract)}",
            )
        )
    return verdict("overwrite-protection", context, found)


def mildest(contract: Contract) -> EffectClass:
    """The effect of a contract when no rule with a condition applies."""
    return contract.effects[-1].effect


def _where(step: CheckedStep) -> str:
    given = {name for name, _ in step.args.items} if isinstance(step.args, DictOf) else frozenset[str]()
    for rule in step.contract.effects:
        for name in rule.when or {}:
            if name in given:
                return f"/steps/{step.number - 1}/args/{name}"
    return f"/steps/{step.number - 1}/tool"


REQUESTED_EFFECTS = Checker(name="requested-effects", judge=requested_effects, needs_request=True)
OVERWRITE_PROTECTION = Checker(name="overwrite-protection", judge=overwrite_protection)
