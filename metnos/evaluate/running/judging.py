"""One turn of a collection evaluated: driven, measured, put beside what was recorded.

Law: a turn that cannot be evaluated is a row with its `fault`; nothing that a log holds ends a run. What a data set said
of a turn holds for it now only if the plan and the answer are the recorded ones: nobody judged another one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from metnos.evaluate.measures.figures import Labels, TurnFigures, figures_of
from metnos.evaluate.measures.result import HITS, MOST_DRIFT, AnswerMatch, Drifted, EvalRow, PlanMatch
from metnos.evaluate.running.driving import Drive, Driven
from metnos.evaluate.running.matching import match_plans
from metnos.evaluate.running.recorded import Recorded, answer_of
from metnos.record.codec import decode_tolerant
from metnos.record.faults import RecordFault
from metnos.turn.table import ProtocolError

if TYPE_CHECKING:
    from metnos.evaluate.collections.model import Turn
    from metnos.evaluate.drifting.today import Today
    from metnos.evaluate.measures.prices import Prices
    from metnos.evaluate.running.parts import RunParts

HARMLESS = frozenset(("contract-changed", "tool-version"))
UNOBSERVED = "unobserved"
UNANSWERED = "unanswered"
NOT_JUDGED = "not-judged"


def evaluate_turn(parts: RunParts, turn: Turn, prices: Prices, recorded_figures: TurnFigures | None = None) -> EvalRow:
    """One row.

    Args:
        parts: Of the run.
        turn: As the collection gives it.
        prices: For both sides.
        recorded_figures: Of the log, where they are known already.
    """
    labels = Labels.of(turn.labels)
    before = recorded_figures or figures_of(turn.log, labels, prices)
    sha = turn.log.records[-1].hash if turn.log.records else ""
    try:
        recorded = Recorded(turn.log, parts.base)
        if recorded.replayed.status == "broken":
            replayed = recorded.replayed
            return _not(turn, before, sha, replayed.kind, replayed.detail)
        driven = Drive(parts.rules, recorded, parts.known, parts.proposing).run()
    except RecordFault as fault:
        return _not(turn, before, sha, fault.code, fault.message)
    except ProtocolError as fault:
        return _not(turn, before, sha, "record-order", str(fault))
    except Exception as fault:  # noqa: BLE001 - what a log holds may be anything, and ends no run
        return _not(turn, before, sha, "record-malformed", f"{type(fault).__name__}: {fault}")
    row = _row(before, recorded, driven, labels, prices)
    drift = () if parts.today is None else _drift(turn, parts.today)
    return msgspec.structs.replace(row, turn=turn.log.turn, log=sha, drift=drift)


def _drift(turn: Turn, today: Today) -> tuple[Drifted, ...]:
    """What the swapped catalog changes for this turn; that a contract is another one says nothing yet."""
    from metnos.evaluate.drifting.finding import drift_of

    findings, _ = drift_of(turn.log, today)
    return tuple(
        Drifted(kind=one.kind, step=one.step, tool=one.tool, field=one.field, now=one.now or ", ".join(one.candidates))
        for one in findings
        if one.kind not in HARMLESS
    )[:MOST_DRIFT]


def _not(turn: Turn, before: TurnFigures, sha: str, code: str, detail: str) -> EvalRow:
    now = TurnFigures(turn=turn.log.turn, group=before.group, trial=before.trial, known=False, cause=code)
    return EvalRow(turn=turn.log.turn, log=sha, recorded=before, now=now, fault=code, detail=detail[:500])


def _row(before: TurnFigures, recorded: Recorded, driven: Driven, labels: Labels, prices: Prices) -> EvalRow:
    plan, match, answer = _compared(recorded, driven)
    same = match is None and before.plans == 0 if plan is None else match is not None and match.exact
    carried = labels if same and answer != "other" else msgspec.structs.replace(labels, reward=None)
    now = figures_of(driven.log, carried, prices)
    open_ = driven.spy.close is None
    if open_ and (driven.unobserved or driven.unanswered):
        now = _unknown(now, UNOBSERVED if driven.unobserved else UNANSWERED)
    elif labels.reward is not None and carried.reward is None and now.succeeded:
        now = msgspec.structs.replace(now, known=False, succeeded=False, cause=NOT_JUDGED)
    refused_by, codes = _refusal(driven)
    row = EvalRow(
        turn=before.turn,
        recorded=before,
        now=now,
        plan=plan,
        recorded_plan=None if match is not None and match.exact else recorded.plan,
        refused_by=refused_by,
        refused_codes=codes,
        match=match,
        answer=answer,
        unobserved=driven.unobserved,
        unobserved_call=driven.unobserved_call,
        unanswered=driven.unanswered,
        false_hit=_is_false_hit(before, now, match, answer),
    )
    kind, at = _diverged(row, recorded)
    return msgspec.structs.replace(row, diverged=kind, diverged_at=at)


def _unknown(now: TurnFigures, why: str) -> TurnFigures:
    return msgspec.structs.replace(now, known=False, outcome=why, cause=why, cause_tool="", succeeded=False)


def _compared(recorded: Recorded, driven: Driven) -> tuple[dict[str, object] | None, PlanMatch | None, AnswerMatch]:
    plans = driven.spy.machine.state.plans
    plan = plans[-1].body if plans else None
    match = match_plans([one.body for one in plans], recorded.plans) if plans and recorded.plans else None
    answer: AnswerMatch = ""
    if driven.unobserved:
        answer = "unobserved"
    elif recorded.answer is not None and driven.spy.close is not None:
        answer = "same" if answer_of(driven.spy) == recorded.answer else "other"
    return plan, match, answer


def _refusal(driven: Driven) -> tuple[str, tuple[str, ...]]:
    """Who rejected the last candidate, where no plan was accepted."""
    if driven.spy.machine.state.plans:
        return "", ()
    rejected = [record for record in driven.log.records if record.kind == "plan_rejected"]
    if not rejected:
        return "", ()
    body = decode_tolerant(rejected[-1].body)
    return str(body.get("by", "")), tuple(str(one.get("code", "")) for one in body.get("diagnostics", ()))


def _is_false_hit(before: TurnFigures, now: TurnFigures, match: PlanMatch | None, answer: AnswerMatch) -> bool:
    """Something known served another plan than the recorded right one, and it is not seen to answer the same."""
    if now.plan_source not in HITS or not before.succeeded:
        return False
    return match is not None and not match.exact and answer != "same"


def _diverged(row: EvalRow, recorded: Recorded) -> tuple[str, str]:
    """The first thing that went another way, in the order in which a turn goes; ("", ""): nothing did."""
    before, now = row.recorded, row.now
    was_served, is_served = before.plan_source in HITS, now.plan_source in HITS
    if was_served and not is_served and now.cache_reason:
        return f"not-served {now.cache_reason}", before.entry
    if is_served and not was_served:
        return f"served {now.plan_source}", now.entry
    if before.plans and not now.plans and row.refused_by:
        return f"refused {row.refused_by}", ", ".join(row.refused_codes)
    if now.plans and not before.plans and before.guards:
        return f"accepted {' '.join(sorted(before.guards))}", before.cause
    if row.match is not None and not row.match.exact:
        return ("other arguments", "") if row.match.tools else ("other tools", "")
    return _ended_otherwise(row, recorded)


def _ended_otherwise(row: EvalRow, recorded: Recorded) -> tuple[str, str]:
    before, now = row.recorded, row.now
    if row.unobserved:
        return f"{UNOBSERVED} {row.unobserved_call}", row.unobserved
    if before.verdicts != now.verdicts:
        return "policy", " ".join(f"{verdict} {count}" for verdict, count in sorted(now.verdicts.items()))
    if row.unanswered:
        return f"{UNANSWERED} {row.unanswered}", ""
    if before.outcome != now.outcome:
        return f"outcome {before.outcome or 'open'} → {now.outcome or 'open'}", now.code
    if row.answer == "other":
        return "other answer", ""
    replayed = recorded.replayed
    return (f"replay {replayed.kind}", f"record {replayed.seq}") if replayed.status == "diverged" else ("", "")
