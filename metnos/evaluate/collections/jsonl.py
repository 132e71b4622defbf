"""Turns as lines: a file, a folder of files, a stream that is read once.

Law: memory holds one line, or one part of a stream, whatever the size of the whole. A line ends with a line feed; an empty one is
no turn and no fault. What is cut into parts is cut behind a line end, and each part knows the number of its first line,
so a fault has its place whoever reads it. `*.jsonl.gz` is read too, each file in one part.
The same line twice is one turn: the second is a fault with its place (`turn-exists`), whichever part it is in; of a
packed file, each by itself.
"""

from __future__ import annotations

import gzip
import stat
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, TypeAlias

import msgspec

from metnos.evaluate.collections.contracts import contracts_beside
from metnos.evaluate.collections.model import Fault
from metnos.evaluate.collections.turnlog import decode_turn
from metnos.record.faults import RecordFault

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator

    from metnos.contracts.model import Contract
    from metnos.evaluate.collections.model import Item

    Again: TypeAlias = Callable[[int, bytes], bool]
    """Whether a line, by its number and bytes, was there before."""

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


def _once(item: Item) -> Fault:
    """Of a turn that stands there twice, the second time."""
    if isinstance(item, Fault):
        return item
    return Fault(where=item.where, code="turn-exists", detail="the same line was there before: it counts once")


def lines_of(
    file: IO[bytes], name: str, first: int, length: int | None = None, again: Again | None = None
) -> Iterator[Item]:
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
            yield _once(item) if again is not None and again(number, line) else item
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
    twice: tuple[int, ...] = ()
    """Numbers of the lines that are the same as one before, in this file or another one."""

    @property
    def name(self) -> str:
        """The file and the first line."""
        return f"{self.shown}:{self.first}"

    @property
    def weight(self) -> int:
        """Bytes."""
        return self.length

    def _again(self, number: int, _line: bytes) -> bool:
        return number in self.twice

    def read(self) -> Iterator[Item]:
        """Its turns."""
        with _open(Path(self.path)) as file:
            if self.path.endswith(".gz"):
                with gzip.open(file) as text:
                    yield from _unpacked(text, self.shown)  # pyright: ignore[reportArgumentType]
                return
            file.seek(self.start)
            yield from lines_of(file, self.shown, self.first, self.length, self._again)


def _unpacked(text: IO[bytes], shown: str) -> Iterator[Item]:
    """All lines of a packed file; where it is cut off or damaged, what came before and the fault."""
    seen = _Seen()
    try:
        yield from lines_of(text, shown, 1, again=lambda _, line: seen.before(line))
    except (EOFError, gzip.BadGzipFile, OSError) as fault:
        yield Fault(where=shown, code="turnlog-malformed", detail=f"the packed file is damaged: {fault}")


class StreamPart(msgspec.Struct, frozen=True, kw_only=True):
    """Whole lines out of a stream, held: the stream itself is read once and by nobody else."""

    shown: str
    lines: tuple[bytes, ...]
    first: int
    twice: tuple[int, ...] = ()
    """Numbers of the lines that are the same as one before."""

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
                yield _once(item) if number in self.twice else item


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
        seen = _Seen()
        for path in self._paths:
            shown = str(path)
            if path.name.endswith(".gz"):
                size = path.stat().st_size
                yield FilePart(path=str(path), shown=shown, start=0, length=size, first=1)
            else:
                yield from _parts(path, shown, seen)


def _parts(path: Path, shown: str, seen: _Seen) -> Iterator[FilePart]:
    """Cut behind the first line end that comes after `PART_BYTES`; a file that cannot be opened is one part."""
    start = end = 0
    first = number = 1
    twice: list[int] = []

    def part() -> FilePart:
        return FilePart(path=str(path), shown=shown, start=start, length=end - start, first=first, twice=tuple(twice))

    try:
        with _open(path) as file:
            while line := file.readline(MOST_LINE_BYTES + 1):
                end += len(line)
                if seen.before(line):
                    twice.append(number)
                if not line.endswith(b"\n"):
                    continue
                number += 1
                if end - start >= PART_BYTES:
                    yield part()
                    start, first, twice = end, number, []
    except OSError:
        end = max(end, start + 1)  # whoever reads that part says what is wrong with the file
    if end > start:
        yield part()


class _Seen:
    """The lines that were there before: of each 64 bits are held."""

    def __init__(self) -> None:
        self._held = set[int]()

    def before(self, line: bytes) -> bool:
        """Whether this line has been there; an empty one never."""
        text = line.strip()
        if not text:
            return False
        known, count = hash(text), len(self._held)
        self._held.add(known)
        return len(self._held) == count


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
        held, twice, seen = list[bytes](), list[int](), _Seen()
        size, first = 0, 1
        while line := self._file.readline(MOST_LINE_BYTES + 1):
            while not line.endswith(b"\n") and len(line) > MOST_LINE_BYTES:
                rest = self._file.readline(_BLOCK)
                if not rest or rest.endswith(b"\n"):
                    break
            held.append(line)
            if seen.before(line):
                twice.append(first + len(held) - 1)
            size += len(line)
            if size >= STREAM_BYTES:
                yield StreamPart(shown=self.name, lines=tuple(held), first=first, twice=tuple(twice))
                first += len(held)
                held, twice, size = [], [], 0
        if held:
            yield StreamPart(shown=self.name, lines=tuple(held), first=first, twice=tuple(twice))


@contextmanager
def _open(path: Path) -> Generator[IO[bytes]]:
    """A plain file; anything else in its place is an `OSError`."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError(22, "not a plain file", str(path))
    with path.open("rb") as file:
        yield file
