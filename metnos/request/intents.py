"""Clauses and request intents: verb, object, and the strongest effect these words ask for.

Law: intents say what was asked, never what will be done. A negated verb asks for nothing; a verb after an article
or a preposition of possession is a noun ("the list of"). Doubt lowers what is asked for: an effect that was not
plainly asked for is not admitted later.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from metnos.request.lexicon import Word
from metnos.request.model import Clause, RequestIntent
from metnos.sdk import EFFECT_CLASSES

# What a verb works on whatever noun follows.
_OBJECT_OF = {
    "compute": "stats",
    "render": "table",
    "run": "programs",
    "send": "messages",
    "sort": "entries",
    "filter": "entries",
}
_SLOTS_OF_FILES = frozenset(("{glob}", "{path}"))
_MARKS = frozenset((",", ";", ":"))
_REACH = 3  # A negation reaches this many tokens to the right ("do not ever delete").
_BEFORE_A_VERB = frozenset(("modal", "pronoun", "negation", "separator"))
_RANK = {effect: rank for rank, effect in enumerate(EFFECT_CLASSES)}


class Element(NamedTuple):
    """One token or slot of the explained text; `word` is None for slots, marks and unknown words."""

    start: int
    end: int
    form: str
    word: Word | None


def clauses_of(elements: Sequence[Element]) -> tuple[Clause, ...]:
    """The clauses: a separator or comma ends one if a verb stands right behind it."""
    if not elements:
        return ()
    starts = [0]
    for index, element in enumerate(elements):
        # "and then" is one boundary.
        if (
            _separates(element)
            and index > starts[-1]
            and not _separates(elements[index - 1])
            and _verb_follows(elements, index + 1)
        ):
            starts.append(index)
    ends = [*starts[1:], len(elements)]
    return tuple(_clause(elements[start:end]) for start, end in zip(starts, ends, strict=True))


def _separates(element: Element) -> bool:
    if element.word is None:
        return element.form in _MARKS
    return "separator" in element.word.roles


def _verb_follows(elements: Sequence[Element], at: int) -> bool:
    """A verb is next, other separators, negations and adverbs aside."""
    while at < len(elements):
        word = elements[at].word
        if word is None:
            return False
        if _is_verb(elements, at):
            return True
        done = "doing" in word.roles and at + 2 < len(elements) and _is_verb(elements, at + 2)
        if done or not word.roles & {"separator", "negation", "modal", "pronoun", "polite"}:
            return done
        at += 1
    return False


def _is_verb(elements: Sequence[Element], at: int) -> bool:
    word = elements[at].word
    if word is None or not word.verb:
        return False
    before = elements[at - 1].word if at else None
    if at == 0 or elements[at - 1].form in _MARKS:
        return True
    if before is None:
        return not word.roles & {"content", "object"}
    if before.roles & _BEFORE_A_VERB:
        # "let me copy" asks for it, "show me duplicate files" does not.
        return not (word.roles & {"content", "object"} and "pronoun" in before.roles and _told_to(elements, at - 2))
    if word.roles & {"content", "object"}:
        # A homograph ("list", "order", "copy") is a noun wherever a verb is not plainly due.
        return _is_done(elements, at)
    # "the write", "of copy": nouns; but "to delete".
    return before.canonical == "to" or not before.roles & {"article", "preposition", "place"}


def _is_done(elements: Sequence[Element], at: int) -> bool:
    """The noun of an action behind a word of doing and an article: "fai una copia di" asks for a copy."""
    article, doing = (elements[at - back].word if at >= back else None for back in (1, 2))
    return article is not None and article.roles <= {"article"} and doing is not None and "doing" in doing.roles


def _told_to(elements: Sequence[Element], at: int) -> bool:
    """A verb stands at `at` and the pronoun behind it is its object ("show me")."""
    word = elements[at].word if at >= 0 else None
    return word is not None and "verb" in word.roles and "modal" not in word.roles


def _is_negated(elements: Sequence[Element], at: int) -> bool:
    for element in elements[max(0, at - _REACH) : at]:
        if element.word is not None and "negation" in element.word.roles:
            return True
    return False


def _is_told(elements: Sequence[Element], at: int) -> bool:
    """What is past is not asked for: "which files did I change"."""
    if at < 2 or (before := elements[at - 1].word) is None or "pronoun" not in before.roles:
        return False
    word = elements[at - 2].word
    return word is not None and "past" in word.roles


def _clause(elements: Sequence[Element]) -> Clause:
    verbs = [
        at for at, each in enumerate(elements) if each.word is not None and each.word.verb and _is_verb(elements, at)
    ]
    asked = [index for index in verbs if not _is_negated(elements, index) and not _is_told(elements, index)]
    modifiers = tuple(
        dict.fromkeys(
            modifier
            for index, element in enumerate(elements)
            if element.word is not None and element.word.modifiers and not _is_negated(elements, index)
            for modifier in element.word.modifiers
        )
    )
    nouns = _Nouns(elements)
    intents = [_intent(elements, index, modifiers, nouns) for index in asked]
    if (
        not intents
        and not any(_is_negated(elements, index) for index in verbs)
        and any(_is_noun(element) for element in elements)
    ):
        # "the five largest files": nothing but a noun is asked to be found.
        intents.append(RequestIntent(verb="find", object=nouns.of(0) or "files", modifiers=modifiers))
    if "table" in modifiers:
        intents.append(RequestIntent(verb="render", object="table", modifiers=modifiers))
    return Clause(start=elements[0].start, end=elements[-1].end, intents=tuple(dict.fromkeys(intents)))


def _is_noun(element: Element) -> bool:
    """A noun of the vocabulary, a file by its name, or files by their type ("newest pdf")."""
    if element.word is not None:
        return bool(element.word.object)
    return not _SLOTS_OF_FILES.isdisjoint(element.form.split(" "))


def _intent(elements: Sequence[Element], at: int, modifiers: tuple[str, ...], nouns: _Nouns) -> RequestIntent:
    word = elements[at].word
    assert word is not None
    effect = word.effect
    if "overwrite" in modifiers and _RANK[effect] == _RANK["create"]:
        effect = "change"
    thing = _OBJECT_OF.get(word.verb) or nouns.of(at) or "files"
    verb = word.verb
    if verb == "find" and thing == "texts":
        # "show the contents of": what is shown was read.
        verb, thing = "read", "files"
    return RequestIntent(verb=verb, object="files" if thing == "table" else thing, effect=effect, modifiers=modifiers)


class _Nouns:
    """The nouns of a clause, found once."""

    def __init__(self, elements: Sequence[Element]) -> None:
        found = [(index, e.word.object) for index, e in enumerate(elements) if e.word is not None and e.word.object]
        self._places = [index for index, _ in found]
        self._things = [thing for _, thing in found]

    def of(self, at: int) -> str:
        """The first noun behind `at`, else the first of the clause; empty if there is none."""
        if not self._things:
            return ""
        behind = bisect_right(self._places, at)
        return self._things[behind if behind < len(self._things) else 0]
