"""The live driver: obeys one turn machine's commands through ports and reports what came of them.

Law: it holds no rule; what must be on disk before what is `drivers.durability`. `HANDLERS` is the whole of what it
obeys. `run_now` walks a turn without an event loop while every step runs in this thread; `run` does the rest on
asyncio. One driver drives one turn once; nothing here is shared between turns but the ports.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from metnos.drivers import people, planning, stepping, writing
from metnos.drivers.asked import hear, outcome_of
from metnos.drivers.state import Ports, TurnUnderWay
from metnos.sdk import Failure
from metnos.turn import commands as c
from metnos.turn import inputs as i

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    from metnos.drivers.ports import Question
    from metnos.execute.runner import Grant
    from metnos.record.store import TurnWriter
    from metnos.turn.rules import Reaction
    from metnos.turn.state import TurnState
    from metnos.turn.turn import Machine


class LiveTurn(TurnUnderWay):
    """One turn, driven to its close or to a suspension."""

    def __init__(self, machine: Machine, writer: TurnWriter, ports: Ports, grant: Grant) -> None:
        super().__init__(machine, writer, ports, grant)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._wake: asyncio.Event | None = None
        self._read: asyncio.Event | None = None
        """Set while no event is unread; None: nobody watches."""
        self._cancel_told = False
        self._questions: dict[str, Question] = {}
        """Of the tasks, those that are an answer of the host's, and to what."""
        self._asked = 0

    def watch(self, tell: Callable[[i.AnyInput, Reaction, TurnState], None], read: asyncio.Event) -> None:
        """Tell of every input; while `read` is not set no command is obeyed, unless the turn is to end."""
        self.tell = tell
        self._read = read

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        """A turn that was neither closed nor suspended gives its claim up: it can be resumed from its log."""
        if self.head is None:
            self.writer.release()

    def run_now(self, *opening: i.AnyInput) -> bool:
        """Feed `opening` and go on as far as this thread alone can; False if an event loop is needed."""
        self._open(opening)
        self._drain()
        if self.launch or self.pending or self.probes or self.waits:
            return False
        self._finish_if_ended()
        return True

    async def run(self, *opening: i.AnyInput, alone: bool = False) -> None:
        """Feed `opening` and drive to the close or to a suspension; `alone`: nobody else waits on this loop.

        Cancelling the awaiting task cancels the turn: running steps are stopped, the log is closed `cancelled`,
        then the cancellation goes on.
        """
        import asyncio

        self.on_loop = True
        self.shares_loop = not alone
        self._loop = asyncio.get_running_loop()
        self._wake = asyncio.Event()
        self._open(opening)
        try:
            await self._pump()
        except asyncio.CancelledError:
            self.ask_cancel()
            await self._pump()
            raise
        finally:
            await self._abandon()
        self._finish_if_ended()

    def _open(self, opening: tuple[i.AnyInput, ...]) -> None:
        for item in opening:
            self.feed(item)
        if opening and type(opening[0]) is i.TurnOpened:
            self.ports.boundary("turn-opened")

    # --- cancelling ----------------------------------------------------------------------------------------------

    def ask_cancel(self) -> None:
        """Ask the turn to end `cancelled`; safe from a signal handler, another thread, and more than once."""
        self.ending = True
        for stop in list(self.stops):
            stop.cancel()
        if self._loop is not None and self._wake is not None:
            self._loop.call_soon_threadsafe(self._wake.set)

    def _cancel_if_asked(self) -> None:
        if self.ending and not self._cancel_told and not self.machine.state.closed:
            self._cancel_told = True
            self.suspended = False
            self.feed(i.Cancelled(at=self.clock(), by=self.grant.owner))

    # --- the loops -----------------------------------------------------------------------------------------------

    def _held(self) -> bool:
        """Whether a watcher has not yet read what it was told; a turn that is cancelled waits for nobody."""
        return self._read is not None and not self._read.is_set() and not self.ending

    def _drain(self) -> None:
        if self.ending:
            self._cancel_if_asked()
        queue = self.queue
        while queue and (self._read is None or not self._held()):
            command = queue.popleft()
            HANDLERS[type(command)](self, command)
            if self.ending:
                self._cancel_if_asked()

    async def _pump(self) -> None:
        import asyncio

        assert self._wake is not None
        while True:
            self._drain()
            if self._held():
                await self._until_read()
                continue
            self._launch_all()
            if self.queue or self.launch:
                continue
            if self.head is not None or not (self.tasks or self.timers):
                return
            self._wake.clear()
            waker = asyncio.ensure_future(self._wake.wait())
            open_now = [*self.tasks.values(), *self.timers.values(), waker]
            try:
                await asyncio.wait(open_now, return_when=asyncio.FIRST_COMPLETED)
            finally:
                waker.cancel()
            self._reap()

    async def _until_read(self) -> None:
        """Wait until what was told is read, or the turn is to end; what runs meanwhile reports by itself."""
        import asyncio

        assert self._read is not None
        assert self._wake is not None
        self._wake.clear()
        waiting = [asyncio.ensure_future(self._read.wait()), asyncio.ensure_future(self._wake.wait())]
        try:
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in waiting:
                one.cancel()
        self._reap()

    def _launch_all(self) -> None:
        import asyncio

        while self.launch and not self._held():
            command = self.launch.pop(0)
            stepping.announce(self, command)
            self.tasks[command.step] = asyncio.ensure_future(self._step_task(command))
        while self.probes:
            looking = self.probes.pop(0)
            self.tasks[looking.step] = asyncio.ensure_future(stepping.look(self, looking))
        self._set_timers()
        self._launch_answers()

    def _set_timers(self) -> None:
        """Begin to wait for new timers; those that nobody waits for any more lapse."""
        import asyncio

        wanted = self.machine.state.pausing
        for command in self.waits:
            self.timers[command.timer] = asyncio.ensure_future(stepping.wait(self, command))
        self.waits.clear()
        for name in [name for name, task in self.timers.items() if name not in wanted or task.done()]:
            task = self.timers.pop(name)
            if task.done() and not task.cancelled():
                task.result()
            task.cancel()

    def _launch_answers(self) -> None:
        import asyncio

        for command, awaited in self.pending:
            self._asked += 1
            key = f"answer.{self._asked}"
            self._questions[key] = command
            self.tasks[key] = asyncio.ensure_future(awaited)
        self.pending.clear()

    def _reap(self) -> None:
        """Hand on what the host answered; a step's task that raised is a bug, or a log that cannot be written."""
        for key, task in list(self.tasks.items()):
            if not task.done():
                continue
            del self.tasks[key]
            question = self._questions.pop(key, None)
            if question is None and task.cancelled():
                self._cut_off(key)
            elif question is None:
                task.result()
            else:
                hear(self, question, outcome_of(task))

    def _cut_off(self, step: str) -> None:
        """A step's task was cancelled by somebody else, as a loop does at its end: nobody knows what it did."""
        self.ask_cancel()
        self._cancel_if_asked()
        if step in self.machine.state.probing:
            self.feed(i.EffectProbed(at=self.clock(), step=step, found="unknown"))
        elif step in self.machine.state.calls:
            self.feed(i.StepStopped(at=self.clock(), step=step))

    async def _abandon(self) -> None:
        """End what outlives the turn: an answer that nobody waits for any more; steps only after a fault."""
        import asyncio

        self._launch_answers()
        begun = [*self.tasks.values(), *self.timers.values()]
        for task in begun:
            if not task.done():
                task.cancel()
        if begun:  # those that have ended too: what they raised is told once, by the first of them
            await asyncio.gather(*begun, return_exceptions=True)

    async def _step_task(self, command: c.StartStep) -> None:
        outcome = await self.runners.run(command, self.contract(command.executor), self.grant)
        stepping.report(self, command, outcome)

    # --- the end -------------------------------------------------------------------------------------------------

    def finish(self) -> None:
        """The log has ended: commit it, sign its head."""
        self.head = self.writer.finish("closed")
        self.ports.boundary("turn-finished")

    def _finish_if_ended(self) -> None:
        """Sign what has no head yet: a suspension, or a log that ended and was cut off before its head."""
        if self.head is None and self.machine.state.closed:
            self.finish()
        elif self.suspended and self.head is None:
            self.head = self.writer.finish("suspended")
            self.ports.boundary("turn-finished")


def _learn(turn: LiveTurn, command: c.Learn) -> None:
    if turn.machine.state.phase != "learning":
        return
    try:
        entries: tuple[str, ...] = turn.remembering.learn(turn)
    except Exception as fault:  # noqa: BLE001 - what was done is done; a plan that cannot be kept must not undo its record
        message = f"{type(fault).__name__}: {fault}"
        turn.command_failed(command, Failure(cls="internal", code="learn-failed", message=message))
        return
    turn.feed(i.Learned(at=turn.clock(), entries=entries))


def _close(turn: LiveTurn, _command: c.Close) -> None:
    turn.finish()


HANDLERS: dict[type[c.Command], Callable[[LiveTurn, Any], None]] = {
    c.LookUpPlan: planning.look_up,
    c.Propose: planning.propose,
    c.ResolveFiller: writing.fill,
    c.Judge: planning.without_model,
    c.AskApproval: people.ask,
    c.OpenDialog: people.open_dialog,
    c.StartStep: stepping.start,
    c.StopStep: stepping.stop,
    c.ProbeEffect: stepping.probe,
    c.SetTimer: stepping.set_timer,
    c.Compose: writing.compose,
    c.Learn: _learn,
    c.Close: _close,
}
"""Command → what is done about it."""
