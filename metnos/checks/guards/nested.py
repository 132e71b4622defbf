"""Names that are said in two parts: a folder to be made inside another, and the new name of a file that stays where it is.

Law: both parts are said in the clause that asks for it; nothing else is joined. "Create the folder 2027 in taxes" makes
`taxes/2027`. "Rename taxes/old.txt to new.txt" makes `taxes/new.txt`: who renames a file does not ask for it to be moved,
and an executor takes `new.txt` for what it says, a path below the granted folder. The same holds of a file that is copied
or moved and told what it is called: "move a.txt to old, calling it b.txt" makes `old/b.txt`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metnos.request.explained import lexicon_of
from metnos.request.marked import is_called
from metnos.request.model import Slot
from metnos.request.named import names_said
from metnos.request.relations import PLACES, Relation, relation_in
from metnos.request.spaced import with_names
from metnos.request.tokens import tokenise
from metnos.request.wider import names_with_blanks

if TYPE_CHECKING:
    from collections.abc import Iterable

    from metnos.request.model import Clause, Request

_NAMES = frozenset({"path", "name", "quoted"})
_TAKING = frozenset({"copy", "move", "rename"})


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
    taking = [clause for clause in request.clauses if any(intent.verb in _TAKING for intent in clause.intents)]
    if not making and not renaming and not taking:
        return ()
    exact = slots is not None
    if slots is None:
        given = tuple(item for slot in request.slots for item in slot.items or (slot,))
        slots = (*given, *with_names((), names_with_blanks(request)))
    named = [slot for slot in slots if slot.kind in _NAMES and isinstance(slot.value, str) and slot.value]
    called = [slot for slot in named if is_called(request, slot)] if taking else []
    named += list(_bare(request, named if exact else [])) if making or called else []
    folders = [found for clause in making for found in _in(request, clause, named)]
    anew = [found for clause in renaming for found in _beside(request, clause, named)]
    told = [found for clause in taking for found in _told(request, clause, named, called, exact)]
    done = {found.name for found in (*folders, *anew)}
    return (*folders, *anew, *(found for found in told if found.name not in done))


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


def _told(request: Request, clause: Clause, named: list[Slot], called: list[Slot], exact: bool) -> Iterable[Nested]:
    inside = [slot for slot in named if clause.start <= slot.start < clause.end]
    told = [slot for slot in inside if slot in called and "/" not in str(slot.value) and _has_ending(slot)]
    related: list[tuple[Slot, Relation]] = [
        (slot, relation_in(request, clause, slot)) for slot in inside if slot not in told
    ]
    return _called(told, related, exact) if told else ()


def _has_ending(slot: Slot) -> bool:
    return "." in str(slot.value).strip(".")


def _called(told: list[Slot], related: list[tuple[Slot, Relation]], exact: bool) -> Iterable[Nested]:
    """The new name that a file is told by, in the folder where it goes; beside the file, if no folder is said.

    Not `exact`, every reading is one: a folder that may have been said keeps nothing from being beside the file.
    """
    for slot in told:
        others = [each for each in related if each[0].end <= slot.start or slot.end <= each[0].start]
        places = [(each, relation) for each, relation in others if relation in PLACES and "." not in str(each.value)]
        for place, _ in sorted(places, key=lambda each: each[1] == "to", reverse=True):
            yield Nested(slot, place, f"{str(place.value).rstrip('/')}/{slot.value}")
        files = [each for each, relation in others if relation not in PLACES and _has_ending(each)]
        one = bool(files) and max(file.start for file in files) < min(file.end for file in files)
        if one and not (places and exact):
            folders = ((file, str(file.value).rpartition("/")[0]) for file in files)
            yield from (Nested(slot, file, f"{folder}/{slot.value}", stays=True) for file, folder in folders if folder)
