"""A negation that says what is not wanted, before a clause that asks for it to be deleted.

Law: "I don't want any empty files lying around, delete them" asks for a deletion, although it is negated. That holds only
where each negation belongs to the opening words, nothing else that has an effect is spoken of with it, and what follows
asks for a deletion of "them" and for no other effect. In any doubt the request stays negated, which admits no effect.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metnos.request.explained import Explained
    from metnos.request.model import Clause
    from metnos.request.sight import Seen
    from metnos.request.words import Lexicon

_DELETE = "delete"


def is_unwanted(explained: Explained) -> bool:
    """Whether all that is negated is what the rest asks to be deleted."""
    tokens, lexicon = explained.tokens, explained.lexicon
    behind = _behind_opening(tokens, lexicon)
    if not behind or any(token.negates for token in tokens[behind:]):
        return False
    clauses = explained.clauses
    asked = [intent for clause in clauses for intent in clause.intents if intent.effect != "read"]
    if not asked or any(intent.verb != _DELETE for intent in asked):
        return False
    if any(token.word is not None and token.word.effect != "read" for token in _of(explained, clauses[0])):
        return False
    deleting = [clause for clause in clauses if any(intent.verb == _DELETE for intent in clause.intents)]
    return (
        len(deleting) == 1
        and deleting[0] is not clauses[0]
        and any(_stands_for(token, lexicon) for token in _of(explained, deleting[0]))
    )


def _behind_opening(tokens: Sequence[Seen], lexicon: Lexicon) -> int:
    if not tokens:
        return 0
    for phrase in lexicon.phrasal.unwanted.get(tokens[0].said, ()):
        if tuple(token.said for token in tokens[: len(phrase.words)]) == phrase.words:
            return len(phrase.words)
    return 0


def _of(explained: Explained, clause: Clause) -> list[Seen]:
    spots = zip(explained.tokens, explained.spots(), strict=True)
    return [token for token, (start, end) in spots if clause.start <= start and end <= clause.end]


def _stands_for(token: Seen, lexicon: Lexicon) -> bool:
    """The word for them, or a verb with its object written onto it."""
    if token.said in lexicon.phrasal.pronouns:
        return True
    for end in lexicon.phrasal.objects:
        stem = token.said.removesuffix(end)
        if stem != token.said and any(_deletes(stem + more, lexicon) for more in ("", *lexicon.dropped)):
            return True
    return False


def _deletes(key: str, lexicon: Lexicon) -> bool:
    word = lexicon.words.get(key)
    return word is not None and word.verb == _DELETE
