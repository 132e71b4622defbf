"""Where rows are kept: a small protocol, and a folder that follows it. It knows keys and bytes, and believes nothing.

Law: what is read is bytes that nobody has verified yet (`front` does), or `Tampered`. A store may lose rows, and says
so by having none; it never changes one. `version` grows with every change that takes something back, in whichever
process it was made: what was read before it may have been taken back. A fault of the disk is `StoreFault`, which costs
a miss and nothing else.
"""

from __future__ import annotations

import fcntl
import os
import stat
import sys
import threading
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from metnos import plainfile
from metnos.cache.entries.key import DATABASE

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from metnos.cache.entries.disk import Tampered

MAX_QUARANTINED = 100
"""Rows and alarms that are kept to be looked at; the oldest go."""
_VERSION = "version"
_ALARMS = "alarms.jsonl"
_QUARANTINE = "quarantine"
_MOST_ALARMS = 64 * 1024 * 1024
_BROKEN = (
    "malformed", "not a database", "corrupt", "UNIQUE constraint", "no such column", "no such table", "has no column",
)  # fmt: skip
"""What SQLite says of a file that will not mend: it is set aside. All else (held, full, not to be read) may pass."""
_BESIDE = ("-journal", "-wal", "-shm")


class StoreFault(Exception):
    """The store cannot be read or written now; `code` is `cache-store` or `cache-folder`."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class Alarm(msgspec.Struct, frozen=True, kw_only=True):
    """A row that nobody here wrote, as it is told to people."""

    at: int
    key: str
    reason: str
    detail: str = ""


class Store(Protocol):
    """Rows by key."""

    def get(self, key: str) -> bytes | Tampered | None:
        """The row under `key`."""
        ...

    def get_many(self, keys: Sequence[str]) -> dict[str, bytes | Tampered]:
        """The rows under `keys`, as far as there are any; one look at the disk for all of them."""
        ...

    def put(self, key: str, row: bytes) -> None:
        """Write a row, whole or not at all."""
        ...

    def drop(self, key: str | Tampered) -> None:
        """Take a row away, if it is there."""
        ...

    def every_key(self) -> Iterator[str | Tampered]:
        """Every key, oldest first."""
        ...

    def size(self) -> tuple[int, int]:
        """Number of rows, and bytes that they take."""
        ...

    def version(self) -> int:
        """Grows with each `took_back`, over all processes."""
        ...

    def state(self) -> tuple[int, int]:
        """`version`, and how often something was `added`, over all processes."""
        ...

    def took_back(self) -> None:
        """Something that was served must not be served any more."""
        ...

    def added(self) -> None:
        """A key has a row that had none: who remembers that it has none must look again."""
        ...

    def locked(self) -> Any:
        """While inside, nobody else writes: for reading and writing as one act."""
        ...

    def quarantine(self, alarm: Alarm, row: bytes) -> None:
        """Keep a bad row where it is not served, and sound the alarm."""
        ...

    def alarms(self) -> tuple[Alarm, ...]:
        """The latest alarms, oldest first."""
        ...

    def close(self) -> None: ...


class DiskStore:
    """Rows in a folder of their own, mode 0700. Safe between threads and between processes."""

    def __init__(self, folder: Path) -> None:
        """A store in `folder`; it is made when something is first written.

        Each use looks whether the folder is this user's alone, and raises `cache-folder` where it is not: that costs
        a miss, too, not the turn that would have opened the store.
        """
        self._folder = folder
        self._cache: Any = None
        """A `HardenedCache`; what diskcache says of its types is not to be relied on."""
        self._lock = threading.RLock()
        self._version_file = -1
        self._version_pid = 0

    def get(self, key: str) -> bytes | Tampered | None:
        """The row under `key`.

        Raises:
            StoreFault: the disk failed.
        """
        with self._using(writing=False) as cache:
            return None if cache is None else cache.get_many((key,)).get(key)

    def get_many(self, keys: Sequence[str]) -> dict[str, bytes | Tampered]:
        """The rows under `keys`.

        Raises:
            StoreFault: the disk failed.
        """
        with self._using(writing=False) as cache:
            return {} if cache is None else cache.get_many(keys)

    def put(self, key: str, row: bytes) -> None:
        """Write a row.

        Raises:
            StoreFault: the disk failed; the row may be there or not.
        """
        with self._using() as cache:
            cache.replace(key, row)

    def drop(self, key: str | Tampered) -> None:
        """Take a row away.

        Raises:
            StoreFault: the disk failed.
        """
        with self._using(writing=False) as cache:
            if cache is not None:
                cache.take_away(key)

    def every_key(self) -> Iterator[str | Tampered]:
        """Every key, oldest first; what is written meanwhile may be missed.

        Raises:
            StoreFault: the disk failed.
        """
        with self._using(writing=False) as cache:
            found: list[str | Tampered] = [] if cache is None else cache.every_key()
        return iter(found)

    def size(self) -> tuple[int, int]:
        """Number of rows, and bytes of the file.

        Raises:
            StoreFault: the disk failed.
        """
        with self._using(writing=False) as cache:
            return (0, 0) if cache is None else (len(cache), int(cache.volume()))

    def version(self) -> int:
        """How often something was taken back; read anew from the one file that all processes share."""
        return self.state()[0]

    def state(self) -> tuple[int, int]:
        """How often something was taken back, and added; two numbers of 8 bytes in the one file.

        Raises:
            StoreFault: that is no file, or it cannot be read.
        """
        try:
            file = self._versions()
            both = os.pread(file, 16, 0) if file >= 0 else b""
        except OSError as fault:
            raise StoreFault("cache-store", f"{self._folder / _VERSION}: {fault}") from fault
        return int.from_bytes(both[:8], "little"), int.from_bytes(both[8:], "little")

    def took_back(self) -> None:
        """Something must not be served any more, by any process.

        Raises:
            StoreFault: the disk failed.
        """
        self._count(0)

    def added(self) -> None:
        """A key has a row that had none.

        Raises:
            StoreFault: the disk failed.
        """
        self._count(1)

    def _count(self, which: int) -> None:
        """One more, in the file that all processes share."""
        with self._using():
            file = self._versions(make=True)
            fcntl.flock(file, fcntl.LOCK_EX)
            try:
                os.pwrite(file, ((self.state()[which] + 1) % 2**64).to_bytes(8, "little"), 8 * which)
            finally:
                fcntl.flock(file, fcntl.LOCK_UN)

    @contextmanager
    def locked(self) -> Generator[None]:
        """While inside, no other thread and no other process writes.

        Raises:
            StoreFault: the disk failed.
        """
        with self._using() as cache, cache.transact(retry=True):
            yield

    def quarantine(self, alarm: Alarm, row: bytes) -> None:
        """Keep a bad row in a file of its own, and sound the alarm."""
        place = self._folder / _QUARANTINE
        try:
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
            name = f"{alarm.at:020d}-{os.getpid()}-{os.urandom(4).hex()}.row"
            file = os.open(place / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(file, "wb") as out:
                out.write(row)
            for old in sorted(place.glob("*.row"))[:-MAX_QUARANTINED]:
                old.unlink(missing_ok=True)
            self._sound(msgspec.json.encode(alarm))
        except OSError as fault:
            raise StoreFault("cache-store", f"{place}: {fault}") from fault

    def alarms(self) -> tuple[Alarm, ...]:
        """The latest alarms; a line that is none is passed over."""
        try:
            lines = plainfile.read(self._folder / _ALARMS, _MOST_ALARMS, links=False).splitlines()
        except OSError:
            return ()
        found: list[Alarm] = []
        for line in lines[-MAX_QUARANTINED:]:
            try:
                found.append(msgspec.json.decode(line, type=Alarm))
            except msgspec.MsgspecError:
                continue
        return tuple(found)

    def close(self) -> None:
        """Close the files; the next use opens them again."""
        with self._lock:
            cache, self._cache = self._cache, None
            if cache is not None:
                cache.close()
            if self._version_file >= 0:
                os.close(self._version_file)
                self._version_file = -1

    @contextmanager
    def _using(self, *, writing: bool = True) -> Generator[Any]:
        """The cache, for one thread at a time; None where there is none and nothing is to be written."""
        with self._lock:
            try:
                yield self._open(make=writing)
            except (OSError, UnicodeDecodeError, *_database_faults()) as fault:
                if _is_broken(fault):
                    self.close()  # the next use looks at the file anew, and sets it aside
                raise StoreFault("cache-store", f"{self._folder}: {fault}") from fault

    def _open(self, *, make: bool) -> Any:
        if self._cache is not None:
            return self._cache
        _require_own(self._folder)
        if not make and not (self._folder / DATABASE).exists():
            return None
        from metnos.cache.entries.disk import HardenedCache

        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _require_own(self._folder)
        try:
            self._cache = HardenedCache(self._folder)
        except (TypeError, ValueError, LookupError, *_database_faults()) as fault:
            # The library believes what the file's own tables say, down to names that are no text.
            if isinstance(fault, _database_faults()) and not _is_broken(fault):
                raise
            self._set_aside(DATABASE, str(fault))
            self._cache = HardenedCache(self._folder)
        return self._cache

    def _set_aside(self, name: str, why: str) -> None:
        """A file that is no database any more goes into quarantine; the cache begins anew."""
        place = self._folder / _QUARANTINE
        place.mkdir(mode=0o700, exist_ok=True)
        mark = os.urandom(4).hex()
        (self._folder / name).replace(place / f"{name}-{mark}")
        for beside in _BESIDE:  # what belongs to the old file must not be played into the new one
            with suppress(FileNotFoundError):
                old = self._folder / f"{name}{beside}"
                if old.lstat().st_size:
                    old.replace(place / f"{name}-{mark}{beside}")
        self._sound(msgspec.json.encode(Alarm(at=0, key="", reason="malformed-row", detail=why)))

    def _sound(self, line: bytes) -> None:
        """One more line of alarms; what is no plain file is an `OSError`, and is not waited for."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK
        with os.fdopen(os.open(self._folder / _ALARMS, flags, 0o600), "ab") as out:
            out.write(line + b"\n")

    def _versions(self, *, make: bool = False) -> int:
        if self._version_file >= 0 and self._version_pid == os.getpid():
            return self._version_file
        _require_own(self._folder)
        flags = os.O_RDWR | os.O_NOFOLLOW | (os.O_CREAT if make else 0)
        try:
            self._version_file = os.open(self._folder / _VERSION, flags, 0o600)
        except FileNotFoundError:
            return -1
        self._version_pid = os.getpid()
        return self._version_file


def _database_faults() -> tuple[type[Exception], ...]:
    """What SQLite raises, and diskcache where the database was held for too long; none, before they are loaded."""
    core: Any = sys.modules.get("diskcache")
    return () if core is None else (core.core.sqlite3.Error, core.Timeout)


def _is_broken(fault: Exception) -> bool:
    """Whether that is a file which will not mend."""
    return isinstance(fault, _database_faults()) and any(word in str(fault) for word in _BROKEN)


def _require_own(folder: Path) -> None:
    """A folder that another user could write to could hold anything.

    Raises:
        StoreFault: `cache-folder`.
    """
    try:
        found = folder.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        raise StoreFault("cache-folder", f"{folder} is no folder of this user's own")
    if stat.S_IMODE(found.st_mode) & 0o077:
        folder.chmod(0o700)
