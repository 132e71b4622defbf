"""Files below the granted roots, as executors see them: found, read and written, never outside, never by a symlink.

Law: a path is made lexically absolute from the turn's folder, must lie below a root, and is opened beneath that
root's descriptor (`beneath.py`): the text chooses the root, the kernel holds the line. What is withheld stays closed below
a root, too: no plan touches the keys and logs by which it is judged. Only regular files are read and replaced. What a scan could not see is counted and told, never dropped in silence.

A name that is not UTF-8 reaches an executor twice: `path` with U+FFFD to show, `path_bytes` percent-encoded to act
on. Acting takes `os.fsdecode(unquote_to_bytes(path_bytes))`: text whose odd bytes are surrogates, which is what
every method here accepts and what no JSON argument can spell.
"""

from __future__ import annotations

import errno
import os
import stat
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import quote_from_bytes

from metnos.execute import beneath
from metnos.execute.acting import ActingFiles
from metnos.execute.places import SCAN, TRASH, joined, shown, translate
from metnos.execute.writing import fingerprint, replace_file
from metnos.sdk import FileEntry, FilesError

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from metnos.execute.beneath import OpenBeneath
    from metnos.execute.grant import Grant

_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY
_DEEPEST = 200
"""Folders within folders: each holds a descriptor while its contents are listed."""
_TOLD = 20
"""Places named in warnings; further ones are only counted."""
_BLOCK = 1024 * 1024


class RootedFiles(ActingFiles):
    """`metnos.sdk.Files` for one call."""

    def __init__(self, grant: Grant, opener: OpenBeneath | None = None) -> None:
        """Open nothing yet; `opener` is chosen by tests only."""
        super().__init__(grant, opener)
        self.skipped: Counter[str] = Counter()
        self.warnings: list[str] = []

    # --- the protocol --------------------------------------------------------------------------------------------

    def scan(self, path: str, *, recursive: bool, hidden: bool) -> Generator[FileEntry]:
        """Entries below the folder `path`, folders before their contents, names in byte order.

        Raises:
            FilesError: `path` cannot be listed. What cannot be listed below it is counted in `skipped`.
        """
        root, inner = self._locate(path)
        with self._translated(path):
            top = self._open_below(root, inner, os.O_RDONLY | os.O_DIRECTORY)
        absolute = joined(root, inner)
        try:
            self._refuse_pseudo(path, os.fstat(top))
            listed = _listed(top)
        except OSError as fault:
            os.close(top)
            raise translate(path, fault) from fault
        return self._walk(top, listed, absolute, recursive=recursive, hidden=hidden and self._allow_hidden)

    def stat(self, path: str) -> FileEntry:
        """What is at `path`.

        Raises:
            FilesError: nothing is, or it may not be seen.
        """
        root, inner = self._locate(path)
        with self._translated(path):
            descriptor = self._open_below(root, inner, beneath.O_PATH)
            try:
                found = os.fstat(descriptor)
            finally:
                os.close(descriptor)
            self._refuse_pseudo(path, found)
        absolute = joined(root, inner)
        return self._entry(absolute, absolute.rpartition("/")[2], found)

    def read(self, path: str, *, limit: int) -> tuple[bytes, int]:
        """The first `limit` bytes of a regular file, and its size in bytes.

        Raises:
            FilesError: it is missing, not a regular file, or may not be read.
        """
        with self._opened(path) as (descriptor, found):
            return _read_all(descriptor, limit), found.st_size

    def blocks(self, path: str) -> Generator[bytes]:
        """The bytes of a whole regular file, in blocks of at most 1 MiB.

        Raises:
            FilesError: as `read`; or it changed meanwhile (`changed`).
        """
        with self._opened(path) as (descriptor, before):
            while data := os.read(descriptor, _BLOCK):
                yield data
            now = os.fstat(descriptor)
            if (now.st_size, now.st_mtime_ns) != (before.st_size, before.st_mtime_ns):
                raise FilesError("conflict", "changed", path, "it changed while it was read")

    @contextmanager
    def _opened(self, path: str) -> Generator[tuple[int, os.stat_result]]:
        root, inner = self._locate(path)
        with self._translated(path):
            self._require_regular(path, self._look(root, inner))  # first: opening a pipe may already do something
            descriptor = self._open_below(root, inner, _READ)
            try:
                found = os.fstat(descriptor)
                self._require_regular(path, found)
                yield descriptor, found
            finally:
                os.close(descriptor)

    def write(self, path: str, data: bytes, *, overwrite: bool, make_dirs: bool = True) -> tuple[str | None, str]:
        """Put a file in place whole, on disk when this returns: digests of what was there and of what is.

        The same content that is there already is a success without a write (both digests are equal): so an
        operation that is run again after a crash succeeds.

        Raises:
            FilesError: `exists` (and `overwrite` is false), or it may not be written.
        """
        root, inner = self._locate(path)
        if not inner:
            raise FilesError("arguments", "is-a-folder", path, "it is a folder")
        self._refuse_trash(path, inner)
        parent, name = os.path.split(inner)
        with self._translated(path):
            folder = self._folder_for(root, parent, make=make_dirs)
            try:
                there = fingerprint(folder, name, None if overwrite else len(data))
                if there is not None:
                    self._require_regular(path, there.status)
                return replace_file(folder, name, data, there, overwrite=overwrite)
            finally:
                os.close(folder)

    # --- scanning ------------------------------------------------------------------------------------------------

    def _walk(
        self, top: int, listed: list[os.DirEntry[str]], absolute: str, *, recursive: bool, hidden: bool
    ) -> Generator[FileEntry]:
        stack: list[tuple[int, str, Iterator[os.DirEntry[str]]]] = [(top, absolute, iter(listed))]
        try:
            while stack:
                folder, place, entries = stack[-1]
                item = next(entries, None)
                if item is None:
                    os.close(folder)
                    stack.pop()
                    continue
                if item.name.startswith(".") and not hidden:
                    continue
                inner = joined(place, item.name)
                if item.name == TRASH:
                    self.skipped["trash"] += 1
                    continue
                if inner in self._withheld:
                    self._skip("withheld", inner)
                    continue
                found = self._status(item)
                if found is None or found.st_dev in self._pseudo:
                    continue
                yield self._entry(inner, item.name, found)
                if recursive and stat.S_ISDIR(found.st_mode):
                    deeper = self._descend(folder, item.name, inner, len(stack))
                    if deeper is not None:
                        stack.append((deeper[0], inner, iter(deeper[1])))
        finally:
            for folder, _, _ in stack:
                os.close(folder)

    def _status(self, item: os.DirEntry[str]) -> os.stat_result | None:
        try:
            return item.stat(follow_symlinks=False)
        except OSError:
            self.skipped["vanished"] += 1
            return None

    def _descend(self, folder: int, name: str, inner: str, depth: int) -> tuple[int, list[os.DirEntry[str]]] | None:
        if depth >= _DEEPEST:
            return self._skip("too-deep", inner)
        try:
            deeper = os.open(name, SCAN, dir_fd=folder)
        except OSError as fault:
            gone = fault.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)
            return self._skip("vanished" if gone else "unreadable", inner)
        try:
            return deeper, _listed(deeper)
        except OSError:
            os.close(deeper)
            return self._skip("unreadable", inner)

    def _skip(self, reason: str, place: str) -> None:
        self.skipped[reason] += 1
        if reason != "vanished" and len(self.warnings) < _TOLD:
            self.warnings.append(f"{reason}: {shown(self._relative(place))}")

    def _entry(self, absolute: str, name: str, found: os.stat_result) -> FileEntry:
        path = self._relative(absolute)
        path_bytes = None
        try:
            path.encode("utf-8")
        except UnicodeEncodeError:
            path_bytes = quote_from_bytes(os.fsencode(path), safe="/")
            path, name = shown(path), shown(name)
        return FileEntry(
            path=path,
            name=name,
            is_dir=stat.S_ISDIR(found.st_mode),
            is_file=stat.S_ISREG(found.st_mode),
            is_link=stat.S_ISLNK(found.st_mode),
            size=found.st_size,
            modified_ns=found.st_mtime_ns,
            path_bytes=path_bytes,
        )


def _listed(folder: int) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        return sorted(entries, key=lambda entry: os.fsencode(entry.name))


def _read_all(descriptor: int, limit: int) -> bytes:
    parts: list[bytes] = []
    left = limit
    while left > 0:
        data = os.read(descriptor, min(left, _BLOCK))
        if not data:
            break
        parts.append(data)
        left -= len(data)
    return b"".join(parts)
