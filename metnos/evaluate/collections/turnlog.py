"""One turn as one line of JSON, `metnos.turnlog/1`: everything that verification and replay need.

    line = encode_turn(journal.load(turn))
    turn = decode_turn(line, where="turns.jsonl:1")
    assert turn.log == journal.load(turn)

Law: bodies are texts that hold the recorded bytes, so the chain and the signed head verify as they did in the journal.
What a record follows from (`prev`) is not written: it is the hash of the record before. A record without its hash
(a sealed one) gets the one that its bytes have; what is signed then holds the last of them. Reading is strict: an unknown
field is refused, because it might be what decides. Bytes that are no text have no line (`record-malformed`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from metnos.evaluate.collections.model import Turn
from metnos.record.chain import first, record_hash
from metnos.record.codec import encode
from metnos.record.faults import RecordFault
from metnos.record.model import Anchor, Head, Record, Status, TurnLog, Verified

if TYPE_CHECKING:
    from collections.abc import Mapping

FORM: Final = "metnos.turnlog/1"


class RecordLine(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True, omit_defaults=True):
    """`[seq, kind, at, body]`, then the digest of the commands and the hash, where there are any."""

    seq: int
    kind: str
    at: int
    """µs since 1970 UTC."""
    body: str
    commands: str = ""
    hash: str = ""


class TurnLine(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The line; its fields are those of `TurnLog`."""

    form: str
    turn: str
    version: int = 1
    status: Status = "open"
    fence: int = 1
    seq: int = 0
    records: tuple[RecordLine, ...] = ()
    head: Head | None = None
    anchor: Anchor | None = None
    signed: bool = True
    key: str = ""
    blobs: dict[str, str] = {}
    defects: tuple[Verified, ...] = ()
    labels: dict[str, str | int | float | bool] = {}
    """Of `Turn`: nothing that the turn itself recorded."""


_decoder = msgspec.json.Decoder(TurnLine)


def encode_turn(log: TurnLog, labels: Mapping[str, str | int | float | bool] | None = None) -> bytes:
    """The line, without its line end.

    Raises:
        RecordFault: `record-malformed`, a body or a blob is no text.
    """
    try:
        line = TurnLine(
            form=FORM,
            turn=log.turn,
            version=log.version,
            status=log.status,
            fence=log.fence,
            seq=log.seq,
            records=tuple(
                RecordLine(one.seq, one.kind, one.at, one.body.decode(), one.commands, one.hash) for one in log.records
            ),
            head=log.head,
            anchor=log.anchor,
            signed=log.signed,
            key=log.key,
            blobs={name: data.decode() for name, data in log.blobs.items()},
            defects=log.defects,
            labels=dict(labels or {}),
        )
        return encode(line)
    except UnicodeError as fault:
        raise RecordFault("record-malformed", f"turn {log.turn}: {fault}", turn=log.turn) from fault


def decode_turn(line: bytes | str, where: str = "") -> Turn:
    """The turn of a line, verified by nobody yet.

    Raises:
        RecordFault: `turnlog-malformed`: no turn in this form.
    """
    try:
        read = _decoder.decode(line)
        if read.form != FORM:
            raise RecordFault("turnlog-malformed", f"the form is {read.form[:40]!r}, this version reads {FORM}")
        return Turn(log=_log(read), where=where, labels=read.labels)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as fault:
        raise RecordFault("turnlog-malformed", f"no turn in the form {FORM}: {fault}") from fault


def _log(read: TurnLine) -> TurnLog:
    return TurnLog(
        turn=read.turn,
        version=read.version,
        status=read.status,
        fence=read.fence,
        seq=read.seq,
        records=_records(read.turn, read.records),
        head=read.head,
        anchor=read.anchor,
        blobs={name: text.encode() for name, text in read.blobs.items()},
        signed=read.signed,
        key=read.key,
        defects=read.defects,
    )


def _records(turn: str, lines: tuple[RecordLine, ...]) -> tuple[Record, ...]:
    prev, made = first(turn), list[Record]()
    for one in lines:
        body = one.body.encode()
        name = one.hash or record_hash(turn, one.seq, one.kind, one.at, body, prev, one.commands)
        made.append(Record(turn, one.seq, one.kind, one.at, body, prev, name, one.commands))
        prev = name
    return tuple(made)
