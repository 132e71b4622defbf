"""`map_shards`: the one door to all ways of doing a job over a collection.

Law: which way is chosen decides how long it takes, never what comes of it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal

from metnos.evaluate.mapping.model import Job, Mapped, P, Progress, Silent, empty, run_shard, take

if TYPE_CHECKING:
    from metnos.evaluate.collections.model import Collection

Backend = Literal["processes", "ray"]


def workers_here() -> int:
    """As many as there are cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


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
    if backend == "ray":
        from metnos.evaluate.mapping.onray import map_on_ray

        return map_on_ray(job, collection, count, told)
    if count > 1:
        from metnos.evaluate.mapping.processes import Pool

        return Pool(job, collection, count, told).run()
    mapped = empty(job)
    for shard in collection.shards():
        done = run_shard(job, shard)
        take(mapped, done)
        told.advance(shard.weight, done.turns)
    return mapped
