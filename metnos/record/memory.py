"""A journal that keeps nothing on disk: the same records and the same chain, gone with the process.

Law: everything a reader could tell from a log on disk, it can tell from this one, but that its head is unsigned and
that of the closed turns only the latest are kept (`CLOSED_TURNS`), so that an engine may run for months. A turn that
is open or suspended is kept whatever its age.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from threading import Lock
from typing import Final

from metnos.record.chain import as_records
from metnos.record.faults import RecordFault
from metnos.record.model import FinishStatus, Head, Status, TurnLog, TurnSummary, Verified
from metnos.record.recorder import Recorder, check_turn_id
from metnos.record.summary import summary_of
from metnos.record.verify import verify_log
from metnos.turn.commands import AnyCommand
from metnos.turn.inputs import AnyInput, TurnOpened
from metnos.turn.rules import Reaction

CLOSED_TURNS: Final = 1_000
"""Closed turns that a journal keeps; the one that was closed first is forgotten first."""


class _Turn:
    """One turn: its recorder, and who may write."""

    __slots__ = ("claimed", "end", "fence", "recorder")

    def __init__(self, turn: str) -> None:
        self.recorder = Recorder(turn)
        self.end: tuple[Status, Head | None] = ("open", None)
        """One value, since other threads read it meanwhile."""
        self.fence = 1
        self.claimed = True


class MemoryWriter:
    """See `store.TurnWriter`. `durable` and `anchor` have nothing to do here."""

    __slots__ = ("_journal", "_kept", "fence", "turn")

    def __init__(self, journal: MemoryJournal, kept: _Turn) -> None:
        self._journal = journal
        self._kept: _Turn | None = kept
        self.turn = kept.recorder.turn
        self.fence = kept.fence

    @property
    def seq(self) -> int:
        """Number of the last record."""
        return self._writable().recorder.seq

    def _writable(self) -> _Turn:
        kept = self._kept
        if kept is None:
            raise RecordFault("writer-unusable", "this writer has given up its turn", turn=self.turn)
        return kept

    def adopt(self, commands: Iterable[AnyCommand]) -> None:
        """Nothing to know: there is no ledger."""

    def append(self, item: AnyInput, reaction: Reaction, *, durable: bool = False, anchor: bool = False) -> None:
        """Record one input and the facts of its reaction."""
        del durable, anchor  # there is no disk to wait for
        kept = self._kept or self._writable()
        if kept.end[0] != "open":  # a claim alone changes nothing that is shown
            kept.end = ("open", kept.end[1])
        kept.recorder.add(item, reaction)

    def finish(self, status: FinishStatus) -> Head:
        """End or suspend the turn."""
        kept = self._writable()
        recorder = kept.recorder
        head = Head(turn=self.turn, seq=recorder.seq, hash=recorder.hash, status=status)
        kept.end = (status, head)
        self.release()
        if status == "closed":
            self._journal.forget_beyond(self.turn)
        return head

    def release(self) -> None:
        """Give up the claim."""
        if self._kept is not None:
            self._kept.claimed = False
            if not self._kept.recorder.seq:
                self._journal.forget(self.turn)
            self._kept = None


class MemoryJournal:
    """See `store.Journal`.

    Args:
        closed_turns: How many closed turns are kept.
    """

    def __init__(self, closed_turns: int = CLOSED_TURNS) -> None:
        self._turns: dict[str, _Turn] = {}
        self._most = closed_turns
        self._closed: deque[str] = deque()
        self._lock = Lock()
        """Of two threads that claim one turn, one gets it."""

    def begin(self, opened: TurnOpened) -> MemoryWriter:
        """A writer for a new turn."""
        check_turn_id(opened.turn)
        with self._lock:
            if opened.turn in self._turns:
                raise RecordFault("turn-exists", f"there is a turn {opened.turn} already", turn=opened.turn)
            kept = self._turns[opened.turn] = _Turn(opened.turn)
        return MemoryWriter(self, kept)

    def resume(self, turn: str) -> tuple[MemoryWriter, TurnLog]:
        """Claim a suspended or interrupted turn."""
        with self._lock:
            kept = self._find(turn)
            if kept.claimed:
                raise RecordFault("turn-busy", f"turn {turn} is being worked on", turn=turn)
            if kept.end[0] == "closed":
                raise RecordFault("turn-closed", f"turn {turn} is closed", turn=turn)
            log = self._log(kept)
            kept.claimed = True
            kept.fence += 1
        return MemoryWriter(self, kept), log

    def forget_beyond(self, closed: str) -> None:
        """`closed` has ended: forget the oldest of the closed turns if there are too many."""
        with self._lock:
            self._closed.append(closed)
            if len(self._closed) > self._most:
                self._turns.pop(self._closed.popleft(), None)

    def forget(self, turn: str) -> None:
        """Nothing was ever appended to it."""
        self._turns.pop(turn, None)

    def load(self, turn: str) -> TurnLog:
        """The log as it is."""
        return self._log(self._find(turn))

    @staticmethod
    def _log(kept: _Turn) -> TurnLog:
        while True:
            end = status, head = kept.end
            records = as_records(tuple(kept.recorder.rows))
            if kept.end is end:  # else another thread has ended or resumed the turn meanwhile
                break
        return TurnLog(
            turn=kept.recorder.turn,
            status=status,
            fence=kept.fence,
            seq=len(records),
            head=head,
            signed=False,
            records=records,
            blobs=dict(kept.recorder.blobs),
        )

    def turns(self, limit: int = 20) -> tuple[TurnSummary, ...]:
        """The latest turns, newest first."""
        kept_turns = [kept for kept in list(self._turns.values()) if kept.recorder.seq]
        logs = [self._log(kept) for kept in kept_turns[-limit:] if limit > 0]
        return tuple(summary_of(log) for log in reversed(logs))

    def verify(self, turn: str) -> Verified:
        """Chain and head. Never raises on a bad log."""
        try:
            return verify_log(self.load(turn))
        except RecordFault as fault:
            return Verified(ok=False, code=fault.code, seq=fault.seq, detail=fault.message)

    def close(self) -> None:
        """Forget everything."""
        self._turns.clear()
        self._closed.clear()

    def _find(self, turn: str) -> _Turn:
        kept = self._turns.get(turn)
        if kept is None or not kept.recorder.seq:  # begun, and nothing appended: as if it were not there
            raise RecordFault("turn-missing", f"there is no turn {turn}", turn=turn)
        return kept
