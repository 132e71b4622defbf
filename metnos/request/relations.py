"""What a name is to its clause, by the word that it stands behind. One table, for all who ask.

Law: this looks at the word and at nothing else; what may be done with such a name is decided by who asks.

| it stands behind | it is | example |
|---|---|---|
| no preposition | `object`: what is acted on | delete `a.txt` |
| a word of `towards` | `to`: where something goes; of a renaming, the new name | copy it to `old`, rename it to `b.txt` |
| a word of `inside` | `in`: where to look; where something is put, if no `to` is said | the files in `docs` |
| a word of `origin` | `from`: where something comes from, or whose it is | move it from `old`, the files of `docs` |
| any other preposition | `other` | compare it with `b.txt` |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from metnos.request.explained import lexicon_of
from metnos.request.tokens import tokenise

if TYPE_CHECKING:
    from metnos.request.model import Clause, Request, Slot
    from metnos.request.words import Lexicon

Relation = Literal["object", "to", "in", "from", "other"]
PLACES: Final[frozenset[Relation]] = frozenset({"to", "in"})
"""Relations of what only says where, and is never acted on itself."""
LOOKED_IN: Final[frozenset[Relation]] = frozenset({"in", "from"})
"""Relations of the folder that something is in."""
_REACH: Final = 4
"""How many words stand between a preposition and what it belongs to ("to the new file out.md")."""


def relation_of(mark: str, lexicon: Lexicon) -> Relation:
    """What a name behind the word `mark` is; behind none (`""`), what is acted on."""
    if not mark:
        return "object"
    if mark in lexicon.towards:
        return "to"
    if mark in lexicon.inside:
        return "in"
    return "from" if mark in lexicon.origin else "other"


def relation_in(request: Request, clause: Clause, slot: Slot) -> Relation:
    """What a slot is to the clause that it stands in."""
    return relation_of(mark_of(request, clause, slot), lexicon_of(request))


def mark_of(request: Request, clause: Clause, slot: Slot) -> str:
    """The word that says what a slot is to its verb: `to`, `in`, `from` …; `""` if it is what is acted on."""
    lexicon = lexicon_of(request)
    tokens = [token for token in tokenise(request.text[clause.start : slot.start]) if token.kind in ("word", "path")]
    # A file between them has taken the preposition, if what follows is a text: 'add to a.txt the line "x"'.
    past = max((at for at, token in enumerate(tokens) if slot.kind == "quoted" and token.kind == "path"), default=-1)
    words = [token.key for token in tokens[past + 1 :] if token.kind == "word"]
    while words and words[-1] in lexicon.named:  # "into a new folder named old"
        words.pop()
    for at in range(len(words) - 1, max(-1, len(words) - 1 - _REACH), -1):
        key = words[at]
        if at and is_aside(key, words[at - 1], lexicon):
            return ""
        word = lexicon.words.get(key)
        if key in lexicon.name_marks or key in lexicon.file_nouns:
            continue
        if word is None or _is_verb(word.roles):
            return ""
        if word.roles & {"preposition", "place"} or key in lexicon.towards:
            return key
    return ""


def is_aside(mark: str, before: str, lexicon: Lexicon) -> bool:
    """Whether a word of place belongs to the verb before it, which has the place written onto it ("mettici dentro a.txt")."""
    if mark not in lexicon.inside:
        return False
    return any(before.endswith(end) and _verb(before.removesuffix(end), lexicon) for end in lexicon.place_clitics)


def _verb(stem: str, lexicon: Lexicon) -> bool:
    words = (lexicon.words.get(stem + end) for end in ("", *lexicon.dropped))
    return any(word is not None and bool(word.verb) for word in words)


def _is_verb(roles: frozenset[str]) -> bool:
    return "verb" in roles and not roles & {"content", "object"}
