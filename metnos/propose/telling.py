"""What a planner says: a plan, or why there is none; and what all of it cost.

Law: every call that was made is counted, in vain or not; what reading the request cost is counted apart from planning.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from metnos.propose.decode.model import Impossible, Written
from metnos.propose.model import Declined, Proposal

if TYPE_CHECKING:
    from metnos.propose.acts import Reading
    from metnos.propose.models.ports import Usage
    from metnos.propose.models.registry import Attempted


def told(done: Written | Impossible, model: str, usage: Usage | None = None) -> Proposal | Declined:
    """What was decoded, as a proposer says it.

    Args:
        done: A plan, or that there is none.
        model: That wrote it; empty: code did.
        usage: What it cost; None: what `done` says.
    """
    spent = usage or done.usage
    if isinstance(done, Impossible):
        return Declined(
            code=done.code,
            about=done.about,
            model=model,
            tokens_in=spent.tokens_in,
            tokens_out=spent.tokens_out,
            calls=spent.calls,
        )
    return Proposal(done.plan, model=model, tokens_in=spent.tokens_in, tokens_out=spent.tokens_out, calls=spent.calls)


def with_wasted(done: Attempted[Proposal | Declined]) -> Proposal | Declined:
    """With what the models before it cost in vain."""
    wasted = done.wasted
    return msgspec.structs.replace(
        done.value,
        tokens_in=done.value.tokens_in + wasted.tokens_in,
        tokens_out=done.value.tokens_out + wasted.tokens_out,
        calls=done.value.calls + wasted.calls,
    )


def with_reading(said: Proposal | Declined, reading: Reading) -> Proposal | Declined:
    """With what was read in the request, and what that cost; a plan of a reading that is not sure is a guess."""
    spent = reading.usage
    cost = (
        {
            "reading_calls": spent.calls,
            "reading_tokens_in": spent.tokens_in,
            "reading_tokens_out": spent.tokens_out,
        }
        if spent.calls
        else {}
    )
    if isinstance(said, Declined):
        return msgspec.structs.replace(said, reading=cost)
    unsure = said.unsure or (bool(reading.acts) and not reading.sure)
    return msgspec.structs.replace(said, reading=cost, acts=reading.acts, unsure=unsure)
