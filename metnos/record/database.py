"""One connection to METNOS_HOME's database, its blob folder, anchors and key; and what happens when the disk fails.

Law: everything that is committed goes through `commit`. After any fault but "busy" the connection is dropped and
the generation rises: a fault of fsync says nothing about what is on disk, so nobody writes on, and what became of
the commit is found out by reading the log again.

A process that was forked while a database was open cannot use it, nor open it anew: SQLite keeps one account of its
locks for a file in a process, and the copy of it in the child claims locks that only the parent holds.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakSet

from metnos.record.anchor import AnchorFile
from metnos.record.blobs import BlobFolder
from metnos.record.connection import StoreMode, is_busy, load_driver, open_database
from metnos.record.faults import RecordFault
from metnos.record.keys import LogKey, open_key
from metnos.record.ledger import Statement
from metnos.record.model import Row

if TYPE_CHECKING:
    from metnos.record.connection import Connection

T = TypeVar("T")

DATABASE = "metnos.db"
RECORD_INSERT = "INSERT INTO record VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
BLOB_INSERT = "INSERT OR IGNORE INTO blob (digest, turn, size) VALUES (?, ?, ?)"


class Database:
    """Files of one installation; opened when first needed."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.anchors = AnchorFile(home / "anchors.log")
        self.blobs = BlobFolder(home / "blobs")
        self.locks = home / "locks"
        self.lock = threading.RLock()
        self.driver: Any = load_driver()
        self.generation = 0
        self._connection: Connection | None = None
        self._mode: StoreMode | None = None
        self._key: LogKey | None = None
        self._left = False
        _databases.add(self)

    def connection(self) -> Connection:
        """The open connection.

        Raises:
            RecordFault: see `open_database`; `record-forked`.
        """
        if self._connection is None:
            path = os.path.realpath(self.home / DATABASE)
            if self._left or path in _open_at_fork:
                raise RecordFault("record-forked", f"{path} was open in the process that this one was forked from")
            self._connection, self._mode = open_database(self.home / DATABASE, self.driver)
        return self._connection

    def mode(self) -> StoreMode:
        """How the database is kept."""
        self.connection()
        assert self._mode is not None
        return self._mode

    def key(self) -> LogKey:
        """The installation's key, made at first use."""
        if self._key is None:
            self._key = open_key(self.home / "keys")
        return self._key

    def drop(self) -> None:
        """Close the connection; every writer that was made before is dead."""
        connection, self._connection = self._connection, None
        self.generation += 1
        if connection is not None:
            with suppress(self.driver.Error):
                connection.close()

    def leave(self) -> None:
        """In a child that was forked: not even a close, which would be the parent's."""
        if self._connection is not None:
            _kept.append(self._connection)
            _open_at_fork.add(os.path.realpath(self.home / DATABASE))
        self._connection = None
        self._left = True
        self.generation += 1
        self.lock = threading.RLock()  # the one of another thread is held for ever here

    def commit(
        self,
        turn: str,
        statements: Iterable[Statement],
        rows: Sequence[Row] = (),
        blobs: Mapping[str, bytes] | None = None,
    ) -> None:
        """Blobs on disk, then everything else in one transaction; on disk when this returns.

        Raises:
            RecordFault: `record-busy`: nothing was written. `record-write`: unknown, the
                connection was dropped. The code of a statement: refused, nothing was written.
        """
        try:
            if blobs:
                self.blobs.write_all(blobs)
            connection = self.connection()
        except RecordFault:
            self.drop()
            raise
        self._begin(connection, turn)
        try:
            _apply(connection, turn, statements)
            if blobs:
                connection.executemany(BLOB_INSERT, [(blob, turn, len(data)) for blob, data in blobs.items()])
            if rows:
                connection.executemany(RECORD_INSERT, rows)
            connection.execute("COMMIT")
        except RecordFault:
            self._roll_back(connection)
            raise
        except self.driver.IntegrityError as fault:
            self._roll_back(connection)
            raise RecordFault(
                "record-conflict", f"turn {turn}: written by somebody else: {fault}", turn=turn
            ) from fault
        except self.driver.Error as fault:
            raise self._broken(turn, fault) from fault

    def read(self, turn: str, work: Callable[[Connection], T]) -> T:
        """What `work` reads, all of one moment.

        Raises:
            RecordFault: `record-store`.
        """
        connection = self.connection()
        try:
            connection.execute("BEGIN")
            return work(connection)
        except self.driver.Error as fault:
            raise RecordFault("record-store", f"the database cannot be read: {fault}", turn=turn) from fault
        finally:
            self._roll_back(connection)

    def _begin(self, connection: Connection, turn: str) -> None:
        try:
            connection.execute("BEGIN IMMEDIATE")
        except self.driver.Error as fault:
            if is_busy(fault):
                detail = f"the database is held by another process: {fault}"
                raise RecordFault("record-busy", detail, turn=turn) from fault
            raise self._broken(turn, fault) from fault

    def _broken(self, turn: str, fault: Exception) -> RecordFault:
        self.drop()
        return RecordFault(
            "record-write",
            f"the database could not be written: {fault}",
            turn=turn,
            hint="free space or mend the disk, then resume the turn",
        )

    def _roll_back(self, connection: Connection) -> None:
        try:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        except self.driver.Error:
            self.drop()

    def close(self) -> None:
        """Close every file."""
        with self.lock:
            self.drop()
            self.anchors.close()


_databases: WeakSet[Database] = WeakSet()
_open_at_fork: set[str] = set()
_kept: list[Any] = []
"""Connections of the parent's: never to be closed here."""


def _in_child() -> None:
    for database in list(_databases):
        database.leave()


os.register_at_fork(after_in_child=_in_child)


def _apply(connection: Connection, turn: str, statements: Iterable[Statement]) -> None:
    for sql, values, code in statements:
        if connection.execute(sql, values).rowcount != 1:
            raise RecordFault(code, f"turn {turn}: refused by the database", turn=turn)
