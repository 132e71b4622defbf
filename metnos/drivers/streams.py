"""A turn as a stream of its events: an async iterator, and its sync twin.

Law:

1. The turn begins, or is claimed, when the first event is asked for; a stream that is never read leaves no turn. One
   that cannot be begun raises there, and has no events.
2. Back-pressure: while an event is unread, no command is obeyed, so no step starts and nobody is asked. What runs
   already runs on, and its results are taken in; so a turn never runs further ahead than the steps that are under way.
3. Closing before the end (`aclose`, `close`, leaving `with`, the stream going away) cancels the turn. Giving up one
   `anext`, by a timeout for instance, loses nothing and cancels nothing.
4. The last event is `TurnEndedEvent` or `TurnBrokenEvent`; behind the latter the fault is raised, once.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self

from metnos.drivers import turns
from metnos.drivers.events import AnyEvent, Teller, TurnEndedEvent
from metnos.drivers.results import Refused
from metnos.drivers.telling import Told
from metnos.drivers.views import result_of
from metnos.turn.inputs import TurnOpened

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator
    from types import TracebackType

    from metnos.drivers.learning import Caching
    from metnos.drivers.live import LiveTurn
    from metnos.drivers.parts import Parts
    from metnos.drivers.ports import Approve
    from metnos.drivers.results import Refused, TurnResult
    from metnos.turn.inputs import AnyInput, TurnOpened

    Begun = tuple[LiveTurn, tuple[AnyInput, ...]]


class Buffer:
    """Events that were told and not read. The turn's side holds this, never the stream: so a stream can go away."""

    def __init__(self) -> None:
        self.events: deque[AnyEvent] = deque()
        self.told = asyncio.Event()
        self.read = asyncio.Event()
        self.read.set()
        self.ended = False
        self.result: TurnResult | None = None
        self.fault: BaseException | None = None

    def put(self, event: AnyEvent) -> None:
        """Told by the turn."""
        self.events.append(event)
        self.read.clear()
        self.told.set()

    def end(self) -> None:
        """Nothing more will be told."""
        self.ended = True
        self.told.set()

    async def take(self) -> AnyEvent | None:
        """The next event; None behind the last."""
        while not self.events:
            if self.ended:
                return None
            self.told.clear()
            if not self.events:
                await self.told.wait()
        event = self.events.popleft()
        if not self.events:
            self.read.set()
        return event


class TurnStream:
    """Events of one turn, in order. Iterate it once: `async for event in engine.stream(...)`.

    Use it in `async with` where the loop may be left early: the turn is then closed, cancelled, before the block is.
    It belongs to the event loop in which it is read first.
    """

    def __init__(self, parts: Parts, beginning: Callable[[], Begun] | Refused | Told) -> None:
        """`Engine.stream` and its like make one.

        Args:
            parts: Of the engine.
            beginning: Begins or claims the turn and gives its first inputs; or why there can be no turn.
        """
        self._parts = parts
        self._beginning = beginning
        self._buffer: Buffer | None = None
        self._task: asyncio.Task[None] | None = None
        self._closed = False
        self.alone = False
        """Whether the loop is this stream's own."""

    @property
    def result(self) -> TurnResult | None:
        """How the turn ended, once it has; also after `aclose`."""
        return self._buffer.result if self._buffer is not None else None

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> AnyEvent:
        """The next event.

        Raises:
            RuntimeError: It is read in another loop than before.
            RecordFault: The turn cannot be begun; or, behind `TurnBrokenEvent`, its log could not be written or the
                engine was closed.
            ResumeRefused: As for `resume`.
            NoSuchAnswer: As for `resume`.
        """
        if self._closed:
            raise StopAsyncIteration
        if self._task is not None and self._task.get_loop() is not asyncio.get_running_loop():
            raise RuntimeError("a stream belongs to the event loop in which it was read first")
        buffer = self._buffer or self._begin()
        event = await buffer.take()
        if event is not None:
            return event
        self._closed = True
        await self._gone()
        if buffer.fault is not None:
            raise buffer.fault
        raise StopAsyncIteration

    def _begin(self) -> Buffer:
        if isinstance(self._beginning, (Refused, Told)):
            buffer = self._buffer = Buffer()
            buffer.result = turns.result_without(self._parts, self._beginning)
            Teller(buffer.put).end(buffer.result)
            buffer.end()
            return buffer
        try:
            live, items = self._beginning()
        except BaseException:
            self._closed = True
            raise
        buffer = self._buffer = Buffer()
        teller = Teller(buffer.put, live.grant.turn)
        live.watch(teller.tell, buffer.read)
        self._task = asyncio.get_running_loop().create_task(
            _drive(turns.go_on(self._parts, live, items, alone=self.alone), live, buffer, teller)
        )
        return buffer

    async def aclose(self) -> None:
        """Cancel the turn if it has not ended, and wait for its end. Safe to repeat."""
        self._closed = True
        task = self._task
        if task is not None and not task.done():
            task.cancel()
        await self._gone()

    async def _gone(self) -> None:
        if self._task is not None:
            await asyncio.wait([self._task])

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def __del__(self) -> None:
        """A stream that nobody holds any more cancels its turn; who wants to wait for that closes it."""
        task = self._task
        if task is not None and not task.done():
            loop = task.get_loop()
            if not loop.is_closed():
                loop.call_soon_threadsafe(task.cancel)


async def _drive(going: Awaitable[TurnResult], live: LiveTurn, buffer: Buffer, teller: Teller) -> None:
    """The turn's own task: it ends the stream, whatever happens."""
    try:
        buffer.result = await going
        teller.end(buffer.result)
    except asyncio.CancelledError:
        if live.head is None:
            teller.break_off(asyncio.CancelledError("cancelled before it could be closed"))
        else:
            buffer.result = result_of(live)
            teller.end(buffer.result)
        raise
    except BaseException as fault:
        buffer.fault = fault
        teller.break_off(fault)
        if not isinstance(fault, Exception):
            raise
    finally:
        buffer.end()


def of_opened(
    parts: Parts, opened: TurnOpened | Refused | Told, approve: Approve | None, caching: Caching = "use"
) -> TurnStream:
    """The stream of a turn that is opened with `opened`."""
    if not isinstance(opened, TurnOpened):
        return TurnStream(parts, opened)
    return TurnStream(parts, lambda: (turns.begin(parts, opened, approve, caching), (opened,)))


class SyncStream:
    """`TurnStream` without an event loop of the caller's: the turn goes on only inside `next`.

    Between two events the turn stands still, but for steps that are under way in workers and threads. Use it in `with`
    where the loop may be left early.
    """

    def __init__(self, stream: TurnStream) -> None:
        self._stream = stream
        stream.alone = True
        self._runner: asyncio.Runner | None = None
        self._used = threading.Lock()

    @property
    def result(self) -> TurnResult | None:
        """How the turn ended, once it has; also after `close`."""
        return self._stream.result

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> AnyEvent:
        """The next event.

        Raises:
            RuntimeError: An event loop runs in this thread, or another thread uses the stream.
            RecordFault: As for `TurnStream`.
        """
        with self._alone():
            if self._runner is None:
                self._runner = asyncio.Runner()
            try:
                event = self._runner.run(_next(self._stream))
            except Exception:
                self._over()
                raise
            if event is None:
                self._over()
        if event is None:
            raise StopIteration
        return event

    @contextmanager
    def _alone(self) -> Generator[None]:
        """One thread at a time: a second one would end the loop of the first."""
        turns.require_no_loop()
        if not self._used.acquire(blocking=False):
            raise RuntimeError("another thread uses this stream: one thread at a time may")
        try:
            yield
        finally:
            self._used.release()

    def _over(self) -> None:
        runner, self._runner = self._runner, None
        if runner is not None:
            runner.close()

    def close(self) -> None:
        """Cancel the turn if it has not ended. Safe to repeat.

        Raises:
            RuntimeError: As for `next`; the stream is as it was.
        """
        if self._runner is not None:
            with self._alone():
                self._end()

    def _end(self) -> None:
        runner = self._runner
        if runner is not None:
            try:
                runner.run(self._stream.aclose())
            finally:
                self._over()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


async def _next(stream: TurnStream) -> AnyEvent | None:
    async for event in stream:
        return event
    return None


__all__ = ["SyncStream", "TurnEndedEvent", "TurnStream"]
