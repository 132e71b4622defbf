"""`each_shard`: the one door to all ways of doing something with the parts of a collection; `map_shards` merges what it gives.

Law: which way is chosen decides how long it takes, never what comes of it.
"""

from __future__ import annotations

import os
from contextlib import closing
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

from metnos.evaluate.collections.model import Fault
from metnos.evaluate.mapping.handing import Finished, Handing, R, Task, in_order
from metnos.evaluate.mapping.model import Done, Job, Lost, Mapped, P, Progress, Silent, empty, run_shard, take

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable

    from metnos.evaluate.collections.model import Collection, Shard

Backend = Literal["processes", "ray"]

AHEAD: Final = 3
"""Where order is kept: so many parts for each worker may be handed out beyond the first that is not done."""


def workers_here() -> int:
    """As many as there are cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def each_shard(
    task: Task[R],
    shards: Iterable[Shard],
    *,
    workers: int,
    backend: Backend = "processes",
    ordered: bool = False,
    lost: Callable[[Lost], None] = lambda _: None,
) -> Generator[Finished[R]]:
    """Do `task` with each part. Close the generator to stop early: nothing goes on after it.

    Args:
        task: Can be pickled; opened once by each worker.
        shards: Read once, and only as far as there is somebody to work.
        workers: How many at a time; 1: none but this process (unless on Ray).
        backend: `processes` of this machine, or `ray`.
        ordered: In the order of the parts, and few of them ahead.
        lost: Told of a worker that ended at work.

    Raises:
        JobFailed: The task raised, in a worker; in this process, what it raised.
        RecordFault: `extra-missing`; `worker-lost`, no worker can be started; what the task raised, wherever.
        KeyboardInterrupt: Ctrl-C; no worker is left.
    """
    handing = Handing(shards, workers * AHEAD if ordered else None)
    with closing(_finished(task, handing, workers, backend, lost)) as finished:
        yield from in_order(finished) if ordered else finished


def _finished(
    task: Task[R], handing: Handing, workers: int, backend: Backend, lost: Callable[[Lost], None]
) -> Generator[Finished[R]]:
    if backend == "ray":
        from metnos.evaluate.mapping.onray import run_on_ray

        yield from run_on_ray(task, handing, workers, lost)
    elif workers > 1:
        from metnos.evaluate.mapping.processes import Pool

        yield from Pool(task, handing, workers, lost).run()
    else:
        call = task.open()
        while (place := handing.next()) is not None:
            result = call(place.shard)
            handing.done(place)
            yield Finished(place, result)


class _Shard(msgspec.Struct, frozen=True):
    """The task of a job."""

    job: Any

    def open(self) -> _Shard:
        """Nothing is to be made."""
        return self

    def __call__(self, shard: Shard) -> Done[Any]:
        return run_shard(self.job, shard)


def map_shards(
    job: Job[P],
    collection: Collection,
    *,
    workers: int = 0,
    backend: Backend = "processes",
    progress: Progress | None = None,
) -> Mapped[P]:
    """Do `job` over every part of `collection` and merge what it gives.

    Args:
        job: A pure function over turns that can be pickled.
        collection: Read once.
        workers: How many at a time; 0: one a core; 1: none but this process (unless on Ray).
        backend: `processes` of this machine, or `ray`.
        progress: Told how far it is.

    Raises:
        JobFailed: The job raised, in a worker; in this process, what it raised.
        RecordFault: `extra-missing`; `worker-lost`, no worker can be started; the collection cannot be listed.
        KeyboardInterrupt: Ctrl-C; no worker is left.
    """
    told = progress or Silent()
    count = workers or workers_here()
    told.begin(collection.weight())
    mapped = empty(job)

    def lost(one: Lost) -> None:
        mapped.lost.append(one)
        told.lost(one)

    for one in each_shard(_Shard(job), collection.shards(), workers=count, backend=backend, lost=lost):
        shard = one.place.shard
        if one.result is None:
            mapped.faults.add(Fault(where=shard.name, code="worker-lost", detail=one.lost))
            told.advance(shard.weight, 0)
        else:
            take(mapped, one.result)
            told.advance(shard.weight, one.result.turns)
    return mapped
