"""A report, `metnos.report/1`: counts, distributions, and as many turns as it may name. Data only.

Law: what a report holds of a record is text that somebody else wrote. It is kept as it is but for what drives a terminal
or turns the direction of a line, which is spelled out (`shown`); whoever writes it somewhere escapes it there.
"""

from __future__ import annotations

import unicodedata
from typing import Any, Final, Literal

import msgspec

FORM: Final = "metnos.report/1"
NOTHING: Final = "—"
"""Stands for the tool that the other side does not call."""
_TURNING: Final = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_CONTROL: Final = frozenset({"Cc", "Cs"})


def shown(text: str, most: int) -> str:
    """At most `most` characters of a text, with every control character but line ends and tabs spelled out."""
    short = text if len(text) <= most else f"{text[: most - 1]}…"
    if short.isprintable():
        return short
    return "".join(
        f"\\u{ord(one):04x}"
        if one in _TURNING or (one not in "\n\t" and unicodedata.category(one) in _CONTROL)
        else one
        for one in short
    )


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """A plan as it is shown: in lines, and as a graph."""

    lines: tuple[str, ...]
    nodes: tuple[tuple[str, str], ...]
    """(label, effect class) of the steps in order, then of what they refer to outside the plan, then of its end."""
    edges: tuple[tuple[int, int, str, str], ...]
    """(from, to, kind, label), by the place in `nodes`."""


class Part(msgspec.Struct, frozen=True, array_like=True):
    """A part of two plans beside each other, by numbers of lines: from, to before."""

    tag: Literal["=", "!"]
    """Equal, or other."""
    recorded_from: int
    recorded_to: int
    now_from: int
    now_to: int


class StepRow(msgspec.Struct, frozen=True, array_like=True, omit_defaults=True):
    """One step or item."""

    step: str
    tool: str
    took_us: int = 0
    state: str = "done"
    why: str = ""


class TurnRow(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One turn that the report names."""

    turn: str
    request: str = ""
    outcome: str = ""
    cause: str = ""
    succeeded: bool = False
    source: str = ""
    latency_us: int = 0
    tokens: int = 0
    plan: str = ""
    """Key in `plans`; empty: there is none."""
    recorded_plan: str = ""
    """The same of the recorded turn, where it is another one."""
    recorded_outcome: str = ""
    """Where it is another one."""
    diverged: str = ""
    answer: str = ""
    steps: tuple[StepRow, ...] = ()
    labels: dict[str, str | int | float | bool] = {}


class Distribution(msgspec.Struct, frozen=True, kw_only=True):
    """How a figure is spread."""

    name: str
    """`latency_us` or `tokens`."""
    bins: tuple[tuple[int, int], ...]
    """(from, to before), in order and without a gap."""
    now: tuple[int, ...]
    recorded: tuple[int, ...] = ()
    """Of the recorded turns, where they are compared with."""
    p50: int = 0
    p95: int = 0


class Matrix(msgspec.Struct, frozen=True, kw_only=True):
    """Tools of the recorded turns (rows) against those of now (columns)."""

    tools: tuple[str, ...] = ()
    cells: tuple[tuple[int, ...], ...] = ()
    other: int = 0
    """Pairs with a tool that is not among them."""


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """Of a collection, or of an evaluation."""

    form: str = FORM
    title: str = ""
    facts: dict[str, str] = {}
    """Digests, places, versions: name → text."""
    turns: int = 0
    judged: int = 0
    """Turns of which it is known whether they succeeded: all, but where an evaluation went beyond what was recorded."""
    succeeded: int = 0
    low: float = 0.0
    high: float = 1.0
    """Interval of the share that succeeded."""
    compared: bool = False
    """Whether every turn was evaluated anew, and `recorded` says how it went then."""
    totals: dict[str, int] = {}
    recorded_totals: dict[str, int] = {}
    outcomes: dict[str, int] = {}
    recorded_outcomes: dict[str, int] = {}
    causes: dict[str, int] = {}
    funnel: tuple[tuple[str, int], ...] = ()
    """Stage → turns that came as far, from all of them on."""
    missed: dict[str, int] = {}
    """Why nothing that was known served → turns."""
    tools: dict[str, int] = {}
    """Calls that were started."""
    failed_tools: dict[str, int] = {}
    distributions: tuple[Distribution, ...] = ()
    matrix: Matrix = Matrix()
    regressions: tuple[dict[str, Any], ...] = ()
    """Of `metnos.eval/1`."""
    differences: tuple[dict[str, Any], ...] = ()
    unread: dict[str, int] = {}
    broken: dict[str, int] = {}
    """Code → turns that are counted, and whose log does not hold (chain, signed head, anchor): nothing proves them."""
    rows: tuple[TurnRow, ...] = ()
    plans: dict[str, Shape] = {}
    diffs: dict[str, tuple[Part, ...]] = {}
    """`RECORDED NOW` (keys of `plans`) → the parts of both."""
