"""Replays one turn: its inputs go to a fresh machine, whose facts and commands must be the recorded ones.

    result = replay(journal.load(turn), rules)
    result.status  # "identical", "diverged" at record `seq`, or "broken": the log itself cannot be believed

Law: no effect, no clock, no disk; it never raises on a bad log. Whether a turn *succeeded* and whether it *replays*
are two questions, and only the second is answered here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol

import msgspec

from metnos.record.chain import NO_COMMANDS, digest
from metnos.record.codec import FACT_KINDS, INPUT_KINDS, KIND_OF, decode_fact, decode_input, encode, fetch_from
from metnos.record.faults import RecordFault
from metnos.record.model import Record, TurnLog
from metnos.record.verify import verify_log
from metnos.turn.inputs import AnyInput, TurnOpened
from metnos.turn.rules import Reaction, Rules


class Replayable(Protocol):
    """What replay needs of a machine."""

    def receive(self, item: AnyInput) -> Reaction: ...


class ReplayResult(msgspec.Struct, frozen=True, kw_only=True):
    """Of one replay.

    `seq` is the first record that differs (diverged) or cannot be believed (broken), 0 if none can be named;
    `recorded` and `computed` are JSON, or digests where `kind` is `commands`.
    """

    turn: str
    status: Literal["identical", "diverged", "broken"]
    seq: int = 0
    kind: str = ""
    """`commands`, the kind of the fact that differs, the kind of the input that was refused; or the code of what is
    broken."""
    recorded: str = ""
    computed: str = ""
    detail: str = ""
    records: int = 0
    """Records that were compared and found the same."""
    rules: str = ""
    """Digest of the rules it was replayed under."""
    asked: tuple[tuple[str, str], ...] = ()
    """Where `kind` is `commands`: what the machine now asks for, each with the tool that it is about. Nobody answers."""
    refusal: str = ""
    """Where an input was refused: the type of the fault."""


class _Difference(Exception):
    """The first one; ends the walk."""

    def __init__(self, seq: int, kind: str, recorded: str, computed: str, detail: str, **more: Any) -> None:
        super().__init__(detail)
        self.seq, self.kind, self.recorded, self.computed, self.detail = seq, kind, recorded, computed, detail
        self.more = more


def replay(log: TurnLog, rules: Rules, machine: Callable[[Rules], Replayable] | None = None) -> ReplayResult:
    """Verify the log, then feed its inputs to a fresh machine and compare.

    Args:
        log: As a journal loaded it.
        rules: Of the machine; other rules than the turn was run under may diverge, which is the point of trying.
        machine: Another machine than `metnos.turn.turn.Machine`.
    """
    found = verify_log(log)
    if not found.ok:
        return ReplayResult(
            turn=log.turn, status="broken", seq=found.seq, kind=found.code, detail=found.detail, rules=rules.digest
        )
    if machine is None:
        from metnos.turn.turn import Machine

        machine = Machine
    walk = _Walk(log, machine(rules))
    try:
        walk.all()
    except _Difference as difference:
        return ReplayResult(
            turn=log.turn,
            status="diverged",
            seq=difference.seq,
            kind=difference.kind,
            recorded=difference.recorded,
            computed=difference.computed,
            detail=difference.detail + walk.other_rules(rules),
            records=walk.same,
            rules=rules.digest,
            **difference.more,
        )
    except RecordFault as fault:
        return ReplayResult(
            turn=log.turn,
            status="broken",
            seq=walk.seq,
            kind=fault.code,
            detail=fault.message,
            records=walk.same,
            rules=rules.digest,
        )
    return ReplayResult(turn=log.turn, status="identical", records=walk.same, rules=rules.digest)


def fold(log: TurnLog) -> tuple[AnyInput, ...]:
    """The inputs of a verified log in order, large data inlined: what a machine is folded from at a resume.

    Raises:
        RecordFault: a record cannot be read by this version (`record-malformed`), or its blob is missing or altered.
    """
    fetch = fetch_from(log.blobs)
    return tuple(decode_input(record.body, fetch) for record in log.records if record.kind in INPUT_KINDS)


class _Walk:
    """Over the records of one log, one input with its facts at a time."""

    def __init__(self, log: TurnLog, machine: Replayable) -> None:
        self._log = log
        self._machine = machine
        self._fetch = fetch_from(log.blobs)
        self._versions: dict[str, str] = {}
        self.seq = 0
        self.same = 0

    def all(self) -> None:
        records = self._log.records
        position = 0
        while position < len(records):
            record = records[position]
            self.seq = record.seq
            end = position + 1
            while end < len(records) and records[end].kind in FACT_KINDS:
                end += 1
            self._one(record, records[position + 1 : end])
            self.same += end - position
            position = end

    def other_rules(self, rules: Rules) -> str:
        """What to add to a difference if the rules are others."""
        before = self._versions.get("rules", "")
        return f"; recorded under rules {before}, replayed under {rules.digest}" if before != rules.digest else ""

    def _one(self, record: Record, facts: Sequence[Record]) -> None:
        if record.kind not in INPUT_KINDS:
            raise RecordFault("record-malformed", f"record {record.seq} is a fact where an input must stand")
        item = decode_input(record.body, self._fetch)
        if KIND_OF[type(item)] != record.kind or item.at != record.at:
            raise RecordFault("record-malformed", f"record {record.seq} is not the {record.kind} that it is filed as")
        if isinstance(item, TurnOpened):
            self._versions = item.versions
        try:
            reaction = self._machine.receive(item)
        except Exception as fault:  # whatever the rules raise is what they compute for this input
            detail = f"the machine refused the input: {type(fault).__name__}: {fault}"
            refusal = type(fault).__name__
            raise _Difference(record.seq, record.kind, _text(record.body), "", detail, refusal=refusal) from fault
        self._compare_facts(record, facts, reaction)
        self.seq = record.seq
        commands = digest(encode(reaction.commands)) if reaction.commands else NO_COMMANDS
        if commands != record.commands:
            asked = tuple((_tag(one), getattr(one, "executor", "")) for one in reaction.commands)
            told = ", ".join(tag for tag, _ in asked) or "nothing"
            detail = f"record {record.seq}: other commands; the machine now asks for {told}"
            raise _Difference(record.seq, "commands", record.commands, commands, detail, asked=asked)

    def _compare_facts(self, record: Record, facts: Sequence[Record], reaction: Reaction) -> None:
        for stored, fact in zip(facts, reaction.facts, strict=False):
            kind, body = KIND_OF[type(fact)], encode(fact)
            if body != stored.body or kind != stored.kind:
                self.seq = stored.seq
                decode_fact(stored.body)  # what this version cannot read at all is broken, and no other decision
                detail = f"record {stored.seq}: another {stored.kind}"
                raise _Difference(stored.seq, stored.kind, _text(stored.body), _text(body), detail)
        if len(facts) > len(reaction.facts):
            extra = facts[len(reaction.facts)]
            self.seq = extra.seq
            decode_fact(extra.body)
            detail = f"record {extra.seq}: {extra.kind} is no longer decided"
            raise _Difference(extra.seq, extra.kind, _text(extra.body), "", detail)
        if len(facts) < len(reaction.facts):
            more: Any = reaction.facts[len(facts)]
            seq, kind = record.seq + len(facts) + 1, KIND_OF[type(more)]
            raise _Difference(seq, kind, "", _text(encode(more)), f"record {seq}: {kind} is decided now and was not")


def _tag(command: Any) -> str:
    return str(command.__struct_config__.tag)


def _text(body: bytes) -> str:
    return body.decode("utf-8", "replace")
