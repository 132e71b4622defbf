"""A case, `metnos.case/1`: what is asked, what was observed, and what must come of it.

Law: data only. What is not expected is not held against a turn: every field of `Expect` may be left out. A case holds the
whole recorded turn, byte for byte, so its observations can be verified like those of any log.
"""

from __future__ import annotations

from typing import Any, Final, Literal, TypeAlias

import msgspec

from metnos.evaluate.collections.turnlog import TurnLine

FORM: Final = "metnos.case/1"


class ExpectedStep(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One step of the plan."""

    tool: str
    args: dict[str, Any] | str | None = None
    """As the plan writes them, references and all; a text is the same as JSON (TOML has no null). None: any."""
    runs: Literal["done", "failed", "skipped", ""] = ""
    """What must become of it; empty: anything."""


class ExpectedEffect(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, rename={"cls": "class"}
):
    """One change that must be made."""

    cls: str
    target: str


class Expect(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What must come of it. None: not looked at."""

    outcome: str | None = None
    code: str | None = None
    """Of the end; empty: none."""
    tools: tuple[str, ...] | None = None
    """Tools that are called, in the order of the plan."""
    steps: tuple[ExpectedStep, ...] | None = None
    """The steps of the plan, in order, no more and no fewer."""
    effects: tuple[ExpectedEffect, ...] | None = None
    """Changes that must be made, in any order."""
    other_effects: bool = True
    """False: any change that is not in `effects` is a failure."""
    answer: str | None = None
    """The whole text of the answer."""


class Case(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One case."""

    form: str
    name: str
    request: str = ""
    """For people; the recorded turn says what is asked."""
    labels: dict[str, str | int | float | bool] = {}
    expect: Expect = Expect()
    record: TurnLine | None = None
    """The recorded turn, `metnos.turnlog/1`."""
    log: str = ""
    """Or the file that holds it in its only line, beside the case."""


What: TypeAlias = Literal["outcome", "code", "tools", "steps", "arguments", "effects", "other-effects", "answer"]


class Unmet(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One expectation that was not met."""

    what: What | Literal["unobserved", "unanswered", "broken"]
    """Besides the fields of `Expect`: the turn went where nothing was recorded, or its record does not hold."""
    expected: str = ""
    found: str = ""
    step: str = ""
