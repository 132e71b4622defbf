"""The head anchors: how far each turn's log must reach, in a file of their own beside the database.

One line an anchor: `metnos.anchor/1 TURN SEQ sha256:HASH CHECK`, where CHECK is the first 16 hex digits of the
SHA-256 of what stands before it. The last line of a turn counts.

Law: a line is added by one write under an exclusive lock; with `sync` it is on disk when `add` returns. A last line
without its line end is what a crash left: it is passed over, and cut off by the next writer. Any other line that is
not in this form is `anchor-malformed`; it might hide a newer anchor, so nothing behind it is believed.
"""

from __future__ import annotations

import fcntl
import os
import stat
import threading
from collections.abc import Collection, Generator
from contextlib import contextmanager
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from metnos import plainfile
from metnos.record.faults import RecordFault
from metnos.record.keys import sync_folder
from metnos.record.model import Anchor

_VERSION = "metnos.anchor/1"
_CHECK_DIGITS = 16
_FIELDS = 5
_MOST_BYTES = 256 * 1024 * 1024
"""Some two million turns; a file that says it is larger was not made by this room."""


def format_anchor(anchor: Anchor) -> bytes:
    """One line, its line end included."""
    text = f"{_VERSION} {anchor.turn} {anchor.seq} {anchor.hash} ".encode()
    return text + sha256(text).hexdigest()[:_CHECK_DIGITS].encode() + b"\n"


def parse_anchor(line: bytes) -> Anchor | None:
    """The anchor of a line without its line end; None if it is malformed."""
    text, _, check = line.rpartition(b" ")
    if sha256(text + b" ").hexdigest()[:_CHECK_DIGITS].encode() != check:
        return None
    try:
        fields = line.decode("ascii").split(" ")
        if len(fields) != _FIELDS or fields[0] != _VERSION:
            return None
        return Anchor(fields[1], int(fields[2]), fields[3])
    except ValueError:
        return None


class AnchorIndex:
    """The last anchors of all turns, of one moment: for whoever loads many turns."""

    def __init__(self, anchors: dict[str, Anchor], malformed: int, path: Path) -> None:
        self._anchors = anchors
        self._malformed = malformed
        """Number of the last line that is no anchor; 0: there is none."""
        self._path = path

    def latest(self, turn: str) -> Anchor | None:
        """The last anchor of `turn`; None if it has none.

        Raises:
            RecordFault: `anchor-malformed`, as `AnchorFile.latest`.
        """
        found = self._anchors.get(turn)
        if found is None and self._malformed:
            raise _malformed(self._path, self._malformed, turn)
        return found


def _malformed(path: Path, number: int, turn: str) -> RecordFault:
    return RecordFault("anchor-malformed", f"{path}, line {number}: not an anchor", turn=turn)


@lru_cache(maxsize=1)
def _indexed(file: AnchorFile, _state: tuple[int, int, int]) -> AnchorIndex:
    return file.read_index()


class AnchorFile:
    """The anchors of one installation. Safe between processes and between threads."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = -1
        self._end = -1
        """Size of the file after our last whole line: if nobody has written since, it ends with a whole line."""
        self._lock_file = -1
        self._threads = threading.Lock()

    def add(self, anchor: Anchor, *, sync: bool) -> None:
        """Append one anchor.

        Raises:
            RecordFault: `anchor-write`; the anchor may or may not be there.
        """
        line = format_anchor(anchor)
        try:
            with self._locked():
                file = self._open()
                if os.write(file, line) != len(line):
                    raise OSError("short write")  # noqa: TRY301 - one place for every kind of disk fault
                self._end += len(line)
                if sync:
                    os.fdatasync(file)
        except OSError as fault:
            self.close()
            raise RecordFault("anchor-write", f"{self._path}: {fault}", turn=anchor.turn, seq=anchor.seq) from fault

    def latest(self, turn: str) -> Anchor | None:
        """The last anchor of `turn`; None if it has none.

        Raises:
            RecordFault: `anchor-malformed` (`seq` is then the line's number), `anchor-read`.
        """
        lines = self._lines()
        for number in range(len(lines), 0, -1):
            anchor = parse_anchor(lines[number - 1])
            if anchor is None:
                raise _malformed(self._path, number, turn)
            if anchor.turn == turn:
                return anchor
        return None

    def index(self) -> AnchorIndex:
        """What `latest` would say of every turn now; the file is read again only where it has changed.

        Raises:
            RecordFault: `anchor-read`.
        """
        try:
            found = self._path.stat()
            state = (found.st_ino, found.st_size, found.st_mtime_ns)
        except OSError:
            state = (0, 0, 0)
        return _indexed(self, state)

    def read_index(self) -> AnchorIndex:
        """`index`, read now.

        Raises:
            RecordFault: `anchor-read`.
        """
        lines = self._lines()
        found: dict[str, Anchor] = {}
        for number in range(len(lines), 0, -1):
            anchor = parse_anchor(lines[number - 1])
            if anchor is None:
                return AnchorIndex(found, number, self._path)
            found.setdefault(anchor.turn, anchor)
        return AnchorIndex(found, 0, self._path)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AnchorFile) and other._path == self._path

    def __hash__(self) -> int:
        return hash(self._path)

    def prune(self, forgotten: Collection[str]) -> int:
        """Drop the anchors of `forgotten` turns and all but the last of each other; returns the lines dropped.

        Raises:
            RecordFault: `anchor-malformed`: nothing is dropped from a file that cannot be read whole; `anchor-write`.
        """
        try:
            with self._locked():
                self._open()
                lines = self._lines()
                kept: dict[str, bytes] = {}
                for number, line in enumerate(lines, 1):
                    anchor = parse_anchor(line)
                    if anchor is None:
                        raise RecordFault("anchor-malformed", f"{self._path}, line {number}: not an anchor")
                    if anchor.turn not in forgotten:
                        kept[anchor.turn] = line
                self._replace(b"".join(line + b"\n" for line in kept.values()))
        except OSError as fault:
            raise RecordFault("anchor-write", f"{self._path}: {fault}") from fault
        return len(lines) - len(kept)

    def close(self) -> None:
        """Close the files; the next `add` opens them again."""
        for file in (self._file, self._lock_file):
            if file >= 0:
                os.close(file)
        self._file = self._lock_file = self._end = -1

    def _lines(self) -> list[bytes]:
        try:
            data = plainfile.read(self._path, _MOST_BYTES)
        except FileNotFoundError:
            return []
        except OSError as fault:
            raise RecordFault("anchor-read", f"{self._path}: {fault}") from fault
        return data.split(b"\n")[:-1]

    @contextmanager
    def _locked(self) -> Generator[None]:
        with self._threads:
            if self._lock_file < 0:
                path = self._path.with_name(self._path.name + ".lock")
                self._lock_file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
            lock = self._lock_file
            fcntl.flock(lock, fcntl.LOCK_EX)
            try:
                yield
            finally:
                fcntl.flock(lock, fcntl.LOCK_UN)

    def _open(self) -> int:
        """The file, still the one of that name, ending with a whole line."""
        if self._file >= 0:
            found = os.fstat(self._file)
            if found.st_nlink and found.st_size == self._end:
                return self._file
            if not found.st_nlink:  # pruned or deleted: the name is another file's now
                os.close(self._file)
                self._file = -1
        if self._file < 0:
            new = not self._path.exists()
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
            if new:
                sync_folder(self._path.parent)
        found = os.fstat(self._file)
        if not stat.S_ISREG(found.st_mode):
            raise OSError("not a plain file")
        self._end = found.st_size
        if self._end and os.pread(self._file, 1, self._end - 1) != b"\n":
            self._end = plainfile.read(self._path, _MOST_BYTES).rfind(b"\n") + 1
            os.ftruncate(self._file, self._end)
        return self._file

    def _replace(self, data: bytes) -> None:
        draft = self._path.with_name(self._path.name + ".new")
        file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            if os.write(file, data) != len(data):
                raise OSError("short write")
            os.fsync(file)
        finally:
            os.close(file)
        draft.replace(self._path)
        sync_folder(self._path.parent)
