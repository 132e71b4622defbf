"""Shapes: JSON data seen as types, so that what one step makes can be held against what another takes.

Law: a shape knows JSON types, fields and elements, and whether they are certain to be there. Value constraints
(`minimum`, `pattern`, `enum`…) are no part of a shape: a literal meets them in place, a reference at resolution.
Whatever is left undeclared is the shape `any`, which fits everywhere and promises nothing.

    >>> array_of(STRING).describe()
    'array of string'
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeGuard

import msgspec

Kind = Literal["any", "null", "boolean", "integer", "number", "string", "array", "object"]
SCALARS: frozenset[Kind] = frozenset({"boolean", "integer", "number", "string"})
KINDS: tuple[Kind, ...] = ("null", "boolean", "integer", "number", "string", "array", "object")

EXACT: dict[Kind, tuple[type, ...]] = {
    "null": (type(None),),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "string": (str,),
}


def is_object(data: Any) -> TypeGuard[dict[str, Any]]:
    """A JSON object."""
    return isinstance(data, dict)


def is_list(data: Any) -> TypeGuard[list[Any]]:
    """A JSON list."""
    return isinstance(data, list)


class Alternative(msgspec.Struct, frozen=True, eq=False):
    """One JSON type with what is known of its inside."""

    kind: Kind
    fields: Mapping[str, Shape] = {}
    required: frozenset[str] = frozenset()
    extra: Shape | None = None
    """Shape of fields that are not listed; None: there are none."""
    listed: bool = False
    """The schema says something of its fields; a bare `{"type": "object"}` does not."""
    extra_declared: bool = False
    """`additionalProperties` was written (and is not false): fields may come with the data."""
    prefix: tuple[Shape, ...] = ()
    items: Shape | None = None
    """Shape of the elements after `prefix`; None: undeclared."""
    min_items: int = 0


class Shape:
    """A union of alternatives; none at all: no value is possible. Never changed once made, and compared by identity."""

    __slots__ = ("exact", "is_any", "kinds", "of", "schema")

    def __init__(self, of: tuple[Alternative, ...], schema: Any = None, exact: frozenset[type] | None = None) -> None:
        self.of = of
        self.schema = schema
        """The schema it was compiled from, able to stand alone; None: derived, no literal is held against it."""
        self.exact = exact
        """Python types whose every value is valid: no schema need be asked."""
        self.kinds: frozenset[Kind] = frozenset(each.kind for each in of)
        self.is_any = "any" in self.kinds

    def only(self, kind: Kind) -> tuple[Alternative, ...]:
        """The alternatives of one type."""
        return tuple(each for each in self.of if each.kind == kind)

    def describe(self) -> str:
        """Words for a diagnostic: `array of object`, `string or null`."""
        if self.is_any:
            return "any value"
        names: list[str] = []
        for each in self.of:
            name: str = each.kind
            if each.kind == "array" and each.items is not None and not each.items.is_any:
                name = f"array of {each.items.describe()}"
            if name not in names:
                names.append(name)
        return " or ".join(names) or "nothing"


ANY_ALTERNATIVE = Alternative("any")
ANY = Shape((ANY_ALTERNATIVE,))
NEVER = Shape(())


def simple(kind: Kind) -> Shape:
    """The shape of one plain type."""
    return Shape((Alternative(kind),))


STRING = simple("string")
INTEGER = simple("integer")


def array_of(items: Shape) -> Shape:
    """A list of any length."""
    return Shape((Alternative("array", items=items),))


def record(fields: Mapping[str, Shape]) -> Shape:
    """An object with exactly these fields, all of them there."""
    return Shape((Alternative("object", fields=fields, required=frozenset(fields), listed=True),))


def union(shapes: list[Shape]) -> Shape:
    """A value of one of these."""
    if len(shapes) == 1:
        return shapes[0]
    found: list[Alternative] = []
    for shape in shapes:
        for each in shape.of:
            plain = each.kind in SCALARS or each.kind in ("null", "any")
            if not (plain and any(other.kind == each.kind for other in found)):
                found.append(each)
    return Shape(tuple(found))


def infer(data: Any) -> Shape:
    """The shape of literal data."""
    if is_object(data):
        return record({name: infer(value) for name, value in data.items()})
    if is_list(data):
        return Shape(
            (Alternative("array", items=union([infer(each) for each in data]) if data else NEVER, min_items=len(data)),)
        )
    for kind in ("boolean", "integer", "string", "null"):
        if isinstance(data, EXACT[kind]):
            return simple(kind)
    return simple("number")


def is_scalar(shape: Shape, *, lenient: bool = False, or_null: bool = False) -> bool:
    """Whether every value may stand inside longer text: no list, no object, and no null unless `or_null`."""
    if shape.is_any:
        return True
    kinds = shape.kinds - {"null"} if or_null else shape.kinds
    return not kinds.isdisjoint(SCALARS) if lenient else kinds <= SCALARS


def elements(shape: Shape) -> Shape | None:
    """The shape of the elements of a list, or None if it may be something else; `ANY` for `any`."""
    if shape.is_any:
        return ANY
    arrays = shape.only("array")
    if not arrays or len(arrays) != len(shape.of):
        return None
    return union([part for each in arrays for part in (*each.prefix, ANY if each.items is None else each.items)])
