"""What a reference means in this turn: the environment that `values.resolve` looks targets up in.

Law: reads the turn's state and nothing else; a step that gave nothing is `Absent` with the reason, never an empty
value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from metnos.plan.references import FillerTarget, InputTarget, ItemTarget, RuntimeTarget, StepTarget
from metnos.values.runtime import runtime_value
from metnos.values.value import Absent, Value

if TYPE_CHECKING:
    from metnos.plan.references import Target
    from metnos.turn.state import StepRun, TurnState

_RUNTIME = frozenset({"runtime"})
MODEL = frozenset({"model"})
"""Source of a filler's value: a model wrote it."""
MISSING = Absent("missing")


class Scope:
    """The environment of one resolution."""

    __slots__ = ("_turn", "item")

    def __init__(self, turn: TurnState, item: Value | None = None) -> None:
        self._turn = turn
        self.item = item

    def lookup(self, target: Target) -> Value | Absent:
        """The value of `target`, or why there is none."""
        if isinstance(target, StepTarget):
            run = self._run(target)
            return MISSING if run is None else (run.value or absence(run))
        if isinstance(target, ItemTarget):
            return self.item or MISSING
        return self._named(target)

    def _run(self, target: StepTarget) -> StepRun | None:
        turn = self._turn
        if target.plan is None:
            plan = turn.plan
        else:
            plan = next((plan for plan in turn.plans if plan.number == target.plan), None)
        number = target.step
        if plan is None or not isinstance(number, int) or not 0 < number <= len(plan.runs):
            return None
        return plan.runs[number - 1]

    def _named(self, target: Target) -> Value | Absent:
        turn = self._turn
        if isinstance(target, RuntimeTarget):
            found = turn.runtime.get(target.key)
            if found is None:
                found = Value(runtime_value(target.key, turn.opened.now, turn.opened.zone), _RUNTIME)
                turn.runtime[target.key] = found
            return found
        if isinstance(target, FillerTarget):
            return turn.fillers.get(target.name, MISSING)
        if isinstance(target, InputTarget) and target.name in turn.inputs:
            given = turn.inputs[target.name]
            return Value(given.data, frozenset({given.source}))
        return MISSING


def absence(run: StepRun) -> Absent:
    """Why `run` gave nothing."""
    if run.state == "skipped":
        return Absent("skipped" if run.reason == "when" else "blocked")
    return Absent("failed")
