"""From a machine's state to what a caller gets: `TurnResult`, needs, steps. Nothing here decides or does I/O."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from metnos.drivers.results import Need
from metnos.turn import commands as c

if TYPE_CHECKING:
    from metnos.drivers.live import LiveTurn
    from metnos.drivers.results import StepView, TurnResult


def iso(at: int) -> str:
    """µs since 1970 UTC as ISO 8601, to the second."""
    return datetime.fromtimestamp(at / 1_000_000, UTC).isoformat(timespec="seconds") if at else ""


def need_of(asked: c.AskApproval | c.OpenDialog) -> Need:
    """What one open question needs from a person."""
    if isinstance(asked, c.AskApproval):
        return Need(
            kind="approval",
            id=asked.approval,
            step=asked.step,
            action=asked.action,
            targets=asked.targets,
            count=asked.count,
            reason=asked.reason,
            digest=asked.digest,
            expires=iso(asked.expires),
        )
    return Need(kind="dialog", id=asked.dialog, question=asked.question, choices=asked.choices, form=asked.form)
