"""Is a log whole and unaltered? One pure function over a `TurnLog`; the answer is a value that names the record.

Law: never raises on a bad log, never trusts a column that the chain does not cover. Order of checks, first fault
wins: what loading found; the chain, record by record; blobs; the end (row, head, anchor).

What proves what: the chain, that nothing inside was altered or removed; the signed head, that the end is the end
and nobody without the key rewrote the chain; the anchor, that the log on disk is not an older one. A turn that waits, or
that meant an effect, has an anchor on disk, always: where it is gone, nobody can tell an old log from a new one.
"""

from __future__ import annotations

from metnos.record import chain
from metnos.record.codec import FACT_KINDS, INPUT_KINDS, MARKED, blobs_in
from metnos.record.faults import RecordFault
from metnos.record.model import Head, Record, TurnLog, Verified

OK = Verified(ok=True)
KINDS = frozenset((*INPUT_KINDS, *FACT_KINDS))


def verify_log(log: TurnLog) -> Verified:
    """Chain, blobs, signed head, anchor."""
    if log.defects:
        return log.defects[0]
    if log.version != chain.FORMAT:
        return _bad("log-version", 0, f"format {log.version}, this version reads {chain.FORMAT}")
    for check in (_chain, _blobs, _end, _head, _anchor):
        found = check(log)
        if not found.ok:
            return found
    return OK


def _bad(code: str, seq: int, detail: str) -> Verified:
    return Verified(ok=False, code=code, seq=seq, detail=detail)


def _chain(log: TurnLog) -> Verified:
    """One pass: what is framed for every record of the turn is hashed once."""
    turn, prev = log.turn, chain.first(log.turn)
    start = chain.hasher(turn)
    for number, record in enumerate(log.records, 1):
        if record.seq != number:
            return _bad("record-missing", number, f"record {number} is missing, {record.seq} comes next")
        if record.prev != prev:
            return _bad("record-altered", number, f"record {number} does not follow from the one before")
        if record.turn != turn or chain.hash_after(start, record) != record.hash:
            return _bad("record-altered", number, f"record {number} ({record.kind}) is not what was recorded")
        if record.kind not in KINDS:
            return _bad("record-malformed", number, f"this version knows no record of kind {record.kind}")
        prev = record.hash
    if not log.records:
        return _bad("record-missing", 1, "the log has no records")
    return OK


def _blobs(log: TurnLog) -> Verified:
    for record in log.records:
        if MARKED not in record.body:
            continue
        try:
            for marker in blobs_in(record.kind, record.body):
                data = log.blobs.get(marker.blob)
                if data is None:
                    return _bad("blob-missing", record.seq, f"{marker.blob} of record {record.seq} is missing")
                if len(data) != marker.size or chain.digest(data) != marker.blob:
                    return _bad("blob-altered", record.seq, f"{marker.blob} of record {record.seq} was altered")
        except RecordFault as fault:
            return _bad(fault.code, record.seq, fault.message)
    return OK


def _end(log: TurnLog) -> Verified:
    last = log.records[-1].seq
    if log.head is not None and log.head.seq > last:
        return _bad("log-cut-off", last + 1, f"the log ends at {last}, its head was signed at {log.head.seq}")
    if log.anchor is not None and log.anchor.seq > last:
        return _bad("log-behind-anchor", last + 1, f"the log ends at {last}, its anchor is at {log.anchor.seq}")
    if log.seq > last:
        return _bad("log-cut-off", last + 1, f"the log ends at {last}, {log.seq} records were written")
    if log.seq < last:
        return _bad("record-altered", log.seq + 1, f"{log.seq} records were written, the log has {last}")
    return OK


def _head(log: TurnLog) -> Verified:
    head, last = log.head, log.records[-1]
    if log.status == "open":
        if head is not None and head.status == "closed":
            return _bad("head-mismatch", head.seq, "the turn was closed, and nothing opens a closed turn")
        return OK if head is None else _head_fits(log, head)
    if head is None:
        return _bad("head-missing", last.seq, f"the turn is {log.status} and has no signed head")
    if head.seq != last.seq or head.status != log.status:
        return _bad(
            "head-mismatch", head.seq + 1, f"the {head.status} head is at {head.seq}, the log ends at {last.seq}"
        )
    return _head_fits(log, head)


def _head_fits(log: TurnLog, head: Head) -> Verified:
    at = _at(log, head.seq)
    if head.turn != log.turn or at is None or at.hash != head.hash:
        return _bad("head-mismatch", head.seq, f"the head was signed over another record {head.seq}")
    if not log.signed:
        return OK
    if log.key and head.key != log.key:
        return _bad("head-key", head.seq, "the head was signed by another key than this installation's")
    from metnos.record.keys import signature_holds

    payload = chain.head_payload(head.turn, head.status, head.seq, head.hash)
    if not signature_holds(head.key, head.signature, payload):
        return _bad("head-signature", head.seq, "the signature of the head does not hold")
    return OK


def _anchor(log: TurnLog) -> Verified:
    anchor = log.anchor
    if anchor is None:
        if log.key and log.status == "suspended":
            return _bad("anchor-missing", log.records[-1].seq, "the turn waits, and its anchor is gone")
        return OK
    at = _at(log, anchor.seq)
    if at is None or at.hash != anchor.hash:
        return _bad("anchor-mismatch", anchor.seq, f"record {anchor.seq} is not the one that was anchored")
    return OK


def _at(log: TurnLog, seq: int) -> Record | None:
    return log.records[seq - 1] if 1 <= seq <= len(log.records) else None
