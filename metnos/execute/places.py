"""Places below the granted roots: which root a path lies under, and what may be opened there.

Law: a path is made lexically absolute from the turn's folder, must lie below a root, and is opened beneath that
root's descriptor (`beneath.py`): the text chooses the root, the kernel holds the line. What is withheld stays closed
below a root, too. The trash of a root (`TRASH`) is read like any folder and changed by `trash` and `restore` alone.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote_from_bytes

from metnos.execute import beneath
from metnos.sdk import ErrorClass, FilesError

if TYPE_CHECKING:
    from collections.abc import Generator

    from metnos.execute.beneath import OpenBeneath
    from metnos.execute.grant import Grant

SCAN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
TRASH = ".metnos-trash"
"""Folder directly below each root; `docs/trash.md` says what is in it."""
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


def grant_hint(folder: str) -> str:
    """How to grant `folder`, and no more than it; nobody is told to grant everything."""
    return f"grant it with --root {folder}" if folder != "/" else "grant a folder that holds it with --root DIR"


class Places:
    """Roots, and the descriptors of those that were used."""

    def __init__(self, grant: Grant, opener: OpenBeneath | None = None) -> None:
        """Open nothing yet; `opener` is chosen by tests only."""
        self._folder = os.path.normpath(grant.folder)
        self._roots = sorted((os.path.normpath(root) for root in grant.roots), key=len, reverse=True)
        self._withheld = withheld(self._roots, grant.withheld)
        self._allow_hidden = grant.allow_hidden
        self._open = opener or beneath.best()
        self._descriptors: dict[str, int] = {}
        self._pseudo = {device(place) for place in ("/proc", "/sys")} - {device("/"), None}

    def close(self) -> None:
        """Give the roots' descriptors back; a later use opens them again."""
        while self._descriptors:
            os.close(self._descriptors.popitem()[1])

    __del__ = close

    # --- paths ---------------------------------------------------------------------------------------------------

    def _locate(self, path: str) -> tuple[str, str]:
        """The root and the path below it (empty for the root itself)."""
        if "\0" in path:
            raise FilesError("arguments", "bad-path", path.replace("\0", "\\0"), "a path holds no NUL")
        if not path:
            raise FilesError("arguments", "bad-path", path, "the path is empty")
        absolute = os.path.normpath(joined(self._folder, path))
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
        folder = absolute if Path(absolute).is_dir() else str(Path(absolute).parent)
        raise FilesError("denied", "outside-roots", path, "the path is outside the granted folders", grant_hint(folder))

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
                deeper = folder_made(here, name)
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
            raise translate(path, OSError(errno.ELOOP, ""))
        if not stat.S_ISREG(found.st_mode):
            raise FilesError("denied", "not-a-file", path, "it is no regular file (a pipe, a socket or a device)")
        self._refuse_pseudo(path, found)

    @contextmanager
    def _translated(self, path: str) -> Generator[None]:
        try:
            yield
        except OSError as fault:
            raise translate(path, fault) from fault

    def _relative(self, absolute: str) -> str:
        below = self._folder if self._folder.endswith("/") else self._folder + "/"
        if absolute.startswith(below):
            return absolute[len(below) :]
        return "." if absolute == self._folder else absolute

    def _refuse_trash(self, path: str, inner: str) -> None:
        if TRASH in inner.split("/"):
            raise FilesError(
                "denied", "in-trash", path, "it is in the trash", "`metnos undo TURN` takes things out of it"
            )


def place_of(absolute: str) -> dict[str, str]:
    """An absolute path as a receipt holds it: `path` to show, and `path_bytes` to act on where it is not UTF-8."""
    try:
        absolute.encode("utf-8")
    except UnicodeEncodeError:
        return {"path": shown(absolute), "path_bytes": quote_from_bytes(os.fsencode(absolute), safe="/")}
    return {"path": absolute}


def joined(folder: str, path: str) -> str:
    """`path` as it is reached from `folder`; text, because names may hold bytes that are not UTF-8."""
    if path.startswith("/"):
        return path
    return (folder if folder.endswith("/") else folder + "/") + path if path else folder


def withheld(roots: list[str], closed: tuple[str, ...]) -> frozenset[str]:
    """What of `closed` lies below the roots, spelled as it is reached from each: below a root nothing is a symlink."""
    found: set[str] = set()
    for place in map(os.path.realpath, closed):
        for root in roots:
            real = os.path.realpath(root)
            if real == place or real.startswith(place.rstrip("/") + "/"):
                found.add(root)
            elif place.startswith(real.rstrip("/") + "/"):
                found.add(joined(root, place[len(real.rstrip("/")) + 1 :]))
    return frozenset(found)


def folder_made(here: int, name: str) -> int:
    """The open folder `name` in the open folder `here`, made if there is none."""
    try:
        os.mkdir(name, dir_fd=here)
        os.fsync(here)
    except FileExistsError:
        pass
    return os.open(name, SCAN, dir_fd=here)


def shown(path: str) -> str:
    """`path` as text: bytes that are not UTF-8 become U+FFFD."""
    return os.fsencode(path).decode("utf-8", "replace")


def device(place: str) -> int | None:
    """Number of the file system at `place`, None if there is none."""
    try:
        return Path(place).stat().st_dev
    except OSError:
        return None


def translate(path: str, fault: OSError) -> FilesError:
    """What the system says, as a refusal with a class and a code."""
    cls, code, message = _BY_ERRNO.get(
        fault.errno or 0, ("operational", "io-error", f"the system says: {fault.strerror or fault}")
    )
    return FilesError(cls, code, shown(path), message)
