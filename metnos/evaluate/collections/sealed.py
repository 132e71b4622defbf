"""Sealed turns: Parquet files that DuckDB reads, with what they hold named in `seal.json` (`metnos.seal/1`).

Law: a sealed turn is the recorded one, byte for byte. Hashes are not kept but made again from the bodies, and the last
one must be the one that was sealed and signed; so what was altered is found as it is in a journal. Memory holds some
thousand records at a time.

| table | columns |
|---|---|
| `turn-N.parquet` | turn, version, status, fence, seq, records, hash, head, anchor, signed, key, labels; for queries: opened, outcome, mode, request, channel, conversation, owner |
| `record-N.parquet` | turn, seq, kind, at, body, commands: turns in the order of the other table |
| `blob-N.parquet` | turn, digest, data; left out where there are none |
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from metnos import plainfile
from metnos.evaluate.collections.contracts import contracts_beside
from metnos.evaluate.collections.duck import duck
from metnos.evaluate.collections.model import Fault, Turn
from metnos.record.chain import first, record_hash
from metnos.record.faults import RecordFault
from metnos.record.model import Anchor, Head, Record, TurnLog, Verified

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metnos.contracts.model import Contract
    from metnos.evaluate.collections.model import Item

FORM: Final = "metnos.seal/1"
NAME: Final = "seal.json"
FETCH: Final = 2_048
"""Rows that are held at a time."""
_MOST_BYTES: Final = 64 * 1024 * 1024
TURN: Final[dict[str, str]] = {
    "turn": "VARCHAR",
    "version": "INTEGER",
    "status": "VARCHAR",
    "fence": "INTEGER",
    "seq": "INTEGER",
    "records": "INTEGER",
    "hash": "VARCHAR",
    "head": "VARCHAR",
    "anchor": "VARCHAR",
    "signed": "BOOLEAN",
    "key": "VARCHAR",
    "labels": "VARCHAR",
    "opened": "BIGINT",
    "outcome": "VARCHAR",
    "mode": "VARCHAR",
    "request": "VARCHAR",
    "channel": "VARCHAR",
    "conversation": "VARCHAR",
    "owner": "VARCHAR",
}
READ: Final = tuple(TURN)[:12]
"""What a turn is made of again; the others are for queries."""
RECORD: Final[dict[str, str]] = {
    "turn": "VARCHAR",
    "seq": "INTEGER",
    "kind": "VARCHAR",
    "at": "BIGINT",
    "body": "VARCHAR",
    "commands": "VARCHAR",
}
BLOB: Final[dict[str, str]] = {"turn": "VARCHAR", "digest": "VARCHAR", "data": "VARCHAR"}


class SealedFiles(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One part, as `seal.json` names it."""

    number: int
    turns: int
    records: int
    blobs: int = 0

    def file(self, table: str) -> str:
        """The name of one of its files."""
        return f"{table}-{self.number:06}.parquet"


class Seal(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`seal.json`."""

    form: str
    parts: tuple[SealedFiles, ...] = ()
    forgotten: tuple[str, ...] = ()
    """Ids of turns that were taken out, and are not sealed here again."""


def read_seal(folder: Path) -> Seal:
    """What `seal.json` says.

    Raises:
        RecordFault: `collection-missing`: it is none, or of another form.
        OSError: It cannot be read.
    """
    try:
        seal = msgspec.json.decode(plainfile.read(folder / NAME, _MOST_BYTES), type=Seal)
    except (msgspec.MsgspecError, UnicodeError) as fault:
        raise RecordFault("collection-missing", f"{folder / NAME}: {fault}") from fault
    if seal.form != FORM:
        raise RecordFault(
            "collection-missing", f"{folder / NAME}: the form is {seal.form!r}, this version reads {FORM}"
        )
    return seal


class SealedPart(msgspec.Struct, frozen=True, kw_only=True):
    """The turns of one part."""

    folder: str
    files: SealedFiles

    @property
    def name(self) -> str:
        """The file of its turns."""
        return f"{self.folder}/{self.files.file('turn')}"

    @property
    def weight(self) -> int:
        """Turns."""
        return self.files.turns

    def read(self) -> Iterator[Item]:
        """Its turns; a file that is gone or damaged ends them with a fault.

        Raises:
            RecordFault: `extra-missing`.
        """
        import duckdb

        with duck() as connection:
            try:
                yield from self._read(connection)
            except (duckdb.Error, _Damaged, UnicodeError) as fault:
                detail = next(iter(str(fault).splitlines()), type(fault).__name__)
                yield Fault(where=self.name, code="turnlog-malformed", detail=detail)

    def _read(self, connection: Any) -> Iterator[Item]:
        turns = _rows(connection, self._path("turn"), {name: TURN[name] for name in READ})
        records = _rows(connection, self._path("record"), RECORD)
        blobs = _rows(connection, self._path("blob"), BLOB) if self.files.blobs else iter(())
        waiting, count = next(blobs, None), 0
        for row in turns:
            count += 1
            held: dict[str, bytes] = {}
            while waiting is not None and waiting[0] == row[0]:
                held[waiting[1]] = waiting[2].encode()
                waiting = next(blobs, None)
            yield self._turn(row, records, held)
        if count != self.files.turns or next(records, None) is not None or waiting is not None:
            detail = f"{count} turns, of {self.files.turns} that were sealed"
            yield Fault(where=self.name, code="turnlog-malformed", detail=detail)

    def _path(self, table: str) -> Path:
        return Path(self.folder) / self.files.file(table)

    def _turn(self, row: Any, rows: Iterator[Any], blobs: dict[str, bytes]) -> Item:
        turn, version, status, fence, seq, count, last, head, anchor, signed, key, labels = row
        where = f"{self.name}:{turn}"
        prev, made = first(turn), list[Record]()
        for _ in range(count):
            found = next(rows, None)
            if found is None or found[0] != turn:
                return Fault(where=where, code="turnlog-malformed", detail=f"{len(made)} of its {count} records")
            _, number, kind, at, text, commands = found
            body = text.encode()
            name = record_hash(turn, number, kind, at, body, prev, commands)
            made.append(Record(turn, number, kind, at, body, prev, name, commands))
            prev = name
        altered = Verified(ok=False, code="record-altered", detail="the records are not those that were sealed")
        try:
            log = TurnLog(
                turn=turn,
                version=version,
                status=status,
                fence=fence,
                seq=seq,
                records=tuple(made),
                head=msgspec.json.decode(head, type=Head) if head else None,
                anchor=msgspec.json.decode(anchor, type=Anchor) if anchor else None,
                blobs=blobs,
                signed=signed,
                key=key,
                defects=() if prev == last else (altered,),
            )
            told = msgspec.json.decode(labels, type=dict[str, str | int | float | bool]) if labels else {}
        except msgspec.MsgspecError as fault:
            return Fault(where=where, code="turnlog-malformed", detail=str(fault))
        return Turn(log=log, where=where, labels=told)


class _Damaged(Exception):
    """A table that is not one of ours."""


def _rows(connection: Any, path: Path, columns: dict[str, str]) -> Iterator[Any]:
    """The rows of a file, of the types that were sealed, whoever wrote it."""
    named = ", ".join(f'CAST("{name}" AS {kind})' for name, kind in columns.items())
    cursor = connection.cursor().execute(f"SELECT {named} FROM read_parquet(?)", [str(path)])  # noqa: S608 - our own names
    while rows := cursor.fetchmany(FETCH):
        for row in rows:
            if None in row:
                raise _Damaged(f"{path.name}: {list(columns)[row.index(None)]} is missing in a row")
        yield from rows


class Sealed:
    """A sealed folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._seal = read_seal(folder)
        self.name = str(folder)

    def weight(self) -> int:
        """Turns."""
        return sum(part.turns for part in self._seal.parts)

    def contracts(self) -> tuple[Contract, ...] | None:
        """Those beside the files."""
        return contracts_beside(self.folder)

    def shards(self) -> Iterator[SealedPart]:
        """The parts as they were sealed."""
        for part in self._seal.parts:
            yield SealedPart(folder=str(self.folder), files=part)
