"""One alternative where a plan failed by its own fault and has changed nothing.

Law:

1. Only a plan that was written for the request by a model, now or once (`SOURCES`), is given up for another one: an
   author's plan is the author's, and a plan that a person has seen and asked to run is run or fails.
2. Only where every failure that stopped it speaks against the plan (`AGAINST`), and no other tool would meet the same
   refusal (`SAME_FOR_ALL`). What the world did (a service that is down, a full disk) is never answered with another
   executor, and neither is what only a person can say.
3. Only while nothing outside has changed, or may have: `untouched`.
4. Once in a turn, and only if the budget has a plan left. Logs that were begun without `Budget.recoveries` have none.
5. Who proposes is told the failed plan as it was written, its failed tools and the codes of `plan.codes`; never a
   message, a path or a result: those may hold what somebody outside wrote.
6. The new plan passes what every plan passes, and is not the same one. If there is none, the failure stands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from metnos.plan.classes import FaultClass, class_of
from metnos.plan.codes import CODES
from metnos.plan.diagnostics import Diagnostic
from metnos.turn.proposals import propose
from metnos.turn.step import UNSURE

if TYPE_CHECKING:
    from metnos.sdk import Failure
    from metnos.turn.state import Call, TurnState

SOURCES: Final = frozenset({"model", "cache"})
AGAINST: Final[frozenset[FaultClass]] = frozenset({"wrong-tool", "wrong-arguments", "out-of-scope"})
SAME_FOR_ALL: Final = frozenset({
    "not-found", "outside-roots", "withheld", "in-trash", "symlink", "no-permission", "read-only", "secret-not-granted",
})  # fmt: skip
"""Codes that tell of a place or a person: they would be told of it by any tool. What is not there is an answer."""


def may_recover(turn: TurnState) -> bool:
    """Whether the turn, in which nothing runs any more, goes on with another plan."""
    budget = turn.opened.budget
    return (
        turn.recoveries < budget.recoveries
        and turn.halted
        and turn.outcome is None
        and not turn.code
        and turn.proposals < budget.plans
        and turn.opened.plan is None
        and turn.plan.source in SOURCES
        and bool(failed := _failures(turn))
        and all(map(speaks_against, failed))
        and untouched(turn)
    )


def _failures(turn: TurnState) -> list[Failure]:
    return [error for run in turn.plan.runs for error in _errors(run.error, run.calls)]


def _errors(error: Failure | None, calls: list[Call]) -> list[Failure]:
    own = [call.error for call in calls if call.error is not None]
    return own or ([error] if error is not None else [])


def speaks_against(error: Failure) -> bool:
    """Whether a failure is the plan's own fault, and another plan could do without it."""
    return error.cls != "missing" and error.code not in SAME_FOR_ALL and class_of(error.code, error.cls) in AGAINST


def untouched(turn: TurnState) -> bool:
    """Whether nothing outside has changed, or may have."""
    return not any(_may_have_changed(call) for run in turn.steps for call in run.calls)


def _may_have_changed(call: Call) -> bool:
    if any(effect.cls != "read" for effect in call.effects):
        return True
    if call.effect == "read" or not call.began:
        return False
    return call.state != "failed" or call.error is None or call.error.cls in UNSURE


def recover(turn: TurnState) -> None:
    """Ask for another plan."""
    turn.recoveries += 1
    told: list[Diagnostic] = []
    for run in turn.plan.runs:
        for error in _errors(run.error, run.calls)[:1]:
            code = error.code if error.code in CODES else error.cls
            told.append(Diagnostic(code=code, where=f"/steps/{run.number - 1}", found=run.step.contract.name))
    propose(turn, "recovery", turn.plan.body, told=tuple(told))
