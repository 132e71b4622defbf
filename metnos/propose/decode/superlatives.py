"""The superlatives of a request that are of rows: of which column, in which order, and how many are meant.

Law: only of a table whose header can be read (`heads.py`, ADR 0026). The column is the one beside the superlative, else
what rows are ordered by, else any of numbers that is named and does not only number the rows; where none is, it is left
open (`*`). No word of a language stands in code (`rows.toml`).
"""

from __future__ import annotations

import tomllib
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from metnos.propose.decode.columns import OPEN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metnos.propose.decode.moments import Times
    from metnos.propose.decode.said import Spoken

_REACH: Final = 4
_AHEAD: Final = 6
"""Words between how many there are to be and a superlative ("le tre riparazioni con l'importo più alto")."""
"""Words between a superlative and the number, the article or the noun that it goes with."""
BESIDE: Final = 2
"""Words between a superlative and its column."""
_NEAR: Final = 6
"""Letters between "more" and a number that it is compared with."""
_LINKS: Final = frozenset({"article", "stop", "preposition", "place", "pronoun", "quantifier"})
GREATEST: Final = "greatest"
_TURNED: Final = {"later": "age", "earlier": "age", "slower": "speed", "faster": "speed"}
"""Superlative → of what columns of numbers it means the reverse."""
_DOWN: Final = {"greatest": True, "least": False, "later": True, "earlier": False, "slower": True, "faster": False}


class Most(NamedTuple):
    """A superlative."""

    at: int
    """Number of its word."""
    fields: frozenset[str] | None
    """What it may be the most of; None: whatever the steps offer."""
    down: bool
    """The greatest first."""
    one: bool
    """One thing is meant."""
    number: int | None = None
    """How many are meant, where a number says so."""
    last: int = -1
    """Number of the last word that says it."""

    @property
    def is_order(self) -> bool:
        """Only an order is said, and not how many are meant."""
        return not self.one and self.number is None


@cache
def tables() -> dict[str, dict[str, list[str]]]:
    return tomllib.loads(Path(__file__).with_name("rows.toml").read_text(encoding="utf-8"))


@cache
def cues_of(name: str, language: str) -> tuple[tuple[str, ...], ...]:
    found = (tuple(cue.split()) for cue in tables()[name].get(language, ()))
    return tuple(sorted(found, key=len, reverse=True))


class Superlatives:
    """The superlatives of one request, and the cues that all questions about rows share."""

    def __init__(self, offers: Times) -> None:
        self.offers = offers
        self.language = offers.request.language
        self.words: tuple[Spoken, ...] = tuple(word for word in offers.words if word.text[:1].isalnum())

    @cached_property
    def reads(self) -> bool:
        """Whether a table is named whose header can be read."""
        return self.offers.columns.confirmed is not None

    # --- cues

    def _cue(self, name: str, at: int) -> int:
        """How many words of a cue stand there; 0: none does."""
        for cue in cues_of(name, self.language):
            if 0 <= at <= len(self.words) - len(cue) and all(self._is(part, at + n) for n, part in enumerate(cue)):
                return len(cue)
        return 0

    def _is(self, part: str, at: int, *, free: bool = True) -> bool:
        return (self.words[at].free or not free) and any(
            form.startswith(part[:-1]) if part.endswith("*") else form == part for form in self._forms[at]
        )

    @cached_property
    def _forms(self) -> tuple[tuple[str, ...], ...]:
        """Of each word how it is spelled, and how it should be."""
        known = self.offers.lexicon.words
        keys = [word.key for word in self.words]
        return tuple((key, known[key].canonical) if key in known else (key,) for key in keys)

    def _cue_before(self, name: str, at: int) -> bool:
        return any(at >= length and self._cue(name, at - length) == length for length in (1, 2))

    def has(self, name: str) -> bool:
        """Whether a cue was said."""
        return any(self._cue(name, at) for at in range(len(self.words)))

    @cached_property
    def _is_beyond(self) -> bool:
        """Whether what no table tells is spoken of, in whatever place."""
        cues = cues_of("beyond", self.language)
        return any(
            self._is(cue[0], at, free=False) for at in range(len(self.words)) for cue in cues if len(cue) == 1
        ) or (self.has("beyond"))

    # --- columns

    @cached_property
    def _columns(self) -> tuple[tuple[int, int, str], ...]:
        """First and last word, and the column, of those that the header confirms."""
        found: list[tuple[int, int, str]] = []
        for start, end, name in self.offers.columns.placed:
            at = [number for number, word in enumerate(self.words) if start <= word.start < end]
            found += [(at[0], at[-1], name)] if at else []
        return tuple(found)

    @cached_property
    def _numbers(self) -> frozenset[str]:
        return self.offers.columns.numeric or frozenset()

    def _is_link(self, at: int) -> bool:
        known = self.offers.lexicon.words.get(self.words[at].key)
        return known is not None and bool(known.roles & _LINKS)

    def _beside(self, at: int, end: int) -> str:
        """The column of numbers right behind the words from `at` to `end`, or right before them; empty: none.

        Words before `end` may be columns themselves ("most participants").
        """
        wanted = [each for each in self._columns if each[2] in self._numbers or _is_called("dated", each[2])]
        behind = [each for each in wanted if at <= each[0] <= end + BESIDE and self._are_links(end, each[0])]
        before = [each for each in wanted if each[1] < at and self._are_links(each[1] + 1, at)]
        found = behind[:1] or before[-1:]
        return found[0][2] if found else ""

    def _are_links(self, start: int, end: int) -> bool:
        return all(self._is_link(at) for at in range(start, end))

    @cached_property
    def _measures(self) -> tuple[str, ...]:
        """Columns of numbers that rows may be measured by: none that numbers them, tells them apart or has a limit of its own."""
        columns = self.offers.columns
        apart = {value.data for value in columns.apart}
        limited = {name for start, _, name in columns.placed if columns.has_limit(start)}
        found = (name for _, _, name in self._columns if name in self._numbers)
        return tuple(dict.fromkeys(n for n in found if n not in apart | limited and not self._numbers_rows(n)))

    def _numbers_rows(self, name: str) -> bool:
        """Whether a column is called as what only numbers rows is."""
        return any(name.casefold() == word for words in tables()["numbering"].values() for word in words)

    # --- superlatives

    @cached_property
    def mosts(self) -> tuple[Most, ...]:
        """The superlatives by which rows are meant, each once."""
        found: dict[tuple[frozenset[str] | None, bool], Most] = {}
        for most in () if self.is_figure else self._found:
            there = found.setdefault((most.fields, most.down), most)
            if there.is_order:
                found[most.fields, most.down] = most
        return tuple(found.values())

    @cached_property
    def _found(self) -> tuple[Most, ...]:
        return tuple(self._superlatives()) if self.reads and not self.offers.columns.grouped else ()

    def _superlatives(self) -> Iterator[Most]:
        at = 0
        while at < len(self.words):
            name, length = next(
                ((n, found) for n in (*_TURNED, "least", GREATEST) if (found := self._cue(n, at))), ("", 0)
            )
            if length and self._is_most(at, at + length) and not self._is_of_files(at, at + length):
                most = self._most(name, at, at + length)
                if most is not None:
                    yield most
            at += max(1, length)

    def _is_most(self, at: int, end: int) -> bool:
        """Whether it is the most of all, and neither more than a number nor part of another phrase."""
        if self._cue_before("not-behind", at) or self._cue("not-before", end):
            return False
        last = self.words[end - 1].end
        compared = (slot for slot in self.offers.slots if slot.kind in ("size", "duration", "number", "integer"))
        if any(last <= slot.start <= last + _NEAR for slot in compared) and not self._is_top(at, end):
            return False
        if not cues_of("marked", self.language):
            return True
        near = range(max(0, at - _REACH), at)
        whole = any(self._cue("whole", behind) for behind in range(at, min(len(self.words), end + _REACH)))
        return whole or any(self._cue("marked", before) for before in near)

    def _is_top(self, at: int, end: int) -> bool:
        """A number right behind says how many ("the top 3")."""
        return any(slot.kind == "integer" and slot.start == self.words[end].start for slot in self.offers.slots
                   if end < len(self.words)) and self._cue("top", at) > 0  # fmt: skip

    def _is_of_files(self, at: int, end: int) -> bool:
        return any(self._cue("file-nouns", near) for near in (at - 1, *range(end, end + BESIDE)) if near >= 0)

    def _most(self, name: str, at: int, end: int) -> Most | None:
        last = end - 1 + self._is_adjective(name, end)
        beside = self._beside(at, last + 1)
        fields = (beside,) if beside else self._by or self._measures or (OPEN.data,)
        if name in ("later", "earlier") and not beside:
            fields = tuple(column for _, _, column in self._columns if _is_called("dated", column))
            if not fields:
                return None
        turned = name in _TURNED and all(_is_called(_TURNED[name], field) for field in fields)
        if self._is_order(at, end):
            return Most(at, frozenset(map(str, fields)), _DOWN[name] != turned, one=False, last=last)
        count = self._number_near(at, end)
        one = count is None and not self._is_several(at, end)
        return Most(at, frozenset(map(str, fields)), _DOWN[name] != turned, one, count, last)

    def _is_order(self, at: int, end: int) -> bool:
        """Whether it only says which comes first."""
        # The cue itself may be a part of it: "on top".
        if any(self._cue("order-after", at - before) > before for before in (1, 2)):
            return True
        column = next((last + 1 for first, last, _ in self._columns if first == end), end + 1)
        after = any(self._cue("order-after", behind) for behind in {end, end + 1, column})  # "the hardest climb on top"
        return after or bool(self._cue("order-behind", end)) or self._cue_before("order-before", at)

    def _is_adjective(self, name: str, end: int) -> int:
        """1 if what stands behind a word of degree is what it qualifies, and no column ("più alto", "most expensive")."""
        if name != GREATEST or end >= len(self.words):
            return 0
        return int(all(first != end for first, _, _ in self._columns) and not self._is_link(end))

    @cached_property
    def _by(self) -> tuple[str, ...]:
        """Columns of numbers that rows are ordered by, as far as the request says so."""
        return tuple(str(value.data) for value in self.offers.columns.apart if value.data in self._numbers)

    def _number_near(self, at: int, end: int) -> int | None:
        """A number right before or behind: how many there are to be."""
        first = self.words[max(0, at - _AHEAD)].start
        last = self.words[min(end, len(self.words) - 1)].end
        near = (slot for slot in self.offers.of({"integer"}) if first <= slot.start < last)
        limits = self.offers.columns.limits
        return next((slot.value for slot in near if isinstance(slot.value, int) and slot.start not in limits), None)

    def _is_several(self, at: int, end: int) -> bool:
        """Whether the words around it say that several are meant, and not how many."""
        if cues_of("several", self.language):
            return any(self._cue("several", before) for before in range(max(0, at - _REACH), at)) and not self._cue(
                "which", at - 1
            )
        for number in range(end, min(end + BESIDE, len(self.words))):
            word = self.words[number]
            if not word.free or self._is_link(number) or self._is_measure(number):
                return False
            if word.key.endswith("s") and not word.key.endswith(("ss", "us")):
                return True
        return False

    def _is_measure(self, at: int) -> bool:
        return any(first == at and name in self._numbers for first, _, name in self._columns)

    @cached_property
    def is_figure(self) -> bool:
        """Whether a superlative only asks for a figure of a column: who or which has it is not asked."""
        if len(self._found) != 1 or not self._found[0].one:
            return False
        most = self._found[0]
        if OPEN.data in (most.fields or ()) or self.has("which"):
            return False
        inside = {
            n for first, last, name in self._columns for n in range(first, last + 1) if name in (most.fields or ())
        }
        start = max(
            (each.start for each in self.offers.request.clauses if each.start <= self.words[most.at].start), default=0
        )
        before = [n for n in range(most.at) if self.words[n].start >= start and n not in inside]
        return not any(self._is_noun(number) for number in before)

    def _is_noun(self, at: int) -> bool:
        word, known = self.words[at], self.offers.lexicon.words.get(self.words[at].key)
        return word.free and word.meant and (known is None or bool(known.roles & {"content", "object"}))


def _is_called(name: str, field: Any) -> bool:
    return any(word in str(field).casefold() for words in tables()[name].values() for word in words)
