"""The context of a call in this process: inline transforms and functions of the host.

Law: it grants the same files as a worker's and opens no secret, for only a worker does.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from metnos.execute.faults import SecretRefused

if TYPE_CHECKING:
    from collections.abc import Callable

    from metnos.execute.grant import Grant
    from metnos.execute.roots import RootedFiles
    from metnos.sdk import Files
    from metnos.turn.commands import StartStep

    Progress = Callable[[str, int, int | None, str], None]


class HereContext:
    """`metnos.sdk.Context`; cheap to make, files are opened when first asked for."""

    __slots__ = ("_grant", "_progress", "_started", "_step", "_timeout_s", "fence", "now", "opened", "operation")

    def __init__(self, command: StartStep, grant: Grant, progress: Progress | None) -> None:
        self.operation = command.operation
        self.fence = grant.fence
        self.now = grant.now
        self._step = command.step
        self._timeout_s = command.timeout_s
        self._started = time.monotonic()
        self._grant = grant
        self._progress = progress
        self.opened: RootedFiles | None = None
        """What is to be closed when the call is over, if the call asked for files at all."""

    @property
    def deadline(self) -> float:
        """Seconds on `time.monotonic`'s clock."""
        return self._started + self._timeout_s

    @property
    def files(self) -> Files:
        """Files below the granted roots."""
        if self.opened is None:
            from metnos.execute.roots import RootedFiles

            self.opened = RootedFiles(self._grant)
        return self.opened

    def progress(self, done: int, total: int | None = None, note: str = "") -> None:
        """Tell how far the work is; for people, never recorded."""
        if self._progress is not None:
            self._progress(self._step, done, total, note)

    def open_secret(self, text: str) -> str:
        """Refuse every sealed handle.

        Raises:
            SecretRefused: there is a handle in `text`.
        """
        if "⟦sealed:" in text:
            raise SecretRefused("only a worker may open a sealed secret")
        return text
