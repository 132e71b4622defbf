"""Many runs of the command line, cheaply: a warm process of its own forks one child for each.

A child is a real process: own folder, environment, stdin, stdout, stderr, user and limits; it ends by `exit`, a
signal or its deadline. What is saved is the import of the rooms (half a second a run), nothing else. `Forked` has the
form of `tests.support.terminal.Metnos`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.support.terminal import PATIENCE_S, ROOT, Done, Metnos

TIMED_OUT = 137 - 256
"""Status of a run that had to be ended; no exit code is negative."""


class Zygote:
    """The warm process; one for a session, closed with it."""

    def __init__(self) -> None:
        environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error"}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.forked"], cwd=ROOT, env=environment, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def run(self, **what: Any) -> int:
        """Run one child to its end; its exit code, or `TIMED_OUT`."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(what) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(timeout=PATIENCE_S)
        self._process.stdout.close()


class Forked(Metnos):
    """`Metnos`, by a zygote. `plain` gives up what root may do that others may not, `limits` sets rlimits by name."""

    def __init__(self, zygote: Zygote, folder: Path, home: Path) -> None:
        super().__init__(folder, home)
        self.zygote = zygote
        self.plain = False
        self.limits: dict[str, int] = {}
        self.patience = PATIENCE_S

    def __call__(self, *arguments: str | bytes, given: bytes | None = None, **environment: str) -> Done:
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, tempfile.TemporaryFile() as into:
            into.write(given or b"")
            into.seek(0)
            status = self.zygote.run(
                arguments=[os.fsdecode(one) for one in arguments],
                folder=str(self.folder),
                environment=self.environment | environment,
                files=[f"/proc/{os.getpid()}/fd/{file.fileno()}" for file in (into, out, err)],
                plain=self.plain,
                limits=self.limits,
                patience=self.patience,
            )
            out.seek(0)
            err.seek(0)
            return Done(status, out.read(), err.read())


def _serve() -> None:
    import metnos.cli.main as door
    from metnos.cli.logs import LOG_COMMANDS
    from metnos.cli.main import COMMANDS
    from metnos.engine import Engine  # noqa: F401 - warm

    for module, _ in (*COMMANDS.values(), *LOG_COMMANDS.values()):
        __import__(module)
    for module in ("metnos.record.sqlite", "metnos.drivers.live", "metnos.execute.runner", "metnos.execute.roots",
                   "metnos.cache.templates.library", "metnos.contracts.load", "metnos.checks.validator", "metnos.plan.parse",
                   "metnos.request.understand", "jsonschema_rs", "cryptography", "rich.table", "rich.console"):  # fmt: skip
        __import__(module)
    for line in sys.stdin:
        what = json.loads(line)
        child = os.fork()
        if child == 0:
            os._exit(_child(door.main, what))
        status = _wait(child, what["patience"])
        sys.stdout.write(f"{status}\n")
        sys.stdout.flush()


def _wait(child: int, patience: float) -> int:
    import select
    import signal

    handle = os.pidfd_open(child)
    ready, _, _ = select.select([handle], [], [], patience)
    os.close(handle)
    if not ready:
        os.killpg(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) if ready else TIMED_OUT


def _child(main: Any, what: dict[str, Any]) -> int:
    import resource
    import time
    import traceback

    try:
        os.setsid()
        for number, path in enumerate(what["files"]):
            file = os.open(path, os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_APPEND)
            os.dup2(file, number)
            os.close(file)
        sys.stdin = os.fdopen(0, "r", encoding="utf-8", closefd=False)
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False, buffering=1)
        os.environ.clear()
        os.environ.update(what["environment"])
        time.tzset()
        os.chdir(what["folder"])
        for name, value in what["limits"].items():
            resource.setrlimit(getattr(resource, name), (value, value))
        if what["plain"] and os.geteuid() == 0:
            _give_up_privileges()
        main(what["arguments"])
    except SystemExit as left:
        return int(left.code or 0)
    except BaseException:  # noqa: BLE001 - what the interpreter would have done
        traceback.print_exc()
        return 1
    finally:
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except OSError:
                continue
    return 0


def _give_up_privileges() -> None:
    """No capability, not even after an exec: permissions hold for this process as for anybody.

    Its uid stays, for the interpreter itself may lie in a folder that only root can enter.
    """
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    for capability in range(64):
        libc.prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP; those that this kernel lacks are refused
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    if libc.capset(header, (ctypes.c_uint32 * 6)()) != 0:
        raise OSError(ctypes.get_errno(), "capset")


if __name__ == "__main__":
    _serve()
