"""Turns as lines: a file, a folder of files, a stream that is read once.

Law: memory holds one line, or one part of a stream, whatever the size of the whole. A line ends with a line feed; an empty one is
no turn and no fault. What is cut into parts is cut behind a line end, and each part knows the number of its first line,
so a fault has its place whoever reads it. `*.jsonl.gz` is read too, each file in one part.
"""

from __future__ import annotations

import gzip
import stat
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

import msgspec

from metnos.evaluate.collections.contracts import contracts_beside
from metnos.evaluate.collections.model import Fault
from metnos.evaluate.collections.turnlog import decode_turn
from metnos.record.faults import RecordFault

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator

    from metnos.contracts.model import Contract
    from metnos.evaluate.collections.model import Item

ENDINGS: Final = (".jsonl", ".jsonl.gz")
PART_BYTES: Final = 4 * 1024 * 1024
"""Of a file that is cut: some hundreds of turns."""
STREAM_BYTES: Final = 1024 * 1024
MOST_LINE_BYTES: Final = 256 * 1024 * 1024
_BLOCK: Final = 8 * 1024 * 1024


def read_line(line: bytes, where: str) -> Item | None:
    """The turn of a line, the fault that it is, or None where it is empty."""
    if len(line) > MOST_LINE_BYTES:
        return Fault(where=where, code="turnlog-malformed", detail=f"a line of more than {MOST_LINE_BYTES} bytes")
    if not line.strip():
        return None
    try:
        return decode_turn(line, where)
    except RecordFault as fault:
        return Fault(where=where, code=fault.code, detail=fault.message)


def lines_of(file: IO[bytes], name: str, first: int, length: int | None = None) -> Iterator[Item]:
    """The turns of `length` bytes from where `file` stands; None: of all that comes."""
    number, left = first, length
    while left is None or left > 0:
        line = file.readline(MOST_LINE_BYTES + 1)
        if not line:
            return
        size = len(line)
        while not line.endswith(b"\n") and len(line) > MOST_LINE_BYTES:  # the rest of it is passed over
            rest = file.readline(_BLOCK)
            size += len(rest)
            if not rest or rest.endswith(b"\n"):
                break
        item = read_line(line, f"{name}:{number}")
        if item is not None:
            yield item
        number += 1
        left = None if left is None else left - size


class FilePart(msgspec.Struct, frozen=True, kw_only=True):
    """Whole lines of a file."""

    path: str
    shown: str
    """The file as faults name it."""
    start: int
    length: int
    first: int
    """Number of its first line, from 1."""

    @property
    def name(self) -> str:
        """The file and the first line."""
        return f"{self.shown}:{self.first}"

    @property
    def weight(self) -> int:
        """Bytes."""
        return self.length

    def read(self) -> Iterator[Item]:
        """Its turns."""
        with _open(Path(self.path)) as file:
            if self.path.endswith(".gz"):
                with gzip.open(file) as text:
                    yield from _unpacked(text, self.shown)  # pyright: ignore[reportArgumentType]
                return
            file.seek(self.start)
            yield from lines_of(file, self.shown, self.first, self.length)


def _unpacked(text: IO[bytes], shown: str) -> Iterator[Item]:
    """All lines of a packed file; where it is cut off or damaged, what came before and the fault."""
    try:
        yield from lines_of(text, shown, 1)
    except (EOFError, gzip.BadGzipFile, OSError) as fault:
        yield Fault(where=shown, code="turnlog-malformed", detail=f"the packed file is damaged: {fault}")


class StreamPart(msgspec.Struct, frozen=True, kw_only=True):
    """Whole lines out of a stream, held: the stream itself is read once and by nobody else."""

    shown: str
    lines: tuple[bytes, ...]
    first: int

    @property
    def name(self) -> str:
        """The stream and the first line."""
        return f"{self.shown}:{self.first}"

    @property
    def weight(self) -> int:
        """Bytes."""
        return sum(map(len, self.lines))

    def read(self) -> Iterator[Item]:
        """Its turns."""
        for number, line in enumerate(self.lines, self.first):
            item = read_line(line, f"{self.shown}:{number}")
            if item is not None:
                yield item


class Files:
    """One file or several.

    Args:
        paths: In the order in which they are read.
        name: As the person named it.
        folder: Where `contracts.json` may lie.
    """

    def __init__(self, paths: Iterable[Path], name: str, folder: Path) -> None:
        self._paths = tuple(paths)
        self.name = name
        self.folder = folder

    def weight(self) -> int:
        """Bytes of all files."""
        return sum(path.stat().st_size for path in self._paths if path.exists())

    def contracts(self) -> tuple[Contract, ...] | None:
        """Those beside the files."""
        return contracts_beside(self.folder)

    def shards(self) -> Iterator[FilePart]:
        """Parts of some megabytes each."""
        for path in self._paths:
            shown = str(path)
            if path.name.endswith(".gz"):
                size = path.stat().st_size
                yield FilePart(path=str(path), shown=shown, start=0, length=size, first=1)
            else:
                yield from _parts(path, shown)


def _parts(path: Path, shown: str) -> Iterator[FilePart]:
    """Cut behind the first line end that comes after `PART_BYTES`; a file that cannot be opened is one part."""
    start = begun = end = 0
    first = number = 1
    try:
        with _open(path) as file:
            while block := file.read(_BLOCK):
                position = 0
                while True:
                    cut = block.find(b"\n", max(position, start + PART_BYTES - begun - 1))
                    if cut < 0:
                        break
                    number += block.count(b"\n", position, cut + 1)
                    end = begun + cut + 1
                    yield FilePart(path=str(path), shown=shown, start=start, length=end - start, first=first)
                    start, first, position = end, number, cut + 1
                number += block.count(b"\n", position)
                begun += len(block)
    except OSError:
        begun = max(begun, start + 1)  # whoever reads that part says what is wrong with the file
    if begun > start:
        yield FilePart(path=str(path), shown=shown, start=start, length=begun - start, first=first)


class Stream:
    """What comes through a pipe: read once, in parts, as fast as they are taken."""

    def __init__(self, file: IO[bytes], name: str = "-") -> None:
        self._file = file
        self.name = name
        self.folder = None

    def weight(self) -> int:
        """Nobody knows."""
        return 0

    def contracts(self) -> tuple[Contract, ...] | None:
        """A stream has none beside it."""
        return None

    def shards(self) -> Iterator[StreamPart]:
        """Parts of about a megabyte."""
        held: list[bytes] = []
        size, first = 0, 1
        while line := self._file.readline(MOST_LINE_BYTES + 1):
            while not line.endswith(b"\n") and len(line) > MOST_LINE_BYTES:
                rest = self._file.readline(_BLOCK)
                if not rest or rest.endswith(b"\n"):
                    break
            held.append(line)
            size += len(line)
            if size >= STREAM_BYTES:
                yield StreamPart(shown=self.name, lines=tuple(held), first=first)
                first += len(held)
                held, size = [], 0
        if held:
            yield StreamPart(shown=self.name, lines=tuple(held), first=first)


@contextmanager
def _open(path: Path) -> Generator[IO[bytes]]:
    """A plain file; anything else in its place is an `OSError`."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError(22, "not a plain file", str(path))
    with path.open("rb") as file:
        yield file
