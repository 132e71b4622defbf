"""Faults of the room: one exception with a stable code. What a log *is* stays a value (`Verified`)."""

from __future__ import annotations


class RecordFault(Exception):
    """The journal cannot do what was asked; nothing that was not committed counts.

    Attributes:
        code: a key of `metnos.plan.codes.CODES`.
        turn: the turn it happened to; empty if none.
        seq: the record it is about; 0 if none.
        hint: the way out, as one sentence; may be empty.
    """

    def __init__(self, code: str, message: str, *, turn: str = "", seq: int = 0, hint: str = "") -> None:
        super().__init__(f"{message} [{code}]")
        self.code = code
        self.turn = turn
        self.seq = seq
        self.message = message
        self.hint = hint
