"""From a recorded turn to a case: what came of it is what is expected.

Law: pure. It expects what the record says and nothing that would change by itself: no times, no ids, no digests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from metnos.evaluate.cases.model import FORM, Case, Expect, ExpectedEffect, ExpectedStep
from metnos.evaluate.collections.turnlog import TurnLine, encode_turn
from metnos.record.reading import steps_of, view

if TYPE_CHECKING:
    from collections.abc import Mapping

    from metnos.record.model import TurnLog
    from metnos.record.reading import TurnView

TERMINALS = frozenset({"final_answer", "ask", "needs_inputs"})
_STATES: dict[str, Any] = {"done": "done", "failed": "failed", "skipped": "skipped"}
_line = msgspec.json.Decoder(TurnLine)


def make_case(log: TurnLog, name: str = "", labels: Mapping[str, str | int | float | bool] | None = None) -> Case:
    """The case of a turn.

    Args:
        log: Closed; whoever wants to be sure has verified it.
        name: Of the case; empty: the turn's id.
        labels: Of the turn.

    Raises:
        RecordFault: `record-malformed`, it holds bytes that are no text.
    """
    seen = view(log)
    return Case(
        form=FORM,
        name=name or log.turn,
        request=seen.request,
        labels=dict(labels or {}),
        expect=_expected(seen),
        record=_line.decode(encode_turn(log)),
    )


def _expected(seen: TurnView) -> Expect:
    steps = None if seen.plan is None else calls_of(seen.plan)
    states = {one.step.partition(".")[2]: one.state for one in seen.steps if one.step.count(".") == 1}
    return Expect(
        outcome=seen.outcome,
        code=seen.code,
        tools=None if steps is None else tuple(one["tool"] for one in steps),
        steps=None
        if steps is None
        else tuple(
            ExpectedStep(tool=one["tool"], args=one.get("args", {}), runs=_STATES.get(states.get(str(number), ""), ""))
            for number, one in enumerate(steps, 1)
        ),
        effects=effects_of(seen),
        other_effects=False,
        answer=seen.answer or None,
    )


def calls_of(plan: dict[str, Any]) -> list[dict[str, Any]]:
    """The steps of a plan that call something."""
    return [one for one in steps_of(plan) if one["tool"] not in TERMINALS]


def effects_of(seen: TurnView) -> tuple[ExpectedEffect, ...]:
    """The changes that a turn made, in the order of the records."""
    return tuple(
        ExpectedEffect(cls=str(one.get("class", "")), target=str(one.get("target", ""))) for one in seen.effects
    )
