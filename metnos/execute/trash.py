"""The trash of a root: one folder for each operation, with the file under its own name, and a note beside it.

    ROOT/.metnos-trash/                     mode 0700; a .gitignore says that nothing in it is for git
        3f9a…c2/report.pdf                  the file, moved or linked, never changed
        3f9a…c2.json                        {"path": where it was, "at": the turn's time}

Law: places are chosen from the operation id, so an operation that is run again finds what it did. Nothing is unlinked
here but the names of what has been taken out again.
"""

from __future__ import annotations

import errno
import hashlib
import os
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from metnos.execute.places import SCAN, TRASH, place_of
from metnos.sdk import FilesError

if TYPE_CHECKING:
    from metnos.execute.beneath import OpenBeneath

_PRIVATE = 0o700


def drawer_of(operation: str) -> str:
    """Name of the folder that an operation has in the trash."""
    if operation.isascii() and operation.isalnum() and len(operation) >= 32:
        return operation[:32]
    return hashlib.sha256(operation.encode()).hexdigest()[:32]


def inner_place(operation: str, name: str) -> str:
    """Where the operation keeps a file of this name, from the root."""
    return f"{TRASH}/{drawer_of(operation)}/{name}"


def opened(root: int, operation: str, open_beneath: OpenBeneath, *, make: bool) -> int | None:
    """The operation's open folder in the trash of the open root; None: it has none, and none is to be made.

    Raises:
        FilesError: `symlink`: something else bears the name of the trash.
        OSError: what the system says.
    """
    inner = f"{TRASH}/{drawer_of(operation)}"
    if not make:
        try:
            return open_beneath(root, inner.encode(), os.O_RDONLY | os.O_DIRECTORY)
        except FileNotFoundError:
            return None
        except OSError as fault:
            raise _barred(TRASH, fault) from fault
    trash = _private(root, TRASH)
    try:
        _not_for_git(trash)
        return _private(trash, drawer_of(operation))
    finally:
        os.close(trash)


def _private(folder: int, name: str) -> int:
    try:
        os.mkdir(name, _PRIVATE, dir_fd=folder)
        os.fsync(folder)
    except FileExistsError:
        pass
    try:
        return os.open(name, SCAN, dir_fd=folder)
    except OSError as fault:
        raise _barred(name, fault) from fault


def _barred(name: str, fault: OSError) -> Exception:
    """The fault itself, unless something else than a folder is in the way."""
    if fault.errno not in (errno.ENOTDIR, errno.ELOOP):
        return fault
    hint = f"move away what is called {TRASH} there; what is deleted or replaced is kept in a folder of that name"
    return FilesError("denied", "symlink", name, "what bears the name of the trash is no folder", hint)


def _not_for_git(trash: int) -> None:
    """What is thrown away in a checkout is not committed by accident."""
    with suppress(OSError):
        handle = os.open(".gitignore", os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=trash)
        os.write(handle, b"*\n")
        os.close(handle)


def note(root: int, operation: str, path: str, at: str) -> None:
    """Say beside the file where it was; for people who look into the trash. Best effort: the log knows it too."""
    with suppress(OSError):
        trash = os.open(TRASH, SCAN, dir_fd=root)
        try:
            new = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
            handle = os.open(f"{drawer_of(operation)}.json", new, 0o600, dir_fd=trash)
            try:
                os.write(handle, msgspec.json.encode(place_of(path) | {"at": at}) + b"\n")
            finally:
                os.close(handle)
        finally:
            os.close(trash)


def tidy(root: int, inner: str) -> None:
    """After the file `inner` was taken out: its folder and its note go, if nothing else is in it."""
    drawer = inner.split("/")[1]
    with suppress(OSError):
        trash = os.open(TRASH, SCAN, dir_fd=root)
        try:
            os.rmdir(drawer, dir_fd=trash)
            os.unlink(f"{drawer}.json", dir_fd=trash)
        finally:
            os.close(trash)
