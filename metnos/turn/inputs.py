"""Inputs of the turn machine: what the driver reports. Each is a record of the TurnLog.

Law: everything the machine may know of the world is in here; `at` is µs since 1970-01-01 UTC, written by the
driver. `TurnOpened.now` is the turn's one reference time. Never reorder or rename a field: the log holds them.
Where a default is a text, defaults are written out (`omit_defaults=False`): msgspec leaves a default out by identity,
and equal inputs must give equal bytes. A field added now follows `turn.logic`.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from metnos.plan.diagnostics import Diagnostic
from metnos.request.model import Act
from metnos.sdk import Effect, Failure


class Input(msgspec.Struct, frozen=True, kw_only=True, tag_field="input", omit_defaults=True, gc=False):
    at: int = 0


class VirtualInput(msgspec.Struct, frozen=True, kw_only=True):
    """A named, typed value handed in by the host, or an answer of the user."""

    data: Any
    schema: dict[str, Any] = {}
    source: str = "user"


class Budget(msgspec.Struct, frozen=True, kw_only=True):
    steps: int = 2_000
    """Started steps and items of one turn (a lifted step may have 1,000); past it the turn closes `timeout_steps`."""
    plans: int = 3
    recoveries: int = 0
    """Plans that may be asked for because one failed by its own fault (`turn.recovery`)."""
    tries: int = 1
    """How often one call is run in all, where it failed for a passing reason and repeating it is harmless (`turn.retry`)."""
    retries: int = 0
    """Further tries of all calls of the turn."""


class TurnOpened(Input, frozen=True, tag="turn_opened", omit_defaults=False):
    turn: str
    now: str
    """ISO 8601 with offset, e.g. `2026-11-30T12:00:00+01:00`."""
    zone: str = "UTC"
    owner: str = "local"
    actor: str = "local"
    channel: str = "terminal"
    conversation: str = ""
    language: str | None = None
    """Asked for; None: the one whose lexicon explains more."""
    folder: str = "/"
    """Absolute path that relative paths in arguments start from."""
    home: str = ""
    """The home folder: what `~` means in what the person said; empty: nothing."""
    roots: tuple[str, ...] = ()
    mode: Literal["ask", "run", "plan"] = "ask"
    request: str | None = None
    plan: dict[str, Any] | None = None
    """Set in mode `run` (and for a host's plan): the plan as written."""
    source: str = "author"
    origins: dict[str, str] = {}
    """Origin of literals of `plan` by JSON pointer (a plan planned earlier keeps what it was given)."""
    inputs: dict[str, VirtualInput] = {}
    assume_yes: bool = False
    budget: Budget = Budget()
    versions: dict[str, str] = {}
    """`metnos`, `rules`, `catalog`, `policy`, … → version or digest."""
    choices: bool = False
    """Whether somebody can be asked to choose where a failure leaves a choice."""
    fillers_see: bool = False
    """Whether a filler is written when the results are there that its step takes, and is shown them."""
    logic: dict[str, int] | UnsetType = UNSET
    """Flag of `turn.logic` → level: how the machine behaves where it once behaved in another way. Unset, never empty:
    as at 0.1."""


class PlanFound(Input, frozen=True, tag="plan_found"):
    plan: dict[str, Any]
    source: str
    """`template` or `cache`."""
    entry: str
    """Id and digest of the entry served, `five-largest@sha256:…`."""
    origins: dict[str, str] = {}


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """The one thing that the end of a request lacks."""

    name: str
    """Of the slot."""
    words: str
    """That come before it, in normal form; may be empty."""
    forms: tuple[str, ...]
    """Normal forms that the whole request may have; any other is no answer."""


class PlanMissed(Input, frozen=True, tag="plan_missed"):
    reason: str
    detail: str = ""
    wanted: Wanted | None = None


class PlanProposed(Input, frozen=True, tag="plan_proposed"):
    plan: dict[str, Any]
    """Empty where `unreadable` says why the reply was no plan at all."""
    candidates: tuple[str, ...] = ()
    usage: dict[str, int] = {}
    proposer: str = ""
    """The model, as the proposer names it."""
    unreadable: tuple[Diagnostic, ...] = ()
    written: str = ""
    """A reply that could not be read, cut where it is long."""
    unsure: bool | UnsetType = UNSET
    """True: the proposer is not sure that this is what was meant, and a person sees the plan first (`turn.guess`)."""
    acts: tuple[Act, ...] | UnsetType = UNSET
    """What the request asks to be done, as a model read it where the lexicon found no effect (`request.acts`)."""


class FillerResolved(Input, frozen=True, tag="filler_resolved"):
    name: str
    value: Any
    usage: dict[str, int] = {}


class StepStarted(Input, frozen=True, tag="step_started"):
    """For an effect this is the durable intent: committed, anchor synced, before the runner is called."""

    step: str
    operation: str
    fence: int = 0


class StepFinished(Input, frozen=True, tag="step_finished"):
    step: str
    data: Any
    digest: str = ""
    """`sha256:…` of `data`, taken at the runner's border."""
    effects: tuple[Effect, ...] = ()
    counters: dict[str, int] = {}
    truncated: bool = False
    warnings: tuple[str, ...] = ()
    sources: tuple[str, ...] = ("local",)
    """Provenance of the data: `local`, `untrusted:<source>` …; the arguments' sources are added by the machine."""
    sealed: int = 0
    """Secrets that the border sealed in `data`."""


class StepFailed(Input, frozen=True, tag="step_failed"):
    step: str
    error: Failure
    effects: tuple[Effect, ...] = ()


class StepStopped(Input, frozen=True, tag="step_stopped"):
    step: str
    effects: tuple[Effect, ...] = ()


class EffectProbed(Input, frozen=True, tag="effect_probed"):
    step: str
    found: Literal["done", "absent", "unknown"]
    data: Any = None
    effects: tuple[Effect, ...] = ()


class TargetsSeen(Input, frozen=True, tag="targets_seen"):
    """What lay at the targets when a person was asked; it binds what they allow to that. Told once, before they answer."""

    approval: str
    seen: dict[str, dict[str, str]]
    """Step or item → path → what lay there, in a word that is compared for equality only."""


class ApprovalGiven(Input, frozen=True, tag="approval_given", omit_defaults=False):
    approval: str
    digest: str
    """The approval hash that was shown; it must equal the one that the machine asked for."""
    by: str = "local"


class ApprovalRefused(Input, frozen=True, tag="approval_refused", omit_defaults=False):
    approval: str
    by: str = "local"
    reason: str = ""


class ApprovalExpired(Input, frozen=True, tag="approval_expired"):
    approval: str


class DialogAnswered(Input, frozen=True, tag="dialog_answered"):
    dialog: str
    answers: dict[str, Any]
    by: str | UnsetType = UNSET
    """Who says so; anybody but the owner and the actor of the turn is refused. Unset: nobody has told."""


class DialogExpired(Input, frozen=True, tag="dialog_expired"):
    dialog: str


class Judged(Input, frozen=True, tag="judged"):
    step: str
    verdict: str
    reason: str = ""


class TimerFired(Input, frozen=True, tag="timer_fired"):
    timer: str


class AnswerComposed(Input, frozen=True, tag="answer_composed"):
    text: str
    usage: dict[str, int] = {}
    wording: str = ""
    """Where it was to be worded: `model: NAME`, `refused: WHY`, `none: CODE`; empty: it is composed, as ever."""


class Learned(Input, frozen=True, tag="learned"):
    entries: tuple[str, ...] = ()


class Cancelled(Input, frozen=True, tag="cancelled", omit_defaults=False):
    by: str = "local"


class TurnResumed(Input, frozen=True, tag="turn_resumed"):
    versions: dict[str, str] = {}
    fence: int = 0


class CommandFailed(Input, frozen=True, tag="command_failed"):
    """`ref` names which one where several may be open: step, approval, filler or dialog id."""

    command: str
    error: Failure
    ref: str = ""
    usage: dict[str, int] = {}
    """What a model cost that gave nothing."""
    proposer: str = ""
    """The model, as the proposer names it."""


AnyInput: TypeAlias = (
    TurnOpened
    | PlanFound
    | PlanMissed
    | PlanProposed
    | FillerResolved
    | StepStarted
    | StepFinished
    | StepFailed
    | StepStopped
    | EffectProbed
    | TargetsSeen
    | ApprovalGiven
    | ApprovalRefused
    | ApprovalExpired
    | DialogAnswered
    | DialogExpired
    | Judged
    | TimerFired
    | AnswerComposed
    | Learned
    | Cancelled
    | TurnResumed
    | CommandFailed
)

__all__ = [
    "AnswerComposed",
    "AnyInput",
    "ApprovalExpired",
    "ApprovalGiven",
    "ApprovalRefused",
    "Budget",
    "Cancelled",
    "CommandFailed",
    "DialogAnswered",
    "DialogExpired",
    "EffectProbed",
    "FillerResolved",
    "Input",
    "Judged",
    "Learned",
    "PlanFound",
    "PlanMissed",
    "PlanProposed",
    "StepFailed",
    "StepFinished",
    "StepStarted",
    "StepStopped",
    "TargetsSeen",
    "TimerFired",
    "TurnOpened",
    "TurnResumed",
    "VirtualInput",
]
