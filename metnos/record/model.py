"""What a journal hands out, frozen: records, heads, anchors, whole logs, and verdicts about them. No I/O.

Law: a `TurnLog` is complete. Whoever holds one can verify and replay it with no disk behind it.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

Status = Literal["open", "suspended", "closed"]
FinishStatus = Literal["closed", "suspended"]
Row: TypeAlias = tuple[str, int, str, int, bytes, str, str, str]
"""(turn, seq, kind, at, body, prev, hash, commands): the columns of table `record`, in order."""


class Record(msgspec.Struct, frozen=True):
    """One input or fact of a turn, as stored."""

    turn: str
    seq: int
    """From 1, without a gap."""
    kind: str
    """Tag of the input or fact: `step_started`, `plan_accepted` …"""
    at: int
    """µs since 1970 UTC; a fact has the time of the input that led to it."""
    body: bytes
    """JSON, keys sorted; large results are replaced by a marker (`codec`)."""
    prev: str
    """Hash of the record before, `sha256:…`."""
    hash: str
    commands: str = ""
    """Digest over the commands the machine returned with this input; empty for a fact."""


class Head(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The last record of a turn at its close or suspension, signed by the installation."""

    turn: str
    seq: int
    hash: str
    signature: str = ""
    """`ed25519:<hex>`; empty in a journal that keeps nothing on disk."""
    key: str = ""
    """Public key, `ed25519:<hex>`."""
    status: FinishStatus = "closed"


class Anchor(msgspec.Struct, frozen=True):
    """How far a log must reach, kept in another file than the log."""

    turn: str
    seq: int
    hash: str


class Verified(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a log is whole and unaltered; if not, why and at which record.

    `code` is empty when `ok`; `seq` is the first record that is wrong or missing, 0 if none can be named.
    """

    ok: bool
    code: str = ""
    seq: int = 0
    detail: str = ""


class TurnLog(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that is known of one turn."""

    turn: str
    version: int = 1
    """Format of records and chain."""
    status: Status = "open"
    fence: int = 1
    """How often the turn was claimed; a smaller one is stale."""
    seq: int = 0
    """The last record as the turn's own row counts it."""
    records: tuple[Record, ...] = ()
    head: Head | None = None
    anchor: Anchor | None = None
    """The latest anchor; None if there is none."""
    blobs: dict[str, bytes] = {}
    """Digest → bytes of results that were too large to be stored inline."""
    signed: bool = True
    """Whether a head must be signed (not in a journal that keeps nothing on disk)."""
    key: str = ""
    """Public key that heads of this installation are signed with; empty: the one in the head is taken."""
    defects: tuple[Verified, ...] = ()
    """What was found wrong while loading; any of them fails the verification."""


class TurnSummary(msgspec.Struct, frozen=True, kw_only=True):
    """One line of `metnos log`."""

    turn: str
    opened: int
    """µs since 1970 UTC."""
    status: Status
    outcome: str = ""
    """Empty while open or suspended."""
    mode: str = "ask"
    request: str = ""
    channel: str = ""
    conversation: str = ""
    owner: str = ""
    records: int = 0
    fence: int = 1
