"""A recorded run as every importer hands it on, and what an import tells of itself. Pure data.

Law: one trajectory is one `Recorded`; what somebody said and what an agent did stand in it in their order, nothing
merged and nothing guessed. What a form holds and this has no place for is counted by its reason (`Notes`), never lost in
silence; what cannot be read at all is a `ReadFault` with its file and line.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Literal, TypeAlias

import msgspec

from metnos.plan.jsondata import is_object

MAX_FAULTS = 100
"""That are told one by one."""
Ended = Literal["answered", "ended", "cut"]
"""`answered`: by what the agent said last; `ended`: the data set says that it was over there; `cut`: nobody knows more."""


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """One call of a tool."""

    name: str
    """As the tool calls itself."""
    arguments: dict[str, Any]
    id: str = ""
    recorded: bool = False
    """Whether the log has what came of it."""
    result: Any = None
    is_text: bool = False
    """Whether `result` is the text that a model was shown, and not data."""
    error: str | None = None
    """Message of a tool that failed; `result` is then nothing."""
    code: str = "tool-error"
    started: int = 0
    ended: int = 0
    """µs since 1970 UTC; 0: the log has no clock."""


class Act(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent did in one go: said something, called tools side by side, or both."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    usage: dict[str, int] = {}
    """`tokens_in`, `tokens_out`, `cost_micros` … where the log counts."""
    model: str = ""
    at: int = 0


class Heard(msgspec.Struct, frozen=True, kw_only=True):
    """What a person said to it."""

    text: str
    at: int = 0


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """A whole plan as a data set writes it: calls that refer to each other. There are no observations of it."""

    plan: dict[str, Any]
    """As a plan file; tools under the names of contracts."""
    usage: dict[str, int] = {}
    model: str = ""


Moment: TypeAlias = Act | Heard | Written


class Recorded(msgspec.Struct, frozen=True, kw_only=True):
    """One run."""

    key: str
    """Of the run, the same at every import of the same source; it becomes the turn's id."""
    request: str
    moments: tuple[Moment, ...]
    end: Ended = "cut"
    at: int = 0
    now: str = ""
    """ISO 8601 with offset; empty: of `at`."""
    labels: dict[str, Any] = {}
    """What the data set says of the run and the run itself could not know: `collections` keeps it beside the turn."""


class Notes:
    """What an importer counts while it reads."""

    def __init__(self) -> None:
        self.dropped: Counter[str] = Counter()
        """Reason → how often something of the source was left out, or written in another way, for it."""
        self.faults: list[ReadFault] = []
        """The first of the runs (or lines) that could not be read; the import goes on behind them."""
        self.unread = 0
        self.tools: dict[str, list[dict[str, Any]]] = {}
        """Name of a tool → its descriptions, as `contracts.foreign` reads them; several make one that takes either."""

    def drop(self, reason: str, times: int = 1) -> None:
        """Count something that is left out."""
        self.dropped[reason] += times

    def fault(self, fault: ReadFault) -> None:
        """Count something that cannot be read, and keep it if it is among the first."""
        self.unread += 1
        if len(self.faults) < MAX_FAULTS:
            self.faults.append(fault)

    def describe(self, described: Any) -> None:
        """Take the description of a tool: a table with its `name`, or one wrapped as `{"function": …}`."""
        inner = described.get("function") if is_object(described) else None
        table: Any = inner if is_object(inner) else described
        name = table.get("name") if is_object(table) else None
        if not isinstance(name, str) or not name:
            self.drop("description of a tool that cannot be read")
        elif table not in (known := self.tools.setdefault(name, [])):
            known.append(table)


class ReadFault(Exception):
    """A source, or one run in it, that is not of its form.

    Args:
        where: `file:line`, and behind it the place in the record (a JSON pointer) where one can be named.
        found: What is there.
        expected: What the form wants.
        hint: How to mend it.
        code: Of `plan.codes`.
    """

    def __init__(self, where: str, found: str, expected: str, hint: str = "", code: str = "import-form") -> None:
        super().__init__(f"{where}: found {found}, expected {expected}")
        self.code = code
        self.where = where
        self.found = found
        self.expected = expected
        self.hint = hint
        self.message = f"found {found}, expected {expected}"


class ImportReport(msgspec.Struct, frozen=True, kw_only=True):
    """What came of one import; `metnos.import/1`."""

    form: str
    source: str
    to: str = ""
    turns: int = 0
    calls: int = 0
    repeated_calls: int = 0
    """The same tool with the same arguments again, in one turn."""
    plans: int = 0
    tools: int = 0
    outcomes: dict[str, int] = {}
    causes: dict[str, int] = {}
    """First cause of failure (`measures.TurnFigures.cause`) → turns that did not succeed by their outcome."""
    failures: dict[str, int] = {}
    """Code of a failed step → steps."""
    rejected: dict[str, int] = {}
    """Code of a diagnostic that rejected a plan → plans."""
    dropped: dict[str, int] = {}
    rewards: dict[str, int] = {}
    """Reward as the data set writes it → turns; empty where it judges nothing."""
    faults: tuple[dict[str, str], ...] = ()
    """Each `{code, where, found, expected, hint}`; the first hundred."""
    unread: int = 0
    """How many runs or lines could not be read."""


__all__ = [
    "Act",
    "Call",
    "Ended",
    "Heard",
    "ImportReport",
    "Moment",
    "Notes",
    "ReadFault",
    "Recorded",
    "Written",
]
