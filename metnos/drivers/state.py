"""One turn under way, as its driver holds it: the machine, the writer, the ports, and what is open.

Law: `feed` is the one way in: the machine reacts, the log takes input and facts, the commands are queued. What is done
about a command stands in the files beside this one; nothing here decides.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from metnos.drivers.durability import asks, is_intent, must_commit
from metnos.drivers.ports import Answer, Approve, Boundary, Clock, Progress, Proposer, no_boundary, no_progress
from metnos.policy.model import Allow, Deny
from metnos.sdk import Failure
from metnos.turn import commands as c
from metnos.turn import facts as f
from metnos.turn import inputs as i

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Iterable

    from metnos.cache.model import Miss
    from metnos.contracts.catalog import Catalog
    from metnos.contracts.model import Contract
    from metnos.drivers.ports import Question
    from metnos.execute.runner import Grant, Runners
    from metnos.propose.models.ports import Stop
    from metnos.record.store import Head, TurnWriter
    from metnos.turn.rules import Reaction
    from metnos.turn.state import TurnState
    from metnos.turn.turn import Machine


class Ports(msgspec.Struct, frozen=True, kw_only=True):
    """The edges of the world, as one turn is driven with them."""

    catalog: Any
    runners: Any
    clock: Clock
    remembering: Any
    compose: Any
    candidates: Any
    """`candidates()`: what a proposer may choose from."""
    proposer: Proposer | None = None
    models: Callable[[], Any] | None = None
    """The models of the home, opened when they are first asked for; None: there are none."""
    wording: str = "plain"
    """`plain`, or `model`: a model may word an answer."""
    limits: tuple[float, float | None] = (300.0, None)
    """Seconds that one call of a model of the home may take, and may give no token."""
    approve: Approve | None = None
    answer: Answer | None = None
    boundary: Boundary = no_boundary
    progress: Progress = no_progress


class TurnUnderWay:
    """Fields and `feed`; `LiveTurn` adds the loops."""

    def __init__(self, machine: Machine, writer: TurnWriter, ports: Ports, grant: Grant) -> None:
        self.machine = machine
        self.writer = writer
        self.ports = ports
        self.grant = grant
        self.catalog: Catalog = ports.catalog
        self.runners: Runners = ports.runners
        self.remembering: Any = ports.remembering
        """What this turn has to do with the plan cache (`drivers.learning`)."""
        self.compose: Callable[[c.Compose, TurnState], str] = ports.compose
        self.clock = ports.clock
        self.queue: deque[c.AnyCommand] = deque()
        self.launch: list[c.StartStep] = []
        """Steps that need an event loop and have not been started."""
        self.probes: list[c.ProbeEffect] = []
        """Operations that were cut off, to be looked for; that needs an event loop too."""
        self.waits: list[c.SetTimer] = []
        """Timers that no task waits for yet; that needs an event loop too."""
        self.timers: dict[str, asyncio.Future[None]] = {}
        self.pending: list[tuple[Question, Awaitable[Any]]] = []
        """Answers of ports that must be awaited."""
        self.effects: set[str] = set()
        """Steps that were asked for and have an effect."""
        self._contracts: dict[str, Contract] = {}
        self.tasks: dict[str, asyncio.Future[Any]] = {}
        self.on_loop = False
        self.shares_loop = False
        """Whether others wait on the loop that it is driven on: then nothing of the host's may hold it."""
        self.suspended = False
        self.head: Head | None = None
        """Set when the turn is closed or suspended."""
        self.forecast: list[f.PolicyDecided] = []
        """Forecast verdicts that would ask or deny."""
        self.denied = ""
        """Step that policy denied."""
        self.origins: dict[str, str] = {}
        """Origins of the literals of the plan that was served."""
        self.miss: Miss | None = None
        """Why no known plan served."""
        self.served: dict[str, Any] = {}
        """The learned plan that was found, as it was served; empty: none was."""
        self.usage: dict[str, int] = {"planning_calls": 0}
        self.tell: Callable[[i.AnyInput, Reaction, TurnState], None] | None = None
        """Told of every input and what came of it, once the log has taken it."""
        self.model = ""
        """That wrote the last plan, as its proposer names it."""
        self.planning_us = 0
        """Time that proposals took, by the turn's clock."""
        self.asked_at = 0
        """When the proposer was asked last."""
        self.stops: list[Stop] = []
        """Of calls of models: cancelled with the turn."""
        self.ending = False
        """Somebody has asked for the turn to end."""

    def feed(self, item: i.AnyInput) -> None:
        """Report one input."""
        reaction = self.machine.receive(item)
        commands = reaction.commands
        if self.effects:
            intent = is_intent(item, self.effects)
            durable = intent or must_commit(item, commands, self.effects, self._others_run)
            self.writer.append(item, reaction, durable=durable, anchor=intent)
        else:  # nothing but a question to a person can have to be on disk
            self.writer.append(item, reaction, durable=asks(commands))
        if reaction.facts:
            self._note(reaction)
        if self.tell is not None:
            self.tell(item, reaction, self.machine.state)
        if commands:
            self.queue.extend(commands)

    def _note(self, reaction: Reaction) -> None:
        for fact in reaction.facts:
            if isinstance(fact, f.PolicyDecided):
                if fact.forecast and not isinstance(fact.verdict, Allow):
                    self.forecast.append(fact)
                if isinstance(fact.verdict, Deny):
                    self.denied = self.denied or fact.step
            elif isinstance(fact, f.TurnSuspended):
                self.suspended = True

    def _others_run(self, step: str) -> bool:
        return bool(self.launch or self.timers or self.waits) or any(key != step for key in self.tasks)

    def contract(self, reference: str) -> Contract:
        """The contract of `name@version`; the machine names only tools that the catalog has."""
        known = self._contracts.get(reference)
        if known is None:
            known = self.catalog.get(reference.rpartition("@")[0])
            assert known is not None
            self._contracts[reference] = known
        return known

    def adopt(self, commands: Iterable[c.AnyCommand]) -> None:
        """After a resume: what folding the log gave, so that a later `StepStarted` is known for what it is."""
        for command in commands:
            if isinstance(command, c.StartStep) and command.effect != "read":
                self.effects.add(command.step)

    def stop(self, most_s: float = float("inf")) -> Stop:
        """For one call of a model: it ends with the turn, and in time."""
        from metnos.propose.models.ports import Stop

        whole, idle = self.ports.limits
        made = Stop(deadline_s=min(whole, most_s), idle_s=idle)
        self.stops.append(made)
        if self.ending:
            made.cancel()
        return made

    def count(self, usage: dict[str, int]) -> None:
        """Add what a model's answer cost."""
        for name, number in usage.items():
            self.usage[name] = self.usage.get(name, 0) + number

    def command_failed(self, command: c.AnyCommand, error: Failure) -> None:
        """Report that a command could not be carried out."""
        ref = getattr(command, "name", "") or getattr(command, "step", "")
        self.feed(i.CommandFailed(at=self.clock(), command=command.kind, error=error, ref=ref))
