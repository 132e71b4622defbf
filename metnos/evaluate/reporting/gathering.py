"""A report, gathered turn by turn in bounded memory.

    gathered = Gathering(title="turns of today")
    for log in logs:
        gathered.add(Seen.of(log))
    report = gathered.report()

Law: everything is counted; named are as many turns as fit into `MOST_BYTES` of page (at most `most`), those that failed or
went otherwise before those that did not, whatever the order they come in.
"""

from __future__ import annotations

from collections import Counter
from difflib import SequenceMatcher
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import msgspec

from metnos.evaluate.drifting.recorded import Recorded
from metnos.evaluate.measures.figures import Labels, TurnFigures, figures_of
from metnos.evaluate.measures.histogram import Histogram
from metnos.evaluate.measures.intervals import wilson
from metnos.evaluate.measures.sums import Sums
from metnos.evaluate.reporting.model import NOTHING, Distribution, Matrix, Part, Report, Shape, StepRow, TurnRow, shown
from metnos.evaluate.reporting.shapes import EffectOf, diff_of, key_of, shape_of, shape_of_all
from metnos.record.reading import view

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from metnos.record.model import TurnLog
    from metnos.record.reading import TurnView

MOST_BYTES: Final = 930_000
"""Of the turns, plans and diffs that a page holds, as JSON."""
MOST_TURNS: Final = 1_000
TOOLS: Final = 12
"""Rows and columns of the matrix."""
REQUEST: Final = 240
ANSWER: Final = 400
STEPS: Final = 40
KNOWN: Final = ("command", "template", "cache", "near")
"""Sources of a plan that nobody had to write."""


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """One turn, as it went, and as it was recorded where that is something else."""

    figures: TurnFigures
    recorded: TurnFigures | None = None
    """None: nothing was evaluated anew."""
    plan: dict[str, Any] | None = None
    plans: tuple[tuple[int, dict[str, Any]], ...] = ()
    """(number, plan) of all that were accepted, where there is more than one."""
    failed: tuple[str, ...] = ()
    """Tools of the calls that failed."""
    recorded_plan: dict[str, Any] | None = None
    steps: tuple[StepRow, ...] = ()
    answer: str = ""
    diverged: str = ""
    labels: dict[str, str | int | float | bool] = {}

    @classmethod
    def of(cls, log: TurnLog, labels: Mapping[str, str | int | float | bool] | None = None) -> Seen:
        """A recorded turn alone."""
        seen = view(log)
        accepted = Recorded(log).plans
        return cls(
            figures=figures_of(log, Labels.of(labels or {})),
            plan=seen.plan,
            plans=tuple((number, one.body) for number, one in accepted.items()) if len(accepted) > 1 else (),
            failed=tuple(one.tool for one in seen.steps if one.state == "failed"),
            steps=steps_of(seen),
            answer=seen.answer,
            labels=dict(labels or {}),
        )


def steps_of(seen: TurnView) -> tuple[StepRow, ...]:
    """The first `STEPS` steps and items of a turn."""
    return tuple(
        StepRow(
            shown(one.step, 40),
            shown(one.tool, 80),
            one.took_us,
            one.state,
            shown(one.reason or str((one.error or {}).get("code", "")), 80),
        )
        for one in seen.steps[:STEPS]
    )


class Gathering:
    """Counts turns, and keeps some of them."""

    def __init__(
        self,
        *,
        title: str = "",
        facts: Mapping[str, str] | None = None,
        effect_of: EffectOf = lambda _tool: "",
        most: int = MOST_TURNS,
    ) -> None:
        self._title = title
        self._facts = dict(facts or {})
        self._effect_of = effect_of
        self._most = most
        self._now = Sums()
        self._recorded = Sums()
        self._compared = False
        self._tokens = (Histogram(), Histogram())
        self._pairs: Counter[tuple[str, str]] = Counter()
        self._failed_tools: Counter[str] = Counter()
        self._funnel: Counter[str] = Counter()
        self._unread: dict[str, int] = {}
        self._broken: dict[str, int] = {}
        self._kept: tuple[list[Seen], list[Seen]] = ([], [])
        """Those to be named first, and the others."""

    def add(self, one: Seen) -> None:
        """Take in one turn."""
        self._now.add(one.figures)
        self._tokens[0].add(_tokens(one.figures))
        self._failed_tools.update(shown(tool, 80) for tool in one.failed)
        self._count_stages(one.figures)
        if one.recorded is not None:
            self._compared = True
            self._recorded.add(one.recorded)
            self._tokens[1].add(_tokens(one.recorded))
            self._pairs.update(paired(one.recorded.tools, one.figures.tools))
        first = not one.figures.succeeded or bool(one.diverged)
        kept = self._kept[0] if first else self._kept[1]
        if len(kept) < self._most:
            kept.append(one)

    def unread(self, code: str, count: int = 1) -> None:
        """Take in something that is no turn."""
        self._unread[code] = self._unread.get(code, 0) + count

    def broken(self, code: str) -> None:
        """Say of a turn that was added that its log does not hold."""
        self._broken[code] = self._broken.get(code, 0) + 1

    def _count_stages(self, one: TurnFigures) -> None:
        for stage, reached in stages(one):
            self._funnel[stage] += reached

    def report(self, **more: Any) -> Report:
        """What came of it so far.

        Args:
            more: Further fields of the report (`regressions`, `differences`).
        """
        now, turns = self._now, self._now.turns
        succeeded = now.total("succeeded")
        judged = now.judged
        interval = wilson(succeeded, judged)
        rows, plans, diffs = self._named()
        return Report(
            title=shown(self._title, 200),
            facts={name: shown(text, 400) for name, text in self._facts.items()},
            turns=turns,
            judged=judged,
            succeeded=succeeded,
            low=interval.low,
            high=interval.high,
            compared=self._compared,
            totals=now.totals,
            recorded_totals=self._recorded.totals,
            outcomes=_named(now, "outcome"),
            recorded_outcomes=_named(self._recorded, "outcome"),
            causes=_named(now, "cause"),
            funnel=tuple((stage, self._funnel[stage]) for stage, _ in stages(TurnFigures(turn=""))),
            missed=_named(now, "cache_reason"),
            tools=_named(now, "tools"),
            failed_tools={name: count for name, count in self._failed_tools.most_common() if name},
            distributions=(
                self._spread("latency_us", now.spreads.get("latency_us"), self._recorded.spreads.get("latency_us")),
                self._spread("tokens", self._tokens[0], self._tokens[1]),
            ),
            matrix=matrix_of(self._pairs),
            unread=self._unread,
            broken=self._broken,
            rows=tuple(rows),
            plans=plans,
            diffs=diffs,
            **more,
        )

    def _spread(self, name: str, now: Histogram | None, recorded: Histogram | None) -> Distribution:
        now, recorded = now or Histogram(), recorded or Histogram()
        bins = bins_of([*now.bars(), *recorded.bars()])
        return Distribution(
            name=name,
            bins=tuple(bins),
            now=_into(bins, now),
            recorded=_into(bins, recorded) if self._compared else (),
            p50=now.quantile(50, 100),
            p95=now.quantile(95, 100),
        )

    # --- turns that are named -------------------------------------------------------------------------------------

    def _named(self) -> tuple[list[TurnRow], dict[str, Shape], dict[str, tuple[Part, ...]]]:
        rows: list[TurnRow] = []
        plans: dict[str, Shape] = {}
        diffs: dict[str, tuple[Part, ...]] = {}
        left = MOST_BYTES
        for one in [*self._kept[0], *self._kept[1]][: self._most]:
            row, new_plans, new_diffs = self._row(one, plans)
            left -= len(msgspec.json.encode([row, new_plans, new_diffs]))
            if left < 0:
                break
            rows.append(row)
            plans |= new_plans
            diffs |= new_diffs
        return rows, plans, diffs

    def _row(self, one: Seen, known: dict[str, Shape]) -> tuple[TurnRow, dict[str, Shape], dict[str, tuple[Part, ...]]]:
        figures, before = one.figures, one.recorded
        new: dict[str, Shape] = {}
        key = self._shaped_all(one, known, new) if one.plans else self._shaped(one.plan, known, new)
        then = self._shaped(one.recorded_plan, known, new)
        other = then if then and then != key else ""
        diffs: dict[str, tuple[Part, ...]] = {}
        if other and key:
            every = {**known, **new}
            diffs[f"{other} {key}"] = diff_of(every[other], every[key])
        row = TurnRow(
            turn=shown(figures.turn, 128),
            request=shown(figures.request, REQUEST),
            outcome=shown(figures.outcome, 80),
            cause=shown(figures.cause, 80),
            succeeded=figures.succeeded,
            source=shown(figures.plan_source, 80),
            latency_us=figures.latency_us,
            tokens=_tokens(figures),
            plan=key,
            recorded_plan=other,
            recorded_outcome="" if before is None or before.outcome == figures.outcome else shown(before.outcome, 80),
            diverged=shown(one.diverged, 200),
            answer=shown(one.answer, ANSWER),
            steps=one.steps,
            labels={
                shown(name, 80): shown(value, 80) if isinstance(value, str) else value
                for name, value in one.labels.items()
            },
        )
        return row, new, diffs

    def _shaped_all(self, one: Seen, known: dict[str, Shape], new: dict[str, Shape]) -> str:
        key = key_of({"plans": [list(pair) for pair in one.plans]})
        if key not in known and key not in new:
            new[key] = shape_of_all(one.plans, self._effect_of)
        return key

    def _shaped(self, plan: dict[str, Any] | None, known: dict[str, Shape], new: dict[str, Shape]) -> str:
        if plan is None:
            return ""
        key = key_of(plan)
        if key not in known and key not in new:
            new[key] = shape_of(plan, self._effect_of)
        return key


def stages(one: TurnFigures) -> tuple[tuple[str, bool], ...]:
    """How far a turn came: each stage, and whether it was reached."""
    served = one.plan_source in KNOWN
    return (
        ("turns", True),
        ("looked-up", served or bool(one.cache_reason) or bool(one.proposals)),
        ("served", served),
        ("proposed", one.proposals > 0),
        ("accepted", one.plans > 0),
        ("succeeded", one.succeeded),
    )


def paired(recorded: Sequence[str], now: Sequence[str]) -> list[tuple[str, str]]:
    """Calls of then beside calls of now, in order: the longest common runs first, what is between them in turn."""
    made: list[tuple[str, str]] = []
    for tag, first, last, start, end in SequenceMatcher(None, recorded, now, autojunk=False).get_opcodes():
        if tag == "equal":
            made += [(name, name) for name in recorded[first:last]]
            continue
        old, new = list(recorded[first:last]), list(now[start:end])
        width = max(len(old), len(new))
        made += zip([*old, *[NOTHING] * (width - len(old))], [*new, *[NOTHING] * (width - len(new))], strict=True)
    return made


def matrix_of(pairs: Counter[tuple[str, str]]) -> Matrix:
    """The matrix of the tools that are called most; what is called by one side only stands under `NOTHING`."""
    uses: Counter[str] = Counter()
    for (old, new), count in pairs.items():
        uses.update({old: count, new: count} if old != new else {old: count})
    names = [name for name, _ in sorted(uses.items(), key=lambda one: (-one[1], one[0])) if name != NOTHING][:TOOLS]
    names.sort()
    if NOTHING in uses:
        names.append(NOTHING)
    cells = tuple(tuple(pairs[old, new] for new in names) for old in names)
    return Matrix(
        tools=tuple(shown(name, 80) for name in names), cells=cells, other=pairs.total() - sum(map(sum, cells))
    )


def bins_of(bars: list[tuple[int, int, int]]) -> list[tuple[int, int]]:
    """Bins of 0, 1, 2, 5, 10, 20 … that hold every bar, without a gap between the first and the last used one."""
    if not bars:
        return []
    edges, step = [0, 1], 1
    most = max(low for low, _, _ in bars)
    while edges[-1] <= most:
        step = edges[-1] * 2 if str(edges[-1])[0] in "15" else edges[-1] * 5 // 2
        edges.append(step)
    found = list(pairwise(edges))
    least = min(low for low, _, _ in bars)
    first = next(at for at, (_, end) in enumerate(found) if least < end)
    return found[first:]


def _into(bins: list[tuple[int, int]], spread: Histogram) -> tuple[int, ...]:
    counts = [0] * len(bins)
    for low, _, count in spread.bars():
        counts[next(at for at, (_, end) in enumerate(bins) if low < end)] += count
    return tuple(counts)


def _named(sums: Sums, field: str) -> dict[str, int]:
    """Name → how many, the most frequent first, names as they are shown."""
    return {shown(name, 80): count for name, count in sums.counted(field).items()}


def _tokens(figures: TurnFigures) -> int:
    return figures.tokens_in + figures.tokens_out
