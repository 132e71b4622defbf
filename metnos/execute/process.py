"""One worker process: its pipes, its one call, its end.

Law: blocking, and used by one thread at a time, except `kill`. Nothing here knows the pool, or what a result means.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from metnos.execute import wire
from metnos.execute.outcome import STOPPED, StepOutcome, failed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from metnos.execute.border import Border, Rules
    from metnos.execute.stops import Stop
    from metnos.sdk import ErrorClass

    Tell = Callable[[int, int | None, str], None]

START_S = 20.0
"""A worker that is not ready after so long is given up."""
GRACE_S = 0.5
"""From SIGTERM to SIGKILL for a read."""
EFFECT_GRACE_S = 3.0
"""The same for an effect, which goes on at SIGTERM: its result says what was done."""
_TAIL = 4096
_CHUNK = 1024 * 1024
_POLL_MS = 100
"""How often a death is looked for where the system has no pidfd."""

_BOOT = """\
import sys
from importlib.util import module_from_spec, spec_from_file_location
place = sys.argv[1]
spec = spec_from_file_location("metnos", place + "/__init__.py", submodule_search_locations=[place])
sys.modules["metnos"] = module_from_spec(spec)
spec.loader.exec_module(sys.modules["metnos"])
sys.path += [path for path in sys.argv[3:] if path not in sys.path]
from metnos.execute.worker_main import main
main()
"""
"""Isolated mode knows neither PYTHONPATH nor the user's site: the child is told which `metnos` this one is."""


class Ended(msgspec.Struct, frozen=True, kw_only=True):
    """How a call ended; `payload` is the result frame's JSON."""

    how: Literal["result", "stopped", "interrupted", "timeout", "crashed", "garbage", "oversize", "unavailable"]
    payload: bytes = b""
    message: str = ""

    def outcome(self, border: Border, rules: Rules, args: Mapping[str, Any]) -> StepOutcome:
        """The step's outcome; texts from the worker pass the border."""
        if self.how == "result":
            return border.receive_bytes(self.payload, rules, args)
        if self.how == "stopped":
            return STOPPED
        cls, code, hint, retryable = _FAILURES[self.how]
        return border.refuse(failed(cls, code, self.message, hint=hint, retryable=retryable), args)


_FAILURES: dict[str, tuple[ErrorClass, str, str, bool]] = {
    "interrupted": ("crashed", "effect-interrupted", "look at its target before you ask again", False),
    "timeout": ("timeout", "step-timeout", "", True),
    "crashed": ("crashed", "worker-crashed", "", False),
    "garbage": ("crashed", "worker-garbage", "", False),
    "oversize": ("oversize", "too-large", "ask for less", False),
    "unavailable": ("unavailable", "no-worker", "", True),
}
"""How a call ended → class, code, hint, whether the same again may succeed."""


def spawn() -> WorkerProcess:
    """Start a worker; it is not waited for.

    Raises:
        OSError: no process can be started.
    """
    package = Path(__file__).resolve().parent.parent
    beside = [path for path in sys.path if path.endswith(("site-packages", "dist-packages"))]
    # -I takes no environment: a bytecode folder that this process was given is handed on by name.
    bytecode = ["-X", f"pycache_prefix={sys.pycache_prefix}"] if sys.pycache_prefix else []
    command = [sys.executable, "-I", "-X", "utf8", *bytecode, "-c", _BOOT, str(package), str(os.getpid()), *beside]
    child = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={"LC_ALL": "C.UTF-8"},
        cwd="/",
        start_new_session=True,
        bufsize=0,
    )
    return WorkerProcess(child)


class WorkerProcess:
    """A child and the pipes to it."""

    def __init__(self, child: subprocess.Popen[bytes]) -> None:
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stderr is not None
        self.pid = child.pid
        self._child = child
        self._in = child.stdin.fileno()
        self._out = child.stdout.fileno()
        self._err = child.stderr.fileno()
        for pipe in (self._in, self._out, self._err):
            os.set_blocking(pipe, False)
        self._death = os.pidfd_open(child.pid) if hasattr(os, "pidfd_open") else -1
        self._frames = wire.Frames()
        self._known: set[str] = set()
        self._ready = False
        self._tail = b""

    def is_alive(self) -> bool:
        """Whether it runs; a dead one is not reaped by asking."""
        if self._death >= 0:
            return not select.select([self._death], [], [], 0)[0]
        return self._child.poll() is None

    def call(self, request: wire.Request, stop: Stop, output_bytes: int, progress: Tell | None) -> tuple[Ended, bool]:
        """Run one call to its end: how it ended, and whether this worker may be used again."""
        if request.digest in self._known:
            request = msgspec.structs.replace(request, files=None)
        self._known.add(request.digest)
        self._tail = b""
        call = _Call(self, request, stop, output_bytes + wire.BESIDE_BYTES, progress)
        return call.run()

    def kill(self) -> None:
        """SIGKILL to it and to every process it started; it still must be reaped (`end`)."""
        if self._child.returncode is not None:
            return  # reaped: its number may be another's by now
        for pid in (*_descendants(self.pid), self.pid):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)

    def end(self) -> None:
        """Kill, reap, close the pipes. To be called once."""
        self.kill()
        self._child.wait()
        for stream in (self._child.stdin, self._child.stdout, self._child.stderr):
            if stream is not None:
                stream.close()
        if self._death >= 0:
            os.close(self._death)

    # --- used by its call ----------------------------------------------------------------------------------------

    @property
    def descriptors(self) -> tuple[int, int, int, int]:
        """Pipe to it, pipe from it, its standard error, its death (-1: no pidfd here)."""
        return self._in, self._out, self._err, self._death

    @property
    def frames(self) -> wire.Frames:
        """What came from it and is not a whole frame yet."""
        return self._frames

    @property
    def ready(self) -> bool:
        """Whether it has said that it is ready."""
        return self._ready

    def mark_ready(self) -> None:
        """It said so."""
        self._ready = True

    def keep_error(self, data: bytes) -> None:
        """Keep the end of what it wrote to standard error."""
        self._tail = (self._tail + data)[-_TAIL:]

    def last_words(self) -> str:
        """How it died, and the last line of its standard error."""
        with suppress(OSError):
            while data := os.read(self._err, _CHUNK):
                self.keep_error(data)
        self.kill()  # while it is a zombie its process group is still its own
        status = self._child.wait()
        how = f"exit status {status}"
        if status < 0:
            how = signal.Signals(-status).name if -status in signal.valid_signals() else f"signal {-status}"
        lines = self._tail.decode("utf-8", "replace").strip().splitlines()
        return f"the worker died ({how})" + (f": {lines[-1].strip()[:300]}" if lines else "")


class _Call:
    """One call on one worker."""

    def __init__(
        self, worker: WorkerProcess, request: wire.Request, stop: Stop, most: int, progress: Tell | None
    ) -> None:
        self._worker = worker
        self._request = request
        self._most = most
        self._progress = progress
        self._in, self._out, self._err, self._death = worker.descriptors
        self._unsent = memoryview(wire.frame(wire.CALL, msgspec.json.encode(request)))
        self._stop = stop.fileno()
        self._ending: Ended | None = None
        self._deadline = time.monotonic() + (request.timeout_s if worker.ready else START_S)
        self._poll = select.poll()
        for descriptor in (self._out, self._err, self._stop):
            self._poll.register(descriptor, select.POLLIN)
        if self._death >= 0:
            self._poll.register(self._death, select.POLLIN)
        self._poll.register(self._in, select.POLLOUT)

    def run(self) -> tuple[Ended, bool]:
        """Until a frame, a stop, the deadline or a death."""
        try:
            while True:
                ended = self._turn()
                if ended is not None:
                    return ended
        except wire.BadFrame as fault:
            self._worker.kill()
            # An effect was perhaps made, and its receipt is lost: that is more than too much output.
            oversize = fault.kind == "oversize" and self._request.effect == "read"
            return Ended(how="oversize" if oversize else "garbage", message=fault.message), False

    def _turn(self) -> tuple[Ended, bool] | None:
        left = self._deadline - time.monotonic()
        if left <= 0:
            return self._overdue()
        wait = min(left * 1000 + 1, 60_000.0 if self._death >= 0 else _POLL_MS)
        events = dict(self._poll.poll(wait))
        if self._err in events:
            self._drain()
        if self._out in events:
            self._read()
            found = self._next_result()
            if found is not None:
                return found
        if self._stop in events:
            self._poll.unregister(self._stop)
            self._ask_to_stop(Ended(how="stopped"))
        if self._in in events:
            self._write()
        if self._death in events or (self._death < 0 and not self._worker.is_alive()):
            return self._died()
        return None

    def _next_result(self) -> tuple[Ended, bool] | None:
        while (found := self._worker.frames.take(self._most)) is not None:
            kind, payload = found
            if kind == wire.READY:
                self._worker.mark_ready()
                if self._ending is None:
                    self._deadline = time.monotonic() + self._request.timeout_s
            elif kind == wire.PROGRESS:
                self._tell(payload)
            elif kind in (wire.RESULT, wire.LAST_RESULT):
                usable = kind == wire.RESULT and self._ending is None
                return Ended(how="result", payload=payload), usable
            else:
                raise wire.BadFrame("garbage", f"it sent a frame of kind {kind}")
        return None

    def _tell(self, payload: bytes) -> None:
        if self._progress is None:
            return
        try:
            note = msgspec.json.decode(payload, type=wire.Note)
        except msgspec.MsgspecError as fault:
            raise wire.BadFrame("garbage", "it sent progress that is none") from fault
        self._progress(note.done, note.total, note.note)

    def _overdue(self) -> tuple[Ended, bool] | None:
        """Past the deadline: ask it to stop; past the grace: it is killed."""
        if self._ending is None:
            if not self._worker.ready:
                self._worker.kill()
                return Ended(how="unavailable", message=f"the worker was not ready after {START_S:g} s"), False
            message = f"no result after {self._request.timeout_s:g} s"
            self._ask_to_stop(Ended(how="timeout", message=message))
            return None
        self._worker.kill()
        return self._as_effect(self._ending), False

    def _ask_to_stop(self, ending: Ended) -> None:
        if self._ending is not None:
            return
        self._ending = ending
        grace = GRACE_S if self._request.effect == "read" else EFFECT_GRACE_S
        self._deadline = time.monotonic() + grace
        with suppress(ProcessLookupError):
            os.killpg(self._worker.pid, signal.SIGTERM)

    def _died(self) -> tuple[Ended, bool]:
        while self._read():  # it may have answered before it died
            pass
        found = self._next_result()
        if found is not None:
            return found[0], False
        words = self._worker.last_words()
        if self._ending is not None:
            return self._as_effect(self._ending), False
        return Ended(how="crashed", message=words), False

    def _as_effect(self, ending: Ended) -> Ended:
        """A stopped read is just stopped; a stopped effect may have happened, and that must be said."""
        if ending.how == "stopped" and self._request.effect != "read" and self._worker.ready:
            return Ended(how="interrupted", message="it was stopped while it was at work")
        return ending

    def _read(self) -> bool:
        try:
            data = os.read(self._out, _CHUNK)
        except BlockingIOError:
            return False
        if not data:
            with suppress(KeyError):
                self._poll.unregister(self._out)  # closed; its death is told by the pidfd
            return False
        self._worker.frames.feed(data)
        return True

    def _drain(self) -> None:
        with suppress(BlockingIOError):
            data = os.read(self._err, _CHUNK)
            if data:
                self._worker.keep_error(data)
            else:
                self._poll.unregister(self._err)

    def _write(self) -> None:
        try:
            self._unsent = self._unsent[os.write(self._in, self._unsent) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._unsent = self._unsent[len(self._unsent) :]
        if not self._unsent:
            self._poll.unregister(self._in)


def _descendants(pid: int) -> list[int]:
    """Processes below `pid`, nearest first; a worker adopts what its children leave (it is a subreaper)."""
    found: list[int] = []
    waiting = [pid]
    while waiting:
        parent = waiting.pop()
        with suppress(OSError, ValueError):
            for task in Path(f"/proc/{parent}/task").iterdir():
                children = [int(child) for child in (task / "children").read_text().split()]
                found += children
                waiting += children
    return found
