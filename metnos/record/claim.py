"""One process per turn: a lock on a file of the turn's name, which the kernel gives up when the process dies.

Law: the lock says who may write now; the fence in the database says who came last. Both are needed: the lock frees
itself after `kill -9`, the fence refuses whoever wakes up late where locks do not hold. A process that is forked
meanwhile shares the open file, and with it the lock: its copy is closed at once, or the turn would stay claimed for as
long as the child lives.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from pathlib import Path
from weakref import WeakSet

from metnos.record.faults import RecordFault


class Claim:
    """A held lock. `release` may be called twice."""

    __slots__ = ("__weakref__", "_file", "_path", "_process")

    def __init__(self, file: int, path: Path) -> None:
        self._file = file
        self._path = path
        self._process = os.getpid()
        _held.add(self)

    def release(self) -> None:
        """Remove the lock's file and give the lock up, in this order: a name never stands for two locks.

        A file that cannot be removed stays, without a lock on it: whoever claims the turn next takes it over. In a
        child that was forked only the copy is closed: name and lock are the parent's.
        """
        if self._file < 0:
            return
        file, self._file = self._file, -1
        _held.discard(self)
        if self._process == os.getpid():
            with suppress(OSError):
                self._path.unlink(missing_ok=True)
        os.close(file)


_held: WeakSet[Claim] = WeakSet()


def _in_child() -> None:
    for claim in list(_held):
        claim.release()


os.register_at_fork(after_in_child=_in_child)


def claim_turn(folder: Path, turn: str) -> Claim:
    """Take the lock of `turn` in `folder`, without waiting.

    Raises:
        RecordFault: `turn-busy`, another process (or another writer of this one) has it; `record-store`.
    """
    path = folder / turn
    try:
        while True:
            file = _open(path)
            if not _locked(file):
                os.close(file)
                raise RecordFault(
                    "turn-busy",
                    f"turn {turn} is being worked on by another process",
                    turn=turn,
                    hint="wait until it ends, or stop that process",
                )
            if os.fstat(file).st_nlink:
                return Claim(file, path)
            os.close(file)  # its holder removed it between our open and our lock
    except OSError as fault:
        raise RecordFault("record-store", f"{path}: {fault}", turn=turn) from fault


def _open(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except FileNotFoundError:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)


def _locked(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
