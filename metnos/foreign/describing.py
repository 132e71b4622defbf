"""From a pinned tool to its contract, and to what its results are held against.

Law: pure. The contract is lenient (`contracts/foreign.py`) and is what a plan is checked with. Arguments and results of
a call are held against the schemas that the server itself declared. A tool that acts trusts no argument that comes from
outside, unless a person is asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from metnos.contracts.foreign import ForeignFault, foreign_contract
from metnos.contracts.model import Contract, Limits, Produces
from metnos.foreign.schemas import TooLarge, faults_of, written_out
from metnos.foreign.tables import is_list, is_table
from metnos.plan.jsondata import JSONFault, digest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from metnos.foreign.model import Import, Tool

TEXT_RESULT: dict[str, Any] = {
    "type": "object",
    "properties": {"text": {"type": "string"}, "content": {"type": "array", "items": {"type": "object"}}},
    "required": ["text"],
}
"""What a tool of MCP gives that declares no output: its text, and whatever it said that is no text."""
_MOST_DESCRIPTION = 4_000


def contract_of(imported: Import, tool: Tool) -> Contract:
    """The contract of one tool.

    Raises:
        ForeignFault: Its description is none.
    """
    arguments = _parameters(tool.input_schema)
    result = result_schema(imported, tool)
    contract = foreign_contract(
        f"{imported.name}.{tool.name}",
        arguments,
        _outputs(result),
        effect=tool.effect,
        description=tool.description[:_MOST_DESCRIPTION],
    )
    acts = tool.effect != "read"
    contract = msgspec.structs.replace(
        contract,
        trusted=tuple(arguments["properties"]) if acts else (),
        targets=tool.targets,
        limits=Limits(timeout_s=imported.timeout_s, output_bytes=imported.output_bytes),
        produces=Produces(kind="text", field="text", many=False) if result is TEXT_RESULT else None,
        digest="",
    )
    mark = digest(["metnos.imported/1", tool.digest, imported.kind, msgspec.to_builtins(contract)])
    return msgspec.structs.replace(contract, digest=mark)


def result_schema(imported: Import, tool: Tool) -> dict[str, Any]:
    """What the result of a call must be; empty: anything."""
    if tool.output_schema is None:
        return TEXT_RESULT if imported.kind == "mcp" else {}
    return tool.output_schema


def reason_against(imported: Import, tool: Tool) -> str:
    """Why a tool cannot be imported; empty: it can."""
    for side, schema in (("inputSchema", tool.input_schema), ("outputSchema", tool.output_schema)):
        wrong = faults_of(schema) if schema is not None else ""
        if wrong:
            return f"{side}: {wrong}"
    try:
        contract = contract_of(imported, tool)
    except ForeignFault as fault:
        return str(fault)
    except TooLarge:
        return "inputSchema: schema-ref-bomb: written out it is too large"
    except JSONFault as fault:
        return f"{fault.code}: {fault.message}"
    unknown = [name for name in tool.targets if name not in contract.args.get("properties", {})]
    return f"it has no argument {unknown[0]}" if unknown else ""


def _parameters(schema: dict[str, Any]) -> dict[str, Any]:
    """A table that `foreign_contract` cannot misread: always `properties`, even where there are none."""
    plain: Any = written_out(schema, schema)
    properties: Any = plain.get("properties")
    required: Any = plain.get("required")
    return {
        "type": "object",
        "properties": properties if is_table(properties) else {},
        "required": required if is_list(required) else [],
    }


def _outputs(schema: dict[str, Any]) -> Mapping[str, Any]:
    """Fields of an object; a list as it is; nothing (anything) for whatever else."""
    plain: Any = written_out(schema, schema)
    if plain.get("type") == "array":
        return plain if isinstance(plain.get("items"), (dict, str)) and plain["items"] else {}
    properties: Any = plain.get("properties")
    if not is_table(properties) or not properties:
        return {}
    return {"type": "object", "properties": properties, "required": list(properties)}
