"""What is looked for inside of files: quoted text, what stands behind "contains", words in capitals.

Law: a passage of the request, letter for letter; words of the language that only stand beside it are never a part of its
beginning or its end. Empty: the words do not say, and all that may be meant is offered.

| what is looked for | example |
|---|---|
| quoted text | "to do" |
| the words behind what speaks of texts, up to a word of grammar | which file still contains boiler repair |
| words in capitals | find the files with DA FARE |
| words with a capital that nothing explains and that open no sentence | files about Puglia |
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from metnos.propose.decode.endings import is_ending, is_file_name
from metnos.propose.decode.said import SAYING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from metnos.propose.decode.said import Said, Spoken

_SHORTEST: Final = 2
"""Letters of a word in capitals."""
_NOUNS: Final = frozenset({"content", "object"})
_NAMES: Final = frozenset({"path", "paths", "glob", "globs"})


@cache
def _table(name: str, language: str) -> tuple[tuple[str, ...], ...]:
    read = tomllib.loads(Path(__file__).with_name("seeking.toml").read_text(encoding="utf-8"))
    return tuple(sorted((tuple(cue.split()) for cue in read[name].get(language, ())), key=len, reverse=True))


def sought_in(said: Said) -> tuple[str, ...]:
    """What is looked for, as the words of a request tell it; empty: they do not."""
    words = _Words(said)
    told = [content.slot for content in said.told]
    quoted = tuple(
        slot.value for slot in said.of(SAYING) if slot not in told and isinstance(slot.value, str) and slot.value
    )
    return quoted or words.behind() or words.capitals() or words.names()


class _Words:
    def __init__(self, said: Said) -> None:
        self.said = said
        self.words = said.words
        self.lexicon = said.lexicon
        self.opening = {clause.start for clause in said.request.clauses}
        self.beside = {cue[0] for cue in _table("beside", said.request.language)}
        shouted = said.request.text.isupper()
        self.capital = [not shouted and self._is_capital(word.text) for word in self.words]

    def behind(self) -> tuple[str, ...]:
        """Behind the last cue that something stands behind."""
        found: list[str] = []
        for at in range(len(self.words)):
            end = self._cue(at)
            run = list(self._run(end)) if end is not None else []
            if end is not None and self._is_one_word(at, end):
                run = run[:1]
            if run:
                found.append(self._text(run))
        return tuple(found[-1:])

    def _cue(self, at: int) -> int | None:
        for cue in _table("behind", self.said.request.language):
            there = self.words[at : at + len(cue)]
            if len(there) == len(cue) and all(
                word.free and (word.key.startswith(part[:-1]) if part.endswith("*") else word.key == part)
                for part, word in zip(cue, there, strict=True)
            ):
                return at + len(cue)
        return None

    def _is_one_word(self, at: int, end: int) -> bool:
        """Whether the cue speaks of one word ("the word roof come up anywhere")."""
        ones = _table("one", self.said.request.language)
        return tuple(word.key for word in self.words[at:end]) in ones

    def _run(self, at: int) -> Iterator[int]:
        while at < len(self.words) and not self.capital[at] and (self._stands_beside(at) or self._is_colon(at)):
            at += 1
        run: list[int] = []
        while at < len(self.words) and (self._goes_on(at) or (run and self._joins(at))):
            run.append(at)
            at += 1
        while run and self._stands_beside(run[-1]) and not self.capital[run[-1]]:
            run.pop()
        yield from run

    def _stands_beside(self, at: int) -> bool:
        word = self.words[at]
        return word.free and (word.key in self.beside or word.key in self.lexicon.never_names)

    def _is_colon(self, at: int) -> bool:
        return self.words[at].text in (":", "-")

    def _joins(self, at: int) -> bool:
        """A word of possession before more words of it."""
        return self.words[at].key in self.lexicon.genitive and at + 1 < len(self.words) and self._goes_on(at + 1)

    def _goes_on(self, at: int) -> bool:
        word = self.words[at]
        if not word.text[:1].isalnum() or self._is_named(word) or word.start in self.opening:
            return False
        known = self.lexicon.words.get(word.key)
        return self.capital[at] or not word.free or known is None or known.roles <= _NOUNS

    def _is_named(self, word: Spoken) -> bool:
        slot = next((slot for slot in self.said.slots if slot.start == word.start), None)
        return slot is not None and slot.kind in _NAMES and (is_file_name(word.text) or "/" in word.text)

    def capitals(self) -> tuple[str, ...]:
        """The first words in capitals; no kind of files ("PDF")."""
        run: list[int] = []
        for at, capital in enumerate(self.capital):
            if capital and not is_ending(self.words[at].text):
                run.append(at)
            elif run:
                break
        return (self._text(run),) if run else ()

    def names(self) -> tuple[str, ...]:
        """Words with a capital that nothing explains and that stand where a small letter would."""
        found: list[str] = []
        for at, word in enumerate(self.words[1:], start=1):
            opens = word.start in self.opening or self.words[at - 1].text in (".", "?", "!", ":")
            if word.free and word.meant and not word.known and word.text[0].isupper() and not opens:
                found.append(word.text)
        return tuple(found)

    def _text(self, run: Sequence[int]) -> str:
        return self.said.request.text[self.words[run[0]].start : self.words[run[-1]].end]

    def _is_capital(self, text: str) -> bool:
        letters = [letter for letter in text if letter.isalpha()]
        return len(letters) >= _SHORTEST and all(map(str.isupper, letters)) and "." not in text
