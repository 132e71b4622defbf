"""A file put in place whole: a temporary one beside it, synced, then linked or renamed, then the folder synced.

Law: works in one open folder by names without a slash. A reader sees the old content or the new, never a part; a
crash leaves at most a hidden draft, which the next write there removes (`metnos.drafts`). Creating never replaces,
whatever appears meanwhile.
"""

from __future__ import annotations

import hashlib
import os
import stat
from contextlib import suppress
from typing import NamedTuple

from metnos.drafts import drafted
from metnos.execute.beneath import rename_no_replace
from metnos.sdk import FilesError

_CHUNK = 1024 * 1024


class There(NamedTuple):
    """What bears the name now: its status, and its digest if it is a regular file that can be read."""

    status: os.stat_result
    digest: str | None


def fingerprint(folder: int, name: str, size: int | None = None) -> There | None:
    """What is called `name` in the open folder, None if nothing is; symlinks are not followed.

    With `size`, a file of another size is not read: who looks for the same content knows enough.
    """
    try:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(status.st_mode) or size not in (None, status.st_size):
        return There(status, None)
    try:
        handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except PermissionError:
        return There(status, None)
    try:
        hashed = hashlib.sha256()
        while data := os.read(handle, _CHUNK):
            hashed.update(data)
        return There(status, f"sha256:{hashed.hexdigest()}")
    finally:
        os.close(handle)


def replace_file(
    folder: int, name: str, data: bytes, there: There | None, *, overwrite: bool
) -> tuple[str | None, str]:
    """Write `name`; digests before and after.

    Raises:
        FilesError: `exists`.
        OSError: what the system says.
    """
    after = f"sha256:{hashlib.sha256(data).hexdigest()}"
    if there is not None:
        if there.digest == after:
            return after, after
        if not overwrite:
            raise _exists(name)
    with drafted(folder, 0o666) as (draft, handle):
        _fill(handle, data, there)
        if overwrite:
            os.rename(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
        else:
            try:
                rename_no_replace(folder, draft, name)
            except FileExistsError:
                raise _exists(name) from None
    os.fsync(folder)
    return (there.digest if there is not None else None), after


def _fill(handle: int, data: bytes, there: There | None) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(handle, rest) :]
    if there is not None:
        with suppress(PermissionError):
            os.fchown(handle, there.status.st_uid, there.status.st_gid)
        os.fchmod(handle, stat.S_IMODE(there.status.st_mode))
    os.fsync(handle)


def _exists(name: str) -> FilesError:
    hint = "choose another name, or allow overwriting"
    return FilesError("conflict", "exists", name, "a file of this name is there already, with other content", hint)
