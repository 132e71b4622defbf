"""Commands about plans: looked up, proposed, or answered that there is no model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metnos.cache.model import Match
from metnos.drivers.asked import ask_host
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
    if turn.machine.state.phase != "looking_up":  # cancelled since it was asked for
        return
    found = turn.look_up(command.request, command.language)
    at = turn.clock()
    if isinstance(found, Match):
        turn.origins = found.origins
        turn.feed(i.PlanFound(at=at, plan=found.plan, source="template", entry=found.entry, origins=found.origins))
    else:
        turn.miss = found
        turn.feed(i.PlanMissed(at=at, reason=found.reason, detail=found.detail))


def propose(turn: TurnUnderWay, command: c.Propose) -> None:
    """Ask the proposer, if there is one."""
    proposer = turn.ports.proposer
    if turn.machine.state.phase != "proposing":
        return
    if proposer is None:
        turn.command_failed(command, NO_MODEL)
        return
    ask_host(turn, command, lambda: proposer(command, tuple(turn.catalog.contracts().values())))


def without_model(turn: TurnUnderWay, command: c.AnyCommand) -> None:
    """Fillers and judges need a model; there is none yet."""
    turn.command_failed(command, NO_MODEL)
