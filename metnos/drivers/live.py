"""The live driver: obeys one turn machine's commands through ports and reports what came of them.

Law: it holds no rule. Order of work, and why:

- an input is recorded before any command that followed from it is carried out;
- an effect's `StepStarted` is committed and its anchor synced *before* the runner is called (`anchor=True`);
- an approval or a dialog is committed before the person is asked;
- an effect's outcome is committed when it arrives, or with the close if nothing is left to run;
- reads are only appended: a crash may forget them, never an effect.

`run_now` walks a turn without an event loop while every step runs in this thread; `run` does the rest on asyncio.
One driver drives one turn once; nothing here is shared between turns but the ports.
"""

from __future__ import annotations

import inspect
from collections import deque
from typing import TYPE_CHECKING, Any, Protocol, Self

import msgspec

from metnos.cache.model import Match
from metnos.drivers.ports import (
    Answer,
    Approve,
    Boundary,
    Clock,
    Progress,
    Proposer,
    StepEvent,
    no_boundary,
    no_progress,
)
from metnos.policy.model import Allow
from metnos.sdk import Failure
from metnos.turn import commands as c
from metnos.turn import facts as f
from metnos.turn import inputs as i

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable, Iterable

    from metnos.cache.model import Miss
    from metnos.contracts.catalog import Catalog
    from metnos.execute.runner import Grant, Runners, StepOutcome
    from metnos.record.store import Head, TurnWriter
    from metnos.turn.turn import Machine

Closing = (c.Compose, c.Close, c.Learn)
"""Commands after which nothing is left to run."""


class Ports(msgspec.Struct, frozen=True, kw_only=True):
    """The edges of the world, for every turn of an engine."""

    catalog: Any
    runners: Any
    clock: Clock
    look_up: Any
    """(request text, language) → `Match | Miss`."""
    compose: Any
    """(Compose, machine state) → text."""
    proposer: Proposer | None = None
    approve: Approve | None = None
    answer: Answer | None = None
    boundary: Boundary = no_boundary
    progress: Progress = no_progress


class LookUp(Protocol):
    def __call__(self, request: str, language: str) -> Match | Miss: ...


class LiveTurn:
    """One turn under way."""

    def __init__(self, machine: Machine, writer: TurnWriter, ports: Ports, grant: Grant) -> None:
        self.machine = machine
        self.head: Head | None = None
        self.forecast: list[f.PolicyDecided] = []
        """Forecast verdicts that would ask."""
        self.origins: dict[str, str] = {}
        """Origins of the literals of the plan that was served."""
        self.miss: Miss | None = None
        """Why no known plan served."""
        self.usage: dict[str, int] = {"planning_calls": 0}
        self._writer = writer
        self._ports = ports
        self._grant = grant
        self._catalog: Catalog = ports.catalog
        self._runners: Runners = ports.runners
        self._queue: deque[c.AnyCommand] = deque()
        self._launch: list[c.StartStep] = []
        self._pending: list[tuple[c.AnyCommand, Awaitable[Any]]] = []
        self._started: dict[str, c.StartStep] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._wake: asyncio.Event | None = None
        self._on_loop = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._cancel_wanted = False
        self._cancel_told = False
        self._suspended = False
        self._handlers: dict[type[Any], Callable[[Any], None]] = {
            c.LookUpPlan: self._look_up,
            c.Propose: self._propose,
            c.StartStep: self._start,
            c.StopStep: self._stop,
            c.ProbeEffect: self._probe,
            c.AskApproval: self._ask,
            c.OpenDialog: self._open_dialog,
            c.Compose: self._compose,
            c.Close: self._close,
            c.ResolveFiller: self._without_model,
            c.Judge: self._without_model,
            c.Learn: self._learn,
            c.SetTimer: self._ignore,
        }

    # --- what the engine calls -------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        """A turn that was neither closed nor suspended gives its claim up: it can be resumed from its log."""
        if self.head is None:
            self._writer.release()

    def adopt(self, commands: Iterable[c.AnyCommand]) -> None:
        """After a resume: what folding the log gave, so that a later `StepStarted` is known for what it is."""
        for command in commands:
            if isinstance(command, c.StartStep):
                self._started[command.step] = command

    def run_now(self, *opening: i.AnyInput) -> bool:
        """Feed `opening` and go on as far as this thread alone can; False if an event loop is needed."""
        for item in opening:
            self.feed(item)
        self._drain()
        if self._launch or self._pending:
            return False
        self._finish_if_suspended()
        return True

    async def run(self, *opening: i.AnyInput) -> None:
        """Feed `opening` and drive to the close or to a suspension.

        Cancelling the awaiting task cancels the turn: running steps are stopped, the log is closed `cancelled`,
        then the cancellation goes on.
        """
        import asyncio

        self._on_loop = True
        self._loop = asyncio.get_running_loop()
        self._wake = asyncio.Event()
        for item in opening:
            self.feed(item)
        try:
            await self._pump()
        except asyncio.CancelledError:
            self.ask_cancel()
            await self._pump()
            raise
        self._finish_if_suspended()

    def ask_cancel(self) -> None:
        """Ask the turn to end `cancelled`; safe from a signal handler, another thread, and more than once."""
        self._cancel_wanted = True
        if self._loop is not None and self._wake is not None:
            self._loop.call_soon_threadsafe(self._wake.set)

    def _cancel_if_asked(self) -> None:
        if self._cancel_wanted and not self._cancel_told and self.head is None:
            self._cancel_told = True
            self._suspended = False
            self.feed(i.Cancelled(at=self._ports.clock(), by=self._grant.owner))

    def feed(self, item: i.AnyInput) -> None:
        """Report one input: the machine reacts, the log takes both, the commands are queued."""
        reaction = self.machine.receive(item)
        if isinstance(item, i.PlanProposed | i.FillerResolved):
            for name, count in item.usage.items():
                self.usage[name] = self.usage.get(name, 0) + count
        durable, anchor = self._durability(item, reaction.commands)
        self._writer.append(item, reaction, durable=durable, anchor=anchor)
        for fact in reaction.facts:
            if isinstance(fact, f.TurnSuspended):
                self._suspended = True
            elif isinstance(fact, f.PolicyDecided) and fact.forecast and not isinstance(fact.verdict, Allow):
                self.forecast.append(fact)
        self._queue.extend(reaction.commands)

    # --- what must be on disk, and when ----------------------------------------------------------------------

    def _durability(self, item: i.AnyInput, commands: tuple[c.AnyCommand, ...]) -> tuple[bool, bool]:
        if isinstance(item, i.StepStarted):
            effect = self._started[item.step].effect != "read"
            return effect, effect
        if any(isinstance(command, c.AskApproval | c.OpenDialog) for command in commands):
            return True, False
        if isinstance(item, i.StepFinished | i.StepFailed | i.StepStopped | i.EffectProbed):
            start = self._started.get(item.step)
            if start is None or start.effect == "read":
                return False, False
            closing = all(isinstance(command, Closing) for command in commands)
            return bool(self._others_running(item.step)) or not (closing and commands), False
        return False, False

    def _others_running(self, step: str) -> bool:
        return any(key != step for key in self._tasks) or bool(self._launch)

    # --- carrying out commands -------------------------------------------------------------------------------

    def _drain(self) -> None:
        self._cancel_if_asked()
        while self._queue:
            command = self._queue.popleft()
            self._handlers[type(command)](command)
            self._cancel_if_asked()

    async def _pump(self) -> None:
        import asyncio

        assert self._wake is not None
        while True:
            self._drain()
            self._launch_all()
            if self.head is not None:
                return
            if not self._tasks:
                if self._queue or self._launch:
                    continue
                return
            self._wake.clear()
            waker = asyncio.ensure_future(self._wake.wait())
            try:
                await asyncio.wait([*self._tasks.values(), waker], return_when=asyncio.FIRST_COMPLETED)
            finally:
                waker.cancel()
            self._reap()

    def _reap(self) -> None:
        """Forget finished tasks; a task that raised is a bug and says so here."""
        for key, task in list(self._tasks.items()):
            if task.done():
                del self._tasks[key]
                task.result()

    def _look_up(self, command: c.LookUpPlan) -> None:
        found = self._ports.look_up(command.request, command.language)
        at = self._ports.clock()
        if isinstance(found, Match):
            self.origins = found.origins
            self.feed(i.PlanFound(at=at, plan=found.plan, source="template", entry=found.entry, origins=found.origins))
        else:
            self.miss = found
            self.feed(i.PlanMissed(at=at, reason=found.reason, detail=found.detail))

    def _propose(self, command: c.Propose) -> None:
        if self._ports.proposer is None:
            self._without_model(command)
            return
        candidates = tuple(filter(None, (self._catalog.get(name) for name in self._catalog.names())))
        try:
            plan = self._ports.proposer(command, candidates)
        except Exception as fault:  # noqa: BLE001 - the host's code: whatever it raises is its failure
            self._command_failed(command, _fault_of(fault))
            return
        if inspect.isawaitable(plan):
            self._pending.append((command, plan))
        else:
            self._proposed(command, plan)

    def _proposed(self, _command: c.Propose, plan: dict[str, Any]) -> None:
        names = self._catalog.names()
        self.feed(i.PlanProposed(at=self._ports.clock(), plan=plan, candidates=names, usage={"planning_calls": 1}))

    def _without_model(self, command: c.AnyCommand) -> None:
        error = Failure(
            cls="unavailable",
            code="no-model",
            message="no model is configured",
            hint="ask in the words of `metnos examples`, or run a plan of your own with `metnos run FILE`",
        )
        self._command_failed(command, error)

    def _command_failed(self, command: c.AnyCommand, error: Failure) -> None:
        tag = command.__struct_config__.tag
        ref = getattr(command, "name", "") or getattr(command, "step", "")
        self.feed(i.CommandFailed(at=self._ports.clock(), command=str(tag), error=error, ref=ref))

    def _ask(self, command: c.AskApproval) -> None:
        self._ports.boundary("approval-committed")
        if self._ports.approve is None or command.approval not in self.machine.state.approvals:
            return
        said = self._ports.approve(command)
        if inspect.isawaitable(said):
            self._pending.append((command, said))
        else:
            self._answered(command, said)

    def _answered(self, command: c.AskApproval, said: bool | None) -> None:
        if said is None:
            return
        self._suspended = False
        at = self._ports.clock()
        by = self._grant.owner
        if said:
            self.feed(i.ApprovalGiven(at=at, approval=command.approval, digest=command.digest, by=by))
        else:
            self.feed(i.ApprovalRefused(at=at, approval=command.approval, by=by))

    def _open_dialog(self, command: c.OpenDialog) -> None:
        if self._ports.answer is None or self.machine.state.dialog is not command:
            return
        answers = self._ports.answer(command)
        if answers is None:
            return
        self._suspended = False
        self.feed(i.DialogAnswered(at=self._ports.clock(), dialog=command.dialog, answers=answers))

    def _start(self, command: c.StartStep) -> None:
        self._started[command.step] = command
        if self._runs_here(command):
            self._announce(command)
            contract = self._contract(command)
            self._report(command, self._runners.run_now(command, contract, self._grant))
        else:
            self._launch.append(command)

    def _runs_here(self, command: c.StartStep) -> bool:
        if command.placement == "inline":
            return True
        if command.placement != "host" or self._on_loop or self._tasks or self._launch:
            return False
        alone = not any(isinstance(other, c.StartStep) for other in self._queue)
        return alone and self._runners.is_synchronous(command, self._contract(command))

    def _contract(self, command: c.StartStep | c.ProbeEffect) -> Any:
        return self._catalog.get(command.executor.rpartition("@")[0])

    def _announce(self, command: c.StartStep) -> None:
        """The intent: recorded, and for an effect on disk, before the runner hears of it."""
        if command.effect != "read":
            self._ports.boundary("before-intent")
        started = i.StepStarted(
            at=self._ports.clock(), step=command.step, operation=command.operation, fence=self._grant.fence
        )
        self.feed(started)
        if command.effect != "read":
            self._ports.boundary("intent-committed")
        self._tell(command, "started")

    def _report(self, command: c.StartStep, outcome: StepOutcome) -> None:
        if command.effect != "read":
            self._ports.boundary("effect-done")
        item = outcome.to_input(command.step, self._ports.clock())
        self.feed(item)
        if command.effect != "read":
            self._ports.boundary("outcome-recorded")
        self._tell(command, {"step_finished": "done", "step_failed": "failed"}.get(_tag(item), "stopped"))

    def _tell(self, command: c.StartStep, state: str) -> None:
        if self._ports.progress is not no_progress:
            tool = command.executor.rpartition("@")[0]
            self._ports.progress(StepEvent(step=command.step, tool=tool, state=state))

    def _launch_all(self) -> None:
        import asyncio

        for command in self._launch:
            self._announce(command)
            self._tasks[command.step] = asyncio.ensure_future(self._step_task(command))
        self._launch.clear()
        for number, (command, awaited) in enumerate(self._pending):
            key = f"port.{len(self._tasks)}.{number}"
            self._tasks[key] = asyncio.ensure_future(self._port_task(command, awaited))
        self._pending.clear()

    async def _step_task(self, command: c.StartStep) -> None:
        outcome = await self._runners.run(command, self._contract(command), self._grant)
        self._tasks.pop(command.step, None)
        self._report(command, outcome)
        if self._wake is not None:
            self._wake.set()

    async def _port_task(self, command: c.AnyCommand, awaited: Awaitable[Any]) -> None:
        try:
            value = await awaited
        except Exception as fault:  # noqa: BLE001 - the host's code: whatever it raises is its failure
            self._command_failed(command, _fault_of(fault))
            return
        if isinstance(command, c.AskApproval):
            self._answered(command, value)
        elif isinstance(command, c.Propose):
            self._proposed(command, value)

    def _stop(self, command: c.StopStep) -> None:
        if command.step in self._tasks:
            self._runners.stop(self._grant.turn, command.step)
            return
        launching = [start for start in self._launch if start.step == command.step]
        for start in launching:
            self._launch.remove(start)
        self.feed(i.StepStopped(at=self._ports.clock(), step=command.step))

    def _probe(self, command: c.ProbeEffect) -> None:
        """No shipped executor has a probe yet: the honest answer is that nobody knows."""
        self.feed(i.EffectProbed(at=self._ports.clock(), step=command.step, found="unknown"))

    def _compose(self, command: c.Compose) -> None:
        text = self._ports.compose(command, self.machine.state)
        self.feed(i.AnswerComposed(at=self._ports.clock(), text=text))

    def _learn(self, _command: c.Learn) -> None:
        self.feed(i.Learned(at=self._ports.clock()))

    def _ignore(self, _command: c.AnyCommand) -> None:
        """Timers lapse at the close; an approval's expiry is checked against `at` when it is given."""

    def _close(self, _command: c.Close) -> None:
        self.head = self._writer.finish("closed")
        self._ports.boundary("turn-finished")

    def _finish_if_suspended(self) -> None:
        if self._suspended and self.head is None:
            self.head = self._writer.finish("suspended")
            self._ports.boundary("turn-finished")


def _tag(item: i.AnyInput) -> str:
    return str(item.__struct_config__.tag)


def _fault_of(fault: Exception) -> Failure:
    return Failure(cls="unavailable", code="proposer-failed", message=f"{type(fault).__name__}: {fault}")
