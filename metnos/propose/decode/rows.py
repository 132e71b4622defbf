"""What a request asks of the rows of a table that it names: the one that has the most, the last ones, one figure.

Law: only where the header of a table that is named can be read (`heads.py`, ADR 0026): then a superlative or a figure is
of its columns and not of files. A column is what the header confirms and, for numbers, holds them; where the request
names none, it is left open (`*`) and found when the plan runs. No word of a language stands in code (`rows.toml`).

| the request | what is meant |
|---|---|
| a superlative, and who or which one | the rows in that order, and the first of them |
| a superlative of a column and nothing else ("the highest amount") | a figure of that column |
| the last ones | taken from the end |
| how many of what a column counts ("how many hours") | its sum |
| a word that reckons ("average", "in all") | a figure of a column |
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from metnos.propose.decode.columns import OPEN
from metnos.propose.decode.endings import is_table
from metnos.propose.decode.said import plain
from metnos.propose.decode.superlatives import BESIDE, Superlatives, cues_of, tables

if TYPE_CHECKING:
    from metnos.propose.decode.choices import Value


class Rows(Superlatives):
    """What one request asks of rows."""

    # --- the last ones

    @cached_property
    def end(self) -> int | None:
        """How many are taken from the end of the table (0: a number that is not said); None: none are."""
        if self._found:
            return None
        for at in range(len(self.words)):
            length = self._cue("end", at)
            behind = at + length
            if not length or self._cue("end-not", behind) or self._is_of_files(at, behind):
                continue
            count = self._number_near(at, behind)
            return 1 if count is None and not self._is_many(at, behind) else count or 0
        return None

    def _is_many(self, at: int, end: int) -> bool:
        return (
            self.words[at].key.endswith(("i", "e")) if cues_of("several", self.language) else self._is_several(at, end)
        )

    @cached_property
    def counts(self) -> frozenset[int]:
        """Numbers that say how many are meant, and are nothing that a cell is compared with."""
        said = [slot.value for slot in self.offers.of({"integer"})]
        meant = [*(most.number for most in self.mosts), self.end if self.reads else None]
        return frozenset(number for number in meant if number is not None and said.count(number) == 1)

    @cached_property
    def spoken(self) -> frozenset[str]:
        """The words that ask for the most of all, for the last ones, or for a figure: no cell is compared with these."""
        at = {number for most in self._found for number in range(most.at, most.last + 1)}
        for name in ("reckoned", "end") if self.reads else ():
            for first in range(len(self.words)):
                at |= set(range(first, first + self._cue(name, first)))
        opening = (
            {0} if self.mosts and self.words and not self.words[0].known else set[int]()
        )  # a verb ("prendi le tre …")
        return frozenset(self.words[number].text for number in at | opening)

    # --- figures

    @cached_property
    def reckoned(self) -> int | None:
        """Number of the word that asks for a figure of a column; None: none does."""
        if not self.reads or self.has("size"):
            return None
        if self.is_figure:
            return self._found[0].at
        found = (at for at in range(len(self.words)) if self._cue("reckoned", at) and not self._is_column(at))
        return next(filter(self._is_of_its_own, found), None)

    def _is_of_its_own(self, at: int) -> bool:
        """Whether a figure is asked for beside the most of all: by a question before that one."""
        if not self.mosts:
            return True
        known = self.offers.lexicon.words
        asked = [n for n, word in enumerate(self.words) if word.key in known and "question" in known[word.key].roles]
        return all(any(at + 1 < n < most.at for n in asked) for most in self.mosts)

    def _is_column(self, at: int) -> bool:
        return any(first <= at <= last for first, last, _ in self._columns)

    @cached_property
    def summed(self) -> str:
        """The column of numbers of which the request asks how many there are; empty: rows are counted."""
        if not self.reads:
            return ""
        for at in filter(self._is_of_its_own, range(len(self.words))):
            length = self._cue("counted", at)
            if length:
                found = [each for each in self._columns if each[2] in self._measures and each[0] in
                         range(at + length, at + length + BESIDE)]  # fmt: skip
                if found:
                    return found[0][2]
        return ""

    @cached_property
    def reckons(self) -> bool:
        """Whether a figure of a column is asked for, and not only how many rows there are."""
        return self.reckoned is not None or bool(self.summed)

    @cached_property
    def ordered(self) -> tuple[Value, ...]:
        """What rows are put in order by."""
        return tuple(map(plain, sorted(frozenset[str]().union(*(most.fields or () for most in self.mosts)))))

    @cached_property
    def reckoned_with(self) -> tuple[Value, ...]:
        """The columns of which a figure is asked for; none: no figure is."""
        return self._figures if self.reckons else ()

    @cached_property
    def _figures(self) -> tuple[Value, ...]:
        """The columns that may be reckoned with."""
        if self.is_figure and self._found:
            return tuple(map(plain, sorted(self._found[0].fields or ())))
        named = tuple(value for value in self.offers.columns.figures if value.data in self._measures)
        return named or ((plain(self.summed),) if self.summed else tuple(map(plain, self._measures))) or (OPEN,)

    @cached_property
    def called(self) -> str:
        """Behind `*`: beginnings of what a column of numbers is called that holds what is spoken of; empty: nobody knows."""
        kinds = [words for name, words in tables().items() if "columns" in words and self.has(name)]
        found = dict.fromkeys(beginning for words in kinds for beginning in words["columns"])
        return f": {', '.join(found)}" if found and (self.mosts or self.reckons) else ""

    # --- the gate

    @cached_property
    def alone(self) -> bool:
        """Whether rows of a table are all that is read: nothing is done, and neither files nor what no table holds are meant."""
        offers = self.offers
        if not self.reads or offers.acts or self.has("size") or self.has("files"):
            return False
        named = (slot.value for slot in offers.slots if slot.kind in ("path", "glob"))
        return all(is_table(name) or (offers.there is not None and not offers.there(str(name))) for name in named)

    @cached_property
    def certain(self) -> bool:
        """Whether code knows that the tools can do it: rows of a table, and a cue of what is asked of them."""
        asked = bool(self.mosts) or self.end is not None or self.reckons
        return self.alone and asked and not self._is_beyond
