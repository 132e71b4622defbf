"""What "into it", "in there", "mettici dentro" stand for: the one folder that the clauses before speak of.

Law: only a folder that was said, and only where exactly one can be meant: the nearest clause before that names folders
names one. Nothing is referred to by a clause that says a place of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from metnos.request.explained import Explained
from metnos.request.relations import LOOKED_IN, is_aside, relation_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metnos.request.model import Request, Slot
    from metnos.request.sight import Seen
    from metnos.request.words import Lexicon

_NAMES: Final = frozenset({"path", "name", "quoted"})


def referred_place(request: Request, clause: int, slots: Sequence[Slot]) -> Slot | None:
    """The folder that a clause refers to without naming it; None: it does not, or it is not plain which.

    Args:
        request: What was said.
        clause: Number of the clause.
        slots: All of the request, as somebody reads them.
    """
    if clause == 0 or not _refers(request, clause):
        return None
    for before in reversed(request.clauses[:clause]):
        inside = [slot for slot in slots if before.start <= slot.start < before.end and slot.kind in _NAMES]
        folders = {str(slot.value): slot for slot in inside if _is_folder(str(slot.value))}
        if folders:
            return next(iter(folders.values())) if len(folders) == 1 else None
    return None


def _is_folder(name: str) -> bool:
    return "." not in name.rstrip("/").rpartition("/")[2].strip(".")


def _refers(request: Request, clause: int) -> bool:
    explained = request.explanation
    if not isinstance(explained, Explained):
        return False
    start, end = request.clauses[clause].start, request.clauses[clause].end
    spots = explained.spots()
    seen = [
        token for token, (first, last) in zip(explained.tokens, spots, strict=True) if start <= first and last <= end
    ]
    return any(_is_said(seen, at, explained.lexicon) for at in range(len(seen)))


def _is_said(seen: Sequence[Seen], at: int, lexicon: Lexicon) -> bool:
    """A phrase of the data file, or a word of place behind a verb that has the place written onto it."""
    key = seen[at].said
    if is_aside(key, seen[at - 1].said if at else "", lexicon):
        return True
    for phrase in lexicon.there.get(key, ()):
        if tuple(token.said for token in seen[at : at + len(phrase.words)]) == phrase.words:
            behind = seen[at + len(phrase.words)] if at + len(phrase.words) < len(seen) else None
            # "in it is" asks about it; "there are" says that something is.
            if behind is None or not behind.said or relation_of(behind.said, lexicon) in LOOKED_IN:
                return True
            return behind.word is not None and bool(behind.word.roles & {"separator", "article", "quantifier"})
    return False
