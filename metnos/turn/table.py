"""The life of a turn, of a step and of a command, as data; and the check that an input may come now.

Law:

1. A turn is in one phase. `TURN` says for every phase which inputs may come, which handler of the machine takes
   each (`turn.HANDLERS`), and the phases it may lead to. What is not in the table is the driver's fault: `ProtocolError`.
2. Every command has exactly one closing input (`CLOSES`), except `Close`, which ends the log. `CommandFailed` may
   close any. What is open at the close lapses (`LAPSES`); steps and probes may not: the machine closes only when
   each of them has been closed.
3. A step moves along `STEP` and never back. A call is a step, or one item of a lifted step.
4. An input is checked in full before anything changes: a machine that raised is as it was.

Diagrams in `docs/` are drawn from these tables.
"""

from __future__ import annotations

from typing import Final, Literal, NoReturn

import msgspec

from metnos.turn import commands as c
from metnos.turn import inputs as i

Phase = Literal[
    "new",
    "looking_up",   # LookUpPlan is open
    "proposing",    # Propose is open
    "running",      # steps, fillers, judges or probes are open
    "suspended",    # nothing runs; only people can go on
    "stopping",     # cancelled; running steps are being stopped
    "composing",    # Compose is open
    "learning",     # Learn is open
    "closed",
]
PHASES: Final[tuple[Phase, ...]] = (
    "new", "looking_up", "proposing", "running", "suspended", "stopping", "composing", "learning", "closed",
)

StepState = Literal[
    "waiting",   # for its inputs
    "ready",     # arguments resolved; maybe held by an earlier step that it conflicts with
    "asking",    # a person is asked, or a judge
    "started",   # StartStep is open
    "pausing",   # it failed for a passing reason; SetTimer is open, then it is started again
    "done", "failed", "stopped", "unknown", "skipped",
]
STEP: Final[dict[StepState, tuple[StepState, ...]]] = {
    "waiting": ("ready", "failed", "skipped", "done"),
    "ready": ("asking", "started", "failed", "skipped", "done"),
    "asking": ("started", "failed", "skipped"),
    "started": ("done", "failed", "stopped", "unknown", "asking", "pausing"),
    "pausing": ("started", "failed"),
    "unknown": ("started", "done", "failed", "stopped"),
    "done": (),
    "failed": (),
    "stopped": (),
    "skipped": (),
}
"""`unknown` is left again only by its probe or by running the same operation again; `started` leads to `asking` where a
step failed without having changed anything and a person may choose how it is run again (`turn.choice`), and to `pausing`
where the same again may succeed and does no harm (`turn.retry`)."""


class Row(msgspec.Struct, frozen=True):
    """One transition: the handler's name, and every phase it may end in."""

    handler: str
    to: tuple[Phase, ...]


_ENDS: Final[tuple[Phase, ...]] = ("composing", "learning", "closed")
_PLANNED: Final[tuple[Phase, ...]] = ("running", "suspended", *_ENDS)
_JUDGED: Final[tuple[Phase, ...]] = ("proposing", *_PLANNED)
_ANY: Final[tuple[Phase, ...]] = ("looking_up", *_JUDGED)

_STEPS: Final[dict[type[i.Input], str]] = {
    i.StepStarted: "step_started",
    i.StepFinished: "step_finished",
    i.StepFailed: "step_failed",
    i.StepStopped: "step_stopped",
    i.EffectProbed: "effect_probed",
}
_PEOPLE: Final[dict[type[i.Input], str]] = {
    i.TargetsSeen: "targets_seen",
    i.ApprovalGiven: "approval_given",
    i.ApprovalRefused: "approval_refused",
    i.ApprovalExpired: "approval_expired",
}
_LATE: Final[dict[type[i.Input], str]] = {
    i.FillerResolved: "filler_resolved",
    i.Judged: "judged",
    i.TimerFired: "timer_fired",
}
"""Answers that nobody waits for any more may still come after the phase that asked; so may those of people."""


def _rows(handlers: dict[type[i.Input], str], to: tuple[Phase, ...]) -> dict[type[i.Input], Row]:
    return {kind: Row(handler, to) for kind, handler in handlers.items()}


def _common(here: Phase, failed_to: tuple[Phase, ...]) -> dict[type[i.Input], Row]:
    """What may come in any phase of an open turn."""
    return {
        i.Cancelled: Row("cancelled", ("stopping", "closed")),
        i.TurnResumed: Row("turn_resumed", tuple(dict.fromkeys((here, "proposing", "running", "suspended", "stopping", *_ENDS)))),
        i.CommandFailed: Row("command_failed", failed_to),
    }


TURN: Final[dict[Phase, dict[type[i.Input], Row]]] = {
    "new": {i.TurnOpened: Row("turn_opened", _ANY)},
    "looking_up": {
        i.PlanFound: Row("plan_found", _JUDGED),
        i.PlanMissed: Row("plan_missed", ("proposing", "closed")),
        **_common("looking_up", ("proposing", "closed")),
    },
    "proposing": {
        i.PlanProposed: Row("plan_proposed", _JUDGED),
        **_rows(_PEOPLE, ("proposing",)),
        **_rows(_LATE, ("proposing",)),
        **_common("proposing", ("proposing", "suspended", "closed", *_ENDS)),
    },
    "running": {
        **_rows(_STEPS, _JUDGED),
        **_rows(_PEOPLE, _JUDGED),
        **_rows(_LATE, _JUDGED),
        **_common("running", _JUDGED),
    },
    "suspended": {
        **_rows(_PEOPLE, _JUDGED),
        i.DialogAnswered: Row("dialog_answered", _ANY),
        i.DialogExpired: Row("dialog_expired", _ENDS),
        **_rows(_LATE, ("suspended",)),
        **_common("suspended", ("proposing", "suspended", "running", *_ENDS)),
    },
    "stopping": {
        **_rows(_STEPS, ("stopping", "closed")),
        **_rows(_PEOPLE, ("stopping",)),
        **_rows(_LATE, ("stopping",)),
        **_common("stopping", ("stopping", "closed")),
    },
    "composing": {
        i.AnswerComposed: Row("answer_composed", ("learning", "closed")),
        **_rows(_PEOPLE, ("composing",)),
        **_rows(_LATE, ("composing",)),
        **_common("composing", ("composing", "learning", "closed")),
    },
    "learning": {
        i.Learned: Row("learned", ("closed",)),
        **_rows(_PEOPLE, ("learning",)),
        **_rows(_LATE, ("learning",)),
        **_common("learning", ("learning", "closed")),
    },
    "closed": {},
}

CLOSES: Final[dict[type[c.Command], tuple[type[i.Input], ...]]] = {
    c.LookUpPlan: (i.PlanFound, i.PlanMissed),
    c.Propose: (i.PlanProposed,),
    c.ResolveFiller: (i.FillerResolved,),
    c.AskApproval: (i.ApprovalGiven, i.ApprovalRefused, i.ApprovalExpired),
    c.OpenDialog: (i.DialogAnswered, i.DialogExpired),
    c.StartStep: (i.StepFinished, i.StepFailed, i.StepStopped),
    c.StopStep: (i.StepFinished, i.StepFailed, i.StepStopped),
    c.ProbeEffect: (i.EffectProbed,),
    c.Judge: (i.Judged,),
    c.SetTimer: (i.TimerFired,),
    c.Compose: (i.AnswerComposed,),
    c.Learn: (i.Learned,),
    c.Close: (),
}
"""Command → the inputs of which one closes it; `CommandFailed` besides, for all but `Close`."""

LAPSES: Final[tuple[type[c.Command], ...]] = (
    c.LookUpPlan, c.Propose, c.ResolveFiller, c.AskApproval, c.OpenDialog, c.Judge, c.SetTimer, c.Compose, c.Learn,
)
"""Commands that may still be open at the close: none of them touches the outside."""


class ProtocolError(Exception):
    """An input that cannot come now: the driver's fault, never a plan's, a tool's or a person's.

    Args:
        item: Tag of the input, e.g. `step_finished`.
        phase: Where the turn stands.
        detail: What does not fit.
    """

    def __init__(self, item: str, phase: Phase, detail: str) -> None:
        super().__init__(f"the driver reported `{item}` while the turn is {phase}: {detail}")
        self.item = item
        self.phase: Phase = phase
        self.detail = detail


class ResumeRefused(Exception):
    """The turn was begun under another version of something that it needs; nothing has changed.

    The environment's fault: put the recorded version back and resume again.

    Args:
        name: What differs: `rules`, `policy`, or `name@version` of an executor.
        recorded: Version or digest that the turn was begun with.
        found: What is there now.
    """

    code = "resume-refused"

    def __init__(self, name: str, recorded: str, found: str) -> None:
        super().__init__(f"{name} was {recorded} when this turn was begun and is {found} now")
        self.message = str(self)
        self.hint = "use the version of Metnos and of the catalog that the turn was begun with"
        self.name = name
        self.recorded = recorded
        self.found = found


def tag_of(item: i.Input | c.Command) -> str:
    """The name that the log writes."""
    return str(item.__struct_config__.tag)


def row_for(phase: Phase, item: i.Input) -> Row:
    """The row that takes `item` in `phase`.

    Raises:
        ProtocolError: There is none.
    """
    row = TURN[phase].get(type(item))
    if row is None:
        expected = ", ".join(sorted(str(kind.__struct_config__.tag) for kind in TURN[phase])) or "nothing"
        raise ProtocolError(tag_of(item), phase, f"expected {expected}")
    return row


def refuse(phase: Phase, item: i.Input, detail: str) -> NoReturn:
    """Raise the `ProtocolError` for `item`."""
    raise ProtocolError(tag_of(item), phase, detail)
