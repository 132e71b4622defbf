"""Asking the host's callables, and their answers as inputs: a proposal, a consent, the answers of a dialog.

Law: the callable is the host's code, so whatever it raises or returns amiss is its own failure, recorded as
`CommandFailed`; nothing is handed on that the machine would have to refuse. Only `True` is a yes.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import msgspec

from metnos.drivers.tilde import said_at_home
from metnos.execute.faults import LONGEST, named
from metnos.execute.strict import NotJSON, settle
from metnos.plan.jsondata import JSONFault, canonical, copied, loads_strict
from metnos.sdk import Failure
from metnos.turn import commands as c
from metnos.turn import inputs as i

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Mapping

    from metnos.drivers.ports import Question
    from metnos.drivers.state import TurnUnderWay
    from metnos.propose.model import Declined


class Typed(str):
    """Text that a person typed: taken as it is where text is wanted, else read as JSON."""

    __slots__ = ()


class Misfit(Exception):
    """An answer that its dialog does not take; `where` names the field."""

    def __init__(self, where: str, message: str) -> None:
        super().__init__(message)
        self.where = where
        self.message = message


def ask_host(turn: TurnUnderWay, command: Question, call: Callable[[], Any]) -> None:
    """Ask; what the callable gives, raises or promises is the answer."""
    try:
        said = call()
    except Exception as fault:  # noqa: BLE001 - the host's code: whatever it raises is its failure
        said = fault
    if inspect.isawaitable(said):
        turn.pending.append((command, said))
    else:
        hear(turn, command, said)


def hear(turn: TurnUnderWay, command: Question, said: Any) -> None:
    """Report an answer, unless nobody waits for it any more; None: nobody can say now."""
    if not is_open(turn, command) or (turn.ending and not isinstance(command, c.AskApproval | c.OpenDialog)):
        return
    item = _input_of(turn, command, said)
    if item is None:
        return
    turn.suspended = False
    if isinstance(item, i.PlanProposed):
        state = turn.machine.state
        plan = said_at_home(item.plan, state.request, turn.catalog, state.opened.home)
        item = item if plan is item.plan else msgspec.structs.replace(item, plan=plan)
    if isinstance(command, c.Propose):
        turn.planning_us += max(0, turn.clock() - turn.asked_at)
    if isinstance(item, i.FillerResolved | i.AnswerComposed):
        turn.count(item.usage)
    elif isinstance(item, i.PlanProposed | i.CommandFailed):
        turn.count(item.usage)
        turn.model = item.proposer or turn.model
    turn.feed(item)


def is_open(turn: TurnUnderWay, command: Question) -> bool:
    """Whether the machine still waits for an answer to `command`."""
    state = turn.machine.state
    if state.closed:
        return False
    if isinstance(command, c.AskApproval):
        return command.approval in state.approvals
    if isinstance(command, c.ResolveFiller):
        return state.open.get(f"resolve_filler {command.name}") is command
    if isinstance(command, c.Compose):
        return state.open.get("compose") is command
    return isinstance(command, c.Propose) or state.dialog is command


def _input_of(turn: TurnUnderWay, command: Question, said: Any) -> i.AnyInput | None:
    at = turn.clock()
    try:
        if isinstance(said, BaseException):
            return _failed(command, said, at)
        if isinstance(command, c.Propose):
            return _proposal(said, at, turn.catalog.names())
        if isinstance(command, c.ResolveFiller):
            return i.FillerResolved(at=at, name=command.name, value=said.value, usage=said.usage)
        if isinstance(command, c.Compose):
            return msgspec.structs.replace(said, at=at)
        if said is None:
            return None
        if isinstance(command, c.AskApproval):
            return _consent(command, said, at, turn.grant.owner)
        return i.DialogAnswered(at=at, dialog=command.dialog, answers=fitted(command, said), by=turn.grant.owner)
    except Exception as fault:  # noqa: BLE001 - what it returned may be an object of the host's, with code of its own
        return _failed(command, fault, at)


def _proposal(value: Any, at: int, candidates: tuple[str, ...]) -> i.AnyInput:
    from metnos.propose.model import Declined
    from metnos.propose.reply import read_reply

    if isinstance(value, Declined):
        return _declined(value, at)
    reply = read_reply(value)
    return i.PlanProposed(
        at=at,
        plan={} if reply.diagnostics else as_json(reply.plan),
        candidates=candidates,
        usage=reply.usage,
        proposer=reply.model,
        unreadable=reply.diagnostics,
        written=reply.written,
        unsure=reply.unsure or msgspec.UNSET,
        acts=reply.acts or msgspec.UNSET,
    )


def _declined(given: Declined, at: int) -> i.CommandFailed:
    """A proposer that would have to guess."""
    from metnos.propose.reply import as_utf8

    about = as_utf8(given.about)[:LONGEST]
    error = Failure(cls="unavailable", code=given.code, message=about)
    return i.CommandFailed(at=at, command="propose", error=error, usage=given.usage, proposer=as_utf8(given.model))


def _consent(command: c.AskApproval, value: Any, at: int, by: str) -> i.AnyInput:
    if value is True:
        return i.ApprovalGiven(at=at, approval=command.approval, digest=command.digest, by=by)
    if value is False:
        return i.ApprovalRefused(at=at, approval=command.approval, by=by)
    raise TypeError(f"`approve` returned {type(value).__name__}, not True, False or None")


def _failed(command: Question, fault: BaseException, at: int) -> i.CommandFailed:
    if isinstance(command, c.Propose | c.ResolveFiller) and (failed := _of_models(command, fault, at)) is not None:
        return failed
    error = Failure(
        cls="unavailable" if isinstance(fault, OSError | TimeoutError) else "internal",
        code="proposer-failed" if isinstance(command, c.Propose) else "answer-failed",
        message=str(fault)[:LONGEST] if isinstance(fault, Misfit | NotJSON | JSONFault) else named(fault),
    )
    ref = ""
    if isinstance(command, c.AskApproval):
        ref = command.approval
    elif isinstance(command, c.OpenDialog):
        ref = command.dialog
    elif isinstance(command, c.ResolveFiller):
        ref = command.name
    return i.CommandFailed(at=at, command=command.kind, error=error, ref=ref)


def _of_models(command: c.Propose | c.ResolveFiller, fault: BaseException, at: int) -> i.CommandFailed | None:
    """The failure of a model of the home, which has its own code, and its cost."""
    from metnos.propose.models.ports import ModelFault
    from metnos.settings import SettingsFault

    ref = command.name if isinstance(command, c.ResolveFiller) else ""

    if isinstance(fault, SettingsFault):
        error = Failure(cls="unavailable", code=fault.code, message=fault.message[:LONGEST], hint=fault.hint)
        return i.CommandFailed(at=at, command=command.kind, error=error, ref=ref)
    if not isinstance(fault, ModelFault):
        return None
    from metnos.drivers.own import class_of, filled_in_vain, usage_of

    error = Failure(cls=class_of(fault), code=fault.code, message=fault.message[:LONGEST], hint=fault.hint)
    usage = usage_of(fault) if isinstance(command, c.Propose) else filled_in_vain(fault)
    return i.CommandFailed(at=at, command=command.kind, error=error, ref=ref, usage=usage)


def fitted(dialog: c.OpenDialog, answers: Mapping[str, Any]) -> dict[str, Any]:
    """The answers as JSON, each fitting its field.

    Raises:
        Misfit: A name that was not asked for, one that is missing, or a value that its schema refuses.
    """
    from metnos.turn.people import answer_schemas

    schemas = answer_schemas(dialog)
    for name in (*answers, *schemas):
        if name not in schemas or name not in answers:
            what = "is not asked for" if name not in schemas else "is missing"
            raise Misfit(name, f"the answer {name!r} {what}; asked for: {', '.join(schemas)}")
    return {name: fit(name, schema, answers[name]) for name, schema in schemas.items()}


def fit(name: str, schema: dict[str, Any], answer: Any) -> Any:
    """One answer as JSON that fits its field's schema.

    Raises:
        Misfit: It does not.
    """
    from metnos.turn.arguments import check

    if not schema and isinstance(answer, Typed):
        return typed_value(answer)
    value = str(answer) if isinstance(answer, Typed) else as_json(answer)
    wrong = check(schema, value)
    if wrong is not None and isinstance(answer, Typed):
        value = typed_value(answer)
        wrong = check(schema, value)
    if wrong is not None:
        raise Misfit(name, f"the answer {name!r} does not fit: {wrong.message}")
    return value


def typed_value(text: str) -> Any:
    """What a person typed where no schema says what is wanted: JSON if it is JSON, else the text itself."""
    try:
        return loads_strict(text)
    except JSONFault:
        return str(text)


def as_json(value: Any) -> Any:
    """A copy of `value` in plain JSON types.

    Raises:
        NotJSON: It is outside JSON: NaN, an object, a key that is no text.
        JSONFault: It is nested too deeply, or an integer is beyond 2^53 - 1.
    """
    once = copied(value)
    if once is not None:
        return once[0]
    plain = settle(value)
    canonical(plain)
    return plain


def outcome_of(task: asyncio.Future[Any]) -> Any:
    """What an awaitable of the host's came to: its value, or what it raised."""
    if task.cancelled():
        return TimeoutError("the answer was cancelled")
    return task.exception() or task.result()
