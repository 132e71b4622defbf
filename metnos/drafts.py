"""Files under a draft name: written and synced there, then given their own name by whoever made them.

    with drafted_beside(path) as (draft, handle):
        os.write(handle, data); os.fsync(handle)
        draft.replace(path)                             # left out, or an exception: the draft is removed

Law: a draft is held by an exclusive lock (`flock`) from its making until it has its name, so that the kernel tells a
draft that is being written from one whose writer was killed. Whoever makes a draft first removes those beside it that
nobody holds; nothing else is ever removed: a draft is a regular file of this user whose name has exactly the form
below. Where locks are not to be had nobody holds a draft and nobody removes one (docs/adr/0012).
"""

from __future__ import annotations

import fcntl
import os
import re
import stat
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Generator

DRAFT: Final = re.compile(r"\.metnos-[0-9a-f]{16,32}\.tmp", re.ASCII)
"""The whole name of a draft."""
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_LOOK = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_LONG_S = 0.001
_REST = 100
"""A folder that takes long to look through is looked through again after this many times as long."""
_REMEMBERED = 1_000
_rests_until: dict[tuple[int, int], float] = {}
"""(device, inode) of a large folder → time on `time.monotonic`'s clock."""


@contextmanager
def drafted(folder: int, mode: int = 0o600) -> Generator[tuple[str, int]]:
    """A new draft in the open folder: its name there, and its open descriptor.

    Raises:
        OSError: what the system says.
    """
    remove_stale(folder)
    name, handle = _begin(folder, mode)
    try:
        yield name, handle
    finally:
        with suppress(OSError):  # it has its name: there is none of this one
            os.unlink(name, dir_fd=folder)
        os.close(handle)


@contextmanager
def drafted_beside(path: Path, mode: int = 0o600) -> Generator[tuple[Path, int]]:
    """The same by path: a draft in the folder of `path`.

    Raises:
        OSError: what the system says.
    """
    folder = os.open(path.parent, _FOLDER)
    try:
        with drafted(folder, mode) as (name, handle):
            yield path.with_name(name), handle
    finally:
        os.close(folder)


def _begin(folder: int, mode: int) -> tuple[str, int]:
    while True:
        name = f".metnos-{token_hex(8)}.tmp"
        handle = os.open(name, _NEW, mode, dir_fd=folder)
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)  # waits, if at all, for one that takes it for stale this instant
        if os.fstat(handle).st_nlink:
            return name, handle
        os.close(handle)


def stale(folder: int) -> list[str]:
    """Names of the drafts in the open folder that nobody holds; nothing is removed."""
    return [name for name in _named(folder) if _with_unheld(folder, name, remove=False)]


def remove_stale(folder: int) -> int:
    """Remove the drafts in the open folder that nobody holds; how many. What cannot be done is left as it is."""
    found = os.fstat(folder)
    key, started = (found.st_dev, found.st_ino), time.monotonic()
    if started < _rests_until.get(key, 0.0):
        return 0
    removed = sum(_with_unheld(folder, name, remove=True) for name in _named(folder))
    took = time.monotonic() - started
    if took > _LONG_S:
        if len(_rests_until) >= _REMEMBERED:
            _rests_until.clear()
        _rests_until[key] = started + took * _REST
    return removed


def _named(folder: int) -> list[str]:
    try:
        return [name for name in os.listdir(folder) if DRAFT.fullmatch(name)]
    except OSError:
        return []  # a folder that may be written and not be listed


def _with_unheld(folder: int, name: str, *, remove: bool) -> bool:
    """Whether nobody holds the draft; it is then removed, if wanted, while this process holds it."""
    try:
        handle = os.open(name, _LOOK, dir_fd=folder)
    except OSError:
        return False
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
            return False
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        now = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if (now.st_dev, now.st_ino) != (found.st_dev, found.st_ino):
            return False
        if remove:
            os.unlink(name, dir_fd=folder)
    except OSError:
        return False  # held, or it has its own name by now
    else:
        return True
    finally:
        os.close(handle)
