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
import traceback
from collections import deque
from contextlib import suppress
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any, Final, Generic, cast

from metnos.evaluate.collections.model import Fault
from metnos.evaluate.mapping.model import Done, Job, Lost, Mapped, P, Progress, empty, run_shard, take
from metnos.record.faults import RecordFault

if TYPE_CHECKING:
    from collections.abc import Iterator
    from multiprocessing.connection import Connection

    from metnos.evaluate.collections.model import Collection, Shard

_TRIES: Final = 2
_END_S: Final = 5.0
READY: Final = "ready"
_COLLECT: Final = (20_000, 20, 50)
"""Turns are many small objects that live for a millisecond: looked through less often than Python does by itself."""


class JobFailed(Exception):
    """The job raised; the message holds where. A bug of whoever wrote it."""


def leave_with_parent() -> None:
    """For a thread of a worker: whoever asked is gone: nobody wants what this worker is at."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def work(connection: Connection, job: Job[Any]) -> None:
    """The life of one worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=leave_with_parent, daemon=True).start()
    try:
        connection.send(READY)
        while (shard := connection.recv()) is not None:
            try:
                told: Any = run_shard(job, shard)
            except Exception:  # noqa: BLE001 - whatever the job raises is told, and raised where it was asked for
                told = traceback.format_exc()
            connection.send(told)
    except (EOFError, OSError):  # whoever asked is gone
        return


class _Worker(Generic[P]):
    """One process and what it is at."""

    def __init__(self, number: int, job: Job[P]) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=work, args=(theirs, job), name=f"metnos-worker-{number}", daemon=True)
        self.process.start()
        theirs.close()
        self.number = number
        self.ready = False
        self.shard: Shard | None = None

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


class Pool(Generic[P]):
    """Some workers over one collection, for one job."""

    def __init__(self, job: Job[P], collection: Collection, workers: int, progress: Progress) -> None:
        self._job = job
        self._shards: Iterator[Shard] = collection.shards()
        self._again: deque[Shard] = deque()
        self._tries: dict[str, int] = {}
        self._wanted = workers
        self._progress = progress
        self._workers: list[_Worker[P]] = []
        self._numbers = 0
        self._mapped: Mapped[P] = empty(job)

    def run(self) -> Mapped[P]:
        """All of it.

        Raises:
            JobFailed: The job raised.
            RecordFault: `worker-lost`: a worker process cannot even be started.
        """
        try:
            while len(self._workers) < self._wanted and (shard := self._next()) is not None:
                self._give(self._start(), shard)
            while any(worker.shard is not None for worker in self._workers):
                self._wait()
            return self._mapped
        finally:
            for worker in self._workers:
                worker.end()

    def _start(self) -> _Worker[P]:
        self._numbers += 1
        worker = _Worker(self._numbers, self._job)
        self._workers.append(worker)
        return worker

    def _next(self) -> Shard | None:
        """The next part; None: there is none."""
        return self._again.popleft() if self._again else next(self._shards, None)

    @staticmethod
    def _give(worker: _Worker[P], shard: Shard | None) -> None:
        worker.shard = shard
        if shard is not None:
            with suppress(OSError):  # it is gone; whoever waits for it sees that, too
                worker.connection.send(shard)

    def _wait(self) -> None:
        busy = {worker.connection: worker for worker in self._workers if worker.shard is not None}
        for connection in wait(list(busy)):
            worker = busy[cast("Any", connection)]
            try:
                told = worker.connection.recv()
            except (EOFError, OSError):
                self._lose(worker)
                continue
            if told == READY:
                worker.ready = True
            elif isinstance(told, Done):
                self._take(worker, cast("Done[P]", told))
            else:
                raise JobFailed(f"the job failed at {worker.shard and worker.shard.name}:\n{told}")

    def _take(self, worker: _Worker[P], done: Done[P]) -> None:
        assert worker.shard is not None
        take(self._mapped, done)
        self._progress.advance(worker.shard.weight, done.turns)
        self._give(worker, self._next())

    def _lose(self, worker: _Worker[P]) -> None:
        shard, by = worker.shard, worker.ended_by()
        assert shard is not None
        self._workers.remove(worker)
        name = worker.name
        worker.end()
        if not worker.ready and not by.startswith("SIG"):
            raise RecordFault("worker-lost", f"{name} could not be started: {by}")
        tries = self._tries[shard.name] = self._tries.get(shard.name, 0) + 1
        lost = Lost(worker=name, by=by, shard=shard.name, again=tries < _TRIES)
        self._mapped.lost.append(lost)
        self._progress.lost(lost)
        if lost.again:
            self._again.append(shard)
        else:
            detail = f"lost by {_TRIES} workers, the last by {by}"
            self._mapped.faults.add(Fault(where=shard.name, code="worker-lost", detail=detail))
            self._progress.advance(shard.weight, 0)
        if (left := self._next()) is not None:
            self._give(self._start(), left)
