"""What is compared, as a table: measure → what it is of one row, and in which direction it is better.

Law: a row that a measure says nothing about gives None and is no pair. Shares are 0 or 1 in each row. What costs is
compared and told; it makes a run fail only if the run's `tolerance` names it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, NamedTuple

from metnos.evaluate.measures.result import HITS, EvalRow

Of = Callable[[EvalRow], "int | None"]


class Row(NamedTuple):
    """One measure."""

    of: Of
    better: Literal["up", "down"]
    counts: bool
    """Whether it fails a run where it is surely worse."""


def _success(row: EvalRow) -> int | None:
    return int(row.now.succeeded) if row.now.known else None


def _answered(row: EvalRow) -> int | None:
    return int(row.answer == "same") if row.answer in ("same", "other") else None


def _matched(name: Literal["exact", "tools", "arguments"]) -> Of:
    def of(row: EvalRow) -> int | None:
        if row.match is None:
            return 0 if row.recorded.plans and row.now.known else None
        return int(getattr(row.match, name))

    return of


def _figure(name: str) -> Of:
    def of(row: EvalRow) -> int | None:
        return int(getattr(row.now, name)) if row.now.known else None

    return of


def _hit(row: EvalRow) -> int:
    return int(row.now.plan_source in HITS)


def _false_hit(row: EvalRow) -> int:
    return int(row.false_hit)


MEASURES: Final[dict[str, Row]] = {
    "success":        Row(_success, "up", counts=True),
    "valid":          Row(_figure("valid"), "up", counts=True),
    "plan-exact":     Row(_matched("exact"), "up", counts=True),
    "plan-tools":     Row(_matched("tools"), "up", counts=True),
    "plan-arguments": Row(_matched("arguments"), "up", counts=True),
    "answer-same":    Row(_answered, "up", counts=True),
    "hits":           Row(_hit, "up", counts=True),
    "false-hits":     Row(_false_hit, "down", counts=True),
    "model-calls":    Row(_figure("model_calls"), "down", counts=False),
    "tokens-in":      Row(_figure("tokens_in"), "down", counts=False),
    "tokens-out":     Row(_figure("tokens_out"), "down", counts=False),
    "cost":           Row(_figure("cost"), "down", counts=False),
    "latency-us":     Row(_figure("latency_us"), "down", counts=False),
    "steps":          Row(_figure("steps"), "down", counts=False),
    "repeated-calls": Row(_figure("repeated_calls"), "down", counts=False),
    "approvals":      Row(_figure("approvals_asked"), "down", counts=False),
}  # fmt: skip
"""In the order in which they are told."""
