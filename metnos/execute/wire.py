"""Frames between the parent and a worker: a fixed header, then JSON.

Law: imports msgspec and the grant only, for a worker loads it. A header is `A5 4D`, the kind, the length (32 bits,
big-endian). Whatever does not begin so is garbage, whatever is longer than agreed is refused before it is read.
"""

from __future__ import annotations

import struct
from typing import Any

import msgspec

from metnos.execute.grant import Grant

MAGIC = b"\xa5M"
HEADER = struct.Struct(">2sBI")

READY, CALL, PROGRESS, RESULT, LAST_RESULT = 1, 2, 3, 4, 5
"""`LAST_RESULT`: the worker will not take another call (memory ran out, processes were left behind)."""

BESIDE_BYTES = 1024 * 1024
"""What a frame may hold beside the data of a result."""
PROGRESS_BYTES = 4096
REQUEST_BYTES = 64 * 1024 * 1024


NOT_MADE, NOT_KNOWN = "not-made", "not-known"
"""What a probe found if it did not find the effect, as the code of a failed result; it never reaches a log."""


class BadFrame(Exception):
    """The other side sent what is no frame (`garbage`) or one that is too long (`oversize`)."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """One call. `files` is left out where the worker has this digest already."""

    executor: str
    digest: str
    files: dict[str, bytes] | None
    modules: tuple[str, ...]
    args: dict[str, Any]
    operation: str
    effect: str
    grant: Grant
    timeout_s: float
    memory_mb: int
    output_bytes: int
    probe: bool = False
    """Ask `probe` whether the operation was made, instead of `run`."""
    opened: dict[str, str] = {}
    """Sealed handle → secret, for the arguments that the contract names."""


class Note(msgspec.Struct, frozen=True, array_like=True):
    """Progress of a call."""

    done: int
    total: int | None
    note: str


def frame(kind: int, payload: bytes) -> bytes:
    """Header and payload."""
    return HEADER.pack(MAGIC, kind, len(payload)) + payload


class Frames:
    """Bytes in, whole frames out."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> None:
        """Take what was read."""
        self._buffer += data

    def take(self, most: int) -> tuple[int, bytes] | None:
        """The next (kind, payload), or None if more must be read.

        Raises:
            BadFrame: no frame, or one of more than `most` bytes.
        """
        buffer = self._buffer
        if not MAGIC.startswith(bytes(buffer[:2])):
            raise BadFrame("garbage", "it wrote bytes that are no frame")
        if len(buffer) < HEADER.size:
            return None
        _, kind, length = HEADER.unpack_from(buffer)
        if length > (PROGRESS_BYTES if kind in (READY, PROGRESS) else most):
            raise BadFrame("oversize", f"it sent a frame of {length} bytes; at most {most} are allowed")
        end = HEADER.size + length
        if len(buffer) < end:
            return None
        payload = bytes(memoryview(buffer)[HEADER.size : end])
        del buffer[:end]
        return kind, payload
