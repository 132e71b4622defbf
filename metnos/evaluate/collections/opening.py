"""From what a person names to a collection.

    turns = open_collection("turns/")           # a folder of *.jsonl, a sealed one, or a home
    turns = open_collection("-", stdin)

| what is named | what it is |
|---|---|
| `-`, a pipe | a stream of lines |
| a file | lines; packed, if it ends in `.gz` |
| a folder with `seal.json` | a sealed collection (Parquet) |
| a folder with `metnos.db` | the journal of a home |
| any other folder | its `*.jsonl` and `*.jsonl.gz`, in the order of their names; rows that an evaluation left there are none |
"""

from __future__ import annotations

import stat
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from metnos.evaluate.collections.journal import DATABASE, JournalTurns
from metnos.evaluate.collections.jsonl import ENDINGS, Files, Stream
from metnos.evaluate.collections.sealed import NAME as SEAL
from metnos.evaluate.collections.sealed import Sealed
from metnos.record.faults import RecordFault

ROWS: Final = ".rows.jsonl"
ROWS_BEGIN: Final = b'{"form":"metnos.eval-row/'
"""What `metnos.evaluate.running.rows` writes; a test holds the two together."""

if TYPE_CHECKING:
    from metnos.evaluate.collections.model import Collection


def open_collection(place: str | Path, stdin: IO[bytes] | None = None) -> Collection:
    """The collection at `place`; nothing of it is read yet.

    Args:
        place: As in the table.
        stdin: What `-` means.

    Raises:
        RecordFault: `collection-missing`.
    """
    if str(place) == "-":
        if stdin is None:
            raise _missing(place, "there is no stream here")
        return Stream(stdin)
    path = Path(place)
    try:
        mode = path.stat().st_mode
    except OSError as fault:
        raise _missing(place, fault.strerror or str(fault)) from fault
    if stat.S_ISDIR(mode):
        return _folder(path)
    if stat.S_ISREG(mode):
        return Files((path,), str(place), path.parent)
    if stat.S_ISFIFO(mode):
        return Stream(path.open("rb"), str(place))
    raise _missing(place, "neither a file nor a folder nor a pipe")


def _folder(path: Path) -> Collection:
    if (path / SEAL).exists():
        return Sealed(path)
    if (path / DATABASE).exists():
        return JournalTurns(path)
    files = sorted(one for one in path.iterdir() if one.name.endswith(ENDINGS) and not _is_rows(one))
    if not files:
        raise _missing(path, f"no {DATABASE}, no seal.json, no *.jsonl in it")
    return Files(files, str(path), path)


def _is_rows(path: Path) -> bool:
    """Whether an evaluation wrote this file, beside its run file among the turns."""
    if not path.name.endswith(ROWS) or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(ROWS_BEGIN)) == ROWS_BEGIN


def _missing(place: str | Path, why: str) -> RecordFault:
    return RecordFault("collection-missing", f"no recorded turns at {place}: {why}")
