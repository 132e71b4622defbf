"""A stop that can be asked for from any thread and waited for beside pipes.

Law: set once, never cleared; its descriptor becomes readable and stays so.
"""

from __future__ import annotations

import os
import threading


class Stop:
    """One request to stop one call."""

    def __init__(self) -> None:
        self._read, self._write = os.pipe()
        self._lock = threading.Lock()
        self._open = True
        self.is_set = False

    def set(self) -> None:
        """Ask; harmless when asked before, or when the call is over."""
        with self._lock:
            if self._open and not self.is_set:
                self.is_set = True
                os.write(self._write, b"x")

    def fileno(self) -> int:
        """The descriptor that becomes readable."""
        return self._read

    def close(self) -> None:
        """The call is over."""
        with self._lock:
            if self._open:
                self._open = False
                os.close(self._read)
                os.close(self._write)
