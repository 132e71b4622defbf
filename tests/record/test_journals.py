"""What every journal keeps, whatever it is made of; and what only the one on disk can."""

from __future__ import annotations

import msgspec
import pytest

from metnos.policy.model import Deny
from metnos.record.chain import as_records
from metnos.record.faults import RecordFault
from metnos.record.memory import MemoryJournal
from metnos.record.sqlite import SqliteJournal
from metnos.sdk import Failure
from metnos.turn.commands import AskApproval, OpenDialog, StartStep
from metnos.turn.facts import PolicyDecided, StepUnknown
from metnos.turn.inputs import (
    ApprovalExpired,
    ApprovalGiven,
    ApprovalRefused,
    Cancelled,
    DialogAnswered,
    DialogExpired,
    EffectProbed,
    StepFailed,
    StepFinished,
    StepStarted,
    StepStopped,
)
from metnos.turn.rules import Reaction

D = "sha256:" + "d" * 64


@pytest.fixture(params=["memory", "sqlite"])
def any_journal(request, home):
    made = MemoryJournal() if request.param == "memory" else SqliteJournal(home)
    yield made
    made.close()


TOOLS = ("read_a", "create_b", "ask_c", "big_d")


def test_a_turn_is_recorded_and_loads_as_it_was(any_journal, world, effects):
    head = world.begin(any_journal, world.opened("t1", *TOOLS), effects).head
    log = any_journal.load("t1")
    assert any_journal.verify("t1").ok
    assert (log.status, log.head, log.seq, log.fence) == ("closed", head, len(log.records), 1)
    assert [record.seq for record in log.records] == list(range(1, log.seq + 1))
    assert head.hash == log.records[-1].hash
    assert len(log.blobs) == 1
    assert world.fold(log)[-1].text == "done"
    assert (
        next(item for item in world.fold(log) if isinstance(item, StepFinished) and item.step == "1.4").data["text"]
        == "x" * 20_000
    )


def test_a_journal_in_memory_keeps_the_latest_closed_turns_and_all_that_are_open(world, effects):
    memory = MemoryJournal(closed_turns=2)
    world.begin(memory, world.opened("waits", "ask_b"), effects, consent=False)
    for name in ("t1", "t2", "t3"):
        world.begin(memory, world.opened(name, "read_a"), effects)
    assert [one.turn for one in memory.turns(10)] == ["t3", "t2", "waits"]
    with pytest.raises(RecordFault) as fault:
        memory.load("t1")
    assert fault.value.code == "turn-missing"
    world.resume(memory, "waits", effects)
    assert [one.turn for one in memory.turns(10)] == ["t3", "waits"]


def test_all_journals_write_the_same_records(journal, world, effects):
    memory = MemoryJournal()
    for one in (memory, journal):
        world.begin(one, world.opened("t1", *TOOLS), effects)
    assert memory.load("t1").records == journal.load("t1").records
    assert memory.load("t1").blobs == journal.load("t1").blobs
    assert memory.turns() == journal.turns()


def test_a_suspended_turn_goes_on_in_the_same_log(any_journal, world, effects):
    first = world.begin(any_journal, world.opened("t1", "create_a", "ask_b"), effects, consent=False)
    before = any_journal.load("t1")
    assert (before.status, before.head.status, first.outcome) == ("suspended", "suspended", "")
    second = world.resume(any_journal, "t1", effects)
    after = any_journal.load("t1")
    assert second.outcome == "success"
    assert after.records[: before.seq] == before.records
    assert (after.status, after.fence, any_journal.verify("t1").ok) == ("closed", 2, True)
    assert len(set(world.lines(effects))) == len(world.lines(effects)) == 2


def test_one_writer_at_a_time(any_journal, world, effects):
    world.begin(any_journal, world.opened("t1", "ask_a"), effects, consent=False)
    writer, _log = any_journal.resume("t1")
    assert writer.fence == 2
    with pytest.raises(RecordFault, match="turn-busy"):
        any_journal.resume("t1")
    writer.release()
    writer.release()
    assert any_journal.load("t1").status == "suspended"
    with pytest.raises(RecordFault, match="writer-unusable"):
        writer.append(Cancelled(), Reaction())
    again, _log = any_journal.resume("t1")
    assert again.fence == 3
    again.release()


def test_closed_missing_and_doubled_turns_are_refused(any_journal, world, effects):
    world.begin(any_journal, world.opened("t1", "read_a"), effects)
    for code, turn in (("turn-closed", "t1"), ("turn-missing", "t2")):
        with pytest.raises(RecordFault) as caught:
            any_journal.resume(turn)
        assert caught.value.code == code
    with pytest.raises(RecordFault, match="turn-missing"):
        any_journal.load("t2")
    with pytest.raises(RecordFault, match="turn-exists"):
        world.begin(any_journal, world.opened("t1", "read_a"), effects)
    for turn in ("", ".", "../x", "a/b", "a b", "è", "x" * 129):
        with pytest.raises(RecordFault, match="turn-id"):
            any_journal.begin(world.opened(turn))


def test_a_turn_starts_with_its_own_opening(any_journal, world):
    for wrong in (Cancelled(), world.opened("other")):
        writer = any_journal.begin(world.opened(f"t-{type(wrong).__name__}"))
        with pytest.raises(RecordFault, match="record-order"):
            writer.append(wrong, Reaction())
        writer.release()


def test_the_latest_turns_come_first(any_journal, world, effects):
    for number in range(5):
        world.begin(any_journal, world.opened(f"t{number}", "read_a", at=number), effects)
    assert [line.turn for line in any_journal.turns(2)] == ["t4", "t3"]
    assert [line.outcome for line in any_journal.turns(1)] == ["success"]
    assert any_journal.turns(0) == ()


# --- on disk -----------------------------------------------------------------------------------------------------


def commits(journal, monkeypatch):
    """Every statement of the connection, and every sync of the anchors, as they come."""
    seen: list[str] = []
    journal._database.connection().set_trace_callback(lambda sql: seen.append(sql.partition(" ")[0]))
    monkeypatch.setattr("os.fdatasync", lambda file: seen.append("fdatasync"))
    return seen


def count(seen):
    return seen.count("COMMIT"), seen.count("fdatasync")


def test_a_pure_turn_costs_one_commit_and_an_effect_two_and_a_sync(journal, world, effects, monkeypatch):
    world.begin(journal, world.opened("t0", "read_a"), effects)
    seen = commits(journal, monkeypatch)
    world.begin(journal, world.opened("t1", *["read_a"] * 10), effects)
    assert count(seen) == (1, 0)
    seen.clear()
    writer = journal.begin(world.opened("t2"))
    writer.append(world.opened("t2"), Reaction((), (start("1.1"),)))
    writer.append(StepStarted(step="1.1", operation="o", fence=1), Reaction(), durable=True, anchor=True)
    assert count(seen) == (1, 1)
    assert seen[-2:] == ["COMMIT", "fdatasync"]  # the anchor follows the commit
    writer.append(StepFinished(step="1.1", data=None), Reaction())
    writer.finish("closed")
    assert count(seen) == (2, 1)


def start(step: str, effect: str = "create") -> StartStep:
    return StartStep(
        step=step, operation="o", executor="x@1", args={}, digest=D, effect=effect, placement="inline", timeout_s=1.0
    )


@pytest.fixture
def writer(journal, world):
    made = journal.begin(world.opened("t1"))
    made.append(world.opened("t1"), Reaction((), (start("1.1"), start("1.2"), start("1.3.1"), start("1.3.2"))))
    return made


def ask(approval: str, step: str) -> AskApproval:
    return AskApproval(approval=approval, step=step, executor="x@1", action="create", reason="r", digest=D, expires=100)


def started(step: str, operation: str, fence: int = 1) -> StepStarted:
    return StepStarted(step=step, operation=operation, fence=fence)


def rows(journal, sql: str):
    return journal._database.connection().execute(sql).fetchall()


def test_an_operation_that_was_done_is_never_intended_again(journal, writer):
    writer.append(started("1.1", "o"), Reaction(), durable=True)
    assert rows(journal, "SELECT state FROM operation") == [("intent",)]
    writer.append(started("1.1", "o"), Reaction(), durable=True)  # the same again while nobody knows
    writer.append(StepFinished(step="1.1", data=1), Reaction(), durable=True)
    assert rows(journal, "SELECT id, state, intent_seq, outcome_seq FROM operation") == [("o", "done", 3, 4)]
    with pytest.raises(RecordFault, match="operation-done"):
        writer.append(started("1.2", "o"), Reaction(), durable=True)
    assert journal.load("t1").seq == 4
    with pytest.raises(RecordFault, match="writer-unusable"):
        writer.finish("closed")


def test_a_step_that_was_not_asked_for_cannot_start(writer):
    with pytest.raises(RecordFault, match="step-not-asked"):
        writer.append(started("9.9", "o"), Reaction())


def test_adopted_commands_can_start(journal, writer, effects):
    writer.append(Cancelled(), Reaction(), durable=True)
    writer.release()
    again, _log = journal.resume("t1")
    again.adopt([start("1.1")])
    again.append(started("1.1", "o", fence=2), Reaction(), durable=True)
    assert rows(journal, "SELECT fence FROM operation") == [(2,)]
    again.release()


def test_a_start_with_a_stale_fence_is_refused(writer):
    with pytest.raises(RecordFault, match="stale-fence"):
        writer.append(started("1.1", "o", fence=0), Reaction())


@pytest.mark.parametrize("act", ["append", "finish"])
def test_a_writer_that_was_overtaken_writes_nothing(journal, writer, act):
    """As if locks did not hold: the row was claimed by somebody else meanwhile."""
    writer.append(started("1.1", "o"), Reaction(), durable=True)
    journal._database.connection().execute("UPDATE turn SET fence = 2")
    finished = StepFinished(step="1.1", data=1)
    with pytest.raises(RecordFault, match="stale-fence"):
        writer.append(finished, Reaction(), durable=True) if act == "append" else writer.finish("closed")
    assert (journal.load("t1").seq, journal.load("t1").status) == (2, "open")
    assert rows(journal, "SELECT state FROM operation") == [("intent",)]


def test_an_approval_counts_once(journal, writer):
    writer.append(Cancelled(), Reaction((), (ask("a", "1.1"), ask("list", "1.3"), ask("b", "1.2"))), durable=True)
    given = ApprovalGiven(at=50, approval="a", digest=D)
    writer.append(given, Reaction(), durable=True)
    writer.append(started("1.1", "o1"), Reaction(), durable=True)
    writer.append(started("1.1", "o1"), Reaction(), durable=True)  # the same operation, after a crash
    writer.append(ApprovalGiven(at=50, approval="list", digest=D), Reaction(), durable=True)
    for number in (1, 2):
        writer.append(started(f"1.3.{number}", f"i{number}"), Reaction(), durable=True)
    writer.append(ApprovalRefused(approval="b"), Reaction(), durable=True)
    found = rows(journal, "SELECT approval, state, used_by FROM approval ORDER BY approval")
    assert found == [("a", "used", "o1"), ("b", "refused", None), ("list", "used", "i1")]
    with pytest.raises(RecordFault, match="approval-used"):
        writer.append(started("1.1", "o2"), Reaction(), durable=True)


@pytest.mark.parametrize("step", ["1.1", "1.2"])
def test_a_step_whose_approval_was_not_given_cannot_start(writer, step):
    writer.append(Cancelled(), Reaction((), (ask("a", "1.1"), ask("b", "1.2"))))
    writer.append(ApprovalGiven(at=101, approval="b", digest=D), Reaction())  # too late
    writer.append(ApprovalGiven(approval="a", digest="sha256:other"), Reaction())  # for something else
    with pytest.raises(RecordFault, match="approval-not-given"):
        writer.append(started(step, "o"), Reaction())


def test_an_approval_is_answered_once(writer):
    writer.append(Cancelled(), Reaction((), (ask("a", "1.1"),)))
    writer.append(ApprovalRefused(approval="a"), Reaction())
    with pytest.raises(RecordFault, match="approval-used"):
        writer.append(ApprovalGiven(approval="a", digest=D), Reaction())


def test_of_two_that_use_one_approval_at_once_one_wins(journal, writer, home):
    """The database decides where two writers both believe that it is theirs to use."""
    writer.append(Cancelled(), Reaction((), (ask("a", "1.1"),)))
    writer.append(ApprovalGiven(at=1, approval="a", digest=D), Reaction(), durable=True)
    writer.release()
    results = []
    one, _ = journal.resume("t1")
    other_journal = SqliteJournal(home)
    one._claim.release()  # as on a file system whose locks do not hold
    two, _ = other_journal.resume("t1")
    for name, each in (("one", one), ("two", two)):
        each.adopt([start("1.1")])
        try:
            each.append(started("1.1", name, fence=each.fence), Reaction(), durable=True, anchor=True)
            results.append(name)
        except RecordFault as fault:
            results.append(fault.code)
    assert results == ["stale-fence", "two"]
    assert rows(journal, "SELECT used_by FROM approval") == [("two",)]
    two.release()
    other_journal.close()


def test_a_ledger_that_says_more_than_the_records_is_found(journal, world, effects):
    world.begin(journal, world.opened("t1", "create_a", "ask_b"), effects, consent=False)
    connection = journal._database.connection()
    for change in (
        "UPDATE operation SET state = 'intent_', outcome_seq = 1",
        "UPDATE operation SET state = 'done', outcome_seq = 2",
        "UPDATE operation SET intent_seq = 1",
        "UPDATE operation SET id = 'x'",
        "UPDATE approval SET state = 'given', answered_seq = 2",
        "UPDATE approval SET state = 'yes'",
    ):
        connection.execute("BEGIN")
        connection.execute(change)
        connection.execute("COMMIT")
        assert journal.verify("t1").code == "ledger-mismatch", change
        with pytest.raises(RecordFault, match="ledger-mismatch"):
            journal.resume("t1")
        connection.execute("UPDATE operation SET state = 'done', outcome_seq = 5, intent_seq = 4")
        good = as_records(connection.execute("SELECT * FROM record ORDER BY seq").fetchall())
        intent = next(r for r in good if r.kind == "step_started")
        operation = msgspec.json.decode(intent.body)["operation"]
        connection.execute(
            "UPDATE operation SET id = ?, intent_seq = ?, outcome_seq = ?", (operation, intent.seq, intent.seq + 1)
        )
        connection.execute("UPDATE approval SET state = 'asked', answered_seq = NULL")
        assert journal.verify("t1").ok


def test_a_database_held_by_another_is_busy_and_nothing_is_lost_that_was_there(journal, writer, home, monkeypatch):
    writer.append(Cancelled(), Reaction(), durable=True)
    database = journal._database
    database.connection().execute("PRAGMA busy_timeout=1")
    other = database.driver.connect(str(home / "metnos.db"), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(RecordFault, match="record-busy"):
        writer.append(Cancelled(), Reaction(), durable=True)
    other.execute("ROLLBACK")
    other.close()
    again, log = journal.resume("t1")
    assert (log.seq, again.fence) == (2, 2)
    again.release()


def test_what_nobody_knows_is_unknown_until_it_is_probed(journal, writer):
    def states():
        return rows(journal, "SELECT id, state FROM operation ORDER BY id")

    writer.append(started("1.1", "a"), Reaction())
    writer.append(started("1.2", "b"), Reaction(), durable=True, anchor=True)
    failure = Failure(cls="crashed", code="worker-died")
    writer.append(StepFailed(step="1.1", error=failure), Reaction((StepUnknown(step="1.1", operation="a"),)))
    writer.append(StepStopped(step="1.2"), Reaction(), durable=True)
    assert states() == [("a", "unknown"), ("b", "stopped")]
    assert journal.verify("t1").ok
    writer.append(EffectProbed(step="1.1", found="unknown"), Reaction(), durable=True)
    assert states() == [("a", "unknown"), ("b", "stopped")]
    writer.append(EffectProbed(step="1.1", found="absent"), Reaction((), (start("1.1"),)), durable=True)
    assert states() == [("a", "absent"), ("b", "stopped")]
    writer.append(started("1.1", "a"), Reaction())
    writer.append(StepFailed(step="1.1", error=failure), Reaction(), durable=True)
    assert states() == [("a", "failed"), ("b", "stopped")]
    writer.append(EffectProbed(step="1.1", found="done"), Reaction(), durable=True)  # nothing is open: no row
    assert states() == [("a", "failed"), ("b", "stopped")]
    assert journal.verify("t1").ok


def test_reads_leave_no_row(journal, writer):
    writer.append(Cancelled(), Reaction((), (start("1.1", "read"),)))
    writer.append(started("1.1", "a", fence=0), Reaction())
    writer.append(StepFinished(step="1.1", data=1), Reaction(), durable=True)
    assert rows(journal, "SELECT * FROM operation") == []


def test_approvals_that_expire_and_those_nobody_asked_for(journal, writer):
    writer.append(Cancelled(), Reaction((), (ask("a", "1.1"), ask("b", "1.2"))))
    writer.append(ApprovalExpired(approval="a"), Reaction())
    writer.append(ApprovalRefused(approval="nobody"), Reaction())
    stranger = PolicyDecided(step="1.2", verdict=Deny("approval-stranger"), digest=D)
    writer.append(ApprovalGiven(at=1, approval="b", digest=D, by="stranger"), Reaction((stranger,)))
    writer.append(Cancelled(), Reaction((), (ask("b", "1.2"),)), durable=True)  # asked again after a resume
    assert rows(journal, "SELECT approval, state FROM approval ORDER BY approval") == [("a", "expired"), ("b", "asked")]
    assert journal.verify("t1").ok


def test_dialogs_are_answered_once(journal, writer):
    dialogs = tuple(OpenDialog(dialog=name) for name in ("a", "b", "c"))
    writer.append(Cancelled(), Reaction((), dialogs), durable=True)
    writer.append(DialogAnswered(dialog="a", answers={}), Reaction())
    writer.append(DialogAnswered(dialog="a", answers={}), Reaction())
    writer.append(DialogExpired(dialog="b"), Reaction(), durable=True)
    assert rows(journal, "SELECT dialog, state FROM dialog ORDER BY dialog") == [
        ("a", "answered"),
        ("b", "expired"),
        ("c", "asked"),
    ]
    writer.release()
    again, _log = journal.resume("t1")
    again.append(DialogAnswered(dialog="c", answers={}), Reaction(), durable=True)
    assert rows(journal, "SELECT state FROM dialog WHERE dialog = 'c'") == [("answered",)]
    again.release()


def test_nothing_appended_cannot_be_finished(journal, world):
    with pytest.raises(RecordFault, match="record-order"):
        journal.begin(world.opened("t9")).finish("closed")
