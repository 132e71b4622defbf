"""What a person said yes to, as one hash; and the digest of the policy that asked.

Law: an approval counts only while every part of what was shown is unchanged, so every part is in the hash. Where
approvals are kept, for how long and who is asked is not known here.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from metnos.plan.jsondata import digest
from metnos.policy.table import REASONS, SEVERITY, TABLE, UNTRUSTED, UNTRUSTED_REASON

VERSION = "metnos.approval/1"
ITEMS_VERSION = "metnos.items/1"
POLICY_VERSION = "metnos.policy/1"


def items_digest(digests: Sequence[str]) -> str:
    """SHA-256 over the ordered argument digests of a lifted step's items: `sha256:…`.

    One approval for the whole list is bound to this; each item's own digest is then looked up in the list.
    """
    return digest([ITEMS_VERSION, *digests])


def approval_hash(
    *,
    owner: str,
    turn: str,
    plan_digest: str,
    step: str,
    arguments: str,
    targets: Sequence[str],
    count: int,
    executor: str,
    policy: str,
) -> str:
    """The hash an approval is bound to: `sha256:…`.

    Args:
        owner: Whose turn it is.
        turn: Turn id.
        plan_digest: Digest of the accepted plan.
        step: `plan.step`, or `plan.step.item` where the contract asks per entry.
        arguments: Argument digest of the step, or `items_digest` of a list.
        targets: What is acted on, in the order of the items.
        count: How many calls.
        executor: `name@version`.
        policy: `policy_digest()` of the policy that asked.
    """
    return digest([VERSION, owner, turn, plan_digest, step, arguments, list(targets), count, executor, policy])


@cache
def policy_digest() -> str:
    """Digest of the policy table and its wording: `sha256:…`."""
    return digest([POLICY_VERSION, TABLE, UNTRUSTED, list(SEVERITY), REASONS, UNTRUSTED_REASON])  # pyright: ignore[reportArgumentType]
