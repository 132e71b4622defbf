"""From whatever an executor raised to one typed failure.

Law: an exception never passes the border with its traceback, and never decides more than its class and code.
Imports only the SDK, for a worker loads it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from metnos.sdk import Failure, FilesError

if TYPE_CHECKING:
    from pathlib import Path

LONGEST: Final = 2_000
"""Characters of a foreign exception that are kept."""


class SecretRefused(Exception):
    """A sealed handle was to be opened in an argument that the contract does not name, or it is unknown here."""


class VaultFault(Exception):
    """The key cannot be used, or a stored secret does not open; `code` is stable, `path` the place."""

    def __init__(self, code: str, path: Path, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.path = path
        self.message = message
        self.hint = hint


def failure_of(fault: BaseException) -> Failure:
    """The failure that `fault` means; its message is shown, so the border seals it like any text."""
    if isinstance(fault, FilesError):
        return Failure(cls=fault.cls, code=fault.code, message=fault.message, where=fault.path, hint=fault.hint)
    if isinstance(fault, MemoryError):
        return Failure(
            cls="memory",
            code="memory-limit",
            message="the step needed more memory than its contract allows",
            hint="work on fewer or smaller entries",
        )
    if isinstance(fault, SecretRefused):
        return Failure(cls="denied", code="secret-not-granted", message=_text_of(fault))
    if isinstance(fault, TimeoutError):
        return Failure(
            cls="timeout", code="step-timeout", message=_text_of(fault) or "it took too long", retryable=True
        )
    return Failure(cls="internal", code="executor-raised", message=named(fault))


def named(fault: BaseException) -> str:
    """The kind of a fault and what it says, as a log can hold it: at most `LONGEST` characters."""
    text = _text_of(fault)
    return (f"{type(fault).__name__}: {text}" if text else type(fault).__name__)[:LONGEST]


def _text_of(fault: BaseException) -> str:
    """What it says, as JSON can hold it: names of files may hold half characters, and `__str__` is foreign code too."""
    try:
        return str(fault).encode("utf-8", "backslashreplace").decode()
    except Exception as another:  # noqa: BLE001 - whatever it is, the step has failed all the same
        return f"it cannot be shown ({type(another).__name__})"
