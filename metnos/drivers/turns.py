"""One turn from the engine's side: opened, driven, resumed.

Law: it gathers what a turn needs from the engine and hands it to `LiveTurn`.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Literal

import msgspec

from metnos.drivers import opening
from metnos.drivers.asked import Misfit, fitted
from metnos.drivers.compose import compose
from metnos.drivers.learning import Caching, Remembering, caching_of
from metnos.drivers.live import LiveTurn
from metnos.drivers.results import NeedsInputs, Planned, Refused, TurnResult
from metnos.drivers.slash import may_be_command
from metnos.drivers.state import Ports
from metnos.drivers.views import planned_of, result_of
from metnos.execute.strict import NotJSON
from metnos.plan.classes import class_of_turn
from metnos.plan.jsondata import JSONFault
from metnos.text import message
from metnos.turn.inputs import (
    ApprovalGiven,
    ApprovalRefused,
    DialogAnswered,
    TurnOpened,
    TurnResumed,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from metnos.drivers.parts import Parts
    from metnos.drivers.ports import Approve
    from metnos.drivers.telling import Told
    from metnos.plan.jsondata import JSON
    from metnos.record.store import TurnWriter
    from metnos.turn.inputs import AnyInput
    from metnos.turn.turn import Machine


class NoSuchAnswer(Exception):
    """The caller answers something that the turn did not ask, or with what the question does not take.

    Attributes:
        code: `nothing-asked`, `answer-misfit`, or `approval-stranger`: a question is not theirs to answer.
        where: Id of the approval, or name of the field.
        hint: What could be answered instead.
    """

    def __init__(self, where: str, message: str, hint: str = "", code: str = "nothing-asked") -> None:
        super().__init__(message)
        self.code = code
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
) -> TurnOpened | Refused | Told:
    """The first input of a turn, or why there is none: a plan that is no JSON object at all, a slash command that tells.

    Raises:
        CommandFault: It begins as a slash command, and is none.
        RequestFault: It is too long.
        TypeError: As for `opening.open_turn`.
        ValueError: As for `opening.open_turn`.
    """
    begun = None
    if isinstance(request, str) and plan is None and may_be_command(request):
        opening.require_short(request)
        from metnos.drivers import telling

        opening.require_language(language)
        begun = telling.begun(parts, request, mode, inputs, language)
        if isinstance(begun, telling.Told):
            return begun
        language = language if begun is None else begun.language
    opened = opening.open_turn(
        parts, request, mode=mode, plan=plan, inputs=inputs, assume_yes=assume_yes, language=language
    )
    if begun is None or isinstance(opened, Refused):
        return opened
    return msgspec.structs.replace(opened, inputs=begun.inputs)


# --- driving --------------------------------------------------------------------------------------------------------


def _machine(parts: Parts) -> Machine:
    from metnos.turn.turn import Machine

    return Machine(parts.rules)


def _live(
    parts: Parts,
    machine: Machine,
    writer: TurnWriter,
    opened: TurnOpened,
    approve: Approve | None,
    caching: Caching = "use",
    *,
    resumed: bool = False,
) -> LiveTurn:
    from metnos.execute.grant import Grant

    mine = parts.context.owner in (opened.owner, opened.actor)  # who is asked here may not answer for somebody else
    ports = Ports(
        catalog=parts.catalog,
        runners=parts.runners,
        clock=parts.ports.clock,
        remembering=Remembering(parts, opened, caching, resumed=resumed),
        compose=compose,
        candidates=lambda: parts.candidates,
        proposer=parts.proposer,
        models=(lambda: parts.models) if parts.has_models else None,
        wording=parts.settings.wording,
        limits=(parts.settings.planning_s, parts.settings.planning_idle_s),
        approve=(approve or parts.ports.approve) if mine else None,
        answer=parts.ports.answer if mine else None,
        boundary=parts.ports.boundary,
        progress=parts.ports.progress,
    )
    grant = Grant(
        turn=opened.turn,
        folder=opened.folder,
        roots=opened.roots,
        withheld=(str(parts.settings.home),),
        now=opened.now,
        zone=opened.zone,
        fence=writer.fence,
        owner=opened.owner,
    )
    return LiveTurn(machine, writer, ports, grant)


def begin(parts: Parts, opened: TurnOpened, approve: Approve | None, caching: Caching = "use") -> LiveTurn:
    """A turn with its log begun, ready to be fed `opened`.

    Raises:
        RecordFault: The log cannot be begun.
    """
    return _live(parts, _machine(parts), parts.journal.begin(opened), opened, approve, caching)


def result_without(parts: Parts, refused: Refused | Told) -> TurnResult:
    """Of what was no plan at all, or only asked to be told something: there is no turn."""
    if not isinstance(refused, Refused):
        return refused.result(parts)
    said = message(f"outcome.{refused.outcome}", parts.context.language)
    first = refused.diagnostics[0]
    return TurnResult(
        turn="",
        status="closed",
        outcome=refused.outcome,
        answer=said,
        code=first.code,
        error_class=class_of_turn(refused.outcome, first.code, {}),
        detail=first.where,
        diagnostics=refused.diagnostics,
    )


async def drive(
    parts: Parts, opened: TurnOpened | Refused | Told, *, approve: Approve | None = None, caching: Caching = "use"
) -> TurnResult:
    """Run a turn to its close or a suspension, on the caller's loop."""
    if not isinstance(opened, TurnOpened):
        return result_without(parts, opened)
    live = begin(parts, opened, approve, caching)
    return await go_on(parts, live, (opened,))


def drive_sync(
    parts: Parts, opened: TurnOpened | Refused | Told, *, approve: Approve | None = None, caching: Caching = "use"
) -> TurnResult:
    """Run a turn in this thread; an event loop is made only if a step needs one."""
    if not isinstance(opened, TurnOpened):
        return result_without(parts, opened)
    require_no_loop()
    live = begin(parts, opened, approve, caching)
    return go_on_sync(parts, live, (opened,))


async def plan(
    parts: Parts, opened: TurnOpened | Refused | Told, caching: Caching = "use"
) -> Planned | NeedsInputs | Refused:
    """Drive a turn that only plans; it asks nobody."""
    if isinstance(opened, Refused):
        return opened
    assert isinstance(opened, TurnOpened)  # what only tells is not planned: `slash.opened`
    live = begin(parts, opened, None, caching)
    await go_on(parts, live, (opened,))
    return planned_of(live)


def plan_sync(
    parts: Parts, opened: TurnOpened | Refused | Told, caching: Caching = "use"
) -> Planned | NeedsInputs | Refused:
    """`plan` in this thread."""
    if isinstance(opened, Refused):
        return opened
    assert isinstance(opened, TurnOpened)  # what only tells is not planned: `slash.opened`
    require_no_loop()
    live = begin(parts, opened, None, caching)
    go_on_sync(parts, live, (opened,))
    return planned_of(live)


async def go_on(parts: Parts, live: LiveTurn, items: Iterable[AnyInput], *, alone: bool = False) -> TurnResult:
    """Feed `items` to a live turn and drive it, on the caller's loop; `alone`: which is this turn's."""
    with parts.interrupts.watching(live), live:
        await live.run(*items, alone=alone)
        return result_of(live)


def go_on_sync(parts: Parts, live: LiveTurn, items: Iterable[AnyInput]) -> TurnResult:
    """Feed `items` to a live turn and drive it, in this thread."""
    with parts.interrupts.watching(live), live:
        if not live.run_now(*items):
            import asyncio

            asyncio.run(_alone(parts, live))
        return result_of(live)


async def _alone(parts: Parts, live: LiveTurn) -> None:
    """On a loop that is this turn's alone."""
    import asyncio

    with parts.interrupts.waking(asyncio.get_running_loop()):
        await live.run(alone=True)


def require_no_loop() -> None:
    """A loop that runs in this thread would stand still meanwhile, and a second one cannot be made.

    Raises:
        RuntimeError: There is one.
    """
    asyncio = sys.modules.get("asyncio")
    if asyncio is None:
        return
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise RuntimeError("an event loop runs in this thread: await `run`, `plan` or `resume` instead of its sync twin")


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
        items = fold(log)
        commands = [command for item in items for command in machine.receive(item).commands]
        writer.adopt(commands)
        caching = caching_of(items)
        live = _live(parts, machine, writer, machine.state.opened, None, caching, resumed=True)
        live.adopt(commands)
        now = opening.versions(parts) | {one.reference: one.digest for one in parts.catalog.contracts().values()}
        resumed = TurnResumed(at=parts.ports.clock(), versions=now, fence=writer.fence)
        given = _answers(parts, live, approve, deny, answers)
        return live, () if machine.state.closed else (resumed, *given)  # ended, and cut off before its head
    except BaseException:
        writer.release()
        raise


def _answers(
    parts: Parts, live: LiveTurn, approve: tuple[str, ...], deny: tuple[str, ...], answers: Mapping[str, JSON] | None
) -> list[AnyInput]:
    at, owner = parts.ports.clock(), parts.context.owner
    asked = {one.approval: one for one in live.machine.state.asked}
    given: list[AnyInput] = []
    for name in dict.fromkeys((*approve, *deny)):
        if name not in asked:
            hint = f"open: {', '.join(asked) or 'none'}"
            raise NoSuchAnswer(name, f"no approval {name!r} is asked for", hint)
        if name in approve and name in deny:
            raise NoSuchAnswer(name, f"{name!r} is both approved and denied", "say one of the two")
        if name in deny:
            given.append(ApprovalRefused(at=at, approval=name, by=owner))
        else:
            given.append(ApprovalGiven(at=at, approval=name, digest=asked[name].digest, by=owner))
    return given + _dialog_answers(live, at, answers, owner) if answers else given


def _dialog_answers(live: LiveTurn, at: int, answers: Mapping[str, JSON], owner: str) -> list[AnyInput]:
    dialog = live.machine.state.dialog
    if dialog is None:
        raise NoSuchAnswer("", "no question is open in this turn", "`metnos log TURN` shows what it waits for")
    if owner not in (live.grant.owner, live.machine.state.opened.actor):
        raise NoSuchAnswer(dialog.dialog, f"the turn is of {live.grant.owner!r}", code="approval-stranger")
    try:
        return [DialogAnswered(at=at, dialog=dialog.dialog, answers=fitted(dialog, answers), by=owner)]
    except (Misfit, NotJSON, JSONFault) as fault:
        raise NoSuchAnswer(fault.where, fault.message, code="answer-misfit") from fault
