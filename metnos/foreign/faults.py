"""Faults of importing and of reaching, with stable codes.

Law: `ImportFault` is the operator's to mend, at import. `CallFault` ends one call and says whether the request had
been sent: only then can an effect be in doubt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from metnos.sdk import ErrorClass


class ImportFault(Exception):
    """An import that cannot be made, read or found; `where` is a tool, a file or a host."""

    def __init__(self, code: str, message: str, *, where: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.where = where
        self.hint = hint


class CallFault(Exception):
    """A call that has no result."""

    def __init__(
        self, cls: ErrorClass, code: str, message: str, *, where: str = "", hint: str = "", retryable: bool = False
    ) -> None:
        super().__init__(message)
        self.cls: ErrorClass = cls
        self.code = code
        self.message = message
        self.where = where
        self.hint = hint
        self.retryable = retryable


def need(extra: str, missing: ImportError) -> ImportFault:
    """The fault for a package that is not installed, with the line that installs it."""
    return ImportFault(
        "extra-missing",
        f"the package {missing.name or extra} is not installed",
        hint=f"pip install 'metnos[{extra}]'",
    )
