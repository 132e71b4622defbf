"""A turn as what was said, planned, called and answered: the one reading that every exporter writes from.

Law: order and words are the log's. Arguments of a call are in no record: they are what the machine, fed with the recorded
inputs, asks for (`StartStep`). Where no machine under the rules at hand takes the log, they are as the plan wrote them,
and `resolved` says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from metnos.contracts.aliases import original
from metnos.evaluate.importing.contracts import original_argument
from metnos.plan.jsondata import is_list, is_object
from metnos.plan.references import Reference
from metnos.plan.spelling import ReferenceSyntax, is_plain, parse_string
from metnos.record.codec import INPUT_KINDS, decode_input, decode_tolerant, fetch_from
from metnos.record.faults import RecordFault
from metnos.turn.commands import Close, StartStep
from metnos.turn.guess import GO_ON
from metnos.turn.turn import Machine

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from metnos.record.model import Record, TurnLog
    from metnos.turn.rules import Rules

Body = dict[str, Any]


class CallView(msgspec.Struct, kw_only=True):
    """One call of a tool."""

    step: str
    """`plan.step`, or `plan.step.item`."""
    tool: str
    """As it calls itself."""
    arguments: dict[str, Any] = {}
    resolved: bool = True
    """False: as the plan wrote them, references and all."""
    state: str = "started"
    """`done`, `failed`, `stopped`, `unknown`."""
    data: Any = None
    error: dict[str, Any] | None = None
    started: int = 0
    ended: int = 0


class PlanView(msgspec.Struct, kw_only=True):
    """One plan, accepted or not."""

    number: int
    source: str = ""
    entry: str = ""
    model: str = ""
    usage: dict[str, int] = {}
    said: str = ""
    """What was said beside the calls, or instead of a plan."""
    asked: int = 0
    """When it was asked for; 0: nobody was."""
    at: int = 0
    body: dict[str, Any] = {}
    digest: str = ""
    rejected_by: str = ""
    diagnostics: list[dict[str, Any]] = []
    rewritten_by: list[str] = []
    verdicts: list[dict[str, Any]] = []
    calls: list[CallView] = []
    question: str = ""
    answers: dict[str, Any] | None = None
    """Of the person, to its question."""
    answered: int = 0
    unsure: bool = False
    """Its proposer was not sure of it: a person saw it before it began."""
    seen: str = ""
    """What they said: `yes` or `no`."""

    @property
    def accepted(self) -> bool:
        """Whether it ran."""
        return not self.rejected_by


class RunView(msgspec.Struct, kw_only=True):
    """One turn."""

    turn: str
    request: str = ""
    channel: str = ""
    conversation: str = ""
    language: str = ""
    opened: int = 0
    closed: int = 0
    status: str = ""
    outcome: str = ""
    code: str = ""
    detail: str = ""
    answer: str = ""
    data: Any = None
    usage: dict[str, int] = {}
    """Of all answers of models, added up."""
    plans: list[PlanView] = []
    labels: dict[str, Any] = {}
    versions: dict[str, str] = {}


def view_of(log: TurnLog, rules: Rules | None, labels: Mapping[str, Any] | None = None) -> RunView:
    """Read a turn.

    Args:
        log: As a collection gives it.
        rules: Over the contracts of the collection; None: arguments stay as the plans wrote them.
        labels: Of the collection.
    """
    starts, end = _asked_for(log, rules) if rules is not None else ({}, None)
    reader = _Reader(log, starts)
    for record in log.records:
        reader.take(record)
    view = reader.view
    view.labels = dict(labels or {})
    if end is not None:
        view.answer, view.data = end.answer, end.data
    return view


def _asked_for(log: TurnLog, rules: Rules) -> tuple[dict[str, StartStep], Close | None]:
    """The first `StartStep` of each call, and the `Close`, as far as a machine takes the log."""
    machine, fetch = Machine(rules), fetch_from(log.blobs)
    starts: dict[str, StartStep] = {}
    end: Close | None = None
    for record in log.records:
        if record.kind not in INPUT_KINDS:
            continue
        try:
            reaction = machine.receive(decode_input(record.body, fetch))
        except Exception:  # noqa: BLE001 - whatever other rules raise: what they cannot follow stays as it was written
            break
        for command in reaction.commands:
            if isinstance(command, StartStep):
                starts.setdefault(command.step, command)
            elif isinstance(command, Close):
                end = command
    return starts, end


class _Reader:
    def __init__(self, log: TurnLog, starts: dict[str, StartStep]) -> None:
        self.log = log
        self.starts = starts
        self.view = RunView(turn=log.turn, status=log.status)
        self.calls: dict[str, CallView] = {}
        self.before = 0
        self.handlers: dict[str, Callable[[Body, Record], None]] = {
            "turn_opened": self._opened,
            "plan_found": self._found,
            "plan_proposed": self._proposed,
            "plan_rewritten": self._rewritten,
            "plan_rejected": self._rejected,
            "plan_accepted": self._accepted,
            "policy_decided": self._decided,
            "step_started": self._started,
            "step_finished": self._finished,
            "step_failed": self._failed,
            "step_stopped": self._stopped,
            "step_unknown": self._unknown,
            "filler_resolved": self._spent,
            "command_failed": self._spent,
            "answer_composed": self._composed,
            "dialog_answered": self._answered,
            "turn_closed": self._closed,
        }

    def take(self, record: Record) -> None:
        """One record."""
        handler = self.handlers.get(record.kind)
        if handler is not None:
            handler(decode_tolerant(record.body), record)
        self.before = record.at

    @property
    def plan(self) -> PlanView:
        """The last one."""
        if not self.view.plans:
            self._plan(0)
        return self.view.plans[-1]

    def _plan(self, at: int, **told: Any) -> None:
        number = len(self.view.plans) + 1
        self.view.plans.append(PlanView(number=number, at=at, **told))

    # --- inputs ---

    def _opened(self, body: Body, record: Record) -> None:
        view = self.view
        view.opened = record.at
        view.request = _text(body, "request")
        view.channel, view.conversation = _text(body, "channel"), _text(body, "conversation")
        view.language = _text(body, "language")
        view.versions = {name: str(value) for name, value in _table(body, "versions").items()}
        if is_object(body.get("plan")):
            self._plan(record.at, source=_text(body, "source") or "author", body=body["plan"])

    def _found(self, body: Body, record: Record) -> None:
        self._plan(record.at, source=_text(body, "source"), entry=_text(body, "entry"), body=_table(body, "plan"))

    def _proposed(self, body: Body, record: Record) -> None:
        self._spent(body, record)
        self._plan(
            record.at,
            source="model",
            model=_text(body, "proposer"),
            usage=_usage(body),
            said=_text(body, "written"),
            asked=self.before or record.at,
            body=_table(body, "plan"),
            unsure=body.get("unsure") is True,
        )

    def _spent(self, body: Body, _record: Record) -> None:
        for name, number in _usage(body).items():
            self.view.usage[name] = self.view.usage.get(name, 0) + number

    def _composed(self, body: Body, record: Record) -> None:
        self._spent(body, record)
        self.view.answer = _text(body, "text")

    def _answered(self, body: Body, record: Record) -> None:
        plan, answers = self.plan, _table(body, "answers")
        if plan.unsure and not plan.seen:
            plan.seen = _text(answers, GO_ON)
        else:
            plan.answers, plan.answered = answers, record.at

    def _started(self, body: Body, record: Record) -> None:
        key = _text(body, "step")
        if key not in self.calls:
            call = self.calls[key] = self._call(key)
            call.started = record.at
            self._of(key).calls.append(call)

    def _finished(self, body: Body, record: Record) -> None:
        call = self._ended(body, record, "done")
        if call is not None:
            try:
                item = decode_input(record.body, fetch_from(self.log.blobs))
                call.data = getattr(item, "data", None)
            except RecordFault:
                call.data = body.get("data")

    def _failed(self, body: Body, record: Record) -> None:
        call = self._ended(body, record, "failed")
        if call is not None:
            call.error = _table(body, "error")

    def _stopped(self, body: Body, record: Record) -> None:
        self._ended(body, record, "stopped")

    # --- facts ---

    def _rewritten(self, body: Body, _record: Record) -> None:
        self.plan.rewritten_by.append(_text(body, "guard"))

    def _rejected(self, body: Body, _record: Record) -> None:
        self.plan.rejected_by = _text(body, "by")
        self.plan.diagnostics = [one for one in _list(body, "diagnostics") if is_object(one)]

    def _accepted(self, body: Body, _record: Record) -> None:
        plan = self.plan
        plan.digest = _text(body, "digest")
        plan.body = _table(body, "body") or plan.body
        steps = [step for step in _list(plan.body, "steps") if is_object(step)]
        if steps and steps[-1].get("tool") == "ask":
            plan.question = _text(_table(steps[-1], "args"), "question")

    def _decided(self, body: Body, _record: Record) -> None:
        verdict = _table(body, "verdict")
        told = {"step": _text(body, "step"), "verdict": verdict.get("type", ""), "reason": verdict.get("reason", "")}
        self.plan.verdicts.append(told | ({"forecast": True} if body.get("forecast") else {}))

    def _unknown(self, body: Body, record: Record) -> None:
        self._ended(body, record, "unknown")

    def _closed(self, body: Body, record: Record) -> None:
        view = self.view
        view.closed = record.at
        view.outcome, view.code, view.detail = _text(body, "outcome"), _text(body, "code"), _text(body, "detail")

    # --- parts ---

    def _of(self, key: str) -> PlanView:
        number = key.partition(".")[0]
        plans = self.view.plans
        return plans[int(number) - 1] if number.isdecimal() and 0 < int(number) <= len(plans) else self.plan

    def _call(self, key: str) -> CallView:
        start = self.starts.get(key)
        if start is not None:
            args = {original_argument(name): value for name, value in start.args.items()}
            return CallView(step=key, tool=original(start.executor.rpartition("@")[0]), arguments=args)
        position = key.split(".")[1] if "." in key else ""
        steps = _list(self._of(key).body, "steps")
        step: Any = steps[int(position) - 1] if position.isdecimal() and 0 < int(position) <= len(steps) else {}
        table: Body = step if is_object(step) else {}
        args = {original_argument(name): _unescaped(value) for name, value in _table(table, "args").items()}
        return CallView(step=key, tool=original(_text(table, "tool")), arguments=args, resolved=False)

    def _ended(self, body: Body, record: Record, state: str) -> CallView | None:
        call = self.calls.get(_text(body, "step"))
        if call is not None:
            call.state, call.ended = state, record.at
        return call


def _unescaped(value: Any) -> Any:
    """A value as a plan writes it, literal text as it was meant; a reference stays as it is written."""
    if isinstance(value, str):
        if is_plain(value):
            return value
        try:
            parts = parse_string(value)
        except ReferenceSyntax:
            return value
        return value if any(isinstance(part, Reference) for part in parts) else "".join(map(str, parts))
    if is_object(value):
        return {name: _unescaped(held) for name, held in value.items()}
    return [_unescaped(held) for held in value] if is_list(value) else value


def _text(body: Body, name: str) -> str:
    value = body.get(name)
    return value if isinstance(value, str) else ""


def _table(body: Body, name: str) -> Body:
    value = body.get(name)
    return value if is_object(value) else {}


def _list(body: Body, name: str) -> list[Any]:
    value = body.get(name)
    return value if is_list(value) else []


def _usage(body: Body) -> dict[str, int]:
    return {name: number for name, number in _table(body, "usage").items() if type(number) is int}
