"""What a step is handed: which fields its entries have, and what each can be compared with.

Law: read from shapes; an entry of an open kind may have fields that nobody declared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from metnos.checks.shapes import Kind, Shape
from metnos.checks.walk import field_names, walk
from metnos.plan.jsondata import is_object
from metnos.plan.references import Key
from metnos.propose.decode.choices import Value, escaped, unique
from metnos.propose.decode.columns import OPEN
from metnos.propose.decode.said import NAMED

if TYPE_CHECKING:
    from metnos.checks.bound import Bound
    from metnos.contracts.model import Contract
    from metnos.propose.decode.offers import Offers

TIMES: Final = "ISO 8601"
BYTES: Final = "bytes"
TEXT: Final[frozenset[Kind]] = frozenset({"string"})
NAMES: Final = frozenset({"name", "path", "digest"})
"""Fields that tell one file from another: compared with any word only where the request speaks of names."""

GROUPED: Final = "group"
"""The rule of what is made of several entries."""
SORTING: Final = "sort"
FIGURES: Final = "stats"
COLUMN: Final = "column"
"""The choice that a tool leaves which takes a column that nobody named."""
ENDING: Final = "ext"
"""The field that is compared with kinds of files only."""


class Entry(msgspec.Struct, frozen=True):
    """What a step is handed: the shape of an entry, and whether other fields may come with the data."""

    shape: Shape
    open: bool

    def fields(self) -> tuple[str, ...]:
        """Fields that every entry has."""
        return tuple(name for name in field_names(self.shape) if _is_sure(self.shape, name))


def fields_of(contract: Contract, name: str, entry: Entry | None, offers: Offers) -> tuple[Value, ...]:
    """What an argument that names a field of the input may name; of entries whose fields nobody knows, the columns that
    the request names: what they are told apart or ordered by, what is reckoned with, or any. Where none stands in just
    that place, the column may be left open, if the tool can then ask for it.
    """
    if entry is None:
        return ()
    known = tuple(Value(escaped(field)) for field in entry.fields())
    if not entry.open or known:
        return known
    columns, produces = offers.columns, contract.produces
    parts = produces.roles if produces is not None and produces.rule == GROUPED else {}
    found, placed = columns.named, ()
    sorts, measures = _sorts(contract), name in _measures(contract)
    asked = offers.rows.ordered if sorts else offers.rows.reckoned_with if measures else ()
    if asked and _may_be_open(contract, name):
        return asked
    if parts.get("fields") == name:
        found = columns.by
    elif sorts:
        placed = columns.apart or columns.reckoned
        found = placed or columns.named
    elif measures:
        found, placed = columns.measured, columns.figures
    if placed or not _may_be_open(contract, name):
        return found
    return found or (OPEN,) if columns.confirmed is None else (*found, OPEN)


def _sorts(contract: Contract) -> bool:
    return any(family.verb == SORTING for family in contract.families)


def _measures(contract: Contract) -> tuple[str, ...]:
    """Fields that figures are made of."""
    produces = contract.produces
    if produces is None or produces.rule != GROUPED:
        return ()
    return contract.field_of_input if produces.kind == FIGURES else (produces.roles.get("measure", ""),)


def measuring(bound: Bound) -> tuple[str, ...]:
    """Arguments that name a column of numbers, and may leave it open."""
    contract = bound.contract
    found = contract.field_of_input if _sorts(contract) else _measures(contract)
    return tuple(name for name in found if _may_be_open(contract, name))


def _may_be_open(contract: Contract, name: str) -> bool:
    """Whether a tool takes a column that nobody named: it leaves a choice then."""
    return any(choice.key == COLUMN and name in choice.fill for choice in contract.choices)


def type_class(entry: Entry, name: str) -> str:
    """What a field of the input is compared with: `text`, `name`, `ending`, `time`, `number`, `ordinal` (from 1 on), `bytes`, `boolean`,
    or `any`.
    """
    shape = walk(entry.shape, (Key(name),), False).shape
    kinds = shape.kinds - {"null"}
    if not kinds or shape.is_any:
        return "any"
    unit = shape.schema.get("unit") if is_object(shape.schema) else None
    if kinds <= {"integer", "number"}:
        least = shape.schema.get("minimum") if is_object(shape.schema) else None
        return "bytes" if unit == BYTES else "ordinal" if least == 1 else "number"
    if kinds == TEXT:
        return "time" if unit == TIMES else "name" if name in NAMES else "ending" if name == ENDING else "text"
    return "boolean" if kinds == frozenset[Kind]({"boolean"}) else "any"


def figures_and_times(offers: Offers) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
    """The numbers and the times that something may be compared with."""
    zero = [Value(0)] if offers.mentions("zero") or offers.mentions("sign") else []
    counts = offers.rows.counts
    return unique(n for n in (*offers.numbers, *offers.integers, *zero) if n.data not in counts), offers.times


def compared(offers: Offers, kind: str) -> tuple[Value, ...]:
    """What the request offers to compare a field of such a type with."""
    said = (*offers.quoted, *offers.extensions)
    texts = unique((*said, *offers.unexplained, *offers.names, *offers.compared))
    named = texts if offers.mentions(NAMED) else unique((*offers.quoted, *offers.names))
    numbers, times = figures_and_times(offers)
    return {
        "text": texts,
        "name": named,
        "ending": tuple(value for value in unique(said) if str(value.data).startswith(".")),
        "time": times,
        "number": numbers,
        "ordinal": tuple(number for number in numbers if number.data >= 1),
        "bytes": (*offers.sizes, *([Value(0)] if offers.mentions("zero") else [])),
        "boolean": (Value(True), Value(False)),
        "any": (*(v for v in offers.columns.values(texts) if str(v.data) not in offers.rows.spoken), *numbers, *times),
    }[kind]


def _is_sure(shape: Shape, name: str) -> bool:
    walked = walk(shape, (Key(name),), False)
    return walked.lost is None and not walked.gaps
