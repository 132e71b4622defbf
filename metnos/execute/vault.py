"""Where sealed secrets are kept: encrypted under the installation's own key, or in memory.

Law: an id is HMAC-SHA256(key, secret), its first 16 bytes in hex: the same secret has the same id, and the id tells
nothing of it. AES-256-GCM with the id as associated data: a file put in another's place does not open. Keys of
the two uses are derived from one master key, `METNOS_HOME/keys/vault.key`, mode 0600, made at first use.
Nothing here knows what a result is, or who may open a secret.
"""

from __future__ import annotations

import hmac
import os
import secrets
from pathlib import Path
from typing import Protocol

from metnos import plainfile
from metnos.drafts import drafted_beside
from metnos.execute.faults import VaultFault

_FORMAT = b"\x01"
_NONCE = 12
_MOST_BYTES = 64 * 1024 * 1024


class Vault(Protocol):
    """Id → secret."""

    def put(self, secret: str) -> str:
        """Keep `secret`; its id, 32 hex digits."""
        ...

    def get(self, identity: str) -> str | None:
        """The secret of this id, or None where it is not known here."""
        ...


def _identity(key: bytes, secret: str) -> str:
    return hmac.digest(key, secret.encode(), "sha256")[:16].hex()


class MemoryVault:
    """Secrets of one process, gone with it."""

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)
        self._kept: dict[str, str] = {}

    def put(self, secret: str) -> str:
        """Keep `secret`; its id."""
        identity = _identity(self._key, secret)
        self._kept[identity] = secret
        return identity

    def get(self, identity: str) -> str | None:
        """The secret of this id, or None."""
        return self._kept.get(identity)


class FileVault:
    """One encrypted file per secret below `home/vault`; nothing is read or made before the first use."""

    def __init__(self, home: Path) -> None:
        self._key_file = home / "keys" / "vault.key"
        self._folder = home / "vault"
        self._keys: tuple[bytes, bytes] | None = None

    def put(self, secret: str) -> str:
        """Keep `secret`, on disk when this returns; its id.

        Raises:
            VaultFault: the key file is unsafe.
            OSError: the disk failed.
        """
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        naming, locking = self._load(make=True)
        identity = _identity(naming, secret)
        path = self._folder / identity
        if not path.exists():
            nonce = secrets.token_bytes(_NONCE)
            box = AESGCM(locking).encrypt(nonce, secret.encode(), identity.encode())
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _publish(path, _FORMAT + nonce + box)
        return identity

    def get(self, identity: str) -> str | None:
        """The secret of this id, or None where there is none.

        Raises:
            VaultFault: the key file is unsafe or missing, or the stored bytes do not open under it.
        """
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        path = self._folder / identity
        if len(identity) != 32 or set(identity) - set("0123456789abcdef"):
            return None
        try:
            box = plainfile.read(path, _MOST_BYTES)
        except FileNotFoundError:
            return None
        except OSError as fault:
            raise VaultFault("vault-broken", path, f"a stored secret cannot be read: {fault.strerror}") from fault
        _, locking = self._load(make=False)
        if box[:1] != _FORMAT:
            raise VaultFault("vault-broken", path, "a stored secret has an unknown format")
        try:
            opened = AESGCM(locking).decrypt(box[1 : 1 + _NONCE], box[1 + _NONCE :], identity.encode())
        except InvalidTag:
            raise VaultFault("vault-broken", path, "a stored secret does not open under this key") from None
        return opened.decode()

    def _load(self, *, make: bool) -> tuple[bytes, bytes]:
        if self._keys is None:
            master = _read_key(self._key_file, make=make)
            self._keys = (
                hmac.digest(master, b"metnos.vault/name", "sha256"),
                hmac.digest(master, b"metnos.vault/lock", "sha256"),
            )
        return self._keys


def _read_key(path: Path, *, make: bool) -> bytes:
    if make and not path.exists():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _publish(path, secrets.token_bytes(32))
    try:
        mode = path.stat().st_mode
        key = plainfile.read(path, _MOST_BYTES)
    except FileNotFoundError:
        raise VaultFault("vault-key", path, "the key that sealed the secrets is missing") from None
    except OSError as fault:
        raise VaultFault("vault-key", path, f"the key of the secrets cannot be read: {fault.strerror}") from fault
    if mode & 0o077:
        raise VaultFault("vault-key", path, "others may read the key of the secrets", f"chmod 600 {path}")
    if len(key) != 32:
        raise VaultFault("vault-key", path, "the key of the secrets is not 32 bytes")
    return key


def _publish(path: Path, data: bytes) -> None:
    """Put a new file in place whole, 0600, on disk; if another process was faster, its file stays."""
    with drafted_beside(path) as (draft, handle):
        if os.write(handle, data) != len(data):
            raise OSError("short write")
        os.fsync(handle)
        try:
            os.link(draft, path)
        except FileExistsError:
            return
    folder = os.open(path.parent, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
