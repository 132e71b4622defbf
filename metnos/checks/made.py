"""What a step makes, as a type: the whole result, the collection in it, its kind, and when the step runs at all.

Law: made from a contract alone, or from a contract and what the step consumes (`produces.rule`); never from data.
"""

from __future__ import annotations

from functools import lru_cache

import msgspec

from metnos.checks.remembering import remembered
from metnos.checks.shapes import ANY, INTEGER, NEVER, Alternative, Shape, array_of, elements, record
from metnos.checks.walk import walk
from metnos.contracts.model import Contract, Produces
from metnos.plan.references import Key, Reference, StepTarget

Condition = tuple[int, bool]
"""(step, nonempty) of a `when`."""
ALWAYS: frozenset[Condition] = frozenset()
LIFTED_FIELD = "entries"
PASSED_ON = frozenset({"same", "concat"})
"""Rules by which a transform's entries are those that it was given."""


class Made(msgspec.Struct, frozen=True, eq=False):
    """The result of one step."""

    data: Shape
    """What `${stepN}` is."""
    field: str | None = None
    """The field of `data` that holds the collection, or the single value; empty: `data` itself; None: the contract
    produces nothing."""
    kind: str | None = None
    many: bool = False
    entry: Shape = ANY
    """An element of the collection, or the single value."""
    lenient: bool = False
    runs_if: frozenset[Condition] | None = ALWAYS
    """None: its `when` is at fault."""
    spreads: bool = False
    """A loop over the step joins the collections of its items."""
    known: bool = True
    """False: the step is at fault itself, so nothing about it is said twice."""


UNKNOWN = Made(ANY, known=False, lenient=True)


def made_by(contract: Contract, result: Shape) -> Made:
    """What `contract` makes where its rule does not look at the input."""
    produces = contract.produces
    if produces is None:
        return Made(result, lenient=contract.lenient)
    path: tuple[Key, ...] = (Key(produces.field),) if produces.field else ()
    held = walk(result, path, contract.lenient)
    entry = elements(held.shape) if produces.many else held.shape
    if held.lost is None and not held.gaps and entry is not None:
        return Made(
            result, produces.field, produces.kind, produces.many, entry, contract.lenient, spreads=produces.many
        )
    # Admission refuses such a manifest. Nothing can be handed on; a loop still joins what lists there are.
    lists = Shape(held.shape.only("array"))
    inner = ANY if held.shape.is_any else elements(lists) or NEVER
    return Made(result, entry=inner, lenient=contract.lenient, spreads=produces.many)


@remembered
def list_of(entry: Shape) -> Shape:
    """A list of such entries, the same shape each time."""
    return array_of(entry)


@remembered
def passed_on(made: Made, produces: Produces, kind: str | None, entry: Shape) -> Made:
    """The same with the entries (and the kind) that came in, for a rule of `PASSED_ON`."""
    objects = tuple(_with_entries(each, produces.field, entry) for each in made.data.of)
    return msgspec.structs.replace(made, data=Shape(objects), kind=kind or made.kind, entry=entry)


@remembered
def lifted(made: Made) -> Made:
    """The result of a step that runs once per item: `{"entries": […], "count": n}`."""
    entry = made.entry if made.spreads else made.data
    data = record({LIFTED_FIELD: list_of(entry), "count": INTEGER})
    return msgspec.structs.replace(made, data=data, field=LIFTED_FIELD, many=True, entry=entry, spreads=True)


@lru_cache(maxsize=1024)
def collection_reference(number: int, field: str) -> Reference:
    """`${stepN.field}`, the same object each time."""
    return Reference(StepTarget(number), (Key(field),) if field else ())


def _with_entries(each: Alternative, field: str, entry: Shape) -> Alternative:
    if each.kind != "object" or field not in each.fields:
        return each
    return msgspec.structs.replace(each, fields={**each.fields, field: list_of(entry)})
