"""One turn as a flat row of figures, from its log alone.

Law: reads records tolerantly and only the fields that it needs, so that a log of an older or newer Metnos can be
measured; it never raises on what it does not know. Nothing is decided from figures but whether an evaluation passes.

A turn belongs to a *group* (the task of a data set, a case), of which it is one *trial*; both come with the turn as
`Labels`, and so does the reward where a data set judged the turn. Where none did, a turn succeeded if its outcome says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from metnos.evaluate.measures.reading import HANDLERS, Counts, Tally

if TYPE_CHECKING:
    from collections.abc import Mapping

    from metnos.evaluate.measures.prices import Prices
    from metnos.record.model import TurnLog

JUDGED: Final = "judged-failed"
"""Cause of a turn that ended well and that the data set's own judge found wrong."""


class Labels(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a turn beside its log."""

    group: str = ""
    """Task or case; empty: the turn stands alone."""
    trial: int = 0
    reward: float | None = None
    """Of the data set's judge, 0 to 1; None: nobody judged. A turn succeeded with 1 and nothing less."""

    @classmethod
    def of(cls, labels: Mapping[str, str | int | float | bool]) -> Labels:
        """From the labels of a collection: `task` (else `case`, `group`), `trial`, `reward`."""
        group = next((str(labels[name]) for name in ("task", "case", "group") if name in labels), "")
        trial, reward = labels.get("trial", 0), labels.get("reward")
        return cls(
            group=group,
            trial=trial if isinstance(trial, int) else 0,
            reward=float(reward) if isinstance(reward, int | float) else None,
        )


class TurnFigures(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Figures of one turn; times in µs, money in micro-units of the price table's currency."""

    turn: str
    group: str = ""
    trial: int = 0
    request: str = ""
    language: str = ""
    outcome: str = ""
    """Empty while open; `suspended`."""
    code: str = ""
    cause: str = ""
    """First cause of failure: code of the first step that failed (else of what rejected the plan, else of the end, else
    the outcome); empty if it succeeded."""
    cause_tool: str = ""
    """Tool of that step."""
    succeeded: bool = False
    judged: bool = False
    """Whether `succeeded` is a data set's word."""
    known: bool = True
    """False: it did not come to an end that can be judged, because something was not recorded; no trial of its group."""
    valid: bool = False
    """Whether a plan was accepted, and none that was proposed was rejected."""
    plan_source: str = ""
    """Of the last accepted plan: `template`, `cache`, `command`, `model`, `author`, …"""
    entry: str = ""
    """Entry or template that served it."""
    cache_reason: str = ""
    """Why nothing that was known served; empty: something did, or nothing was looked up."""
    plans: int = 0
    """That were accepted."""
    rejected: int = 0
    proposals: int = 0
    """How often a plan was asked for and somebody answered."""
    steps: int = 0
    """Calls that were started; one that was tried again counts once."""
    done: int = 0
    failed: int = 0
    skipped: int = 0
    repeated_calls: int = 0
    """Calls with tool and arguments of an earlier call of the turn."""
    tools: tuple[str, ...] = ()
    """Of the started calls, in order, one for each."""
    models: tuple[str, ...] = ()
    """That answered, in order of first use."""
    model_calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: int = 0
    unpriced: int = 0
    """Model calls whose model has no price: their cost is not in `cost`."""
    latency_us: int = 0
    """From the first record to the last: what a person was waited for is in it."""
    approvals_asked: int = 0
    approvals_given: int = 0
    approvals_refused: int = 0
    verdicts: Counts = {}
    """`allow`, `deny`, `ask` of policy: the binding ones, and a forecast that denied, because it ended the turn."""
    guards: Counts = {}
    """Guard (or `validator`, `reader`) → plans that it rejected."""
    rewritten_by: Counts = {}
    effects: Counts = {}
    """Class → effects that were reported."""
    error_codes: Counts = {}
    """Codes of the calls that failed."""


def figures_of(log: TurnLog, labels: Labels | None = None, prices: Prices | None = None) -> TurnFigures:
    """Measure one turn.

    Args:
        log: As a collection gives it; it is not verified here.
        labels: Group, trial and reward.
        prices: None: the shipped ones.
    """
    tally = Tally(prices)
    for record in log.records:
        handler = HANDLERS.get(record.kind)
        if handler is not None:
            handler(tally, record.body)
    return _figures(tally, log, labels or Labels())


def _figures(tally: Tally, log: TurnLog, labels: Labels) -> TurnFigures:
    latency = log.records[-1].at - log.records[0].at if log.records else 0
    outcome = tally.outcome or ("suspended" if log.status == "suspended" else "")
    good = outcome == "success"
    succeeded = good if labels.reward is None else labels.reward >= 1
    cause = "" if succeeded else tally.failure[0] or tally.rejection or tally.code
    if not succeeded and not cause:
        cause = JUDGED if good else outcome or "open"
    states = list(tally.states.values())
    return TurnFigures(
        turn=log.turn,
        group=labels.group,
        trial=labels.trial,
        request=tally.opened.request or "",
        language=tally.opened.language or "",
        outcome=outcome,
        code=tally.code,
        cause=cause,
        cause_tool=tally.failure[1] if cause and cause == tally.failure[0] else "",
        succeeded=succeeded,
        judged=labels.reward is not None,
        valid=tally.plans > 0 and tally.refused_proposals == 0,
        plan_source=tally.source,
        entry=tally.entry,
        cache_reason=tally.reason,
        plans=tally.plans,
        rejected=tally.rejected,
        proposals=tally.proposals,
        steps=len(tally.started),
        done=states.count("done"),
        failed=states.count("failed"),
        skipped=states.count("skipped"),
        repeated_calls=tally.repeated,
        tools=tuple(tally.started.values()),
        models=tuple(tally.models),
        model_calls=tally.calls,
        tokens_in=tally.tokens_in,
        tokens_out=tally.tokens_out,
        cost=tally.cost,
        unpriced=tally.unpriced,
        latency_us=max(latency, 0),
        approvals_asked=len(tally.asked),
        approvals_given=tally.given,
        approvals_refused=tally.refused,
        verdicts=tally.counts["verdicts"],
        guards=tally.counts["guards"],
        rewritten_by=tally.counts["rewritten"],
        effects=tally.counts["effects"],
        error_codes=tally.counts["errors"],
    )
