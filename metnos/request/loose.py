"""The loose grade of a normal form: what a request that only reads may say or leave out.

Law: a closed table, and nothing beside it. Whatever the table does not name stays as it is in the strict form:
question words, modals, polarity, pronouns, quantifiers, prepositions, plurals, conditions, Italian articles. A rule
looks at a token and its neighbours; the words are data of the language (`[loose]`). Slots are the same in both grades.

| dropped or folded | where |
|---|---|
| a greeting (`greeting`) | at the beginning, if anything follows it, with the comma behind it |
| a polite word (`polite`) | beside a comma, at the end, or behind a word of `polite_after` ("can you please") |
| an article (`article`) | before a word of `article_before` or of `superlatives`, a glob, or a number that a superlative follows: what these words name is definite with or without it ("the five largest", "the total size") |
| a comma | before a separator ("a, and b"), and beside a polite word that is dropped |
"""

from __future__ import annotations

from collections.abc import Sequence

from metnos.request.lexicon import Lexicon
from metnos.request.tokens import Token


def greeted(tokens: Sequence[Token], at: int, lexicon: Lexicon) -> int:
    """The first token behind a greeting that begins at `at`, or `at`."""
    for phrase in lexicon.loose.greetings:
        behind = at + len(phrase.words)
        if behind < len(tokens) and all(
            token.key == word for token, word in zip(tokens[at:behind], phrase.words, strict=True)
        ):
            behind += tokens[behind].key == ","
            return behind if behind < len(tokens) else at
    return at


def is_loose(tokens: Sequence[Token], at: int, lexicon: Lexicon) -> bool:
    """Whether the token at `at`, one of the table's, may be left out here."""
    key, loose = tokens[at].key, lexicon.loose
    before, after = _key(tokens, at - 1), _key(tokens, at + 1)
    if key == ",":
        word = lexicon.words.get(after)
        return (word is not None and "separator" in word.roles) or _polite_beside(tokens, at, lexicon)
    if key in loose.polite:
        return before == "," or after in {",", ""} or before in loose.polite_after
    if key in loose.articles:
        return _definite(tokens, at + 1, lexicon)
    return False


def _polite_beside(tokens: Sequence[Token], at: int, lexicon: Lexicon) -> bool:
    """A comma in front of a polite word goes with it; so does the one behind it, where there are two."""
    loose = lexicon.loose
    return _key(tokens, at + 1) in loose.polite or _key(tokens, at - 1) in loose.polite


def _definite(tokens: Sequence[Token], at: int, lexicon: Lexicon) -> bool:
    loose, key = lexicon.loose, _key(tokens, at)
    if _canonical(lexicon, key) in loose.article_before:
        return True
    if at < len(tokens) and (tokens[at].kind == "number" or key in lexicon.numbers):
        return _canonical(lexicon, _key(tokens, at + 1)) in loose.superlatives
    return at < len(tokens) and tokens[at].kind in {"glob", "ext"}


def _canonical(lexicon: Lexicon, key: str) -> str:
    word = lexicon.words.get(key)
    return key if word is None else word.canonical


def _key(tokens: Sequence[Token], at: int) -> str:
    return tokens[at].key if 0 <= at < len(tokens) else ""
