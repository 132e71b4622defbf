"""Commands about plans: looked up, proposed, or answered that there is no model."""

from __future__ import annotations

import inspect
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from metnos.cache.model import Match
from metnos.drivers import slash
from metnos.drivers.asked import ask_host
from metnos.drivers.requesting import request_of
from metnos.drivers.tilde import at_home, said_at_home
from metnos.sdk import Failure
from metnos.turn import inputs as i

if TYPE_CHECKING:
    from metnos.drivers.state import TurnUnderWay
    from metnos.turn import commands as c

NO_MODEL = Failure(
    cls="unavailable",
    code="no-model",
    message="no model is configured",
    hint="`metnos model pull qwen2.5-coder-1.5b` gets one; without: ask in the words of `metnos examples`",
)


def look_up(turn: TurnUnderWay, _command: c.LookUpPlan) -> None:
    """Ask the table of slash commands, then what was learned, and the signed templates."""
    state = turn.machine.state
    if state.phase != "looking_up":  # cancelled since it was asked for
        return
    if _is_command(turn):
        return
    assert state.request is not None
    found = turn.remembering.look_up(state.request)
    at = turn.clock()
    if isinstance(found, Match):
        turn.origins = found.origins
        source = "template" if found.layer == "template" else "cache"
        if source == "template":
            plan = at_home(found.plan, found.origins, turn.catalog, state.opened.home)
        else:
            plan = said_at_home(found.plan, state.request, turn.catalog, state.opened.home)
        turn.served = found.plan if source == "cache" else {}
        turn.feed(i.PlanFound(at=at, plan=plan, source=source, entry=found.entry, origins=found.origins))
        if turn.served and not state.plans:
            turn.remembering.demote(turn, state.rejected[0].code)
    else:
        turn.miss = found
        hole = found.hole
        wanted = None if hole is None else i.Wanted(name=hole.slot, words=hole.words, forms=hole.forms)
        turn.feed(i.PlanMissed(at=at, reason=found.reason, detail=found.detail, wanted=wanted))


def _is_command(turn: TurnUnderWay) -> bool:
    """Whether the request is a slash command; its plan is then found."""
    opened = turn.machine.state.opened
    said = opened.request or ""
    found = slash.plan_of(said, opened.inputs) if slash.may_be_command(said) else None
    if found is not None:
        plan, entry = found
        turn.feed(i.PlanFound(at=turn.clock(), plan=plan, source=slash.SOURCE, entry=entry))
    return found is not None


def propose(turn: TurnUnderWay, command: c.Propose) -> None:
    """Ask the proposer, if there is one."""
    proposer = turn.ports.proposer
    if turn.machine.state.phase != "proposing":
        return
    if command.purpose == "recovery":
        turn.remembering.demote(turn, command.diagnostics[0].code)
    if proposer is None:
        turn.command_failed(command, NO_MODEL)
        return
    asked, candidates = request_of(turn.machine.state, command), turn.ports.candidates()
    turn.asked_at = turn.clock()
    if getattr(proposer, "takes_stop", False):
        proposer = partial(cast("Any", proposer), stop=turn.stop())
    if turn.shares_loop and not is_async(proposer):  # it may take long: a model is asked
        ask_host(turn, command, lambda: turn.runners.aside(lambda: proposer(asked, candidates)))
    else:
        ask_host(turn, command, lambda: proposer(asked, candidates))


def is_async(call: Any) -> bool:
    """Whether calling it only makes an awaitable: an `async def`, or an object whose call is one."""
    return inspect.iscoroutinefunction(call) or inspect.iscoroutinefunction(getattr(call, "__call__", None))  # noqa: B004


def without_model(turn: TurnUnderWay, command: c.AnyCommand) -> None:
    """Judges need a model; there is none yet."""
    turn.command_failed(command, NO_MODEL)
