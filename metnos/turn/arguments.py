"""Resolved arguments and answers against their JSON Schemas: what a typed hole left open until now.

Law: the validator has seen all literals; only what was filled in since comes here. Schemas were judged when the
contract or the plan was loaded; their compiled validators are remembered by `contracts.schemas`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from metnos.contracts.schemas import validator_for
from metnos.sdk import Failure

if TYPE_CHECKING:
    from metnos.contracts.model import Contract


def check_arguments(contract: Contract, args: dict[str, Any]) -> Failure | None:
    """None, or the first thing that does not fit the contract's schema."""
    return check(contract.args, args) if contract.args else None


def check(schema: dict[str, Any], value: Any) -> Failure | None:
    """None, or the first thing in `value` that does not fit `schema`, as a failure of class `data`."""
    validator = validator_for(schema)
    if validator.is_valid(value):
        return None
    first = validator(value)[0]
    return Failure(
        cls="data", code="value-misfit", where=first.pointer, message=first.message, hint=f"expected {first.expected}"
    )
