"""What a proposer is asked, and what it may give beside a bare plan. Frozen values; the host's code reads and makes them."""

from __future__ import annotations

import json
from typing import Any, Final, Literal

import msgspec

from metnos.plan.codes import CODES
from metnos.plan.diagnostics import Diagnostic
from metnos.propose.signatures import shortened
from metnos.request.model import ACTS, Act, Request

Purpose = Literal["first", "repair", "recovery", "continuation"]
MOST_TOKENS: Final = 2**53 - 1
DECLINING: Final = ("out-of-scope", "too-vague")
"""Codes of `Declined`."""


class PlanRequest(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """The first argument of a proposer.

    `purpose` is `first`; `repair` after a plan that was rejected (`diagnostics` say why, once in a turn); `recovery` after
    one whose step failed by the plan's own fault before anything was changed (`failed` names the tools, once in a turn);
    or `continuation` after an `ask`, whose answer is then among `inputs`.
    """

    text: str
    """What the person said."""
    language: str
    """`en` or `it`: asked for, or the one that the text was understood in."""
    purpose: Purpose = "first"
    diagnostics: tuple[Diagnostic, ...] = ()
    """Why the last plan was rejected, or which of its steps failed; empty unless `purpose` is `repair` or `recovery`."""
    plan: dict[str, Any] | None = None
    """The plan that was rejected, or that failed; None if the reply was no plan at all (then see `written`)."""
    written: str = ""
    """The rejected reply as it was written, where it was text that could not be read; cut at 16,384 characters."""
    inputs: dict[str, dict[str, Any]] = {}
    """`${INPUT:name}` → JSON Schema of its value."""
    earlier: dict[str, dict[str, Any]] = {}
    """`plan1.step2` → JSON Schema of the result: what this turn has done already."""
    now: str = ""
    """The turn's one time, ISO 8601 with offset."""
    zone: str = "UTC"

    @property
    def understood(self) -> Request | None:
        """The request as the turn's own rules read it, with the words that an operator added; None: nobody has read it.

        It is no field: what a host writes down or sends on is what was asked, not how it was read.
        """
        return vars(self).get("understood")

    def read_as(self, understood: Request | None) -> PlanRequest:
        """The same, with what it was understood as."""
        made = msgspec.structs.replace(self)
        vars(made)["understood"] = understood
        return made

    @property
    def failed(self) -> tuple[str, ...]:
        """Tools of the steps that failed; empty unless `purpose` is `recovery`."""
        return tuple(dict.fromkeys(one.found for one in self.diagnostics)) if self.purpose == "recovery" else ()

    @property
    def feedback(self) -> str:
        """What was wrong with the last plan, in words for a model: each fault with its place, what was found, what is
        expected and how to mend it. Empty if nothing was.
        """
        return "\n".join(_told(one) for one in self.diagnostics)

    def as_prompt(self) -> str:
        """All of it as the last message to a model: the request, what is known, and on a repair what to mend."""
        parts = [f"Request: {self.text}"]
        if self.inputs:
            parts.append(
                "Given:" + "".join(f"\n${{INPUT:{name}}}: {shortened(one)}" for name, one in self.inputs.items())
            )
        if self.earlier:
            parts.append(
                "Done already:" + "".join(f"\n${{{name}}}: {shortened(one)}" for name, one in self.earlier.items())
            )
        if self.diagnostics:
            before = self.written or (json.dumps(self.plan, ensure_ascii=False) if self.plan else "")
            if before:
                parts.append(f"Your last plan was:\n{before}")
            happened, wanted = _AFTER[self.purpose == "recovery"]
            parts.append(f"{happened}\n{self.feedback}\n{wanted}")
        return "\n\n".join(parts)


_AFTER: Final = (
    ("It was rejected:", "Write the whole plan again, with each fault mended."),
    ("It was run, and failed before it changed anything:", "Write another plan that does the same in another way."),
)


def _told(fault: Diagnostic) -> str:
    code = CODES.get(fault.code)
    said = [f"- at {fault.where or '/'} ({fault.code}): {code.title if code else fault.code}."]
    if fault.found:
        said.append(f"Found: {fault.found}.")
    if fault.expected:
        said.append(f"Expected: {fault.expected}.")
    hint = fault.hint or (code.hint if code else "")
    return " ".join([*said, hint] if hint else said)


class _Told(msgspec.Struct, frozen=True):
    """What an answer of a proposer's cost."""

    def __post_init__(self) -> None:
        """Tell the host's code at once: later nobody could."""
        model: object = getattr(self, "model", "")
        if not isinstance(model, str):
            raise TypeError(f"model is text, not {type(model).__name__}")
        for name, number in self.usage.items():
            if type(number) is not int:
                raise TypeError(f"{name} is an integer, not {type(number).__name__}")
            if not 0 <= number <= MOST_TOKENS:
                raise ValueError(f"{name} is from 0 to 2^53 - 1, not {number}")

    @property
    def usage(self) -> dict[str, int]:
        """As `TurnResult.usage` counts: the plan, and apart from it what reading the request cost."""
        found: Any = self
        spent = {"planning_calls": found.calls, "tokens_in": found.tokens_in, "tokens_out": found.tokens_out}
        return {**spent, **found.reading}


class Proposal(_Told, frozen=True):
    """A plan and what it cost, where a proposer tells that too.

        return Proposal(reply.text, model=reply.model, tokens_in=reply.usage.input, tokens_out=reply.usage.output)

    Raises:
        TypeError: A number is no integer, `model` no text, `unsure` neither True nor False, or one of `acts` none.
        ValueError: A number is negative or beyond 2^53 - 1.
    """

    plan: Any
    """Whatever a proposer may return bare: an object, or text."""
    model: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    calls: int = 1
    """Calls to models that it took."""
    unsure: bool = False
    """The proposer is not sure that this is what was meant: a person sees the plan first, and nothing of it runs before."""
    acts: tuple[Act, ...] = ()
    """What the request asks to be done, as a model read it. Counts only where the lexicon found no effect in it
    (`metnos.request.acts`), and then every effect is asked about, whatever was allowed beforehand."""
    reading: dict[str, int] = {}
    """What that reading cost beside the plan: `reading_calls`, `reading_tokens_in`, `reading_tokens_out`."""

    def __post_init__(self) -> None:
        """As for `Declined`."""
        super().__post_init__()
        if not set(self.acts) <= set(ACTS):
            raise TypeError(f"acts are of {', '.join(ACTS)}, not {self.acts!r}")
        if not isinstance(self.unsure, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"unsure is True or False, not {type(self.unsure).__name__}")


class Declined(_Told, frozen=True, kw_only=True):
    """No plan, and why: what a proposer may return where it would have to guess. The turn ends `not_understood`.

    Raises:
        TypeError: `code` is none of the two, `about` or `model` no text, or a number no integer.
        ValueError: A number is negative or beyond 2^53 - 1.
    """

    code: Literal["out-of-scope", "too-vague"] = "out-of-scope"
    """`out-of-scope`: no tool does this; `too-vague`: one might, and the request does not say enough."""
    about: str = ""
    """The part of the request that it is about; empty: all of it."""
    model: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    calls: int = 1
    reading: dict[str, int] = {}
    """As for `Proposal`."""

    def __post_init__(self) -> None:
        """As for `Proposal`."""
        super().__post_init__()
        if self.code not in DECLINING or not isinstance(self.about, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"code is one of {', '.join(DECLINING)}, and about is text")
