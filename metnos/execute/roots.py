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
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote_from_bytes

from metnos.execute import beneath
from metnos.execute.writing import fingerprint, replace_file
from metnos.sdk import ErrorClass, FileEntry, FilesError

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from metnos.execute.beneath import OpenBeneath
    from metnos.execute.grant import Grant

_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY
_SCAN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_DEEPEST = 200
"""Folders within folders: each holds a descriptor while its contents are listed."""
_TOLD = 20
"""Places named in warnings; further ones are only counted."""
_PATH_MAX = 4096

_BY_ERRNO: dict[int, tuple[ErrorClass, str, str]] = {
    errno.ENOENT: ("missing", "not-found", "there is no such file or folder"),
    errno.ENOTDIR: ("missing", "not-a-folder", "a part of the path is not a folder, or is a symlink"),
    errno.ELOOP: ("denied", "symlink", "a part of the path is a symlink; symlinks are not followed"),
    errno.EXDEV: ("denied", "outside-roots", "the path leads outside the granted folders"),
    errno.EACCES: ("denied", "no-permission", "the system does not permit it"),
    errno.EPERM: ("denied", "no-permission", "the system does not permit it"),
    errno.EROFS: ("denied", "read-only", "the file system is read-only"),
    errno.ENAMETOOLONG: ("arguments", "name-too-long", "the name is too long"),
    errno.EISDIR: ("arguments", "is-a-folder", "it is a folder"),
    errno.EEXIST: ("conflict", "exists", "it is there already"),
    errno.ENOSPC: ("operational", "no-space", "there is no space left"),
    errno.EDQUOT: ("operational", "no-space", "the quota is used up"),
}


class RootedFiles:
    """`metnos.sdk.Files` for one call."""

    def __init__(self, grant: Grant, opener: OpenBeneath | None = None) -> None:
        """Open nothing yet; `opener` is chosen by tests only."""
        self.skipped: Counter[str] = Counter()
        self.warnings: list[str] = []
        self._folder = os.path.normpath(grant.folder)
        self._roots = sorted((os.path.normpath(root) for root in grant.roots), key=len, reverse=True)
        self._withheld = _withheld(self._roots, grant.withheld)
        self._allow_hidden = grant.allow_hidden
        self._open = opener or beneath.best()
        self._descriptors: dict[str, int] = {}
        self._pseudo = {_device(place) for place in ("/proc", "/sys")} - {_device("/"), None}

    def close(self) -> None:
        """Give the roots' descriptors back; a later use opens them again."""
        while self._descriptors:
            os.close(self._descriptors.popitem()[1])

    __del__ = close

    # --- the protocol --------------------------------------------------------------------------------------------

    def scan(self, path: str, *, recursive: bool, hidden: bool) -> Generator[FileEntry]:
        """Entries below the folder `path`, folders before their contents, names in byte order.

        Raises:
            FilesError: `path` cannot be listed. What cannot be listed below it is counted in `skipped`.
        """
        root, inner = self._locate(path)
        with self._translated(path):
            top = self._open_below(root, inner, os.O_RDONLY | os.O_DIRECTORY)
        absolute = _joined(root, inner)
        try:
            self._refuse_pseudo(path, os.fstat(top))
            listed = _listed(top)
        except OSError as fault:
            os.close(top)
            raise _translate(path, fault) from fault
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
        absolute = _joined(root, inner)
        return self._entry(absolute, absolute.rpartition("/")[2], found)

    def read(self, path: str, *, limit: int) -> tuple[bytes, int]:
        """The first `limit` bytes of a regular file, and its size in bytes.

        Raises:
            FilesError: it is missing, not a regular file, or may not be read.
        """
        root, inner = self._locate(path)
        with self._translated(path):
            # Looked at before it is opened: opening a pipe or a device may already do something.
            before = self._look(root, inner)
            self._require_regular(path, before)
            descriptor = self._open_below(root, inner, _READ)
            try:
                found = os.fstat(descriptor)
                self._require_regular(path, found)
                return _read_all(descriptor, limit), found.st_size
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
        parent, name = os.path.split(inner)
        with self._translated(path):
            folder = self._folder_for(root, parent, make=make_dirs)
            try:
                there = fingerprint(folder, name)
                if there is not None:
                    self._require_regular(path, there.status)
                return replace_file(folder, name, data, there, overwrite=overwrite)
            finally:
                os.close(folder)

    # --- paths ---------------------------------------------------------------------------------------------------

    def _locate(self, path: str) -> tuple[str, str]:
        """The root and the path below it (empty for the root itself)."""
        if "\0" in path:
            raise FilesError("arguments", "bad-path", path.replace("\0", "\\0"), "a path holds no NUL")
        if not path:
            raise FilesError("arguments", "bad-path", path, "the path is empty")
        absolute = os.path.normpath(_joined(self._folder, path))
        if absolute.startswith("//"):
            absolute = absolute[1:]
        if len(os.fsencode(absolute)) >= _PATH_MAX:
            raise FilesError("arguments", "name-too-long", path[:200], "the path is too long")
        if any(absolute == place or absolute.startswith(place + "/") for place in self._withheld):
            raise FilesError("denied", "withheld", path, "Metnos keeps its keys and logs there")
        for root in self._roots:
            if absolute == root:
                return root, ""
            below = root if root.endswith("/") else root + "/"
            if absolute.startswith(below):
                return root, absolute[len(below) :]
        hint = f"grant it with --root {absolute.rpartition('/')[0] or '/'}"
        raise FilesError("denied", "outside-roots", path, "the path is outside the granted folders", hint)

    def _root(self, root: str) -> int:
        descriptor = self._descriptors.get(root)
        if descriptor is None:
            # The root itself is trusted: it was named by the person, and may be a symlink.
            descriptor = self._descriptors[root] = os.open(root, beneath.FOLDER | os.O_CLOEXEC)
        return descriptor

    def _open_below(self, root: str, inner: str, flags: int) -> int:
        if not inner:
            return os.open(root, flags | os.O_CLOEXEC)
        return self._open(self._root(root), os.fsencode(inner), flags)

    def _look(self, root: str, inner: str) -> os.stat_result:
        descriptor = self._open_below(root, inner, beneath.O_PATH)
        try:
            return os.fstat(descriptor)
        finally:
            os.close(descriptor)

    def _folder_for(self, root: str, inner: str, *, make: bool) -> int:
        try:
            return self._open_below(root, inner, os.O_RDONLY | os.O_DIRECTORY)
        except FileNotFoundError:
            if not make or not inner:
                raise
        here = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        for name in inner.split("/"):
            try:
                deeper = _folder_made(here, name)
            finally:
                os.close(here)
            here = deeper
        return here

    # --- what may be touched -------------------------------------------------------------------------------------

    def _refuse_pseudo(self, path: str, found: os.stat_result) -> None:
        if found.st_dev in self._pseudo:
            raise FilesError("denied", "not-a-file-system", path, "what the kernel shows of itself is not read")

    def _require_regular(self, path: str, found: os.stat_result) -> None:
        if stat.S_ISDIR(found.st_mode):
            raise FilesError("arguments", "is-a-folder", path, "it is a folder")
        if stat.S_ISLNK(found.st_mode):
            raise _translate(path, OSError(errno.ELOOP, ""))
        if not stat.S_ISREG(found.st_mode):
            raise FilesError("denied", "not-a-file", path, "it is no regular file (a pipe, a socket or a device)")
        self._refuse_pseudo(path, found)

    @contextmanager
    def _translated(self, path: str) -> Generator[None]:
        try:
            yield
        except OSError as fault:
            raise _translate(path, fault) from fault

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
                inner = _joined(place, item.name)
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
            deeper = os.open(name, _SCAN, dir_fd=folder)
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
            self.warnings.append(f"{reason}: {_shown(self._relative(place))}")

    def _entry(self, absolute: str, name: str, found: os.stat_result) -> FileEntry:
        path = self._relative(absolute)
        path_bytes = None
        try:
            path.encode("utf-8")
        except UnicodeEncodeError:
            path_bytes = quote_from_bytes(os.fsencode(path), safe="/")
            path, name = _shown(path), _shown(name)
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

    def _relative(self, absolute: str) -> str:
        below = self._folder if self._folder.endswith("/") else self._folder + "/"
        if absolute.startswith(below):
            return absolute[len(below) :]
        return "." if absolute == self._folder else absolute


def _joined(folder: str, path: str) -> str:
    """`path` as it is reached from `folder`; text, because names may hold bytes that are not UTF-8."""
    if path.startswith("/"):
        return path
    return (folder if folder.endswith("/") else folder + "/") + path if path else folder


def _withheld(roots: list[str], closed: tuple[str, ...]) -> frozenset[str]:
    """What of `closed` lies below the roots, spelled as it is reached from each: below a root nothing is a symlink."""
    found: set[str] = set()
    for place in map(os.path.realpath, closed):
        for root in roots:
            real = os.path.realpath(root)
            if real == place or real.startswith(place.rstrip("/") + "/"):
                found.add(root)
            elif place.startswith(real.rstrip("/") + "/"):
                found.add(_joined(root, place[len(real.rstrip("/")) + 1 :]))
    return frozenset(found)


def _listed(folder: int) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        return sorted(entries, key=lambda entry: os.fsencode(entry.name))


def _folder_made(here: int, name: str) -> int:
    try:
        os.mkdir(name, dir_fd=here)
        os.fsync(here)
    except FileExistsError:
        pass
    return os.open(name, _SCAN, dir_fd=here)


def _read_all(descriptor: int, limit: int) -> bytes:
    parts: list[bytes] = []
    left = limit
    while left > 0:
        data = os.read(descriptor, min(left, 1024 * 1024))
        if not data:
            break
        parts.append(data)
        left -= len(data)
    return b"".join(parts)


def _shown(path: str) -> str:
    return os.fsencode(path).decode("utf-8", "replace")


def _device(place: str) -> int | None:
    try:
        return Path(place).stat().st_dev
    except OSError:
        return None


def _translate(path: str, fault: OSError) -> FilesError:
    cls, code, message = _BY_ERRNO.get(
        fault.errno or 0, ("operational", "io-error", f"the system says: {fault.strerror or fault}")
    )
    return FilesError(cls, code, _shown(path), message)
