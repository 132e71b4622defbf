"""Foreign contracts: tools described by others (data sets, OpenAPI, MCP), lenient by declaration.

Law: never a silent conversion. A description is loosened by the table below (`loosen.py`), and what it said is kept as
an annotation; the contract says `lenient`, so that every check knows. What is not annotated has the strictest effect,
`execute`.

| a description says | the contract says |
|---|---|
| a scalar type (string, number, date, enum …), or only values | any scalar; allowed values become `examples` |
| a number, where `numerals` is asked for | any scalar, but a text must read as a number |
| no type, or several that are not all scalars | anything |
| an array | a list of any length; its items if described |
| an object | its properties if described, else any object |
| outputs | each is required (so a reference needs no fallback); an index may fail as class `data` |
| `required` missing | optional for a parameter |
| fields of an object that is a parameter | required where the description says so; further ones unless it rules them out |
| an odd or long name | an alias (aliases.py); `Contract.original` keeps the name |
| one name twice | one contract that takes what either takes; `Foreign.merged` lists it |

A property is described by a table (`type`, `properties`, `items`, `enum` …); a bare string is its type. Parameters come
as a table of such tables by name, as a list of them that each hold a `name`, or as a JSON Schema object (`properties`
with a list `required`).

    foreign_contract("Search hotels", {"city": {"type": "String", "required": True}}, {"hotels": {"type": "Array"}})
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from metnos.contracts.aliases import alias
from metnos.contracts.loosen import SCALARS, ForeignFault, either, is_whole_array, loosen, read_table
from metnos.contracts.model import Contract, EffectRule, Intent
from metnos.contracts.schemas import check_schema
from metnos.plan.jsondata import JSONFault, digest
from metnos.sdk import EffectClass

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["OUTPUTS", "PARAMETERS", "SCALARS", "Foreign", "ForeignFault", "foreign_contract", "foreign_contracts"]

PARAMETERS = (
    "path_parameters",
    "query_parameters",
    "body_parameters",
    "parameters",
    "arguments",
    "input_schema",
    "inputSchema",
)
OUTPUTS = ("output_parameters", "output_parameter", "outputs", "output", "returns", "output_schema", "outputSchema")
"""Where a description holds what goes in, and what comes out."""
_ANYTHING: dict[str, Any] = {}


class Foreign(msgspec.Struct, frozen=True, kw_only=True):
    """The contracts of one specification."""

    contracts: tuple[Contract, ...]
    names: dict[str, str]
    """What a tool calls itself → the contract's name."""
    merged: tuple[str, ...] = ()
    """Names that were described more than once, differently."""


class _Tool(msgspec.Struct, frozen=True):
    """One description, loosened."""

    properties: dict[str, Any]
    required: frozenset[str]
    result: dict[str, Any]
    description: str


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
    described = {"name": name, "parameters": dict(parameters or {}), "outputs": dict(outputs or {})}
    tool = _read({**described, "required": list(required or ()), "description": description}, name)
    return _contract(name, tool, effect=effect, version=version, families=families)


def foreign_contracts(
    descriptions: Iterable[Mapping[str, Any]], *, effect: EffectClass = "execute", numerals: bool = False
) -> Foreign:
    """All tools of a specification: tables with `name`, `description`, parameters and outputs under the usual words.

    Args:
        descriptions: The tables.
        effect: What is known about all of them.
        numerals: A text for a parameter that is declared a number must read as one.

    Raises:
        ForeignFault: A tool without a name, or a description that is no table.
    """
    found: dict[str, _Tool] = {}
    merged: dict[str, None] = {}
    for described in descriptions:
        name = described.get("name")
        tool = _read(described, name if isinstance(name, str) else "", numerals)
        assert isinstance(name, str)
        known = found.setdefault(name, tool)
        if (known.properties, known.required, known.result) != (tool.properties, tool.required, tool.result):
            merged[name] = None
            found[name] = _merge(known, tool)
    contracts = {name: _contract(name, tool, effect=effect) for name, tool in found.items()}
    return Foreign(
        contracts=tuple(contracts.values()),
        names={name: contract.name for name, contract in contracts.items()},
        merged=tuple(merged),
    )


def _read(described: Mapping[str, Any], name: str, numerals: bool = False) -> _Tool:
    if not name:
        raise ForeignFault("a tool without a name")
    properties: dict[str, Any] = {}
    listed: Any = described.get("required")
    required: set[str] = {*map(str, listed)} if isinstance(listed, list) else set()  # pyright: ignore[reportUnknownArgumentType]
    for word in PARAMETERS:
        known, needed = read_table(described.get(word) or {}, f"{name}: {word}")
        properties.update(
            {key: loosen(held, "argument", f"{name}: {key}", numerals=numerals) for key, held in known.items()}
        )
        required |= needed
    text = described.get("description")
    return _Tool(
        properties,
        frozenset(required & set(properties)),
        _result(described, name),
        text if isinstance(text, str) else "",
    )


def _result(described: Mapping[str, Any], name: str) -> dict[str, Any]:
    """An object of all outputs that are described; anything if none is."""
    fields: dict[str, Any] = {}
    for word in OUTPUTS:
        table: Any = described.get(word) or {}
        if is_whole_array(table):
            return loosen(table, "result", f"{name}: {word}")
        known, _ = read_table(table, f"{name}: {word}")
        fields.update({key: loosen(held, "result", f"{name}: {key}") for key, held in known.items()})
    return _closed(fields) if fields else _ANYTHING


def _closed(fields: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


def _merge(one: _Tool, other: _Tool) -> _Tool:
    """Whatever either takes and gives: the union of the fields, required only where both require."""
    return _Tool(
        _union(one.properties, other.properties),
        one.required & other.required,
        _merge_results(one.result, other.result),
        one.description or other.description,
    )


def _union(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    return {**one, **{name: either(one[name], held) if name in one else held for name, held in other.items()}}


def _merge_results(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    if not one or not other:
        return one or other
    if one["type"] == other["type"] == "object":
        return _closed(_union(one["properties"], other["properties"]))
    return either(one, other)


def _contract(
    name: str, tool: _Tool, *, effect: EffectClass, version: str = "1.0.0", families: tuple[Intent, ...] = ()
) -> Contract:
    args: dict[str, Any] = {"type": "object", "properties": tool.properties, "additionalProperties": False}
    if tool.required:
        args["required"] = [key for key in tool.properties if key in tool.required]
    known = alias(name)
    contract = Contract(
        name=known,
        version=version,
        origin="foreign",
        placement="external",
        families=families or (Intent(known),),
        args=args,
        result=tool.result,
        effects=(EffectRule(effect=effect),),
        idempotent=effect == "read",
        descriptions={"en": tool.description} if tool.description else {},
        lenient=True,
        original="" if known == name else name,
    )
    try:
        mark = digest(["metnos.foreign/1", msgspec.to_builtins(contract)])
        faults = (
            *check_schema(args, "/parameters", strict=False),
            *check_schema(tool.result, "/outputs", strict=False),
        )
    except JSONFault as fault:
        raise ForeignFault(f"{name!a}: {fault.code}: {fault.message}") from None
    if faults:
        raise ForeignFault(f"{name}: {faults[0].code} at {faults[0].where}: {faults[0].found}")
    return msgspec.structs.replace(contract, digest=mark)
