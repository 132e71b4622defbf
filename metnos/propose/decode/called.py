"""Which words of a request call for what: cues of `called.toml`, and where they stand.

Law: no word of a language stands in code. A tool whose family has cues stands only where one of them was said; where a
language has none, every tool does.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from metnos.propose.decode.cues import cues, table, words_of
from metnos.propose.decode.endings import is_ending, is_file_name
from metnos.propose.decode.superlatives import Most
from metnos.request.relations import LOOKED_IN, relation_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metnos.checks.bound import Bound
    from metnos.propose.decode.choices import Value
    from metnos.propose.decode.offers import Offers
    from metnos.propose.decode.said import Spoken
    from metnos.request.model import Clause

COUNTED: Final = ("file", "dir", "row", "match")
"""Kinds of entries whose nouns are known."""
_REACH: Final = 4
"""Words between "how many" and what is counted, or between a superlative and its noun."""
_NEAR: Final = 6
"""Letters between "larger" and a size that it is compared with."""
_SOON: Final = 14
"""Letters between what was done last and a time that is said of it."""
_TIMES: Final = ("date", "period", "duration")
_SMALL: Final = frozenset({"article", "pronoun", "quantifier"})
"""Roles of words before a noun."""
_SMALLEST: Final = 2
"""Places from a noun to the preposition before its article."""
_SORTING: Final = "sort"
TAKING: Final = "take entries"
"""What a number that is said is for."""
ORDERED: Final = ("sort entries", TAKING, "compute stats")
LESSER: Final = "group entries"
"""What lesser cues are not meant for beside a verb of sorting."""


class Called:
    """The cues of one request."""

    def __init__(self, offers: Offers, formats: frozenset[str] = frozenset()) -> None:
        """Of `offers`; `formats` are the endings of files that have a reader of their own."""
        self.formats = formats
        self.offers = offers
        self.language = offers.request.language
        self.lexicon = offers.lexicon
        self.rows = offers.rows
        self.words = self.rows.words
        self._at: dict[str, tuple[int, ...]] = {}

    # --- cues

    def at(self, name: str) -> tuple[int, ...]:
        """Where cues of a table begin, outside of values: numbers of words. Asked for with every line, and always the same."""
        found = self._at.get(name)
        if found is None:
            found = self._at[name] = tuple(at for at in range(len(self.words)) if self._begins(name, at))
        return found

    def _begins(self, name: str, at: int, free: bool = True) -> bool:
        return any(self._is_cue(cue, at, free) for cue in table(name, self.language))

    def _is_cue(self, cue: tuple[str, ...], at: int, free: bool) -> bool:
        there = self.words[at : at + len(cue)]
        return len(there) == len(cue) and all(
            (word.free or not free)
            and not self.offers.is_told(word.start)
            and (word.key.startswith(part[:-1]) if part.endswith("*") else word.key == part.casefold())
            for part, word in zip(cue, there, strict=True)
        )

    def has(self, name: str, clause: Clause | None = None) -> bool:
        """Whether a cue was said, in a clause or anywhere."""
        return any(clause is None or clause.start <= self.words[at].start < clause.end for at in self.at(name))

    # --- tools

    def calls(self, bound: Bound) -> bool:
        """Whether the request speaks of what a tool makes."""
        names = [f"{family.verb} {family.object}" for family in bound.contract.families]
        if "list dirs" in names:
            return self.folders
        if TAKING in names and self.offers.counts:
            return True
        if "select fields" in names and (selects := self._selects) is not None:
            return selects
        if any(name in names for name in self._of_rows):
            return True
        tables = [name for name in names if table(name, self.language)]
        return not tables or any(self._speaks(name) for name in tables)

    @cached_property
    def _selects(self) -> bool | None:
        """Whether some columns of all are asked for: what is only shown says more with all of them. None: cues decide."""
        columns, rows = self.offers.columns, self.rows
        if not rows.reads:
            return None if self.offers.acts else columns.only
        if columns.confirmed is None:
            return None
        shown = columns.shown(cell.start for cell in self.offers.held.cells)
        return bool(shown) if self.offers.acts else columns.only or (shown > 1 and not self.mosts)

    @cached_property
    def _of_rows(self) -> frozenset[str]:
        """The families that are called for by what is asked of the rows of a table."""
        rows = self.rows
        most = ("sort entries", TAKING) if rows.mosts else ()
        end = (TAKING,) if rows.end is not None else ()
        figure = ("compute stats",) if rows.reckoned is not None or rows.summed else ()
        return frozenset((*most, *end, *figure))

    def special(self, bound: Bound) -> bool:
        """Whether what a tool makes is spoken of in so many words."""
        names = (f"{family.verb} {family.object}" for family in bound.contract.families)
        return any(bool(table(name, self.language)) and self._speaks(name) for name in names)

    @cached_property
    def figures(self) -> int:
        """How many words ask for figures; none where all of them say an order ("from the smallest up")."""
        found = self._spoken("compute stats")
        return 0 if self.sorts and set(found) <= set(self._spoken("sort entries")) else len(found)

    def _speaks(self, name: str) -> bool:
        return bool(self._spoken(name))

    def _spoken(self, name: str) -> list[int]:
        lesser = words_of("lesser", self.language) if name == LESSER else frozenset[str]()
        polite = [(span.start, span.end) for span in self.offers.request.spans if span.reason == "polite"]
        return [
            at
            for at in self.at(name)
            if not (self.sorts and self.words[at].key in lesser)
            and not any(start <= self.words[at].start < end for start, end in polite)
            and not (name in ORDERED and self._is_no_order(at))
        ]

    def _is_no_order(self, at: int) -> bool:
        """Whether a word that may ask for an order or for some of all does not: it compares with a value that is said ("più
        grandi di 4 kB", "at most 20"), or is an article of something that is no row.
        """
        if self._is_numbering(at):
            return True
        if self._begins("some", at):
            return not (at + 1 < len(self.words) and self._begins("row", at + 1))
        if (at and self._begins("bound", at - 1)) or (self._begins("done", at) and any(self.offers.of(_TIMES))):
            return True
        than = next((each for each in range(at + 1, min(at + 4, len(self.words))) if self._begins("than", each)), None)
        if than is None or not self._begins("more", at):
            return False
        end = self.words[than].end
        compared = (slot for slot in self.offers.slots if slot.kind in ("size", "duration", "number", "integer"))
        return any(end <= slot.start <= end + _NEAR for slot in compared)

    @cached_property
    def sorts(self) -> bool:
        """Whether a verb asks for an order."""
        return any(self._verb(word) == _SORTING for word in self.words)

    def _verb(self, word: Spoken) -> str:
        known = self.lexicon.words.get(word.key)
        return known.verb if known is not None else ""

    @cached_property
    def only_lesser(self) -> bool:
        """Whether groups are spoken of only by words that say more often what things are done by ("by", "per"), and nothing is
        there that would tell them apart.
        """
        before = [at for at in self.at(LESSER) if at + 1 == len(self.words) or self.words[at + 1].free]
        return all(self._is_lesser(at) for at in before) and not (before and self._tellers)

    def _is_lesser(self, at: int) -> bool:
        return self.words[at].key in words_of("lesser", self.language)

    @property
    def _tellers(self) -> list[Value]:
        """Columns that rows may be told apart by: no figure is asked of them."""
        columns, asked = self.offers.columns, self.rows.reckoned_with
        rest = [value for value in columns.by if value not in asked and value.data not in (columns.numeric or ())]
        return [value for value in columns.apart if value not in asked] or rest

    @property
    def _each(self) -> list[Value]:
        """What rows are told apart by: a column that is said to, or the only one that could where "per" stands before a word
        that is none ("per categoria", of `category`).
        """
        columns = self.offers.columns
        if columns.apart:
            return [value for value in columns.apart if value not in self.rows.reckoned_with]
        strange = any(
            self._is_lesser(at)
            and at + 1 < len(self.words)
            and self.words[at + 1].free
            and not self.words[at + 1].known
            for at in self.at(LESSER)
        )
        cells = any(cell.owed for cell in self.offers.held.cells)
        return self._tellers if strange and not cells and len(self._tellers) == 1 else []

    @cached_property
    def folders(self) -> bool:
        """Whether folders are meant themselves: not as the place of files, nor as the name of one."""
        return any(self._is_meant(at) for at in self.at("dir"))

    def _is_meant(self, at: int) -> bool:
        words = self.words
        behind = words[at + 1] if at + 1 < len(words) else None
        before = [number for number in range(max(0, at - 2), at) if not self._is_article_before(number, at)]
        if any(self._begins("each", number) for number in range(max(0, at - 1), at)):
            return True
        if behind is not None and (self._begins("folder-behind", at + 1) or not behind.free):
            return False
        if at and not words[at - 1].free and words[at].key in self.lexicon.name_before:
            return False  # "in the work folder"
        return not (any(self._begins("folder-before", number) for number in before[-1:]) or self._is_of_all(at))

    def _is_of_all(self, at: int) -> bool:
        """Whether folders only say where files are, all of them: "in all the folders", "i file di tutte le cartelle"."""
        here = at - 1
        while here > 0 and (known := self.lexicon.words.get(self.words[here].key)) and known.roles & _SMALL:
            here -= 1
        if here < 0 or at - here <= _SMALLEST:
            return False
        files = any(
            word.key in self.lexicon.file_nouns or word.start in self.offers.families for word in self.words[:here]
        )
        return files and relation_of(self.words[here].key, self.lexicon) in LOOKED_IN

    def _is_article_before(self, number: int, at: int) -> bool:
        known = self.lexicon.words.get(self.words[number].key)
        return number == at - 1 and known is not None and bool(known.roles & _SMALL)

    # --- figures

    @cached_property
    def counted(self) -> tuple[int, frozenset[str]] | None:
        """Number of the word that asks how many, and the kinds of what is counted (empty: any); None: nobody asks."""
        for at in filter(self._is_asked, self.at("number")):
            for behind in range(at + 1, min(len(self.words), at + 2 + _REACH)):
                kinds = frozenset(kind for kind in COUNTED if self._begins(kind, behind, free=False))
                if kinds:
                    return at, kinds
            return at, frozenset()
        return None

    def _is_asked(self, at: int) -> bool:
        """A verb counts where its clause means it ("sorted by count" does not), a number where it is one of things."""
        word, verb = self.words[at], self._verb(self.words[at])
        clauses = [each for each in self.offers.request.clauses if each.start <= word.start < each.end]
        return (not verb and not self._is_numbering(at)) or any(
            intent.verb == verb for each in clauses for intent in each.intents
        )

    def _is_numbering(self, at: int) -> bool:
        """Whether "number" is no count: a column, or by what stands right before it ("phone number")."""
        if not self._begins("numbering", at):
            return False
        column = any(start == self.words[at].start for start, _ in self.offers.columns.spans)
        return column or (at > 0 and self.words[at - 1].meant and not self._verb(self.words[at - 1]))

    @cached_property
    def amount(self) -> int | None:
        """Number of the word that asks how much things come to."""
        return next(iter(self.at("amount")), None)

    @cached_property
    def mosts(self) -> tuple[Most, ...]:
        """The superlatives of the request: of rows, where a table is named that can be looked at; else one of files."""
        rows = self.rows.mosts
        if rows or self.rows.alone:
            return rows
        return () if (most := self._of_files) is None else (most,)

    @cached_property
    def _of_files(self) -> Most | None:
        tables: dict[str, Any] = cues()["superlative"]
        for name, by_language in tables.items():
            ways = [tuple(cue.split()) for cue in by_language.get(self.language, ())]
            for at in range(len(self.words)):
                cue = next((cue for cue in ways if self._is_cue(cue, at, free=True)), None)
                if cue is not None and self._is_most(at, at + len(cue)):
                    field = frozenset({name.removeprefix("-")})
                    return Most(at, field, not name.startswith("-"), self._is_one(at, at + len(cue)))
        return None

    def _is_most(self, at: int, behind: int) -> bool:
        """Where an article makes the superlative: there is one, and nothing that it is compared with; and what was done
        last is none where a time is said of it ("last modified before 2024").
        """
        end = self.words[behind - 1].end
        timed = any(end <= slot.start <= end + _SOON for slot in self.offers.of(_TIMES))
        if behind - at > 1 and (timed or self._begins("when", behind)):
            return False
        if not table("one", self.language):
            return True
        compared = (slot for slot in self.offers.slots if slot.kind in ("size", "duration", "number"))
        near = any(end <= slot.start <= end + _NEAR for slot in compared)
        return self._article(at, behind) is not None and not near

    def _article(self, at: int, behind: int) -> bool | None:
        """Of the nearest article before some words: whether it is singular; None: none is near (three words stand further)."""
        reach = 2 * _REACH if behind - at > 2 else _REACH
        for word in reversed(self.words[max(0, at - reach) : at]):
            if word.key in words_of("one", self.language):
                return True
            if word.key in words_of("many", self.language):
                return False
        return None

    def _is_one(self, at: int, behind: int) -> bool:
        if any(slot.kind == "integer" for slot in self.offers.slots):
            return False
        if table("one", self.language):
            return bool(self._article(at, behind))
        if any(word.key in words_of("order", self.language) for word in self.words[at + 1 : at + 2]):
            return False
        for word in self.words[at + 1 : at + 2 + _REACH]:
            known = self.lexicon.words.get(word.key)
            if known is not None and known.roles & {"preposition", "place"}:
                break
            if word.key in words_of("many", self.language):
                return False
        return True

    # --- what is looked for inside of files

    @cached_property
    def inside(self) -> bool:
        """Whether a text is looked for in files: a cue, files or their text as what is spoken of, and a text."""
        if all(self._asks_behind(at) for at in self.at("inside")) or self.at("name") or self._reads_rows:
            return False
        objects = {intent.object for clause in self.offers.request.clauses for intent in clause.intents}
        spoken = any(self._thing(word) in ("files", "texts") for word in self.words)
        spoken = spoken or any(slot.kind == "glob" for slot in self.offers.slots)
        return bool(objects & {"files", "texts"}) and spoken and bool(self.sought)

    def _asks_behind(self, at: int) -> bool:
        """Whether a word asks for an answer, and for no text: "say how many"."""
        behind = self.lexicon.words.get(self.words[at + 1].key) if at + 1 < len(self.words) else None
        return behind is not None and "question" in behind.roles

    def _thing(self, word: Spoken) -> str:
        known = self.lexicon.words.get(word.key)
        return known.object if known is not None else ""

    @cached_property
    def _reads_rows(self) -> bool:
        named = (str(slot.value) for slot in self.offers.slots if slot.kind in ("path", "glob"))
        return any(name.rsplit(".", 1)[-1].casefold() in self.formats for name in named)

    @cached_property
    def groups_rows(self) -> bool:
        """Whether figures are asked for each value of a column ("sum of amount per region")."""
        columns, rows = self.offers.columns, self.rows
        told = rows.reads and self._each and (rows.reckons or self.counted is not None)
        return (
            self._reads_rows
            and bool(columns.grouped or told)
            and not self.at("inside")
            and (rows.reckons or not rows.mosts)
        )

    @cached_property
    def plainly_inside(self) -> bool:
        """Whether nothing is left to judge: one text is looked for, files or their place are said, all else is known."""
        if not self.inside or len(self.sought) != 1:
            return False
        offers = self.offers
        place = bool(offers.kinds) or any(word.key in self.lexicon.file_nouns for word in self.words)
        place = place or any(slot.kind in ("path", "glob") for slot in offers.slots)
        told = {*self.sought, *offers.kinds}
        said = {*self.at("inside"), *self.at("find texts")}
        strange = [w for at, w in enumerate(self.words) if not w.known and w.text not in told and at not in said]
        return place and not offers.acts and not strange

    @cached_property
    def sought(self) -> tuple[str, ...]:
        """Texts that may be looked for: quoted, or words that nothing explains and that are no place."""
        return self.offers.sought or tuple(self._sought())

    def _sought(self) -> Iterator[str]:
        said = {*self.at("inside"), *self.at("remaining")}
        for at, word in enumerate(self.words):
            named = any(
                slot.start == word.start and slot.kind in ("path", "name") for slot in self.offers.slots
            ) and not is_file_name(word.text)
            free = word.free and word.meant and not word.known and at not in said and at > 0
            if (named or free) and "/" not in word.text and not is_ending(word.text) and not self._is_where(word):
                yield word.text

    def _is_where(self, word: Spoken) -> bool:
        return relation_of(self.offers.mark(word), self.lexicon) in LOOKED_IN
