"""What is worse in one turn than in the baseline: the first kind that fits, and what it is about.

Law: a table, walked from the cause to what follows from it, so that a turn is told once: a plan that a guard let through is
no failed step as well.

| kind | what | in a turn |
|---|---|---|
| `fault` | code | that could be evaluated, and cannot |
| `missing-turns` | `turns` | of the baseline that are not here: told by whoever compares |
| `drift` | tool and field | whose tools or results are not what the catalog says now |
| `newly-accepted` | guard | whose plan was rejected by it, and a plan is accepted without its word now |
| `newly-refused` | guard, `validator` | that had a plan, and has none |
| `not-served` | reason of the miss | that something known served |
| `false-hit` | source | that something known serves another plan than the right one now |
| `failed` | cause | that succeeded |
| `answer` | tool of the plan's end | that answered as recorded |
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple, get_args

from metnos.evaluate.measures.result import HITS, EvalRow, Regression, RegressionKind

Kind = str


class Worse(NamedTuple):
    """What is worse in one turn."""

    kind: Kind
    what: str
    step: str = ""
    field: str = ""
    detail: str = ""


def worse_in(before: EvalRow, now: EvalRow) -> Worse | None:
    """The first thing that is worse; None: nothing is."""
    return next((found for look in LOOKS for found in look(before, now)), None)


def _fault(before: EvalRow, now: EvalRow) -> Iterator[Worse]:
    if now.fault and not before.fault:
        yield Worse("fault", now.fault, detail=now.detail)


def _drift(before: EvalRow, now: EvalRow) -> Iterator[Worse]:
    known = {(one.kind, one.tool, one.field) for one in before.drift}
    for one in now.drift:
        if (one.kind, one.tool, one.field) not in known:
            what = " ".join(filter(None, (one.kind, one.tool, one.field)))
            yield Worse("drift", what, step=one.step, field=one.field, detail=one.now)


def _newly_accepted(before: EvalRow, now: EvalRow) -> Iterator[Worse]:
    if not now.now.plans or (before.now.plans and before.plan == now.plan):
        return
    for guard, count in sorted(before.now.guards.items()):
        if now.now.guards.get(guard, 0) < count and guard != "reader":
            yield Worse("newly-accepted", guard, detail=before.now.cause or ", ".join(before.refused_codes))


def _newly_refused(before: EvalRow, now: EvalRow) -> Iterator[Worse]:
    if before.now.plans and not now.now.plans and now.refused_by:
        yield Worse("newly-refused", now.refused_by, detail=", ".join(now.refused_codes))


def _not_served(before: EvalRow, now: EvalRow) -> Iterator[Worse]:
    if before.now.plan_source in HITS and now.now.plan_source not in HITS:
        yield Worse("not-served", now.now.cache_reason or "miss", detail=before.now.entry)


def _false_hit(before: EvalRow, now: EvalRow) -> Iterator[Worse]:
    if now.false_hit and not before.false_hit:
        yield Worse("false-hit", now.now.plan_source, detail=now.now.entry)


def _failed(before: EvalRow, now: EvalRow) -> Iterator[Worse]:
    if before.now.succeeded and now.now.known and not now.now.succeeded:
        yield Worse("failed", now.now.cause, detail=now.now.cause_tool)


def _answer(before: EvalRow, now: EvalRow) -> Iterator[Worse]:
    if before.answer == "same" and now.answer == "other":
        yield Worse("answer", "another answer", detail=now.diverged)


LOOKS: Final[tuple[Callable[[EvalRow, EvalRow], Iterator[Worse]], ...]] = (
    _fault,
    _drift,
    _newly_accepted,
    _newly_refused,
    _not_served,
    _false_hit,
    _failed,
    _answer,
)
KINDS: Final[tuple[str, ...]] = get_args(RegressionKind)
"""In the order in which they are told."""


class Gathered:
    """Regressions of many turns: what is the same thing is one, with its turns."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: dict[tuple[str, str], Regression] = {}

    def add(self, turn: str, request: str, worse: Worse) -> None:
        """Count one turn."""
        import msgspec

        key = (worse.kind, worse.what)
        there = self._held.get(key)
        if there is None:
            there = Regression(
                kind=worse.kind,  # pyright: ignore[reportArgumentType]  # of the table above
                what=worse.what,
                count=0,
                detail=worse.detail,
                step=worse.step,
                field=worse.field,
            )
        named = there.count < self._most
        requests = there.requests if not request or request in there.requests else (*there.requests, request)
        self._held[key] = msgspec.structs.replace(
            there,
            count=there.count + 1,
            turns=(*there.turns, turn) if named else there.turns,
            requests=requests if named else there.requests,
        )

    def all(self) -> tuple[Regression, ...]:
        """By kind, the most turns first."""
        held = self._held.values()
        return tuple(sorted(held, key=lambda one: (KINDS.index(one.kind), -one.count, one.what)))
