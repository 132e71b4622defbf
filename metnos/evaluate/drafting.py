"""A folder under a draft name beside the one it will be: whole, or not there.

Law: a draft is held by a lock (`flock`) while it is written. Whoever makes one first removes those of the same name that
nobody holds: what a killed process left, which may be somebody's turns. Where locks are not to be had nothing is removed.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import tempfile
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def drafted_folder(to: Path) -> Generator[Path]:
    """A new folder beside `to`; it becomes `to` at the end, and goes if that is not reached.

    Args:
        to: Not there, or an empty folder.

    Raises:
        OSError: what the system says.
    """
    to.parent.mkdir(parents=True, exist_ok=True)
    _remove_stale(to)
    draft = tempfile.mkdtemp(prefix=f".{to.name}.", suffix=".draft", dir=to.parent)
    path = to.with_name(os.path.basename(draft))  # noqa: PTH119 - as it was made, whatever `to.parent` looks like
    handle = os.open(path, _OPEN)
    try:
        _hold(handle)
        yield path
        if to.exists():
            to.rmdir()
        path.chmod(0o755)
        path.rename(to)
    finally:
        shutil.rmtree(path, ignore_errors=True)
        os.close(handle)


def _hold(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _remove_stale(to: Path) -> None:
    named = re.compile(rf"\.{re.escape(to.name)}\.[0-9a-z_]{{8}}\.draft", re.ASCII)
    for path in to.parent.iterdir():
        if not named.fullmatch(path.name):
            continue
        try:
            handle = os.open(path, _OPEN)
        except OSError:
            continue
        try:
            if os.fstat(handle).st_uid == os.getuid() and _hold(handle):
                shutil.rmtree(path, ignore_errors=True)
        finally:
            os.close(handle)
