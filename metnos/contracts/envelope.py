"""DSSE envelopes: bytes, who signed them, and an answer that says why.

Law: bytes are signed, not objects: verify, then parse `Verification.payload`, never anything else of the file. An
envelope decides nothing about names, roles or time; that is `trust.py`. Rules, from the DSSE v1 specification:

- 1 The signed bytes are `PAE(type, payload)`: both lengths are in it, so no payload can pass for another type.
- 2 The envelope is strict JSON: three fields, a known payload type, strict base64, at most 32 signatures.
- 3 A signature counts if the key that its `keyid` names is allowed and verifies it; key ids are hints, so what is
  counted against the threshold is the distinct **public key bytes** that verified.
- 4 An unknown key, or a signature that does not verify, never helps; it is listed with its reason.

The format is that of `securesystemslib.dsse`, and a test holds the two equal; that module costs some 40 ms to import,
so signing and verifying go straight to `cryptography` here (docs/adr/0005).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from typing import TYPE_CHECKING

import msgspec

from metnos.plan.jsondata import JSONFault, canonical, loads_strict

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from metnos.plan.jsondata import JSON

MANIFEST_TYPE = "application/vnd.metnos.manifest+json"
PLAN_TYPE = "application/vnd.metnos.plan-template+toml"
MAX_BYTES = 512 * 1024
"""Largest envelope file: 256 KiB of payload in base64, and its signatures."""
MAX_SIGNATURES = 32


class Envelope(msgspec.Struct, frozen=True, kw_only=True):
    """A parsed envelope; nothing in it is trusted yet."""

    payload: bytes
    payload_type: str
    signatures: tuple[tuple[str, bytes], ...]
    """(key id, signature)."""


class EnvelopeFault(Exception):
    """The file is no envelope. `where` is a pointer into it."""

    def __init__(self, where: str, message: str) -> None:
        super().__init__(f"{message} (at {where or 'the top'})")
        self.where = where
        self.message = message


class Verification(msgspec.Struct, frozen=True, kw_only=True):
    """Whether enough distinct allowed keys signed, and what became of every signature."""

    ok: bool
    payload: bytes
    """The bytes that were verified; to be parsed only if `ok`."""
    threshold: int
    signed_by: tuple[str, ...]
    """Key ids whose signatures verified, one for each distinct public key."""
    rejected: tuple[tuple[str, str], ...] = ()
    """(key id, `signature-invalid` | `key-unknown` | `key-counted-already`)."""


def pae(payload_type: str, payload: bytes) -> bytes:
    """Pre-authentication encoding of DSSE v1: what is signed."""
    kind = payload_type.encode("utf-8")
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def key_id(public: bytes) -> str:
    """The id of an Ed25519 key: SHA-256 of its 32 public bytes, in hex."""
    return hashlib.sha256(public).hexdigest()


def public_bytes(key: Ed25519PrivateKey) -> bytes:
    """The 32 raw public bytes."""
    return key.public_key().public_bytes_raw()


def sign(
    payload: bytes, key: Ed25519PrivateKey | Iterable[Ed25519PrivateKey], payload_type: str = MANIFEST_TYPE
) -> bytes:
    """The envelope of `payload`, signed by one key or by several, as canonical JSON and a line end."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    keys = [key] if isinstance(key, Ed25519PrivateKey) else list(key)
    signed = pae(payload_type, payload)
    signatures: list[JSON] = [
        {"keyid": key_id(public_bytes(one)), "sig": base64.b64encode(one.sign(signed)).decode()} for one in keys
    ]
    return (
        canonical(
            {
                "payload": base64.b64encode(payload).decode(),
                "payloadType": payload_type,
                "signatures": signatures,
            }
        )
        + b"\n"
    )


def read_envelope(data: bytes, payload_type: str = MANIFEST_TYPE) -> Envelope:
    """Parse an envelope file (rule 2).

    Raises:
        EnvelopeFault: It is not one, or holds another payload type.
    """
    try:
        table = loads_strict(data, max_bytes=MAX_BYTES)
    except JSONFault as fault:
        raise EnvelopeFault(fault.where, fault.message) from None
    if not isinstance(table, dict) or set(table) != {"payload", "payloadType", "signatures"}:
        raise EnvelopeFault("", "not the three fields payload, payloadType, signatures")
    if table["payloadType"] != payload_type:
        raise EnvelopeFault("/payloadType", f"the payload type is not {payload_type}")
    rows = table["signatures"]
    if not isinstance(rows, list) or not 1 <= len(rows) <= MAX_SIGNATURES:
        raise EnvelopeFault("/signatures", f"not a list of 1 to {MAX_SIGNATURES} signatures")
    signatures = tuple(_signature(row, f"/signatures/{index}") for index, row in enumerate(rows))
    return Envelope(payload=_decode(table["payload"], "/payload"), payload_type=payload_type, signatures=signatures)


def _signature(row: JSON, where: str) -> tuple[str, bytes]:
    name = row.get("keyid") if isinstance(row, dict) else None
    if not isinstance(row, dict) or set(row) != {"keyid", "sig"} or not isinstance(name, str):
        raise EnvelopeFault(where, "not the two fields keyid and sig")
    return name, _decode(row["sig"], f"{where}/sig")


def _decode(text: JSON, where: str) -> bytes:
    try:
        return base64.b64decode(text if isinstance(text, str) else "?", validate=True)
    except (binascii.Error, ValueError):
        raise EnvelopeFault(where, "not base64") from None


def verify(envelope: Envelope, keys: Mapping[str, bytes], threshold: int) -> Verification:
    """Count the distinct public keys that signed (rules 3 and 4).

    Args:
        envelope: As read.
        keys: Key id → 32 public bytes of the keys allowed to sign this.
        threshold: How many distinct ones are needed, at least 1.

    Raises:
        ValueError: The threshold is below 1: a fault of the caller, never of the file.
    """
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    if threshold < 1:
        raise ValueError("a threshold is at least 1")
    signed = pae(envelope.payload_type, envelope.payload)
    counted: dict[bytes, str] = {}
    rejected: list[tuple[str, str]] = []
    for name, signature in envelope.signatures:
        public = keys.get(name)
        if public is None:
            rejected.append((name, "key-unknown"))
        elif public in counted:
            rejected.append((name, "key-counted-already"))
        else:
            try:
                Ed25519PublicKey.from_public_bytes(public).verify(signature, signed)
                counted[public] = name
            except (InvalidSignature, ValueError):
                rejected.append((name, "signature-invalid"))
    return Verification(
        ok=len(counted) >= threshold,
        payload=envelope.payload,
        threshold=threshold,
        signed_by=tuple(counted.values()),
        rejected=tuple(rejected),
    )
