"""A file that is not whole yet: written from its beginning, by one process, digested as it grows.

    with Partial.open(folder / "m.gguf", total=1_000) as partial:     # m.gguf.part; what is there already is kept
        partial.write(data)
        partial.finish("cc32…")                                       # m.gguf, if it is that

Law: it has the name of the whole file only when its digest is the one that is asked for. One process holds it, by a
lock that the kernel gives back. Knows no source.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import stat
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Generator

BLOCK = 1 << 20
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


class Partial:
    """Of `path`, which lies in a folder of the user's own."""

    def __init__(self, path: Path, handle: int, total: int) -> None:
        self.path = path
        self.total = total
        self._handle = handle
        self._part = _part_of(path)
        self._hash: Any = hashlib.sha256()
        self.size = 0

    @classmethod
    @contextmanager
    def open(cls, path: Path, *, total: int) -> Generator[Partial]:
        """Hold it; what an earlier process wrote is read again, so that its digest is known.

        Raises:
            BlockingIOError: Another process holds it.
            OSError: What the system says.
        """
        handle = os.open(_part_of(path), _FLAGS, 0o600)
        try:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise OSError(errno.EINVAL, "not a plain file", str(_part_of(path)))
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            partial = cls(path, handle, total)
            partial._read_again()
            yield partial
        finally:
            os.close(handle)

    def _read_again(self) -> None:
        if os.fstat(self._handle).st_size > self.total:
            self.cut(0)
        while data := os.pread(self._handle, BLOCK, self.size):
            self._hash.update(data)
            self.size += len(data)

    @property
    def missing(self) -> int:
        """Bytes."""
        return self.total - self.size

    def write(self, data: bytes) -> None:
        """Add to its end.

        Raises:
            OSError: The disk is full (ENOSPC), or it would be longer than it may (EFBIG).
        """
        if len(data) > self.missing:
            raise OSError(errno.EFBIG, f"longer than {self.total} bytes")
        view = memoryview(data)
        while view:
            written = os.pwrite(self._handle, view, self.size)
            self._hash.update(view[:written])
            self.size += written
            view = view[written:]

    def cut(self, size: int) -> None:
        """Keep only the first `size` bytes."""
        if size == self.size == os.fstat(self._handle).st_size:
            return
        os.ftruncate(self._handle, size)
        self._hash, self.size = hashlib.sha256(), 0
        while data := os.pread(self._handle, min(BLOCK, size - self.size), self.size):
            self._hash.update(data)
            self.size += len(data)

    def is_whole(self, sha256: str) -> bool:
        """Whether it is what that digest is of."""
        return self.size == self.total and self._hash.hexdigest() == sha256

    def finish(self, sha256: str) -> Path:
        """Give it its name.

        Raises:
            ValueError: It is not what that digest is of.
        """
        if not self.is_whole(sha256):
            raise ValueError("not the bytes that were asked for")
        os.fsync(self._handle)
        self._part.replace(self.path)
        folder = os.open(self.path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
        return self.path


def _part_of(path: Path) -> Path:
    return path.with_name(path.name + ".part")


def digest_of(path: Path) -> str:
    """SHA-256 of a plain file, in small hexadecimal digits.

    Raises:
        OSError: It cannot be read, or is no plain file.
    """
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "not a plain file", str(path))
        return hashlib.file_digest(file, "sha256").hexdigest()
