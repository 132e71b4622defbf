"""A contract as a prompt shows it: one line of names and types, one sentence.

Law: a view; the schemas stay the judge. Types are shortened, never widened in meaning: what does not fit is `any`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, cast

if TYPE_CHECKING:
    from metnos.contracts.model import Contract

DEEPEST: Final = 8
"""Levels of objects, lists and definitions that are spelled out; what lies deeper is `object` or `[any]`."""
MOST_CHOICES: Final = 24
"""Of an enumeration."""

Schema = dict[str, Any]


def described(contract: Contract, language: str = "en") -> str:
    """`name(args) -> result`, what it may do, and its description on a line of its own.

    An argument with `?` may be left out; `= x` is what it then is.
    """
    effects = sorted({rule.effect for rule in contract.effects} - {"read"})
    does = f"  [{', '.join(effects)}]" if effects else ""
    said = contract.descriptions.get(language) or contract.descriptions.get("en", "")
    line = f"{contract.name}({_arguments(contract)}) -> {shortened(contract.result)}{does}"
    return f"{line}\n  {' '.join(said.split())}" if said.strip() else line


def shortened(schema: Schema) -> str:
    """A schema as a type: `{path: string, size?: integer}`."""
    return _type(schema, _defs(schema), 0)


def _arguments(contract: Contract) -> str:
    schema = contract.args
    required = set(schema.get("required", ()))
    into = contract.consumes.into if contract.consumes is not None else None
    shown: list[str] = []
    for name, part in _properties(schema).items():
        kind = _type(part, _defs(schema), 0)
        mark = "" if name in required else "?"
        default = f" = {json.dumps(part['default'], ensure_ascii=False)}" if "default" in part else ""
        shown.append(f"{name}{mark}: {kind}{default}{' (from <N)' if name == into else ''}")
    return ", ".join(shown)


def _properties(schema: Schema) -> dict[str, Schema]:
    found = schema.get("properties", {})
    return {name: part if isinstance(part, dict) else {} for name, part in found.items()}


def _defs(schema: Schema) -> dict[str, Schema]:
    return cast("dict[str, Schema]", schema.get("$defs", {}))


def _type(schema: Any, defs: dict[str, Schema], depth: int) -> str:
    if not isinstance(schema, dict) or not schema:
        return "any"
    schema = cast("Schema", schema)
    reference = schema.get("$ref")
    if isinstance(reference, str):
        return _type(defs.get(reference.removeprefix("#/$defs/")), defs, depth + 1) if depth <= DEEPEST else "object"
    if "enum" in schema or "const" in schema:
        choices: list[Any] = schema["enum"] if "enum" in schema else [schema["const"]]
        shown = [json.dumps(one, ensure_ascii=False) for one in choices[:MOST_CHOICES]]
        return " | ".join([*shown, "..."] if len(choices) > MOST_CHOICES else shown)
    for word in ("anyOf", "oneOf"):
        if word in schema:
            return " | ".join(dict.fromkeys(_type(part, defs, depth) for part in schema[word]))
    named = schema.get("type")
    if isinstance(named, list):
        return " | ".join(_type({**schema, "type": one}, defs, depth) for one in cast("list[str]", named))
    return _of_type(str(named or ("object" if "properties" in schema else "any")), schema, defs, depth)


def _of_type(named: str, schema: Schema, defs: dict[str, Schema], depth: int) -> str:
    if named == "array":
        item = _type(schema.get("items"), defs, depth + 1) if depth < DEEPEST else "any"
        return f"[{item}]"
    if named == "object" and depth < DEEPEST:
        required = set(schema.get("required", ()))
        fields = [
            f"{name}{'' if name in required else '?'}: {_type(part, defs, depth + 1)}"
            for name, part in _properties(schema).items()
        ]
        return f"{{{', '.join(fields)}}}" if fields else "object"
    if named == "string" and isinstance(schema.get("format"), str):
        return f"string ({schema['format']})"
    return named
