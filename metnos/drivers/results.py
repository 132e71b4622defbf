"""What a caller gets back: frozen views of a turn. No outcome raises.

Law: built from the machine's state and the log's head, never from what a driver happens to remember.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from metnos.plan.diagnostics import Diagnostic
from metnos.sdk import Effect, Failure

Status = Literal["closed", "suspended"]
StepStatus = Literal["done", "failed", "stopped", "skipped", "unknown", "waiting", "asking", "started", "planned"]


class OfferView(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that can be chosen where a step failed."""

    name: str
    """What the answer `choice` says."""
    label: str
    """In the language of the person."""
    changes: tuple[dict[str, Any], ...] = ()
    """For each call of the step: argument → its new value; null: it is left out."""


class Need(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something a person must decide before the turn can go on."""

    kind: Literal["approval", "dialog"]
    id: str
    step: str = ""
    action: str = ""
    targets: tuple[str, ...] = ()
    count: int = 1
    reason: str = ""
    digest: str = ""
    """Approval hash; an approval given for another hash is refused. Of a plan that is to be seen: its digest."""
    expires: str = ""
    """ISO 8601, UTC."""
    question: str = ""
    choices: tuple[str, ...] = ()
    form: dict[str, dict[str, Any]] = {}
    """Name → {schema, label}."""
    options: tuple[OfferView, ...] = ()
    """Of a step that failed and can be run again in another way: the answers that the field `choice` takes; of a plan that
    a person is to see before it begins: those that `go_on` takes."""
    plan: int = 0
    """Number of the plan that is to be seen before it begins, whose `digest` is told; 0: it is not about one."""


class StepView(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One step of one plan (`1.2`), lifted items counted inside."""

    step: str
    tool: str
    status: StepStatus
    items: int = 1
    data: Any = None
    reason: str = ""
    error: Failure | None = None
    error_class: str = ""
    """One of `metnos.plan.classes.FAULT_CLASSES`; empty for a step that did not fail."""


class TurnResult(msgspec.Struct, frozen=True, kw_only=True):
    """How a turn stands: closed with an outcome, or suspended with what it needs.

    `usage` counts `planning_calls`, `tokens_in`, `tokens_out`; zero for a plan that was found, not proposed.
    """

    turn: str
    status: Status
    outcome: str
    """One of the outcomes in `metnos.turn.facts.OUTCOMES`; empty while suspended."""
    answer: str = ""
    """What the person reads: the plan's own text, or what was composed; if there is neither, `explained`."""
    explained: str = ""
    """In words how a turn ended that did not succeed, also beside an answer of the plan's own."""
    notes: tuple[str, ...] = ()
    """What must be known beside an answer of the plan's own: results cut short, secrets sealed, warnings."""
    data: Any = None
    detail: str = ""
    code: str = ""
    error_class: str = ""
    """What helps: `wrong-tool`, `wrong-arguments`, `missing-input`, `out-of-scope`, `operational`; empty for a turn that
    is open, succeeded, or was stopped by a person."""
    steps: tuple[StepView, ...] = ()
    effects: tuple[Effect, ...] = ()
    needs: tuple[Need, ...] = ()
    source: str = ""
    """Where the plan came from: `command`, `template`, `cache`, `proposer`, `author`, `host`; empty if there was none."""
    entry: str = ""
    """Id and digest of the template or cache entry that was served; the word of a slash command."""
    plan: dict[str, Any] | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    usage: dict[str, int] = {}
    planning_s: float = 0.0
    """Seconds that proposals took."""
    model: str = ""
    """That wrote the plan, as the proposer names it."""
    language: str = ""
    """Of the person: the one asked for, or that of the request."""
    log_head: str = ""
    """Hash of the last record, `sha256:…`; what was signed."""

    @property
    def ok(self) -> bool:
        """Whether the turn closed with `success`."""
        return self.outcome == "success"


class Planned(msgspec.Struct, frozen=True, kw_only=True):
    """A plan that was accepted and not run: hand it to `run`."""

    plan: dict[str, Any]
    digest: str
    needs: tuple[Need, ...] = ()
    """What policy would ask for, by forecast."""
    source: str = ""
    entry: str = ""
    request: str | None = None
    language: str | None = None
    origins: dict[str, str] = {}
    """JSON pointer of a literal → who wrote it; keeps grounding exact when the plan is run later."""
    turn: str = ""
    unsure: bool = False
    """The proposer is not sure that it is what was meant. `run` runs it all the same: who hands it on has seen it."""


class NeedsInputs(msgspec.Struct, frozen=True, kw_only=True):
    """The plan waits for values: name → `{schema, label}`. Call again with `inputs=`."""

    form: dict[str, dict[str, Any]]
    question: str = ""


class Refused(msgspec.Struct, frozen=True, kw_only=True):
    """No plan, or none that may run; `outcome` is the one a run would have had."""

    outcome: str
    diagnostics: tuple[Diagnostic, ...]
    detail: str = ""
    error_class: str = ""
    """As `TurnResult.error_class`."""
