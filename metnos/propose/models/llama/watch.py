"""Ends a computation of llama.cpp that is not wanted any more, or that no longer gets anywhere.

Law: llama.cpp asks a C function after every node of its graph (hundreds for a token) whether to go on. If that function
were Python, each question would wait for the interpreter's lock, for 5 ms where another thread computes. So the
function is `strlen` of the C library, its argument a buffer of this process: empty means go on, one character means
stop. A thread of its own looks every 50 ms and writes that character: for a cancelled call, one past its deadline, and
one that hangs. A *hang* is time in which the process had the machine and gave no token; time in which it waited for a
core or for the disk is a *stall*, forgiven up to `PATIENCE` times the limit. Knows no model.
"""

from __future__ import annotations

import ctypes
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from metnos.propose.models.ports import ModelFault

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from metnos.propose.models.ports import Stop

TICK_S: Final = 0.05
PATIENCE: Final = 4
"""So many times `idle_s` a call may take for one step where the machine is to blame."""
_TASKS: Final = Path("/proc/self/task")


class Reading(NamedTuple):
    """What the process had of the machine until now, in seconds; only differences mean something."""

    wall: float
    cpu: float
    """Of all its threads together."""
    waited: float | None
    """For a core, all threads together; None: this system does not tell."""
    faults: int
    """Pages that had to come from the disk."""


def read() -> Reading:
    """Now."""
    import resource

    faults = resource.getrusage(resource.RUSAGE_SELF).ru_majflt
    return Reading(time.monotonic(), time.process_time(), _waited(), faults)


def _waited() -> float | None:
    total, seen = 0, False
    with suppress(OSError):
        for task in _TASKS.iterdir():
            with suppress(OSError, ValueError, IndexError):  # it has ended
                total += int((task / "schedstat").read_text().split()[1])
                seen = True
    return total / 1e9 if seen else None


def judged(stop: Stop, since: Reading, now: Reading, threads: int) -> ModelFault | None:
    """Why the step that began at `since` has to end now; None: it goes on."""
    try:
        stop.look()
    except ModelFault as fault:
        return fault
    wall = now.wall - since.wall
    if stop.idle_s is None or wall < stop.idle_s:
        return None
    own = _own(since, now, threads)
    if own >= stop.idle_s:
        return ModelFault("model-stalled", f"the model computed for {own:.0f} s and gave no token")
    if wall >= PATIENCE * stop.idle_s:
        message = f"the machine gave the model {own:.0f} of {wall:.0f} s, and no token came"
        return ModelFault("model-stalled", message, "try again when less is running")
    return None


def _own(since: Reading, now: Reading, threads: int) -> float:
    """Seconds of the step that are the model's own: all but those in which it waited for a core or for the disk."""
    wall = now.wall - since.wall
    worked = min(wall, (now.cpu - since.cpu) / threads)
    if now.waited is None or since.waited is None or now.faults > since.faults:
        return worked
    return max(worked, wall - (now.waited - since.waited) / threads)


class Watch:
    """Of one context of llama.cpp, in which one step at a time is computed."""

    def __init__(self, threads: int, reading: Callable[[], Reading] = read) -> None:
        self._threads = threads
        self._reading = reading
        self._flag = ctypes.create_string_buffer(2)
        self._step: tuple[int, Stop] | None = None
        self._number = 0
        self._fault: ModelFault | None = None
        self._change = threading.Lock()
        self._work = threading.Condition()
        self._open = 0
        self._closed = False
        self._thread: threading.Thread | None = None

    @property
    def asked(self) -> Any:
        """The C function, `bool (*)(void *)`, and its argument; the watch has to outlive their use."""
        function = ctypes.cast(ctypes.CDLL(None).strlen, ctypes.c_void_p)
        return function, ctypes.cast(self._flag, ctypes.c_void_p)

    @property
    def raised(self) -> bool:
        """Whether the function says stop."""
        return self._flag.value != b""

    @property
    def fault(self) -> ModelFault | None:
        """Why the last step was ended early; None: it was not."""
        return self._fault

    def begin(self) -> None:
        """A session is open: look."""
        with self._work:
            self._open += 1
            if self._thread is None and not self._closed:
                self._thread = threading.Thread(target=self._run, name="metnos-watch", daemon=True)
                self._thread.start()
            self._work.notify_all()

    def end(self) -> None:
        """It is closed."""
        with self._work:
            self._open -= 1

    @contextmanager
    def over(self, stop: Stop) -> Generator[None]:
        """One step: what is computed inside is ended early where `stop` or a hang says so; then `fault` says why.

        Raises:
            ModelFault: `stop` says so already.
        """
        stop.look()
        with self._change:
            self._fault = None
            self._flag[0] = b"\0"
            self._number += 1
            self._step = (self._number, stop)
        try:
            yield
        finally:
            with self._change:
                self._step = None

    def close(self) -> None:
        """End the thread; safe to repeat."""
        with self._work:
            self._closed = True
            self._work.notify_all()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        seen, since = 0, self._reading()
        while True:
            with self._work:
                self._work.wait_for(lambda: self._closed or self._open > 0)
                self._work.wait_for(lambda: self._closed, TICK_S)
                if self._closed:
                    return
            step = self._step
            if step is None:
                continue
            if step[0] != seen:
                seen, since = step[0], self._reading()
                self._look(step, since, since)
            else:
                self._look(step, since, self._reading())

    def _look(self, step: tuple[int, Stop], since: Reading, now: Reading) -> None:
        fault = judged(step[1], since, now, self._threads)
        with self._change:  # the next step is not ended for this one's sake
            if fault is not None and self._step is step:
                self._fault = fault
                self._flag[0] = b"x"
