"""The installation's key that heads are signed with: made at first use, never printed, never leaves its file.

Law: `cryptography` is imported inside the functions (it costs 30 ms). Keys and signatures are text with their kind:
`ed25519:<hex>`.
"""

from __future__ import annotations

import os
import secrets
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from metnos import plainfile
from metnos.drafts import drafted_beside
from metnos.record.faults import RecordFault

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

KEY_FILE = "log.ed25519"
"""Below `METNOS_HOME/keys`: 32 bytes, hexadecimal, mode 0600."""
_KIND = "ed25519:"
_SEED_BYTES = 32
_MOST_BYTES = 4096


class LogKey:
    """Signs heads; `public` is what verifies them."""

    __slots__ = ("_private", "public")

    def __init__(self, private: Ed25519PrivateKey) -> None:
        self._private = private
        self.public = _KIND + private.public_key().public_bytes_raw().hex()

    def sign(self, payload: bytes) -> str:
        """`ed25519:<hex>` over `payload`."""
        return _KIND + self._private.sign(payload).hex()


def open_key(folder: Path) -> LogKey:
    """The key in `folder`, made if there is none.

    Raises:
        RecordFault: `key-unusable`, the file is no key or cannot be read or written.
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return LogKey(Ed25519PrivateKey.from_private_bytes(open_seed(folder)))


def open_seed(folder: Path, name: str = KEY_FILE) -> bytes:
    """The 32 secret bytes in the file `name` of `folder`, made if there are none.

    Raises:
        RecordFault: `key-unusable`, the file is no key or cannot be read or written.
    """
    path = folder / name
    try:
        try:
            text = _read(path)
        except FileNotFoundError:
            text = _make(path)
        seed = bytes.fromhex(text.strip())
        if len(seed) != _SEED_BYTES:
            raise ValueError(f"{len(seed)} bytes, not {_SEED_BYTES}")  # noqa: TRY301 - one place for what is no key
    except (OSError, ValueError) as fault:
        raise RecordFault("key-unusable", f"{path}: {fault}") from fault
    return seed


def _make(path: Path) -> str:
    """Write a new key whole or not at all; of two processes that try at once, one wins and both use its key."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    text = secrets.token_bytes(_SEED_BYTES).hex() + "\n"
    with drafted_beside(path) as (draft, file):
        if os.write(file, text.encode()) != len(text):
            raise OSError("short write")
        os.fsync(file)
        try:
            os.link(draft, path)
        except FileExistsError:
            return _read(path)
    sync_folder(path.parent)
    return text


def _read(path: Path) -> str:
    return plainfile.read(path, _MOST_BYTES).decode("ascii")


def sync_folder(folder: Path) -> None:
    """Make a new name in `folder` survive a power cut."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@lru_cache(maxsize=8)
def _public(key: str) -> Ed25519PublicKey:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    return Ed25519PublicKey.from_public_bytes(bytes.fromhex(key.removeprefix(_KIND)))


def signature_holds(key: str, signature: str, payload: bytes) -> bool:
    """Whether `signature` over `payload` was made with `key`; malformed text is a no."""
    from cryptography.exceptions import InvalidSignature

    if not key.startswith(_KIND) or not signature.startswith(_KIND):
        return False
    try:
        _public(key).verify(bytes.fromhex(signature.removeprefix(_KIND)), payload)
    except (InvalidSignature, ValueError):
        return False
    return True
