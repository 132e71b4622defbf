"""Rows of the store: bytes of an entry, who signed them, and the stamp that spares looking twice.

Law: bytes are signed, not objects; nothing is parsed before its signature or its stamp holds. The stamp is a MAC with a
key that is made from the installation's own seed and its list of trusted signers: another seed or another list makes
every stamp worthless, and the signature is looked at again. A stamp covers the key that the row stands under, a
signature the entry, which names everything that its key is made of. `cryptography` is imported where it is used: a row
with its stamp needs none.

    metnos.cache/1 LF signer LF signature LF stamp LF body
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterable
from hashlib import sha256
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_MAGIC = b"metnos.cache/1\n"
_KIND = "ed25519:"
_SIGNER = len(_KIND) + 64
_SIGNATURE = len(_KIND) + 128
_STAMP = 64
_AT_SIGNER = len(_MAGIC)
_AT_SIGNATURE = _AT_SIGNER + _SIGNER + 1
_AT_STAMP = _AT_SIGNATURE + _SIGNATURE + 1
_AT_BODY = _AT_STAMP + _STAMP + 1
NO_STAMP = b"-" * _STAMP
MAX_ROW = 1024 * 1024
"""Bytes; a longer row is none of ours."""
_SIGNED = b"metnos.cache-entry/1\n"
_STAMPED = b"metnos.cache-stamp/1\n"


class Row(msgspec.Struct, frozen=True, gc=False):
    """A row taken apart; nothing of it is believed yet."""

    signer: str
    signature: str
    stamp: bytes
    body: bytes


def pack(signer: str, signature: str, stamp: bytes, body: bytes) -> bytes:
    """The bytes of a row."""
    return b"%b%b\n%b\n%b\n%b" % (_MAGIC, signer.encode(), signature.encode(), stamp, body)


def unpack(data: bytes) -> Row | None:
    """A row taken apart; None: it has not this form."""
    if len(data) > MAX_ROW or len(data) <= _AT_BODY or not data.startswith(_MAGIC):
        return None
    ends = (_AT_SIGNATURE - 1, _AT_STAMP - 1, _AT_BODY - 1)
    if any(data[end] != 10 for end in ends):
        return None
    try:
        signer = data[_AT_SIGNER : ends[0]].decode("ascii")
        signature = data[_AT_SIGNATURE : ends[1]].decode("ascii")
    except UnicodeDecodeError:
        return None
    return Row(signer, signature, data[_AT_STAMP : ends[2]], data[_AT_BODY:])


class Keys:
    """What an installation signs its entries with, whom else it believes, and how it stamps."""

    def __init__(self, seed: Callable[[], bytes], trusted: Iterable[str] = ()) -> None:
        """From a seed of 32 bytes, asked for once and when it is needed, and the public keys (`ed25519:<hex>`) of others
        whose entries may be served.
        """
        self._ask = seed
        self._trusted = frozenset(trusted)
        self._seed = b""
        self._stamping = b""
        self._private: Ed25519PrivateKey | None = None
        self._public = ""

    @property
    def public(self) -> str:
        """The installation's own signer."""
        if not self._public:
            self._public = _KIND + self._key().public_key().public_bytes_raw().hex()
        return self._public

    def seal(self, body: bytes) -> bytes:
        """A signed row without a stamp."""
        return pack(self.public, _KIND + self._key().sign(_SIGNED + body).hex(), NO_STAMP, body)

    def stamped(self, key: str, row: Row) -> bytes:
        """The row of `key` with its stamp: to be written once its signature has been found to hold."""
        return pack(row.signer, row.signature, self._stamp(key, row), row.body)

    def stamp_holds(self, key: str, row: Row) -> bool:
        """Whether this installation has looked at just this row under just this key before."""
        return hmac.compare_digest(row.stamp, self._stamp(key, row))

    def is_trusted(self, signer: str) -> bool:
        """Whether entries of this signer may be served."""
        return signer in self._trusted or signer == self.public

    def signature_holds(self, row: Row) -> bool:
        """Whether the body is what its signer signed; malformed text is a no."""
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        if not row.signer.startswith(_KIND) or not row.signature.startswith(_KIND):
            return False
        try:
            public = Ed25519PublicKey.from_public_bytes(bytes.fromhex(row.signer[len(_KIND) :]))
            public.verify(bytes.fromhex(row.signature[len(_KIND) :]), _SIGNED + row.body)
        except (InvalidSignature, ValueError):
            return False
        return True

    def _stamp(self, key: str, row: Row) -> bytes:
        if not self._stamping:
            others = "\n".join(sorted(self._trusted)).encode()
            self._stamping = sha256(b"metnos.cache-stamp-key/1\n" + self._own_seed() + others).digest()
        about = f"{key}\n{row.signer}\n{row.signature}\n".encode()
        return hmac.digest(self._stamping, _STAMPED + about + row.body, "sha256").hex().encode()

    def _key(self) -> Ed25519PrivateKey:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        if self._private is None:
            self._private = Ed25519PrivateKey.from_private_bytes(self._own_seed())
        return self._private

    def _own_seed(self) -> bytes:
        if not self._seed:
            self._seed = self._ask()
        return self._seed
