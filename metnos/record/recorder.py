"""Numbers and chains the records of one turn. Shared by every journal; knows no store.

Law: one input and the facts of its reaction are added in one act, in that order, and never apart. `add` turns them
into bytes at once, because the data in them belong to others; the bytes are hashed and chained in one go when
somebody needs `rows` or `hash`, which is before anything is committed, signed or read.
"""

from __future__ import annotations

from collections import deque
from threading import Lock

from metnos.record.chain import Unlinked, digest, first, framed, hasher, link
from metnos.record.codec import KIND_OF, encode, encode_input
from metnos.record.faults import RecordFault
from metnos.record.model import Row
from metnos.turn.inputs import AnyInput, TurnOpened
from metnos.turn.rules import Reaction

_ALLOWED = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")
MAX_TURN_ID = 128
_FRAMED = {made: (framed(kind), kind) for made, kind in KIND_OF.items()}
_NO_COMMANDS = b""


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
        self._sealed: int = seq
        self._hash = hash_ or first(turn)
        self._rows: list[Row] = []
        self._lock = Lock()
        self._pending: deque[Unlinked] = deque()
        """Records that are not chained yet."""

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
        number, at = self.seq + 1, item.at
        if number == 1 and not (isinstance(item, TurnOpened) and item.turn == self.turn):
            raise RecordFault("record-order", "the first record of a turn is its TurnOpened", turn=self.turn)
        body, blob = encode_input(item)
        commands = reaction.commands
        added: list[Unlinked] = [(*_FRAMED[type(item)], at, body, encode(commands) if commands else _NO_COMMANDS)]
        added += [(*_FRAMED[type(fact)], at, encode(fact), None) for fact in reaction.facts]
        if blob is not None:
            self.blobs[digest(blob)] = blob
        self._pending.extend(added)
        self.seq += len(added)
        return number

    def _seal(self) -> None:
        """Chain what is pending, in one loop over little code: faster than after each input."""
        with self._lock:
            pending = [self._pending.popleft() for _ in range(len(self._pending))]
            if pending:
                self._rows += link(self.turn, self._start, self._sealed, self._hash, pending)
                last = self._rows[-1]
                self._sealed, self._hash = last[1], last[6]
