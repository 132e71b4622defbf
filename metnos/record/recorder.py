"""Numbers and chains the records of one turn. Shared by every journal; knows no store.

Law: one input and the facts of its reaction are added in one act, in that order, and never apart. `add` turns them
into bytes at once, because the data in them belong to others; the bytes are hashed and chained in one go when
somebody needs `rows` or `hash`, which is before anything is committed, signed or read.
"""

from __future__ import annotations

from collections import deque
from threading import Lock

from metnos.record.chain import NO_COMMANDS, digest, first, framed, hash_with, hasher
from metnos.record.codec import FACT_KINDS, INPUT_KINDS, KIND_OF, encode, encode_input
from metnos.record.faults import RecordFault
from metnos.record.model import Row
from metnos.turn.inputs import AnyInput, TurnOpened
from metnos.turn.rules import Reaction

_ALLOWED = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")
MAX_TURN_ID = 128
_FRAMED = {kind: framed(kind) for kind in (*INPUT_KINDS, *FACT_KINDS)}
_NO_COMMANDS = b"[]"


def check_turn_id(turn: str) -> None:
    """Refuse an id that could not be a file's name.

    Raises:
        RecordFault: `turn-id`.
    """
    if not turn or len(turn) > MAX_TURN_ID or turn.startswith(".") or not _ALLOWED.issuperset(turn):
        raise RecordFault("turn-id", f"{turn[:40]!r} is not a turn id", hint="use letters, digits, `.`, `_`, `-`")


class Recorder:
    """`rows` and `blobs` grow with each `add`; a store takes them from there.

    `seq` is the number of the last record. One thread adds; any may read.
    """

    __slots__ = ("_hash", "_lock", "_pending", "_rows", "_sealed", "_start", "blobs", "seq", "turn")

    def __init__(self, turn: str, seq: int = 0, hash_: str = "") -> None:
        self.turn = turn
        self.seq = seq
        self.blobs: dict[str, bytes] = {}
        self._start = hasher(turn)
        self._sealed = seq
        self._hash = hash_ or first(turn)
        self._rows: list[Row] = []
        self._lock = Lock()
        self._pending: deque[tuple[str, int, bytes, bytes | None]] = deque()
        """(kind, at, body, commands as bytes; None for a fact) of records that are not chained yet."""

    @property
    def rows(self) -> list[Row]:
        """Chained records that the store has not taken."""
        self._seal()
        return self._rows

    @property
    def hash(self) -> str:
        """Hash of the last record."""
        self._seal()
        return self._hash

    def add(self, item: AnyInput, reaction: Reaction) -> int:
        """Add one input and the facts it led to; returns the input's number.

        Raises:
            RecordFault: `record-unencodable`; `record-order` if the first input does not open this turn.
        """
        kind_of, kind = KIND_OF, type(item)
        number, at = self.seq + 1, item.at
        if number == 1 and not (isinstance(item, TurnOpened) and item.turn == self.turn):
            raise RecordFault("record-order", "the first record of a turn is its TurnOpened", turn=self.turn)
        body, blob = encode_input(item)
        commands = reaction.commands
        added: list[tuple[str, int, bytes, bytes | None]]
        added = [(kind_of[kind], at, body, encode(commands) if commands else _NO_COMMANDS)]
        for fact in reaction.facts:
            added.append((kind_of[type(fact)], at, encode(fact), None))
        if blob is not None:
            self.blobs[digest(blob)] = blob
        self._pending.extend(added)
        self.seq += len(added)
        return number

    def _seal(self) -> None:
        """Chain what is pending, in one loop over little code: faster than after each input."""
        with self._lock:
            turn, start, prev, seq = self.turn, self._start, self._hash, self._sealed
            pending, rows = self._pending, self._rows
            while pending:
                kind, at, body, asked = pending.popleft()
                seq += 1
                commands = "" if asked is None else NO_COMMANDS if asked is _NO_COMMANDS else digest(asked)
                made = hash_with(start, seq, _FRAMED[kind], at, body, prev, commands)
                rows.append((turn, seq, kind, at, body, prev, made, commands))
                prev = made
            self._hash, self._sealed = prev, seq
