"""Worker processes, each with one part at a time.

Law: a worker is started anew (spawned, never forked: a journal that was open at a fork cannot be used) and ends when
the process that asked does, however that one ends. Ctrl-C is for that one alone; it ends the workers. A worker that the
system kills is told of, and the part it was at is done once more by whoever is free; a part that was lost twice is a
fault. An exception of the job itself ends everything: that is a fault of the job, and no turn's.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from contextlib import suppress
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any, Final, Generic, cast

from metnos.evaluate.mapping.handing import Failed, Finished, Handing, Place, R, Task, told_of
from metnos.evaluate.mapping.model import Lost
from metnos.record.faults import RecordFault

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from multiprocessing.connection import Connection

_END_S: Final = 5.0
READY: Final = "ready"


def leave_with_parent() -> None:
    """For a thread of a worker: whoever asked is gone: nobody wants what this worker is at."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def work(connection: Connection, task: Task[Any]) -> None:
    """The life of one worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=leave_with_parent, daemon=True).start()
    try:
        call: Callable[[Any], Any] | None = None
        connection.send(READY)
        while (shard := connection.recv()) is not None:
            try:
                call = call or task.open()
                told: Any = (call(shard),)
            except Exception as fault:  # noqa: BLE001 - whatever it raises is told, and raised where it was asked for
                told = Failed.of(fault)
            connection.send(told)
    except (EOFError, OSError):  # whoever asked is gone
        return


class _Worker:
    """One process and what it is at."""

    def __init__(self, number: int, task: Task[Any]) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=work, args=(theirs, task), name=f"metnos-worker-{number}", daemon=True)
        self.process.start()
        theirs.close()
        self.number = number
        self.ready = False
        self.place: Place | None = None

    @property
    def name(self) -> str:
        return f"worker {self.number} (process {self.process.pid})"

    def ended_by(self) -> str:
        """The signal, or the code that it ended with."""
        self.process.join(_END_S)
        code = self.process.exitcode
        if code is not None and code < 0:
            return signal.Signals(-code).name
        return f"exit code {code}"

    def end(self) -> None:
        """Now; whatever it is at is of no use any more."""
        self.connection.close()
        if self.process.is_alive():
            self.process.terminate()
            self.process.join(_END_S)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
        self.process.close()


class Pool(Generic[R]):
    """Some workers at one task."""

    def __init__(self, task: Task[R], handing: Handing, workers: int, lost: Callable[[Lost], None]) -> None:
        self._task = task
        self._handing = handing
        self._wanted = workers
        self._lost = lost
        self._workers: list[_Worker] = []
        self._numbers = 0

    def run(self) -> Generator[Finished[R]]:
        """All parts, as they are done; close it, and no worker is left.

        Raises:
            JobFailed: The task raised.
            RecordFault: The task raised one; `worker-lost`: a worker process cannot even be started.
        """
        try:
            while True:
                self._hand_out()
                if all(worker.place is None for worker in self._workers):
                    return
                yield from self._wait()
        finally:
            for worker in self._workers:
                worker.end()

    def _hand_out(self) -> None:
        for worker in self._workers:
            if worker.place is None and (place := self._handing.next()) is not None:
                self._give(worker, place)
        while len(self._workers) < self._wanted and (place := self._handing.next()) is not None:
            self._numbers += 1
            self._workers.append(_Worker(self._numbers, self._task))
            self._give(self._workers[-1], place)

    @staticmethod
    def _give(worker: _Worker, place: Place) -> None:
        worker.place = place
        with suppress(OSError):  # it is gone; whoever waits for it sees that, too
            worker.connection.send(place.shard)

    def _wait(self) -> Generator[Finished[R]]:
        busy = {worker.connection: worker for worker in self._workers if worker.place is not None}
        for connection in wait(list(busy)):
            worker = busy[cast("Any", connection)]
            place = worker.place
            assert place is not None
            try:
                told = worker.connection.recv()
            except (EOFError, OSError):
                yield from self._lose(worker, place)
                continue
            if told == READY:
                worker.ready = True
            elif isinstance(told, Failed):
                raise told.again(place.shard)
            else:
                worker.place = None
                self._handing.done(place)
                if (following := self._handing.next()) is not None:  # at work while the result is looked at
                    self._give(worker, following)
                yield Finished(place, told[0])

    def _lose(self, worker: _Worker, place: Place) -> Generator[Finished[R]]:
        by, name = worker.ended_by(), worker.name
        self._workers.remove(worker)
        worker.end()
        if not worker.ready and not by.startswith("SIG"):
            raise RecordFault("worker-lost", f"{name} could not be started: {by}")
        lost = Lost(worker=name, by=by, shard=place.shard.name, again=self._handing.lose(place))
        self._lost(lost)
        if not lost.again:
            yield Finished(place, None, told_of(lost))
