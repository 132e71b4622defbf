"""Commands about plans: looked up, proposed, or answered that there is no model."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from metnos.cache.model import Match
from metnos.sdk import Failure
from metnos.turn import inputs as i

if TYPE_CHECKING:
    from metnos.drivers.state import TurnUnderWay
    from metnos.turn import commands as c

NO_MODEL = Failure(
    cls="unavailable",
    code="no-model",
    message="no model is configured",
    hint="ask in the words of `metnos examples`, or run a plan of your own with `metnos run FILE`",
)


def look_up(turn: TurnUnderWay, command: c.LookUpPlan) -> None:
    """Ask the signed templates."""
    found = turn.look_up(command.request, command.language)
    at = turn.clock()
    if isinstance(found, Match):
        turn.origins = found.origins
        turn.feed(i.PlanFound(at=at, plan=found.plan, source="template", entry=found.entry, origins=found.origins))
    else:
        turn.miss = found
        turn.feed(i.PlanMissed(at=at, reason=found.reason, detail=found.detail))


def propose(turn: TurnUnderWay, command: c.Propose) -> None:
    """Ask the proposer, if there is one; what it raises is its failure, not ours."""
    if turn.ports.proposer is None:
        turn.command_failed(command, NO_MODEL)
        return
    try:
        plan = turn.ports.proposer(command, tuple(turn.catalog.contracts().values()))
    except Exception as fault:  # noqa: BLE001 - the host's code
        turn.command_failed(command, failure_of(fault))
        return
    if inspect.isawaitable(plan):
        turn.pending.append((command, plan))
    else:
        proposed(turn, command, plan)


def proposed(turn: TurnUnderWay, command: c.Propose, plan: Any) -> None:
    """Report what the proposer gave; only an object can be a plan."""
    if not isinstance(plan, dict):
        given = type(plan).__name__
        turn.command_failed(command, failure_of(TypeError(f"a plan is an object with `steps`, not {given}")))
        return
    usage = {"planning_calls": 1}
    turn.count(usage)
    turn.feed(i.PlanProposed(at=turn.clock(), plan=plan, candidates=turn.catalog.names(), usage=usage))  # pyright: ignore[reportUnknownArgumentType]


def without_model(turn: TurnUnderWay, command: c.AnyCommand) -> None:
    """Fillers and judges need a model; there is none yet."""
    turn.command_failed(command, NO_MODEL)


def failure_of(fault: BaseException) -> Failure:
    """A port's exception as a failure of its command."""
    return Failure(cls="unavailable", code="proposer-failed", message=f"{type(fault).__name__}: {fault}")
