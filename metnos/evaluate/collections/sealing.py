"""From turns to a sealed folder: part by part, each read back and compared before it counts.

    told = seal(open_collection(home), Path("sealed/"))

Law: only turns that are closed and verify are sealed; the others are left where they are, counted and named. A part
counts when `seal.json` names it, which is after its files were read back and gave every turn again; what a process left
that was killed before is written over. Turns that are in the folder already are not sealed twice. Nothing is ever
removed from where it came.
"""

from __future__ import annotations

import fcntl
import os
import re
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from metnos.drafts import drafted_beside
from metnos.evaluate.collections.beside import keep_contracts, keep_labels
from metnos.evaluate.collections.duck import duck_at, quoted
from metnos.evaluate.collections.model import Fault, Turn
from metnos.evaluate.collections.sealed import BLOB, FORM, NAME, RECORD, TURN, Seal, SealedFiles, SealedPart, read_seal
from metnos.evaluate.collections.turnlog import encode_turn
from metnos.record.codec import encode
from metnos.record.faults import RecordFault
from metnos.record.keys import sync_folder
from metnos.record.summary import summary_of
from metnos.record.verify import verify_log

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping

    from metnos.evaluate.collections.model import Collection, Item, Shard

PART_TURNS: Final = 2_000
_FILE: Final = re.compile(r"(?:turn|record|blob)-([0-9]{6,})\.parquet", re.ASCII)
_LEAST_OBJECT: Final = 16 * 1024 * 1024


class Told(msgspec.Struct, kw_only=True):
    """What became of the turns of a collection."""

    sealed: int = 0
    already: int = 0
    """That were in the folder before."""
    forgotten: int = 0
    """That were taken out of the folder (`forgetting`), and stay out."""
    open: int = 0
    """That have not ended, and may go on."""
    faults: list[Fault] = []
    """What does not verify or cannot be read: not sealed."""


def seal(
    turns: Collection, folder: Path, *, size: int = PART_TURNS, told: Callable[[int], object] | None = None
) -> Told:
    """Add the turns of a collection to a sealed folder, with what lies beside them.

    Args:
        turns: Read once.
        folder: Made if it is not there.
        size: Turns of a part.
        told: Called with the weight of each part of the collection that is done.

    Raises:
        RecordFault: `extra-missing`; `seal-busy`, another process seals there; `contracts-differ`, in the folder are turns of other tools; `seal-unreadable`, what was sealed there is damaged; `seal-differs`, what was written did not give the turns again.
        OSError: The folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with claimed(folder):
        return seal_held(turns, folder, size=size, told=told)


def seal_held(
    turns: Collection, folder: Path, *, size: int = PART_TURNS, told: Callable[[int], object] | None = None
) -> Told:
    """The same into a folder that the caller holds: one that has no name yet, say."""
    before = Seal(form=FORM)
    if (folder / NAME).exists():  # else files of such a name may be anybody's
        before = read_seal(folder)
        sweep(folder, before)
    keep_contracts(turns, folder, anew=not before.parts)
    sealing = Sealing(folder, before, size)
    try:
        for shard in turns.shards():
            for item in _items(shard):
                sealing.take(item)
            if told is not None:
                told(shard.weight)
        sealing.close()
    finally:
        sealing.clear()
    keep_labels(turns, folder)
    return sealing.told


@contextmanager
def claimed(folder: Path) -> Generator[None]:
    """The folder, held against every other process that would write there; the kernel lets go when this one dies.

    Raises:
        RecordFault: `seal-busy`.
    """
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with suppress(OSError):  # where locks are not to be had nobody holds it
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as fault:
                raise RecordFault("seal-busy", f"another process is sealing into {folder}") from fault
        yield
    finally:
        os.close(handle)


def _items(shard: Shard) -> Iterator[Item]:
    try:
        yield from shard.read()
    except RecordFault as fault:
        yield Fault(where=shard.name, code=fault.code, detail=fault.message)


def numbers_in(folder: Path) -> list[int]:
    """Of the parts that have a file in the folder, whether they count or not."""
    return [int(found[1]) for path in folder.iterdir() if (found := _FILE.fullmatch(path.name))]


def sweep(folder: Path, seal: Seal) -> None:
    """Remove files of parts that do not count: of a killed process, or of turns that were to be forgotten.

    Raises:
        OSError: One cannot be removed.
    """
    named = {part.number for part in seal.parts}
    for path in folder.iterdir():
        found = _FILE.fullmatch(path.name)
        if found and int(found[1]) not in named:
            path.unlink()


class Sealing:
    """The part that is being filled, and those before it."""

    def __init__(self, folder: Path, before: Seal, size: int) -> None:
        self._folder = folder
        self._parts = list(before.parts)
        self._forgotten = before.forgotten
        self._out = frozenset(before.forgotten)
        self._number = max(numbers_in(folder), default=0)
        self._size = size
        self._there: dict[str, int] = {}
        """Turn → digits of its last hash: all that is held of those that are sealed."""
        self.told = Told()
        for part in before.parts:
            path = folder / part.file("turn")
            with duck_at(path) as connection:
                rows = connection.execute("SELECT turn, hash FROM read_parquet(?)", [str(path)])
                for turn, last in rows.fetchall():
                    self._there[turn] = _digits(last, path)
        self._begin()

    def _begin(self) -> None:
        self._turns = self._records = self._blobs = 0
        self._digests: list[int] = []
        self._largest = 0
        self._files: dict[str, Any] = {
            table: (self._folder / f".{table}.draft.jsonl").open("wb") for table in ("turn", "record", "blob")
        }

    def take(self, item: Item) -> None:
        """One turn or fault."""
        if isinstance(item, Fault):
            self.told.faults.append(item)
            return
        log = item.log
        if log.status != "closed":
            self.told.open += 1
            return
        if log.turn in self._out:
            self.told.forgotten += 1
            return
        found = verify_log(log)
        if not found.ok:
            self._leave(item, found.code, found.detail)
            return
        before = self._there.get(log.turn)
        if before == _digits(log.records[-1].hash):
            self.told.already += 1
            return
        if before is not None:
            self._leave(item, "turn-exists", f"another turn {log.turn} is sealed")
            return
        try:
            line = encode_turn(log, item.labels)
        except RecordFault as fault:
            self._leave(item, fault.code, fault.message)
            return
        self._there[log.turn] = _digits(log.records[-1].hash)
        self._digests.append(hash(line))
        self._write(item)
        if self._turns >= self._size:
            self._finish()

    def _leave(self, item: Turn, code: str, detail: str) -> None:
        self.told.faults.append(Fault(where=item.where, code=code, detail=detail))

    def _write(self, item: Turn) -> None:
        log = item.log
        self._turns += 1
        self._records += len(log.records)
        self._blobs += len(log.blobs)
        self._row("turn", _turn_row(item))
        for one in log.records:
            values = (one.turn, one.seq, one.kind, one.at, one.body.decode(), one.commands)
            self._row("record", dict(zip(RECORD, values, strict=True)))
        for name, data in log.blobs.items():
            self._row("blob", {"turn": log.turn, "digest": name, "data": data.decode()})

    def _row(self, table: str, row: Mapping[str, Any]) -> None:
        line = encode(row) + b"\n"
        self._largest = max(self._largest, len(line))
        self._files[table].write(line)

    def close(self) -> None:
        """Seal what is left."""
        if self._turns:
            self._finish()

    def clear(self) -> None:
        """Leave no draft, however it went."""
        for file in self._files.values():
            with suppress(OSError):  # what it still holds is of no use
                file.close()
        for path in self._folder.glob(".*.draft.jsonl"):
            path.unlink(missing_ok=True)

    def _finish(self) -> None:
        part = SealedFiles(number=self._number + 1, turns=self._turns, records=self._records, blobs=self._blobs)
        for file in self._files.values():
            file.close()
        with duck_at(self._folder) as connection:
            for table, columns in (("turn", TURN), ("record", RECORD), *((("blob", BLOB),) if self._blobs else ())):
                path = self._folder / part.file(table)
                self._copy(connection, table, columns, path)
                _sync(path)
        again = (
            hash(encode_turn(item.log, item.labels)) if isinstance(item, Turn) else 0
            for item in SealedPart(folder=str(self._folder), files=part).read()
        )
        if list(again) != self._digests:
            raise RecordFault("seal-differs", f"{self._folder / part.file('turn')} does not give its turns again")
        self._parts.append(part)
        self._number += 1
        write_seal(self._folder, Seal(form=FORM, parts=tuple(self._parts), forgotten=self._forgotten))
        self.told.sealed += self._turns
        self._begin()

    def _copy(self, connection: Any, table: str, columns: Mapping[str, str], path: Path) -> None:
        typed = ", ".join(f"'{name}': '{kind}'" for name, kind in columns.items())
        most = max(_LEAST_OBJECT, 2 * self._largest)
        draft = quoted(self._folder / f".{table}.draft.jsonl")
        connection.execute(
            f"COPY (SELECT * FROM read_json({draft}, format = 'newline_delimited', columns = {{{typed}}},"  # noqa: S608
            f" maximum_object_size = {most})) TO {quoted(path)} (FORMAT parquet, COMPRESSION zstd)"
        )


def _digits(name: str, path: Path | None = None) -> int:
    try:
        return int(name.removeprefix("sha256:")[:16], 16)
    except (ValueError, AttributeError) as fault:
        raise RecordFault("seal-unreadable", f"{path}: {name!r} is no hash of a record") from fault


def _turn_row(item: Turn) -> dict[str, Any]:
    log = item.log
    line = summary_of(log)
    return {
        "turn": log.turn,
        "version": log.version,
        "status": log.status,
        "fence": log.fence,
        "seq": log.seq,
        "records": len(log.records),
        "hash": log.records[-1].hash,
        "head": "" if log.head is None else encode(log.head).decode(),
        "anchor": "" if log.anchor is None else encode(log.anchor).decode(),
        "signed": log.signed,
        "key": log.key,
        "labels": encode(item.labels).decode() if item.labels else "",
        "opened": line.opened,
        "outcome": line.outcome,
        "mode": line.mode,
        "request": line.request,
        "channel": line.channel,
        "conversation": line.conversation,
        "owner": line.owner,
    }


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_seal(folder: Path, seal: Seal) -> None:
    """Write `seal.json`: from now on the folder is what it says.

    Raises:
        OSError: It cannot be written.
    """
    path = folder / NAME
    with drafted_beside(path) as (draft, file):
        left = memoryview(encode(seal) + b"\n")
        while left:
            left = left[os.write(file, left) :]
        os.fsync(file)
        draft.replace(path)
    with suppress(OSError):
        sync_folder(path.parent)
