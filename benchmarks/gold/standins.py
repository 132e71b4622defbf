"""Stand-in tools: what a tool that cannot be called would give, made from its description.

Law: a stand-in is a function of the tool, its arguments and what the plan refers to; no clock, no chance. So two calls
of one tool with other arguments give other values, and a reference that goes to the wrong call is seen. Types are true
to the description (a boolean for a boolean, one of the values where values are listed). What the description leaves
open (no type, an object without properties, an array of unknown length) is filled as far as the plan refers to it, and
no further: an index past `LONGEST` finds nothing.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from metnos.contracts.foreign import OUTPUTS
from metnos.plan.jsondata import is_list, is_object
from metnos.plan.references import Index, Key, StepTarget
from metnos.values.expressions import DictOf, ListOf, Ref, Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from metnos.checks.model import Checked
    from metnos.contracts.model import Contract
    from metnos.plan.references import Reference, Segment
    from metnos.values.expressions import Expression

LONGEST = 1000
SHORTEST = 2
"""Elements of an array that nothing is asked of."""
_VALUES = ("enum", "allowed_values", "possible_values", "options", "choices")
_TRUTHS = frozenset({"boolean", "bool"})
_WHOLES = frozenset({"integer", "int", "long"})
_NUMBERS = frozenset({"number", "float", "double", "decimal", "numeric"})


class Wanted:
    """What a plan refers to inside one result, and what it hands that to."""

    def __init__(self) -> None:
        self.fields: dict[str, Wanted] = {}
        self.length = 0
        self.element: Wanted | None = None
        self.schema: dict[str, Any] = {}
        """Of the first argument that takes it whole."""

    def add(self, path: tuple[Segment, ...], schema: dict[str, Any]) -> None:
        """One more reference, to be handed to a place with this schema."""
        if not path:
            self.schema = self.schema or schema
            return
        segment, rest = path[0], path[1:]
        if isinstance(segment, Key):
            self.fields.setdefault(segment.name, Wanted()).add(rest, schema)
            return
        if isinstance(segment, Index) and segment.number < LONGEST:
            self.length = max(self.length, segment.number + 1)
        self.element = self.element or Wanted()
        self.element.add(rest, schema if isinstance(segment, Index) else {})


NOTHING = Wanted()
NO_SCHEMA: dict[str, Any] = {}


def wants_of(checked: Checked) -> dict[str, Wanted]:
    """Contract → what an accepted plan refers to in results of it."""
    makers = [step.contract.name for step in checked.steps]
    found = {name: Wanted() for name in makers}
    places = [(step.args, step.contract.args) for step in checked.steps]
    for part, schema in [*places, (checked.answer_data, NO_SCHEMA)]:
        for reference, wanted in _uses(part, schema):
            target = reference.target
            if isinstance(target, StepTarget) and isinstance(target.step, int):
                found[makers[target.step - 1]].add(reference.path, wanted)
    return found


def _uses(part: Expression | None, schema: dict[str, Any]) -> Iterator[tuple[Reference, dict[str, Any]]]:
    """Every reference in an expression, with the schema of the place that takes it."""
    if isinstance(part, Ref):
        yield part.reference, schema
    elif isinstance(part, Text):
        yield from ((piece, NO_SCHEMA) for piece in part.parts if not isinstance(piece, str))
    elif isinstance(part, ListOf):
        for item in part.items:
            yield from _uses(item, schema.get("items", NO_SCHEMA))
    elif isinstance(part, DictOf):
        for name, item in part.items:
            yield from _uses(item, schema.get("properties", NO_SCHEMA).get(name, NO_SCHEMA))


def stand_in(contract: Contract, descriptions: Iterable[dict[str, Any]], args: Any, wanted: Wanted) -> Any:
    """The result of one call.

    Args:
        contract: Its contract; the result fits its schema.
        descriptions: What the contract was made from, for the types of scalars.
        args: Final arguments.
        wanted: What the plan refers to in it.
    """
    outputs: dict[str, Any] = {}
    whole: Any = {}
    for described in descriptions:
        for word in OUTPUTS:
            outputs.update(_by_name(described.get(word)))
            whole = described.get(word) or whole
    described = {"properties": outputs} if contract.result.get("type") != "array" else whole
    return _make(contract.result, described, wanted, f"{contract.name} {json.dumps(args, sort_keys=True)}", "")


def field_names(schema: Any) -> set[str]:
    """Every name of a field anywhere in a result's schema."""
    if is_list(schema):
        return set[str]().union(*map(field_names, schema))
    if not is_object(schema):
        return set()
    fields: Any = schema.get("properties")
    names = set(fields) if is_object(fields) else set[str]()
    return names.union(*map(field_names, schema.values()))


def _make(schema: dict[str, Any], described: Any, wanted: Wanted, seed: str, place: str) -> Any:
    if "type" not in schema:
        schema = wanted.schema
    kind = schema.get("type")
    if kind == "object" or (kind is None and wanted.fields):
        fields: dict[str, Any] = dict(schema.get("properties", {}))
        if schema.get("additionalProperties") is not False:
            fields = {**{name: {} for name in wanted.fields}, **fields}
        known = _by_name(described.get("properties")) if is_object(described) else {}
        return {
            name: _make(each, known.get(name), wanted.fields.get(name, NOTHING), seed, f"{place}.{name}")
            for name, each in fields.items()
        }
    if kind == "array" or (kind is None and wanted.element is not None):
        inside = described.get("items") if is_object(described) else None
        return [
            _make(schema.get("items", {}), inside, wanted.element or NOTHING, seed, f"{place}[{index}]")
            for index in range(max(SHORTEST, wanted.length))
        ]
    return _scalar(described, seed, place)


def _by_name(table: Any) -> dict[str, Any]:
    """Descriptions by name, from a table, a list of named tables or a JSON Schema object."""
    if is_list(table):
        return {str(row.get("name")): row for row in table if is_object(row)}
    if not is_object(table):
        return {}
    inside: Any = table.get("properties")
    return inside if is_object(inside) and "type" in table else table


def _scalar(described: Any, seed: str, place: str) -> str | int | float | bool:
    chance = int.from_bytes(hashlib.sha256(f"{seed} {place}".encode()).digest()[:4], "big")
    table: dict[str, Any] = described if is_object(described) else {"type": described}
    values = [value for word in _VALUES if is_list(table.get(word)) for value in table[word]]
    scalars = [value for value in values if isinstance(value, (str, int, float))]
    if scalars:
        return scalars[chance % len(scalars)]
    kind = table.get("type")
    words = kind if is_list(kind) else str(kind).lower().split()
    word = next((str(each).lower() for each in words if each != "null"), "")
    if word in _TRUTHS:
        return chance % 2 == 1
    if word in _WHOLES:
        return chance
    if word in _NUMBERS:
        return chance + 0.5 if chance % 2 else chance
    return f"<{place.lstrip('.') or 'result'} {chance:08x}>"  # in angles: what looks like a secret would be sealed
