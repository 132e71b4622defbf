"""One foreign description of a value, loosely typed, as a lenient JSON Schema.

Law: it reads what people write in place of schemas and never tightens it; the table in `foreign.py` says how. What a
description said beside types is kept as `description` and `examples`. It knows nothing of tools.

An argument is held to what is declared of it (its required fields; further ones unless they are ruled out). A result
is what may be referred to: its fields count as there, and no other can be named unless the description says so.
Where `numerals` is asked for, a text that stands for a number must read as one: "63" does, "per month" does not.
"""

from __future__ import annotations

import re
from typing import Any, Literal, TypeGuard

Side = Literal["argument", "result"]
Shape = Literal["scalar", "array", "object", "any"]
SCALARS = ["string", "number", "boolean"]
_ARRAYS = frozenset({"array", "list", "tuple", "set", "sequence"})
_OBJECTS = frozenset({"object", "dict", "map", "mapping", "json", "struct"})
_ANYTHING = frozenset({"any", "unknown", "mixed"})
"""First words of a type, in lower case (of an array also the last); every other one is a scalar."""
_NUMBERS = frozenset({"int", "integer", "long", "float", "double", "decimal", "number"})
NUMERAL = r"^\s*[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?\s*$"
"""A number as people and programs write it, without unit or grouping."""
_WRAPPERS = frozenset({"optional", "nullable", "union", "either"})
"""Words before the types of which one is meant."""
_OR = re.compile(r"\||\bor\b")
_BRACKETS = str.maketrans("[]<>()", "      ")
_VALUES = ("enum", "allowed_values", "possible_values", "options", "choices")
_SCHEMA_WORDS = frozenset({"type", "properties", "required", "description", "additionalProperties", "$schema", "title"})


class ForeignFault(ValueError):
    """A description that is none: no name, or a table where there is something else."""


def read_table(value: Any, where: str) -> tuple[dict[str, Any], frozenset[str]]:
    """Properties by name, and the names of those that are required.

    Args:
        value: A table of properties by name, a list of properties that each hold a `name`, or a JSON Schema object.
        where: For a message.

    Raises:
        ForeignFault: It is none of these.
    """
    if _is_list(value):
        rows = [row for row in value if _is_table(row) and isinstance(row.get("name"), str)]
        if len(rows) != len(value):
            raise ForeignFault(f"{where} is no table")
        value = {row["name"]: {word: held for word, held in row.items() if word != "name"} for row in rows}
    if not _is_table(value):
        raise ForeignFault(f"{where} is no table")
    inside, names = value.get("properties"), value.get("required")
    if _is_table(inside) and (value.get("type") == "object" or _is_list(names) or _SCHEMA_WORDS.issuperset(value)):
        listed = map(str, names) if _is_list(names) else ()
        return inside, frozenset([*listed, *(name for name, held in inside.items() if _says_required(held))])
    return value, frozenset(name for name, held in value.items() if _says_required(held))


def is_whole_array(value: Any) -> bool:
    """Whether a description of results is one of an array, not of named fields: `type` and `items` beside each other."""
    return (
        _is_table(value)
        and isinstance(value.get("type"), str)
        and _named(value["type"].lower()) == "array"
        and isinstance(value.get("items"), (dict, str))
    )


def loosen(held: Any, side: Side, where: str, *, numerals: bool = False) -> dict[str, Any]:
    """The schema of one property.

    Args:
        held: Its description: a table, or the bare name of its type.
        side: Whether it goes in or comes out.
        where: For a message.
        numerals: An argument that is declared a number takes no text but a numeral.

    Raises:
        ForeignFault: Its properties are no table.
    """
    described: dict[str, Any] = held if _is_table(held) else {"type": held} if isinstance(held, str) else {}
    shape = _shape(described)
    loose: dict[str, Any] = {}
    if shape == "object":
        loose = _object(described, side, where, numerals)
    elif shape == "array":
        items = described.get("items")
        loose = {"type": "array"}
        if isinstance(items, (dict, str)) and items:
            loose["items"] = loosen(items, side, where, numerals=numerals)
    elif shape == "scalar":
        loose = {"type": list(SCALARS)}
        if numerals and side == "argument" and _is_number(described):
            loose["pattern"] = NUMERAL
    text = described.get("description")
    if isinstance(text, str) and text:
        loose["description"] = text
    values = next((described[word] for word in _VALUES if described.get(word)), None)
    if _is_list(values):
        loose["examples"] = values
    return loose


def either(one: Any, other: Any) -> Any:
    """What fits one of two loosened schemas: the first if they say the same, else anything."""
    return one if _bare(one) == _bare(other) else {}


def _object(described: dict[str, Any], side: Side, where: str, numerals: bool) -> dict[str, Any]:
    if not described.get("properties"):
        return {"type": "object"}
    rest = described.get("additionalProperties")
    words = {word: described[word] for word in ("properties", "required") if word in described}
    properties, required = read_table(
        {"type": "object", **words, "properties": read_table(words["properties"], where)[0]}, where
    )
    needed = list(properties) if side == "result" else [name for name in properties if name in required]
    loose: dict[str, Any] = {
        "type": "object",
        "properties": {name: loosen(each, side, where, numerals=numerals) for name, each in properties.items()},
    }
    if needed:
        loose["required"] = needed
    if rest is False or (side == "result" and rest is None):
        loose["additionalProperties"] = False
    elif rest is not None:
        loose["additionalProperties"] = True
    return loose


def _says_required(held: Any) -> bool:
    return _is_table(held) and held.get("required") in (True, "true", "True")


def _bare(schema: Any) -> Any:
    """A schema without what only people read; names of fields are no words of it."""
    if _is_list(schema):
        return [_bare(each) for each in schema]
    if not _is_table(schema):
        return schema
    bare = {word: _bare(each) for word, each in schema.items() if word not in ("description", "examples", "properties")}
    fields = schema.get("properties")
    return {**bare, "properties": {name: _bare(each) for name, each in fields.items()}} if _is_table(fields) else bare


# --- types in words ---------------------------------------------------------------------------------------------


def _shape(described: dict[str, Any]) -> Shape:
    kind = described.get("type")
    if _is_list(kind):
        return _common({_shape({**described, "type": one}) for one in kind if one != "null"})
    if not isinstance(kind, str) or not kind.strip():
        return "object" if described.get("properties") else "array" if described.get("items") else _untyped(described)
    return _common({shape for part in _OR.split(kind.lower()) if (shape := _named(part)) is not None})


def _is_number(described: dict[str, Any]) -> bool:
    kind = described.get("type")
    return isinstance(kind, str) and kind.strip().lower() in _NUMBERS


def _common(shapes: set[Shape]) -> Shape:
    return shapes.pop() if len(shapes) == 1 else "any"


def _untyped(described: dict[str, Any]) -> Shape:
    """Whoever lists the values means one of them; whoever says nothing promises nothing."""
    return "scalar" if any(_is_list(described.get(word)) and described[word] for word in _VALUES) else "any"


def _named(kind: str) -> Shape | None:
    """The shape that a type in words has; None: no word is in it, or only that it may be null."""
    words = [word for word in kind.translate(_BRACKETS).split() if word not in _WRAPPERS]
    if not words or words[0] in ("null", "none"):
        return None
    if words[0] in _ARRAYS or words[-1] in _ARRAYS or "[]" in kind:
        return "array"
    return "object" if words[0] in _OBJECTS else "any" if words[0] in _ANYTHING else "scalar"


def _is_table(value: Any) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def _is_list(value: Any) -> TypeGuard[list[Any]]:
    return isinstance(value, list)
