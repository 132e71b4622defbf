"""A folder of results that are too large for a record, each under the digest of its bytes.

Law: a file is whole or not there (written beside, synced, renamed). What is read is checked against its name, so a
blob can be lost or found altered, and never taken for another.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from metnos import plainfile
from metnos.drafts import drafted_beside
from metnos.record.chain import digest
from metnos.record.faults import RecordFault
from metnos.record.keys import sync_folder

_KIND = "sha256:"
_HEX_DIGITS = 64
_MOST_BYTES = 64 * 1024 * 1024


class BlobFolder:
    """`METNOS_HOME/blobs/ab/abcdef…`, mode 0600 in folders of 0700."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def path(self, blob: str) -> Path:
        """Where the blob of this digest is, or would be.

        Raises:
            RecordFault: `record-malformed`, the text is no digest.
        """
        name = blob.removeprefix(_KIND)
        if not blob.startswith(_KIND) or len(name) != _HEX_DIGITS or not set(name) <= set("0123456789abcdef"):
            raise RecordFault("record-malformed", f"{blob[:80]!r} is not a digest")
        return self._folder / name[:2] / name

    def write_all(self, blobs: Mapping[str, bytes]) -> None:
        """Put all of them on disk; when this returns they survive a power cut.

        Raises:
            RecordFault: `record-write`.
        """
        try:
            folders: set[Path] = set()
            for blob, data in blobs.items():
                path = self.path(blob)
                if self.read(blob) == data:
                    continue
                if not path.parent.is_dir():
                    for folder in (self._folder, path.parent):  # `parents=True` would give the first another mode
                        folder.mkdir(mode=0o700, exist_ok=True)
                    folders.update((self._folder, self._folder.parent))
                _write(path, data)
                folders.add(path.parent)
            for folder in sorted(folders):
                sync_folder(folder)
        except OSError as fault:
            raise RecordFault("record-write", f"{self._folder}: {fault}") from fault

    def read(self, blob: str) -> bytes | None:
        """The bytes, or None if there are none; altered bytes are returned as they are (`intact` tells)."""
        try:
            return plainfile.read(self.path(blob), _MOST_BYTES)
        except (FileNotFoundError, NotADirectoryError):
            return None

    def fetch(self, blob: str) -> bytes:
        """The bytes, checked.

        Raises:
            RecordFault: `blob-missing`, `blob-altered`.
        """
        try:
            data = self.read(blob)
        except OSError as fault:
            raise RecordFault("blob-missing", f"{blob}: {fault}") from fault
        if data is None:
            raise RecordFault("blob-missing", f"{blob} is not in the blob folder")
        if digest(data) != blob:
            raise RecordFault("blob-altered", f"{blob} does not hold what was stored")
        return data

    def remove(self, blob: str) -> None:
        """Forget one blob; nothing happens if it is not there."""
        self.path(blob).unlink(missing_ok=True)


def _write(path: Path, data: bytes) -> None:
    with drafted_beside(path) as (draft, file):
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(file, rest) :]
        os.fsync(file)
        draft.replace(path)
