"""The plan so far: its steps, what each makes, and what the request still asks for.

Law: judged by the validator and by the guards' own questions, never by rules of its own. A state is a value; the next
one is made from the plan with one more step.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Protocol

import msgspec

from metnos.checks.bound import Bound, rank
from metnos.checks.guards.asked import Action, answers
from metnos.checks.guards.clauses import clause_coverage
from metnos.checks.guards.effects import asks_for
from metnos.checks.guards.run import guard_with
from metnos.checks.model import CheckContext, Checked, CheckedStep, Fine
from metnos.checks.validator import CatalogView, Validator
from metnos.propose.decode.answered import unanswered
from metnos.propose.decode.choices import END
from metnos.values.expressions import DictOf

if TYPE_CHECKING:
    from collections.abc import Callable

    from metnos.checks.made import Made
    from metnos.plan.diagnostics import Diagnostic
    from metnos.request.model import Request
    from metnos.sdk import EffectClass

Plan = dict[str, Any]
NO_STEP: Plan = {"tool": END, "args": {}}
"""Stands for the end of a plan where a step is asked for."""
RENDERING: Final = "render"
"""Verb of what makes text of entries."""
END_STEP: Plan = {"tool": "final_answer", "args": {}}


class Judge(Protocol):
    """Whether a whole plan is accepted: every fault it has, by validator and guards."""

    def __call__(self, plan: Plan, /) -> tuple[Diagnostic, ...]: ...


class Checks:
    """Validator and guards over one catalog, for plans that a model writes."""

    def __init__(self, catalog: CatalogView, validator: Validator | None = None) -> None:
        self.validator = validator or Validator(catalog)
        self._guard = guard_with(self.validator)

    def judge(self, context: CheckContext) -> Judge:
        """Both, in this context."""

        def judged(plan: Plan, /) -> tuple[Diagnostic, ...]:
            checked = self.validator(plan, context)
            if not checked.ok:
                return checked.diagnostics
            found = self._guard(checked, context)
            return tuple(fault for finding in (*found.refusals, *found.reproposals) for fault in finding.diagnostics)

        return judged


def admits(request: Request, effect: EffectClass) -> bool:
    """Whether a step may have such an effect: the law of the guard `requested-effects`."""
    return effect == "read" or (not request.negated and asks_for(request, effect))


class Sofar(msgspec.Struct, frozen=True, dict=True):
    """A plan without an end."""

    steps: tuple[Plan, ...]
    checked: Checked
    made: tuple[Made, ...]
    request: Request
    context: CheckContext

    @property
    def number(self) -> int:
        """Of the next line."""
        return len(self.steps) + 1

    @cached_property
    def consumed(self) -> dict[int, set[str]]:
        """Step → the tools that have been given its result."""
        found: dict[int, set[str]] = {}
        for step in self.checked.steps:
            for number in step.waits:
                found.setdefault(number, set()).add(step.contract.name)
        return found

    @cached_property
    def missing(self) -> tuple[Action, ...]:
        """What is asked for in particular, and no step answers yet."""
        if self.context.earlier_steps:
            return ()
        return unanswered(self.request, self.checked)

    @cached_property
    def covered(self) -> bool:
        """Whether the plan may end: there is a step, nothing is missing, and the guard `clause-coverage` finds the same."""
        missing = not self.context.goes_on and any(action.effectful for action in self.missing)
        return bool(self.steps) and not missing and isinstance(clause_coverage(self.checked, self.context), Fine)

    @property
    def since_changed(self) -> tuple[Plan, ...]:
        """The steps behind the last one with an effect: what came before may be looked at again."""
        last = max((number for number in range(1, self.number) if self.effect(number) != "read"), default=0)
        return self.steps[last:]

    def effect(self, number: int) -> EffectClass:
        """The worst effect of a step."""
        return self.checked.steps[number - 1].worst_effect

    @cached_property
    def has_found(self) -> bool:
        """Whether a step has found or made several things that no step has been given yet."""
        found = (number for number, made in enumerate(self.made, start=1) if made.many and number not in self.consumed)
        return any(self.effect(number) == "read" for number in found)

    def is_shown(self, number: int) -> bool:
        """Whether a step only turns all of some entries into text, to be shown or for an effect that needs it: whoever knows the
        steps around it would put it there or leave it out, so that a model had not thought of it says nothing of what it
        understood.
        """
        step, args = self.checked.steps[number - 1], self.steps[number - 1]["args"]
        renders = any(family.verb == RENDERING for family in step.contract.families)
        return renders and args.keys() <= {"from_step", "format"}

    def done(self, actions: list[Action]) -> int:
        """How many steps answer one of these."""
        return sum(any(answers(action, step) for action in actions) for step in self.checked.steps)

    def behind(self, number: int) -> list[CheckedStep]:
        """A step and all that it was made from."""
        found: dict[int, CheckedStep] = {}
        left = [number]
        while left:
            at = left.pop()
            if at not in found:
                found[at] = self.checked.steps[at - 1]
                left.extend(found[at].waits)
        return list(found.values())


def begin(checks: Checks, request: Request, context: CheckContext, steps: tuple[Plan, ...] = ()) -> Sofar:
    """The state after `steps`.

    Args:
        checks: Validator and guards.
        request: What was said.
        context: What is known beside the plan; its request is `request`.
        steps: As in a plan file, without a terminal.
    """
    checked, made = checks.validator.so_far({"steps": [*steps, END_STEP]}, context)
    return Sofar(steps=steps, checked=checked, made=made, request=request, context=context)


def may_answer(action: Action, bound: Bound, admitted: Callable[[EffectClass], bool]) -> bool:
    """Whether some step of a tool could answer an action."""
    effects: set[EffectClass] = {rule.effect for rule in bound.contract.effects if admitted(rule.effect)}
    if not effects:
        return False
    step = CheckedStep(number=1, contract=bound.contract, args=DictOf(()), worst_effect=max(effects, key=rank))
    return answers(action, step)


def is_for(bound: Bound, verb: str, thing: str) -> bool:
    """Whether a tool's families name just this."""
    return any(family.verb == verb and family.object == thing for family in bound.contract.families)
