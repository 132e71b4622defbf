"""How far a long piece of work is: a bar with the time left on a terminal, nothing anywhere else.

Law: on stderr, and never with `--json`. What a person must know in any case (a worker that was killed) is a line.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Self

from metnos.cli.output import tell
from metnos.text import message

if TYPE_CHECKING:
    from metnos.cli.output import Output
    from metnos.evaluate.mapping.model import Lost


class Advancing:
    """`mapping.Progress` on a terminal; close it, or use it with `with`."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._bar: Any = None
        self._task: Any = None
        self._turns = 0

    def __enter__(self) -> Self:
        """Nothing is shown before there is something to do."""
        return self

    def __exit__(self, *_raised: object) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def begin(self, weight: int) -> None:
        """Show the bar."""
        if self._output.json or not sys.stderr.isatty():
            return
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

        self._bar = Progress(
            TextColumn("{task.fields[turns]:,}"),
            BarColumn(),
            TaskProgressColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._bar.add_task("", total=weight or None, turns=0)
        self._bar.start()

    def advance(self, weight: int, turns: int) -> None:
        """Move it on."""
        self._turns += turns
        if self._bar is not None:
            self._bar.update(self._task, advance=weight, turns=self._turns)

    def lost(self, lost: Lost) -> None:
        """Say which worker, and what becomes of its part."""
        key = "replays.lost_again" if lost.again else "replays.lost"
        if not self._output.json:
            tell(message(key, self._output.language, worker=lost.worker, by=lost.by, part=lost.shard))
