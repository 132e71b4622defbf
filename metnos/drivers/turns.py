"""One turn from the engine's side: opened, driven, resumed, checked, replayed.

Law: it gathers what a turn needs from the engine and hands it to `LiveTurn`; ids and times are made here and nowhere
deeper, because the machine may not make them.
"""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal, cast
from zoneinfo import ZoneInfo

from metnos.drivers.compose import compose
from metnos.drivers.live import LiveTurn
from metnos.drivers.results import NeedsInputs, Planned, Refused, TurnResult
from metnos.drivers.state import Ports
from metnos.drivers.views import needs_of, planned_of, result_of
from metnos.turn.inputs import (
    ApprovalGiven,
    ApprovalRefused,
    DialogAnswered,
    TurnOpened,
    TurnResumed,
    VirtualInput,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from metnos.cache.model import Match, Miss
    from metnos.checks.model import Checked
    from metnos.drivers.parts import Parts
    from metnos.drivers.ports import Approve
    from metnos.plan.diagnostics import Diagnostic
    from metnos.plan.jsondata import JSON
    from metnos.record.replay import ReplayResult
    from metnos.record.store import TurnWriter
    from metnos.turn.inputs import AnyInput
    from metnos.turn.turn import Machine

PREFIX_SEARCH = 10_000
"""How many of the latest turns a prefix is looked for in."""


class NoSuchAnswer(Exception):
    """The caller answers something that the turn did not ask."""

    code = "nothing-asked"

    def __init__(self, where: str, message: str, hint: str) -> None:
        super().__init__(message)
        self.where = where
        self.message = message
        self.hint = hint


# --- opening --------------------------------------------------------------------------------------------------------


def open_turn(
    parts: Parts,
    request: str | Planned | None,
    *,
    mode: Literal["run", "plan"],
    plan: JSON | bytes | None = None,
    inputs: Mapping[str, JSON] | None = None,
    assume_yes: bool = False,
    language: str | None = None,
) -> TurnOpened | Refused:
    """The first input of a turn, or why there can be none (a plan that is no JSON object at all).

    Raises:
        TypeError: Neither or both of `request` and `plan` were given.
    """
    if (request is None) == (plan is None):
        raise TypeError("give either a request or plan=")
    at = parts.ports.clock()
    body, diagnostics = plan_body(plan) if plan is not None else (None, ())
    if diagnostics:
        return Refused(outcome="plan_rejected", diagnostics=diagnostics)
    origins: dict[str, str] = {}
    source = "author"
    if isinstance(request, Planned):
        body, origins, source = request.plan, request.origins, request.source
        language = language or request.language
        said = request.request
    else:
        said = request
    context = parts.context
    return TurnOpened(
        at=at,
        turn=turn_id(at),
        now=datetime.fromtimestamp(at / 1_000_000, ZoneInfo(context.zone)).isoformat(),
        zone=context.zone,
        owner=context.owner,
        actor=context.actor,
        channel=context.channel,
        conversation=context.conversation,
        language=language or context.language,
        folder=context.folder,
        roots=context.roots,
        mode="plan" if mode == "plan" else "ask" if body is None else "run",
        request=said,
        plan=body,
        source=source,
        origins=origins,
        inputs={name: VirtualInput(data=value) for name, value in (inputs or {}).items()},
        assume_yes=assume_yes,
        versions=versions(parts),
    )


def turn_id(at: int) -> str:
    """A fresh id that sorts by time: `20261130-120312-9f3a2c4e`."""
    return f"{datetime.fromtimestamp(at / 1_000_000, UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(4)}"


def versions(parts: Parts) -> dict[str, str]:
    """What the turn is run under; compared again when it is resumed."""
    from metnos import __version__

    rules = parts.rules
    return {
        "metnos": __version__,
        "rules": rules.digest,
        "policy": rules.policy_digest,
        "catalog": parts.catalog.digest,
    }


# --- driving --------------------------------------------------------------------------------------------------------


def _machine(parts: Parts) -> Machine:
    from metnos.turn.turn import Machine

    return Machine(parts.rules)


def _live(parts: Parts, machine: Machine, writer: TurnWriter, opened: TurnOpened, approve: Approve | None) -> LiveTurn:
    from metnos.execute.grant import Grant

    def look_up(request: str, language: str) -> Match | Miss:
        return parts.library.match(parts.rules.normalise(request, language))

    ports = Ports(
        catalog=parts.catalog,
        runners=parts.runners,
        clock=parts.ports.clock,
        look_up=look_up,
        compose=compose,
        proposer=parts.ports.proposer,
        approve=approve or parts.ports.approve,
        answer=parts.ports.answer,
        boundary=parts.ports.boundary,
        progress=parts.ports.progress,
    )
    grant = Grant(
        turn=opened.turn,
        folder=opened.folder,
        roots=opened.roots,
        now=opened.now,
        zone=opened.zone,
        fence=writer.fence,
        owner=opened.owner,
    )
    return LiveTurn(machine, writer, ports, grant)


def _refused_result(refused: Refused) -> TurnResult:
    return TurnResult(turn="", status="closed", outcome=refused.outcome, diagnostics=refused.diagnostics)


async def drive(parts: Parts, opened: TurnOpened | Refused, *, approve: Approve | None = None) -> TurnResult:
    """Run a turn to its close or a suspension, on the caller's loop."""
    if isinstance(opened, Refused):
        return _refused_result(opened)
    live = _live(parts, _machine(parts), parts.journal.begin(opened), opened, approve)
    return await go_on(parts, live, (opened,))


def drive_sync(parts: Parts, opened: TurnOpened | Refused, *, approve: Approve | None = None) -> TurnResult:
    """Run a turn in this thread; an event loop is made only if a step needs one."""
    if isinstance(opened, Refused):
        return _refused_result(opened)
    live = _live(parts, _machine(parts), parts.journal.begin(opened), opened, approve)
    return go_on_sync(parts, live, (opened,))


async def plan(parts: Parts, opened: TurnOpened | Refused) -> Planned | NeedsInputs | Refused:
    """Drive a turn that only plans; it asks nobody."""
    if isinstance(opened, Refused):
        return opened
    live = _live(parts, _machine(parts), parts.journal.begin(opened), opened, None)
    await go_on(parts, live, (opened,))
    return planned_of(live)


def plan_sync(parts: Parts, opened: TurnOpened | Refused) -> Planned | NeedsInputs | Refused:
    """`plan` in this thread."""
    if isinstance(opened, Refused):
        return opened
    live = _live(parts, _machine(parts), parts.journal.begin(opened), opened, None)
    go_on_sync(parts, live, (opened,))
    return planned_of(live)


async def go_on(parts: Parts, live: LiveTurn, items: Iterable[AnyInput]) -> TurnResult:
    """Feed `items` to a live turn and drive it, on the caller's loop."""
    with parts.interrupts.watching(live), live:
        await live.run(*items)
        return result_of(live)


def go_on_sync(parts: Parts, live: LiveTurn, items: Iterable[AnyInput]) -> TurnResult:
    """Feed `items` to a live turn and drive it, in this thread."""
    with parts.interrupts.watching(live), live:
        if not live.run_now(*items):
            import asyncio

            asyncio.run(live.run())
        return result_of(live)


# --- resuming -------------------------------------------------------------------------------------------------------


def reopen(
    parts: Parts, turn: str, *, approve: tuple[str, ...], deny: tuple[str, ...], answers: Mapping[str, JSON] | None
) -> tuple[LiveTurn, tuple[AnyInput, ...]]:
    """A recorded turn folded again, and the inputs that go on with it.

    Raises:
        RecordFault: No such turn, it is closed or busy, or its log does not hold.
        ResumeRefused: Rules or executors that it uses have changed since.
        NoSuchAnswer: Something is answered that was not asked.
    """
    from metnos.record.replay import fold

    writer, log = parts.journal.resume(turn)
    try:
        machine = _machine(parts)
        commands = [command for item in fold(log) for command in machine.receive(item).commands]
        writer.adopt(commands)
        live = _live(parts, machine, writer, machine.state.opened, None)
        live.adopt(commands)
        now = versions(parts) | {one.reference: one.digest for one in parts.catalog.contracts().values()}
        resumed = TurnResumed(at=parts.ports.clock(), versions=now, fence=writer.fence)
        return live, (resumed, *_answers(parts, live, approve, deny, answers))
    except BaseException:
        writer.release()
        raise


def _answers(
    parts: Parts, live: LiveTurn, approve: tuple[str, ...], deny: tuple[str, ...], answers: Mapping[str, JSON] | None
) -> list[AnyInput]:
    asked = {need.id: need for need in needs_of(live)}
    at, owner = parts.ports.clock(), parts.context.owner
    given: list[AnyInput] = []
    for name in (*approve, *deny):
        need = asked.get(name)
        if need is None or need.kind != "approval":
            open_ones = ", ".join(key for key, one in asked.items() if one.kind == "approval") or "none"
            raise NoSuchAnswer(name, f"no approval {name!r} is asked for", f"open: {open_ones}")
        if name in deny:
            given.append(ApprovalRefused(at=at, approval=name, by=owner))
        else:
            given.append(ApprovalGiven(at=at, approval=name, digest=need.digest, by=owner))
    if answers:
        dialog = next((need.id for need in asked.values() if need.kind == "dialog"), None)
        if dialog is None:
            raise NoSuchAnswer("", "no question is open in this turn", "metnos log TURN shows what it waits for")
        given.append(DialogAnswered(at=at, dialog=dialog, answers=dict(answers)))
    return given


# --- without running ------------------------------------------------------------------------------------------------


def check(parts: Parts, plan: JSON | bytes, inputs: Mapping[str, JSON] | None) -> Checked:
    """Every fault of a plan, form and meaning, in one pass."""
    from metnos.checks.model import CheckContext, Checked
    from metnos.plan.model import Plan

    body, diagnostics = plan_body(plan)
    if body is None:
        return Checked(plan=Plan(steps=()), diagnostics=diagnostics)
    context = CheckContext(source="author", inputs={name: {} for name in inputs or {}})
    return parts.rules.validate(body, context)


def find_turn(parts: Parts, text: str) -> str:
    """A turn id from an id, a prefix or `last`."""
    from metnos.record.faults import RecordFault

    if text == "last":
        latest = parts.journal.turns(1)
        if not latest:
            raise RecordFault("turn-missing", "no turn is recorded here")
        return latest[0].turn
    found = [one.turn for one in parts.journal.turns(PREFIX_SEARCH) if one.turn.startswith(text)]
    if text in found:
        return text
    if len(found) != 1:
        what = "no turn" if not found else f"{len(found)} turns"
        raise RecordFault("turn-missing", f"{what} begin with {text!r}", turn=text, hint="metnos log lists them")
    return found[0]


def replay(parts: Parts, turn: str) -> ReplayResult:
    """Feed the recorded inputs to a fresh machine and compare."""
    from metnos.record.replay import replay as replay_log

    return replay_log(parts.journal.load(turn), parts.rules)
