"""A seeded driver for the turn machine: it crashes, delays, doubles and reorders, thousands of turns a second.

Law: no I/O, no clock, no randomness but the seed's. It keeps the promises of a real driver (`reliability.md`): an
effect's intent, its outcome, approvals and dialogs are durable before what depends on them; anything else may be
forgotten by a crash. It checks at every input what must always hold, and raises `Broken` if it does not:

- every command is closed once, by an input that may close it (`turn.table.CLOSES`);
- at the close nothing is open but what may lapse (`turn.table.LAPSES`);
- a doubled closing input is refused and changes nothing;
- nothing starts of a plan that is being shown to a person, or to which one has said no;
- folding the log again gives the same facts and the same commands (at every crash, and at the end).

    class Files:                                     # the outside, as far as the test needs it
        def perform(self, start): ...                # → StepFinished | StepFailed | StepStopped
        def probe(self, command): ...                # → EffectProbed

    run = Simulation(rules, opened, Files(), seed=7, faults=Faults(crash=0.1)).run()
    assert run.outcome == "success"

`run.events` tells, in order, what was asked, announced, performed and reported; a test looks there for overlaps.
"""

from __future__ import annotations

from itertools import islice
from random import Random
from typing import Final, TypeAlias

import msgspec
from msgspec import UNSET

from metnos.sdk import Failure
from metnos.testing.played import Ended, Event, Faults, Run, Script, World
from metnos.turn import commands as c
from metnos.turn import inputs as i
from metnos.turn.guess import GO_ON, NO, YES
from metnos.turn.rules import Reaction, Rules
from metnos.turn.table import CLOSES, LAPSES, ProtocolError
from metnos.turn.turn import Machine

Key: TypeAlias = "tuple[str, str]"
"""(tag of a command, its step, approval, dialog or filler)."""


class Broken(Exception):
    """The machine broke one of the rules above."""


class _Task:
    """One `StartStep` under way."""

    __slots__ = ("announced", "ended", "start", "stopping")

    def __init__(self, start: c.StartStep) -> None:
        self.start = start
        self.announced = False
        self.stopping = False
        self.ended: Ended | None = None


class Simulation:
    """One turn.

    Args:
        rules: The machine's rules.
        opened: The first input.
        world: The outside; survives crashes.
        seed: The same seed gives the same run.
        faults: What goes wrong.
        script: What everybody else answers.
        limit: Events after which the run counts as endless (`Broken`).
    """

    def __init__(
        self,
        rules: Rules,
        opened: i.TurnOpened,
        world: World,
        *,
        seed: int = 0,
        faults: Faults | None = None,
        script: Script | None = None,
        limit: int = 20_000,
    ) -> None:
        self._rules = rules
        self._world = world
        self._random = Random(seed)  # noqa: S311 - a simulation must repeat
        self._faults = faults or Faults()
        self._script = script or Script()
        self._limit = limit
        self._machine = Machine(rules)
        self._log: list[tuple[i.AnyInput, Reaction]] = []
        self._durable = 0
        self._open: dict[Key, c.AnyCommand] = {}
        self._tasks: dict[str, _Task] = {}
        self._asks: list[c.AnyCommand] = []
        self._events: list[Event] = []
        self._last: i.AnyInput | None = None
        self._close: c.Close | None = None
        self._proposed = 0
        self._crashes = 0
        self._cancelled = False
        self._opened = opened
        self._unseen: set[int] = set()
        """Plans that are being shown, or to which a person has said no."""

    def run(self) -> Run:
        """Drive the turn to its close, or until only people could go on and none does.

        Raises:
            Broken: A rule did not hold.
        """
        self._feed(self._opened)
        for _ in range(self._limit):
            if self._close is not None or not self._step():
                self._replay(self._log)
                return Run(
                    machine=self._machine,
                    events=tuple(self._events),
                    log=tuple(self._log),
                    close=self._close,
                    crashes=self._crashes,
                )
        raise Broken(f"no end after {self._limit} events")

    def _step(self) -> bool:
        faults = self._faults
        if self._happens(faults.crash):
            self._crash()
            return True
        if not self._cancelled and self._happens(faults.cancel):
            self._cancelled = True
            self._feed(i.Cancelled())
            return True
        answers = [(command, item) for command in self._asks if (item := self._answer(command)) is not None]
        count = len(self._tasks) + len(answers)
        if count == 0:
            return False
        number = 0 if faults.in_order else self._random.randrange(count)
        if number < len(self._tasks):
            self._go_on(next(islice(self._tasks.values(), number, None)))
        else:
            self._say(*answers[number - len(self._tasks)])
        if self._happens(faults.double):
            self._double()
        return True

    def _happens(self, chance: float) -> bool:
        return chance > 0 and self._random.random() < chance

    # --- one event ------------------------------------------------------------------------------------------------

    def _go_on(self, task: _Task) -> None:
        if task.ended is not None or (task.stopping and not task.announced):
            self._report(task)
        elif task.announced:
            self._perform(task)
        else:
            self._announce(task)

    def _announce(self, task: _Task) -> None:
        task.announced = True
        self._events.append(Event("announced", task.start.step, task.start))
        self._feed(i.StepStarted(step=task.start.step, operation=task.start.operation))
        if task.start.effect != "read":
            self._durable = len(self._log)

    def _perform(self, task: _Task) -> None:
        if task.stopping and self._happens(0.5):
            task.ended = i.StepStopped(step=task.start.step)
            return
        self._events.append(Event("performed", task.start.step, task.start))
        task.ended = self._world.perform(task.start)

    def _report(self, task: _Task) -> None:
        del self._tasks[task.start.step]
        self._events.append(Event("reported", task.start.step, task.start))
        self._feed(task.ended or i.StepStopped(step=task.start.step))
        if task.start.effect != "read":
            self._durable = len(self._log)

    def _say(self, command: c.AnyCommand, item: i.AnyInput) -> None:
        self._asks.remove(command)
        self._proposed += isinstance(item, i.PlanProposed)
        self._feed(item)

    def _answer(self, command: c.AnyCommand) -> i.AnyInput | None:
        if isinstance(command, c.AskApproval | c.OpenDialog):
            return self._person(command)
        match command:
            case c.LookUpPlan():
                if self._script.found is None:
                    return i.PlanMissed(reason="new")
                return i.PlanFound(plan=self._script.found, source="template", entry="simulated@sha256:0")
            case c.ProbeEffect():
                return self._world.probe(command)
            case c.Learn():
                return i.Learned()
            case c.SetTimer(timer=timer):
                return i.TimerFired(timer=timer)
            case _:
                return self._model(command)

    def _person(self, command: c.AskApproval | c.OpenDialog) -> i.AnyInput | None:
        script = self._script
        if isinstance(command, c.OpenDialog) and command.guess is not UNSET:
            if script.agrees is None:
                return None
            return i.DialogAnswered(
                dialog=command.dialog, answers={GO_ON: YES if self._happens(script.agrees) else NO}, by="local"
            )
        if isinstance(command, c.OpenDialog):
            return None if script.answers is None else i.DialogAnswered(dialog=command.dialog, answers=script.answers)
        if script.approve is None:
            return None
        if script.approve:
            return i.ApprovalGiven(approval=command.approval, digest=command.digest)
        return i.ApprovalRefused(approval=command.approval)

    def _model(self, command: c.AnyCommand) -> i.AnyInput:
        script = self._script
        match command:
            case c.Compose(show=show):
                return i.AnswerComposed(text=",".join(show))
            case c.Propose() if self._proposed < len(script.proposals):
                unsure = self._happens(script.unsure) or UNSET
                return i.PlanProposed(plan=script.proposals[self._proposed], unsure=unsure)
            case c.ResolveFiller(name=name) if name in script.fillers:
                return i.FillerResolved(name=name, value=script.fillers[name])
            case c.Propose() | c.ResolveFiller():
                return _failed(*_key(command))
            case _:
                raise Broken(f"nobody answers {command}")

    # --- input and output ----------------------------------------------------------------------------------------

    def _feed(self, item: i.AnyInput) -> None:
        item = msgspec.structs.replace(item, at=(len(self._log) + 1) * 1_000)
        self._closes(item)
        reaction = self._machine.receive(item)
        self._log.append((item, reaction))
        self._note_seen(item, reaction)
        if not isinstance(item, i.TurnOpened | i.TurnResumed | i.StepStarted | i.Cancelled):
            self._last = item
        for command in reaction.commands:
            self._obey(command)

    def _note_seen(self, item: i.AnyInput, reaction: Reaction) -> None:
        """Which plans nobody has agreed to; they are the last that was shown, one at a time."""
        if isinstance(item, i.DialogAnswered) and item.answers.get(GO_ON) == YES:
            self._unseen.clear()
        for command in reaction.commands:
            if isinstance(command, c.OpenDialog) and command.guess is not UNSET:
                self._unseen.add(command.guess.plan)

    def _obey(self, command: c.AnyCommand) -> None:
        if isinstance(command, c.Close):
            left = [key for key, other in self._open.items() if not isinstance(other, LAPSES)]
            if left:
                raise Broken(f"closed while {left} are open")
            self._close = command
            return
        self._open[_key(command)] = command
        if isinstance(command, c.StartStep):
            if command.step in self._tasks:
                raise Broken(f"step {command.step} starts while it runs")
            if int(command.step.partition(".")[0]) in self._unseen:
                raise Broken(f"step {command.step} starts before a person has said yes to its plan")
            self._events.append(Event("asked", command.step, command))
            self._tasks[command.step] = _Task(command)
        elif isinstance(command, c.StopStep):
            self._tasks[command.step].stopping = True
        else:
            self._asks.append(command)
            if isinstance(command, c.AskApproval | c.OpenDialog):
                self._durable = len(self._log)

    def _closes(self, item: i.AnyInput) -> None:
        """Take what `item` closes off the list of open commands."""
        keys = _closed_by(item)
        closed = [self._open.pop(key, None) for key in keys]
        if keys and not any(closed):
            raise Broken(f"{item} closes nothing")

    def _double(self) -> None:
        """Report the last closing input again, unless it would now answer another command of its kind."""
        if self._last is None or self._close is not None or any(key in self._open for key in _closed_by(self._last)):
            return
        self._events.append(Event("doubled"))
        before = _picture(self._machine)
        try:
            self._machine.receive(self._last)
        except ProtocolError:
            if _picture(self._machine) != before:
                raise Broken(f"a refused {self._last} changed the machine") from None
            return
        raise Broken(f"{self._last} was taken twice")

    # --- crash and replay ----------------------------------------------------------------------------------------

    def _crash(self) -> None:
        """Forget what was not durable; fold the rest; resume."""
        self._crashes += 1
        self._events.append(Event("crashed"))
        kept = self._random.randint(max(self._durable, 1), len(self._log))
        del self._log[kept:]
        self._machine = self._replay(self._log)
        self._open.clear()
        self._tasks.clear()
        self._asks.clear()
        self._unseen.clear()
        for item, reaction in self._log:
            self._note_seen(item, reaction)
        self._last = None
        self._proposed = sum(isinstance(item, i.PlanProposed) for item, _ in self._log)
        self._cancelled = any(isinstance(item, i.Cancelled) for item, _ in self._log)
        self._feed(i.TurnResumed())

    def _replay(self, log: list[tuple[i.AnyInput, Reaction]]) -> Machine:
        machine = Machine(self._rules)
        for number, (item, recorded) in enumerate(log):
            if machine.receive(item) != recorded:
                raise Broken(f"record {number}, {item}, gives another reaction when folded again")
        return machine


_NAMES: Final = ("approval", "dialog", "name", "step", "timer")


def _name(part: i.AnyInput | c.AnyCommand) -> str:
    return next((str(getattr(part, name)) for name in _NAMES if hasattr(part, name)), "")


def _key(command: c.AnyCommand) -> Key:
    return (str(command.__struct_config__.tag), _name(command))


def _closed_by(item: i.AnyInput) -> list[Key]:
    if isinstance(item, i.CommandFailed):
        return [(item.command, item.ref)]
    name = _name(item)
    return [(str(kind.__struct_config__.tag), name) for kind, by in CLOSES.items() if type(item) in by]


def _failed(command: str, ref: str) -> i.CommandFailed:
    error = Failure(cls="unavailable", code="no-model", message="nobody answers in this simulation")
    return i.CommandFailed(command=command, ref=ref, error=error)


def _picture(machine: Machine) -> tuple[object, ...]:
    """What can be seen of a machine from outside."""
    state = machine.state
    return (
        state.phase,
        state.at,
        state.outcome,
        tuple(state.open),
        tuple(state.approvals),
        tuple(state.calls),
        tuple(
            (run.key, run.state, run.left, run.missing, tuple(call.state for call in run.calls)) for run in state.steps
        ),
    )
