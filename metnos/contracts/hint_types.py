"""What msgspec knows of a hint, laid beside the JSON Schema that it makes of it: keys of objects, times, ids.

Law: a hint that JSON cannot carry is refused when the function is registered, not when it is called; and a text that
stands for a time is checked before step 1 like any other argument, by a pattern, since `format` alone checks nothing.
"""

from __future__ import annotations

from typing import Any, Final, cast

from msgspec import inspect as mi

_YEAR: Final = r"(?:[0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)"
_LEAP: Final = r"(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)"
_DAY: Final = r"(?:0[1-9]|1[0-9]|2[0-8])"
_LATE: Final = r"(?:(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)"
_DATE: Final = rf"(?:{_YEAR}-(?:(?:0[1-9]|1[0-2])-{_DAY}|{_LATE})|{_LEAP}-02-29)"
"""A day that there is: 30 February is told before step 1, too, and 29 February of a common year."""
_TIME: Final = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]+)?"
_ZONE: Final = r"(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):?[0-5][0-9])"
TEXTS: Final[dict[type[mi.Type], dict[str, str]]] = {
    mi.DateTimeType: {"format": "date-time", "pattern": rf"^{_DATE}[Tt ]{_TIME}{_ZONE}?$"},
    mi.DateType: {"format": "date", "pattern": rf"^{_DATE}$"},
    mi.TimeType: {"format": "time", "pattern": rf"^{_TIME}{_ZONE}?$"},
    mi.UUIDType: {"format": "uuid", "pattern": r"^[0-9A-Fa-f]{8}-?(?:[0-9A-Fa-f]{4}-?){3}[0-9A-Fa-f]{12}$"},
    mi.DecimalType: {"format": "decimal", "pattern": r"^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"},
}
"""Kind of text → what its schema says; ISO 8601 as msgspec reads it, a zone being the function's matter."""

Schema = dict[str, Any]


def refine(hint: Any, schema: Schema, definitions: dict[str, Schema]) -> None:
    """Write into `schema` (and the definitions it refers to) what `hint` says beyond it.

    Raises:
        TypeError: An object with keys that are no text.
    """
    _walk(mi.type_info(hint), schema, definitions, set())


def _walk(kind: mi.Type, schema: Any, defs: dict[str, Schema], seen: set[str]) -> None:
    if not isinstance(schema, dict):
        return
    schema = cast("Schema", schema)
    reference = schema.get("$ref")
    if isinstance(reference, str):
        name = reference.removeprefix("#/$defs/")
        if name not in seen:
            _walk(kind, defs.get(name), defs, seen | {name})
        return
    if isinstance(kind, mi.Metadata):
        _walk(kind.type, schema, defs, seen)
    elif isinstance(kind, mi.UnionType):
        for one in kind.types:
            for part in schema.get("anyOf", ()):
                if _may_say(one, part):
                    _walk(one, part, defs, seen)
    elif type(kind) in TEXTS:
        schema.update(TEXTS[type(kind)])
    else:
        _walk_parts(kind, schema, defs, seen)


def _walk_parts(kind: mi.Type, schema: Schema, defs: dict[str, Schema], seen: set[str]) -> None:
    if isinstance(kind, mi.DictType):
        _require_text_keys(kind.key_type)
        _walk(kind.value_type, schema.get("additionalProperties"), defs, seen)
    elif isinstance(kind, mi.ListType | mi.SetType | mi.FrozenSetType | mi.VarTupleType | mi.CollectionType):
        _walk(kind.item_type, schema.get("items"), defs, seen)
    elif isinstance(kind, mi.TupleType):
        for one, part in zip(kind.item_types, schema.get("prefixItems", ()), strict=False):
            _walk(one, part, defs, seen)
    elif isinstance(kind, mi.NamedTupleType):
        for field, part in zip(kind.fields, schema.get("prefixItems", ()), strict=False):
            _walk(field.type, part, defs, seen)
    elif isinstance(kind, mi.StructType | mi.DataclassType | mi.TypedDictType):
        properties = schema.get("properties", {})
        for field in kind.fields:
            _walk(field.type, properties.get(field.encode_name), defs, seen)


def _may_say(kind: mi.Type, part: Schema) -> bool:
    """Whether a branch of an `anyOf` can be the schema of `kind`: msgspec allows one of each JSON type in a union."""
    if "$ref" in part:
        return isinstance(kind, mi.StructType | mi.DataclassType | mi.TypedDictType | mi.NamedTupleType)
    named = part.get("type")
    if named == "string":
        return type(kind) in TEXTS
    if named == "array":
        return isinstance(
            kind, mi.ListType | mi.SetType | mi.FrozenSetType | mi.VarTupleType | mi.CollectionType | mi.TupleType
        )
    return named == "object" and isinstance(kind, mi.DictType)


def _require_text_keys(kind: mi.Type) -> None:
    while isinstance(kind, mi.Metadata):
        kind = kind.type
    texts = isinstance(kind, mi.LiteralType) and all(isinstance(value, str) for value in kind.values)
    if not texts and not isinstance(kind, mi.StrType | mi.AnyType):
        name = type(kind).__name__.removesuffix("Type").lower()
        raise TypeError(f"an object in JSON has text keys, and a hint says {name}: write dict[str, ...]")
