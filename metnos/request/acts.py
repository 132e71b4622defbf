"""What a request asks to be done, where the lexicon found no effect in it and a model read one.

    with_acts(understand("notes.txt ought to be in backup as well"), ("copy",)).intents

Law: the lexicon comes first. Where it found any effect, or a negation, what a model read changes nothing. Nothing that
sends or runs can be read: these must be said in words of the lexicon. What is acted on is not said here at all; it is
copied from the request, as ever. Each act goes to a clause of its own, in the order said, as far as there are clauses.
"""

from __future__ import annotations

from copy import copy
from typing import Final

import msgspec

from metnos.request.explained import Explained
from metnos.request.model import Act, Clause, Request, RequestIntent, Told

MOST_ACTS: Final = 4
"""Of one request."""
_INTENTS: Final[dict[Act, RequestIntent]] = {
    "append": RequestIntent(verb="append", object="files", effect="change"),
    "copy": RequestIntent(verb="copy", object="files", effect="create"),
    "delete": RequestIntent(verb="delete", object="files", effect="delete"),
    "make_folder": RequestIntent(verb="write", object="dirs", effect="create"),
    "move": RequestIntent(verb="move", object="files", effect="change"),
    "rename": RequestIntent(verb="rename", object="files", effect="change"),
    "write": RequestIntent(verb="write", object="files", effect="create"),
}
_SUPPOSED: Final = "find"
"""The verb of a clause in which the lexicon found a noun and no verb; what a model read stands in its place."""


def may_be_read(request: Request) -> bool:
    """Whether a model may say what is asked to be done: nothing is negated, and the lexicon found no effect."""
    return not request.negated and bool(request.clauses) and all(each.effect == "read" for each in request.intents)


def with_acts(request: Request, acts: tuple[Act, ...]) -> Request:
    """The request, asking for `acts` too; itself, where the lexicon has said enough.

    Args:
        request: As the lexicon understood it.
        acts: In the order said; what is beyond `MOST_ACTS` does not count.
    """
    if not acts or not may_be_read(request):
        return request
    clauses = list(request.clauses)
    for number, act in enumerate(acts[:MOST_ACTS]):
        at = min(number, len(clauses) - 1)
        kept = tuple(each for each in clauses[at].intents if each.verb != _SUPPOSED)
        clauses[at] = msgspec.structs.replace(clauses[at], intents=tuple(dict.fromkeys((*kept, _INTENTS[act]))))
    return msgspec.structs.replace(request, explanation=_told(request, tuple(clauses)))


def _told(request: Request, clauses: tuple[Clause, ...]) -> Explained | Told:
    explanation = request.explanation
    if not isinstance(explanation, Explained):
        return Told(request.spans, clauses)
    made = copy(explanation)
    made.read_as(clauses)
    return made
