"""What a turn is simulated with (`metnos.testing.simulation`), and how it went.

Law: values only; who draws from the chances is the simulation.
"""

from __future__ import annotations

from typing import Any, Literal, Protocol, TypeAlias

import msgspec

from metnos.turn import commands as c
from metnos.turn import inputs as i
from metnos.turn.rules import Reaction
from metnos.turn.turn import Machine

Ended: TypeAlias = "i.StepFinished | i.StepFailed | i.StepStopped"


class World(Protocol):
    """What executors do. `perform` changes it, so it is called once for each time that a runner would run."""

    def perform(self, start: c.StartStep) -> Ended:
        """Run one call; `at` of the answer is set by the simulation."""
        ...

    def probe(self, command: c.ProbeEffect) -> i.EffectProbed:
        """Whether the effect of this operation is there, and if so what the call would have returned."""
        ...


class Faults(msgspec.Struct, frozen=True, kw_only=True):
    """Chances, 0 to 1, before each event."""

    crash: float = 0.0
    """The process dies; a new one folds what was durable, and some of what was not, and resumes."""
    double: float = 0.0
    """The last closing input is reported again."""
    cancel: float = 0.0
    """A person stops the turn (once)."""
    in_order: bool = False
    """Calls run one at a time, in the order in which they were asked for: nothing is delayed or reordered."""


class Script(msgspec.Struct, frozen=True, kw_only=True):
    """What look-up, the model and the people answer."""

    found: dict[str, Any] | None = None
    proposals: tuple[dict[str, Any], ...] = ()
    """One for each `Propose`; after the last, nobody can propose."""
    fillers: dict[str, Any] = {}
    """A filler that is not in it fails."""
    answers: dict[str, Any] | None = None
    """To a dialog; None: nobody answers, the turn stays suspended."""
    unsure: float = 0.0
    """Chance, 0 to 1, that a proposal is one of which its proposer is not sure."""
    agrees: float | None = 1.0
    """Chance that a person who is shown such a plan says yes; None: nobody answers."""
    approve: bool | None = True
    """None: nobody answers."""


class Event(msgspec.Struct, frozen=True):
    """Something that happened, in order."""

    kind: Literal["asked", "announced", "performed", "reported", "crashed", "doubled"]
    step: str = ""
    start: c.StartStep | None = None


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """How a simulated turn went."""

    machine: Machine
    events: tuple[Event, ...]
    log: tuple[tuple[i.AnyInput, Reaction], ...]
    close: c.Close | None
    """None: it is suspended."""
    crashes: int

    @property
    def outcome(self) -> str:
        """The outcome, or `suspended`."""
        return self.close.outcome if self.close is not None else "suspended"
