"""Foreign contracts: tools described by others (data sets, OpenAPI, MCP), lenient by declaration.

Law: never a silent conversion. A description is loosened by the table below, and what it said is kept as an annotation;
the contract says `lenient`, so that every check knows. What is not annotated has the strictest effect, `execute`.

| a description says | the contract says |
|---|---|
| a scalar type (string, number, date, enum …), or none | any scalar; allowed values become `examples` |
| an array | a list of any length; its items if described |
| an object | its properties if described, else any object |
| outputs | each is required (so a reference needs no fallback); an index may fail as class `data` |
| `required` missing | optional for a parameter |
| an odd or long name | an alias (aliases.py); `Contract.original` keeps the name |
| one name twice | one contract that takes what either takes; `Foreign.merged` lists it |

A property is described by a table (`type`, `properties`, `items`, `enum` …); a bare string is its type. Parameters come
as such a table of tables, or as a JSON Schema object (`properties` with a list `required`).

    foreign_contract("Search hotels", {"city": {"type": "String", "required": True}}, {"hotels": {"type": "Array"}})
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, cast

import msgspec

from metnos.contracts.aliases import alias
from metnos.contracts.model import Contract, EffectRule, Intent
from metnos.contracts.schemas import check_schema
from metnos.plan.jsondata import digest
from metnos.sdk import EffectClass

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Shape = Literal["scalar", "array", "object", "any"]
SCALARS = ["string", "number", "boolean"]
_ARRAYS = frozenset({"array", "list", "tuple", "set", "sequence"})
_OBJECTS = frozenset({"object", "dict", "map", "mapping", "json", "struct"})
_ANYTHING = frozenset({"any", "unknown", "mixed"})
"""First words of a type, in lower case; every other one is a scalar."""
_VALUES = ("enum", "allowed_values", "possible_values", "options", "choices")
_PARAMETERS = ("path_parameters", "query_parameters", "body_parameters", "parameters", "arguments")
_OUTPUTS = ("output_parameters", "output_parameter", "outputs", "output", "returns")
_SCHEMA_WORDS = frozenset({"type", "properties", "required", "description", "additionalProperties", "$schema", "title"})


class Foreign(msgspec.Struct, frozen=True, kw_only=True):
    """The contracts of one specification."""

    contracts: tuple[Contract, ...]
    names: dict[str, str]
    """What a tool calls itself → the contract's name."""
    merged: tuple[str, ...] = ()
    """Names that were described more than once, differently."""


class ForeignFault(ValueError):
    """A description that is none: no name, or a table where there is something else."""


def foreign_contract(
    name: str,
    parameters: Mapping[str, Any] | None = None,
    outputs: Mapping[str, Any] | None = None,
    *,
    required: Iterable[str] | None = None,
    effect: EffectClass = "execute",
    version: str = "1.0.0",
    description: str = "",
    families: tuple[Intent, ...] = (),
) -> Contract:
    """One tool from a plain description.

    Args:
        name: As the tool calls itself; any text.
        parameters: By name, loosely typed; nothing else is accepted in a call.
        outputs: By name, loosely typed; None or empty: the result may be anything.
        required: Names of required parameters, beside those that say so themselves.
        effect: What is known about it; a data set's stand-ins are `read`.
        version: Semantic.
        description: English.
        families: Given, or one free name: the tool's.

    Raises:
        ForeignFault: See there.
    """
    if not name:
        raise ForeignFault("a tool without a name")
    args = _arguments(name, parameters or {}, frozenset(required or ()))
    result = _object(outputs, name) if outputs else {}
    for schema, where in ((args, "parameters"), (result, "outputs")):
        faults = check_schema(schema, f"/{where}", strict=False)
        if faults:
            raise ForeignFault(f"{name}: {faults[0].code} at {faults[0].where}: {faults[0].found}")
    known = alias(name)
    contract = Contract(
        name=known,
        version=version,
        origin="foreign",
        placement="external",
        families=families or (Intent(known),),
        args=args,
        result=result,
        effects=(EffectRule(effect=effect),),
        idempotent=effect == "read",
        descriptions={"en": description} if description else {},
        lenient=True,
        original="" if known == name else name,
    )
    return msgspec.structs.replace(contract, digest=digest(["metnos.foreign/1", msgspec.to_builtins(contract)]))


def foreign_contracts(descriptions: Iterable[Mapping[str, Any]], *, effect: EffectClass = "execute") -> Foreign:
    """All tools of a specification: tables with `name`, `description`, parameters and outputs under the usual words.

    Raises:
        ForeignFault: A tool without a name, or a description that is no table.
    """
    found: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {}
    merged: dict[str, None] = {}
    for described in descriptions:
        name = described.get("name")
        if not isinstance(name, str) or not name:
            raise ForeignFault("a tool without a name")
        entry = _parameters(described, name), _outputs(described, name), str(described.get("description") or "")
        if name in found and found[name][:2] != entry[:2]:
            merged[name] = None
            entry = _merge(found[name], entry)
        found[name] = entry
    contracts = {
        name: foreign_contract(name, parameters, outputs, effect=effect, description=text)
        for name, (parameters, outputs, text) in found.items()
    }
    return Foreign(
        contracts=tuple(contracts.values()),
        names={name: contract.name for name, contract in contracts.items()},
        merged=tuple(merged),
    )


def _parameters(described: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The parameters of a tool, wherever they stand; each says whether it is required."""
    found: dict[str, Any] = {}
    for word in _PARAMETERS:
        table = _table(described.get(word) or {}, name, word)
        properties, required = _unfold(table)
        found.update({key: _marked(held, key in required) for key, held in properties.items()})
    return found


def _outputs(described: Mapping[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for word in _OUTPUTS:
        found.update(_unfold(_table(described.get(word) or {}, name, word))[0])
    return found


def _unfold(table: dict[str, Any]) -> tuple[dict[str, Any], frozenset[str]]:
    """A JSON Schema object as its properties; a plain table as it is. And the names that are required."""
    properties, required = table.get("properties"), table.get("required")
    if isinstance(properties, dict) and _SCHEMA_WORDS.issuperset(table):
        names = cast("list[Any]", required) if isinstance(required, list) else []
        return cast("dict[str, Any]", properties), frozenset(map(str, names))
    return table, frozenset()


def _marked(held: Any, required: bool) -> Any:
    return {**_property(held), "required": True} if required else held


def _merge(one: tuple[Any, Any, str], other: tuple[Any, Any, str]) -> tuple[dict[str, Any], dict[str, Any], str]:
    """Whatever either takes: the union of the properties, required only where both require."""
    parameters = {**one[0], **other[0]}
    both = {name for name in parameters if all(_is_required(side[0].get(name)) for side in (one, other))}
    parameters = {name: {**_property(held), "required": name in both} for name, held in parameters.items()}
    return parameters, {**one[1], **other[1]}, one[2] or other[2]


def _is_required(held: Any) -> bool:
    return isinstance(held, dict) and cast("dict[str, Any]", held).get("required") in (True, "true", "True")


def _table(value: Any, name: str, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ForeignFault(f"{name}: {where} is no table")
    return cast("dict[str, Any]", value)


def _arguments(name: str, parameters: Mapping[str, Any], required: frozenset[str]) -> dict[str, Any]:
    properties, listed = _unfold(_table(dict(parameters), name, "parameters"))
    needed = [key for key, held in properties.items() if key in required or key in listed or _is_required(held)]
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {key: _loose(held, name) for key, held in properties.items()},
        "additionalProperties": False,
    }
    return {**schema, "required": needed} if needed else schema


def _property(held: Any) -> dict[str, Any]:
    """A property's table; a bare string is its type, nothing is anything scalar."""
    if isinstance(held, dict):
        return cast("dict[str, Any]", held)
    return {"type": held} if isinstance(held, str) else {}


def _loose(held: Any, name: str) -> dict[str, Any]:
    """One property by the table above."""
    described = _property(held)
    shape = _shape(described)
    loose: dict[str, Any] = {}
    if shape == "object":
        properties = described.get("properties")
        loose = _object(_table(properties, name, "properties"), name) if properties else {"type": "object"}
    elif shape == "array":
        items = described.get("items")
        loose = {"type": "array", **({"items": _loose(items, name)} if isinstance(items, (dict, str)) and items else {})}
    elif shape == "scalar":
        loose = {"type": list(SCALARS)}
    text = described.get("description")
    if isinstance(text, str) and text:
        loose["description"] = text
    values = next((described[word] for word in _VALUES if described.get(word)), None)
    if isinstance(values, list):
        loose["examples"] = values
    return loose


def _object(properties: Mapping[str, Any], name: str) -> dict[str, Any]:
    """An output object: every property counts as required, and no other can be named."""
    known, _ = _unfold(dict(properties))
    return {
        "type": "object",
        "properties": {key: _loose(held, name) for key, held in known.items()},
        "required": list(known),
        "additionalProperties": False,
    }


def _shape(described: dict[str, Any]) -> Shape:
    kind = described.get("type")
    if isinstance(kind, list):
        shapes: set[Shape] = {_shape({**described, "type": one}) for one in cast("list[Any]", kind) if one != "null"}
        return shapes.pop() if len(shapes) == 1 else "any"
    if not isinstance(kind, str) or not kind.strip():
        return "object" if described.get("properties") else "array" if described.get("items") else "scalar"
    words = kind.lower().replace("[", " ").replace("<", " ").replace("(", " ").split()
    word = words[0] if words else ""
    return "array" if word in _ARRAYS else "object" if word in _OBJECTS else "any" if word in _ANYTHING else "scalar"
