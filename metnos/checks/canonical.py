"""The canonical plan, and a quick answer for the plans that are canonical already.

Law: `plan.write.canonical_plan` says what canonical is; this module only knows when it has nothing to do.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from metnos.checks.shapes import is_list, is_object
from metnos.plan.model import FinalAnswer, Plan
from metnos.plan.write import canonical_plan, respell_string


def canonical(plan: Plan) -> Plan:
    """`canonical_plan(plan)`; the plan itself where nothing changes."""
    if all(step.id is None and _is_spelled(step.args) and _is_spelled(step.for_each) for step in plan.steps):
        end = plan.terminal
        if not isinstance(end, FinalAnswer) or (_is_spelled(end.text) and _is_spelled(end.data)):
            return plan
    return canonical_plan(plan)


def _is_spelled(value: Any) -> bool:
    """Whether every reference in `value` is in canonical spelling (there are no ids to replace)."""
    if value is None:
        return True
    if isinstance(value, str):
        return "$" not in value or _is_canonical(value)
    if is_object(value):
        for each in value.values():
            if isinstance(each, str):
                if "$" in each and not _is_canonical(each):
                    return False
            elif (is_object(each) or is_list(each)) and not _is_spelled(each):
                return False
        return True
    return all(map(_is_spelled, value)) if is_list(value) else True  # numbers, true, false


@lru_cache(maxsize=4096)
def _is_canonical(text: str) -> bool:
    return respell_string(text, {}) == text
