"""A folder that is to be made inside another: "create the folder 2027 in taxes" makes `taxes/2027`.

Law: both parts are said in the clause that asks for the folder; nothing else is joined.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metnos.request.explained import lexicon_of
from metnos.request.model import Slot
from metnos.request.relations import PLACES, relation_in
from metnos.request.spaced import spaced_names, with_names
from metnos.request.tokens import tokenise

if TYPE_CHECKING:
    from collections.abc import Iterable

    from metnos.request.model import Clause, Request

_NAMES = frozenset({"path", "name", "quoted"})


class Nested(NamedTuple):
    """A name, the place that it is made in, and both as one path."""

    name: Slot
    place: Slot
    text: str


def nested_names(request: Request, slots: Iterable[Slot] | None = None) -> tuple[Nested, ...]:
    """Every folder that may be meant so.

    Args:
        request: What was said.
        slots: Its names; None: its slots, and every reading of a name with blanks.
    """
    clauses = [clause for clause in request.clauses if _makes_a_folder(clause)]
    if not clauses:
        return ()
    if slots is None:
        given = tuple(item for slot in request.slots for item in slot.items or (slot,))
        slots = (*given, *with_names((), spaced_names(request)))
    named = [slot for slot in slots if slot.kind in _NAMES and isinstance(slot.value, str) and slot.value]
    return tuple(found for clause in clauses for found in _in(request, clause, named))


def _makes_a_folder(clause: Clause) -> bool:
    return any(intent.verb == "write" and intent.object == "dirs" for intent in clause.intents)


def _is_of_a_folder(request: Request, clause: Clause, slot: Slot) -> bool:
    """Whether a name stands behind a noun of folders, and looks like one of theirs."""
    name = str(slot.value)
    if name.startswith(("/", "~")) or "." in name:
        return False
    words = lexicon_of(request).words
    said = (words.get(token.key) for token in tokenise(request.text[clause.start : slot.start]))
    return any(word is not None and word.object == "dirs" for word in said)


def _in(request: Request, clause: Clause, named: list[Slot]) -> Iterable[Nested]:
    inside = [slot for slot in named if clause.start <= slot.start < clause.end]
    related = [(slot, relation_in(request, clause, slot)) for slot in inside]
    places = [slot for slot, relation in related if relation == "in" and "." not in str(slot.value)]
    for slot, relation in related:
        if relation in PLACES or not _is_of_a_folder(request, clause, slot):
            continue
        for place in places:
            if place.end <= slot.start or slot.end <= place.start:
                yield Nested(slot, place, f"{str(place.value).rstrip('/')}/{slot.value}")
