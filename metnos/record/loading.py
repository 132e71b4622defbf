"""A log out of the database, as it is, with everything that verification needs; and the ledger held against it.

Law: bad bytes become defects of the log, never a traceback and never a silent gap. The anchor is read before the
database, so a turn that is being written looks ahead of its anchor and never behind it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import msgspec

from metnos.record.blobs import BlobFolder
from metnos.record.codec import blobs_in, decode_tolerant
from metnos.record.database import Database
from metnos.record.faults import RecordFault
from metnos.record.ledger import Consent
from metnos.record.model import Anchor, Head, Record, TurnLog, TurnSummary, Verified
from metnos.record.summary import REQUEST_CHARACTERS, summary_of

if TYPE_CHECKING:
    from metnos.record.anchor import AnchorFile, AnchorIndex
    from metnos.record.connection import Connection

TURN = "SELECT version, status, fence, seq, head_status, head_seq, head_hash, signature, key FROM turn WHERE turn = ?"
RECORDS = "SELECT turn, seq, kind, at, body, prev, hash, commands FROM record WHERE turn = ? ORDER BY seq"
OPERATIONS = "SELECT id, step, state, intent_seq, outcome_seq FROM operation WHERE turn = ?"
APPROVALS = (
    "SELECT approval, step, digest, state, expires, coalesce(used_by, ''), coalesce(answered_seq, 0)"
    " FROM approval WHERE turn = ? ORDER BY asked_seq"
)
DIALOGS = "SELECT dialog FROM dialog WHERE turn = ? AND state = 'asked'"
_SUMMARY = (
    "SELECT turn, opened, status, outcome, mode, request, channel, conversation, owner, seq AS records, fence FROM turn"
)
SUMMARIES = f"{_SUMMARY} ORDER BY opened DESC, turn DESC LIMIT ?"
SUMMARY = f"{_SUMMARY} WHERE turn = ?"
NAMES = "SELECT turn FROM turn WHERE turn > ? ORDER BY turn LIMIT ?"
COUNT = "SELECT count(*) FROM turn"
_ENDED_BY: dict[str, tuple[str, ...]] = {
    "done": ("step_finished", "effect_probed"),
    "failed": ("step_failed",),
    "stopped": ("step_stopped",),
    "absent": ("effect_probed",),
}
_OUTCOMES = ("step_finished", "step_failed", "step_stopped", "effect_probed")
_ANSWERED_BY: dict[str, tuple[str, ...]] = {
    "given": ("approval_given",),
    "used": ("approval_given",),
    "refused": ("approval_refused",),
    "expired": ("approval_expired", "approval_given"),
}


class _TurnRow(msgspec.Struct, frozen=True, array_like=True):
    version: int
    status: str
    fence: int
    seq: int
    head_status: str
    head_seq: int
    head_hash: str
    signature: str
    key: str


class OperationRow(msgspec.Struct, frozen=True, array_like=True):
    """One effect as the ledger has it."""

    id: str
    step: str
    state: str
    intent_seq: int
    outcome_seq: int | None


class ConsentRow(msgspec.Struct, frozen=True, array_like=True):
    """One approval as the ledger has it."""

    approval: str
    step: str
    digest: str
    state: str
    expires: int
    used_by: str
    answered_seq: int

    def consent(self) -> Consent:
        """The part of it that a ledger goes on from."""
        return Consent(self.approval, self.step, self.digest, self.state, self.expires, self.used_by)


class LedgerRows(msgspec.Struct, frozen=True, kw_only=True):
    """The ledger's rows of one turn."""

    operations: tuple[OperationRow, ...] = ()
    consents: tuple[ConsentRow, ...] = ()
    dialogs: tuple[str, ...] = ()


class _Loader:
    """One load; collects defects."""

    def __init__(self, database: Database, turn: str, anchors: AnchorFile | AnchorIndex) -> None:
        self._database = database
        self._anchors = anchors
        self._turn = turn
        self.defects: list[Verified] = []

    def defect(self, code: str, seq: int, detail: object) -> None:
        self.defects.append(Verified(ok=False, code=code, seq=seq, detail=str(detail)))

    def guarded(self, what: Callable[[], Any], otherwise: Any) -> Any:
        """`what()`, or `otherwise` and a defect if the bytes cannot be read."""
        try:
            return what()
        except (msgspec.ValidationError, OverflowError, UnicodeDecodeError) as fault:
            self.defect("record-malformed", 0, fault)
        except self._database.driver.Error as fault:
            self.defect("record-store", 0, fault)
        return otherwise

    def anchor(self) -> Anchor | None:
        try:
            return self._anchors.latest(self._turn)
        except RecordFault as fault:
            self.defect(fault.code, 0, fault.message)
            return None

    def everything(self, connection: Connection) -> tuple[Any, tuple[Record, ...], LedgerRows]:
        row = connection.execute(TURN, (self._turn,)).fetchone()
        return row, self.guarded(self.records, ()), self.guarded(self.ledger, LedgerRows())

    def rows(self, sql: str) -> list[Any]:
        return self._database.connection().execute(sql, (self._turn,)).fetchall()

    def records(self) -> tuple[Record, ...]:
        found: list[Record] = []
        for row in self.rows(RECORDS):
            named = dict(zip(Record.__struct_fields__, row, strict=True))
            if not isinstance(named["body"], bytes):  # convert would take text for base64
                self.defect("record-malformed", len(found) + 1, "a body is not bytes")
                return tuple(found)
            body = named.pop("body")
            found.append(msgspec.structs.replace(msgspec.convert({**named, "body": b""}, Record), body=body))
        return tuple(found)

    def ledger(self) -> LedgerRows:
        operations = msgspec.convert(self.rows(OPERATIONS), tuple[OperationRow, ...])
        consents = msgspec.convert(self.rows(APPROVALS), tuple[ConsentRow, ...])
        dialogs = msgspec.convert([row[0] for row in self.rows(DIALOGS)], tuple[str, ...])
        return LedgerRows(operations=operations, consents=consents, dialogs=dialogs)


def load_log(database: Database, turn: str, anchors: AnchorIndex | None = None) -> tuple[TurnLog, LedgerRows]:
    """The log and the ledger's rows, of one moment.

    Args:
        database: Where they are.
        turn: Turn id.
        anchors: Read before; left out, its anchor is read now.

    Raises:
        RecordFault: `turn-missing`; `log-missing`, the turn has an anchor and no log; `record-store`.
    """
    loader = _Loader(database, turn, anchors or database.anchors)
    with database.lock:
        anchor = loader.anchor()
        row, records, ledger = database.read(turn, loader.everything)
    if row is None:
        _raise_missing(turn, anchor, records)
    known = loader.guarded(lambda: msgspec.convert(row, _TurnRow), None)
    log = TurnLog(turn=turn, records=records, anchor=anchor, defects=tuple(loader.defects))
    if known is None:
        return log, ledger
    head = None
    if known.head_seq:
        head = loader.guarded(lambda: _head(turn, known), None)
    blobs = _load_blobs(database.blobs, records)
    status = known.status if known.status in {"open", "suspended", "closed"} else "open"
    if status != known.status:
        loader.defect("record-malformed", 0, f"the turn's status is {known.status!r}")
    return msgspec.structs.replace(
        log,
        version=known.version,
        status=status,
        fence=known.fence,
        seq=known.seq,
        head=head,
        blobs=blobs,
        key=database.key().public if head is not None else "",
        defects=tuple(loader.defects),
    ), ledger


def _raise_missing(turn: str, anchor: Anchor | None, records: tuple[Record, ...]) -> None:
    if anchor is not None or records:
        raise RecordFault("log-missing", f"turn {turn} was recorded, and its log is not there", turn=turn, seq=1)
    raise RecordFault("turn-missing", f"there is no turn {turn}", turn=turn)


def _head(turn: str, row: _TurnRow) -> Head:
    found = {
        "turn": turn,
        "seq": row.head_seq,
        "hash": row.head_hash,
        "signature": row.signature,
        "key": row.key,
        "status": row.head_status,
    }
    return msgspec.convert(found, Head)


def _load_blobs(folder: BlobFolder, records: tuple[Record, ...]) -> dict[str, bytes]:
    """What can be read of what is referred to; verification names what is missing or altered."""
    found: dict[str, bytes] = {}
    for record in records:
        try:
            for marker in blobs_in(record.kind, record.body):
                data = folder.read(marker.blob)
                if data is not None:
                    found[marker.blob] = data
        except (RecordFault, OSError):
            continue
    return found


def check_ledger(log: TurnLog, rows: LedgerRows) -> Verified:
    """Whether the ledger's rows say what the records say. The log has been verified."""
    for check in (_operations, _consents, _told_effects):
        found = check(log, rows)
        if not found.ok:
            return found
    return Verified(ok=True)


def _operations(log: TurnLog, rows: LedgerRows) -> Verified:
    for operation in rows.operations:
        intent = _body(log, operation.intent_seq, ("step_started",))
        if intent.get("operation") != operation.id or intent.get("step") != operation.step:
            return _mismatch(operation.intent_seq, f"operation {operation.id} has no intent there")
        kinds = _ENDED_BY.get(operation.state)
        if kinds is None and operation.state not in {"intent", "unknown"}:
            return _mismatch(operation.intent_seq, f"operation {operation.id} is {operation.state!r}")
        if kinds and _body(log, operation.outcome_seq or 0, kinds).get("step") != operation.step:
            return _mismatch(operation.intent_seq, f"operation {operation.id} is {operation.state} without an outcome")
    # killed between the commit of an intent and its anchor, a turn has an intent and no anchor; with an outcome it had one
    ended = [operation.intent_seq for operation in rows.operations if operation.state != "intent"]
    if ended and log.anchor is None:
        detail = "an effect was made, and the anchor of its intent is gone"
        return Verified(ok=False, code="anchor-missing", seq=max(ended), detail=detail)
    return Verified(ok=True)


def _consents(log: TurnLog, rows: LedgerRows) -> Verified:
    for consent in rows.consents:
        kinds = _ANSWERED_BY.get(consent.state)
        if kinds is None and consent.state != "asked":
            return _mismatch(0, f"approval {consent.approval} is {consent.state!r}")
        if kinds and _body(log, consent.answered_seq, kinds).get("approval") != consent.approval:
            return _mismatch(consent.answered_seq, f"approval {consent.approval} is {consent.state} without an answer")
    return Verified(ok=True)


def _told_effects(log: TurnLog, rows: LedgerRows) -> Verified:
    """An effect that a record reports was meant by an operation of the ledger."""
    known = {operation.step for operation in rows.operations}
    for record in log.records:
        if record.kind not in _OUTCOMES:
            continue
        body = decode_tolerant(record.body)
        told = body.get("effects")
        effects: list[Any] = cast("list[Any]", told) if isinstance(told, list) else []
        if any(effect.get("class") != "read" for effect in effects) and body.get("step") not in known:
            return _mismatch(record.seq, f"the ledger lacks the operation that record {record.seq} is the outcome of")
    return Verified(ok=True)


def check_row(log: TurnLog, shown: TurnSummary) -> Verified:
    """Whether the row that `metnos log` lists says what the records say."""
    true = summary_of(log)
    for name in ("opened", "outcome", "mode", "request", "channel", "conversation", "owner"):
        listed, recorded = getattr(shown, name), getattr(true, name)
        if listed != (recorded[:REQUEST_CHARACTERS] if name == "request" else recorded):
            return _mismatch(1, f"the turn's row lists {name} {listed!r}, its records say {recorded!r}")
    return Verified(ok=True)


def _mismatch(seq: int, detail: str) -> Verified:
    return Verified(ok=False, code="ledger-mismatch", seq=seq, detail=detail)


def _body(log: TurnLog, seq: int, kinds: tuple[str, ...]) -> dict[str, Any]:
    if not 1 <= seq <= len(log.records) or log.records[seq - 1].kind not in kinds:
        return {}
    return decode_tolerant(log.records[seq - 1].body)


def load_summaries(database: Database, limit: int) -> tuple[TurnSummary, ...]:
    """The latest turns by their rows; a row that cannot be read is left out.

    Raises:
        RecordFault: `record-store`.
    """
    return _summaries(database, SUMMARIES, max(limit, 0))


def load_summary(database: Database, turn: str) -> TurnSummary | None:
    """The row of one turn; None if it cannot be read.

    Raises:
        RecordFault: `record-store`.
    """
    return next(iter(_summaries(database, SUMMARY, turn)), None)


def load_names(database: Database, after: str, limit: int) -> tuple[str, ...]:
    """Ids of turns behind `after`, in order.

    Raises:
        RecordFault: `record-store`.
    """
    with database.lock:
        rows = database.read("", lambda connection: connection.execute(NAMES, (after, max(limit, 0))).fetchall())
    return tuple(str(row[0]) for row in rows)


def load_count(database: Database) -> int:
    """How many turns the database has.

    Raises:
        RecordFault: `record-store`.
    """
    with database.lock:
        return int(database.read("", lambda connection: connection.execute(COUNT).fetchone())[0])


def _summaries(database: Database, query: str, value: int | str) -> tuple[TurnSummary, ...]:
    with database.lock:
        rows = database.read("", lambda connection: connection.execute(query, (value,)).fetchall())
    found: list[TurnSummary] = []
    for row in rows:
        try:
            found.append(msgspec.convert(dict(zip(TurnSummary.__struct_fields__, row, strict=True)), TurnSummary))
        except msgspec.ValidationError:
            continue
    return tuple(found)
