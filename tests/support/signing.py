"""Keys, times and code of the trust tests: the same at every run."""

from __future__ import annotations

from datetime import UTC, datetime

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
CODE = b"from metnos.sdk import Context, Result\n\ndef run(args, ctx):\n    return Result.done({})\n"


def key(seed: int) -> Ed25519PrivateKey:
    """The same key for the same seed."""
    return Ed25519PrivateKey.from_private_bytes(bytes([seed]) * 32)
