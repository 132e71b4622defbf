"""Short words for plans, contracts and the faults that a validator finds."""

from __future__ import annotations

from typing import Any

from metnos.checks.model import CheckContext
from metnos.checks.validator import Validator
from metnos.contracts.catalog import Catalog
from metnos.contracts.model import Contract, EffectRule
from metnos.values.expressions import DictOf

END: dict[str, Any] = {"tool": "final_answer", "args": {}}
FIND: dict[str, Any] = {"tool": "find_files", "args": {}}


def plan(*steps: dict[str, Any], end: dict[str, Any] = END, **more: Any) -> dict[str, Any]:
    return {"steps": [*steps, end], **more}


def step(tool: str, args: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"tool": tool, "args": args, **more}


def faults(validator: Validator, written: dict[str, Any], **context: Any) -> list[tuple[str, str]]:
    return [(fault.code, fault.where) for fault in validator(written, CheckContext(**context)).diagnostics]


def args_of(validator: Validator, written: dict[str, Any], number: int, **context: Any) -> dict[str, Any]:
    checked = validator(written, CheckContext(**context))
    assert checked.ok, checked.diagnostics
    found = checked.steps[number - 1].args
    assert isinstance(found, DictOf)
    return dict(found.items)


def tool(name: str, args: dict[str, Any], result: dict[str, Any] | None = None, **more: Any) -> Contract:
    schema = {"type": "object", "properties": args, "additionalProperties": False}
    more.setdefault("effects", (EffectRule(effect="read"),))
    return Contract(name=name, version="1", args=schema, result=result or {"type": "object"}, **more)


def validator_of(*contracts: Contract) -> Validator:
    return Validator(Catalog().with_contracts(contracts))
