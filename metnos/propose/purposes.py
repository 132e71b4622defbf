"""What each purpose of a proposal makes of what went before: the lines that stand, the choices that are closed.

Law: of a failure while running a model is told only that there was one. Places of faults are read, their words are not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from metnos.propose.decode.loop import choice_of, step_of
from metnos.propose.decode.state import NO_STEP

if TYPE_CHECKING:
    from metnos.propose.decode.choices import Choice
    from metnos.propose.decode.state import Plan
    from metnos.propose.model import PlanRequest


def failed_tools(request: PlanRequest) -> frozenset[str]:
    """On a recovery, the tools of the steps that its diagnostics name."""
    if request.purpose != "recovery" or request.plan is None:
        return frozenset()
    steps: list[Any] = request.plan.get("steps", [])
    at = {step_of(fault.where, len(steps)) for fault in request.diagnostics}
    return frozenset(str(steps[number].get("tool", "")) for number in at if number < len(steps))


def kept(request: PlanRequest) -> tuple[tuple[Plan, ...], frozenset[Choice]]:
    """On a repair, the steps before the first fault, and the choices that it closes."""
    steps: list[Plan] = [] if request.plan is None else list(request.plan.get("steps", ()))[:-1]
    if not request.diagnostics or not all(isinstance(step.get("args"), dict) and "tool" in step for step in steps):
        return (), frozenset()
    at = min(step_of(fault.where, len(steps)) for fault in request.diagnostics)
    step = steps[at] if at < len(steps) else NO_STEP
    first = [fault for fault in request.diagnostics if step_of(fault.where, len(steps)) == at]
    return tuple(steps[:at]), frozenset(choice_of(fault.where, step) for fault in first)


def without_faults(request: PlanRequest) -> PlanRequest:
    """Decoding needs no words about what was wrong: the choice is closed."""
    return msgspec.structs.replace(request, diagnostics=(), plan=None, written="").read_as(request.understood)


def plain(request: PlanRequest) -> PlanRequest:
    """What may be shown: of a failure while running only that there was one, which the missing tool says."""
    return request if request.purpose == "repair" else without_faults(request)
