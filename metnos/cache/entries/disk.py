"""diskcache with everything taken out that could run code, open a file, or take an order from the file itself.

Law: a row is a text key of our form and inline bytes, and nothing else. What `diskcache` does with other rows, and what
is done here instead:

| in diskcache | here |
|---|---|
| `Disk.fetch` unpickles (mode 4), opens `filename` (modes 2, 3, 4) | `Tampered`, whatever the mode, if it is not inline bytes |
| `Disk.get` unpickles a key that is not raw (iteration, `peekitem`, `pull`) | `Tampered`, with the row's number, so that it can be deleted |
| `delete` leaves a row whose date is over, iteration those below 0 | found and taken away by statements of our own |
| `Disk.put`, `store` pickle what is no text, number or bytes, and write a file for what is large | refused |
| `Disk.remove` deletes the file that a row names (`set`, `delete`, culling, `expire`, `clear`) | does nothing: no row of ours has one |
| settings are read from the table `Settings`: `disk_…` go to the Disk, `sqlite_…` become `PRAGMA name = value` at every connection, all become attributes | only the names below, with the values below |
| opening makes what is missing and takes what is there | `Altered`, before anything is read or written, if a table, an index, a trigger or a view is not the library's own |
| `set` reads the `filename` of the row that it replaces, which need be no text | that is made null first |
| `Cache.check` walks and deletes, `Index`, `Deque`, `memoize`, `push`, `FanoutCache` pickle | never used |

SQLite: `truncate` journal and no fsync: the stock library of many systems loses commits in WAL mode, and a cache may lose
what a power cut tore; it is signed, so it cannot serve it. Opening costs 2 ms so, 28 ms with WAL.
"""

from __future__ import annotations

import errno
import hashlib
import os
import sqlite3
import stat
import tempfile
import time
from contextlib import closing, suppress
from functools import lru_cache
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import diskcache
import msgspec

from metnos.cache.entries.key import DATABASE, KEY
from metnos.cache.entries.signing import MAX_ROW

if TYPE_CHECKING:
    from collections.abc import Sequence

SETTINGS: dict[str, Any] = {
    "statistics": 0,
    "tag_index": 0,
    "eviction_policy": "none",
    "size_limit": 2**40,
    "cull_limit": 0,
    "sqlite_auto_vacuum": 0,
    "sqlite_cache_size": 2**11,
    "sqlite_journal_mode": "truncate",
    "sqlite_mmap_size": 0,
    "sqlite_synchronous": 0,
    "sqlite_trusted_schema": 0,
    "sqlite_cell_size_check": 1,
    "disk_min_file_size": MAX_ROW,
    "disk_pickle_protocol": 0,
}
"""Every setting that counts; eviction is our own (`cache.store`), so nothing is written when something is read."""
_BESIDE = ("", "-journal", "-wal", "-shm")
_LONGEST_KEY = 100
COUNTS = ("count", "size", "hits", "misses")
_CORE: Any = diskcache.core
"""It has no types of its own."""
_ROWS = (
    "SELECT key, CASE typeof(mode) WHEN 'integer' THEN mode END, CASE WHEN filename IS NOT NULL THEN '' END,"
    " CASE typeof(value) WHEN 'blob' THEN value END FROM Cache"
    " WHERE raw = 1 AND key IN ({}) AND (expire_time IS NULL OR expire_time > ?)"
)
"""As `get` of diskcache asks for one; text is not looked at, for it need not even be text."""

_KEYS = "SELECT rowid, CAST(key AS BLOB), typeof(key) = 'text' AND raw = 1 FROM Cache"
"""`iter` of diskcache misses rows below 0, and breaks at the last number and at text that is none.
In no order, so that the index is read and not the rows, which are twenty times as long."""
_SCHEMA = frozenset((
    "7dc3acaeb6bbc0a0c892f05e6137e3ae", "b1e287d8264b4cfbe0cdf38785a8d28c", "4f0a5302019317d054a2318ce5d24770",
    "4a273a1da0f568b25c405ed4a3f02565", "0d6ef5b954e42033fa0a4648a1933166", "2eb9bf040815f4bc03e2c86bdb84efb8",
    "404b74ec6db5c3f13de9f5d670e6be67", "18eb18f5d803b49045792c86ef36a505", "613ef63fc328c3a911bc65913bf603d3",
))  # fmt: skip
"""Of each statement that diskcache 5.6.3 makes a database with, the beginning of its SHA-256."""
_OBJECTS = "SELECT type, CAST(name AS BLOB), CAST(sql AS BLOB) FROM sqlite_master WHERE sql IS NOT NULL"
_UNNAMED = "UPDATE Cache SET filename = NULL WHERE key = ? AND raw = 1 AND filename IS NOT NULL"
_MOST_NAMED = 60
_DROP = "DELETE FROM Cache WHERE rowid = ? AND CAST(key AS BLOB) IS ?"


class Tampered(msgspec.Struct, frozen=True):
    """A row that nobody here wrote."""

    why: str
    rowid: int = 0
    key: bytes | None = None
    """As it stands in the file, and where: what is no key of ours may be anything."""
    found: bytes = b""
    """What stood there inline, for the quarantine."""


class Altered(ValueError):
    """A database that holds what neither we nor the library have made in it."""


class HardenedDisk(_CORE.Disk):
    """Text keys and inline bytes."""

    def __init__(self, directory: str, **_settings: Any) -> None:
        base: Any = super()
        base.__init__(directory, min_file_size=MAX_ROW, pickle_protocol=0)

    def put(self, key: Any) -> tuple[Any, Any]:
        """A key as it is stored."""
        if not isinstance(key, str) or KEY.fullmatch(key) is None:
            raise TypeError(f"{key!r} is no key")
        return key, True

    def get(self, key: Any, raw: Any) -> Any:
        """A stored key as it is meant."""
        if raw == 1 and isinstance(key, str) and KEY.fullmatch(key) is not None:
            return key
        return Tampered("a key that is no digest")

    def store(self, value: Any, read: Any, key: Any = None) -> tuple[int, int, None, Any]:  # noqa: ARG002 - its signature
        """Bytes as they are stored."""
        if read or not isinstance(value, bytes) or len(value) > MAX_ROW:
            raise TypeError("a row is bytes")
        return 0, _CORE.MODE_RAW, None, memoryview(value)

    def fetch(self, mode: Any, filename: Any, value: Any, read: Any) -> Any:
        """Stored bytes, or what is wrong with them."""
        whole = value if isinstance(value, bytes) else b""
        if mode != _CORE.MODE_RAW or type(mode) is not int:
            return Tampered("a value that is not inline", found=whole[:MAX_ROW])
        if filename is not None or read:
            return Tampered("a value in a file", found=whole[:MAX_ROW])
        if not isinstance(value, bytes) or len(value) > MAX_ROW:
            return Tampered("a value that is no row", found=whole[:MAX_ROW])
        return value

    def filename(self, key: Any = None, value: Any = None) -> tuple[str, str]:  # noqa: ARG002 - its signature
        """There are no files."""
        raise TypeError("a row is inline")

    def remove(self, file_path: Any) -> None:
        """There are no files, so none is deleted, whatever a row says."""


class HardenedCache(_CORE.Cache):
    """A cache that takes its settings from here alone. One connection, for whichever thread holds the store's lock."""

    def __init__(self, folder: Path) -> None:
        self._one: Any = None
        self._one_pid = 0
        _prepare(folder)
        _require_own_schema(folder / DATABASE)
        base: Any = super()
        try:
            base.__init__(str(folder), timeout=30, disk=HardenedDisk, **SETTINGS)
        except BaseException:
            self.close()
            raise

    def reset(self, key: str, value: Any = None, update: bool = True) -> Any:  # noqa: ARG002 - its signature
        """Only our own settings, with our own values; a count is read as a number."""
        base: Any = super()
        if key in SETTINGS:
            return base.reset(key, SETTINGS[key], update=False)
        found = base.reset(key) if key in COUNTS else None
        return found if isinstance(found, int) else 0

    @property
    def _con(self) -> Any:
        if self._one is None or self._one_pid != os.getpid():
            self._one = sqlite3.connect(
                Path(self.directory) / DATABASE, timeout=self.timeout, isolation_level=None, check_same_thread=False
            )
            self._one_pid = os.getpid()
            for name, value in SETTINGS.items():
                if name.startswith("sqlite_"):
                    self.reset(name, value, update=False)
        return self._one

    def get_many(self, keys: Sequence[str]) -> dict[str, bytes | Tampered]:
        """What stands under several keys, by one statement: a look at the disk costs more than a row."""
        rows = self._con.execute(_rows_of(len(keys)), (*keys, time.time()))
        return {key: self._disk.fetch(mode, filename, value, False) for key, mode, filename, value in rows}

    def replace(self, key: str, row: bytes) -> None:
        """Write a row, whatever stands there."""
        with self.transact(retry=True):
            self._con.execute(_UNNAMED, (key,))
            self.set(key, row, retry=True)

    def every_key(self) -> list[str | Tampered]:
        """Every row's key, oldest first."""
        found: list[str | Tampered] = []
        for rowid, stored, is_ours in sorted(self._con.execute(_KEYS), key=itemgetter(0)):
            key = stored.decode("ascii", "replace") if is_ours and len(stored) < _LONGEST_KEY else ""
            found.append(key if KEY.fullmatch(key) else Tampered("a key that is no digest", rowid, stored))
        return found

    def take_away(self, key: str | Tampered) -> None:
        """A row, whatever stands in it: a date of its own makes none unreachable."""
        with self.transact(retry=True):
            if isinstance(key, Tampered):
                self._con.execute(_DROP, (key.rowid, key.key))
            else:
                self._con.execute("DELETE FROM Cache WHERE key = ? AND raw = 1", (key,))

    def close(self) -> None:
        """Close the connection; the next use opens another."""
        one, self._one = self._one, None
        if one is not None and self._one_pid == os.getpid():
            one.close()

    def __del__(self) -> None:
        """A cache that nobody closed gives its connection back."""
        self.close()


def _require_own_schema(file: Path) -> None:
    """Nothing is in the database that is not the library's; what is missing it makes.

    A trigger would change what is written, a view say what is read, an index less let a key have two rows.

    Raises:
        Altered: There is.
    """
    for kind, name, digest in _objects(file):
        if digest not in _SCHEMA and digest not in _library_schema():
            said = name.decode("ascii", "backslashreplace")[:_MOST_NAMED]
            raise Altered(f"a {kind} that is not the library's: {said!a}")


def _objects(file: Path) -> list[tuple[str, bytes, str]]:
    """(type, name, digest of its statement) of all that a database holds."""
    with closing(sqlite3.connect(file, timeout=30)) as connection:
        rows = connection.execute(_OBJECTS).fetchall()
    return [(kind, name, hashlib.sha256(sql).hexdigest()[:32]) for kind, name, sql in rows]


@lru_cache(maxsize=1)
def _library_schema() -> frozenset[str]:
    """As `_SCHEMA`, of the library that is installed, which may be another version."""
    with tempfile.TemporaryDirectory() as folder:
        HardenedCache(Path(folder)).close()
        return frozenset(digest for _, _, digest in _objects(Path(folder) / DATABASE))


@lru_cache(maxsize=64)
def _rows_of(count: int) -> str:
    return _ROWS.format(", ".join("?" * count))


def _prepare(folder: Path) -> None:
    """The database's file, readable by nobody else; its side files get its mode."""
    for name in _BESIDE:
        # SQLite opens what lies there, and would wait for ever at a pipe.
        with suppress(FileNotFoundError):
            if not stat.S_ISREG((folder / f"{DATABASE}{name}").lstat().st_mode):
                raise OSError(errno.EINVAL, "not a plain file", str(folder / f"{DATABASE}{name}"))
    file = os.open(folder / DATABASE, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    os.close(file)
