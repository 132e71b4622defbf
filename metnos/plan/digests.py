"""The three digests of a plan's life: plan, arguments, operation.

Law: each is SHA-256 over canonical bytes and over nothing else; what they are used for is said in
`architecture.md`, section 4. An operation id is computed once and from then on read from the journal.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from metnos.plan.jsondata import MAX_PLAN_BYTES, canonical, digest

if TYPE_CHECKING:
    from metnos.plan.model import Plan

_sha256 = hashlib.sha256
OPERATION_DOMAIN = "metnos.op/1"


def plan_digest(plan: Plan) -> str:
    """`sha256:<hex>` over the canonical bytes of `plan` as `parse.to_json` writes it.

    Raises:
        JSONFault: the plan holds something that is not JSON.
    """
    from metnos.plan.parse import to_json

    return digest(to_json(plan))


def argument_digest(args: dict[str, Any]) -> str:
    """`sha256:<hex>` over one step's resolved arguments.

    Raises:
        JSONFault: they are not JSON, or more than 256 KiB.
    """
    return digest(args, max_bytes=MAX_PLAN_BYTES)


def operation_id(turn: str, plan: str, step: str, item: int | None, executor: str, arguments: str) -> str:
    """The idempotence key of one effect: 64 hex digits.

    Args:
        turn: turn id.
        plan: plan digest.
        step: step number as the turn writes it, e.g. `2` or `1.2`.
        item: position in a lifted step, from 0; None where the step runs once.
        executor: `name@version`.
        arguments: argument digest.
    """
    return _sha256(canonical([OPERATION_DOMAIN, turn, plan, step, item, executor, arguments])).hexdigest()
