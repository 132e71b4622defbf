"""The journal in `METNOS_HOME/metnos.db`. See `store.Journal` for the promises.

    journal = SqliteJournal(home)
    writer = journal.begin(opened)
    writer.append(opened, machine.receive(opened))
    head = writer.finish("closed")

Law: this file joins the parts and decides nothing about their insides.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from metnos.record.claim import claim_turn
from metnos.record.connection import StoreMode
from metnos.record.database import Database
from metnos.record.faults import RecordFault
from metnos.record.loading import (
    LedgerRows,
    check_ledger,
    check_row,
    load_count,
    load_log,
    load_names,
    load_summaries,
    load_summary,
)
from metnos.record.model import TurnLog, TurnSummary, Verified
from metnos.record.recorder import Recorder, check_turn_id
from metnos.record.summary import summary_of
from metnos.record.verify import verify_log
from metnos.record.writer import RECLAIMED, SqliteWriter
from metnos.turn.inputs import TurnOpened


class SqliteJournal:
    """All turns below `home`; nothing is opened before it is needed."""

    def __init__(self, home: Path) -> None:
        self._database = Database(Path(home))

    def mode(self) -> StoreMode:
        """SQLite's version and journal mode, and why it is not WAL where it is not."""
        with self._database.lock:
            return self._database.mode()

    def begin(self, opened: TurnOpened) -> SqliteWriter:
        """A writer for a new turn; nothing is written before the first durable append or the close.

        Raises:
            RecordFault: `turn-id`; `record-store`, `record-schema`, `record-busy`.
        """
        check_turn_id(opened.turn)
        with self._database.lock:
            self._database.connection()
            return SqliteWriter(self._database, Recorder(opened.turn), fence=1)

    def resume(self, turn: str) -> tuple[SqliteWriter, TurnLog]:
        """Claim a suspended or interrupted turn whose log verifies.

        Raises:
            RecordFault: `turn-busy`, `turn-closed`, `turn-missing`, `stale-fence`, or the code of what does not verify.
        """
        check_turn_id(turn)
        claim = claim_turn(self._database.locks, turn)
        try:
            log, ledger = load_log(self._database, turn)
            _require_resumable(log, ledger)
            fence = log.fence + 1
            with self._database.lock:
                self._database.commit(turn, [(RECLAIMED, (fence, turn, log.fence), "stale-fence")])
            writer = SqliteWriter(
                self._database, Recorder(turn, log.records[-1].seq, log.records[-1].hash), fence, claim
            )
            writer.knows_outcome(summary_of(log).outcome)
            writer.ledger.restore(
                [(row.step, row.id) for row in ledger.operations if row.state in {"intent", "unknown"}],
                [row.consent() for row in ledger.consents],
                ledger.dialogs,
            )
        except BaseException:
            claim.release()
            raise
        return writer, log

    def load(self, turn: str) -> TurnLog:
        """The log as it is, verified or not."""
        return load_log(self._database, turn)[0]

    def load_each(self, turns: Iterable[str]) -> Iterator[tuple[str, TurnLog | RecordFault]]:
        """As `load`, one after the other, the anchors read once: each log, or why there is none.

        Raises:
            RecordFault: `anchor-read`; `record-store`, `record-schema`.
        """
        self._database.connection()
        anchors = self._database.anchors.index()
        for turn in turns:
            try:
                yield turn, load_log(self._database, turn, anchors)[0]
            except RecordFault as fault:
                yield turn, fault

    def turns(self, limit: int = 20) -> tuple[TurnSummary, ...]:
        """The latest turns, newest first."""
        return load_summaries(self._database, limit)

    def count(self) -> int:
        """How many turns there are.

        Raises:
            RecordFault: `record-store`.
        """
        return load_count(self._database)

    def names(self, after: str = "", limit: int = 1_000) -> tuple[str, ...]:
        """Ids of turns in their order (that of time), `limit` of them behind `after`.

        Raises:
            RecordFault: `record-store`.
        """
        return load_names(self._database, after, limit)

    def verify(self, turn: str) -> Verified:
        """Chain, signed head, anchor, blobs, ledger. Never raises on a bad log."""
        try:
            log, ledger = load_log(self._database, turn)
        except RecordFault as fault:
            return Verified(ok=False, code=fault.code, seq=fault.seq, detail=fault.message)
        found = _verified(log, ledger)
        shown = load_summary(self._database, turn) if found.ok else None
        return check_row(log, shown) if shown is not None else found

    def close(self) -> None:
        """Close every file; writers that are left are dead."""
        self._database.close()


def _require_resumable(log: TurnLog, ledger: LedgerRows) -> None:
    found = _verified(log, ledger)
    if not found.ok:
        raise RecordFault(found.code, found.detail, turn=log.turn, seq=found.seq)
    if log.status == "closed":
        raise RecordFault("turn-closed", f"turn {log.turn} is closed", turn=log.turn)


def _verified(log: TurnLog, ledger: LedgerRows) -> Verified:
    found = verify_log(log)
    return check_ledger(log, ledger) if found.ok else found
