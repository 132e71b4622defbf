"""One process per turn: a lock on a file of the turn's name, which the kernel gives up when the process dies.

Law: the lock says who may write now; the fence in the database says who came last. Both are needed: the lock frees
itself after `kill -9`, the fence refuses whoever wakes up late where locks do not hold. The lock is the process's
(`fcntl`), not the open file's (`flock`): a worker that is being started shares the open file until it has become
another program, and would hold a turn of a parent that was killed meanwhile. Such a lock does not keep two threads
apart, and is lost with the first descriptor of its file that is closed, so a list says what this process holds, and a
file that is held is not opened again. A child that is forked holds nothing, and closes its copies.
"""

from __future__ import annotations

import fcntl
import os
import threading
from contextlib import suppress
from pathlib import Path

from metnos.record.faults import RecordFault

Place = tuple[int, int, str]
"""Device and number of the folder, name of the turn: the same by whatever path."""


class Claim:
    """A held lock. `release` may be called twice."""

    __slots__ = ("_file", "_path", "_place")

    def __init__(self, file: int, path: Path, place: Place) -> None:
        self._file = file
        self._path = path
        self._place = place

    def release(self) -> None:
        """Remove the lock's file and give the lock up, in this order: a name never stands for two locks.

        A file that cannot be removed stays, without a lock on it: whoever claims the turn next takes it over. In a
        child that was forked there is nothing left to give up.
        """
        with _here.lock:
            if self._file < 0:
                return
            file, self._file = self._file, -1
            _here.held.discard(self)
            with suppress(OSError):
                self._path.unlink(missing_ok=True)
            os.close(file)

    def holds(self, place: Place) -> bool:
        """Whether it is this turn's, not given up, and its file still has the name."""
        return self._file >= 0 and self._place == place and os.fstat(self._file).st_nlink > 0

    def leave(self) -> None:
        """Close the copy that a forked child has: name and lock are the parent's."""
        file, self._file = self._file, -1
        if file >= 0:
            os.close(file)


class _Here:
    """What this process holds."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.held: set[Claim] = set()


_here = _Here()


def _in_child() -> None:
    held = list(_here.held)
    _here.__init__()  # another thread of the parent may have had the lock
    for claim in held:
        claim.leave()


os.register_at_fork(after_in_child=_in_child)


def claim_turn(folder: Path, turn: str) -> Claim:
    """Take the lock of `turn` in `folder`, without waiting.

    Raises:
        RecordFault: `turn-busy`, another process (or another writer of this one) has it; `record-store`.
    """
    path = folder / turn
    try:
        with _here.lock:
            place = _place_of(path)
            claim = None if any(claim.holds(place) for claim in _here.held) else _claimed(path, place)
            if claim is not None:
                _here.held.add(claim)
    except OSError as fault:
        raise RecordFault("record-store", f"{path}: {fault}", turn=turn) from fault
    if claim is None:
        raise RecordFault(
            "turn-busy",
            f"turn {turn} is being worked on by another process",
            turn=turn,
            hint="wait until it ends, or stop that process",
        )
    return claim


def _place_of(path: Path) -> Place:
    folder = path.parent
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = folder.stat()
    return found.st_dev, found.st_ino, path.name


def _claimed(path: Path, place: Place) -> Claim | None:
    while True:
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        if not _locked(file):
            os.close(file)
            return None
        if os.fstat(file).st_nlink:
            return Claim(file, path, place)
        os.close(file)  # its holder removed it between our open and our lock


def _locked(file: int) -> bool:
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):  # POSIX leaves it open which of the two
        return False
    return True
