"""What drift is told in: one `Finding` a place, and a `Drift` that counts them for any number of turns.

Law: data only. A `Drift` holds groups, not turns: its size depends on how many different things have changed, and two of
them merge exactly, in any split and any order of the turns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

import msgspec

if TYPE_CHECKING:
    from collections.abc import Mapping

FORM: Final = "metnos.drift/1"
NAMED: Final = 20
"""Places that a group names; all of them are counted."""

Kind: TypeAlias = Literal[
    "tool-gone",
    "tool-version",
    "contract-changed",
    "argument-gone",
    "argument-required",
    "argument-type",
    "argument-value",
    "field-gone",
    "field-missing",
    "field-type",
    "field-value",
    "reference-broken",
    "arguments-differ",
    "effect-changed",
    "verdict-changed",
    "plan-refused",
    "plan-differs",
    "log-broken",
]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
"""From the cause to what follows from it; the text `drift.KIND` says what each means."""


class Finding(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something that is not as it was, in one step of one turn."""

    kind: Kind
    turn: str
    step: str = ""
    """`plan.step`, or `plan.step.item`; the number of the plan alone where no step can be named."""
    tool: str = ""
    field: str = ""
    """JSON pointer into the arguments or the result; `*` stands for the place in a list."""
    recorded: str = ""
    """A version, type, class, verdict or value, in a few words; whatever the recording says."""
    now: str = ""
    candidates: tuple[str, ...] = ()
    """Names of today that could be meant, the likeliest first."""
    code: str = ""
    """Of the diagnostic or failure, where there is one."""
    count: int = 1
    """Times within the step: entries of a list that lack a field."""


Key: TypeAlias = tuple[str, str, str, str, str, str]


class Group(msgspec.Struct, kw_only=True):
    """One thing that has changed, wherever it shows."""

    kind: Kind
    tool: str = ""
    field: str = ""
    recorded: str = ""
    now: str = ""
    code: str = ""
    candidates: list[str] = []
    turns: int = 0
    steps: int = 0
    count: int = 0
    """Places in all: entries of results are counted one by one."""
    places: list[tuple[str, str]] = []
    """(turn, step) of the first `NAMED`, in the order of their ids."""

    @property
    def what(self) -> str:
        """In a few words."""
        change = " → ".join(filter(None, (self.recorded, self.now)))
        return " ".join(filter(None, (self.tool, self.field, f"({change})" if change else "")))


class CacheEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A learned plan or a template that depends on a tool that has changed, or that is not served any more."""

    entry: str
    layer: str
    state: str
    """`valid`, or the reason why it is not served now."""
    tools: tuple[str, ...]
    """Of those that it calls: the changed ones; all of them if it is something else that keeps it from being served."""
    form: str = ""
    turns: tuple[str, ...] = ()
    """That it was learned in."""


class Drift(msgspec.Struct, kw_only=True):
    """Of a collection of turns."""

    form: str = FORM
    turns: int = 0
    drifted: int = 0
    """Turns with at least one finding."""
    steps: int = 0
    """Recorded results that were looked at."""
    unread: dict[str, int] = {}
    """Code → things of the collection that are no turn."""
    groups: list[Group] = []
    cache: list[CacheEntry] = []

    @property
    def whole(self) -> bool:
        """Whether everything is as it was."""
        return not self.groups and not self.unread

    @property
    def tools(self) -> tuple[str, ...]:
        """Tools that have changed, sorted."""
        return tuple(sorted({one.tool for one in self.groups if one.tool}))


class Gathering:
    """Counts findings turn by turn."""

    def __init__(self) -> None:
        self._groups: dict[Key, Group] = {}
        self._ranks: dict[Key, dict[str, int]] = {}
        """Candidate → the best place that it had among others."""
        self._drift = Drift()

    def add(self, findings: tuple[Finding, ...], steps: int) -> None:
        """Take in one turn.

        Args:
            findings: All of this turn.
            steps: Recorded results that were looked at.
        """
        self._drift.turns += 1
        self._drift.drifted += bool(findings)
        self._drift.steps += steps
        seen: set[Key] = set()
        for one in findings:
            key = (one.kind, one.tool, one.field, one.recorded, one.now, one.code)
            group = self._groups.get(key)
            if group is None:
                group = self._groups[key] = Group(
                    kind=one.kind, tool=one.tool, field=one.field, recorded=one.recorded, now=one.now, code=one.code
                )
            group.turns += key not in seen
            group.steps += 1
            group.count += one.count
            _name(group, [(one.turn, one.step)])
            self._rank(key, {name: place for place, name in enumerate(one.candidates)})
            seen.add(key)

    def unread(self, code: str) -> None:
        """Take in something that is no turn."""
        self._drift.unread[code] = self._drift.unread.get(code, 0) + 1

    def merge(self, other: Gathering) -> None:
        """Take in what another one counted."""
        mine, theirs = self._drift, other._drift
        mine.turns += theirs.turns
        mine.drifted += theirs.drifted
        mine.steps += theirs.steps
        for code, count in theirs.unread.items():
            mine.unread[code] = mine.unread.get(code, 0) + count
        for key, group in other._groups.items():
            known = self._groups.get(key)
            if known is None:
                self._groups[key] = group
                continue
            known.turns += group.turns
            known.steps += group.steps
            known.count += group.count
            _name(known, group.places)
        for key, ranks in other._ranks.items():
            self._rank(key, ranks)

    def _rank(self, key: Key, ranks: Mapping[str, int]) -> None:
        known = self._ranks.setdefault(key, {})
        for name, place in ranks.items():
            known[name] = min(place, known.get(name, place))

    def drift(self) -> Drift:
        """What was found so far: most turns first, then by kind and place."""
        for key, group in self._groups.items():
            ranks = self._ranks.get(key, {})
            group.candidates = sorted(ranks, key=lambda name: (ranks[name], name))
        groups = sorted(self._groups.values(), key=lambda one: (-one.turns, KINDS.index(one.kind), *_words(one)))
        return msgspec.structs.replace(self._drift, groups=groups)


def _name(group: Group, places: list[tuple[str, str]]) -> None:
    """Put further places in, and keep the first ones."""
    if len(group.places) < NAMED or min(places) < group.places[-1]:
        group.places = sorted([*group.places, *places])[:NAMED]


def _words(group: Group) -> tuple[str, ...]:
    return group.tool, group.field, group.recorded, group.now, group.code
