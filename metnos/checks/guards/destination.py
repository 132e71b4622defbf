"""Explicit destination: where the user said to write is where the plan writes.

Law: the destination of a clause is the last of its paths behind "to", "into", "as"; else the last one behind "in", "on",
but for one that other files are in ("write a.txt with the files in docs"); else the folder that it refers to ("into it");
else, for words that write into a file, the path that they act on, and for those that add to one the last path. An address
or URL is one for what is sent. It wins over whatever a step would give, and over a contract's default: a plan that writes elsewhere is refused. A path below the
destination is in it. What the user answers when asked is said later, and is not held against the first wording.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from metnos.checks.guards.asked import Action, actions_of, answering
from metnos.checks.guards.grounding import is_what_is_acted_on, normalised
from metnos.checks.guards.model import Checker, Finding, verdict
from metnos.checks.guards.nested import nested_names
from metnos.checks.guards.places import at_home
from metnos.checks.guards.values import comes_from_input, texts_of
from metnos.checks.model import Fine
from metnos.plan.diagnostics import Diagnostic
from metnos.plan.jsondata import pointer
from metnos.request.explained import lexicon_of
from metnos.request.referring import referred_place
from metnos.request.relations import relation_in
from metnos.request.tokens import tokenise
from metnos.request.wider import names_with_blanks
from metnos.values.expressions import DictOf

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metnos.checks.model import CheckContext, Checked, CheckedStep
    from metnos.request.model import Request, Slot

PLACING = frozenset({"write", "append", "copy", "move", "rename", "create"})
"""Verbs that put something somewhere."""
INTO = frozenset({"write", "append"})
"""Verbs whose object itself may be the destination ("overwrite a.txt")."""
ADDING = "append"
"""Of these the one that may name its file in any way."""
_FILES = frozenset({"path"})
_NAMES = frozenset({"path", "quoted", "name"})
_MANY = frozenset({"glob", "globs"})
"""Kinds of slots that are files of a kind."""
_RECEIVERS = frozenset({"address", "url"})


def explicit_destination(checked: Checked, context: CheckContext) -> Finding:
    """Each destination that the request names is the target of a step that answers its clause."""
    request = context.request
    if request is None:
        return Fine(guard="explicit-destination", applicable=False)
    found: list[Diagnostic] = []
    for action in actions_of(request):
        if not action.effectful:
            continue
        destination = destination_of(request, action)
        steps = answering(action, checked)
        if destination is None or not steps:
            continue  # clause coverage says where a step is missing
        wanted = _wanted(request, destination, context.home)
        if not any(_writes_to(step, wanted) for step in steps):
            found.append(_fault(steps[-1], destination))
    return verdict("explicit-destination", context, list(dict.fromkeys(found)))


def destination_of(request: Request, action: Action, everything: Sequence[Slot] | None = None) -> Slot | None:
    """The slot that says where; None if the clause names no destination.

    Args:
        request: What was said.
        action: Of it.
        everything: All slots of the request, as somebody reads them who knows more; None: as the rules of slots do.
    """
    clause = request.clauses[action.clause]
    own = action.slots
    if everything is not None:
        own = tuple(slot for slot in everything if clause.start <= slot.start < clause.end)
    verb = action.intent.verb
    if verb == "send":
        return next((slot for slot in reversed(own) if slot.kind in _RECEIVERS), None)
    if verb not in PLACING:
        return None
    related = [(slot, relation_in(request, clause, slot)) for slot in own if slot.kind in _NAMES]
    towards = [slot for slot, relation in related if relation == "to"]
    inside = [slot for slot, relation in related if relation == "in" and slot.kind in _FILES]
    itself = [slot for slot, relation in related if relation == "object" and slot.kind in _FILES and verb in INTO]
    if verb == "rename" and towards and inside and all(relation != "object" for _, relation in related):
        towards = [max(towards[-1], inside[-1], key=lambda slot: slot.start)]  # "cambia nome a a.txt in b.txt"
    chosen = towards or inside
    if not towards and itself and inside and _has_ending(itself[-1]) and _is_apart(request, itself[-1], inside[-1]):
        return itself[-1]
    if chosen:
        return chosen[-1]
    given = [item for slot in request.slots for item in slot.items or (slot,)] if everything is None else everything
    if not itself and verb == ADDING:
        itself = [slot for slot, _ in related if slot.kind in _FILES]  # "at the end of notes.md"
    return referred_place(request, action.clause, given) or (itself[-1] if itself else None)


def _has_ending(slot: Slot) -> bool:
    return "." in str(slot.value).rpartition("/")[2].strip(".")


def _is_apart(request: Request, file: Slot, place: Slot) -> bool:
    """Whether other files are spoken of between a file that is written and a place behind it, which is theirs then:
    "make a file a.txt with the names of the files in photos".
    """
    if place.start < file.end or _has_ending(place):
        return False
    if any(slot.kind in _MANY and file.end <= slot.start < place.start for slot in request.slots):
        return True
    words = lexicon_of(request).words
    between = (words.get(token.key) for token in tokenise(request.text[file.end : place.start]))
    return any(word is not None and word.object == "files" for word in between)


def _targets(step: CheckedStep) -> tuple[str, ...]:
    given = [name for name, _ in step.args.items] if isinstance(step.args, DictOf) else []
    targets = tuple(name for name in given if name in step.contract.targets) if step.contract.targets else tuple(given)
    # What is acted on is no destination, where the step names one: "rename a.txt to b.txt" does not take `b.txt` to `a.txt`.
    return tuple(name for name in targets if not is_what_is_acted_on(name, step.contract)) or targets


def _wanted(request: Request, destination: Slot, home: str) -> set[str]:
    """What may be meant: the slot, and every name with blanks that it is a part of ("into old/lists 2027.txt")."""
    said = (destination.text, at_home(destination.text, home), str(destination.value))
    around = (
        reading.text
        for reading in names_with_blanks(request)
        if reading.start <= destination.start and destination.end <= reading.end
    )
    joined = (inner.text for inner in nested_names(request) if _is_part(destination, inner.name))
    return {normalised(text) for text in (*said, *around, *joined)}


def _is_part(slot: Slot, of: Slot) -> bool:
    return of.start <= slot.start and slot.end <= of.end


def _writes_to(step: CheckedStep, wanted: set[str]) -> bool:
    names = _targets(step)
    return comes_from_input(step, names) or any(
        _is_in(text, place, beginning) for text, beginning in texts_of(step, names) for place in wanted
    )


def _is_in(text: str, place: str, beginning: bool) -> bool:
    """Whether a target is the destination or lies below it; of a text that goes on, a whole folder must be said."""
    if beginning:
        return text.endswith("/") and (normalised(text) == place or normalised(text).startswith(f"{place}/"))
    target = normalised(text)
    return target == place or target.startswith(f"{place.rstrip('/')}/")


def _fault(step: CheckedStep, destination: Slot) -> Diagnostic:
    names = _targets(step)
    place = f"/steps/{step.number - 1}"
    where = pointer(f"{place}/args", names[-1]) if names else f"{place}/tool"
    written = ", ".join(text for text, _ in texts_of(step, names)) or "a place that the request does not name"
    return Diagnostic(code="destination-ignored", where=where, found=written, expected=destination.text)


EXPLICIT_DESTINATION = Checker(name="explicit-destination", judge=explicit_destination, needs_request=True)
