"""Names that the person said without a mark of their own: "into album", "in the music folder", "copy it to backup".

Law: a name is a word that the request itself holds, letter for letter. Known words of the language are no names unless
they stand where only a name can ("into documents"). It says what was said; what may be done with it is not decided here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from metnos.request.explained import Explained
from metnos.request.relations import PLACES, relation_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from metnos.request.model import Request
    from metnos.request.sight import Seen
    from metnos.request.words import Lexicon, Role

_ARTICLE: Final[frozenset[Role]] = frozenset(("article",))
_NO_NAMES: Final = frozenset({"dirs", "table"})
"""Objects whose nouns are no names: "in the subfolders" says how far, "as a table" in which form."""
_NOUNS: Final[frozenset[Role]] = frozenset(("object", "content", "verb"))


def names_said(request: Request) -> tuple[str, ...]:
    """Bare names behind a word of place, destination or naming, as written, in the order said."""
    explained = request.explanation
    if not isinstance(explained, Explained):
        return ()
    return tuple(dict.fromkeys(_names(explained.tokens, explained.lexicon)))


def _names(seen: Sequence[Seen], lexicon: Lexicon) -> Iterator[str]:
    for at, token in enumerate(seen):
        # A request that speaks of words ("that says …") has all of them as written, and places all the same.
        strange = token.bare or (token.word is None and token.kind == "word")
        bare = strange and (token.said not in lexicon.never_names or token.raw != token.said)
        if token.said and _is_announced(seen, at, lexicon) and (bare or _stands_alone(seen, at, lexicon)):
            yield token.raw


def _is_announced(seen: Sequence[Seen], at: int, lexicon: Lexicon) -> bool:
    before = at - 1
    while before >= 0 and (word := seen[before].word) is not None and word.roles == _ARTICLE:
        before -= 1
    if before < 0:
        return False
    return seen[before].announces or relation_of(seen[before].said, lexicon) in PLACES


def _stands_alone(seen: Sequence[Seen], at: int, lexicon: Lexicon) -> bool:
    """A known word where only a name can be: nothing but a mark, a joining word or a preposition follows."""
    word = seen[at].word
    if word is None or seen[at].said in lexicon.never_names or not word.roles <= _NOUNS or word.object in _NO_NAMES:
        return False
    if "verb" in word.roles and seen[at - 1].said not in lexicon.inside:
        return False  # "to delete"
    behind = seen[at + 1] if at + 1 < len(seen) else None
    if behind is None or not behind.said:
        return True
    return behind.word is not None and bool(behind.word.roles & {"separator", "preposition", "place"})
