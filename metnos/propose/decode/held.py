"""Which words of a request are values in the tables that it names (ADR 0029), and what a column may be compared with then.

Law: asked of the tables, passage by passage, and never told by them (`cells.py`). Where nobody can tell (no table is named,
it cannot be read, it is too long), there are none, and words decide. A word whose other form is a cell ("aperte",
`aperta`) means that form, if there is one only. The longest passage is meant; a column that is as long is the column.

| a word that | is compared |
|---|---|
| is a cell | for being equal, of the columns that hold it; beside another value of one column, both at once (`in`) |
| is a part of a cell | for being contained |
| is quoted, or stands where only a value can | in any way that takes a text, found or not |
| is a number or a time | in any order, where the column may hold such |
"""

from __future__ import annotations

import re
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from metnos.plan.spelling import format_parts
from metnos.propose.decode.cells import Cells, folded, forms_of
from metnos.propose.decode.choices import Value, unique
from metnos.propose.decode.dated import dated
from metnos.propose.decode.endings import is_file_name, is_table
from metnos.propose.decode.heads import MOST_WORDS, alike, words_of
from metnos.propose.decode.said import plain
from metnos.propose.decode.truths import BEING, WORDS, Truth, truths

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from metnos.propose.decode.cells import Found
    from metnos.propose.decode.columns import Columns
    from metnos.propose.decode.said import Said, Spoken

EQUAL: Final = frozenset({"eq", "ne"})
SAME: Final = "eq"
MEMBER: Final = "in"
ORDERS: Final = frozenset({"lt", "le", "gt", "ge"})
INSIDE: Final = frozenset({"contains", "starts_with", "ends_with"})
"""Comparisons with a part of a text."""
PARTS: Final = "parts"
"""What a request speaks of that speaks of parts of texts (`mentions.toml`)."""
NAMING: Final = frozenset({"quoted", "name", "path"})
SLOTS: Final = NAMING | {"date", "period"}
"""Kinds of slots whose text may be a cell; of paths, bare words behind "in"."""
NOMINAL: Final = frozenset({"content", "object"})
"""Roles of words that may describe a row."""
DESCRIBED: Final = frozenset({"article", "quantifier", "preposition", "place"})
"""Roles of words behind which no verb stands."""
ANY: Final = "*"
_OWNED: Final = re.compile(r"(?:['’]s|(?<=s)['’])$")
"""What makes a name an owner in English ("Leo's")."""
MOST_PASSAGES: Final = 400
LONGEST: Final = 80
"""Letters of a passage that is asked about."""

Place = tuple[int, int]
"""Number of a table, and of a column in it."""


class Cell(NamedTuple):
    """A passage of the request that is a cell."""

    start: int
    end: int
    value: Value
    places: frozenset[Place]
    owed: bool
    """It says which rows are meant, so a plan may not leave it out."""
    ops: frozenset[str] = EQUAL
    """How it is compared."""


class Way(NamedTuple):
    """What may stand together in one comparison."""

    field: Value
    ops: frozenset[str]
    values: tuple[Value, ...]


class Held:
    """The values of one request that stand in its tables."""

    def __init__(self, said: Said, columns: Columns) -> None:
        self.said = said
        self.columns = columns
        named = (str(slot.value) for slot in said.slots if slot.kind in NAMING and is_table(slot.value))
        self.tables = tuple(table for table in named if said.there is not None and said.there(table))
        """Those that are there; not what is still to be written."""
        self._own = frozenset(word for table in self.tables for word in words_of(table))
        """Words of the tables' own names: they say which table, not which rows."""

    # --- asking

    @cached_property
    def _looker(self) -> Cells | None:
        there = self.said.there
        return there if isinstance(there, Cells) else None

    def _ask(self, passages: Iterable[str]) -> tuple[Found, ...]:
        """What the tables say of passages; none of them: one could not be looked through."""
        confirmed = self.columns.confirmed
        if self._looker is None or not self.tables or confirmed is None:
            return ()
        asked, columns = tuple(dict.fromkeys(passages)), tuple(dict.fromkeys(confirmed.values()))
        found = [self._looker.cells(table, asked, columns) for table in self.tables]
        return tuple(each for each in found if each is not None) if None not in found else ()

    @cached_property
    def _passages(self) -> dict[tuple[int, int], str]:
        """Where each begins and ends → it."""
        found: dict[tuple[int, int], str] = {}
        for slot in self.said.slots:
            text = str(slot.value) if slot.kind in NAMING else slot.text
            if slot.kind in SLOTS and not (slot.kind == "path" and (is_file_name(text) or "/" in text)):
                found[slot.start, slot.end] = text
        words, text = self.columns.words, self.said.request.text
        for first, word in enumerate(words):
            for last in range(first, min(first + MOST_WORDS, len(words))):
                if not words[last].free or words[last].key == ",":
                    break
                if words[last].meant and words[last].text[:1].isalnum():
                    end = words[last].end
                    found[word.start, end] = text[word.start : end]
                    owner = _OWNED.sub("", found[word.start, end])
                    found[word.start, word.start + len(owner)] = owner
        fit = ((at, each) for at, each in found.items() if len(each) <= LONGEST and any(map(str.isalpha, each)))
        return dict(list(fit)[:MOST_PASSAGES])

    @cached_property
    def _found(self) -> tuple[Found, ...]:
        return self._ask((*self._passages.values(), *WORDS))

    @property
    def known(self) -> bool:
        """Whether the tables could be looked through."""
        return bool(self._found)

    def _places(self, passage: str, *, found: tuple[Found, ...] | None = None, whole: bool = True) -> frozenset[Place]:
        answers = self._found if found is None else found
        return frozenset(
            (table, column)
            for table, each in enumerate(answers)
            for column in (each.whole if whole else each.parts).get(passage, ())
        )

    # --- what was found

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """The passages that are cells, in order."""
        taken = {at: at[1] - at[0] for at in self.columns.spans}
        found: list[Cell] = []
        for (start, end), passage in sorted(self._passages.items(), key=lambda each: each[0][0] - each[0][1]):
            places = self._places(passage)
            over = [size for at, size in taken.items() if start < at[1] and at[0] < end]
            if places and all(end - start > size for size in over) and not any(_over(c, start, end) for c in found):
                found.append(Cell(start, end, plain(passage), places, self._is_owed(start, end, passage)))
        found += self._inflected(found)
        return tuple(sorted((*found, *self._dated(found)), key=lambda cell: cell.start))

    def _dated(self, cells: list[Cell]) -> Iterator[Cell]:
        """A month or a year of a column of days."""
        said = [
            each
            for each in dated(self.said, self.columns.words)
            if not any(_over(c, each.start, each.end) for c in cells)
        ]
        found = self._ask(each.text for each in said)
        for each in said:
            places = self._places(each.text, found=found, whole=False)
            if places:
                yield Cell(each.start, each.end, plain(each.text), places, owed=True, ops=frozenset({each.op}))

    def covers(self, start: int) -> bool:
        """Whether what stands there is a part of what says which rows."""
        return any(cell.owed and cell.start <= start < cell.end for cell in self.cells)

    def _inflected(self, cells: list[Cell]) -> Iterator[Cell]:
        """Words of which one other form is a cell."""
        taken = (*self.columns.spans, *((cell.start, cell.end) for cell in cells))
        words = [
            word
            for word in self.columns.words
            if word.free
            and word.meant
            and not word.known
            and not any(s < word.end and word.start < e for s, e in taken)
        ]
        words = [word for word in words if len(word.text) <= LONGEST and not self._is_own(word.text)][:MOST_PASSAGES]
        forms = {word: tuple(dict.fromkeys(forms_of(word.text))) for word in words}
        found = self._ask([form for each in forms.values() for form in each])
        for word, each in forms.items():
            held = [form for form in each if self._places(form, found=found)]
            if len({folded(form) for form in held}) == 1:
                yield Cell(word.start, word.end, plain(held[0]), self._places(held[0], found=found), owed=True)

    def _is_own(self, text: str) -> bool:
        return any(alike(text.casefold(), own) for own in self._own)

    def _is_owed(self, start: int, end: int, passage: str) -> bool:
        """Whether a passage says which rows: no word of the table's own name, none that is there, none that acts or reckons."""
        at = [number for number, word in enumerate(self.columns.words) if start <= word.start < end]
        slot = next((slot for slot in self.said.slots if slot.start == start), None)
        if (slot is None or slot.kind in NAMING) and self.said.there is not None and self.said.there(passage):
            return False
        if slot is not None:
            return True
        if len(at) == 1 and self._is_own(passage):
            return False
        return any(self._describes(number) for number in at)

    def _describes(self, at: int) -> bool:
        columns = self.columns
        known = self.said.lexicon.words.get(columns.words[at].key)
        if known is None:
            return True
        if columns.is_cue("reckoned", at) or columns.is_cue("never", at):
            return False
        return known.roles <= NOMINAL or ("verb" in known.roles and self._is_described(at))

    def _is_described(self, at: int) -> bool:
        """Whether no verb can stand there ("the open ones", "is open")."""
        if at == 0:
            return False
        before = self.columns.words[at - 1]
        known = self.said.lexicon.words.get(before.key)
        return self.said.speaks(before, "equals") or (known is not None and bool(known.roles & DESCRIBED))

    @cached_property
    def texts(self) -> frozenset[str]:
        """JSON of the words that say which rows, and so name nothing."""
        text = self.said.request.text
        return frozenset(plain(text[cell.start : cell.end]).json for cell in self.cells if cell.owed)

    @cached_property
    def together(self) -> tuple[tuple[Value, frozenset[Place]], ...]:
        """Lists of values of one column, which no row has at once, and where all of them stand."""
        owed = [cell for cell in self.cells if cell.owed and cell.ops == EQUAL]
        found: dict[str, tuple[Value, frozenset[Place]]] = {}
        for place in dict.fromkeys(place for cell in owed for place in sorted(cell.places)):
            group = {folded(str(cell.value.data)): cell for cell in owed if place in cell.places}
            if len(group) > 1:
                values = [cell.value.data for cell in group.values()]
                places = frozenset[Place].intersection(*(cell.places for cell in group.values()))
                made = Value(values)
                found[made.json] = (made, places)
        return tuple(found.values())

    def forms(self, cell: Cell) -> frozenset[str]:
        """JSON of all that says a value."""
        lists = (made.json for made, _ in self.together if cell.value.data in made.data)
        return frozenset((cell.value.json, *lists))

    @cached_property
    def truths(self) -> tuple[Truth, ...]:
        """The columns that say yes or no."""
        flags = frozenset(name for each in self._found for name in each.flags)
        return truths(
            self.said,
            self.columns,
            flags,
            lambda word, name: bool(self._places(word) & (self._column(name) or frozenset())),
        )

    @cached_property
    def owed(self) -> dict[int, frozenset[str]]:
        """Where a passage begins that says which rows → JSON of all that says it in a plan; of a column of yes and no, its name."""
        rows = {cell.start: self.forms(cell) for cell in self.cells if cell.owed}
        return rows | {truth.start: frozenset({truth.column.json}) for truth in self.truths if truth.owed}

    # --- comparing

    def ways(self, fields: Iterable[Value], numbers: tuple[Value, ...], times: tuple[Value, ...]) -> Iterator[Way]:
        """How columns may be compared.

        Args:
            fields: Columns, as they are written.
            numbers: That the request says.
            times: The same.
        """
        spoken = [slot.start for slot in self.said.slots if slot.kind in ("date", "period")]
        times = () if spoken and all(map(self.covers, spoken)) else times
        rows = {slot.value for slot in self.said.slots if slot.kind == "integer" and self.covers(slot.start)}
        numbers = tuple(value for value in numbers if value.data not in rows)
        numeric = self.columns.numeric
        told = {truth.column: truth.values for truth in self.truths}
        for field in fields:
            if field in told:
                yield Way(field, frozenset({SAME}), told[field])
                continue
            if numeric is None or field.data not in numeric:
                yield from self._of_texts(field)
            ordered = numeric is None or field.data == ANY or field.data in numeric
            yield Way(field, EQUAL | ORDERS if ordered else EQUAL, numbers)
            yield Way(field, EQUAL | ORDERS, times)

    def _of_texts(self, field: Value) -> Iterator[Way]:
        here = self._column(str(field.data))
        lists = [made for made, places in self.together if here is None or here & places]
        joined = {each for made in lists for each in made.data}
        cells = [cell for cell in self.cells if here is None or here & cell.places]
        yield from (Way(field, cell.ops, (cell.value,)) for cell in cells if cell.ops != EQUAL)
        said = [cell for cell in cells if cell.ops == EQUAL]
        alone = tuple(cell.value for cell in said if cell.value.data not in joined or self.said.mentions("reversed"))
        yield Way(field, EQUAL | INSIDE if self.said.mentions(PARTS) else EQUAL, unique(alone))
        yield Way(field, frozenset({MEMBER}), tuple(lists))
        found = {cell.value.data for cell in self.cells}
        free = tuple(value for value in self.explicit if value.data not in found)
        yield Way(field, EQUAL | INSIDE, free)
        parts = (value for value in self.said.unexplained if value.data not in found)
        yield Way(field, INSIDE, unique(v for v in parts if self._is_part(str(v.data), here)))

    def _is_part(self, passage: str, here: frozenset[Place] | None) -> bool:
        places = self._places(passage, whole=False)
        return bool(places) and (here is None or bool(here & places)) and not self._is_own(passage)

    def _column(self, name: str) -> frozenset[Place] | None:
        """Where a column stands; None: it is left open."""
        if name == ANY:
            return None
        return frozenset((table, each.columns[name]) for table, each in enumerate(self._found) if name in each.columns)

    @cached_property
    def explicit(self) -> tuple[Value, ...]:
        """What is quoted, and what stands where only a value can: behind a column, or behind "is". Where none is found, also
        what nothing explains.
        """
        words = self.columns.words
        ends = {end for _, end in self.columns.spans}
        behind: list[str] = []
        for before, word in pairwise(words):
            if word.free and word.meant and word.text[:1].isalnum():
                placed = before.end in ends or (before.free and self.said.speaks(before, "equals"))
                behind += [word.text] if placed and not self._is_other(word) else []
        found = (*self.said.quoted, *map(plain, behind))
        if not any(cell.owed for cell in self.cells):
            found = (*found, *(value for value in self.said.unexplained if not self._is_own(str(value.data))))
        spoken = {format_parts((self.said.request.text[start:end],)) for start, end in self.columns.spans}
        words = {word for text in spoken for word in text.split()}
        gone = (value for value in found if value.data in spoken or words.issuperset(str(value.data).split()))
        left = set(gone)
        return unique(value for value in found if value not in left and not is_table(value.data))

    def _is_other(self, word: Spoken) -> bool:
        """Whether a word is a column, or one of comparison."""
        known = self.said.lexicon.words.get(word.key)
        column = any(start <= word.start < end for start, end in self.columns.spans)
        at = next((at for at, each in enumerate(self.columns.words) if each.start == word.start), -1)
        return (
            column
            or self.columns.is_cue("nouns", at)
            or self.said.speaks(word, BEING)
            or (known is not None and not known.roles <= NOMINAL and "verb" not in known.roles)
        )


def _over(cell: Cell, start: int, end: int) -> bool:
    return start < cell.end and cell.start < end
