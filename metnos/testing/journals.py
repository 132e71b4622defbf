"""What every journal must keep (`metnos.record.store`), as tests that whoever writes one can run.

    class TestMyJournal(DurableJournalSuite):           # in a test file; pytest finds the tests by their names
        def open(self, place: Path) -> Journal:         # a second call with the same place: a second user of one store
            return MyJournal(place)

    check_store(TestMyJournal(), tmp_path)              # or all of them at once, without pytest

Law: it knows a journal by its protocol alone. A test fails by `StoreBroken`, which says which promise was broken, or by
the `RecordFault` that should not have been. Another kind of store gets a suite of its own beside these (`Suite`).
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metnos.record.chain import as_records, digest
from metnos.record.faults import RecordFault
from metnos.record.recorder import Recorder
from metnos.testing.story import answer, beginning, boundaries, ending, opened, question, tell
from metnos.testing.suite import StoreBroken, Suite, must, refused
from metnos.turn.inputs import Cancelled
from metnos.turn.rules import Reaction

if TYPE_CHECKING:
    from collections.abc import Callable

    from metnos.record.store import Head, Journal, Record, TurnLog
    from metnos.testing.story import Told

_THREADS = 2
_TURNS_EACH = 5
_ROUNDS = 20
_SWITCH_S = 0.000_001
"""Threads take turns as often as they can: what is not guarded shows."""


def _expected(turn: str, story: list[Told]) -> tuple[tuple[Record, ...], dict[str, bytes]]:
    """Records and blobs that the story makes, whoever keeps them."""
    recorder = Recorder(turn)
    for one in story:
        recorder.add(one.item, one.reaction)
    return as_records(recorder.rows), dict(recorder.blobs)


def _closed(journal: Journal, turn: str, at: int = 1_000) -> Head:
    writer = journal.begin(opened(turn, at))
    tell(writer, [*beginning(turn, at), *ending(at + 30)])
    return writer.finish("closed")


def _suspended(journal: Journal, turn: str) -> list[Told]:
    writer = journal.begin(opened(turn))
    story = [*beginning(turn), question()]
    tell(writer, story)
    writer.finish("suspended")
    return story


def _whole(log: TurnLog, story: list[Told], what: str) -> None:
    records, blobs = _expected(log.turn, story)
    kinds = [record.kind for record in log.records]
    must(len(log.records) == len(records), f"{what}: {len(records)} records were appended, {kinds} were loaded")
    for mine, theirs in zip(records, log.records, strict=True):
        must(mine == theirs, f"{what}: record {mine.seq} ({mine.kind}) is not what was appended: {theirs}")
    must(log.blobs == blobs, f"{what}: large results are not what was appended")
    must(log.seq == len(records), f"{what}: the log counts {log.seq} records and has {len(records)}")


class JournalSuite(Suite):
    """Every journal, also one that keeps nothing when it is closed. Subclass it and write `open`."""

    def open(self, place: Path) -> Journal:
        """The journal at `place`, an empty folder at first."""
        raise NotImplementedError

    # --- records ---------------------------------------------------------------------------------------------------

    def test_what_is_appended_loads_byte_for_byte_in_order(self, tmp_path: Path) -> None:
        """Records, facts behind their input, large results under their digest."""
        with self.opened(tmp_path) as journal:
            story = [*beginning("t1"), *ending()]
            writer = journal.begin(opened("t1"))
            for seq, one in zip(boundaries(story), story, strict=True):
                writer.append(one.item, one.reaction, durable=one.durable, anchor=one.anchor)
                must(writer.seq == seq, f"after {seq} records the writer counts {writer.seq}")
            writer.finish("closed")
            log = journal.load("t1")
            _whole(log, story, "a closed turn")
            must(all(digest(data) == name for name, data in log.blobs.items()), "a blob bears another's digest")

    def test_what_is_durable_can_be_loaded_at_once(self, tmp_path: Path) -> None:
        """Before the turn ends, by others."""
        with self.opened(tmp_path) as journal:
            writer = journal.begin(opened("t1"))
            story = beginning("t1")
            for number, one in enumerate(story, 1):
                writer.append(one.item, one.reaction, durable=one.durable, anchor=one.anchor)
                if one.durable:
                    _whole(journal.load("t1"), story[:number], f"after durable append {number}")
            writer.release()

    def test_an_append_is_never_split(self, tmp_path: Path) -> None:
        """Given up without a close, a log ends where an append ended, and behind the last durable one."""
        for last in range(1, len(beginning("t1")) + 1):
            with self.opened(tmp_path / str(last)) as journal:
                story = [*beginning("t1"), question()][: last + 1]
                writer = journal.begin(opened("t1"))
                tell(writer, story)
                writer.release()
                durable = max(
                    (seq for seq, one in zip(boundaries(story), story, strict=True) if one.durable), default=0
                )
                try:
                    log = journal.load("t1")
                except RecordFault as fault:
                    must(fault.code == "turn-missing" and not durable, f"what was durable is gone: {fault}")
                    continue
                ends = list(boundaries(story))
                must(len(log.records) in ends, f"the log ends at {len(log.records)}, appends ended at {ends}")
                must(len(log.records) >= durable, f"the log ends at {len(log.records)}, {durable} was durable")
                _whole(log, story[: ends.index(len(log.records)) + 1], "a turn that was given up")

    def test_the_first_record_opens_the_turn(self, tmp_path: Path) -> None:
        """Anything else is `record-order`."""
        with self.opened(tmp_path) as journal:
            for number, wrong in enumerate((Cancelled(), opened("other"))):
                writer = journal.begin(opened(f"t{number}"))
                refused("record-order", lambda w=writer, i=wrong: w.append(i, Reaction()))
                writer.release()

    def test_an_id_that_is_no_name_is_refused(self, tmp_path: Path) -> None:
        """It may become the name of a file."""
        with self.opened(tmp_path) as journal:
            for turn in ("", ".", "../x", "a/b", "a b", "è", "x" * 129):
                refused("turn-id", lambda t=turn: journal.begin(opened(t)))

    def test_there_is_one_turn_of_an_id(self, tmp_path: Path) -> None:
        """A second one is refused when it is begun, or with its first commit; the first stays as it was."""
        with self.opened(tmp_path) as journal:
            _closed(journal, "t1")
            before = journal.load("t1")
            refused("turn-exists", lambda: _closed(journal, "t1"))
            must(journal.load("t1") == before, "a turn was changed by a second one of its id")

    # --- chain, head, end ------------------------------------------------------------------------------------------

    def test_the_head_is_the_end_of_the_chain(self, tmp_path: Path) -> None:
        """`finish` says what a reader finds."""
        with self.opened(tmp_path) as journal:
            head = _closed(journal, "t1")
            log = journal.load("t1")
            must(log.status == "closed", f"a closed turn is {log.status}")
            must(log.head == head, f"the head is {log.head}, `finish` gave {head}")
            must((head.turn, head.status) == ("t1", "closed"), f"the head is of {head.turn}, {head.status}")
            must(
                (head.seq, head.hash) == (log.records[-1].seq, log.records[-1].hash), "the head is not the last record"
            )
            found = journal.verify("t1")
            must(found.ok, f"it does not verify: {found}")

    def test_what_is_missing_is_said_so(self, tmp_path: Path) -> None:
        """`load` and `resume` refuse; `verify` is a value."""
        with self.opened(tmp_path) as journal:
            for _ in range(2):
                refused("turn-missing", lambda: journal.load("t1"))
                refused("turn-missing", lambda: journal.resume("t1"))
                found = journal.verify("t1")
                must((found.ok, found.code) == (False, "turn-missing"), f"`verify` of what is missing: {found}")
                must(journal.turns() == (), f"nothing was appended, and there are {journal.turns()}")
                journal.begin(opened("t1")).release()

    def test_a_closed_turn_is_not_resumed(self, tmp_path: Path) -> None:
        """By code, and it stays as it was."""
        with self.opened(tmp_path) as journal:
            _closed(journal, "t1")
            refused("turn-closed", lambda: journal.resume("t1"))
            must(journal.load("t1").status == "closed", "a refused resume changed the turn")

    def test_a_finished_writer_writes_nothing(self, tmp_path: Path) -> None:
        """Nor one that was released; the second release does no harm."""
        with self.opened(tmp_path) as journal:
            for number, end in enumerate(("finish", "release")):
                turn = f"t{number}"
                writer = journal.begin(opened(turn))
                tell(writer, [*beginning(turn), *ending()])
                writer.finish("closed") if end == "finish" else writer.release()
                refused("writer-unusable", lambda w=writer: w.append(Cancelled(), Reaction(), durable=True))
                refused("writer-unusable", lambda w=writer: w.finish("closed"))
                writer.release()

    # --- suspension and claims ---------------------------------------------------------------------------------------

    def test_a_suspended_turn_goes_on_in_the_same_log(self, tmp_path: Path) -> None:
        """What was there stays, numbers go on, the fence rises."""
        with self.opened(tmp_path) as journal:
            story = _suspended(journal, "t1")
            waiting = journal.load("t1")
            must(waiting.status == "suspended", f"a suspended turn is {waiting.status}")
            must(waiting.head is not None and waiting.head.status == "suspended", f"its head is {waiting.head}")
            must(journal.verify("t1").ok, f"it does not verify: {journal.verify('t1')}")
            writer, log = journal.resume("t1")
            must(log.records == waiting.records, "a resume gives another log than a load")
            must(writer.fence == waiting.fence + 1, f"the fence went from {waiting.fence} to {writer.fence}")
            must(writer.seq == len(log.records), f"the writer goes on at {writer.seq} after {len(log.records)}")
            more = answer(writer.fence)
            tell(writer, more)
            writer.finish("closed")
            _whole(journal.load("t1"), [*story, *more], "a turn that was resumed")
            must(journal.verify("t1").ok, f"it does not verify: {journal.verify('t1')}")

    def test_one_claims_and_the_other_gets_busy(self, tmp_path: Path) -> None:
        """Until the first gives up; each claim has a fence of its own."""
        with self.opened(tmp_path) as journal:
            _suspended(journal, "t1")
            first, _ = journal.resume("t1")
            refused("turn-busy", lambda: journal.resume("t1"))
            first.release()
            second, _ = journal.resume("t1")
            must(second.fence == first.fence + 1, f"fences of two claims: {first.fence}, {second.fence}")
            second.release()
            log = journal.load("t1")
            must(log.status == "suspended", f"two claims that wrote nothing left the turn {log.status}")
            must(journal.verify("t1").ok, f"it does not verify: {journal.verify('t1')}")

    def test_of_many_threads_that_claim_at_once_one_gets_it(self, tmp_path: Path) -> None:
        """The others get busy, not a second writer."""
        with self.opened(tmp_path) as journal:
            _suspended(journal, "t1")
            for _ in range(_ROUNDS):
                got = _at_once([lambda: journal.resume("t1")[0]] * 4)
                busy = [one for one in got if isinstance(one, RecordFault) and one.code == "turn-busy"]
                won = [one for one in got if not isinstance(one, BaseException)]
                must((len(won), len(busy)) == (1, 3), f"of four that claimed at once: {got}")
                won[0].release()

    def test_threads_that_write_turns_of_their_own_do_not_mix(self, tmp_path: Path) -> None:
        """Every log is whole."""
        with self.opened(tmp_path) as journal:

            def write(name: str) -> None:
                for number in range(_TURNS_EACH):
                    _closed(journal, f"{name}-{number}", at=1_000 + number)

            got = _at_once([lambda n=n: write(f"t{n}") for n in range(_THREADS)])
            must(got == [None] * _THREADS, f"of threads with turns of their own: {got}")
            for turn in (f"t{n}-{number}" for n in range(_THREADS) for number in range(_TURNS_EACH)):
                at = 1_000 + int(turn[-1])
                _whole(journal.load(turn), [*beginning(turn, at), *ending(at + 30)], turn)
                must(journal.verify(turn).ok, f"{turn} does not verify: {journal.verify(turn)}")

    def test_who_reads_a_turn_that_is_being_written_sees_a_whole_beginning(self, tmp_path: Path) -> None:
        """It verifies at every moment, from another thread."""
        with self.opened(tmp_path) as journal:
            ended = threading.Event()

            def write() -> None:
                try:
                    writer = journal.begin(opened("t1"))
                    tell(writer, beginning("t1"))
                    for number in range(_ROUNDS):
                        writer.append(Cancelled(at=2_000 + number), Reaction(), durable=True)
                    writer.finish("closed")
                finally:
                    ended.set()

            def read() -> None:
                while not ended.is_set():
                    found = journal.verify("t1")
                    must(found.ok or found.code == "turn-missing", f"while it is written: {found}")

            got = _at_once([write, read])
            must(got == [None, None], f"of a writer and a reader: {got}")

    # --- lists -------------------------------------------------------------------------------------------------------

    def test_the_latest_turns_come_first(self, tmp_path: Path) -> None:
        """With what a list shows of them."""
        with self.opened(tmp_path) as journal:
            for number in range(4):
                _closed(journal, f"t{number}", at=1_000 + number)
            must([one.turn for one in journal.turns(3)] == ["t3", "t2", "t1"], f"in order: {journal.turns(3)}")
            must(journal.turns(0) == (), "none were asked for")
            (last,) = journal.turns(1)
            shown = (last.status, last.outcome, last.mode, last.request, last.opened, last.records)
            must(shown == ("closed", "success", "run", "ciò che c'è", 1_003, journal.load("t3").seq), f"shown: {shown}")


class DurableJournalSuite(JournalSuite):
    """Journals that outlive their process: all that, and what only they can."""

    def test_a_store_that_is_opened_again_is_as_it_was(self, tmp_path: Path) -> None:
        """Closed and suspended turns, their heads, and the list."""
        with self.opened(tmp_path) as journal:
            _closed(journal, "t1")
            _suspended(journal, "t2")
            before = [journal.load(turn) for turn in ("t1", "t2")], journal.turns()
        with self.opened(tmp_path) as journal:
            must(
                ([journal.load(turn) for turn in ("t1", "t2")], journal.turns()) == before, "it is not as it was closed"
            )
            must(all(journal.verify(turn).ok for turn in ("t1", "t2")), f"verify: {journal.verify('t2')}")
            writer, _ = journal.resume("t2")
            tell(writer, answer(writer.fence))
            writer.finish("closed")
            must(journal.verify("t2").ok, f"verify: {journal.verify('t2')}")

    def test_what_was_durable_is_seen_by_a_second_user_of_the_store(self, tmp_path: Path) -> None:
        """And nothing that was not."""
        with self.opened(tmp_path) as journal, self.opened(tmp_path) as other:
            writer = journal.begin(opened("t1"))
            story = beginning("t1")
            for number, one in enumerate(story, 1):
                writer.append(one.item, one.reaction, durable=one.durable, anchor=one.anchor)
                if one.durable:
                    _whole(other.load("t1"), story[:number], f"another user, after durable append {number}")
            refused("turn-busy", lambda: other.resume("t1"))
            writer.release()
            other.resume("t1")[0].release()

    def test_what_was_not_durable_is_forgotten_when_it_is_given_up(self, tmp_path: Path) -> None:
        """A crash may forget reads; nobody may find half of them."""
        with self.opened(tmp_path) as journal:
            story = beginning("t1")
            writer = journal.begin(opened("t1"))
            tell(writer, story)
            writer.append(Cancelled(at=2_000), Reaction())
            writer.release()
        with self.opened(tmp_path) as journal:
            _whole(journal.load("t1"), story, "after a crash")

    def test_an_anchor_stands_before_an_effect_may_start(self, tmp_path: Path) -> None:
        """And for a turn that waits; each is of a record that is there."""
        with self.opened(tmp_path) as journal, self.opened(tmp_path) as other:
            writer = journal.begin(opened("t1"))
            for one in beginning("t1"):
                writer.append(one.item, one.reaction, durable=one.durable, anchor=one.anchor)
                if one.anchor:
                    log = other.load("t1")
                    last = log.records[-1]
                    must(log.anchor is not None, "an effect may start, and no anchor is there")
                    must((log.anchor.seq, log.anchor.hash) == (last.seq, last.hash), f"its anchor: {log.anchor}")
            writer.release()
            _suspended(journal, "t2")
            log = other.load("t2")
            must(log.anchor is not None and log.anchor.seq == log.seq, f"a turn waits with the anchor {log.anchor}")

    def test_heads_are_signed(self, tmp_path: Path) -> None:
        """By one key of the installation, whoever opens it."""
        keys: set[str] = set()
        for number in range(2):
            with self.opened(tmp_path) as journal:
                head = _closed(journal, f"t{number}")
                must(bool(head.signature) and bool(head.key), f"an unsigned head: {head}")
                keys.add(head.key)
        must(len(keys) == 1, f"signed by {len(keys)} keys")

    def test_an_effect_that_was_done_is_never_meant_again(self, tmp_path: Path) -> None:
        """`operation-done`; and a start under a fence of before is `stale-fence`."""
        with self.opened(tmp_path) as journal:
            for turn, code, again in (("t1", "operation-done", 0), ("t2", "stale-fence", 1)):
                writer = journal.begin(opened(turn))
                story = beginning(turn)
                tell(writer, story[: len(story) - again])
                _, _, _, intent, _ = story
                item = intent.item
                if again:
                    item = type(item)(at=1_100, step="1.2", operation="op-1.2", fence=0)  # type: ignore[call-arg]
                refused(code, lambda w=writer, i=item: w.append(i, Reaction(), durable=True, anchor=True))
                writer.release()
                must(journal.verify(turn).ok, f"a refused append left a log that does not hold: {journal.verify(turn)}")


def _at_once(works: list[Callable[[], Any]]) -> list[Any]:
    """What each gives or raises, all begun at one moment, each in a thread of its own."""
    got: list[Any] = [StoreBroken("it did not end")] * len(works)
    gate = threading.Barrier(len(works))

    def run(number: int) -> None:
        gate.wait(30)
        try:
            got[number] = works[number]()
        except Exception as fault:  # noqa: BLE001 - it is what the test looks at
            got[number] = fault

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(works))]
    before = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH_S)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    finally:
        sys.setswitchinterval(before)
    return got
