"""The rows of a run, in a file beside its result: one line a turn, written as they come.

Law: the first line names the run by its digest and the turns by their place. A row is whole or it is not there: a last
line that was cut off by a crash is taken away before anything is added. The rows are a prefix of the turns of the run, in
their order, so whoever goes on passes over as many turns as there are rows; and each of them must be the turn that it was.
A changed run does not go on: it replaces one that had come to its end, as its result does, and is refused where rows of an
unfinished one would be lost. One run at a time: the file is locked (`flock`) while it is written, and the kernel gives the lock
up when its holder dies.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from metnos.evaluate.measures.result import ROW_FORM, EvalRow

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import IO, Self

ENDING: Final = ".rows.jsonl"


class Header(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The first line."""

    form: str
    run: str
    """Digest of the run."""


class _Ended(msgspec.Struct, frozen=True):
    """Of a result, whether it came to its end."""

    run: str = ""
    stopped: str = ""


class _Result(msgspec.Struct, frozen=True):
    meta: _Ended = _Ended()


def finished_run(result: Path) -> str:
    """Digest of the run whose result lies there; empty: there is none, or it was stopped."""
    try:
        meta = msgspec.json.decode(result.read_bytes(), type=_Result).meta
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return ""
    return "" if meta.stopped else meta.run


class RowsFault(Exception):
    """Rows that cannot be read, or that are those of another run.

    Attributes:
        code: `rows-malformed`, `rows-of-another-run`, `rows-busy`.
        where: The file, and the line.
        message: What is wrong.
        hint: What to do.
    """

    def __init__(self, code: str, where: str, message: str, hint: str = "") -> None:
        super().__init__(f"{where}: {message}")
        self.code, self.where, self.message, self.hint = code, where, message, hint


_row = msgspec.json.Decoder(EvalRow)
_header = msgspec.json.Decoder(Header)


def rows_path(result: Path) -> Path:
    """The file of the rows beside a result."""
    return result.with_name(result.name.removesuffix(".json") + ENDING)


def read_rows(path: Path) -> Iterator[EvalRow]:
    """The rows of a file, one at a time.

    Raises:
        RowsFault: `rows-malformed`.
        OSError: It cannot be read.
    """
    with path.open("rb") as file:
        read_header(file.readline(), path)
        for number, line in enumerate(file, 2):
            yield row_of(line, f"{path.name}:{number}")


def read_header(line: bytes, path: Path) -> Header:
    """The first line.

    Raises:
        RowsFault: `rows-malformed`.
    """
    try:
        header = _header.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError) as fault:
        raise RowsFault("rows-malformed", f"{path.name}:1", str(fault)) from fault
    if header.form != ROW_FORM:
        raise RowsFault("rows-malformed", f"{path.name}:1", f"the form is {header.form!r}, not {ROW_FORM}")
    return header


def row_of(line: bytes, where: str) -> EvalRow:
    """One line.

    Raises:
        RowsFault: `rows-malformed`.
    """
    try:
        return _row.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError) as fault:
        raise RowsFault("rows-malformed", where, str(fault)) from fault


def _claimed(path: Path) -> IO[bytes]:
    """The file, open to be written and held against every other run until it is closed; nothing in it is changed."""
    file = path.open("a+b")
    try:
        with suppress(OSError):  # where locks are not to be had nobody holds it
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as fault:
                hint = "wait until it ends, or write somewhere else (--out)"
                raise RowsFault("rows-busy", str(path), "another evaluation is writing here", hint) from fault
    except RowsFault:
        file.close()
        raise
    return file


class Rows:
    """The file of a run under way; close it.

    `kept` are the rows that were there, to be read before any is added.
    """

    def __init__(self, path: Path, run: str, *, fresh: bool = False, finished: str = "") -> None:
        """Begin, or go on.

        Args:
            path: Of the file.
            run: Digest of the run.
            fresh: Forget what is there.
            finished: Digest of a run that came to its end here: its rows are its result's, and may be replaced.

        Raises:
            RowsFault: `rows-busy`, another run writes here; `rows-of-another-run`; `rows-malformed`.
            OSError: It cannot be written.
        """
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self.kept = 0
        self._finished = finished
        self._file: IO[bytes] = _claimed(path)
        try:
            whole = 0 if fresh else self._whole(run)
        except BaseException:
            self._file.close()
            raise
        self._file.truncate(whole)
        if not whole:
            self._file.write(msgspec.json.encode(Header(form=ROW_FORM, run=run)) + b"\n")
            self._file.flush()

    def _whole(self, run: str) -> int:
        """Bytes of the lines that are whole; 0: not even the first is."""
        with self.path.open("rb") as file:
            first = file.readline()
            if not first.endswith(b"\n"):
                return 0
            there = read_header(first, self.path).run
            if there != run and there == self._finished:
                return 0
            if there != run:
                hint = "write somewhere else (--out), or begin anew with --fresh"
                message = "what lies here are rows of another run, or of this one before it was changed"
                raise RowsFault("rows-of-another-run", str(self.path), message, hint)
            size = len(first)
            for line in file:
                if not line.endswith(b"\n"):
                    break
                size += len(line)
                self.kept += 1
            return size

    def before(self) -> Iterator[EvalRow]:
        """The rows that were there."""
        if not self.kept:
            return
        for number, row in enumerate(read_rows(self.path), 1):
            yield row
            if number == self.kept:
                return

    def add(self, rows: bytes) -> None:
        """Append whole lines, and hand them to the system at once: a killed process has lost none of them."""
        self._file.write(rows)
        self._file.flush()

    def close(self) -> None:
        """On the disk, and done."""
        if not self._file.closed:
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()
