"""Framework v1: one finite plan, frozen.

Law: a `Plan` is what was written, in one shape; it holds no contract, no value and no policy. Steps are numbered
by their position from 1 and never otherwise. Reading and checking a file lives in `plan.parse`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import msgspec

if TYPE_CHECKING:
    from metnos.plan.jsondata import JSON

OnError = Literal["stop", "continue"]


class When(msgspec.Struct, frozen=True, kw_only=True):
    """A step runs only if the collection of step `step` is (not) empty."""

    nonempty: bool
    step: int | str


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One call. `args` may hold references in strings, and `from_step` / `from_steps`."""

    tool: str
    args: dict[str, Any]
    id: str | None = None
    for_each: Any = None
    """A reference to a collection (or a literal list); None: the step runs once."""
    when: When | None = None
    on_error: OnError = "stop"


class FinalAnswer(msgspec.Struct, frozen=True, kw_only=True, tag="final_answer"):
    """Both None: the answer is composed from what was recorded."""

    text: str | None = None
    data: Any = None
    has_data: bool = False
    """`data: null` and no `data` differ."""


class Ask(msgspec.Struct, frozen=True, kw_only=True, tag="ask"):
    question: str
    choices: tuple[str, ...] = ()


class Field(msgspec.Struct, frozen=True, kw_only=True):
    schema: dict[str, Any]
    label: str = ""


class NeedsInputs(msgspec.Struct, frozen=True, kw_only=True, tag="needs_inputs"):
    form: dict[str, Field]


class GoesOn(msgspec.Struct, frozen=True, kw_only=True, tag="goes_on"):
    """None is written: another plan follows when the steps are over. Read only where it is said that plans go on."""


Terminal: TypeAlias = FinalAnswer | Ask | NeedsInputs | GoesOn


class Filler(msgspec.Struct, frozen=True, kw_only=True):
    prompt: str
    schema: dict[str, Any]
    role: str = "fast"


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """Steps, one terminal (or none, `GoesOn`), fillers."""

    steps: tuple[Step, ...]
    terminal: Terminal = FinalAnswer()
    fillers: dict[str, Filler] = {}


PlanFile: TypeAlias = "dict[str, JSON]"
