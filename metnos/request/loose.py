"""The loose grade of a normal form: what a request that only reads may say or leave out.

Law: a closed table, and nothing beside it. Whatever the table does not name stays as it is in the strict form:
question words, modals, polarity, pronouns, quantifiers, prepositions, plurals, conditions, Italian articles. A rule
looks at a token and its neighbours; the words are data of the language (`[loose]`). Slots are the same in both grades.

| dropped or folded | where |
|---|---|
| a greeting (`greeting`) | at the beginning, with the comma behind it; without one only before a verb, a question word, a modal or words of the next two rows ("hey jude lyrics", "hello i love you" and "ok if I …" stay) |
| words that only ask to be told (`telling`) | at the beginning or behind a greeting, before a question word ("tell me where …") but "when" and "if", a polite word between them too |
| a way to ask (`asking`) | at the same place: read as the way that the table names ("could you" as "can you"), never left out |
| a polite word (`polite`) | beside a comma or at the end, where it is not what is said ("how do you say please"), or behind a word of `polite_after` ("can you please") |
| an article (`article`) | before a word of `article_before` or of `superlatives`, a glob, or a number that a superlative follows: what these words name is definite with or without it ("the five largest", "the total size") |
| a comma | before a separator ("a, and b"), and beside a polite word that is dropped |
"""

from __future__ import annotations

from collections.abc import Sequence

from metnos.request.sight import Seen, Sight
from metnos.request.words import Lexicon, Role

_UNENDED: frozenset[Role] = frozenset(("preposition", "article", "separator", "negation", "question"))
"""Roles of words that no request ends in."""
_BEGINNING: frozenset[Role] = frozenset(("verb", "question", "modal"))


def opened(sight: Sight, at: int) -> tuple[int, str]:
    """(the first token behind what opens a request at `at`, what is read in its place; "" for nothing)."""
    at = _greeted(sight, at)
    for phrase in sight.lexicon.loose.telling.get(sight.key(at), ()):
        behind = at + len(phrase.words)
        behind += sight.key(behind) in sight.lexicon.loose.polite
        if _stands(sight, at, phrase.words) and sight.key(behind) in sight.lexicon.loose.asked:
            return behind, ""
    for phrase in sight.lexicon.loose.asking.get(sight.key(at), ()):
        behind = at + len(phrase.words)
        if _stands(sight, at, phrase.words) and behind < sight.count:
            return behind, phrase.value
    return at, ""


def _greeted(sight: Sight, at: int) -> int:
    """The first token behind a greeting that begins at `at`, or `at`."""
    for phrase in sight.lexicon.loose.greetings.get(sight.key(at), ()):
        behind = at + len(phrase.words)
        if _stands(sight, at, phrase.words):
            if sight.mark(behind) == ",":
                return behind + 1 if behind + 1 < sight.count else at
            return behind if _begins(sight, behind) else at
    return at


def _begins(sight: Sight, at: int) -> bool:
    """Whether a request may begin here: "hello, kitty photos" has greeted, "hello kitty photos" names something."""
    key, word, loose = sight.key(at), sight.word(at), sight.lexicon.loose
    if key in loose.conditions:
        return False
    phrases = (*loose.telling.get(key, ()), *loose.asking.get(key, ()))
    told = key in loose.polite or any(_stands(sight, at, phrase.words) for phrase in phrases)
    return told or (word is not None and not word.roles.isdisjoint(_BEGINNING))


def _stands(sight: Sight, at: int, words: tuple[str, ...]) -> bool:
    return all(sight.key(at + i) == word for i, word in enumerate(words))


def is_loose(sight: Sight, at: int) -> bool:
    """Whether the token at `at`, one of the table's, may be left out here."""
    key, loose = sight.mark(at), sight.lexicon.loose
    before, after = sight.mark(at - 1), sight.mark(at + 1)
    if key == ",":
        word = sight.word(at + 1)
        return (word is not None and "separator" in word.roles) or before in loose.polite or after in loose.polite
    if key in loose.polite:
        ends = after in {",", ""} and not is_said(sight.tokens, 0, at, sight.lexicon)
        return before == "," or ends or before in loose.polite_after
    return key in loose.articles and _definite(sight, at + 1)


def is_said(seen: Sequence[Seen], first: int, at: int, lexicon: Lexicon) -> bool:
    """Whether a polite closing at `at`, which no comma parts from the rest, is what is to be said: "tell Anna thanks"."""
    if at == first or seen[at - 1].kind != "word":
        return False
    before = seen[at - 1].word
    if before is not None and not before.roles.isdisjoint(_UNENDED):
        return True
    return any(token.said in lexicon.saying for token in seen[first:at])


def _definite(sight: Sight, at: int) -> bool:
    lexicon = sight.lexicon
    if _canonical(sight, at) in lexicon.loose.article_before:
        return True
    if at >= sight.count:
        return False
    if sight.tokens[at].kind == "number" or sight.key(at) in lexicon.numbers:
        return _canonical(sight, at + 1) in lexicon.loose.superlatives
    return sight.tokens[at].kind in {"glob", "ext"}


def _canonical(sight: Sight, at: int) -> str:
    word = sight.word(at)
    return "" if word is None else word.canonical
