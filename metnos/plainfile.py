"""Files of our own and of the operator: read whole, or refused; never waited for, never without an end.

Law: every file that Metnos opens for itself (settings, keys, anchors, blobs, catalogs, imports) goes through `read`;
files that a plan names go through `execute.roots`. A pipe, a socket, a device or a folder in a file's place is an
`OSError` at once, and so is a file that is larger than its reader expects. Writing is the
business of `drafts`. Knows no other room.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
_BLOCK = 1 << 20


def read(path: Path, limit: int, *, links: bool = True) -> bytes:
    """All bytes of a plain file of at most `limit`.

    Args:
        path: Where it is.
        limit: Bytes; a larger file is refused before it is read.
        links: Whether its last component may be a symlink.

    Raises:
        OSError: It cannot be opened, is no plain file (EINVAL), or is larger (EFBIG).
    """
    data = read_at_most(path, limit + 1, links=links)
    if len(data) > limit:
        raise OSError(errno.EFBIG, f"larger than {limit} bytes", str(path))
    return data


def read_at_most(path: Path, limit: int, *, links: bool = True) -> bytes:
    """The first `limit` bytes of a plain file: whoever asks for one more than it takes can tell that there is more.

    Raises:
        OSError: It cannot be opened, or is no plain file (EINVAL).
    """
    handle = os.open(path, _READ | (0 if links else os.O_NOFOLLOW))
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "not a plain file", str(path))
        return _first(handle, limit)
    finally:
        os.close(handle)


def read_given(path: Path, limit: int) -> bytes:
    """The first `limit` bytes of what a person named: a pipe, too (`<(…)`, `/dev/stdin`), as long as somebody writes.

    Raises:
        OSError: It cannot be opened or read.
    """
    handle = os.open(path, _READ)  # a pipe that nobody has open is empty; it is not waited for
    try:
        os.set_blocking(handle, True)
        return _first(handle, limit)
    finally:
        os.close(handle)


def _first(handle: int, limit: int) -> bytes:
    parts: list[bytes] = []
    left = limit
    while left > 0 and (data := os.read(handle, min(left, _BLOCK))):
        parts.append(data)
        left -= len(data)
    return b"".join(parts)
