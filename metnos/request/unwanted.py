"""A negation that says what is not wanted, before a clause that asks for it to be deleted, or behind a request.

Law: "I don't want any empty files lying around, delete them" asks for a deletion, although it is negated. That holds only
where each negation belongs to the opening words, nothing else that has an effect is spoken of with it, and what follows
asks for a deletion of "them" and for no other effect. "Delete old.txt, I don't need it any more" negates nothing of what is
asked: such a reason is all that stands behind a mark, word by word of a closed list, and no other negation stands before
it. In any doubt the request stays negated, which admits no effect.
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
    """Whether all that is negated is what the rest asks to be deleted, or the reason for it."""
    tokens, lexicon = explained.tokens, explained.lexicon
    reason = _reason(tokens, lexicon)
    if 0 < reason < len(tokens):
        return not any(token.negates for token in tokens[:reason])
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


def _reason(tokens: Sequence[Seen], lexicon: Lexicon) -> int:
    """Where the reason begins that ends a request; 0 if none does."""
    last = len(tokens)
    while last and tokens[last - 1].kind == "punct":
        last -= 1
    marks = [at for at in range(1, last) if tokens[at].kind == "punct" or tokens[at].said in lexicon.phrasal.because]
    for at in marks:
        words = [token.said for token in tokens[at:last] if token.kind != "punct"]
        while words and words[0] in lexicon.phrasal.because:
            del words[0]
        if words and any(_fits(words, parts) for parts in lexicon.phrasal.reasons):
            return at
    return 0


def _fits(words: Sequence[str], parts: Sequence[frozenset[str]]) -> bool:
    """Whether the words are these, in their order, and no others."""
    if not parts:
        return not words
    if words and words[0] in parts[0] and _fits(words[1:], parts[1:]):
        return True
    return "" in parts[0] and _fits(words, parts[1:])


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
