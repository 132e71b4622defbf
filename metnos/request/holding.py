"""Where a declared synonym is one: few words mean the same beside any other.

Law: a synonym that does not hold here stands for itself, in both grades, and nothing is guessed. A word right behind a
word of `quoting` ("the word big"), and each word of a request that speaks about words ("what does big mean"), is meant
as it is written: no synonym holds there, and no number, date or name is read from words.

| `holds` | where the synonym stands for its canonical form |
|---|---|
| `always` | everywhere: two spellings of one word ("e-mail"), contractions spelled out, what an operator declared |
| `known` | if every word of the request is known: "the display size" of a file, not "turn off the display" |
| `leading` | and it begins the request or follows a modal or a pronoun, and does not end it: there it is a verb |
| `thing` | and what is done is done to what follows: "trovami i file" finds files, "trovami in questa cartella" finds me |
| `files` | and what follows is a file or a folder: "elimina i file" is "cancella i file", but a meeting is cancelled |

A synonym that is all there is to a place ("in directory") may be a name and stands for itself.
"""

from __future__ import annotations

import msgspec

from metnos.request.sight import Seen, Sight
from metnos.request.slots import closes, is_quoted
from metnos.request.tokens import TokenKind

_BEFORE_A_VERB = frozenset(("modal", "pronoun", "separator", "negation", "polite"))
_THINGS: frozenset[TokenKind] = frozenset(("number", "quoted", "path", "glob", "ext", "url", "address"))
_FILES: frozenset[TokenKind] = frozenset(("path", "glob", "ext"))
_COUNTING = frozenset(("article", "quantifier"))
_RELATING = frozenset(("preposition", "place"))
_FARTHEST = 4
"""Words between a verb and what it is done to: "cancella tutti i primi 5 file"."""


def holds(sight: Sight, first: int, at: int) -> bool:
    """Whether the synonym at `at` may stand for its canonical form; `first` is where the request begins."""
    word = sight.word(at)
    assert word is not None
    before = sight.word(at - 1) if at > first else None
    if is_quoted(sight, at, 1):
        return False
    if before is not None and "place" in before.roles and closes(sight, at + 1):
        return False
    if word.holds == "leading":
        verb = at == first or (before is not None and not before.roles.isdisjoint(_BEFORE_A_VERB))
        return verb and at + 1 < sight.count
    if word.holds == "thing":
        return _thing(sight, at + 1)
    return word.holds != "files" or _files(sight, at + 1)


def _thing(sight: Sight, at: int) -> bool:
    """What is at `at` is named, counted or pointed at."""
    if at >= sight.count:
        return False
    word = sight.word(at)
    if word is None:
        return sight.tokens[at].kind in _THINGS or sight.key(at) in sight.lexicon.numbers
    if "article" in word.roles or word.object:
        return True
    after = sight.word(at + 1)
    return "quantifier" in word.roles and not (after is not None and after.roles & _RELATING)


def _files(sight: Sight, at: int) -> bool:
    """Behind what counts stands a file or a folder."""
    for here in range(at, min(at + _FARTHEST + 1, sight.count)):
        word, token = sight.word(here), sight.tokens[here]
        if token.kind in _FILES or (word is not None and word.object in {"files", "dirs"}):
            return True
        counts = token.kind == "number" or token.said in sight.lexicon.numbers or token.said in sight.lexicon.types
        if not (counts or (word is not None and not word.roles.isdisjoint(_COUNTING))):
            return False
    return False


def mentions(sight: Sight, at: int) -> bool:
    """Whether the word at `at` says that the request speaks about words."""
    lexicon, key = sight.lexicon, sight.key(at)
    if key not in lexicon.mentioning:
        return False
    if key not in lexicon.mentioning_asked:
        return True
    before = sight.word(at - 1)
    if before is not None and "article" in before.roles:
        return False
    return any(word is not None and "modal" in word.roles for word in map(sight.word, range(at)))


def as_itself(token: Seen) -> Seen:
    """A synonym as a word of its own."""
    word = token.word
    if word is None or word.canonical == token.key:
        return token
    word = msgspec.structs.replace(word, canonical=token.key, reason=f"keyword({token.key})")
    return msgspec.structs.replace(token, word=word, form=token.key, reason=word.reason)


def as_written(token: Seen) -> Seen:
    """A token of a request that speaks about words: no synonym, and no value that is written in words."""
    token = as_itself(token)
    if token.kind in {"word", "number", "clock", "date", "odd"}:
        return msgspec.structs.replace(token, rule=None, bare=False, announces=False)
    return token
