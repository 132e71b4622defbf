"""The child: takes one call at a time over pipes, runs the bytes it is sent, answers with a `Result`.

Law: small imports (it must start in well under 80 ms) and no trust in itself: what it sends is checked again by the
parent. Standard output belongs to the frames; what an executor prints goes to standard error. The environment is
empty, the folder is `/`, and it dies with its parent.

`SIGTERM` ends a read by an exception, so that cleaning up is done; an effect goes on, because only its result tells
what was done, and the parent decides how long it waits.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys
import time
from typing import Any

import msgspec

from metnos.execute import wire
from metnos.execute.code import CodeFault, load, probe_of
from metnos.execute.faults import SecretRefused, failure_of
from metnos.execute.roots import RootedFiles
from metnos.execute.strict import NotJSON, settle
from metnos.sdk import Failure, Result

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PROGRESS_EVERY_S = 0.05
_MEGABYTE = 1024 * 1024

_decode_request = msgspec.json.Decoder(wire.Request).decode
_encode = msgspec.json.encode


class Stopping(BaseException):
    """The parent asked the running call to stop."""


class WorkerContext:
    """`metnos.sdk.Context` in a worker."""

    def __init__(self, request: wire.Request, pipe: int) -> None:
        self.files = RootedFiles(request.grant)
        self.operation = request.operation
        self.fence = request.grant.fence
        self.now = request.grant.now
        self.deadline = time.monotonic() + request.timeout_s
        self._opened = request.opened
        self._pipe = pipe
        self._told = 0.0

    def progress(self, done: int, total: int | None = None, note: str = "") -> None:
        """Tell the parent, at most every 50 ms."""
        now = time.monotonic()
        if now - self._told >= _PROGRESS_EVERY_S:
            self._told = now
            told = wire.Note(int(done), None if total is None else int(total), str(note)[:200])
            _send(self._pipe, wire.PROGRESS, _encode(told))

    def open_secret(self, text: str) -> str:
        """`text` with every sealed handle opened.

        Raises:
            SecretRefused: a handle in it was not opened for this call.
        """
        for handle, secret in self._opened.items():
            text = text.replace(handle, secret)
        if "⟦sealed:" in text:
            raise SecretRefused("the contract does not open this secret, or it is unknown here")
        return text


def main() -> None:
    """Serve until the parent closes its end."""
    source, pipe = _own_pipes()
    _die_with_parent(int(sys.argv[2]))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's business
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _send(pipe, wire.READY, b"{}")
    loaded: dict[str, Any] = {}
    frames = wire.Frames()
    while True:
        payload = _receive(source, frames)
        if payload is None:
            return
        request = _decode_request(payload)
        result, spent = _serve(request, pipe, loaded)
        del request, payload
        _limit_memory(None)
        _send(pipe, wire.LAST_RESULT if spent else wire.RESULT, result)
        if spent:
            # The parent ends this process and its children together, which it can only find while this one lives.
            os.read(source, 1)
            return


def _serve(request: wire.Request, pipe: int, loaded: dict[str, Any]) -> tuple[bytes, bool]:
    """The encoded result, and whether this worker is spent."""
    is_read = request.effect == "read"
    signal.signal(signal.SIGTERM, _stop if is_read else signal.SIG_IGN)
    spent = False
    try:
        _limit_memory(request.memory_mb)
        result = _encoded(_run(request, pipe, loaded), request.output_bytes)
    except Stopping:
        os._exit(0)
    except MemoryError as fault:
        _limit_memory(None)
        result = _encode(Result(ok=False, error=failure_of(fault)))
        spent = True
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN if spent else signal.SIG_DFL)
    return result, _left_behind() or spent


def _run(request: wire.Request, pipe: int, loaded: dict[str, Any]) -> Result:
    run = loaded.get(request.digest)
    if run is None:
        try:
            run = load(request.executor, request.digest, request.files or {}, frozenset(request.modules))
        except CodeFault as fault:
            run = fault
        loaded[request.digest] = run
    if isinstance(run, CodeFault):
        return Result.failed("internal", "executor-broken", run.message)
    call = probe_of(run) if request.probe else run
    if call is None:
        return Result.failed("operational", wire.NOT_KNOWN, "it has no probe")
    context = WorkerContext(request, pipe)
    try:
        returned = call(request.args, context)
        if request.probe and not isinstance(returned, Result):
            code = wire.NOT_MADE if returned == "absent" else wire.NOT_KNOWN
            return Result.failed("operational", code)
        if not isinstance(returned, Result):
            returned = Result(data=returned)
        return msgspec.structs.replace(returned, data=settle(returned.data))
    except (Stopping, MemoryError):
        raise
    except NotJSON as fault:
        return Result.failed("data", fault.code, fault.message, where=fault.where)
    except BaseException as fault:  # noqa: BLE001 - the executor's code: whatever it raises is its failure
        return Result(ok=False, error=failure_of(fault))
    finally:
        context.files.close()


def _encoded(result: Result, output_bytes: int) -> bytes:
    try:
        raw = _encode(result)
    except (TypeError, ValueError, RecursionError) as fault:
        return _encode(Result.failed("internal", "result-malformed", str(fault)[:500]))
    if len(raw) > output_bytes + wire.BESIDE_BYTES:
        message = f"the result has {len(raw)} bytes; at most {output_bytes} are allowed"
        error = Failure(cls="oversize", code="too-large", message=message, hint="ask for less")
        return _encode(Result(ok=False, error=error, effects=result.effects))
    return raw


def _stop(_number: int, _frame: object) -> None:
    raise Stopping


def _own_pipes() -> tuple[int, int]:
    """Move the frame pipes out of the executor's way: 0 is empty, 1 is standard error."""
    source, pipe = os.dup(0), os.dup(1)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    os.dup2(2, 1)
    return source, pipe


def _die_with_parent(parent: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if hasattr(libc, "prctl"):
        libc.prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
        libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        os.register_at_fork(after_in_child=lambda: libc.prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0))
    if os.getppid() != parent:  # it was gone before we could ask to follow it
        os._exit(0)


def _limit_memory(megabytes: int | None) -> None:
    for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA):
        hard = resource.getrlimit(kind)[1]
        wanted = hard if megabytes is None else megabytes * _MEGABYTE
        resource.setrlimit(kind, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))


def _left_behind() -> bool:
    """Whether the executor left processes behind; they are the parent's to end, with this one."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def _receive(source: int, frames: wire.Frames) -> bytes | None:
    while True:
        found = frames.take(wire.REQUEST_BYTES)
        if found is not None:
            return found[1]
        data = os.read(source, 1024 * 1024)
        if not data:
            return None
        frames.feed(data)


def _send(pipe: int, kind: int, payload: bytes) -> None:
    rest = memoryview(wire.frame(kind, payload))
    while rest:
        rest = rest[os.write(pipe, rest) :]
