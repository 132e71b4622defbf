"""The door of the room: what a journal and a turn's writer can do, whatever they are made of.

Law: types only. Facts about durability that every journal keeps:

- `append` takes one input with its reaction; what is not `durable` is committed with the next that is, or at the
  close. One `append` is never split.
- `anchor=True` returns only after the head anchor is on disk too; only then may an effect start.
- one writer for a turn at a time, over all processes; a second claim is `turn-busy`.
- after a fault of the disk the writer is dead (`writer-unusable`); the turn can be resumed from what was committed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from metnos.record.faults import RecordFault
from metnos.record.model import Anchor, FinishStatus, Head, Record, Status, TurnLog, TurnSummary, Verified
from metnos.turn.commands import AnyCommand
from metnos.turn.inputs import AnyInput, TurnOpened
from metnos.turn.rules import Reaction


class TurnWriter(Protocol):
    """The one writer of one turn."""

    @property
    def turn(self) -> str: ...

    @property
    def fence(self) -> int:
        """Grows by one at each claim; goes into `StepStarted` and `TurnResumed`."""
        ...

    @property
    def seq(self) -> int:
        """Number of the last record, buffered ones included."""
        ...

    def adopt(self, commands: Iterable[AnyCommand]) -> None:
        """After a resume: the commands that folding the log gave, so that the ledger knows what a later
        `StepStarted` starts. All of them, in order; those that are closed already do no harm.
        """
        ...

    def append(self, item: AnyInput, reaction: Reaction, *, durable: bool = False, anchor: bool = False) -> None:
        """Record one input and the facts of its reaction; the first one is the `TurnOpened`.

        Raises:
            RecordFault: nothing of this call, nor anything buffered, may be taken as recorded.
        """
        ...

    def finish(self, status: FinishStatus) -> Head:
        """Commit all that is buffered, sign the head, write the anchor, give up the claim."""
        ...

    def release(self) -> None:
        """Give up the claim without finishing; what was not committed is forgotten."""
        ...


class Journal(Protocol):
    """All turns of one installation."""

    def begin(self, opened: TurnOpened) -> TurnWriter:
        """A writer for a new turn; `opened` is then the first that is appended."""
        ...

    def resume(self, turn: str) -> tuple[TurnWriter, TurnLog]:
        """Claim a suspended or interrupted turn; its log has been verified and is folded by the caller.

        Raises:
            RecordFault: `turn-busy`, `turn-closed`, `turn-missing`, or the code of what does not verify.
        """
        ...

    def load(self, turn: str) -> TurnLog:
        """The log as it is, verified or not.

        Raises:
            RecordFault: `turn-missing`, `log-missing`, `record-store`.
        """
        ...

    def turns(self, limit: int = 20) -> tuple[TurnSummary, ...]:
        """The latest turns, newest first."""
        ...

    def verify(self, turn: str) -> Verified:
        """Chain, signed head, anchor, blobs. Never raises on a bad log."""
        ...

    def close(self) -> None: ...


__all__ = [
    "Anchor",
    "FinishStatus",
    "Head",
    "Journal",
    "Record",
    "RecordFault",
    "Status",
    "TurnLog",
    "TurnSummary",
    "TurnWriter",
    "Verified",
]
