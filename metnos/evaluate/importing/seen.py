"""The shape of values that were seen, as a lenient JSON Schema. Pure; one pass, one small state.

Law: every value that was seen fits the schema; nothing is promised that was not seen always. Scalars join (a number
today is a text tomorrow), as in `contracts.loosen`. An object with more than `MAX_FIELDS` names is keyed by data: its
values are described, its names are not. Deeper than `MAX_DEPTH` anything may stand.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from metnos.contracts.loosen import SCALARS
from metnos.plan.jsondata import is_list, is_object

MAX_FIELDS = 48
MAX_DEPTH = 8
MAX_NODES = 2_000
"""Schemas in one schema; past it only the first level is told."""


class Seen:
    """What was seen at one place."""

    __slots__ = ("always", "count", "fields", "items", "keyed", "kinds")

    def __init__(self) -> None:
        self.count = 0
        """Objects."""
        self.kinds: set[str] = set()
        """`scalar`, `null`, `array`, `object`."""
        self.fields: dict[str, Seen] = {}
        self.always: Counter[str] = Counter()
        """Name → in how many of the objects it is."""
        self.items: Seen | None = None
        self.keyed: Seen | None = None
        """Of the values of an object that is keyed by data."""

    def add(self, value: Any, depth: int = 0) -> None:
        """One more value."""
        if value is None:
            self.kinds.add("null")
        elif is_object(value):
            self._object(value, depth)
        elif is_list(value):
            self.kinds.add("array")
            if depth < MAX_DEPTH:
                self.items = self.items or Seen()
                for item in value:
                    self.items.add(item, depth + 1)
        else:
            self.kinds.add("scalar")

    def _object(self, value: dict[str, Any], depth: int) -> None:
        self.kinds.add("object")
        self.count += 1
        if depth >= MAX_DEPTH:
            return
        if self.keyed is None:
            for name, held in value.items():
                field = self.fields.get(name)
                if field is None:
                    field = self.fields[name] = Seen()
                field.add(held, depth + 1)
            self.always.update(value.keys())
            if len(self.fields) > MAX_FIELDS:
                self.keyed = merged(self.fields.values())
                self.fields, self.always = {}, Counter()
        else:
            for held in value.values():
                self.keyed.add(held, depth + 1)

    def schema(self, *, closed: bool) -> dict[str, Any]:
        """The schema.

        Args:
            closed: Of a result: what was always there is required, and no other field can be named. Else of an argument.
        """
        found = self.schema_to(MAX_DEPTH, closed=closed)
        return found if _nodes(found) <= MAX_NODES else self.schema_to(1, closed=closed)

    def schema_to(self, depth: int, *, closed: bool) -> dict[str, Any]:
        """The same, with nothing told below `depth`."""
        kinds = self.kinds - {"null"}
        if len(kinds) != 1 or depth < 0:
            return {}
        (kind,) = kinds
        types = list(SCALARS) if kind == "scalar" else [kind]
        if "null" in self.kinds:
            types.append("null")
        schema: dict[str, Any] = {"type": types if len(types) > 1 else types[0]}
        if kind == "array" and self.items is not None and self.items.kinds:
            schema["items"] = self.items.schema_to(depth - 1, closed=closed)
        elif kind == "object":
            schema.update(self._fields(depth, closed=closed))
        return schema

    def _fields(self, depth: int, *, closed: bool) -> dict[str, Any]:
        if self.keyed is not None:
            return {"additionalProperties": self.keyed.schema_to(depth - 1, closed=closed)}
        if depth <= 0 or not self.fields:
            return {}
        told: dict[str, Any] = {
            "properties": {name: held.schema_to(depth - 1, closed=closed) for name, held in self.fields.items()}
        }
        always = [name for name in self.fields if self.always[name] == self.count]
        if closed and always:
            told["required"] = always
        if closed:
            told["additionalProperties"] = False
        return told


def merged(several: Any) -> Seen:
    """What was seen at any of several places."""
    one = Seen()
    for other in several:
        _into(one, other)
    return one


def _into(one: Seen, other: Seen) -> None:
    one.kinds |= other.kinds
    one.count += other.count
    if other.items is not None:
        one.items = one.items or Seen()
        _into(one.items, other.items)
    if other.keyed is not None or one.keyed is not None:
        places = (*one.fields.values(), *other.fields.values(), *filter(None, (one.keyed, other.keyed)))
        one.keyed = merged(places)
        one.fields, one.always = {}, Counter()
        return
    for name, held in other.fields.items():
        _into(one.fields.setdefault(name, Seen()), held)
    one.always.update(other.always)
    if len(one.fields) > MAX_FIELDS:
        one.keyed = merged(one.fields.values())
        one.fields, one.always = {}, Counter()


def _nodes(schema: Any) -> int:
    if is_object(schema):
        return 1 + sum(map(_nodes, schema.values()))
    return sum(map(_nodes, schema)) if is_list(schema) else 0


__all__ = ["MAX_FIELDS", "Seen", "merged"]
