"""Which words of a request name columns of a table, whose header is read only when the plan runs.

Law: where a header may be looked at (`heads.py`, ADR 0026), a column is what it confirms, as it is spelled there, and no
other word is one. Else a column is what is quoted, what no lexicon explains, or a word where only a column can stand (`columns.toml`); a noun
for the table itself ("result", "rows") is none. Where some words stand as what is told apart by ("per region"), those
are meant there; where some stand as what is reckoned with ("sum of amount", "count over 30"), those.
"""

from __future__ import annotations

import tomllib
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from metnos.propose.decode.choices import Value, unique
from metnos.propose.decode.endings import is_table
from metnos.propose.decode.heads import MOST_WORDS
from metnos.propose.decode.said import plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from metnos.propose.decode.said import Said, Spoken
    from metnos.request.model import Slot

_QUOTES: Final = "\"'“”«»‘’`"
_NOUNS: Final = frozenset({"content", "object", "verb"})
"""Roles of words that a column may be called by, where one stands."""
OPEN: Final = Value("*")
"""A column that is left open: any, or the only one that holds numbers (`leftopen.py` of the executors)."""
FIGURES: Final = frozenset({"integer", "number", "size"})
_LINKS: Final = frozenset({"article", "stop", "preposition", "place", "quantifier", "pronoun"})
"""Roles of words that may stand between a column and the number that it is compared with."""


@cache
def _cues(name: str, language: str) -> tuple[str, ...]:
    held = tomllib.loads(Path(__file__).with_name("columns.toml").read_text(encoding="utf-8"))
    return tuple(held[name].get(language, ()))


def _is_quoted(word: Spoken) -> bool:
    return not word.free and word.text[1:2].isalnum()


class Columns:
    """The columns that one request names."""

    def __init__(self, said: Said) -> None:
        self.said = said
        self.words = tuple(
            word for word in said.words if word.text[:1].isalnum() or word.key == "," or _is_quoted(word)
        )
        self._ends: dict[int, int] = {}
        """First word of a confirmed column → its last."""

    @cached_property
    def confirmed(self) -> dict[int, str] | None:
        """Number of its first word → a column, as the headers of the tables that are named spell it; None: nobody can tell."""
        heads = self.said.heads
        tables = [
            slot.value for slot in self.said.slots if slot.kind in ("path", "name", "quoted") and is_table(slot.value)
        ]
        if heads is None or not tables:
            return None
        runs = dict(self._asked())
        passages = tuple(dict.fromkeys(runs.values()))
        answers = [answer for table in tables if (answer := heads.columns(str(table), passages)) is not None]
        if not answers:
            return None
        found: dict[int, str] = {}
        taken: set[int] = set()
        for (first, last), passage in sorted(runs.items(), key=lambda run: run[0][0] - run[0][1]):
            column = next((answer[passage] for answer in answers if passage in answer), None)
            if column is not None and taken.isdisjoint(range(first, last + 1)):
                found[first] = column
                self._ends[first] = last
                taken.update(range(first, last + 1))
        return dict(sorted(found.items()))

    @cached_property
    def placed(self) -> tuple[tuple[int, int, str], ...]:
        """First letter, end and column of what the headers confirm."""
        words = self.words
        return tuple((words[at].start, words[self._last(at)].end, name) for at, name in (self.confirmed or {}).items())

    def has_limit(self, start: int) -> bool:
        """Whether the column that begins there is compared with a number."""
        return any(self.words[at].start == start and self._limit(at) is not None for at in self.confirmed or ())

    @cached_property
    def numeric(self) -> frozenset[str] | None:
        """The confirmed columns that hold numbers; None: nobody can tell."""
        heads, confirmed = self.said.heads, self.confirmed
        if heads is None or confirmed is None:
            return None
        columns = tuple(dict.fromkeys(confirmed.values()))
        tables = {str(s.value) for s in self.said.slots if s.kind in ("path", "name", "quoted") and is_table(s.value)}
        return frozenset[str]().union(*(heads.numbers(table, columns) for table in tables))

    def _numbers(self, columns: tuple[Value, ...]) -> tuple[Value, ...]:
        numeric = self.numeric
        return columns if numeric is None else tuple(value for value in columns if value.data in numeric)

    def values(self, texts: Iterable[Value]) -> tuple[Value, ...]:
        """Of texts, those that a cell may be compared with: no column that a header confirms, and not the table's name."""
        if self.confirmed is None:
            return tuple(texts)
        text = self.said.request.text
        runs = [text[self.words[first].start : self.words[self._last(first)].end] for first in self.confirmed]
        gone = {plain(each.strip(_QUOTES)) for each in (*runs, *(word for run in runs for word in run.split()))}
        return tuple(value for value in texts if value not in gone and not is_table(value.data))

    def _asked(self) -> Iterator[tuple[tuple[int, int], str]]:
        """The passages that may be a column: quoted ones, and words without those that stand between words only."""
        for first, word in enumerate(self.words):
            if not word.free:
                if any(slot.start == word.start and self._may_name(slot) for slot in self.said.slots):
                    yield (first, first), word.text.strip(_QUOTES)
                continue
            for last in range(first, min(first + MOST_WORDS, len(self.words))):
                ends = self.words[first], self.words[last]
                if not all(each.free and each.meant and each.text[:1].isalnum() for each in ends):
                    continue
                between = self.words[first : last + 1]
                if all(each.free and each.key != "," for each in between):
                    yield (first, last), self.said.request.text[word.start : self.words[last].end]

    @cached_property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """Where the confirmed columns begin and end in the request."""
        return tuple((self.words[at].start, self.words[self._last(at)].end) for at in self.confirmed or ())

    def is_cue(self, name: str, at: int) -> bool:
        """Whether the word there is a cue of a table."""
        return self._is(name, at)

    def _may_name(self, slot: Slot) -> bool:
        """Whether a value may be a column: text, or what stands where a place would and is none ("in stock")."""
        there = self.said.there
        return slot.kind in ("quoted", "name") or (
            slot.kind == "path" and slot.text.isalnum() and there is not None and not there(slot.text)
        )

    def _is(self, name: str, at: int) -> bool:
        if not 0 <= at < len(self.words) or not self.words[at].free:
            return False
        key = self.words[at].key
        return any(
            key.startswith(cue[:-1]) if cue.endswith("*") else key == cue
            for cue in _cues(name, self.said.request.language)
        )

    def _may_be(self, at: int) -> bool:
        if self.confirmed is not None:
            return at in self.confirmed
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
        at = self._last(at)
        for behind in range(at + 1, len(self.words)):
            word = self.words[behind]
            if not word.free:
                figure = any(slot.start == word.start and slot.kind in FIGURES for slot in self.said.slots)
                return word.start if figure and behind > at + 1 and self._is("behind", at + 1) else None
            if not (self._is("behind", behind) or self._roles(behind) & _LINKS):
                return None
        return None

    def _last(self, at: int) -> int:
        return self._ends.get(at, at)

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
            joined = next((first for first, last in self._ends.items() if last == joined), joined)
            if self._is_by(at) or joined in by:
                by.add(at)
            elif self._is_reckoned(at) or joined in reckoned:
                reckoned.add(at)
            placed = self._is("before", self._before(at)) or self._is("behind", self._last(at) + 1) or joined in every
            if at in by or at in reckoned or placed or self.confirmed is not None or not self.words[at].known:
                every.add(at)
        return frozenset(every), frozenset(by), frozenset(reckoned)

    def _joins(self, at: int) -> bool:
        """Whether a word joins two things, and not two clauses."""
        word = self.words[at]
        return (word.key == "," or word.key in self.said.lexicon.joins) and not any(
            clause.start == word.start for clause in self.said.request.clauses
        )

    def _values(self, numbers: frozenset[int]) -> tuple[Value, ...]:
        known = self.confirmed or {}
        return unique(plain(known.get(at, self.words[at].text)) for at in sorted(numbers))

    @cached_property
    def named(self) -> tuple[Value, ...]:
        """All that may be a column, quoted ones first."""
        if self.confirmed is not None:
            return self._values(self._marks[0])
        runs = [value for value in self.said.unexplained if " " in str(value.data)]
        return unique((*self.said.quoted, *self._values(self._marks[0]), *runs))

    @cached_property
    def apart(self) -> tuple[Value, ...]:
        """What things are told apart or ordered by, as far as the request says so."""
        return self._values(self._marks[1])

    @cached_property
    def by(self) -> tuple[Value, ...]:
        """The same; none said so: whatever may be a column, and, where a header tells, is not reckoned with."""
        if self.confirmed is not None:
            rest = tuple(value for value in self.named if value not in self.reckoned)
            return self.apart or tuple(value for value in rest if value not in self._numbers(rest)) or rest
        return self.apart or self.named

    @cached_property
    def reckoned(self) -> tuple[Value, ...]:
        """Columns of numbers, as far as the request says so: behind a word that reckons, or compared with a number."""
        return self._values(self._marks[2])

    @cached_property
    def measured(self) -> tuple[Value, ...]:
        """What may be reckoned with: those, or whatever is not told apart by; where it can be told, numbers only."""
        if self.figures or (self.numeric is None and self.reckoned):
            return self.figures
        rest = self._numbers(tuple(value for value in self.named if value not in self.apart))
        return rest or self._numbers(self.named)

    @cached_property
    def figures(self) -> tuple[Value, ...]:
        """Of what the request reckons with, the columns of numbers."""
        return self._numbers(self.reckoned)

    @cached_property
    def grouped(self) -> bool:
        """Whether figures of one column are asked for each value of another."""
        known, numeric = self.confirmed or {}, self.numeric
        figures = (at for at in self._marks[2] if numeric is None or known.get(at) in numeric)
        return bool(self._marks[1]) and any(self._limit(at) is None for at in figures)

    @cached_property
    def some(self) -> bool:
        """Whether some columns of all are asked for: by a word that says so, or as what a table has ("with name and size")."""
        return self.only or any(self._is_shown(at) for at in range(len(self.words)))

    @cached_property
    def only(self) -> bool:
        """Whether a word says that only some are."""
        return any(self._is("some", at) and not self._is_of_rows(at) for at in range(len(self.words)))

    def shown(self, compared: Iterable[int]) -> int:
        """How many columns nothing else is done with: they are not told apart by, reckoned with, or compared.

        Args:
            compared: First letters of values that a column right before them is compared with.
        """
        starts = frozenset(compared)
        every, by, reckoned = self._marks

        def used(at: int) -> bool:
            behind = self._last(at) + 1
            value = behind < len(self.words) and self.words[behind].start in starts
            return at in by or at in reckoned or value or self._is("behind", behind)

        return len(self._values(frozenset(at for at in every if not used(at))))

    def _is_of_rows(self, at: int) -> bool:
        """Whether "only" is said of rows ("only the rows with city Rome"), and not of their columns."""
        behind = at + 1
        while behind < len(self.words) and self._roles(behind) and self._roles(behind) <= {"article", "pronoun"}:
            behind += 1
        return self._is("rows", behind)

    def _is_shown(self, at: int) -> bool:
        _, by, reckoned = self._marks
        if not self._may_be(at) or at in by or at in reckoned or self._is("behind", at + 1):
            return False
        return self._is("shown", self._before(at))
