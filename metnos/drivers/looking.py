"""Whether something is there by a name that a person said, for whoever has to tell readings of their words apart (ADR 0025);
whether words of theirs are columns of a table that they named (ADR 0026), and whether they stand in its cells (ADR 0029).

Law: through the same door as an executor's files: below the granted folders, no symlink, nothing withheld. The answer is
yes or no, of a column with its spelling and whether it holds numbers; nothing is listed for others, and nothing else of a file
is handed on. Of a header only the beginning is read; of a table that is longer than a bound no cell is known.
"""

from __future__ import annotations

import csv
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Final
from unicodedata import normalize

from metnos.drivers.headers import header_of, numbers_of, texts_of
from metnos.execute.grant import Grant
from metnos.execute.roots import RootedFiles
from metnos.propose.decode.cells import Found, found_in
from metnos.propose.decode.endings import is_file_name
from metnos.propose.decode.heads import matching
from metnos.sdk import FilesError

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence

    from metnos.settings import Settings

MOST_BYTES: Final = 256 * 1024
"""Of a table, for its header; a longer JSON document has none."""
MOST_ENTRIES: Final = 50_000
"""Files and folders among which a bare name is looked for."""
MOST_HELD: Final = 2 * 1024 * 1024
"""Bytes of a table whose cells are looked through."""


_MARKS: Final = frozenset("/*?[]")
"""What is no bare name, or would be a pattern."""


class Looks:
    """What may be asked about the granted folders."""

    def __init__(self, settings: Settings) -> None:
        """Prepare; nothing is kept open. Names of files are looked at once, for one request."""
        self._settings = settings
        self._names: dict[str, str] | None = None

    @contextmanager
    def _files(self) -> Generator[RootedFiles]:
        settings = self._settings
        roots = tuple(map(str, settings.roots))
        files = RootedFiles(Grant(folder=str(settings.folder), roots=roots, withheld=(str(settings.home),)))
        try:
            yield files
        finally:
            files.close()

    def __call__(self, name: str) -> bool:
        """Whether something is there by a name: here, or a file of a bare name somewhere below."""
        with self._files() as files:
            return _is_at(files, name) or bool(self._place(files, name))

    def below(self, name: str) -> bool:
        """Whether a bare name is that of one file somewhere below, and of nothing here."""
        with self._files() as files:
            return not _is_at(files, name) and bool(self._place(files, name))

    def below_folder(self, name: str) -> bool:
        """The same of a folder."""
        with self._files() as files:
            if not name or not _MARKS.isdisjoint(name) or _is_at(files, name):
                return False
            return self._found(files).get(f"{name}/", "") != ""

    def _found(self, files: RootedFiles) -> dict[str, str]:
        names = self._names
        if names is None:
            names = self._names = _names_below(files)
        return names

    def _place(self, files: RootedFiles, name: str) -> str:
        """Where the one file of a bare name is; empty: there is none, or there are several, or it is no file's name."""
        if not is_file_name(name) or name.startswith(".") or not _MARKS.isdisjoint(name):
            return ""
        return self._found(files).get(name, "")

    def forget(self) -> None:
        """A request begins: what is there may have changed."""
        self._names = None

    def _read(self, file: str, limit: int) -> tuple[bytes, int] | None:
        """The beginning of a file and its size, wherever it is; None: it cannot be read."""
        with self._files() as files:
            try:
                return files.read(file if _is_at(files, file) else self._place(files, file) or file, limit=limit)
            except (FilesError, OSError, ValueError):
                return None

    def columns(self, file: str, passages: Sequence[str]) -> Mapping[str, str] | None:
        """Passage → the column of a table that it is, for those that are one; None: no header can be read."""
        read = self._read(file, MOST_BYTES)
        if read is None:
            return None
        data, size = read
        header = header_of(file, data, whole=size <= len(data))
        return matching(header, passages) if header else None

    def numbers(self, file: str, columns: Sequence[str]) -> frozenset[str]:
        """Of columns that were confirmed, those that hold numbers, as far as the table is read."""
        read = self._read(file, MOST_BYTES)
        if read is None:
            return frozenset()
        data, size = read
        try:
            return numbers_of(file, data, whole=size <= len(data)).intersection(columns)
        except csv.Error:
            return frozenset()

    def cells(self, file: str, passages: Sequence[str], columns: Sequence[str]) -> Found | None:
        """Which passages stand in the cells of a table, and in which of its columns; None: nobody can tell.

        Args:
            file: The table.
            passages: Of the request.
            columns: Confirmed ones, that are told apart from the others.
        """
        read = self._read(file, MOST_HELD)
        if read is None:
            return None
        data, size = read
        try:
            texts = texts_of(file, data) if size <= len(data) else {}
        except csv.Error:
            return None
        return found_in(texts, passages, columns) if texts else None


def _names_below(files: RootedFiles) -> dict[str, str]:
    """Name of a file, or of a folder with its slash → where it is; empty where several have it."""
    found: dict[str, str] = {}
    spelled: dict[str, str] = {}
    try:
        for entry in islice(files.scan(".", recursive=True, hidden=False), MOST_ENTRIES):
            name = f"{entry.name}/" if entry.is_dir else entry.name if entry.is_file else ""
            if name and entry.path_bytes is None:
                other = spelled.setdefault(normalize("NFC", name).casefold(), name)  # a search takes both for the same
                found[name] = "" if name in found or other != name else entry.path
                found[other] = found[other] if other == name else ""
    except (FilesError, OSError, ValueError):
        pass
    return found


def _is_at(files: RootedFiles, name: str) -> bool:
    try:
        files.stat(name)
    except (FilesError, OSError, ValueError):
        return False
    return True


def looks(settings: Settings) -> Looks:
    """What may be asked, below the granted folders and nowhere else; it never lists."""
    return Looks(settings)
