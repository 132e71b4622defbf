"""A checker that cannot fail is none: a journal that breaks one promise is found by the test of that promise."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from metnos.record.faults import RecordFault
from metnos.record.memory import MemoryJournal
from metnos.record.model import Head, TurnLog, Verified
from metnos.record.sqlite import SqliteJournal
from metnos.testing import DurableJournalSuite, JournalSuite, StoreBroken, check_store
from metnos.testing.suite import checks_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class Around:
    """A journal or a writer that does all that the real one does, but for what a subclass does in its place."""

    def __init__(self, real: Any) -> None:
        self.real = real

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)


def journal(writer: type[Around] = Around, **methods: Callable[..., Any]) -> type[Around]:
    """A class of journals whose writers are wrapped, with these methods in place of the real ones."""

    def begin(self: Any, opened: Any) -> Any:
        return writer(self.real.begin(opened))

    def resume(self: Any, turn: str) -> Any:
        made, log = self.real.resume(turn)
        return writer(made), log

    return type("Broken", (Around,), {"begin": begin, "resume": resume, **methods})


def changed_log(change: Callable[[TurnLog], TurnLog]) -> type[Around]:
    return journal(load=lambda self, turn: change(self.real.load(turn)))


def writer(**methods: Callable[..., Any]) -> type[Around]:
    return journal(type("BrokenWriter", (Around,), methods))


def swallowing(code: str, act: Callable[..., Any]) -> Callable[..., Any]:
    """`act`, but a refusal with this code is taken for a success."""

    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return act(*args, **kwargs)
        except RecordFault as fault:
            if fault.code != code:
                raise
            return None

    return call


def append(self: Any, item: Any, reaction: Any, **how: Any) -> Any:
    return self.real.append(item, reaction, **how)


def half(log: TurnLog) -> TurnLog:
    """The facts of the last append are gone."""
    kept = log.records[:-1]
    return msgspec.structs.replace(log, records=kept, seq=len(kept))


def shuffled(log: TurnLog) -> TurnLog:
    return msgspec.structs.replace(log, records=(log.records[1], log.records[0], *log.records[2:]))


def altered(log: TurnLog) -> TurnLog:
    first = msgspec.structs.replace(log.records[0], body=log.records[0].body.replace(b"run", b"Run"))
    return msgspec.structs.replace(log, records=(first, *log.records[1:]))


def other_head(self: Any, status: Any) -> Head:
    head = self.real.finish(status)
    return msgspec.structs.replace(head, seq=head.seq - 1)


def finish_again(self: Any, status: Any) -> Head:
    self.real.finish(status)
    return Head(turn=self.turn, seq=1, hash="")


def same_fence(self: Any, turn: str) -> Any:
    made, log = self.real.resume(turn)
    made.fence -= 1
    return made, log


def without_claim(self: Any, turn: str) -> Any:
    kept = self.real._find(turn)
    kept.claimed = False
    return self.real.resume(turn)


def slow_claim(self: Any, turn: str) -> Any:
    kept = self.real._find(turn)
    if kept.claimed:
        raise RecordFault("turn-busy", "busy")
    time.sleep(0.01)
    kept.claimed = False
    return self.real.resume(turn)


def reopened(self: Any, turn: str) -> Any:
    kept = self.real._find(turn)
    if kept.end[0] == "closed":
        kept.end = ("suspended", kept.end[1])
    return self.real.resume(turn)


def doubled(self: Any, opened: Any) -> Any:
    self.real._turns.pop(opened.turn, None)
    return self.real.begin(opened)


def opened_by_a_claim(log: TurnLog) -> TurnLog:
    return msgspec.structs.replace(log, status="open") if log.fence > 1 else log


def of_another(self: Any, turn: str) -> Any:
    log = self.real.load(turn)
    other = self.real.turns(1)[0].turn
    return msgspec.structs.replace(self.real.load(other), turn=log.turn)


def nothing(self: Any, turn: str) -> TurnLog:
    return swallowing("turn-missing", self.real.load)(turn) or TurnLog(turn=turn)


def careless(self: Any, turn: str) -> Verified:
    return msgspec.structs.replace(self.real.verify(turn), ok=False, code="record-altered")


ORDER = "test_what_is_appended_loads_byte_for_byte_in_order"
BROKEN: list[tuple[str, type[Around]]] = [
    (ORDER, changed_log(shuffled)),
    (ORDER, changed_log(altered)),
    (ORDER, changed_log(lambda log: msgspec.structs.replace(log, blobs={}))),
    (ORDER, writer(seq=property(lambda self: self.real.seq - 1))),
    ("test_what_is_durable_can_be_loaded_at_once", changed_log(half)),
    ("test_an_append_is_never_split", changed_log(half)),
    ("test_the_first_record_opens_the_turn", writer(append=swallowing("record-order", append))),
    (
        "test_an_id_that_is_no_name_is_refused",
        journal(begin=lambda self, one: swallowing("turn-id", self.real.begin)(one)),
    ),
    ("test_there_is_one_turn_of_an_id", journal(begin=doubled)),
    ("test_the_head_is_the_end_of_the_chain", writer(finish=other_head)),
    ("test_the_head_is_the_end_of_the_chain", journal(verify=careless)),
    ("test_what_is_missing_is_said_so", journal(load=nothing)),
    ("test_a_closed_turn_is_not_resumed", journal(resume=reopened)),
    ("test_a_finished_writer_writes_nothing", writer(append=swallowing("writer-unusable", append))),
    ("test_a_finished_writer_writes_nothing", writer(finish=swallowing("writer-unusable", finish_again))),
    ("test_a_suspended_turn_goes_on_in_the_same_log", journal(resume=same_fence)),
    ("test_one_claims_and_the_other_gets_busy", journal(resume=without_claim)),
    (
        "test_one_claims_and_the_other_gets_busy",
        journal(load=lambda self, turn: opened_by_a_claim(self.real.load(turn))),
    ),
    ("test_of_many_threads_that_claim_at_once_one_gets_it", journal(resume=slow_claim)),
    ("test_threads_that_write_turns_of_their_own_do_not_mix", journal(load=of_another)),
    ("test_who_reads_a_turn_that_is_being_written_sees_a_whole_beginning", journal(verify=careless)),
    ("test_the_latest_turns_come_first", journal(turns=lambda self, n=20: self.real.turns(n)[::-1])),
]


@pytest.mark.parametrize(("name", "broken"), BROKEN, ids=[f"{n}-{one[0]}" for n, one in enumerate(BROKEN)])
def test_what_any_journal_breaks_is_found(tmp_path: Path, name: str, broken: type[Around]) -> None:
    class Tried(JournalSuite):
        def open(self, place: Path) -> Any:
            return broken(MemoryJournal())

    with pytest.raises((StoreBroken, RecordFault)):
        checks_of(Tried())[name](tmp_path)


# --- what only those can break that outlive their process -----------------------------------------------------------------


def lazily(self: Any, item: Any, reaction: Any, *, durable: bool = False, anchor: bool = False) -> None:
    self.real.append(item, reaction)


def without_anchor(self: Any, item: Any, reaction: Any, *, durable: bool = False, anchor: bool = False) -> None:
    self.real.append(item, reaction, durable=durable)


def eagerly(self: Any) -> None:
    if not self.real._dead:
        self.real._commit([])
    self.real.release()


def unsigned(self: Any, status: Any) -> Head:
    return msgspec.structs.replace(self.real.finish(status), signature="")


def without_ledger(self: Any, opened: Any) -> Any:
    made = self.real.begin(opened)
    made.ledger.derive = lambda *_: None
    return made


def key_for_each(self: Any) -> None:
    (self.real._database.home / "keys" / "log.ed25519").unlink()
    self.real.close()


def forgetting(self: Any) -> None:
    home = self.real._database.home
    self.real.close()
    (home / "metnos.db").unlink()


DURABLE_BROKEN: list[tuple[str, type[Around]]] = [
    ("test_what_is_durable_can_be_loaded_at_once", writer(append=lazily)),
    ("test_a_store_that_is_opened_again_is_as_it_was", journal(close=forgetting)),
    ("test_what_was_durable_is_seen_by_a_second_user_of_the_store", writer(append=lazily)),
    ("test_what_was_not_durable_is_forgotten_when_it_is_given_up", writer(release=eagerly)),
    ("test_an_anchor_stands_before_an_effect_may_start", writer(append=without_anchor)),
    ("test_heads_are_signed", writer(finish=unsigned)),
    ("test_heads_are_signed", journal(close=key_for_each)),
    ("test_an_effect_that_was_done_is_never_meant_again", journal(begin=without_ledger)),
]


@pytest.mark.parametrize(
    ("name", "broken"), DURABLE_BROKEN, ids=[f"{n}-{one[0]}" for n, one in enumerate(DURABLE_BROKEN)]
)
def test_what_a_durable_journal_breaks_is_found(tmp_path: Path, name: str, broken: type[Around]) -> None:
    class Tried(DurableJournalSuite):
        def open(self, place: Path) -> Any:
            return broken(SqliteJournal(place))

    with pytest.raises((StoreBroken, RecordFault)):
        checks_of(Tried())[name](tmp_path)


def test_every_promise_has_a_journal_that_breaks_it() -> None:
    tried = {name for name, _ in (*BROKEN, *DURABLE_BROKEN)}
    assert tried == set(checks_of(DurableJournalSuite()))


def test_all_of_a_suite_runs_without_pytest_and_says_what_is_broken(tmp_path: Path) -> None:
    class Whole(JournalSuite):
        def open(self, place: Path) -> Any:
            return MemoryJournal()

    class Half(JournalSuite):
        def open(self, place: Path) -> Any:
            return changed_log(half)(MemoryJournal())

    check_store(Whole(), tmp_path / "whole")
    with pytest.raises(StoreBroken) as raised:
        check_store(Half(), tmp_path / "half")
    assert f"{ORDER}: StoreBroken: " in str(raised.value)
    assert "test_what_is_missing" not in str(raised.value)
    with pytest.raises(StoreBroken, match="NotImplementedError"):
        check_store(JournalSuite(), tmp_path / "none")
