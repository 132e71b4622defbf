"""The same task as those of a Ray cluster.

Law: Ray is imported here and nowhere else, when it is asked for. Where nobody has connected to a cluster, one is begun on
this machine with as many workers as were asked for, and ended again. What a collection names (a home, a folder) must be
at the same place on every node. Parts are handed out a few at a time, so that a stream is never held whole.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any, Final

from metnos.evaluate.mapping.handing import Failed, Finished, Handing, Place, R, Task, told_of
from metnos.evaluate.mapping.model import Lost
from metnos.record.faults import RecordFault

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from metnos.evaluate.collections.model import Shard

AHEAD: Final = 2
"""Parts that are handed out for each worker."""
_opened: dict[str, Callable[[Any], Any]] = {}
"""In a process of Ray: what its task opened."""


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


def work_on_ray(key: str, task: Task[Any], shard: Shard) -> Any:
    """One part, in a process of Ray; the task is opened once for each of them."""
    try:
        if key not in _opened:
            _opened.clear()
            _opened[key] = task.open()
        return (_opened[key](shard),)
    except Exception as fault:  # noqa: BLE001 - whatever it raises is told, and raised where it was asked for
        return Failed.of(fault)


def run_on_ray(task: Task[R], handing: Handing, workers: int, lost: Callable[[Lost], None]) -> Generator[Finished[R]]:
    """All parts, as they are done; close it, and nothing of it is under way.

    Raises:
        RecordFault: `extra-missing`; the task raised one.
        JobFailed: The task raised.
    """
    ray = load_ray()
    own = not ray.is_initialized()
    if own:
        ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False, configure_logging=False)
    running: dict[Any, Place] = {}
    try:
        yield from _run(ray, task, handing, workers, lost, running)
    finally:
        for left in running:
            ray.cancel(left, force=True)
        if own:
            ray.shutdown()


def _run(
    ray: Any,
    task: Task[R],
    handing: Handing,
    workers: int,
    lost: Callable[[Lost], None],
    running: dict[Any, Place],
) -> Generator[Finished[R]]:
    remote = ray.remote(num_cpus=1, max_retries=0)(work_on_ray)
    key, handed = uuid.uuid4().hex, ray.put(task)
    while True:
        while len(running) < workers * AHEAD and (place := handing.next()) is not None:
            running[remote.remote(key, handed, place.shard)] = place
        if not running:
            return
        for done in ray.wait(list(running), num_returns=1)[0]:
            place = running.pop(done)
            try:
                told = ray.get(done)
            except ray.exceptions.WorkerCrashedError:
                gone = Lost(worker="a Ray worker", by="a crash", shard=place.shard.name, again=handing.lose(place))
                lost(gone)
                if not gone.again:
                    yield Finished(place, None, told_of(gone))
                continue
            if isinstance(told, Failed):
                raise told.again(place.shard)
            handing.done(place)
            yield Finished(place, told[0])
