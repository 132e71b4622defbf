"""Numbers and chains the records of one turn. Shared by every journal; knows no store.

Law: one input and the facts of its reaction are added in one act, in that order, and never apart.
"""

from __future__ import annotations

from metnos.record.chain import NO_COMMANDS, digest, first, record_hash
from metnos.record.codec import KIND_OF, encode, encode_input
from metnos.record.faults import RecordFault
from metnos.record.model import Row
from metnos.turn.inputs import AnyInput, TurnOpened
from metnos.turn.rules import Reaction

_ALLOWED = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")
MAX_TURN_ID = 128


def check_turn_id(turn: str) -> None:
    """Refuse an id that could not be a file's name.

    Raises:
        RecordFault: `turn-id`.
    """
    if not turn or len(turn) > MAX_TURN_ID or turn.startswith(".") or not _ALLOWED.issuperset(turn):
        raise RecordFault("turn-id", f"{turn[:40]!r} is not a turn id", hint="use letters, digits, `.`, `_`, `-`")


class Recorder:
    """`rows` and `blobs` grow with each `add`; a store takes them from there.

    `seq` and `hash` are those of the last record.
    """

    __slots__ = ("blobs", "hash", "rows", "seq", "turn")

    def __init__(self, turn: str, seq: int = 0, hash_: str = "") -> None:
        self.turn = turn
        self.seq = seq
        self.hash = hash_ or first(turn)
        self.rows: list[Row] = []
        self.blobs: dict[str, bytes] = {}

    def add(self, item: AnyInput, reaction: Reaction) -> int:
        """Add one input and the facts it led to; returns the input's number.

        Raises:
            RecordFault: `record-unencodable`; `record-order` if the first input does not open this turn.
        """
        turn, seq, at = self.turn, self.seq + 1, item.at
        if seq == 1 and not (isinstance(item, TurnOpened) and item.turn == turn):
            raise RecordFault("record-order", "the first record of a turn is its TurnOpened", turn=turn)
        body, blob = encode_input(item)
        commands = digest(encode(reaction.commands)) if reaction.commands else NO_COMMANDS
        kind = KIND_OF[type(item)]
        prev = self.hash
        rows: list[Row] = []
        made = record_hash(turn, seq, kind, at, body, prev, commands)
        rows.append((turn, seq, kind, at, body, prev, made, commands))
        number = seq
        for fact in reaction.facts:
            seq, prev, kind, body = seq + 1, made, KIND_OF[type(fact)], encode(fact)
            made = record_hash(turn, seq, kind, at, body, prev, "")
            rows.append((turn, seq, kind, at, body, prev, made, ""))
        if blob is not None:
            self.blobs[digest(blob)] = blob
        self.rows += rows
        self.seq, self.hash = seq, made
        return number
