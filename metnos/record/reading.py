"""A turn as people and programs look at it: from its records alone, tolerantly.

Law: reads plain objects, never the types of this version, so that a log of an older or newer Metnos can be shown;
what it does not know it passes over. Nothing is decided from a view.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import msgspec

from metnos.plan.classes import class_of, class_of_turn
from metnos.record.codec import decode_tolerant
from metnos.record.model import Head, Status, TurnLog
from metnos.record.summary import summary_of

Body = dict[str, Any]


class StepLine(msgspec.Struct, kw_only=True, omit_defaults=True):
    """One step or item, in the order of their starts."""

    step: str
    operation: str = ""
    tool: str = ""
    """As the plan names it; empty where the plan is not in the log."""
    state: str = "started"
    """`started`, `done`, `failed`, `stopped`, `skipped`, `unknown`."""
    started: int = 0
    """µs since 1970 UTC; 0: never."""
    ended: int = 0
    reason: str = ""
    """Why it was skipped."""
    error: Body | None = None
    error_class: str = ""
    effects: list[Body] = []
    truncated: bool = False
    tries: int = 0
    """How often it was started; after a crash, too."""

    @property
    def took_us(self) -> int:
        """Between start and end; 0 if it has not both."""
        return self.ended - self.started if self.started and self.ended else 0


class ApprovalLine(msgspec.Struct, kw_only=True, omit_defaults=True):
    """One answer of a person."""

    approval: str
    state: str
    at: int
    by: str = ""


class ProposalLine(msgspec.Struct, kw_only=True, omit_defaults=True):
    """One time that a proposer was asked."""

    model: str = ""
    """As the proposer names it."""
    usage: dict[str, int] = {}
    took_us: int = 0
    """From the record before to the answer."""
    code: str = ""
    """Why it gave no plan."""
    unsure: bool = False
    """It was not sure that its plan is what was meant."""
    acts: tuple[str, ...] = ()
    """What it read in the request where the words ask for no effect (`request.acts`)."""


class TurnView(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What `metnos log TURN` shows."""

    turn: str
    status: Status
    outcome: str = ""
    code: str = ""
    detail: str = ""
    error_class: str = ""
    """What helps, by the table of this version: `wrong-tool`, `wrong-arguments`, `missing-input`, …"""
    opened: int = 0
    last: int = 0
    """Time of the last record."""
    owner: str = ""
    channel: str = ""
    conversation: str = ""
    mode: str = ""
    request: str = ""
    folder: str = ""
    versions: dict[str, str] = {}
    plan_source: str = ""
    """`template`, `cache`, `proposer`, `author`, …"""
    entry: str = ""
    plan: Body | None = None
    """The last accepted plan."""
    plan_digest: str = ""
    rewritten_by: list[str] = []
    diagnostics: list[Body] = []
    steps: list[StepLine] = []
    approvals: list[ApprovalLine] = []
    effects: list[Body] = []
    answer: str = ""
    wording: str = ""
    """Whether a model worded it, or why not; empty: nobody was to."""
    usage: dict[str, int] = {}
    proposals: list[ProposalLine] = []
    waiting: list[str] = []
    resumed: int = 0
    records: int = 0
    head: Head | None = None


def view(log: TurnLog) -> TurnView:
    """The view of a log, verified or not."""
    line = summary_of(log)
    made = TurnView(
        turn=log.turn,
        status=log.status,
        outcome=line.outcome,
        opened=line.opened,
        owner=line.owner,
        channel=line.channel,
        conversation=line.conversation,
        mode=line.mode,
        request=line.request,
        records=len(log.records),
        head=log.head,
        last=log.records[-1].at if log.records else 0,
    )
    reader = _Reader(made)
    for record in log.records:
        handler = reader.handlers.get(record.kind)
        if handler is not None:
            handler(decode_tolerant(record.body), record.at)
        reader.before = record.at
    return made


class _Reader:
    """Fills a view record by record."""

    def __init__(self, made: TurnView) -> None:
        self._view = made
        self._steps: dict[str, StepLine] = {}
        self._written: Body | None = None
        self.before = 0
        """Time of the last record."""
        self._errors: dict[str, str] = {}
        """Code → class of the failures of steps."""
        self.handlers: dict[str, Callable[[Body, int], None]] = {
            "turn_opened": self._opened,
            "plan_found": self._found,
            "plan_proposed": self._proposed,
            "plan_rewritten": self._rewritten,
            "plan_rejected": self._rejected,
            "plan_accepted": self._accepted,
            "step_started": self._started,
            "step_finished": self._finished,
            "step_failed": self._failed,
            "step_stopped": self._stopped,
            "step_skipped": self._skipped,
            "step_unknown": self._unknown,
            "effect_probed": self._probed,
            "approval_given": self._answered("given"),
            "approval_refused": self._answered("refused"),
            "approval_expired": self._answered("expired"),
            "dialog_answered": self._dialog,
            "dialog_expired": self._dialog,
            "answer_composed": self._composed,
            "filler_resolved": self._filled,
            "command_failed": self._command_failed,
            "turn_suspended": self._suspended,
            "turn_resumed": self._resumed,
            "turn_closed": self._closed,
        }

    def _opened(self, body: Body, _at: int) -> None:
        self._view.folder = _string(body, "folder")
        self._view.versions = _object(body, "versions")
        if isinstance(body.get("plan"), dict):
            self._view.plan_source = _string(body, "source") or "author"
            self._written = body["plan"]

    def _found(self, body: Body, _at: int) -> None:
        self._view.plan_source, self._view.entry = _string(body, "source"), _string(body, "entry")
        self._written = _object(body, "plan")

    def _proposed(self, body: Body, at: int) -> None:
        self._view.plan_source = "proposer"
        self._written = _object(body, "plan")
        self._propose(body, at)

    def _propose(self, body: Body, at: int, code: str = "") -> None:
        self._count(body)
        usage = {name: value for name, value in _object(body, "usage").items() if isinstance(value, int)}
        took = max(0, at - self.before)
        line = ProposalLine(
            model=_string(body, "proposer"),
            usage=usage,
            took_us=took,
            code=code,
            unsure=body.get("unsure") is True,
            acts=tuple(map(str, _list(body, "acts"))),
        )
        self._view.proposals.append(line)

    def _command_failed(self, body: Body, at: int) -> None:
        code = _string(_object(body, "error"), "code")
        if _string(body, "command") == "propose" and code != "no-model":
            self._propose(body, at, code)
        else:
            self._count(body)

    def _filled(self, body: Body, _at: int) -> None:
        self._count(body)

    def _count(self, body: Body) -> None:
        for name, value in _object(body, "usage").items():
            if isinstance(value, int):
                self._view.usage[name] = self._view.usage.get(name, 0) + value

    def _rewritten(self, body: Body, _at: int) -> None:
        self._view.rewritten_by.append(_string(body, "guard"))

    def _rejected(self, body: Body, _at: int) -> None:
        self._view.diagnostics.extend(_objects(body, "diagnostics"))

    def _accepted(self, body: Body, _at: int) -> None:
        self._view.plan = _object(body, "body") or self._written
        self._view.plan_digest = _string(body, "digest")

    def _step(self, body: Body) -> StepLine:
        name = _string(body, "step")
        line = self._steps.get(name)
        if line is None:
            line = self._steps[name] = StepLine(step=name, tool=self._tool(name))
            self._view.steps.append(line)
        return line

    def _tool(self, step: str) -> str:
        steps = _objects(self._view.plan or {}, "steps")
        number = step.split(".")[1] if "." in step else ""
        if number.isascii() and number.isdigit() and 1 <= int(number) <= len(steps):
            return _string(steps[int(number) - 1], "tool")
        return ""

    def _started(self, body: Body, at: int) -> None:
        line = self._step(body)
        line.state, line.operation = "started", _string(body, "operation")
        line.started = line.started or at
        line.tries += 1
        line.error, line.error_class = None, ""  # one that left a choice is not how it ended

    def _end(self, body: Body, at: int, state: str) -> StepLine:
        line = self._step(body)
        line.state, line.ended = state, at
        effects = _objects(body, "effects")
        line.effects = effects
        self._view.effects.extend(effects)
        return line

    def _finished(self, body: Body, at: int) -> None:
        self._end(body, at, "done").truncated = body.get("truncated") is True

    def _failed(self, body: Body, at: int) -> None:
        line = self._end(body, at, "failed")
        error = line.error = _object(body, "error")
        line.error_class = class_of(_string(error, "code"), _string(error, "class"))
        self._errors.setdefault(_string(error, "code"), _string(error, "class"))

    def _stopped(self, body: Body, at: int) -> None:
        self._end(body, at, "stopped")

    def _probed(self, body: Body, at: int) -> None:
        states = {"done": "done", "absent": "failed"}
        self._end(body, at, states.get(_string(body, "found"), "unknown"))

    def _skipped(self, body: Body, _at: int) -> None:
        line = self._step(body)
        line.state, line.reason = "skipped", _string(body, "reason")

    def _unknown(self, body: Body, _at: int) -> None:
        self._step(body).state = "unknown"

    def _answered(self, state: str) -> Callable[[Body, int], None]:
        def handler(body: Body, at: int) -> None:
            self._settled(_string(body, "approval"))
            line = ApprovalLine(
                approval=_string(body, "approval"), state=state, at=at, by=_string(body, "by") or "local"
            )
            self._view.approvals.append(line)

        return handler

    def _dialog(self, body: Body, _at: int) -> None:
        self._settled(_string(body, "dialog"))

    def _settled(self, name: str) -> None:
        self._view.waiting = [other for other in self._view.waiting if other != name]

    def _composed(self, body: Body, _at: int) -> None:
        self._view.answer, self._view.wording = _string(body, "text"), _string(body, "wording")
        self._count(body)

    def _suspended(self, body: Body, _at: int) -> None:
        self._view.waiting = [str(name) for name in _list(body, "waiting")]

    def _resumed(self, _body: Body, _at: int) -> None:
        self._view.resumed += 1
        self._view.waiting = []

    def _closed(self, body: Body, _at: int) -> None:
        self._view.waiting = []
        self._view.code, self._view.detail = _string(body, "code"), _string(body, "detail")
        self._view.error_class = class_of_turn(_string(body, "outcome"), self._view.code, self._errors)


def steps_of(plan: Body | None) -> list[Body]:
    """The steps of a recorded plan in their places, each with a `tool` that is a text and `args` that are an object,
    whatever stands there.
    """
    made: list[Body] = []
    for step in _list(plan or {}, "steps"):
        called = _as_object(step) or {}
        made.append({**called, "tool": _string(called, "tool"), "args": _object(called, "args")})
    return made


def _string(body: Body, name: str) -> str:
    value = body.get(name)
    return value if isinstance(value, str) else ""


def _object(body: Body, name: str) -> Body:
    return _as_object(body.get(name)) or {}


def _objects(body: Body, name: str) -> list[Body]:
    return [found for found in map(_as_object, _list(body, name)) if found is not None]


def _list(body: Body, name: str) -> list[Any]:
    value = body.get(name)
    return cast("list[Any]", value) if isinstance(value, list) else []


def _as_object(value: Any) -> Body | None:
    return cast("Body", value) if isinstance(value, dict) else None
