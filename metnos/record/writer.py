"""The writer of one turn in the database. See `store.TurnWriter` for the promises.

Law: what is appended is buffered; one durable append or the close writes all of it in one transaction, checked
against the fence. Then, and only then, the anchor; then, and only then, the caller may act.
"""

from __future__ import annotations

from collections.abc import Iterable

from metnos.record import chain
from metnos.record.claim import Claim, claim_turn
from metnos.record.database import Database
from metnos.record.faults import RecordFault
from metnos.record.ledger import Ledger, Statement
from metnos.record.model import Anchor, FinishStatus, Head
from metnos.record.recorder import Recorder
from metnos.record.summary import REQUEST_CHARACTERS
from metnos.turn.commands import AnyCommand
from metnos.turn.facts import TurnClosed
from metnos.turn.inputs import AnyInput, TurnOpened
from metnos.turn.rules import Reaction

OPENED = (
    "INSERT OR IGNORE INTO turn (turn, version, opened, owner, channel, conversation, mode, request, status, outcome,"
    " fence, seq, head_status, head_seq, head_hash, signature, key)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'open', ?, ?, ?, '', 0, '', '', '')"
)
GROWN = "UPDATE turn SET seq = ?, outcome = ?, status = 'open' WHERE turn = ? AND fence = ? AND status <> 'closed'"
FINISHED = (
    "UPDATE turn SET status = ?, head_status = ?, head_seq = ?, head_hash = ?, signature = ?, key = ?"
    " WHERE turn = ? AND fence = ? AND status = 'open'"
)
RECLAIMED = "UPDATE turn SET fence = ? WHERE turn = ? AND fence = ?"
"""A claim alone changes nothing that is shown: a suspended turn stays suspended until something is appended."""
"""Of the request, kept in the turn's row for lists; the whole of it is in the record."""


class SqliteWriter:
    """See `store.TurnWriter`."""

    def __init__(self, database: Database, recorder: Recorder, fence: int, claim: Claim | None = None) -> None:
        self.turn = recorder.turn
        self.fence = fence
        self.ledger = Ledger(recorder.turn, fence)
        self._database = database
        self._generation = database.generation
        self._recorder = recorder
        self._claim = claim
        self._opened: TurnOpened | None = None
        self._stored = recorder.seq > 0
        self._outcome = ""
        self._dead = False

    @property
    def seq(self) -> int:
        """Number of the last record, buffered ones included."""
        return self._recorder.seq

    def knows_outcome(self, outcome: str) -> None:
        """After a resume: what the records say already; a log may have ended and been cut off before its head."""
        self._outcome = outcome

    def adopt(self, commands: Iterable[AnyCommand]) -> None:
        """Commands of the folded log, so that the ledger knows what a later `StepStarted` starts."""
        self.ledger.adopt(commands)

    def append(self, item: AnyInput, reaction: Reaction, *, durable: bool = False, anchor: bool = False) -> None:
        """Record one input and the facts of its reaction."""
        if self._dead or self._generation != self._database.generation:
            self._check()
        try:
            seq = self._recorder.add(item, reaction)
            self.ledger.derive(seq, item, reaction.facts, reaction.commands)
            if type(item) is TurnOpened:
                self._opened = item
            for fact in reaction.facts:
                if type(fact) is TurnClosed:
                    self._outcome = fact.outcome
            if durable or anchor:
                self._commit([])
            if anchor:
                self._anchor(sync=True)
        except RecordFault:
            self.release()
            raise

    def finish(self, status: FinishStatus) -> Head:
        """Commit all that is buffered, sign the head, write the anchor, give up the claim."""
        self._check()
        recorder = self._recorder
        try:
            key = self._database.key()
            payload = chain.head_payload(self.turn, status, recorder.seq, recorder.hash)
            head = Head(
                turn=self.turn,
                seq=recorder.seq,
                hash=recorder.hash,
                signature=key.sign(payload),
                key=key.public,
                status=status,
            )
            values = (status, status, head.seq, head.hash, head.signature, head.key, self.turn, self.fence)
            if status == "suspended":
                # what waits must have an anchor: it stands before the row says that the turn waits
                self._commit([])
                self._anchor(sync=True)
            self._commit([(FINISHED, values, "stale-fence")], closing=True)
            if status == "closed":
                self._anchor(sync=False)
        finally:
            self.release()
        return head

    def release(self) -> None:
        """Give up the claim; what was not committed is forgotten."""
        self._dead = True
        if self._claim is not None:
            self._claim.release()
            self._claim = None

    def _check(self) -> None:
        if self._dead or self._generation != self._database.generation:
            self.release()
            raise RecordFault(
                "writer-unusable",
                f"turn {self.turn} can no longer be written by this writer",
                turn=self.turn,
                hint="resume the turn",
            )

    def _commit(self, last: list[Statement], *, closing: bool = False) -> None:
        recorder, ledger, database = self._recorder, self.ledger, self._database
        if self._claim is None and not closing:
            # before the first commit nobody else can know of the turn; one that only closes needs no lock at all
            self._claim = claim_turn(database.locks, self.turn)
        with database.lock:
            statements = [self._turn_row(), *ledger.statements, *last]
            database.commit(self.turn, statements, recorder.rows, recorder.blobs)
        self._stored = True
        recorder.rows.clear()
        recorder.blobs.clear()
        ledger.statements.clear()

    def _turn_row(self) -> Statement:
        recorder = self._recorder
        if self._stored:
            return GROWN, (recorder.seq, self._outcome, self.turn, self.fence), "stale-fence"
        opened = self._opened
        if opened is None:
            raise RecordFault("record-order", "nothing was appended", turn=self.turn)
        values = (
            self.turn,
            chain.FORMAT,
            opened.at,
            opened.owner,
            opened.channel,
            opened.conversation,
            opened.mode,
            (opened.request or "")[:REQUEST_CHARACTERS],
            self._outcome,
            self.fence,
            recorder.seq,
        )
        return OPENED, values, "turn-exists"

    def _anchor(self, *, sync: bool) -> None:
        self._database.anchors.add(Anchor(self.turn, self._recorder.seq, self._recorder.hash), sync=sync)
