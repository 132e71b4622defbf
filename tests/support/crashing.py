"""Turns in processes that die: a server without threads that forks one child for each turn, and the client of it.

    with Crashes() as crashes:
        crashes.at(home, folder).run(plan, die=("intent-committed", 1))     # the exit status: -9

The child opens an engine on `home` and kills itself, as `kill -9` does, at the n-th visit of a durable boundary.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[2]


class Crashes:
    """The client; use it with `with`."""

    def __init__(self) -> None:
        self._server = subprocess.Popen(
            [sys.executable, "-m", "tests.support.crashing"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)},
        )  # fmt: skip
        self._place: dict[str, str] = {}

    def at(self, home: Path, folder: Path) -> Self:
        """From now on turns are run there."""
        self._place = {"home": str(home), "folder": str(folder)}
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.close()
        self._server.wait(30)
        self._server.stdout.close()

    def run(self, plan: Any, *, die: tuple[str, int] = ("", 0), break_: str = "", **more: Any) -> int:
        """Run a plan in a child that dies at (boundary, visit); its exit status. `break_` names a safety to leave out."""
        return self._ask(plan=plan, die=die, broken=break_, **more)

    def resume(self, turn: str, *, die: tuple[str, int] = ("", 0), **more: Any) -> int:
        """Go on with a turn in a child that dies at (boundary, visit)."""
        return self._ask(turn=turn, die=die, **more)

    def undo(self, turn: str, *, die: tuple[str, int]) -> int:
        """Undo a turn in a child that dies at (boundary, visit)."""
        return self._ask(undo=turn, die=die)

    def _ask(self, **order: Any) -> int:
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.write(json.dumps(order | self._place) + "\n")
        self._server.stdin.flush()
        return int(self._server.stdout.readline())


# --- the server ---------------------------------------------------------------------------------------------------------


def boundary(name: str, visit: int) -> Callable[[str], None]:
    """Dies at the `visit`-th time that `name` is passed."""
    left = [visit]

    def passed(at: str) -> None:
        if at == name:
            left[0] -= 1
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    return passed


def break_safety(name: str) -> None:
    """Leave one safety out, to see that its test fails without it."""
    from metnos.drivers import state

    if name == "intent":
        state.is_intent = lambda _item, _started: False
    elif name == "anchor":
        real = state.TurnUnderWay.feed

        def feed(self: Any, item: Any) -> None:
            append = self.writer.append
            self.writer.append = lambda item, reaction, *, durable=False, anchor=False: append(
                item, reaction, durable=durable
            )
            try:
                real(self, item)
            finally:
                del self.writer.append

        state.TurnUnderWay.feed = feed  # type: ignore[method-assign]


def child(order: dict[str, Any]) -> None:
    from metnos import Engine
    from tests.support import hosted

    break_safety(order.get("broken", ""))
    ask = order.get("ask", True)
    engine = Engine.open(
        order["home"], folder=order["folder"], executors=hosted.ALL, zone="UTC", boundary=boundary(*order["die"]),
        approve=(lambda _asked: True) if ask else None,
    )  # fmt: skip
    with engine:
        if "undo" in order:
            engine.undo_sync(order["undo"])
        elif "turn" in order:
            engine.resume_sync(order["turn"])
        else:
            engine.run_sync(plan=order["plan"], assume_yes=True)


def serve() -> None:
    import metnos.drivers.turns
    import metnos.engine
    import metnos.record.sqlite  # noqa: F401 - loaded once, before the forks

    for line in sys.stdin:
        order = json.loads(line)
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                child(order)
                status = 0
            finally:
                sys.stderr.flush()
                os._exit(status)
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)


if __name__ == "__main__":
    serve()
