"""Recorded results against today's result schemas: which fields are gone, missing, of another type.

Law: pure, and it stops at nothing: every fault of a result is looked at, those of the entries of a list counted as one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple, cast

from metnos.contracts.schemas import Fault, escape, validator_for
from metnos.evaluate.drifting.fields import Schema, likely, properties, schema_at, starred, type_of, value_at
from metnos.evaluate.drifting.model import Kind

REQUIRED: Final = "required: "
UNEXPECTED: Final = "no such property"
TYPED: Final = "type: "
"""How `contracts.schemas` says what a fault wanted."""


class Misfit(NamedTuple):
    """One field that does not fit, however many entries lack or have it."""

    kind: Kind
    field: str
    recorded: str
    now: str
    candidates: tuple[str, ...]
    times: int


def misfits(schema: Schema, data: Any) -> list[Misfit]:
    """Every way in which `data` does not fit `schema`; none means that it does."""
    if not schema:
        return []
    validator = validator_for(schema)
    if validator.is_valid(data):
        return []
    counted: dict[Misfit, int] = {}
    for fault in validator(data):
        for found in _of_fault(fault, schema, data):
            counted[found] = counted.get(found, 0) + 1
    found = list(_without_twins(counted))
    return [one._replace(times=counted[one]) for one in found]


def _of_fault(fault: Fault, schema: Schema, data: Any) -> Iterator[Misfit]:
    if fault.expected == UNEXPECTED:
        yield _gone(fault.pointer, schema, data)
    elif fault.expected.startswith(REQUIRED):
        yield _missing(fault.pointer, fault.expected.removeprefix(REQUIRED), schema, data)
    else:
        value = value_at(data, fault.pointer)
        place = starred(fault.pointer, data)
        if fault.expected.startswith(TYPED):
            yield Misfit("field-type", place, type_of(value), fault.expected.removeprefix(TYPED), (), 1)
        else:
            yield Misfit("field-value", place, "", fault.expected, (), 1)


def _gone(pointer: str, schema: Schema, data: Any) -> Misfit:
    """A recorded field that today's schema has no place for."""
    above, _, last = pointer.rpartition("/")
    name = last.replace("~1", "/").replace("~0", "~")
    there = _object(value_at(data, above))
    declared = properties(schema_at(schema, above) or {})
    others = {other: held for other, held in declared.items() if other not in there}
    value = there.get(name)
    return Misfit("field-gone", starred(pointer, data), type_of(value), "", likely(name, others, value), 1)


def _missing(pointer: str, name: str, schema: Schema, data: Any) -> Misfit:
    """A field that is promised now; what of the recorded object could be it is named as its candidate."""
    there = _object(value_at(data, pointer))
    declared = properties(schema_at(schema, pointer) or {})
    wanted: Any = declared.get(name, {})
    undeclared = [other for other in there if other not in declared]
    fitting = [other for other in undeclared if name in likely(other, {name: wanted}, there[other])]
    place = f"{starred(pointer, data)}/{escape(name)}"
    return Misfit("field-missing", place, "", "required", tuple(sorted(fitting)), 1)


def _without_twins(counted: dict[Misfit, int]) -> Iterator[Misfit]:
    """A missing field that is the likeliest new name of one that is gone is told there alone."""
    told = {
        f"{one.field.rpartition('/')[0]}/{escape(one.candidates[0])}"
        for one in counted
        if one.kind == "field-gone" and one.candidates
    }
    return (one for one in counted if one.kind != "field-missing" or one.field not in told)


def _object(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
