"""Which of the effects that are asked for no step of a plan answers yet, where one step may be an answer to several.

Law: a step that writes may be the copy that was asked for, too ("copy the totals and save them in x.csv"). Where two
clauses each say a destination of their own, and one asks for just what the step is, it is the answer to that one alone:
"write it into a.txt and put a copy into old" is not done with the first half.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from metnos.checks.guards.asked import Action, actions_of, answering, is_particular, verbs_of
from metnos.checks.guards.destination import destination_of

if TYPE_CHECKING:
    from metnos.checks.model import Checked, CheckedStep
    from metnos.request.model import Request


def unanswered(request: Request, checked: Checked) -> tuple[Action, ...]:
    """What is asked for in particular, and no step answers."""
    actions = actions_of(request)
    return tuple(
        action
        for action in actions
        if is_particular(action)
        and all(_is_taken(step, action, actions, request, checked) for step in answering(action, checked))
    )


def _is_taken(step: CheckedStep, action: Action, actions: list[Action], request: Request, checked: Checked) -> bool:
    """Whether a step is the answer to another action, which has a destination of its own."""
    if not action.effectful or action.intent.verb in verbs_of(step.contract):
        return False
    here = destination_of(request, action)
    if here is None:
        return False
    for other in actions:
        if other.clause == action.clause or other.intent.verb not in verbs_of(step.contract):
            continue
        there = destination_of(request, other)
        if there is not None and there.value != here.value and step in answering(other, checked):
            return True
    return False
