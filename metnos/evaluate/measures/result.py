"""What an evaluation comes to, as plain values: `metnos.eval/1`, its rows, and what differs from another one.

Law: data only. A result names by digest everything that it depends on (the run, the turns, rules, catalog, policy), and
holds no clock but the time it took. Rows are kept beside it, one line a turn, so a result is small whatever it is of.
"""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec

from metnos.evaluate.collections.model import Fault
from metnos.evaluate.measures.figures import TurnFigures
from metnos.evaluate.measures.intervals import Interval
from metnos.evaluate.measures.passk import PassK
from metnos.evaluate.measures.sums import Sums

FORM: Final = "metnos.eval/1"
ROW_FORM: Final = "metnos.eval-row/1"
MOST_DRIFT: Final = 20
NAMED: Final = 20
"""Turns that a divergence or regression names; all of them are in the rows."""
AnswerMatch = Literal["", "same", "other", "unobserved"]
"""Whether the turn came to the recorded answer; empty: the recorded turn has none."""
Stopped = Literal["", "seconds", "tokens", "cost", "early", "interrupted"]


class PlanMatch(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One plan beside the recorded one. Steps are paired in order of their tools; edges are (producer, consumer) pairs."""

    exact: bool = False
    """The same canonical plan."""
    tools: bool = False
    """The same tools in the same order."""
    arguments: bool = False
    """And the same arguments, references by what they refer to."""
    edges_both: int = 0
    """References that both have."""
    edges_now: int = 0
    """References of the new plan."""
    edges_recorded: int = 0


class Drifted(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something of the catalog that is not as the turn knew it."""

    kind: str
    """Of `drifting.model.KINDS`."""
    step: str = ""
    tool: str = ""
    field: str = ""
    """JSON pointer into arguments or result."""
    now: str = ""
    """What is there instead, or what could be meant."""


class EvalRow(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One turn: as it was recorded, as it went now."""

    turn: str
    log: str = ""
    """Hash of its last record."""
    recorded: TurnFigures
    now: TurnFigures
    plan: dict[str, Any] | None = None
    """The last accepted plan; None: none was."""
    recorded_plan: dict[str, Any] | None = None
    """That of the recorded turn, where it is not the same."""
    refused_by: str = ""
    """Guard or `validator` that rejected the last plan, where none was accepted."""
    refused_codes: tuple[str, ...] = ()
    match: PlanMatch | None = None
    """None: one of the two has no plan."""
    answer: AnswerMatch = ""
    unobserved: str = ""
    """First step whose call was not recorded, `1.2`; empty: all were."""
    unobserved_call: str = ""
    """Its tool."""
    unanswered: str = ""
    """First thing that was asked for and is not in the record: `propose`, `approval`, `dialog`, `guess` (a plan that was to be
    seen before it began), `filler`, …"""
    diverged: str = ""
    """First cause of a difference from the recorded turn: a kind and what it is about; empty: none."""
    diverged_at: str = ""
    """Where: record, step or field."""
    drift: tuple[Drifted, ...] = ()
    """At most `MOST_DRIFT`; looked for where the catalog was swapped."""
    false_hit: bool = False
    """Something that was known served a plan other than the recorded right one."""
    fault: str = ""
    """Code of why the turn could not be evaluated at all."""
    detail: str = ""


class Matched(msgspec.Struct, kw_only=True):
    """Matches of many turns, counted exactly."""

    turns: int = 0
    faults: int = 0
    """Turns that could not be evaluated."""
    compared: int = 0
    """Turns with a plan on both sides."""
    exact: int = 0
    tools: int = 0
    arguments: int = 0
    edges_both: int = 0
    edges_now: int = 0
    edges_recorded: int = 0
    answers_same: int = 0
    answers_other: int = 0
    unobserved: int = 0
    unanswered: int = 0
    hits: int = 0
    """Turns that something known served."""
    hits_judged: int = 0
    """Of these: whose recorded turn was right, so that they can be judged."""
    false_hits: int = 0
    newly_valid: int = 0
    newly_refused: int = 0
    diverged: dict[str, int] = {}
    examples: dict[str, list[str]] = {}

    @property
    def edge_precision(self) -> float:
        """Of the new plans' references, which share the recorded ones have."""
        return _share(self.edges_both, self.edges_now)

    @property
    def edge_recall(self) -> float:
        """Of the recorded plans' references, which share the new ones have."""
        return _share(self.edges_both, self.edges_recorded)

    @property
    def edge_f1(self) -> float:
        """Harmonic mean of both."""
        return _share(2 * self.edges_both, self.edges_now + self.edges_recorded)

    def add(self, row: EvalRow) -> None:
        """Count one turn."""
        self.turns += 1
        self.faults += bool(row.fault)
        if row.match is not None:
            self.compared += 1
            for name in ("exact", "tools", "arguments", "edges_both", "edges_now", "edges_recorded"):
                setattr(self, name, getattr(self, name) + int(getattr(row.match, name)))
        self.answers_same += row.answer == "same"
        self.answers_other += row.answer == "other"
        self.unobserved += row.answer == "unobserved" or bool(row.unobserved)
        self.unanswered += bool(row.unanswered)
        hit = row.now.plan_source in HITS
        self.hits += hit
        self.hits_judged += hit and row.recorded.succeeded
        self.false_hits += row.false_hit
        self.newly_valid += bool(row.now.plans) and not row.recorded.plans
        self.newly_refused += bool(row.recorded.plans) and not row.now.plans
        if row.diverged:
            self.diverged[row.diverged] = self.diverged.get(row.diverged, 0) + 1
            self._example(row.diverged, row.turn)

    def merge(self, other: Matched) -> None:
        """Take in what another one counted."""
        for name in self.__struct_fields__:
            number = getattr(other, name)
            if isinstance(number, int):
                setattr(self, name, getattr(self, name) + number)
        for cause, number in other.diverged.items():
            self.diverged[cause] = self.diverged.get(cause, 0) + number
        for cause, turns in other.examples.items():
            for turn in turns:
                self._example(cause, turn)

    def _example(self, cause: str, turn: str) -> None:
        turns = self.examples.setdefault(cause, [])
        if turn not in turns:
            turns.append(turn)
            turns.sort()
            del turns[NAMED:]


HITS: Final = ("template", "cache", "command")
"""Sources of a plan that was known."""


class Meta(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a result depends on, and what it took."""

    run: str = ""
    """Digest of the run: its file and everything that it names."""
    name: str = ""
    turns: str = ""
    """Where they lie, as written in the run."""
    collection: str = ""
    """Digest of the turns that were taken."""
    metnos: str = ""
    rules: str = ""
    catalog: str = ""
    policy: str = ""
    prices: str = ""
    """Currency of `cost`."""
    seed: int = 0
    parts: dict[str, str] = {}
    """Part that was swapped → what for, in words; a part that is not here is as it was recorded or installed."""
    rows: str = ""
    """File of the rows, beside the result."""
    seconds: float = 0.0
    stopped: Stopped = ""
    """Which bound ended it before the last turn; empty: none did."""
    faults: dict[str, int] = {}
    """Things of the collection that could not be read → how many."""
    unread: tuple[Fault, ...] = ()
    """The first few of them."""


class Difference(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One measure, baseline and now, over the turns of both."""

    measure: str
    pairs: int
    before: float
    after: float
    low: float
    high: float
    """Interval of `after - before`."""
    better: Literal["up", "down", ""] = ""
    """In which direction it is better; empty: it is neither."""
    judgement: Literal["same", "better", "worse", "changed"] = "same"
    """`same` unless no difference can be ruled out."""


RegressionKind = Literal[
    "fault",
    "missing-turns",
    "drift",
    "newly-accepted",
    "newly-refused",
    "not-served",
    "false-hit",
    "failed",
    "answer",
    "measure",
]
"""In the order in which they are told."""


class Regression(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something that is worse than in the baseline, and in which turns."""

    kind: RegressionKind
    what: str
    """The measure, guard, miss reason, tool or field that it is about."""
    count: int
    turns: tuple[str, ...] = ()
    """At most `NAMED`."""
    detail: str = ""
    step: str = ""
    field: str = ""
    requests: tuple[str, ...] = ()
    """What was asked in these turns, for people."""
    ignored: bool = False
    """Told, and no reason to fail: the run says so."""


class EvalResult(msgspec.Struct, frozen=True, kw_only=True):
    """A whole evaluation."""

    form: str = FORM
    meta: Meta = Meta()
    now: Sums = msgspec.field(default_factory=Sums)
    recorded: Sums = msgspec.field(default_factory=Sums)
    """The same turns as they were recorded."""
    matched: Matched = msgspec.field(default_factory=Matched)
    success: Interval = Interval(0.0, 1.0)
    """Of the share of turns that succeeded."""
    pass_k: tuple[PassK, ...] = ()
    pass_k_recorded: tuple[PassK, ...] = ()
    baseline: str = ""
    """Run digest of what it was compared with; empty: nothing."""
    differences: tuple[Difference, ...] = ()
    regressions: tuple[Regression, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether nothing is worse than in the baseline; without one, whether there are turns, all read and believed."""
        if self.baseline:
            return all(one.ignored for one in self.regressions)
        return bool(self.matched.turns) and not (self.meta.faults or self.matched.faults)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
