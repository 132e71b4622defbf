r"""Patterns of what asks for something: a word that is a verb only where the rest of its sentence makes it one.

Law: data, in the language files; no word of a language stands here. A pattern is words in a row; what it begins with asks
for its verb, and only if all of it is there. Patterns are tried in the order of the file, the first that fits counts.

| in a pattern | stands for |
|---|---|
| `a\|b` | one of these words |
| `^` | the place of a verb: the request or its clause begins, or a modal, "to" or a polite word is before it |
| `*` | up to eight elements of the same clause, of which none asks, tells or denies |
| `<thing>` | what is pointed at: an article, a quantifier, "it", "these"; or a name |
| `<file>` | files: a path, a pattern, "it", "them", or a noun of files with what stands before a noun |
| `<doc>` | a path with an ending, with "the new file" and the like before it |
| `<dir>` | a path without an ending, with "the folder" and the like before it |
| `<folder>` | the same, or one word that nothing explains and that ends the clause |
| `<newdir>` | "a (new) folder" that is to be made: it ends the clause, or a name or a place follows |
| `<namedir>` | the same, but new or with its name |
| `<to>` | a preposition of destination or place |
| `<end>` | the end of the clause |
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from metnos.request.intents import Element
from metnos.request.words import Ask, Lexicon, Role

Keyed = tuple[Element, str]
"""An element, and the folded word that it is as written: "" for a slot."""
_MARKS: Final = frozenset((",", ";", ":", "(", "-", "–"))
_LONGEST_GAP: Final = 8
_LONGEST_NOUN: Final = 5
"""Words before a noun: "all the old text files"."""
_FILES: Final = frozenset(("{path}", "{paths}", "{glob}"))
_NAMES: Final = frozenset(("{path}", "{paths}", "{glob}", "{quoted}", "{name}"))
_SINGLE: Final = frozenset(("{path}", "{quoted}", "{name}"))
_BEFORE: Final[frozenset[Role]] = frozenset(("modal", "separator", "polite"))
_ARTICLE: Final[frozenset[Role]] = frozenset(("article",))
_DETERMINES: Final[frozenset[Role]] = frozenset(("article", "quantifier"))
_ADJOINS: Final[frozenset[Role]] = frozenset(("article", "quantifier", "pronoun", "content"))
_SHUT: Final[frozenset[Role]] = frozenset(("question", "modal", "negation", "past"))


class Patterns:
    """The patterns of one language over one request."""

    def __init__(self, keyed: Sequence[Keyed], lexicon: Lexicon, text: str) -> None:
        self.keyed = keyed
        self.lexicon = lexicon
        self.text = text
        self._classes: dict[str, Callable[[int], int]] = {
            "<thing>": self._thing, "<file>": self._file, "<doc>": self._doc, "<dir>": self._dir, "<folder>": self._folder,
            "<newdir>": self._new_dir, "<namedir>": self._name_dir, "<to>": self._to, "<end>": self._end,
        }  # fmt: skip

    def asked(self, at: int) -> tuple[int, str] | None:
        """How many elements from `at` on are one verb, and which."""
        for ask in self.lexicon.phrasal.asks.get(self.keyed[at][1], ()):
            if (not ask.leads or self._leads(at)) and self._fits(ask, at, 0):
                return self._length(ask), ask.verb
        return None

    def _length(self, ask: Ask) -> int:
        """Of the words that it begins with."""
        return next((n for n, part in enumerate(ask.parts) if part == ("*",) or part[0][0] == "<"), len(ask.parts))

    def _fits(self, ask: Ask, at: int, part: int) -> bool:
        while part < len(ask.parts):
            wanted = ask.parts[part]
            if wanted == ("*",):
                return any(self._fits(ask, behind, part + 1) for behind in self._gap(at))
            behind = self._one(wanted, at)
            if behind < 0:
                return False
            at, part = behind, part + 1
        return True

    def _gap(self, at: int) -> Sequence[int]:
        end = at
        while end < min(len(self.keyed), at + _LONGEST_GAP) and not self._closes(end):
            end += 1
        return range(at, end + 1)

    def _closes(self, at: int) -> bool:
        word = self.keyed[at][0].word
        return self._ends(at) or (word is not None and bool(word.roles & _SHUT))

    def _one(self, wanted: tuple[str, ...], at: int) -> int:
        """Behind what fits one part of a pattern; -1: nothing does."""
        for each in wanted:
            if each in self._classes:
                behind = self._classes[each](at)
                if behind >= 0:
                    return behind
            elif self._key(at) == each:
                return at + 1
        return -1

    # --- places

    def _leads(self, at: int) -> bool:
        if at == 0 or self._ends(at - 1):
            return True
        key, word = self._key(at - 1), self.keyed[at - 1][0].word
        phrasal = self.lexicon.phrasal
        if key in phrasal.leading or (word is not None and word.roles & _BEFORE):
            return True
        if word is None or "pronoun" not in word.roles or at == 1:
            return key in phrasal.told and (at == 1 or self._ends(at - 2))
        before = self.keyed[at - 2][0].word
        return (before is not None and "modal" in before.roles) or (key in phrasal.told and self._ends(at - 2))

    def _ends(self, at: int) -> bool:
        if at >= len(self.keyed):
            return True
        element = self.keyed[at][0]
        return element.form in _MARKS or (element.word is not None and "separator" in element.word.roles)

    def _key(self, at: int) -> str:
        return self.keyed[at][1] if at < len(self.keyed) else ""

    def _form(self, at: int) -> str:
        return self.keyed[at][0].form if at < len(self.keyed) and not self.keyed[at][1] else ""

    def _roles(self, at: int) -> frozenset[str]:
        word = self.keyed[at][0].word if at < len(self.keyed) else None
        return word.roles if word is not None else frozenset()

    def _object(self, at: int) -> str:
        word = self.keyed[at][0].word if at < len(self.keyed) else None
        return word.object if word is not None else ""

    def _has_ending(self, at: int) -> bool:
        element = self.keyed[at][0]
        name = self.text[element.start : element.end].strip("\"'`“”«» ")
        return "." in name.rstrip("/").rpartition("/")[2].strip(".")

    def _end(self, at: int) -> int:
        return at if self._ends(at) else -1

    def _to(self, at: int) -> int:
        return at + 1 if self._key(at) in self.lexicon.towards | self.lexicon.inside else -1

    # --- things

    def _thing(self, at: int) -> int:
        if self._form(at) in _NAMES or self._key(at) in self.lexicon.phrasal.pointing:
            return at + 1
        return at + 1 if self._roles(at) & _DETERMINES else -1

    def _file(self, at: int) -> int:
        if self._key(at) in self.lexicon.phrasal.pronouns:
            return at + 1
        for here in range(at, at + _LONGEST_NOUN):
            form = self._form(here)
            if not _FILES.isdisjoint(form.split()) or (form == "{quoted}" and self._has_ending(here)):
                return here + 1
            if self._object(here) in ("files", "dirs"):
                if self._form(here + 1) in _NAMES:
                    return here + 2
                # "the file names": another noun is meant.
                return -1 if self._roles(here + 1) & {"content", "object"} else here + 1
            counts = form == "{integer}" or self._key(here) in self.lexicon.phrasal.pointing | self.lexicon.phrasal.new
            if not (counts or (self._roles(here) & _ADJOINS)) or self._key(here) in self.lexicon.phrasal.lists:
                return -1
        return -1

    def _doc(self, at: int) -> int:
        behind = self._behind_nouns(at)
        return behind + 1 if self._form(behind) in _SINGLE and self._has_ending(behind) else -1

    def _dir(self, at: int) -> int:
        behind = self._behind_nouns(at)
        return behind + 1 if self._form(behind) in _SINGLE and not self._has_ending(behind) else -1

    def _folder(self, at: int) -> int:
        found = self._dir(at)
        if found >= 0:
            return found
        behind = self._behind_nouns(at)
        if self._key(at) in self.lexicon.phrasal.pronouns or (behind > at and self._object(behind - 1) == "dirs"):
            return behind if behind > at else at + 1
        unknown = bool(self._key(behind)) and self.keyed[behind][0].word is None
        return behind + 1 if unknown and self._ends(behind + 1) else -1

    def _behind_nouns(self, at: int) -> int:
        """Behind "the new file", "my folder", "called"."""
        lexicon = self.lexicon
        words = lexicon.phrasal.new | lexicon.name_marks | lexicon.file_nouns | lexicon.named | lexicon.phrasal.pointing
        while at < len(self.keyed) and (
            self._key(at) in words or (self._key(at) and self._roles(at) <= _ARTICLE and self._roles(at))
        ):
            at += 1
        return at

    def _new_dir(self, at: int) -> int:
        noun = self._noun_of_a_new_one(at)
        if noun < 0:
            return -1
        behind = noun + 1
        word = self.keyed[behind][0].word if behind < len(self.keyed) else None
        follows = (
            self._ends(behind) or word is None or self._key(behind) in self.lexicon.named | self.lexicon.phrasal.new
        )
        return behind if follows or self._to(behind) >= 0 or bool(self._roles(behind) & {"preposition"}) else -1

    def _name_dir(self, at: int) -> int:
        noun = self._noun_of_a_new_one(at)
        if noun < 0:
            return -1
        behind = noun + 1
        new = {self._key(each) for each in range(at, behind + 1)} & self.lexicon.phrasal.new
        named = self._form(behind) in _SINGLE or self._key(behind) in self.lexicon.named
        if self._key(behind + 1) in self.lexicon.genitive:
            return -1  # "a folder listing of docs"
        return behind if new or named else -1

    def _noun_of_a_new_one(self, at: int) -> int:
        if self._key(at) not in self.lexicon.phrasal.indefinite:
            return -1
        at += 2 if self._key(at + 1) in self.lexicon.phrasal.new else 1
        return at if self._object(at) == "dirs" else -1
