"""Open beneath a folder: nothing outside it, no symlink, whatever the name says and whatever changes meanwhile.

Law: two ways with one promise, and one suite of escapes tests both. `openat2` lets the kernel resolve a whole path
under `RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS`. Where it is missing (kernel, seccomp, other
systems) each component is opened from the last with `O_NOFOLLOW`. Both take a relative path without `.` and `..`.

Hard links are not refused: the file behind one *is* in the folder. Writing replaces the name and never the file
behind it, so what the link shares is not changed.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    OpenBeneath = Callable[[int, bytes, int], int]

O_PATH: int = getattr(os, "O_PATH", os.O_RDONLY)
FOLDER = O_PATH | os.O_DIRECTORY
_SYS_OPENAT2 = 437
"""The same number on every architecture: the call is newer than the common table."""
_RESOLVE = 0x08 | 0x04 | 0x02
"""BENEATH, NO_SYMLINKS, NO_MAGICLINKS."""
_TRIES = 32
"""EAGAIN: a rename or mount somewhere raced with the look-up; the kernel asks to try again."""


class _How(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


def by_openat2(folder: int, path: bytes, flags: int) -> int:
    """Open `path` below the open folder by one system call; the descriptor.

    Raises:
        OSError: ELOOP for a symlink, EXDEV for an escape, ENOSYS or EPERM where the call is not to be had.
    """
    how = _How(flags | os.O_CLOEXEC, 0, _RESOLVE)
    call = _libc().syscall
    number = errno.EAGAIN
    for _ in range(_TRIES):
        found = call(_SYS_OPENAT2, folder, path, ctypes.byref(how), ctypes.sizeof(how))
        if found >= 0:
            return int(found)
        number = ctypes.get_errno()
        if number not in (errno.EAGAIN, errno.EINTR):
            break
    raise OSError(number, os.strerror(number), os.fsdecode(path))


def by_components(folder: int, path: bytes, flags: int) -> int:
    """The same, one component after the other.

    Raises:
        OSError: ELOOP or ENOTDIR for a symlink on the way.
    """
    *folders, last = path.split(b"/")
    if not last or b".." in (*folders, last):
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), os.fsdecode(path))
    here = folder
    try:
        for name in folders:
            deeper = _open_one(here, name, FOLDER)
            if here != folder:
                os.close(here)
            here = deeper
        return _open_one(here, last, flags)
    finally:
        if here != folder:
            os.close(here)


def _open_one(folder: int, name: bytes, flags: int) -> int:
    try:
        found = os.open(name, flags | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    except NotADirectoryError:
        if stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            raise _loop(name) from None
        raise
    if flags & O_PATH and stat.S_ISLNK(os.fstat(found).st_mode):
        os.close(found)  # with O_PATH the link itself was opened
        raise _loop(name)
    return found


def _loop(name: bytes) -> OSError:
    return OSError(errno.ELOOP, os.strerror(errno.ELOOP), os.fsdecode(name))


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


@cache
def best() -> OpenBeneath:
    """`by_openat2` where it works here, else `by_components`."""
    try:
        root = os.open("/", FOLDER | os.O_CLOEXEC)
    except OSError:
        return by_components
    try:
        os.close(by_openat2(root, b".", FOLDER))
    except (OSError, AttributeError):
        return by_components
    finally:
        os.close(root)
    return by_openat2


def rename_no_replace(folder: int, old: str, new: str, into: int | None = None) -> None:
    """Give the file `old` the name `new` in the open folder `into` (left out: the same), only if there is no `new`.

    Raises:
        OSError: EEXIST if there is one, EXDEV if the folders are on two file systems.
    """
    into = folder if into is None else into
    rename = getattr(_libc(), "renameat2", None)
    if rename is not None:
        if rename(folder, os.fsencode(old), into, os.fsencode(new), 1) == 0:  # RENAME_NOREPLACE
            return
        number = ctypes.get_errno()
        if number not in (errno.ENOSYS, errno.EINVAL, errno.EPERM):
            raise OSError(number, os.strerror(number), new)
    os.link(old, new, src_dir_fd=folder, dst_dir_fd=into, follow_symlinks=False)
    os.unlink(old, dir_fd=folder)
