"""A disk that fails when it is told to: no space, I/O errors, short writes, failed syncs, at the n-th call for every n.

    with BadDisk("fsync", nth=3, error=errno.EIO, below=home) as disk:
        ...                                             # the third sync of a file below `home` fails
    assert disk.failed

Law: what it does not fail, it hands on unchanged. It works on this process: `os` functions are exchanged while it is
entered, and journals that are opened meanwhile get a connection whose statements it counts. A worker is a process of its
own and meets none of that; a `FullDisk` is real, and workers that start inside have it too.
"""

from __future__ import annotations

import errno as numbers
import os
import resource
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, Self, TypeAlias

from metnos.record import database

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from metnos.record.connection import Connection, StoreMode

Kind: TypeAlias = Literal["open", "write", "fsync", "rename", "unlink", "begin", "insert", "commit", "committed"]
KINDS: Final[dict[Kind, tuple[str, ...]]] = {
    "open": ("open",),
    "write": ("write",),
    "fsync": ("fsync", "fdatasync"),
    "rename": ("rename", "replace", "link"),
    "unlink": ("unlink",),
    "begin": ("BEGIN IMMEDIATE",),
    "insert": ("INSERT", "UPDATE"),
    "commit": ("COMMIT",),
    "committed": ("COMMIT",),
}
"""Kind of fault → functions of `os`, or first words of the statements of SQLite. `committed` is carried out, and then
reported as failed: nobody can tell it from `commit`."""
STATEMENTS: Final[frozenset[Kind]] = frozenset({"begin", "insert", "commit", "committed"})


class BadDisk:
    """Use it with `with`; one fault each.

    Args:
        kind: Which calls (`KINDS`).
        nth: The call that fails, from 1; 0: none, to count them.
        error: `errno` that it fails with.
        short: A `write` that writes half, and says so, instead of failing.
        below: Calls on files elsewhere do not count; for `os` functions only.
        lasting: The calls after it fail, too.
    """

    def __init__(
        self,
        kind: Kind,
        nth: int = 1,
        *,
        error: int = numbers.ENOSPC,
        short: bool = False,
        below: str | Path = "/",
        lasting: bool = False,
    ) -> None:
        self._kind: Kind = kind
        self._nth = nth
        self._error = error
        self._short = short
        self._below = os.path.realpath(below)
        self._lasting = lasting
        self._lock = threading.Lock()
        self._real: dict[str, Any] = {}
        self.calls = 0
        """How many there were so far."""
        self.failed = False
        """Whether the n-th was reached."""

    def __enter__(self) -> Self:
        """From now on calls are counted."""
        if self._kind in STATEMENTS:
            self._real["open_database"] = database.open_database
            database.open_database = self._open_database
            return self
        for name in KINDS[self._kind]:
            self._real[name] = getattr(os, name)
            setattr(os, name, self._instead_of(self._real[name]))
        return self

    def __exit__(self, *_exc: object) -> None:
        """The disk is whole again; connections that were opened inside go on without faults."""
        self._nth = 0
        for name, real in self._real.items():
            setattr(database if name == "open_database" else os, name, real)
        self._real.clear()

    def fails_now(self) -> bool:
        """Count one call; whether it is the one."""
        with self._lock:
            self.calls += 1
            fails = self.calls == self._nth or (self._lasting and 0 < self._nth < self.calls)
            self.failed = self.failed or fails
            return fails

    # --- functions of the system ---------------------------------------------------------------------------------------

    def _instead_of(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            if not self._counts(args, kwargs) or not self.fails_now():
                return real(*args, **kwargs)
            if self._short and self._kind == "write":
                return real(args[0], bytes(args[1])[: len(args[1]) // 2])
            raise OSError(self._error, os.strerror(self._error))

        return call

    def _counts(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        if self._below == "/":
            return True
        return any(f"{place}/".startswith(f"{self._below}/") for place in _places(args, kwargs))

    # --- statements --------------------------------------------------------------------------------------------------

    def _open_database(self, path: Path, driver: Any) -> tuple[Connection, StoreMode]:
        made, mode = self._real["open_database"](path, driver)
        fault = driver.OperationalError
        message = "database or disk is full" if self._error == numbers.ENOSPC else "disk I/O error"
        wrapped: Any = _FailingConnection(made, self, KINDS[self._kind], fault(message), self._kind == "committed")
        return wrapped, mode


class _FailingConnection:
    """A connection that asks its disk before each statement of a kind."""

    def __init__(self, real: Any, disk: BadDisk, words: tuple[str, ...], fault: Exception, carried_out: bool) -> None:
        self._real = real
        self._disk = disk
        self._words = words
        self._fault = fault
        self._carried_out = carried_out

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def execute(self, sql: str, *values: Any) -> Any:
        """As the real one."""
        if sql.startswith(self._words) and self._disk.fails_now():
            if self._carried_out:
                self._real.execute(sql, *values)
            raise self._fault
        return self._real.execute(sql, *values)

    def executemany(self, sql: str, values: Any) -> Any:
        """As the real one."""
        if sql.startswith(self._words) and self._disk.fails_now():
            raise self._fault
        return self._real.executemany(sql, values)


class FullDisk:
    """No file of this process, or of one that starts inside, grows beyond `size` bytes: real writes fail (EFBIG).

    Args:
        size: Bytes.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._before = (0, 0)

    def __enter__(self) -> Self:
        """From now on."""
        self._before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (self._size, self._before[1]))
        return self

    def __exit__(self, *_exc: object) -> None:
        """As it was."""
        resource.setrlimit(resource.RLIMIT_FSIZE, self._before)


def _places(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[str]:
    """Where the files lie that a function of `os` is called with: descriptors, or paths below open folders."""
    folders = [kwargs.get(name) for name in ("dir_fd", "src_dir_fd", "dst_dir_fd")]
    folder = next((_of_descriptor(one) for one in folders if isinstance(one, int)), None)
    for one in args[:2]:
        if isinstance(one, int) and not isinstance(one, bool):
            yield _of_descriptor(one)
            return
        if isinstance(one, str | bytes | os.PathLike):
            path: str = os.fsdecode(one)  # pyright: ignore[reportUnknownArgumentType]
            yield os.path.normpath(Path(folder or Path.cwd(), path))


def _of_descriptor(number: int) -> str:
    try:
        return str(Path(f"/proc/self/fd/{number}").readlink()).removesuffix(" (deleted)")
    except OSError:
        return ""
