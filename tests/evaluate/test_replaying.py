"""Many turns replayed: counted exactly, grouped by their first cause, named; nothing is ever run."""

from __future__ import annotations

import msgspec
import pytest

from metnos.contracts.model import EffectRule
from metnos.evaluate.collections.model import Turn
from metnos.evaluate.collections.opening import open_collection
from metnos.evaluate.collections.turnlog import decode_turn, encode_turn
from metnos.evaluate.mapping.shards import map_shards
from metnos.evaluate.replaying.cause import Cause
from metnos.evaluate.replaying.ground import Ground
from metnos.evaluate.replaying.many import Replay, Replayed
from metnos.record.codec import encode
from tests.record.test_old_logs import EXPECTED


def replayed(folder, workers=1, change=lambda contract: contract):
    turns = open_collection(folder)
    contracts = turns.contracts()
    assert contracts
    return map_shards(Replay(Ground(map(change, contracts))), turns, workers=workers)


def test_each_turn_says_what_it_says_alone(logs):
    sums = replayed(logs).partial
    expected = [status for status, _, _ in EXPECTED.values()]
    assert (sums.identical, sums.diverged, sums.broken) == tuple(
        map(expected.count, ("identical", "diverged", "broken"))
    )
    assert sums.turns == len(EXPECTED)
    assert sorted((cause.status, cause.kind, cause.tool) for cause in sums.causes) == [
        ("broken", "log-cut-off", ""),
        ("broken", "record-altered", ""),
        ("diverged", "commands", ""),
        ("diverged", "policy_decided", "write_files"),
        ("diverged", "step_finished", ""),
        ("diverged", "turn_closed", ""),
    ]
    (policy,) = (cause for cause in sums.causes if cause.kind == "policy_decided")
    assert (policy.recorded, policy.computed) == ("policy_decided deny", "policy_decided ask")


def test_processes_give_the_same_bytes(logs):
    assert encode(replayed(logs, 2).partial.groups) == encode(replayed(logs, 1).partial.groups)


def test_a_change_has_one_cause_however_many_turns_it_touches(logs):
    """A tool that only read now deletes: each turn with it is asked about where it was not."""

    def dearer(contract):
        deletes = (EffectRule(effect="delete"),)
        return msgspec.structs.replace(contract, effects=deletes) if contract.name == "find_files" else contract

    sums = replayed(logs, change=dearer).partial
    before = replayed(logs).partial
    new = {cause: group for cause, group in sums.groups if cause not in before.causes}
    assert sum(group.count for group in new.values()) >= 4
    assert all(cause.status == "diverged" for cause in new)
    assert any(cause.tool == "find_files" or cause.computed for cause in new)
    assert sums.identical == before.identical - sum(group.count for cause, group in new.items()) + sum(
        group.count for cause, group in before.causes.items() if cause not in sums.causes
    )


def test_what_is_asked_for_and_not_recorded_is_named_and_nobody_is_called(logs, lines):
    """The request is another one in the log: a fresh machine looks up another plan than it did."""
    turn = decode_turn(lines["diverged-commands"])
    sums = Replay(Ground(open_collection(logs).contracts() or ()))([turn])
    ((cause, group),) = sums.groups
    assert (cause.kind, cause.computed) == ("commands", "look_up_plan")
    assert group.examples[0].turn == turn.log.turn


def test_sums_of_parts_are_the_sums_of_all(lines, logs):
    job = Replay(Ground(open_collection(logs).contracts() or ()))
    turns = [decode_turn(line, name) for name, line in lines.items()]
    whole = job(turns)
    for cut in range(len(turns)):
        left, right = job(turns[:cut]), job(turns[cut:])
        right.merge(left)
        assert encode(right.groups) == encode(whole.groups)
        assert (right.turns, right.records) == (whole.turns, whole.records)
    many = job(turns * 3)
    assert all(group.count == 3 * whole.causes[cause].count for cause, group in many.causes.items())
    assert all(len(group.examples) <= 5 for group in many.causes.values())


def test_a_turn_that_breaks_the_replay_itself_is_named_and_the_run_goes_on(lines, logs):
    good = decode_turn(lines["failed"])
    odd = Turn(log=msgspec.structs.replace(good.log, records=(None,)), where="odd")
    sums = Replay(Ground(open_collection(logs).contracts() or ()))([odd, good])
    assert (sums.turns, sums.identical, sums.broken) == (2, 1, 1)
    assert [cause.kind for cause in sums.causes] == ["bug"]


def test_no_turns_give_sums_that_change_none(logs):
    assert Replay(Ground(()))([]) == Replayed()


def test_the_rules_it_was_recorded_under_are_part_of_the_cause(logs, lines):
    sums = replayed(logs).partial
    assert {cause.rules != "" for cause in sums.causes if cause.status == "diverged"} == {True}


# --- as a command --------------------------------------------------------------------------------------------------


@pytest.fixture
def metnos(tmp_path):
    from tests.support.terminal import Metnos

    here = tmp_path / "here"
    here.mkdir()
    return Metnos(here, tmp_path / "home")


def test_a_folder_a_stream_and_a_home_are_told_of_by_cause(metnos, logs, lines, tmp_path):
    good = tmp_path / "good"
    good.mkdir()
    (good / "contracts.json").write_bytes((logs / "contracts.json").read_bytes())
    text = lines["failed"] + lines["template"]
    (good / "turns.jsonl").write_bytes(text)
    whole = metnos("replay", str(good), "--workers", "1")
    assert (whole.status, whole.out.strip()) == (0, "2 turns replayed: 2 identical, 0 diverged, 0 broken.")
    (good / "turns.jsonl").write_bytes(text + lines["diverged-fact"] + b"no turn\n")
    some = metnos("replay", str(good), "--workers", "2")
    assert some.status == 1
    assert "2 identical, 1 diverged" in some.out
    assert "diverged turn_closed" in some.out
    assert f"{good}/turns.jsonl:4: turnlog-malformed" in some.out
    found = metnos("replay", str(logs), "--workers", "1", "--json")
    assert found.status == 4
    assert (found.json["turns"], found.json["broken"], found.json["unread"]["count"]) == (16, 2, 0)
    assert found.json["causes"][0]["examples"][0]["turn"]
    nothing = metnos("replay", str(tmp_path / "gone") + "/")
    assert (nothing.status, "collection-missing" in nothing.err) == (2, True)


def test_a_stream_and_a_whole_home_are_replayed_under_this_installation(metnos):
    for word in ("largest", "smallest"):
        assert metnos("ask", f"the three {word} files here").status == 0
    home = metnos("replay", "all")
    assert (home.status, home.out.strip()) == (0, "2 turns replayed: 2 identical, 0 diverged, 0 broken.")
    turns = [item for shard in open_collection(metnos.home).shards() for item in shard.read()]
    stream = b"".join(encode_turn(turn.log) + b"\n" for turn in turns)
    said = metnos("replay", "-", "--json", given=stream)
    assert (said.status, said.json["identical"], said.json["collection"]) == (0, 2, "-")


def test_labels_do_not_count_and_an_encoded_turn_replays(lines, logs):
    turn = decode_turn(encode_turn(decode_turn(lines["resumed"]).log, {"task": "a"}))
    assert Replay(Ground(open_collection(logs).contracts() or ()))([turn]).identical == 1
    assert Cause("broken", "x") < Cause("diverged", "a")
