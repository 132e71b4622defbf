"""Commands of the turn machine: what it asks the driver to do. One closing input each (`turn/table.py`).

Law: a command is complete: the driver needs nothing but it and its ports. Only a digest of the commands is stored; a
field that is added follows `turn.logic`, so that the digests of old logs stay what they are.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from metnos.contracts.model import Placement
from metnos.plan.diagnostics import Diagnostic
from metnos.sdk import EffectClass, Failure


class Command(msgspec.Struct, frozen=True, kw_only=True, tag_field="command", omit_defaults=True, gc=False):
    @property
    def kind(self) -> str:
        """Its name in the tables and in a `CommandFailed`, such as `start_step`."""
        return str(self.__struct_config__.tag)


class LookUpPlan(Command, frozen=True, tag="look_up_plan"):
    request: str
    language: str
    normal_form: str


class Propose(Command, frozen=True, tag="propose", omit_defaults=False):
    request: str
    language: str
    purpose: Literal["first", "repair", "recovery", "continuation"] = "first"
    diagnostics: tuple[Diagnostic, ...] = ()
    plan: dict[str, Any] | None = None
    """The plan to repair."""
    written: str = ""
    """What was written instead of a plan, where it could not be read."""


class ResolveFiller(Command, frozen=True, tag="resolve_filler"):
    name: str
    prompt: str
    schema: dict[str, Any]
    role: str
    sees: tuple[str, ...] = ()
    """Steps whose results its writer is shown."""


class AskApproval(Command, frozen=True, tag="ask_approval"):
    approval: str
    step: str
    """`plan.step`, or `plan.step.item` where the contract asks per entry."""
    executor: str
    action: EffectClass
    reason: str
    digest: str
    """The approval hash; the answer must carry it back."""
    targets: tuple[str, ...] = ()
    count: int = 1
    expires: int = 0
    """µs since 1970 UTC."""


class Offer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that can be chosen where a step failed; `stop` can be chosen besides, always."""

    name: str
    """What the answer says."""
    key: str
    """`contracts.model.ChoiceKey`: what it is; it names the label."""
    changes: tuple[dict[str, Any], ...]
    """For each call: argument → the value that it would be run again with; null: it is left out."""


class Foreseen(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One step of a plan that a person is shown before it begins."""

    step: str
    """`plan.step`."""
    tool: str
    effect: EffectClass
    """The worst that it may have."""
    args: dict[str, Any]
    """As the accepted plan has them: references are open."""
    each: bool = False
    """It runs once for each entry of something."""
    for_each: Any = None
    """Of what, where the plan says so itself."""
    when: dict[str, int] = {}
    about: dict[str, str] = {}
    """What the tool does, language → sentence; of a foreign tool in the words of somebody else."""


class Guess(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A plan whose proposer is not sure that it understood (`turn.guess`)."""

    plan: int
    """Its number."""
    digest: str
    """Of the plan; the answer is to this one."""
    steps: tuple[Foreseen, ...] = ()
    end: dict[str, Any] = {}
    """Its last line as a plan has it; empty: it goes on."""


class OpenDialog(Command, frozen=True, tag="open_dialog"):
    dialog: str
    question: str = ""
    choices: tuple[str, ...] = ()
    form: dict[str, dict[str, Any]] = {}
    """name → {schema, label}."""
    calls: tuple[str, ...] = ()
    """Steps or items that failed and left a choice, where the dialog is about that."""
    targets: tuple[str, ...] = ()
    """What they would have acted on, in that order."""
    failure: Failure | None = None
    """Of the first of them."""
    offers: tuple[Offer, ...] = ()
    guess: Guess | UnsetType = UNSET
    """The plan that a person is to see before it begins, where the dialog is about that."""


class StartStep(Command, frozen=True, tag="start_step"):
    step: str
    operation: str
    executor: str
    """`name@version`."""
    args: dict[str, Any]
    digest: str
    """Argument digest."""
    effect: EffectClass
    placement: Placement
    timeout_s: float
    idempotent: bool = False
    expects: dict[str, str] = {}
    """Path → what lay there when a person allowed this (`TargetsSeen`); anything else there now, and it is refused."""


class StopStep(Command, frozen=True, tag="stop_step"):
    step: str


class ProbeEffect(Command, frozen=True, tag="probe_effect"):
    step: str
    operation: str
    executor: str
    args: dict[str, Any]


class Judge(Command, frozen=True, tag="judge"):
    step: str
    executor: str
    args: dict[str, Any]


class SetTimer(Command, frozen=True, tag="set_timer"):
    timer: str
    at: int


class Compose(Command, frozen=True, tag="compose"):
    """Answer from what was recorded; `show` names the steps whose results the person should see."""

    outcome: str
    language: str
    show: tuple[str, ...] = ()


class Learn(Command, frozen=True, tag="learn"):
    plan_digest: str


class Close(Command, frozen=True, tag="close"):
    outcome: str
    answer: str = ""
    data: Any = None


AnyCommand: TypeAlias = (
    LookUpPlan
    | Propose
    | ResolveFiller
    | AskApproval
    | OpenDialog
    | StartStep
    | StopStep
    | ProbeEffect
    | Judge
    | SetTimer
    | Compose
    | Learn
    | Close
)

__all__ = [
    "AnyCommand",
    "AskApproval",
    "Close",
    "Command",
    "Compose",
    "Judge",
    "Learn",
    "LookUpPlan",
    "OpenDialog",
    "ProbeEffect",
    "Propose",
    "ResolveFiller",
    "SetTimer",
    "StartStep",
    "StopStep",
]
