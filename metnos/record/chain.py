"""The hash chain: each record's hash covers its contents and the hash of the record before.

Law: bytes in, text digest out; no I/O, nothing of Python's that could differ between versions or machines. Every
field is framed by its length, so no two different records give the same bytes. A change here is a new `FORMAT`.

    >>> first("t-1").startswith("sha256:")
    True
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, TypeAlias

from metnos.record.model import Record, Row

if TYPE_CHECKING:
    from _hashlib import HASH
    from collections.abc import Iterable, Iterator

FORMAT = 1
Unlinked: TypeAlias = tuple[str, str, int, bytes, "bytes | None"]

_FIRST = b"metnos.chain/1,%d:%b,"
_RECORD = b"metnos.record/1,%d:%b,%d,%d:%b,%d,%d:%b,%d:%b,%d:"
_HEAD = b"metnos.head/1,%d:%b,%d:%b,%d,%d:%b,"


def digest(data: bytes) -> str:
    """`sha256:<hex>` of `data`."""
    return "sha256:" + sha256(data).hexdigest()


def hasher(turn: str) -> HASH:
    """SHA-256 fed with what the framed bytes of every record of `turn` begin with; copy it, never feed it."""
    name = turn.encode()
    return sha256(b"metnos.record/1,%d:%b," % (len(name), name))


NO_COMMANDS = digest(b"[]")


def framed(text: str) -> str:
    """ASCII text, framed by its length."""
    return f"{len(text)}:{text}"


def link(turn: str, start: HASH, seq: int, prev: str, unlinked: Iterable[Unlinked]) -> Iterator[Row]:
    """Number and hash records, in order: for each the `record_hash`, without a call for each of its parts.

    Args:
        turn: Turn id.
        start: `hasher(turn)`.
        seq: Number of the record before the first.
        prev: Its hash.
        unlinked: Of each record `framed(kind)`, kind, time, body, and the commands as bytes; None for a fact.
    """
    for framed_kind, kind, at, body, asked in unlinked:
        seq += 1
        commands = "" if asked is None else "sha256:" + sha256(asked).hexdigest() if asked else NO_COMMANDS
        made = start.copy()
        made.update(f"{seq},{framed_kind},{at},71:{prev},{len(commands)}:{commands},{len(body)}:".encode() + body)
        row = (turn, seq, kind, at, body, prev, "sha256:" + made.hexdigest(), commands)
        prev = row[6]
        yield row


"""Commands digest of an input that the machine answered with no command."""


def first(turn: str) -> str:
    """What the first record of `turn` names as the record before it."""
    name = turn.encode()
    return digest(_FIRST % (len(name), name))


def record_hash(turn: str, seq: int, kind: str, at: int, body: bytes, prev: str, commands: str) -> str:
    """Hash of one record, `sha256:<hex>`."""
    a, b, c, d = turn.encode(), kind.encode(), prev.encode(), commands.encode()
    framed = _RECORD % (len(a), a, seq, len(b), b, at, len(c), c, len(d), d, len(body))
    return "sha256:" + sha256(framed + body).hexdigest()


def hash_after(start: HASH, record: Record) -> str:
    """`recompute`, given `hasher(record.turn)`: for whoever has many records of one turn."""
    kind, prev, commands, body = record.kind.encode(), record.prev.encode(), record.commands.encode(), record.body
    made = start.copy()
    made.update(
        b"%d,%d:%b,%d,%d:%b,%d:%b,%d:%b"
        % (record.seq, len(kind), kind, record.at, len(prev), prev, len(commands), commands, len(body), body)
    )
    return "sha256:" + made.hexdigest()


def head_payload(turn: str, status: str, seq: int, hash_: str) -> bytes:
    """The bytes that the signature of a head is made over."""
    a, b, c = turn.encode(), status.encode(), hash_.encode()
    return _HEAD % (len(a), a, len(b), b, seq, len(c), c)


def recompute(record: Record) -> str:
    """The hash that `record` should have, by its own contents."""
    return record_hash(record.turn, record.seq, record.kind, record.at, record.body, record.prev, record.commands)


def as_records(rows: Iterable[Row]) -> tuple[Record, ...]:
    """Rows as they are stored → records."""
    return tuple(Record(*row) for row in rows)
