"""The command line as a person or a script meets it: a process of its own, in a pipe or on a terminal.

`Metnos` starts `python -m metnos` in a folder and home of the test's own; `Terminal` is the same behind a pty.
"""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Literal

ROOT = Path(__file__).resolve().parents[2]
COMMAND = [sys.executable, "-m", "metnos"]
PATIENCE_S = 30
AGAIN_S = 3
TOOLS = sorted(path.name.partition(".")[0] for path in (ROOT / "build" / "catalog" / "manifests").iterdir())
"""Of the signed catalog of this checkout."""


class Done:
    """How a run ended."""

    def __init__(self, status: int, out: bytes, err: bytes) -> None:
        self.status = status
        self.out = out.decode("utf-8", "replace")
        self.err = err.decode("utf-8", "replace")

    @property
    def json(self) -> Any:
        """stdout, which must be one JSON document and nothing else."""
        return json.loads(self.out)

    @property
    def error(self) -> dict[str, Any]:
        """The error document: all four fields, no other."""
        error = self.json["error"]
        assert set(error) == {"code", "message", "where", "hint"}, error
        assert error["code"]
        assert error["message"]
        return error


class Metnos:
    """Runs commands; what is not given is what every other run of the test gets."""

    def __init__(self, folder: Path, home: Path) -> None:
        self.folder = folder
        self.home = home
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home.parent / "nobody"),
            "METNOS_HOME": str(home),
            "PYTHONPATH": str(ROOT),
            "PYTHONPYCACHEPREFIX": os.environ.get("PYTHONPYCACHEPREFIX", str(ROOT / ".venv" / "pycache")),
            "TZ": "UTC",
            "LC_ALL": "C.UTF-8",
            "COLUMNS": "100",
        }

    def start(
        self, *arguments: str | bytes, stdin: Any = subprocess.DEVNULL, **environment: str
    ) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [*COMMAND, *arguments],
            cwd=self.folder,
            env=self.environment | environment,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def __call__(self, *arguments: str | bytes, given: bytes | None = None, **environment: str) -> Done:
        process = self.start(
            *arguments, stdin=subprocess.PIPE if given is not None else subprocess.DEVNULL, **environment
        )
        out, err = process.communicate(given, timeout=PATIENCE_S)
        return Done(process.returncode, out, err)

    def on_terminal(self, *arguments: str, **environment: str) -> Terminal:
        return Terminal([*COMMAND, *arguments], self.folder, self.environment | {"TERM": "xterm"} | environment)


class Typed:
    """Commands typed in this process: no other one is started, so many of them are quick."""

    def __init__(self, folder: Path, home: Path, capsys: Any) -> None:
        self.folder = folder
        self.home = home
        self._capsys = capsys

    def __call__(self, *words: str) -> Done:
        from metnos.cli.main import main

        self._capsys.readouterr()
        status: Any = None
        try:
            main(["--home", str(self.home), *words])
        except SystemExit as left:
            status = left.code
        told = self._capsys.readouterr()
        return Done(int(status or 0), told.out.encode(), told.err.encode())


class Terminal:
    """A child whose stdin, stdout and stderr are one terminal."""

    def __init__(self, command: list[str], folder: Path, environment: dict[str, str]) -> None:
        self.screen = ""
        pid, self._file = pty.fork()
        if pid == 0:
            try:
                os.chdir(folder)
                os.execve(command[0], command, environment)
            finally:
                os._exit(127)
        self.pid = pid

    def until(self, text: str) -> str:
        """Read until `text` is on the screen.

        Raises:
            AssertionError: The child ended, or nothing more came, without it.
        """
        deadline = time.monotonic() + PATIENCE_S
        while text not in self.screen:
            if self._read(deadline) != "data":
                raise AssertionError(f"{text!r} never came:\n{self.screen}")
        return self.screen

    def _read(self, deadline: float) -> Literal["data", "quiet", "gone"]:
        ready, _, _ = select.select([self._file], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            return "quiet"
        try:
            data = os.read(self._file, 65536)
        except OSError:  # EIO: nobody has the other end any more
            return "gone"
        self.screen += data.decode("utf-8", "replace").replace("\r\n", "\n")
        return "data" if data else "gone"

    def type(self, text: str) -> None:
        os.write(self._file, text.encode())

    def end(self, typed: str = "") -> int:
        """Read to the end; the exit code. `typed` (`\\x03` is Ctrl-C) is typed first, and again where nothing comes of it.

        A signal that comes between the interpreter's last look and its `read` is seen only with the next key: a person
        presses Ctrl-C again, and so does this.
        """
        deadline = time.monotonic() + PATIENCE_S
        if typed:
            self.type(typed)
        while (found := self._read(min(deadline, time.monotonic() + AGAIN_S))) != "gone":
            if time.monotonic() >= deadline:
                os.kill(self.pid, signal.SIGKILL)
                break
            if found == "quiet" and typed:
                self.type(typed)
        _, status = os.waitpid(self.pid, 0)
        os.close(self._file)
        return os.waitstatus_to_exitcode(status)
