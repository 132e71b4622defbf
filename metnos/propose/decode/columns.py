"""Which words of a request name columns of a table: its header is read only when the plan runs.

Law: a column is what is quoted, what no lexicon explains, or a word where only a column can stand (`columns.toml`); a noun
for the table itself ("result", "rows") is none. Where some words stand as what is told apart by ("per region"), those
are meant there; where some stand as what is reckoned with ("sum of amount", "count over 30"), those.
"""

from __future__ import annotations

import tomllib
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from metnos.propose.decode.choices import Value, unique
from metnos.propose.decode.said import plain

if TYPE_CHECKING:
    from metnos.propose.decode.said import Said

_NOUNS: Final = frozenset({"content", "object", "verb"})
"""Roles of words that a column may be called by, where one stands."""
FIGURES: Final = frozenset({"integer", "number", "size"})
_LINKS: Final = frozenset({"article", "stop", "preposition", "place", "quantifier", "pronoun"})
"""Roles of words that may stand between a column and the number that it is compared with."""


@cache
def _cues(name: str, language: str) -> tuple[str, ...]:
    held = tomllib.loads(Path(__file__).with_name("columns.toml").read_text(encoding="utf-8"))
    return tuple(held[name].get(language, ()))


class Columns:
    """The columns that one request names."""

    def __init__(self, said: Said) -> None:
        self.said = said
        self.words = tuple(word for word in said.words if word.text[:1].isalnum() or word.key == ",")

    def _is(self, name: str, at: int) -> bool:
        """Whether the word there is a cue."""
        if not 0 <= at < len(self.words) or not self.words[at].free:
            return False
        key = self.words[at].key
        return any(
            key.startswith(cue[:-1]) if cue.endswith("*") else key == cue
            for cue in _cues(name, self.said.request.language)
        )

    def _may_be(self, at: int) -> bool:
        word = self.words[at]
        if not (word.free and word.meant and word.text[:1].isalnum()) or self._is("never", at):
            return False
        return not word.known or bool(self._roles(at) & _NOUNS)

    def _before(self, at: int) -> int:
        """The word before, articles aside; -1: none."""
        at -= 1
        while at >= 0 and self._roles(at) and self._roles(at) <= {"article"}:
            at -= 1
        return at

    def _roles(self, at: int) -> frozenset[str]:
        known = self.said.lexicon.words.get(self.words[at].key)
        return known.roles if known is not None else frozenset()

    def _is_by(self, at: int) -> bool:
        return self._is("by", self._before(at))

    def _is_reckoned(self, at: int) -> bool:
        before = self._before(at)
        if self._is("of", before):
            before = self._before(before)
            before = self._before(before) if self._is("of", before) else before
        return self._is("reckoned", before) or self._limit(at) is not None

    def _limit(self, at: int) -> int | None:
        """Where the number begins that a word is compared with: nothing but words of comparison stands between."""
        for behind in range(at + 1, len(self.words)):
            word = self.words[behind]
            if not word.free:
                figure = any(slot.start == word.start and slot.kind in FIGURES for slot in self.said.slots)
                return word.start if figure and behind > at + 1 and self._is("behind", at + 1) else None
            if not (self._is("behind", behind) or self._roles(behind) & _LINKS):
                return None
        return None

    @cached_property
    def limits(self) -> frozenset[int]:
        """Where the numbers begin that columns are compared with."""
        return frozenset(
            limit for at in range(len(self.words)) if self._may_be(at) and (limit := self._limit(at)) is not None
        )

    @cached_property
    def _marks(self) -> tuple[frozenset[int], frozenset[int], frozenset[int]]:
        """Numbers of the words that are columns, that are told apart by, and that are reckoned with."""
        every: set[int] = set()
        by: set[int] = set()
        reckoned: set[int] = set()
        for at in filter(self._may_be, range(len(self.words))):
            joined = at - 2 if at > 1 and self._joins(at - 1) else -1
            if self._is_by(at) or joined in by:
                by.add(at)
            elif self._is_reckoned(at) or joined in reckoned:
                reckoned.add(at)
            placed = self._is("before", self._before(at)) or self._is("behind", at + 1) or joined in every
            if at in by or at in reckoned or placed or not self.words[at].known:
                every.add(at)
        return frozenset(every), frozenset(by), frozenset(reckoned)

    def _joins(self, at: int) -> bool:
        """Whether a word joins two things, and not two clauses."""
        word = self.words[at]
        return (word.key == "," or word.key in self.said.lexicon.joins) and not any(
            clause.start == word.start for clause in self.said.request.clauses
        )

    def _values(self, numbers: frozenset[int]) -> tuple[Value, ...]:
        return unique(plain(self.words[at].text) for at in sorted(numbers))

    @cached_property
    def named(self) -> tuple[Value, ...]:
        """All that may be a column, quoted ones first."""
        runs = [value for value in self.said.unexplained if " " in str(value.data)]
        return unique((*self.said.quoted, *self._values(self._marks[0]), *runs))

    @cached_property
    def by(self) -> tuple[Value, ...]:
        """What things are told apart or ordered by; none said so: whatever may be a column."""
        return self._values(self._marks[1]) or self.named

    @cached_property
    def reckoned(self) -> tuple[Value, ...]:
        """Columns of numbers, as far as the request says so: behind a word that reckons, or compared with a number."""
        return self._values(self._marks[2])

    @cached_property
    def measured(self) -> tuple[Value, ...]:
        """What may be reckoned with: those, or whatever is not told apart by."""
        apart = self._values(self._marks[1])
        return self.reckoned or tuple(value for value in self.named if value not in apart) or self.named

    @cached_property
    def grouped(self) -> bool:
        """Whether figures of one column are asked for each value of another."""
        return bool(self._marks[1]) and any(self._limit(at) is None for at in self._marks[2])

    @cached_property
    def some(self) -> bool:
        """Whether some columns of all are asked for: by a word that says so, or as what a table has ("with name and size")."""
        return any(self._is("some", at) or self._is_shown(at) for at in range(len(self.words)))

    def _is_shown(self, at: int) -> bool:
        _, by, reckoned = self._marks
        if not self._may_be(at) or at in by or at in reckoned or self._is("behind", at + 1):
            return False
        return self._is("shown", self._before(at))
