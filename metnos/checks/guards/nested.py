"""Names that are said in two parts: a folder to be made inside another, and the new name of a file that stays where it is.

Law: both parts are said in the clause that asks for it; nothing else is joined. "Create the folder 2027 in taxes" makes
`taxes/2027`. "Rename taxes/old.txt to new.txt" makes `taxes/new.txt`: who renames a file does not ask for it to be moved,
and an executor takes `new.txt` for what it says, a path below the granted folder.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metnos.request.explained import lexicon_of
from metnos.request.model import Slot
from metnos.request.named import names_said
from metnos.request.relations import PLACES, relation_in
from metnos.request.spaced import with_names
from metnos.request.tokens import tokenise
from metnos.request.wider import names_with_blanks

if TYPE_CHECKING:
    from collections.abc import Iterable

    from metnos.request.model import Clause, Request

_NAMES = frozenset({"path", "name", "quoted"})


class Nested(NamedTuple):
    """A name, the place that it is made in, and both as one path."""

    name: Slot
    place: Slot
    text: str
    stays: bool = False
    """The place is that of a file that is renamed, and is still a name by itself."""


def nested_names(request: Request, slots: Iterable[Slot] | None = None) -> tuple[Nested, ...]:
    """Every folder that may be meant so.

    Args:
        request: What was said.
        slots: Its names; None: its slots, and every reading of a name with blanks.
    """
    making = [clause for clause in request.clauses if _makes_a_folder(clause)]
    renaming = [clause for clause in request.clauses if any(intent.verb == "rename" for intent in clause.intents)]
    if not making and not renaming:
        return ()
    if slots is None:
        given = tuple(item for slot in request.slots for item in slot.items or (slot,))
        slots = (*given, *with_names((), names_with_blanks(request)))
    named = [slot for slot in slots if slot.kind in _NAMES and isinstance(slot.value, str) and slot.value]
    named += list(_bare(request, named)) if making else []
    folders = (found for clause in making for found in _in(request, clause, named))
    return (*folders, *(found for clause in renaming for found in _beside(request, clause, named)))


def _bare(request: Request, named: list[Slot]) -> Iterable[Slot]:
    """Names that no rule of slots takes, for a verb follows them ("dentro spese crea una cartella")."""
    bare = frozenset(names_said(request))
    for token in tokenise(request.text):
        text = request.text[token.start : token.end]
        if text in bare and not any(slot.start <= token.start < slot.end for slot in named):
            yield Slot(kind="name", start=token.start, end=token.end, text=text, value=text)


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


def _beside(request: Request, clause: Clause, named: list[Slot]) -> Iterable[Nested]:
    """The new name of a file in a folder, where it has none of its own."""
    inside = [slot for slot in named if clause.start <= slot.start < clause.end]
    related = [(slot, str(slot.value), relation_in(request, clause, slot)) for slot in inside]
    files = [
        (slot, name.rpartition("/")[0]) for slot, name, relation in related if relation == "object" and "/" in name
    ]
    for slot, name, relation in related:
        if relation in PLACES and "/" not in name and "." in name.strip("."):
            yield from (Nested(slot, file, f"{folder}/{name}", stays=True) for file, folder in files if folder)
