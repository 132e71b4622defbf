"""The tools that a plan may name, with ready-made views of them for a model.

Law: a tuple of contracts and nothing more; views are made when asked for, and are the caller's to change. Their bytes
are the same for the same catalog, so that a provider's prompt cache holds.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from metnos.contracts.model import Contract
from metnos.propose.guide import GUIDE
from metnos.propose.signatures import described

if TYPE_CHECKING:
    from collections.abc import Container


class Candidates(tuple[Contract, ...]):
    """Contracts in order of their names.

    A proposer of one's own is given them:

        def propose(request, candidates):
            return client.complete(system=candidates.as_prompt(request.language), user=request.as_prompt())
    """

    __slots__ = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Names as a plan writes them."""
        return tuple(contract.name for contract in self)

    def only(self, names: Container[str]) -> Candidates:
        """Those of these names, in the same order: where a host narrows the choice itself."""
        return Candidates(contract for contract in self if contract.name in names)

    def as_text(self, language: str = "en") -> str:
        """Each tool as `name(argument: type, ...) -> result`, its effects, and its description.

        Args:
            language: Of the descriptions; English where a tool has no other.
        """
        return "\n".join(described(contract, language) for contract in self)

    def as_prompt(self, language: str = "en") -> str:
        """The plan language in a page, then the tools: a system prompt."""
        return f"{GUIDE}\nTools:\n{self.as_text(language)}\n"

    def as_openai_tools(self, language: str = "en") -> list[dict[str, Any]]:
        """Each tool as `{"type": "function", "function": {"name", "description", "parameters"}}`.

        Names are those that a plan writes. OpenAI itself takes only letters, digits, `_` and `-` there, at most 64 of
        them, so a foreign tool such as `notes.read` needs another server or a name of the host's making.
        """
        return [
            {
                "type": "function",
                "function": {
                    "name": contract.name,
                    "description": contract.descriptions.get(language) or contract.descriptions.get("en", ""),
                    "parameters": _copy(contract.args),
                },
            }
            for contract in self
        ]

    def plan_schema(self) -> dict[str, Any]:
        """JSON Schema 2020-12 of a plan file whose steps name these tools only, each with arguments that it has.

        For `response_format` and its like. It is looser than the checks that follow: any argument may be a reference,
        so argument values are not typed here.
        """
        from metnos.plan.schema import plan_schema

        schema = plan_schema()
        del schema["$id"]  # another document than the published one
        step: dict[str, Any] = schema["$defs"]["step"]
        step["properties"]["tool"] = {"enum": list(self.names)}
        step["allOf"] = [
            {
                "if": {"properties": {"tool": {"const": contract.name}}},
                "then": {"properties": {"args": {"propertyNames": {"enum": _argument_names(contract)}}}},
            }
            for contract in self
            if contract.args.get("additionalProperties") is False
        ]
        if not step["allOf"]:
            del step["allOf"]
        return schema


def _argument_names(contract: Contract) -> list[str]:
    return [*contract.args.get("properties", {}), "from_step", "from_steps"]


def _copy(schema: dict[str, Any]) -> dict[str, Any]:
    return json.loads(json.dumps(schema))
