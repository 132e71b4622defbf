"""Verbs of several words, and things asked for without a verb of their own: "get rid of", "…, saved to a file out.md".

Law: this says what is asked for, and touches no form: the words stand for themselves in the normal form, so what a
cache finds under a request stays the same. A participle asks only behind a mark, and only where a file that is still to
be named follows ("in a file", or "to" and its path): "the lines saved in a.txt" describes, and asks for nothing. A word
of doing asks for a thing to be made only behind "a" ("fai una cartella nuova"), and for what it lists to be written only
where the file follows at once ("fammi una lista in elenco.md").
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from metnos.request.intents import Element
from metnos.request.patterns import Keyed, Patterns
from metnos.request.words import Lexicon, Phrase, Role, Word
from metnos.sdk import EffectClass

GAP: Final = "*"
"""In a phrase: other words may stand between ("throw … away"), up to a mark or a word that joins."""
_LONGEST_GAP: Final = 8
_MARKS: Final = frozenset((",", ";", ":", "(", "-", "–"))
_VERB: Final[frozenset[Role]] = frozenset(("verb",))
_EFFECTS: Final[dict[str, EffectClass]] = {
    "delete": "delete",
    "rename": "change",
    "move": "change",
    "append": "change",
    "write": "create",
    "copy": "create",
    "compute": "read",
    "read": "read",
    "find": "read",
    "sort": "read",
}
_ASKS: Final = {
    verb: Word(canonical="", reason="", roles=_VERB, verb=verb, effect=effect) for verb, effect in _EFFECTS.items()
}
_MAKABLE: Final = frozenset(("files", "dirs"))


def is_phrase(word: Word | None) -> bool:
    """Whether a word is a phrase that stands for its verb."""
    return word is not None and word is _ASKS.get(word.verb)


def with_verbs(keyed: Sequence[Keyed], lexicon: Lexicon, text: str) -> list[Element]:
    """The elements, in which a phrase that asks for something is one verb."""
    found: list[Element] = []
    patterns = Patterns(keyed, lexicon, text)
    at = 0
    while at < len(keyed):
        element, key = keyed[at]
        length, verb = (patterns.asked(at) or _asked(keyed, at, lexicon) or (0, "")) if key else (0, "")
        if at and keyed[at - 1][1] in lexicon.phrasal.wishes:
            element = element._replace(word=None)  # "ho bisogno di cancellare": a verb stands behind it
        if verb:
            end = keyed[at + length - 1][0].end
            element = Element(element.start, end, element.form, _ASKS[verb])
        found.append(element)
        at += length or 1
    return found


def _asked(keyed: Sequence[Keyed], at: int, lexicon: Lexicon) -> tuple[int, str] | None:
    """How many elements are one verb, and which; None if what stands here is what it is."""
    phrasal = lexicon.phrasal
    for phrase in phrasal.verbs.get(keyed[at][1], ()):
        if length := _length(keyed, at, phrase):
            return length, phrase.value
    if keyed[at][1] in phrasal.placed and _is_aside(keyed, at) and _file_follows(keyed, at + 1, lexicon):
        return 1, "write"
    word = keyed[at][0].word
    if word is not None and "doing" in word.roles and _made(keyed, at + 1, lexicon):
        return 1, "write"
    return None


def _length(keyed: Sequence[Keyed], at: int, phrase: Phrase) -> int:
    """Of the phrase's first run of words, if all of it is said; else 0."""
    if GAP not in phrase.words:
        return len(phrase.words) if _stand(keyed, at, phrase.words) else 0
    gap = phrase.words.index(GAP)
    if not _stand(keyed, at, phrase.words[:gap]):
        return 0
    for behind in range(at + gap, min(len(keyed), at + gap + _LONGEST_GAP)):
        if _stand(keyed, behind, phrase.words[gap + 1 :]):
            return gap
        if _ends(keyed[behind]):
            return 0
    return 0


def _stand(keyed: Sequence[Keyed], at: int, words: tuple[str, ...]) -> bool:
    return tuple(key for _, key in keyed[at : at + len(words)]) == words


def _ends(keyed: Keyed) -> bool:
    element = keyed[0]
    return element.form in _MARKS or (element.word is not None and "separator" in element.word.roles)


def _is_aside(keyed: Sequence[Keyed], at: int) -> bool:
    """It stands behind a mark, or behind a word that joins."""
    return at > 0 and _ends(keyed[at - 1])


def _file_follows(keyed: Sequence[Keyed], at: int, lexicon: Lexicon) -> bool:
    """A preposition, and a file that is to be made: "in a file x.md", "to x.md", but not "in x.md"."""
    mark = _key(keyed, at)
    if mark not in lexicon.towards | lexicon.inside:
        return False
    behind = _behind(keyed, at + 1, lexicon.phrasal.indefinite)
    if behind > at + 1:
        behind = _behind(keyed, behind, lexicon.phrasal.new)
        return _key(keyed, behind) in lexicon.file_nouns and _is_path(keyed, _behind(keyed, behind + 1, lexicon.named))
    return mark in lexicon.towards and _is_path(keyed, at + 1)


def _made(keyed: Sequence[Keyed], at: int, lexicon: Lexicon) -> bool:
    """A thing to be made ("una cartella nuova"), or a list and the file that it goes into ("una lista in x.md")."""
    phrasal = lexicon.phrasal
    behind = _behind(keyed, at, phrasal.indefinite)
    if behind == at:
        return False
    noun = _behind(keyed, behind, phrasal.new)
    word = keyed[noun][0].word if noun < len(keyed) else None
    if word is not None and word.object in _MAKABLE:
        return True
    if _key(keyed, noun) not in phrasal.lists or _key(keyed, noun + 1) not in lexicon.towards | lexicon.inside:
        return False
    place = _behind(keyed, noun + 2, phrasal.indefinite)
    if _key(keyed, place) in lexicon.file_nouns:
        place += 1
    return _is_path(keyed, place)


def _behind(keyed: Sequence[Keyed], at: int, words: frozenset[str]) -> int:
    return at + 1 if _key(keyed, at) in words else at


def _key(keyed: Sequence[Keyed], at: int) -> str:
    return keyed[at][1] if at < len(keyed) else ""


def _is_path(keyed: Sequence[Keyed], at: int) -> bool:
    return at < len(keyed) and keyed[at][0].form in ("{path}", "{name}", "{quoted}")
