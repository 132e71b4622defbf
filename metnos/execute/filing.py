"""A file copied or moved between two open folders: whole or not at all, never over what was not named.

Law: works by open folders and names without a slash, as `writing.py` does, and knows neither roots nor trash. A copy
is filled under a draft name (`metnos.drafts`), synced, then given its own; so a copy that was cut off is begun anew and
never seen. A move between file systems takes the source away last, after the copy is on disk.
"""

from __future__ import annotations

import hashlib
import os
import stat
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple

from metnos.drafts import drafted
from metnos.execute.beneath import rename_no_replace
from metnos.sdk import FilesError

if TYPE_CHECKING:
    from collections.abc import Generator

_CHUNK = 1024 * 1024
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_MODE = 0o777
"""Permission bits that a copy keeps; it is never set-user-id."""


class Spot(NamedTuple):
    """A name in an open folder."""

    folder: int
    name: str


class Copied(NamedTuple):
    """A filled draft."""

    name: str
    digest: str
    source: os.stat_result


def status_of(spot: Spot) -> os.stat_result | None:
    """What is there, None if nothing is; symlinks are not followed."""
    try:
        return os.stat(spot.name, dir_fd=spot.folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def same_file(one: os.stat_result, other: os.stat_result) -> bool:
    """Whether both names are of one file."""
    return (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)


@contextmanager
def filled(source: Spot, into: int) -> Generator[Copied]:
    """A copy of `source` under a draft name in `into`, on disk; whoever gives it no other name leaves nothing.

    Raises:
        FilesError: `changed-since`: it changed while it was read.
        OSError: what the system says.
    """
    handle = os.open(source.name, _READ, dir_fd=source.folder)
    try:
        with drafted(into) as (draft, made):
            yield Copied(draft, *_fill(handle, source, made))
    finally:
        os.close(handle)


def _fill(handle: int, source: Spot, made: int) -> tuple[str, os.stat_result]:
    found = os.fstat(handle)
    hashed = hashlib.sha256()
    while data := os.read(handle, _CHUNK):
        hashed.update(data)
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(made, rest) :]
    os.fchmod(made, stat.S_IMODE(found.st_mode) & _MODE)
    os.utime(made, ns=(found.st_atime_ns, found.st_mtime_ns))
    os.fsync(made)
    now = os.stat(source.name, dir_fd=source.folder, follow_symlinks=False)
    if _state(now) != _state(found):
        raise FilesError("conflict", "changed-since", source.name, "it changed while it was copied", "do it again")
    return f"sha256:{hashed.hexdigest()}", found


def _state(found: os.stat_result) -> tuple[int, ...]:
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


def put(spot: Spot, name: str, *, replace: bool) -> None:
    """Give the draft `name` beside it its own name, on disk.

    Raises:
        OSError: EEXIST if something is there and may not be replaced.
    """
    if replace:
        os.rename(name, spot.name, src_dir_fd=spot.folder, dst_dir_fd=spot.folder)
        _settle(spot.folder)
        return
    rename_no_replace(spot.folder, name, spot.name)
    try:
        os.fsync(spot.folder)
    except OSError:
        os.unlink(spot.name, dir_fd=spot.folder)
        raise


def rename(source: Spot, target: Spot, *, replace: bool) -> None:
    """Within one file system, at once, on disk.

    Raises:
        OSError: EXDEV for two file systems; EEXIST if something is there and may not be replaced.
    """
    if replace:
        os.rename(source.name, target.name, src_dir_fd=source.folder, dst_dir_fd=target.folder)
        _settle(target.folder, source.folder)
        return
    rename_no_replace(source.folder, source.name, target.name, target.folder)
    try:
        os.fsync(target.folder)
        os.fsync(source.folder)
    except OSError:
        rename_no_replace(target.folder, target.name, source.name, source.folder)
        raise


def _settle(*folders: int) -> None:
    """Sync after a replacement, which cannot be taken back: it is made, whatever the disk says now.

    A power failure could bring the old file back; that is kept, too, and lost in neither case.
    """
    for folder in folders:
        with suppress(OSError):
            os.fsync(folder)


def across(source: Spot, target: Spot, *, replace: bool) -> None:
    """Between file systems: copied whole, then the source is taken away.

    Raises:
        FilesError: `changed-since`.
        OSError: what the system says; the source is as it was.
    """
    if not os.access(".", os.W_OK | os.X_OK, dir_fd=source.folder, effective_ids=True):
        raise PermissionError(13, "the folder may not be changed", source.name)
    with filled(source, target.folder) as copied:
        put(target, copied.name, replace=replace)
        os.fsync(target.folder)  # whatever was replaced: nothing is taken away before its copy is on disk
        take_away(source, copied.source)


def take_away(source: Spot, known: os.stat_result) -> None:
    """Unlink the source of a move whose copy is on disk, if it is still the file that was copied.

    Raises:
        FilesError: `changed-since`: it is not; both are kept.
    """
    if _state(os.stat(source.name, dir_fd=source.folder, follow_symlinks=False)) != _state(known):
        raise FilesError("conflict", "changed-since", source.name, "it changed while it was moved; both are kept")
    os.unlink(source.name, dir_fd=source.folder)
    os.fsync(source.folder)
