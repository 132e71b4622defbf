"""What lies at a path, as one word: taken when a person is asked, compared when what they allowed is about to be done.

Law: it reads below the granted roots only, changes nothing, and never raises. Regular files are told by their digest, up
to `DIGESTED` bytes in all for one question; what is larger by its size and time. Two words are compared only for
equality; the word says itself how it was made, so the comparison makes it the same way.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

from metnos.execute.roots import RootedFiles
from metnos.sdk import FilesError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from metnos.execute.grant import Grant

DIGESTED: Final = 256 * 1024 * 1024
"""Bytes that are read for one question, at most."""
ABSENT: Final = "absent"
DIGEST: Final = "sha256:"


def witness(grant: Grant, paths: Iterable[str]) -> dict[str, str]:
    """Path → what lies there now: `absent`, `folder`, `sha256:…`, `size … time …`, or the code why nobody can say."""
    files = RootedFiles(grant)
    left = DIGESTED
    found: dict[str, str] = {}
    for path in dict.fromkeys(paths):
        word, read = _look(files, path, left)
        found[path] = word
        left -= read
    return found


def changed(grant: Grant, expected: Mapping[str, str]) -> str | None:
    """The first path at which something else lies than was expected; None: all is as it was."""
    files = RootedFiles(grant)
    for path, word in expected.items():
        most = DIGESTED if word.startswith(DIGEST) or word == ABSENT else 0
        if _look(files, path, most)[0] != word:
            return path
    return None


def _look(files: RootedFiles, path: str, most: int) -> tuple[str, int]:
    """The word for `path`, and how many bytes were read for it."""
    try:
        entry = files.stat(path)
        if not entry.is_file:
            return ("folder" if entry.is_dir else "special"), 0
        if entry.size > most:
            return f"size {entry.size} time {entry.modified_ns}", 0
        hashed = hashlib.sha256()
        for block in files.blocks(path):
            hashed.update(block)
    except FilesError as fault:
        return (ABSENT if fault.code in ("not-found", "not-a-folder") else fault.code), 0
    return f"{DIGEST}{hashed.hexdigest()}", entry.size
