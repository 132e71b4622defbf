"""Which fillers and steps compiled arguments refer to. Only trees are walked; nothing is resolved.

Law: a plan without fillers never pays for this walk.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from metnos.plan.references import FillerTarget, Reference, StepTarget
from metnos.values.expressions import Concat, DictOf, ListOf, Literal_, Ref, Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metnos.checks.model import Checked, CheckedStep
    from metnos.values.expressions import Expression


def references_in(expression: Expression | None) -> Iterator[Reference]:
    """Every reference in `expression`, from left to right."""
    stack: list[Expression | None] = [expression]
    while stack:
        part = stack.pop()
        if isinstance(part, Ref):
            yield part.reference
        elif isinstance(part, Text):
            yield from (piece for piece in part.parts if isinstance(piece, Reference))
        elif isinstance(part, Concat):
            yield from part.items
        elif isinstance(part, ListOf):
            stack.extend(reversed(part.items))
        elif isinstance(part, DictOf):
            stack.extend(item for _, item in reversed(part.items))


def is_literal(expression: Expression) -> bool:
    """Whether nothing in it is left to resolve, so that the validator has seen all of it."""
    return isinstance(expression, Literal_) or next(references_in(expression), None) is None


def fillers_in(step: CheckedStep) -> tuple[str, ...]:
    """Names of the fillers that a step waits for, sorted."""
    found = (*references_in(step.args), *references_in(step.for_each))
    return tuple(sorted({r.target.name for r in found if isinstance(r.target, FillerTarget)}))


def answer_fillers(checked: Checked) -> frozenset[str]:
    """Names of the fillers that the terminal refers to."""
    found = (*references_in(checked.answer_text), *references_in(checked.answer_data))
    return frozenset(r.target.name for r in found if isinstance(r.target, FillerTarget))


def consumed_by(step: CheckedStep) -> frozenset[int]:
    """Steps whose data `step` takes; a step that it only looks at in `when` is not among them."""
    if step.when is None:
        return step.waits
    targets = (r.target for r in (*references_in(step.args), *references_in(step.for_each)))
    taken = {t.step for t in targets if isinstance(t, StepTarget) and t.plan is None}
    return step.waits if step.when.step in taken else step.waits - {step.when.step}
