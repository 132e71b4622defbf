"""What the clauses of a request ask to be done, and which steps of a plan answer that.

Law: an action is a request intent of a clause; whether a step answers it is decided by its contract's families and by
its effect, never by its name. Words that ask for nothing in particular ("show me", "give me") are answered by any plan.
A tool without a family of the vocabulary (a host's function, a foreign tool) is judged by its effect alone. What is to
be added to a file is never answered by writing it anew: that would destroy what is there.

| asked for | answered by a step |
|---|---|
| an effect | of a family below, or of no family, with an effect that suits; `write` is any verb with such an effect |
| `read` a file that is named | of the family `read` or `find texts`, or that makes text or matches |
| `sort`, `filter`, `render` | of a family below, or of no family |
| any other reading | any; the answer alone will do |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from metnos.contracts.vocabulary import VERBS
from metnos.request.relations import relation_in

if TYPE_CHECKING:
    from metnos.checks.model import Checked, CheckedStep
    from metnos.contracts.model import Contract
    from metnos.request.model import Clause, Request, RequestIntent, Slot
    from metnos.sdk import EffectClass

ANSWERS: dict[str, frozenset[str]] = {
    "copy": frozenset({"copy", "write"}),
    "move": frozenset({"move", "rename"}),
    "rename": frozenset({"rename", "move"}),
    "append": frozenset({"append"}),
    "sort": frozenset({"sort"}),
    "filter": frozenset({"filter", "find", "take"}),
    "render": frozenset({"render"}),
}
"""Verb of a request intent → verbs of the families that answer it. A verb that is not here answers itself."""
GENERAL = "write"
"""The verb of "create", "make", "put", "change": any verb with such an effect is meant."""
_ADDING = {("append", "files")}
"""Families of a step that only adds to a file: it writes none, so `write` is not answered by it."""
_INTO_FOLDER = frozenset({"copy", "move"})
"""Verbs that answer "add a.txt to the folder docs": nothing is added to a text."""
SUITING: dict[EffectClass, frozenset[EffectClass]] = {
    "create": frozenset({"create", "change"}),
    "change": frozenset({"create", "change"}),
    "delete": frozenset({"delete", "change"}),
    "send": frozenset({"send"}),
    "execute": frozenset({"execute"}),
}
"""Effect that was asked for → effects of a step that may be it."""
TEXTUAL = frozenset({"text", "match", "row"})
"""Kinds that are the inside of a file."""
SOUGHT = frozenset({"read", "sort", "filter", "render"})
"""Readings that something in particular answers."""


class Action(msgspec.Struct, frozen=True):
    """One request intent, and the clause that it stands in."""

    clause: int
    intent: RequestIntent
    slots: tuple[Slot, ...]
    """The slots of the clause."""
    named: bool
    """The clause names a file as what is acted on ("read a.txt")."""

    @property
    def effectful(self) -> bool:
        """Whether something would be changed."""
        return self.intent.effect != "read"

    def said(self) -> str:
        """As a person reads it."""
        return f"{self.intent.verb} {self.intent.object}".strip()


_LAST: list[tuple[Request, list[Action]]] = []
"""The request that was asked about last, and its actions: the guards ask about one request one after the other."""


def actions_of(request: Request) -> list[Action]:
    """Everything that is asked for, in the order said."""
    for asked, known in _LAST:
        if asked is request:
            return known
    found: list[Action] = []
    for index, clause in enumerate(request.clauses):
        slots = slots_in(request, clause)
        for intent in clause.intents:
            named = intent.verb == "read" and any(
                slot.kind == "path" and relation_in(request, clause, slot) == "object" for slot in slots
            )
            found.append(Action(index, intent, slots, named))
    _LAST[:] = [(request, found)]
    return found


def slots_in(request: Request, clause: Clause) -> tuple[Slot, ...]:
    """The slots that stand in a clause; a list is its items."""
    inside = [slot for slot in request.slots if clause.start <= slot.start < clause.end]
    return tuple(item for slot in inside for item in slot.items or (slot,))


# ------------------------------------------------------------------------------------------------ steps


def verbs_of(contract: Contract) -> frozenset[str]:
    """Verbs of the vocabulary among a contract's families; none for a tool with a free name."""
    return frozenset(family.verb for family in contract.families if family.object and family.verb in VERBS)


def answering(action: Action, checked: Checked) -> list[CheckedStep]:
    """The steps that answer an action, in order."""
    return [step for step in checked.steps if answers(action, step)]


def is_particular(action: Action) -> bool:
    """Whether a step must answer it; else the answer itself does."""
    return action.effectful or (action.intent.verb in SOUGHT and (action.intent.verb != "read" or action.named))


def answers(action: Action, step: CheckedStep) -> bool:
    """Whether a step does what was asked for."""
    verbs, verb = verbs_of(step.contract), action.intent.verb
    wanted = _INTO_FOLDER if is_into_folder(action) else ANSWERS.get(verb, frozenset({verb}))
    if action.effectful:
        suits = step.worst_effect in SUITING.get(action.intent.effect, frozenset()) or step.worst_effect == "execute"
        if verb == GENERAL:
            return suits and {(family.verb, family.object) for family in step.contract.families} != _ADDING
        return step.worst_effect != "read" and not verbs.isdisjoint(wanted) if verbs else suits
    if not verbs or not verbs.isdisjoint(wanted):
        return True
    return verb == "read" and _makes_text(step.contract)


def is_into_folder(action: Action) -> bool:
    """Whether what is to be added goes into a folder."""
    if action.intent.verb != "append":
        return False
    paths = [slot.text for slot in action.slots if slot.kind == "path"]
    return action.intent.object == "dirs" or (bool(paths) and paths[-1].endswith("/"))


def _makes_text(contract: Contract) -> bool:
    finds = any(family.verb == "find" and family.object == "texts" for family in contract.families)
    return finds or (contract.produces is not None and contract.produces.kind in TEXTUAL)


def inputs_of(step: CheckedStep, checked: Checked) -> frozenset[int]:
    """Every step that a step waits for, directly or by way of others."""
    found: set[int] = set()
    left = list(step.waits)
    while left:
        number = left.pop()
        if number not in found:
            found.add(number)
            left.extend(checked.steps[number - 1].waits)
    return frozenset(found)
