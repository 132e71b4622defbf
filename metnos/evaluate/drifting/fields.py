"""Fields of JSON Schemas and of data by pointer, and which name of today a name of then could be.

Law: pure; bounded by the bounds of a loaded schema (`contracts.schemas`). A pointer has `*` where a list has a number.
"""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import msgspec

from metnos.contracts.schemas import escape, validator_for

if TYPE_CHECKING:
    from collections.abc import Collection

Schema: TypeAlias = dict[str, Any]
MOST: Final = 3
"""Candidates for one name."""
DEEPEST: Final = 16
_REFERENCES: Final = 16


class Field(msgspec.Struct, frozen=True):
    """One field of a schema."""

    type: str
    required: bool


def fields_of(schema: Schema) -> dict[str, Field]:
    """Every declared field by pointer; those below `anyOf` and the like are not looked for."""
    found: dict[str, Field] = {}
    stack: list[tuple[Any, str, int]] = [(schema, "", 0)]
    while stack:
        here, place, depth = stack.pop()
        here = followed(here, schema)
        if here is None or depth > DEEPEST:
            continue
        required: list[str] = here.get("required", [])
        for name, held in properties(here).items():
            below = followed(held, schema)
            found[f"{place}/{escape(name)}"] = Field(type_of_schema(below or {}), name in required)
            stack.append((held, f"{place}/{escape(name)}", depth + 1))
        if "items" in here:
            stack.append((here["items"], f"{place}/*", depth + 1))
    return found


def properties(schema: Schema) -> dict[str, Any]:
    """Declared properties by name."""
    held = schema.get("properties")
    return cast("dict[str, Any]", held) if isinstance(held, dict) else {}


def followed(schema: Any, root: Schema) -> Schema | None:
    """A schema behind its `$ref`s; None for `true`, `false` and what leads nowhere."""
    for _ in range(_REFERENCES):
        if not isinstance(schema, dict):
            return None
        here = cast("Schema", schema)
        target = here.get("$ref")
        if not isinstance(target, str):
            return here
        schema = root
        for part in target.removeprefix("#").split("/")[1:]:
            schema = cast("Schema", schema).get(part) if isinstance(schema, dict) else None
    return None


def schema_at(schema: Schema, pointer: str) -> Schema | None:
    """The schema that stands for the place `pointer` of an instance; None: none that can be told."""
    here = followed(schema, schema)
    for part in _parts(pointer):
        if here is None:
            return None
        below = properties(here).get(part)
        if below is None and (part == "*" or part.isdecimal()):
            below = here.get("items")
        here = followed(below, schema)
    return here


def value_at(data: Any, pointer: str) -> Any:
    """The value at `pointer`; None if there is none."""
    for part in _parts(pointer):
        if isinstance(data, dict):
            data = cast("dict[str, Any]", data).get(part)
        elif isinstance(data, list) and part.isdecimal() and int(part) < len(cast("list[Any]", data)):
            data = cast("list[Any]", data)[int(part)]
        else:
            return None
    return data


def _parts(pointer: str) -> list[str]:
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]


def starred(pointer: str, data: Any) -> str:
    """The pointer with `*` for each place in a list of `data`."""
    made: list[str] = []
    for part in _parts(pointer):
        if isinstance(data, list):
            listed = cast("list[Any]", data)
            data = listed[int(part)] if part.isdecimal() and int(part) < len(listed) else None
            made.append("*")
        else:
            data = cast("dict[str, Any]", data).get(part) if isinstance(data, dict) else None
            made.append(escape(part))
    return "".join(f"/{part}" for part in made)


def type_of_schema(schema: Schema) -> str:
    """Its type in words."""
    named: Any = schema.get("type")
    if isinstance(named, list):
        return " or ".join(map(str, cast("list[Any]", named)))
    if isinstance(named, str):
        return named
    return "one of several" if any(word in schema for word in ("anyOf", "oneOf", "enum", "const")) else "anything"


_TYPES: Final[dict[type[Any], str]] = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
}


def type_of(value: Any) -> str:
    """The JSON type of a value."""
    return _TYPES.get(cast("type[Any]", type(value)), "null")


def likely(
    name: str, others: dict[str, Any], value: Any, *, known: bool = True, wanted: Collection[str] = ()
) -> tuple[str, ...]:
    """Which of `others` (name → schema) the field `name` could be: those that its value fits, the likest name first.

    Args:
        name: Of then.
        others: Of now, that are not there yet.
        value: What it held.
        known: Whether there is a value; a reference has none, and fits all.
        wanted: Those of `others` that must be there: they come first.
    """
    fitting = [other for other, schema in others.items() if not known or _fits(value, schema)]
    fitting.sort(key=lambda other: (other not in wanted, -_alike(name, other), other))
    return tuple(fitting[:MOST])


def _alike(one: str, other: str) -> float:
    return SequenceMatcher(None, one.lower(), other.lower()).ratio()


def _fits(value: Any, schema: Any) -> bool:
    if not isinstance(schema, dict) or "$ref" in schema:
        return schema is not False
    try:
        return validator_for(cast("Schema", schema)).is_valid(value)
    except ValueError:  # a part of a schema that holds only inside the whole
        return True
