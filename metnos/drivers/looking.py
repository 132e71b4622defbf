"""Whether something is there by a name that a person said, for whoever has to tell readings of their words apart (ADR 0025);
whether words of theirs are columns of a table that they named (ADR 0026), and whether they stand in its cells (ADR 0029).

Law: through the same door as an executor's files: below the granted folders, no symlink, nothing withheld. The answer is
yes or no, of a column with its spelling and whether it holds numbers; nothing is listed, and nothing else of a file is
handed on. Of a header only the beginning is read; of a table that is longer than a bound no cell is known.
"""

from __future__ import annotations

import csv
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from metnos.drivers.headers import header_of, numbers_of, texts_of
from metnos.execute.grant import Grant
from metnos.execute.roots import RootedFiles
from metnos.propose.decode.cells import Found, found_in
from metnos.propose.decode.heads import matching
from metnos.sdk import FilesError

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence

    from metnos.settings import Settings

MOST_BYTES: Final = 256 * 1024
"""Of a table, for its header; a longer JSON document has none."""
MOST_HELD: Final = 2 * 1024 * 1024
"""Bytes of a table whose cells are looked through."""


class Looks:
    """What may be asked about the granted folders."""

    def __init__(self, settings: Settings) -> None:
        """Prepare; nothing is kept open."""
        self._settings = settings

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
        """Whether something is there by a name."""
        with self._files() as files:
            try:
                files.stat(name)
            except (FilesError, OSError, ValueError):
                return False
        return True

    def columns(self, file: str, passages: Sequence[str]) -> Mapping[str, str] | None:
        """Passage → the column of a table that it is, for those that are one; None: no header can be read."""
        with self._files() as files:
            try:
                data, size = files.read(file, limit=MOST_BYTES)
            except (FilesError, OSError, ValueError):
                return None
        header = header_of(file, data, whole=size <= len(data))
        return matching(header, passages) if header else None

    def numbers(self, file: str, columns: Sequence[str]) -> frozenset[str]:
        """Of columns that were confirmed, those that hold numbers, as far as the table is read."""
        with self._files() as files:
            try:
                data, size = files.read(file, limit=MOST_BYTES)
            except (FilesError, OSError, ValueError):
                return frozenset()
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
        with self._files() as files:
            try:
                data, size = files.read(file, limit=MOST_HELD)
            except (FilesError, OSError, ValueError):
                return None
        try:
            texts = texts_of(file, data) if size <= len(data) else {}
        except csv.Error:
            return None
        return found_in(texts, passages, columns) if texts else None


def looks(settings: Settings) -> Looks:
    """What may be asked, below the granted folders and nowhere else; it never lists."""
    return Looks(settings)
