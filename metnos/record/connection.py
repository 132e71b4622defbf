"""Opens the database, or says why it cannot be trusted with a turn.

Law: a commit on a connection from here is on disk when it returns (`synchronous=FULL`). SQLite 3.7.0 to 3.51.2 can
lose committed writes in WAL mode when two connections write and checkpoint at once (fixed in 3.51.3, 3.50.7 and
3.44.6): with such a library WAL is refused, `DELETE` with `EXTRA` is used, and `StoreMode.reason` says so.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from metnos.record.ddl import CREATE, SCHEMA_VERSION
from metnos.record.faults import RecordFault
from metnos.record.keys import sync_folder

if TYPE_CHECKING:
    import sqlite3

    Connection = sqlite3.Connection

FIRST_SOUND = (3, 51, 3)
BACKPORTS: tuple[tuple[int, int, int], ...] = ((3, 50, 7), (3, 44, 6))
"""Older lines that have the fix from this patch on."""
BUSY_SECONDS = 10.0
STATEMENTS = 64
"""Prepared statements kept by a connection: more than the room has."""


class StoreMode(msgspec.Struct, frozen=True, kw_only=True):
    """How the database is kept; `metnos doctor` prints it."""

    library: str
    """Version of SQLite."""
    journal: str
    """`wal` or `delete`."""
    reason: str = ""
    """Why not WAL; empty if it is."""


def load_driver() -> Any:
    """The DB-API module: `pysqlite3`, or the one of Python where that is not installed."""
    try:
        import pysqlite3.dbapi2 as driver
    except ImportError:
        import sqlite3 as driver
    return driver


def wal_is_safe(version: tuple[int, ...]) -> bool:
    """Whether this SQLite keeps what it committed in WAL mode."""
    if version >= FIRST_SOUND:
        return True
    return any(version[:2] == line[:2] and version >= line for line in BACKPORTS)


def is_busy(fault: Exception) -> bool:
    """Whether somebody else held the database for too long, and nothing was written."""
    return "locked" in str(fault) or "busy" in str(fault)


def open_database(path: Path, driver: Any) -> tuple[Connection, StoreMode]:
    """A connection to the database at `path`, made with its schema if it is not there.

    The file gets mode 0600 and the folders that are made 0700; SQLite gives its side files the mode of the file.

    Raises:
        RecordFault: `record-store` (not a database, damaged, not writable), `record-schema` (of another version),
            `record-busy`.
    """
    try:
        _make_file(path)
        connection: Connection = driver.connect(
            str(path), timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=STATEMENTS
        )
    except (OSError, driver.Error) as fault:
        raise RecordFault("record-store", f"{path}: {fault}") from fault
    try:
        mode = _configure(connection, driver)
        _ensure_schema(connection, path)
    except driver.Error as fault:
        connection.close()
        code = "record-busy" if is_busy(fault) else "record-store"
        raise RecordFault(code, f"{path}: {fault}") from fault
    except RecordFault:
        connection.close()
        raise
    return connection, mode


def _make_file(path: Path) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        return
    sync_folder(path.parent)


def _configure(connection: Connection, driver: Any) -> StoreMode:
    safe = wal_is_safe(driver.sqlite_version_info)
    connection.execute("PRAGMA trusted_schema=OFF")
    connection.execute("PRAGMA cell_size_check=ON")
    journal = str(connection.execute(f"PRAGMA journal_mode={'WAL' if safe else 'DELETE'}").fetchone()[0])
    connection.execute(f"PRAGMA synchronous={'FULL' if journal == 'wal' else 'EXTRA'}")
    reason = ""
    if not safe:
        reason = f"SQLite {driver.sqlite_version} can lose commits in WAL mode; install pysqlite3"
    elif journal != "wal":
        reason = "the file system does not allow WAL"
    return StoreMode(library=driver.sqlite_version, journal=journal, reason=reason)


def _ensure_schema(connection: Connection, path: Path) -> None:
    found = _schema_version(connection)
    if found is None:
        connection.execute("BEGIN IMMEDIATE")
        try:
            if _schema_version(connection) is None:  # another process may have been first
                for statement in CREATE:
                    connection.execute(statement)
                connection.execute("INSERT INTO schema_version VALUES (?)", (SCHEMA_VERSION,))
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        found = _schema_version(connection)
    if found != SCHEMA_VERSION:
        raise RecordFault(
            "record-schema",
            f"{path} has schema {found}, this version of Metnos knows {SCHEMA_VERSION}",
            hint="use the version of Metnos that wrote it, or another METNOS_HOME",
        )


def _schema_version(connection: Connection) -> int | None:
    """None for an empty database; 0 for one that is not ours."""
    tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    if not tables:
        return None
    if "schema_version" not in tables:
        return 0
    row = connection.execute("SELECT max(version) FROM schema_version").fetchone()
    return int(row[0]) if row and isinstance(row[0], int) else 0
