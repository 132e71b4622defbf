"""The report of an evaluation: its rows, each with the recorded turn beside it.

Law: pure; rows come one at a time. Regressions and differences are those of the result, as they stand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from metnos.evaluate.reporting.gathering import Gathering, Seen

if TYPE_CHECKING:
    from collections.abc import Iterable

    from metnos.evaluate.measures.result import EvalResult, EvalRow
    from metnos.evaluate.reporting.model import Report
    from metnos.evaluate.reporting.shapes import EffectOf

FACTS = ("turns", "collection", "run", "metnos", "rules", "catalog", "policy")
"""Of the result's `meta`, in this order."""


def report_of(result: EvalResult, rows: Iterable[EvalRow], effect_of: EffectOf) -> Report:
    """What an evaluation came to.

    Args:
        result: Of the run, compared with its baseline or not.
        rows: All of it.
        effect_of: Tool → the worst effect class that it may have.
    """
    meta = result.meta
    facts = {name: str(getattr(meta, name)) for name in FACTS if getattr(meta, name)}
    facts |= {f"part: {name}": text for name, text in meta.parts.items()}
    if result.baseline:
        facts["baseline"] = result.baseline
    made = Gathering(title=meta.name or meta.turns, facts=facts, effect_of=effect_of)
    for row in rows:
        made.add(seen(row))
    for code, count in meta.faults.items():
        made.unread(code, count)
    return made.report(
        regressions=tuple(msgspec.to_builtins(one) for one in result.regressions),
        differences=tuple(msgspec.to_builtins(one) for one in result.differences),
    )


def seen(row: EvalRow) -> Seen:
    """One row as a report takes it in."""
    same = row.match is not None and row.match.exact
    place = f" ({row.diverged_at})" if row.diverged_at else ""
    return Seen(
        figures=row.now,
        recorded=row.recorded,
        plan=row.plan,
        recorded_plan=row.plan if same else row.recorded_plan,
        diverged=f"{row.diverged}{place}" if row.diverged else row.fault,
    )
