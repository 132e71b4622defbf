"""Whether a model's plan is shown to a person before anything of it runs.

Law: decided from what is measured while the plan is written, never from what it says. A plan is doubtful where the
grammar kept the model far from what it would have written (the surprise of its worst line), or where a file that the
request names has no place in it, or may have lost a part of its name. Who only looks for another way after a failure needs to be surer: a second guess that
is wrong hides the first failure. So does who changes or deletes whatever a search finds, and who was only just let
through by the gate; what it only just held back is always shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from metnos.propose.decode.model import Written
    from metnos.propose.model import Purpose

DOUBT: Final = 3.0
"""Nats: of a model that nobody has set a gauge for."""
SECOND: Final = 0.25
"""What a recovery may have of that, and what was only just let through."""
WIDE: Final = 0.5
"""What a plan may have of that, if it changes or deletes what a step has found."""
NEAR: Final = 1.2
"""Nats above the gate's threshold that are only just above it."""
CLOSE: Final = 2.0
"""Nats below it: what the gate only just does not let through is tried, and shown first, always."""


def is_doubtful(written: Written, doubt: float, purpose: Purpose, lead: float = NEAR) -> bool:
    """Whether a plan is a guess.

    Args:
        written: The plan, as it was decoded.
        doubt: Nats of surprise that are too many, for the model that wrote it.
        purpose: What the plan was asked for.
        lead: Nats by which the gate let the request through.
    """
    if not written.lines:  # code said it
        return False
    if lead < 0:
        return True
    share = SECOND if purpose == "recovery" or lead < NEAR else WIDE if written.wide else 1.0
    return bool(written.unplaced) or written.surprise >= doubt * share
