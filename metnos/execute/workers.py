"""The parent's side of warm workers: start, hand a call over, wait, kill, reap.

Law: a call always ends, in one of four ways: a frame, a stop, a timeout, a death. What a worker says is never
believed before it is a whole frame within its limit. A worker that was killed, that died, or that said it was its
last, is gone with every process it left behind, and reaped; the next call gets another one.

Workers are started by one daemon thread that lives as long as this process: the kernel ends a worker when the
*thread* that started it ends, and threads of callers come and go.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

from metnos.execute import wire
from metnos.execute.process import Ended, WorkerProcess, spawn

if TYPE_CHECKING:
    from concurrent.futures import Future

    from metnos.execute.grant import Grant
    from metnos.execute.prepared import Prepared
    from metnos.execute.process import Tell
    from metnos.execute.stops import Stop
    from metnos.execute.threads import Threads
    from metnos.turn.commands import StartStep


def request_for(
    prepared: Prepared, command: StartStep, grant: Grant, opened: dict[str, str], *, probe: bool = False
) -> wire.Request:
    """What a worker is sent; the code goes along only if that worker does not have it."""
    contract = prepared.contract
    return wire.Request(
        executor=contract.name,
        digest=contract.digest or contract.reference,
        files=dict(prepared.code),
        modules=prepared.modules,
        args=command.args,
        operation=command.operation,
        effect=command.effect,
        grant=grant,
        timeout_s=command.timeout_s,
        memory_mb=contract.limits.memory_mb,
        output_bytes=contract.limits.output_bytes,
        opened=opened,
        probe=probe,
    )


class WorkerPool:
    """Workers of one `Runners`; grows to `most`. Safe to use from many threads."""

    def __init__(self, most: int | None = None) -> None:
        self.most = most or os.cpu_count() or 1
        self._lock = threading.Lock()
        self._idle: list[WorkerProcess] = []
        self._busy: set[WorkerProcess] = set()
        self._starting: list[Future[WorkerProcess]] = []
        self._closed = False

    def prestart(self, count: int = 1) -> None:
        """Have at least `count` workers (up to the most); returns at once."""
        with self._lock:
            have = len(self._idle) + len(self._busy) + len(self._starting)
            for _ in range(min(count, self.most) - have):
                self._starting.append(_starter().submit(spawn))

    def call(self, request: wire.Request, prepared: Prepared, stop: Stop, progress: Tell | None) -> Ended:
        """Run one call; blocks until it has ended. `progress` is called in this thread."""
        if stop.is_set:
            return Ended(how="stopped")
        try:
            worker = self._take()
        except OSError as fault:
            return Ended(how="unavailable", message=f"no worker can be started: {fault}")
        usable = False
        try:
            ended, usable = worker.call(request, stop, prepared.output_bytes, progress)
            return ended
        finally:
            self._give_back(worker, usable=usable)

    def close(self) -> None:
        """Kill and reap every worker, also those at work."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
            starting, self._starting = self._starting, []
            busy = list(self._busy)
        for worker in (*idle, *(future.result() for future in starting if not future.cancel())):
            worker.end()
        for worker in busy:
            worker.kill()  # the thread that waits for it reaps it

    def _take(self) -> WorkerProcess:
        while True:
            with self._lock:
                if self._closed:
                    raise OSError("the runners are closed")
                worker = self._idle.pop() if self._idle else None
                future = self._starting.pop(0) if worker is None and self._starting else None
            if worker is None:
                worker = (future or _starter().submit(spawn)).result()
            if worker.is_alive():
                with self._lock:
                    self._busy.add(worker)
                return worker
            worker.end()

    def _give_back(self, worker: WorkerProcess, *, usable: bool) -> None:
        with self._lock:
            self._busy.discard(worker)
            keep = usable and not self._closed
            if keep:
                self._idle.append(worker)
        if not keep:
            worker.end()


_lock = threading.Lock()
_starters: list[Threads] = []
"""The one starter of this process; a list, so that a fork can forget it."""


def _starter() -> Threads:
    from metnos.execute.threads import Threads

    with _lock:
        if not _starters:
            _starters.append(Threads("metnos-starter", 1))
            os.register_at_fork(after_in_child=_starters.clear)
        return _starters[0]


__all__ = ["Ended", "WorkerPool", "request_for"]
