"""The live driver: obeys one turn machine's commands through ports and reports what came of them.

Law: it holds no rule; what must be on disk before what is `drivers.durability`. `HANDLERS` is the whole of what it
obeys. `run_now` walks a turn without an event loop while every step runs in this thread; `run` does the rest on
asyncio. One driver drives one turn once; nothing here is shared between turns but the ports.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from metnos.drivers import people, planning, stepping
from metnos.drivers.state import Ports, TurnUnderWay
from metnos.turn import commands as c
from metnos.turn import inputs as i

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable

    from metnos.execute.runner import Grant
    from metnos.record.store import TurnWriter
    from metnos.turn.turn import Machine


class LiveTurn(TurnUnderWay):
    """One turn, driven to its close or to a suspension."""

    def __init__(self, machine: Machine, writer: TurnWriter, ports: Ports, grant: Grant) -> None:
        super().__init__(machine, writer, ports, grant)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._wake: asyncio.Event | None = None
        self._cancel_wanted = False
        self._cancel_told = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        """A turn that was neither closed nor suspended gives its claim up: it can be resumed from its log."""
        if self.head is None:
            self.writer.release()

    def run_now(self, *opening: i.AnyInput) -> bool:
        """Feed `opening` and go on as far as this thread alone can; False if an event loop is needed."""
        for item in opening:
            self.feed(item)
        self._drain()
        if self.launch or self.pending:
            return False
        self._finish_if_suspended()
        return True

    async def run(self, *opening: i.AnyInput) -> None:
        """Feed `opening` and drive to the close or to a suspension.

        Cancelling the awaiting task cancels the turn: running steps are stopped, the log is closed `cancelled`,
        then the cancellation goes on.
        """
        import asyncio

        self.on_loop = True
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

    # --- cancelling ----------------------------------------------------------------------------------------------

    def ask_cancel(self) -> None:
        """Ask the turn to end `cancelled`; safe from a signal handler, another thread, and more than once."""
        self._cancel_wanted = True
        if self._loop is not None and self._wake is not None:
            self._loop.call_soon_threadsafe(self._wake.set)

    def _cancel_if_asked(self) -> None:
        if self._cancel_wanted and not self._cancel_told and self.head is None:
            self._cancel_told = True
            self.suspended = False
            self.feed(i.Cancelled(at=self.clock(), by=self.grant.owner))

    # --- the loops -----------------------------------------------------------------------------------------------

    def _drain(self) -> None:
        if self._cancel_wanted:
            self._cancel_if_asked()
        queue = self.queue
        while queue:
            command = queue.popleft()
            HANDLERS[type(command)](self, command)
            if self._cancel_wanted:
                self._cancel_if_asked()

    async def _pump(self) -> None:
        import asyncio

        assert self._wake is not None
        while True:
            self._drain()
            self._launch_all()
            if self.queue:
                continue
            if self.head is not None or not self.tasks:
                return
            self._wake.clear()
            waker = asyncio.ensure_future(self._wake.wait())
            try:
                await asyncio.wait([*self.tasks.values(), waker], return_when=asyncio.FIRST_COMPLETED)
            finally:
                waker.cancel()
            self._reap()

    def _launch_all(self) -> None:
        import asyncio

        while self.launch:
            command = self.launch.pop(0)
            stepping.announce(self, command)
            self.tasks[command.step] = asyncio.ensure_future(self._step_task(command))
        for number, (command, awaited) in enumerate(self.pending):
            self.tasks[f"port.{len(self.tasks)}.{number}"] = asyncio.ensure_future(self._port_task(command, awaited))
        self.pending.clear()

    def _reap(self) -> None:
        """Forget finished tasks; one that raised is a bug, or a log that cannot be written, and says so here."""
        for key, task in list(self.tasks.items()):
            if task.done():
                del self.tasks[key]
                task.result()

    async def _step_task(self, command: c.StartStep) -> None:
        outcome = await self.runners.run(command, self.contract(command.executor), self.grant)
        stepping.report(self, command, outcome)

    async def _port_task(self, command: c.AnyCommand, awaited: Awaitable[Any]) -> None:
        try:
            value = await awaited
        except Exception as fault:  # noqa: BLE001 - the host's code: whatever it raises is its failure
            self.command_failed(command, planning.failure_of(fault))
            return
        if isinstance(command, c.AskApproval):
            people.answered(self, command, value)
        elif isinstance(command, c.Propose):
            planning.proposed(self, command, value)
        elif isinstance(command, c.OpenDialog):
            people.dialog_answered(self, command, value)

    # --- the end -------------------------------------------------------------------------------------------------

    def finish(self) -> None:
        """The log has ended: commit it, sign its head."""
        self.head = self.writer.finish("closed")
        self.ports.boundary("turn-finished")

    def _finish_if_suspended(self) -> None:
        if self.suspended and self.head is None:
            self.head = self.writer.finish("suspended")
            self.ports.boundary("turn-finished")


def _compose(turn: LiveTurn, command: c.Compose) -> None:
    text = turn.compose(command, turn.machine.state)
    turn.feed(i.AnswerComposed(at=turn.clock(), text=text))


def _learn(turn: LiveTurn, _command: c.Learn) -> None:
    turn.feed(i.Learned(at=turn.clock()))


def _close(turn: LiveTurn, _command: c.Close) -> None:
    turn.finish()


def _lapse(_turn: LiveTurn, _command: c.SetTimer) -> None:
    """Timers lapse at the close; an approval's expiry is checked against the time at which it is given."""


HANDLERS: dict[type[c.Command], Callable[[LiveTurn, Any], None]] = {
    c.LookUpPlan: planning.look_up,
    c.Propose: planning.propose,
    c.ResolveFiller: planning.without_model,
    c.Judge: planning.without_model,
    c.AskApproval: people.ask,
    c.OpenDialog: people.open_dialog,
    c.StartStep: stepping.start,
    c.StopStep: stepping.stop,
    c.ProbeEffect: stepping.probe,
    c.SetTimer: _lapse,
    c.Compose: _compose,
    c.Learn: _learn,
    c.Close: _close,
}
"""Command → what is done about it."""
