"""The same job as tasks of a Ray cluster.

Law: Ray is imported here and nowhere else, when it is asked for. Where nobody has connected to a cluster, one is begun on
this machine with as many workers as were asked for, and ended again. What a collection names (a home, a folder) must be
at the same place on every node. Parts are handed out a few at a time, so that a stream is never held whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from metnos.evaluate.collections.model import Fault
from metnos.evaluate.mapping.model import Job, Lost, Mapped, P, Progress, empty, run_shard, take
from metnos.record.faults import RecordFault

if TYPE_CHECKING:
    from metnos.evaluate.collections.model import Collection, Shard

AHEAD: Final = 2
"""Parts that are handed out for each worker."""


def load_ray() -> Any:
    """The module.

    Raises:
        RecordFault: `extra-missing`.
    """
    try:
        import ray  # pyright: ignore[reportMissingImports]
    except ImportError as missing:
        detail = f"the package {missing.name or 'ray'} is not installed"
        raise RecordFault("extra-missing", detail, hint="pip install 'metnos[ray]'") from missing
    return ray


def map_on_ray(job: Job[P], collection: Collection, workers: int, progress: Progress) -> Mapped[P]:
    """The job over all parts.

    Raises:
        RecordFault: `extra-missing`.
        Exception: What the job raised, as Ray hands it over.
    """
    ray = load_ray()
    own = not ray.is_initialized()
    if own:
        ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False, configure_logging=False)
    try:
        return _run(ray, job, collection, workers, progress)
    finally:
        if own:
            ray.shutdown()


def _run(ray: Any, job: Job[P], collection: Collection, workers: int, progress: Progress) -> Mapped[P]:
    task = ray.remote(num_cpus=1, max_retries=1)(run_shard)
    handed = ray.put(job)
    mapped: Mapped[P] = empty(job)
    running: dict[Any, Shard] = {}
    shards = collection.shards()
    while True:
        while len(running) < workers * AHEAD and (shard := next(shards, None)) is not None:
            running[task.remote(handed, shard)] = shard
        if not running:
            return mapped
        for done in ray.wait(list(running), num_returns=1)[0]:
            shard = running.pop(done)
            try:
                told = ray.get(done)
            except ray.exceptions.WorkerCrashedError as fault:
                mapped.faults.add(Fault(where=shard.name, code="worker-lost", detail=str(fault)))
                mapped.lost.append(Lost(worker="a Ray worker", by="a crash", shard=shard.name, again=False))
                progress.lost(mapped.lost[-1])
                progress.advance(shard.weight, 0)
                continue
            take(mapped, told)
            progress.advance(shard.weight, told.turns)
