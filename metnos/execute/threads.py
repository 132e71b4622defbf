"""Daemon threads for calls that block: functions of the host, and the wait for a worker.

Law: a thread cannot be stopped, so none may keep the process from ending: they are daemons, unlike those of
`asyncio.to_thread`, whose loop waits for them at its close. Threads are made when needed and kept.
"""

from __future__ import annotations

import inspect
import threading
from collections import deque
from contextvars import copy_context
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

T = TypeVar("T")


class Threads:
    """At most `most` threads; further work waits in order."""

    def __init__(self, name: str, most: int) -> None:
        self._name = name
        self._most = most
        self._work: deque[tuple[Future[Any], Callable[[], Any]]] = deque()
        self._ready = threading.Condition()
        self._threads = 0
        self._idle = 0
        self._closed = False

    def submit(self, work: Callable[[], T]) -> Future[T]:
        """Run `work` in a thread, in this context (contextvars).

        Raises:
            RuntimeError: after `close`.
        """
        from concurrent.futures import Future

        future: Future[T] = Future()
        context = copy_context()
        with self._ready:
            if self._closed:
                raise RuntimeError("the runners are closed")
            self._work.append((future, lambda: context.run(work)))
            if self._idle >= len(self._work):
                self._ready.notify()
            elif self._threads < self._most:
                self._threads += 1
                threading.Thread(target=self._loop, name=f"{self._name}-{self._threads}", daemon=True).start()
        return future

    async def aside(self, call: Callable[[], Any]) -> Any:
        """What `call` gives, or what it raises; if it gives an awaitable, that is awaited here.

        A thread cannot be stopped: if this is cancelled it is left to itself, and what it gives is thrown away.
        """
        import asyncio

        def work() -> tuple[Any, BaseException | None]:  # some exceptions cannot pass through a future
            try:
                return call(), None
            except BaseException as fault:  # noqa: BLE001 - it is raised below, where it is waited for
                return None, fault

        given, fault = await asyncio.wrap_future(self.submit(work))
        if fault is not None:
            raise fault
        return await given if inspect.isawaitable(given) else given

    def close(self) -> None:
        """No further work; threads end when theirs is done. Work that still waits is cancelled."""
        with self._ready:
            self._closed = True
            for future, _ in self._work:
                future.cancel()
            self._work.clear()
            self._ready.notify_all()

    def _loop(self) -> None:
        while True:
            with self._ready:
                self._idle += 1
                while not self._work and not self._closed:
                    self._ready.wait()
                self._idle -= 1
                if not self._work:
                    self._threads -= 1
                    return
                future, work = self._work.popleft()
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(work())
            except BaseException as fault:  # noqa: BLE001 - it is handed to whoever waits, as concurrent.futures does
                future.set_exception(fault)
