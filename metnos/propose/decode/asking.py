"""What is said instead of a plan: a question for what the request leaves open, or that no tool does it.

Law: decided by code before a model is asked, from contracts and the request; a small model never writes "cannot". A
question is asked where every tool that could do what was asked for lacks the same kind of thing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from metnos.propose.decode.model import Impossible, Written
from metnos.propose.decode.state import admits, is_for, may_answer
from metnos.text import message

if TYPE_CHECKING:
    from metnos.checks.bound import Bound
    from metnos.checks.guards.asked import Action
    from metnos.propose.decode.line import Tools
    from metnos.propose.decode.state import Sofar

OBJECT: Final = "object"
PLACE: Final = "place"
CONTENT: Final = "content"
QUESTIONS: Final = (
    "object-files-delete", "object-files-change", "object-files-create", "object-dirs-create",
    OBJECT, PLACE, CONTENT,
)  # fmt: skip
"""What may be asked for: of the thing that is acted on, in the words of the request; else in general."""


def lacking(tools: Tools, empty: Sofar) -> Written | Impossible | None:
    """The first thing that is asked for and cannot be done as the request stands; None: all of it may be possible.

    Args:
        tools: Of the request.
        empty: The plan before its first line.
    """
    for action in empty.missing:
        able = [
            bound
            for bound in tools.bounds
            if may_answer(action, bound, lambda e: admits(empty.request, e)) and tools.is_meant(action, bound)
        ]
        if not able:
            return Impossible(code="out-of-scope", about=_clause(action, empty))
        if not action.effectful:
            continue
        just = [bound for bound in able if is_for(bound, action.intent.verb, action.intent.object)]
        able = just or able
        wants = [what for bound in able if (what := _wants(tools, bound, empty))]
        if len(wants) == len(able):
            return _ask(action, wants[0], empty)
    return None


def _wants(tools: Tools, bound: Bound, empty: Sofar) -> str:
    """What a tool needs and nothing can give: its object, its place or its content; empty: nothing."""
    contract = bound.contract
    into = contract.consumes.into if contract.consumes is not None else ""
    if tools.forms(bound, empty):
        return ""
    fed = bool(into) and tools.can_feed(bound)
    units = (*((name,) for name in bound.required), *contract.requires_one_of)
    for names in units:
        if fed and into in names:
            continue
        if not any(tools.can_write(bound, name, empty) for name in names):
            if set(names) & set(contract.own_text):
                return CONTENT
            return OBJECT if into in names or (not into and names[0] in contract.targets) else PLACE
    named = len(tools.offers.names) + (fed and (tools.all or tools.offers.describes))
    naming = {*contract.targets, *contract.trusted}
    needed = {names for names in units if naming & set(names)}
    return PLACE if len(needed) > named else ""


def _ask(action: Action, what: str, empty: Sofar) -> Written:
    particular = f"{what}-{action.intent.object}-{action.intent.effect}"
    about = particular if particular in QUESTIONS else what
    question = message(f"which.{about}", empty.request.language)
    return Written(plan={"steps": [{"tool": "ask", "args": {"question": question}}]}, lines=())


def _clause(action: Action, empty: Sofar) -> str:
    clause = empty.request.clauses[action.clause]
    return empty.request.text[clause.start : clause.end].strip(" ,;:.!?")
