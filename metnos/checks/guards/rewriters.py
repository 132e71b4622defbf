"""The rewriters: each turns the plan into what it should have been, by a declared rule.

Law: idempotent, and in no need of an order (tested for all pairs).
"""

from __future__ import annotations

import msgspec

from metnos.checks.bound import input_words
from metnos.checks.guards.model import Rewriter
from metnos.checks.model import CheckContext, Checked
from metnos.checks.tables import FROM_STEP, FROM_STEPS
from metnos.plan.model import Plan


def explicit_input(checked: Checked, context: CheckContext) -> Plan:  # noqa: ARG001 - the form of a rewriter
    """Drop `from_step` where the input was given in words: what is shown is then what runs."""
    plan = checked.plan
    steps = list(plan.steps)
    for index, (step, bound) in enumerate(zip(plan.steps, checked.steps, strict=True)):
        handed = FROM_STEP in step.args or FROM_STEPS in step.args
        if handed and not input_words(bound.contract).isdisjoint(step.args):
            args = {name: value for name, value in step.args.items() if name not in (FROM_STEP, FROM_STEPS)}
            steps[index] = msgspec.structs.replace(step, args=args)
    if all(new is old for new, old in zip(steps, plan.steps, strict=True)):
        return plan
    return msgspec.structs.replace(plan, steps=tuple(steps))


REWRITERS: tuple[Rewriter, ...] = (
    Rewriter(
        name="explicit-input",
        rewrite=explicit_input,
        reads=frozenset({"steps.args"}),
        writes=frozenset({"steps.args.from_step", "steps.args.from_steps"}),
    ),
)
