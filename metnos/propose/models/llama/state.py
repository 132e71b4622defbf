"""States of prefixes on disk: what a process has read once, the next one need not.

Law: a state is parsed by llama.cpp in C, from bytes that it trusts. So none is handed to it that this installation has
not written itself: each file carries an HMAC-SHA-256 over its own name and its body, under a key that lies beside it
(0600) and leaves the folder with nobody. A checksum alone would catch a torn file, and let one through that somebody
else made and summed. The bytes that were checked are the bytes that are used: a file is read once. What does not hold
is set aside and evaluated anew; whatever the disk does, a state is only ever missing. The name of a file is the digest
of all that its body depends on. No fsync: a power cut tears a file, and the MAC says so.
"""

from __future__ import annotations

import hmac
import os
from contextlib import suppress
from hashlib import sha256
from secrets import token_bytes
from typing import TYPE_CHECKING, Final

from metnos import drafts, plainfile

if TYPE_CHECKING:
    from pathlib import Path

FORM: Final = b"metnos.state/1\n"
LIMIT: Final = 1 << 30
"""Bytes of the whole folder."""
_MAC: Final = 32
_SUFFIX: Final = ".state"
_ASIDE: Final = ".bad"


class States:
    """A folder of states. Safe between threads and processes."""

    def __init__(self, folder: Path, *, limit: int = LIMIT) -> None:
        self._folder = folder
        self._limit = limit

    def load(self, name: str) -> bytes | None:
        """What was saved under `name` (a digest in hexadecimal); None: nothing, or nothing that holds."""
        path = self._folder / (name + _SUFFIX)
        try:
            data = plainfile.read(path, self._limit, links=False)
        except FileNotFoundError:
            return None
        except OSError:
            self._set_aside(path)
            return None
        body = memoryview(data)[len(FORM) + _MAC :]
        key = self._key(make=False)
        held = data[len(FORM) : len(FORM) + _MAC]
        if key is None or not data.startswith(FORM) or not hmac.compare_digest(held, _mac(key, name, body)):
            self._set_aside(path)
            return None
        with suppress(OSError):
            os.utime(path)  # the last used is the last to go
        return bytes(body)

    def save(self, name: str, body: bytes | memoryview) -> bool:
        """Keep `body`, and let go of the states that were used least lately where the folder grows beyond its limit."""
        if len(body) + len(FORM) + _MAC > self._limit:
            return False
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            key = self._key(make=True)
            if key is None:
                return False
            path = self._folder / (name + _SUFFIX)
            with drafts.drafted_beside(path) as (draft, handle):
                for part in (FORM, _mac(key, name, body), body):
                    _write(handle, part)
                draft.replace(path)
            self._evict(path)
        except OSError:
            return False
        return True

    def forget(self, name: str) -> None:
        """What was saved under `name` held and was of no use after all."""
        self._set_aside(self._folder / (name + _SUFFIX))

    def _key(self, *, make: bool) -> bytes | None:
        path = self._folder / "key"
        with suppress(OSError):
            found = plainfile.read(path, 32, links=False)
            if len(found) == 32:
                return found
            path.unlink()
        if not make:
            return None
        with suppress(OSError):
            with drafts.drafted_beside(path) as (draft, handle):
                _write(handle, token_bytes(32))
                with suppress(FileExistsError):
                    os.link(draft, path)  # another process may have been first; then its key is the one
            return plainfile.read(path, 32, links=False)
        return None

    def _set_aside(self, path: Path) -> None:
        with suppress(OSError):
            path.replace(path.with_suffix(_ASIDE))

    def _evict(self, spared: Path) -> None:
        found: list[tuple[float, int, Path]] = []
        for path in self._folder.iterdir():
            if path.suffix in (_SUFFIX, _ASIDE) and path != spared:
                with suppress(OSError):
                    about = path.stat(follow_symlinks=False)
                    found.append((0.0 if path.suffix == _ASIDE else about.st_mtime, about.st_size, path))
        total = sum(size for _, size, _ in found) + spared.stat().st_size
        for _, size, path in sorted(found):
            if total <= self._limit:
                return
            with suppress(OSError):
                path.unlink()
                total -= size


def named(*parts: bytes) -> str:
    """The digest of all that a state depends on, in this order."""
    digest = sha256(FORM)
    for part in parts:
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.hexdigest()


def _mac(key: bytes, name: str, body: bytes | memoryview) -> bytes:
    mac = hmac.new(key, FORM + name.encode() + b"\n", sha256)
    mac.update(body)
    return mac.digest()


def _write(handle: int, data: bytes | memoryview) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(handle, left) :]
