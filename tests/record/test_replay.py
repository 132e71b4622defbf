from __future__ import annotations

import msgspec
import pytest

from metnos.policy.model import Deny
from metnos.record import chain, codec
from metnos.record.memory import MemoryJournal
from metnos.record.recorder import Recorder
from metnos.record.replay import fold, replay
from metnos.record.verify import verify_log
from metnos.turn.facts import StepSkipped, TurnClosed
from metnos.turn.inputs import AnswerComposed, StepFinished
from metnos.turn.rules import Reaction

TOOLS = ("read_a", "create_b", "ask_c", "big_d")


@pytest.fixture
def log(world, effects):
    journal = MemoryJournal()
    world.begin(journal, world.opened("t1", *TOOLS), effects)
    return journal.load("t1")


def test_a_recorded_turn_replays_identical(log, world):
    result = replay(log, world.RULES)
    assert (result.status, result.records, result.seq, result.detail) == ("identical", log.seq, 0, "")
    assert replay(log, world.RULES) == result


def test_a_turn_that_was_resumed_and_one_that_was_broken_off_replay_too(world, journal, effects):
    world.begin(journal, world.opened("t1", "create_a", "ask_b"), effects, consent=False)
    assert replay(journal.load("t1"), world.RULES).status == "identical"
    world.resume(journal, "t1", effects)
    assert replay(journal.load("t1"), world.RULES).status == "identical"


def again(log, change):
    """The log with its records made anew, whole and unsigned, after `change(position, item)` of every input."""
    recorder = Recorder(log.turn)
    made_rows, blobs = [], {}
    groups: list[list] = []
    for record in log.records:
        if record.kind in codec.INPUT_KINDS:
            groups.append([record])
        else:
            groups[-1].append(record)
    for position, (head, *rest) in enumerate(groups):
        item = codec.decode_input(head.body, codec.fetch_from(log.blobs))
        item, facts = change(position, item, [codec.decode_fact(record.body) for record in rest])
        recorder.add(item, Reaction(tuple(facts)))
        rows = recorder.rows
        seq, _kind, prev = rows[0][1], rows[0][2], rows[0][5]
        # the commands digest as it was recorded, since the commands themselves are not
        for offset, row in enumerate(rows):
            commands = head.commands if offset == 0 else ""
            made = chain.record_hash(log.turn, seq + offset, row[2], row[3], row[4], prev, commands)
            rows[offset] = (*row[:5], prev, made, commands)
            prev = made
        made_rows += rows
        blobs |= recorder.blobs
        recorder = Recorder(log.turn, recorder.seq, prev)
    made = msgspec.structs.replace(
        log,
        records=chain.as_records(made_rows),
        seq=recorder.seq,
        blobs=blobs,
        head=msgspec.structs.replace(log.head, seq=recorder.seq, hash=recorder.hash),
    )
    assert verify_log(made).ok
    return made


def test_making_a_log_anew_changes_nothing(log, world):
    assert again(log, lambda position, item, facts: (item, facts)) == log


def at(log, kind, step=""):
    return next(
        record.seq for record in log.records if record.kind == kind and (not step or step.encode() in record.body)
    )


def test_another_fact_is_named_with_both(log, world):
    def change(position, item, facts):
        return item, [
            msgspec.structs.replace(fact, detail="forged") if type(fact) is TurnClosed else fact for fact in facts
        ]

    result = replay(again(log, change), world.RULES)
    assert (result.status, result.seq, result.kind) == ("diverged", at(log, "turn_closed"), "turn_closed")
    assert "forged" in result.recorded
    assert "forged" not in result.computed
    assert result.records == at(log, "turn_closed") - 2


def test_a_fact_too_many_and_one_too_few_are_named(log, world):
    extra = StepSkipped(step="1.9", reason="forged")
    more = replay(again(log, lambda p, item, facts: (item, [*facts, extra] if p == 1 else facts)), world.RULES)
    assert (more.status, more.kind, more.computed) == ("diverged", "step_skipped", "")
    assert "forged" in more.recorded
    fewer = replay(again(log, lambda p, item, facts: (item, facts[:-1] if p == 0 else facts)), world.RULES)
    assert (fewer.status, fewer.recorded) == ("diverged", "")
    assert fewer.seq == len([r for r in log.records if r.seq <= at(log, "step_started") - 1])


def test_an_input_that_the_machine_refuses_is_named(log, world):
    def change(position, item, facts):
        return (msgspec.structs.replace(item, step="7.7") if type(item) is StepFinished else item), facts

    result = replay(again(log, change), world.RULES)
    assert (result.status, result.kind, result.seq) == ("diverged", "step_finished", at(log, "step_finished"))
    assert "ProtocolError" in result.detail


def test_other_commands_are_named_by_their_digest(log, world):
    def change(position, item, facts):
        return (msgspec.structs.replace(item, text="other") if type(item) is AnswerComposed else item), facts

    result = replay(again(log, change), world.RULES)
    assert (result.status, result.kind, result.seq) == ("diverged", "commands", at(log, "answer_composed"))
    assert result.recorded.startswith("sha256:")
    assert result.computed.startswith("sha256:")
    assert "close" in result.detail


def test_other_rules_diverge_where_they_decide_otherwise_and_say_which(log, world):
    rules = msgspec.structs.replace(world.RULES, policy=lambda question: Deny("no"), digest="sha256:others")
    result = replay(log, rules)
    assert (result.status, result.seq, result.kind) == ("diverged", at(log, "policy_decided"), "policy_decided")
    assert "recorded under rules sha256:rules, replayed under sha256:others" in result.detail

    def explode(question):
        raise ZeroDivisionError("a bug in a rule")

    broken = replay(log, msgspec.structs.replace(world.RULES, policy=explode))
    assert (broken.status, broken.seq) == ("diverged", 1)
    assert "ZeroDivisionError" in broken.detail


def rehashed(log, seq, **changes):
    """One record changed and the chain made right again."""
    prev, made = chain.first(log.turn), []
    for record in log.records:
        record = msgspec.structs.replace(record, prev=prev, **(changes if record.seq == seq else {}))
        record = msgspec.structs.replace(record, hash=chain.recompute(record))
        made.append(record)
        prev = record.hash
    return msgspec.structs.replace(log, records=tuple(made), head=msgspec.structs.replace(log.head, hash=prev))


def test_what_this_version_cannot_read_is_broken_and_never_raises(log, world):
    place, fact = at(log, "step_finished"), at(log, "policy_decided")
    body = log.records[place - 1].body
    for number, changes in (
        (place, {"body": body[:-1] + b',"zzz":1}'}),
        (place, {"body": b"\xff"}),
        (place, {"kind": "cancelled"}),
        (place, {"at": 77}),
        (fact, {"body": b"{}"}),
        (1, {"kind": "turn_closed"}),
    ):
        result = replay(rehashed(log, number, **changes), world.RULES)
        assert (result.status, result.kind, result.seq) == ("broken", "record-malformed", number), changes


def test_fold_gives_the_inputs_with_their_data(log):
    items = fold(log)
    assert [codec.KIND_OF[type(item)] for item in items] == [r.kind for r in log.records if r.kind in codec.INPUT_KINDS]
    assert any(isinstance(item, StepFinished) and len(item.data.get("text", "")) == 20_000 for item in items)


def test_another_machine_can_be_tried(log, world):
    class Silent:
        def __init__(self, rules):
            pass

        def receive(self, item):
            return Reaction()

    result = replay(log, world.RULES, machine=Silent)
    assert (result.status, result.seq, result.computed) == ("diverged", 2, "")
