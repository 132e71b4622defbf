"""The columns that a list of turns is made from, taken from records as they pass.

Law: a convenience; whatever is decided is decided from records.
"""

from __future__ import annotations

from metnos.record.codec import decode_tolerant
from metnos.record.model import TurnLog, TurnSummary

REQUEST_CHARACTERS = 500
"""Of a request that the turn's row keeps for lists."""


def summary_of(log: TurnLog) -> TurnSummary:
    """One line about a log, read tolerantly."""
    opened = decode_tolerant(log.records[0].body) if log.records else {}
    closed = [record for record in log.records if record.kind == "turn_closed"]
    return TurnSummary(
        turn=log.turn,
        opened=log.records[0].at if log.records else 0,
        status=log.status,
        outcome=str(decode_tolerant(closed[-1].body).get("outcome", "")) if closed else "",
        mode=str(opened.get("mode", "ask")),
        request=str(opened.get("request") or ""),
        channel=str(opened.get("channel", "terminal")),
        conversation=str(opened.get("conversation", "")),
        owner=str(opened.get("owner", "local")),
        records=log.seq,
        fence=log.fence,
    )
