"""Events of one turn, in order, as a watcher sees them: made from what the log has taken in, never ahead of it.

Law: frozen and typed; `seq` counts from 1 without a gap. The first is `TurnOpenedEvent` or `TurnResumedEvent`, the last
is `TurnEndedEvent` or `TurnBrokenEvent`, whatever happens. Events are told, not recorded: a replay makes the same ones but for `at`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
from msgspec import structs

from metnos.drivers.results import Need, TurnResult
from metnos.drivers.views import need_of
from metnos.execute.faults import named
from metnos.plan.diagnostics import Diagnostic
from metnos.sdk import Effect, Failure
from metnos.turn import commands as c
from metnos.turn import facts as f
from metnos.turn import inputs as i
from metnos.turn.answer import language_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from metnos.turn.rules import Reaction
    from metnos.turn.state import TurnState


class TurnEvent(msgspec.Struct, frozen=True, kw_only=True, tag_field="event", omit_defaults=True):
    """What all have."""

    seq: int
    """From 1, without a gap."""
    turn: str
    at: int = 0
    """µs since 1970 UTC: the input's that it comes from."""


class TurnOpenedEvent(TurnEvent, frozen=True, kw_only=True, tag="turn_opened"):
    """The turn is in the log."""

    request: str | None = None
    """None: it runs a plan of the caller's own."""


class TurnResumedEvent(TurnEvent, frozen=True, kw_only=True, tag="turn_resumed"):
    """The turn goes on; what it did before is not told again, what it waits for is."""


class PlanAcceptedEvent(TurnEvent, frozen=True, kw_only=True, tag="plan_accepted"):
    """A plan passed every check; its steps follow. More than one in a turn that goes on after a question."""

    plan: int
    source: str
    """`template`, `cache`, `model`, `author`, `host`."""
    entry: str = ""
    digest: str
    body: dict[str, Any]
    """Canonical; not to be changed."""
    unsure: bool = False
    """Its proposer is not sure that it is what was meant: a person is asked before it begins."""


class PlanRejectedEvent(TurnEvent, frozen=True, kw_only=True, tag="plan_rejected"):
    """A plan was sent back, or ends the turn."""

    plan: int
    by: str
    diagnostics: tuple[Diagnostic, ...]


class StepStartedEvent(TurnEvent, frozen=True, kw_only=True, tag="step_started"):
    """An executor is called now; for an effect the intent is on disk."""

    step: str
    """`plan.step`, or `plan.step.item`."""
    tool: str


class StepFinishedEvent(TurnEvent, frozen=True, kw_only=True, tag="step_finished"):
    """It gave a result."""

    step: str
    tool: str
    data: Any
    effects: tuple[Effect, ...] = ()
    truncated: bool = False
    warnings: tuple[str, ...] = ()


class StepFailedEvent(TurnEvent, frozen=True, kw_only=True, tag="step_failed"):
    """It failed; `effects` are what it did before that."""

    step: str
    tool: str
    error: Failure
    effects: tuple[Effect, ...] = ()


class StepStoppedEvent(TurnEvent, frozen=True, kw_only=True, tag="step_stopped"):
    """It was stopped, because the turn was cancelled."""

    step: str
    tool: str
    effects: tuple[Effect, ...] = ()


class StepSkippedEvent(TurnEvent, frozen=True, kw_only=True, tag="step_skipped"):
    """It is not run: its `when`, a step before it, or the end of the turn."""

    step: str
    tool: str
    reason: str


class NeedEvent(TurnEvent, frozen=True, kw_only=True, tag="need"):
    """A person is asked: by `approve=` or `answer=`, or the turn suspends once nothing else runs."""

    need: Need


class TurnEndedEvent(TurnEvent, frozen=True, kw_only=True, tag="turn_ended"):
    """The last event: closed or suspended. So is a cancelled turn."""

    result: TurnResult


class TurnBrokenEvent(TurnEvent, frozen=True, kw_only=True, tag="turn_broken"):
    """The last event of a turn that could not be driven on: the fault is raised behind it. It can be resumed."""

    fault: str


AnyEvent: TypeAlias = (
    TurnOpenedEvent
    | TurnResumedEvent
    | PlanAcceptedEvent
    | PlanRejectedEvent
    | StepStartedEvent
    | StepFinishedEvent
    | StepFailedEvent
    | StepStoppedEvent
    | StepSkippedEvent
    | NeedEvent
    | TurnEndedEvent
    | TurnBrokenEvent
)


class Teller:
    """Tells the events of one turn to `hear`, numbered."""

    def __init__(self, hear: Callable[[AnyEvent], None], turn: str = "") -> None:
        self._hear = hear
        self._seq = 0
        self.turn = turn
        self._at = 0

    def tell(self, item: i.AnyInput, reaction: Reaction, state: TurnState) -> None:
        """What one input and the machine's answer to it mean to a watcher."""
        self.turn, self._at = state.opened.turn, item.at
        made = _FROM_INPUT.get(type(item))
        if made is not None:
            self._say(*made(item, state))
        for fact in reaction.facts:
            said = _FROM_FACT.get(type(fact))
            if said is not None:
                self._say(*said(fact, state))
        for command in reaction.commands:
            if isinstance(command, c.AskApproval | c.OpenDialog):
                self._say(NeedEvent, {"need": need_of(command, language_of(state))})

    def end(self, result: TurnResult) -> None:
        """The turn is over, or waits."""
        self.turn = result.turn
        self._say(TurnEndedEvent, {"result": result})

    def break_off(self, fault: BaseException) -> None:
        """The turn cannot be driven on."""
        self._say(TurnBrokenEvent, {"fault": named(fault)})

    def _say(self, kind: Callable[..., AnyEvent], fields: dict[str, Any]) -> None:
        self._seq += 1
        self._hear(kind(seq=self._seq, turn=self.turn, at=self._at, **fields))


_Said: TypeAlias = "tuple[type[TurnEvent], dict[str, Any]]"


def _step(state: TurnState, key: str) -> dict[str, str]:
    run = state.find(".".join(key.split(".")[:2]))
    return {"step": key, "tool": run.known.contract.name if run is not None else ""}


def _opened(item: i.TurnOpened, _state: TurnState) -> _Said:
    return TurnOpenedEvent, {"request": item.request}


def _resumed(_item: i.TurnResumed, _state: TurnState) -> _Said:
    return TurnResumedEvent, {}


def _started(item: i.StepStarted, state: TurnState) -> _Said:
    return StepStartedEvent, _step(state, item.step)


def _finished(item: i.StepFinished, state: TurnState) -> _Said:
    told = {"data": item.data, "effects": item.effects, "truncated": item.truncated, "warnings": item.warnings}
    return StepFinishedEvent, {**_step(state, item.step), **told}


def _failed(item: i.StepFailed, state: TurnState) -> _Said:
    error = (
        structs.replace(item.error, options=()) if item.error.options else item.error
    )  # a need says what may be chosen
    return StepFailedEvent, {**_step(state, item.step), "error": error, "effects": item.effects}


def _stopped(item: i.StepStopped, state: TurnState) -> _Said:
    return StepStoppedEvent, {**_step(state, item.step), "effects": item.effects}


def _accepted(fact: f.PlanAccepted, state: TurnState) -> _Said:
    run = next(one for one in state.plans if one.number == fact.plan)
    told = {"plan": fact.plan, "source": run.source, "entry": run.entry, "digest": fact.digest, "body": run.body}
    return PlanAcceptedEvent, told | {"unsure": run.unsure}


def _rejected(fact: f.PlanRejected, _state: TurnState) -> _Said:
    return PlanRejectedEvent, {"plan": fact.plan, "by": fact.by, "diagnostics": fact.diagnostics}


def _skipped(fact: f.StepSkipped, state: TurnState) -> _Said:
    return StepSkippedEvent, {**_step(state, fact.step), "reason": fact.reason}


_FROM_INPUT: dict[type[i.Input], Callable[[Any, TurnState], Any]] = {
    i.TurnOpened: _opened,
    i.TurnResumed: _resumed,
    i.StepStarted: _started,
    i.StepFinished: _finished,
    i.StepFailed: _failed,
    i.StepStopped: _stopped,
}
_FROM_FACT: dict[type[f.Fact], Callable[[Any, TurnState], Any]] = {
    f.PlanAccepted: _accepted,
    f.PlanRejected: _rejected,
    f.StepSkipped: _skipped,
}
