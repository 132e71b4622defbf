"""Turns wherever they lie: every one is read once, in order, and what is no turn is a fault with its place."""

from __future__ import annotations

import gzip
import io
import json
import os
import threading

import msgspec
import pytest

from metnos import Engine, executor
from metnos.evaluate.collections import jsonl
from metnos.evaluate.collections.model import Fault, Turn
from metnos.evaluate.collections.opening import open_collection
from metnos.evaluate.collections.turnlog import decode_turn, encode_turn
from metnos.record.anchor import AnchorFile
from metnos.record.faults import RecordFault
from metnos.record.model import Anchor
from metnos.record.sqlite import SqliteJournal
from metnos.record.verify import verify_log


def items(collection):
    return [item for shard in collection.shards() for item in shard.read()]


def places(collection):
    return [item.where if isinstance(item, Turn) else (item.where, item.code) for item in items(collection)]


def test_a_folder_is_its_files_in_order_with_the_contracts_beside(logs, lines):
    turns = open_collection(logs)
    assert [item.where for item in items(turns)] == [f"{logs}/{name}.jsonl:1" for name in sorted(lines)]
    assert turns.weight() == sum(map(len, lines.values()))
    assert sum(shard.weight for shard in turns.shards()) == turns.weight()
    contracts = turns.contracts()
    assert contracts is not None
    assert "find_files" in {one.name for one in contracts}


@pytest.mark.parametrize("part", [1, 5_000, 30_000, 10**9])
@pytest.mark.parametrize("block", [700, 8_000, 10**7])
def test_a_file_is_cut_behind_line_ends_and_every_line_is_read_once(tmp_path, lines, monkeypatch, part, block):
    monkeypatch.setattr(jsonl, "PART_BYTES", part)
    monkeypatch.setattr(jsonl, "_BLOCK", block)
    good = [lines[name] for name in sorted(lines)]
    text = b"\n".join([b"".join(good[:4]), b"", b"no turn", b"".join(good[4:])])[:-1]  # the last line has no end
    path = tmp_path / "turns.jsonl"
    path.write_bytes(text)
    turns = open_collection(path)
    shards = list(turns.shards())
    assert sum(shard.weight for shard in shards) == len(text)
    assert all(shard.start == 0 or text[shard.start - 1 : shard.start] == b"\n" for shard in shards)
    expected = [f"{path}:{n}" for n in range(1, 5)] + [(f"{path}:7", "turnlog-malformed")]
    expected += [f"{path}:{n}" for n in range(8, 8 + len(good) - 4)]
    assert places(turns) == expected
    assert places(jsonl.Stream(io.BytesIO(text), str(path))) == expected
    packed = tmp_path / "turns.jsonl.gz"
    packed.write_bytes(gzip.compress(text))
    assert [str(one).replace(".gz", "") for one in places(open_collection(packed))] == [str(one) for one in expected]


def test_a_stream_is_handed_out_in_parts_before_it_ends(lines, monkeypatch):
    monkeypatch.setattr(jsonl, "STREAM_BYTES", 100)
    read_end, write_end = os.pipe()
    with os.fdopen(read_end, "rb") as reader, os.fdopen(write_end, "wb", buffering=0) as writer:
        shards = open_collection("-", reader).shards()
        threading.Thread(target=writer.write, args=(lines["rejected"],)).start()
        first = next(shards)  # the other end is open still
        assert [item.log.turn for item in first.read()] == [decode_turn(lines["rejected"]).log.turn]
        threading.Thread(target=lambda: (writer.write(lines["failed"]), writer.close())).start()
        assert [item.where for shard in shards for item in shard.read()] == ["-:2"]


@pytest.mark.parametrize(
    "change",
    [
        lambda line: line[:100],
        lambda line: b"\xff" + line,
        lambda line: line.replace(b"turnlog/1", b"turnlog/9"),
        lambda line: line.replace(b'"form"', b'"from"'),
        lambda line: line.replace(b'"form"', b'"extra":1,"form"'),
        lambda line: line.replace(b"[1,", b'["1",', 1),
        lambda line: b"[" * 5_000,
        lambda line: b"null",
        lambda line: b"0" * 5_000,
    ],
    ids=["cut", "not-text", "other-form", "no-form", "unknown-field", "number-as-text", "deep", "null", "number"],
)
def test_what_is_no_turn_is_a_fault_with_its_place(tmp_path, lines, change):
    path = tmp_path / "t.jsonl"
    path.write_bytes(lines["failed"] + change(lines["failed"].strip()) + b"\n" + lines["suspended"])
    assert places(open_collection(path)) == [f"{path}:1", (f"{path}:2", "turnlog-malformed"), f"{path}:3"]


def test_a_line_without_an_end_is_passed_over_and_not_held(tmp_path, lines, monkeypatch):
    monkeypatch.setattr(jsonl, "MOST_LINE_BYTES", 30_000)
    path = tmp_path / "t.jsonl"
    path.write_bytes(lines["failed"] + b"x" * 100_000 + b"\n" + lines["suspended"])
    expected = [f"{path}:1", (f"{path}:2", "turnlog-malformed"), f"{path}:3"]
    assert places(open_collection(path)) == expected
    assert places(jsonl.Stream(io.BytesIO(path.read_bytes()), str(path))) == expected


def test_a_damaged_packed_file_gives_what_came_before_and_a_fault(tmp_path, lines):
    path = tmp_path / "t.jsonl.gz"
    noise = b"".join(os.urandom(8_000).hex().encode() + b"\n" for _ in range(20))
    path.write_bytes(gzip.compress(lines["failed"] + noise)[:-9_000])
    found = items(open_collection(path))
    assert isinstance(found[0], Turn)
    assert isinstance(found[-1], Fault)
    assert "damaged" in found[-1].detail


def test_a_line_says_everything_again_and_keeps_labels(template):
    line = encode_turn(template, {"task": "7", "reward": 0.5})
    read = decode_turn(line)
    assert (read.log, read.labels) == (template, {"task": "7", "reward": 0.5})
    assert verify_log(read.log).ok


def test_a_line_without_hashes_verifies_against_the_signed_head(template):
    plain = json.loads(encode_turn(template))
    plain["records"] = [[seq, kind, at, body, commands] for seq, kind, at, body, commands, *_ in plain["records"]]
    assert decode_turn(json.dumps(plain)).log == template
    plain["records"][3][3] = plain["records"][3][3].replace(":", ": ", 1)
    found = verify_log(decode_turn(json.dumps(plain)).log)
    assert (found.ok, found.code) == (False, "head-mismatch")


def test_bytes_that_are_no_text_have_no_line(template):
    record = msgspec.structs.replace(template.records[0], body=b"\xff")
    with pytest.raises(RecordFault, match="record-malformed"):
        encode_turn(msgspec.structs.replace(template, records=(record,)))


@executor(version="1.0.0", effect="read", description="Twice as much.", resources=())
def double(n: int) -> int:
    """Twice as much."""
    return 2 * n


PLAN = {"steps": [{"tool": "double", "args": {"n": 4}}, {"tool": "final_answer", "args": {"data": "${step1}"}}]}


def test_a_home_is_its_turns_oldest_first(tmp_path, monkeypatch):
    from metnos.evaluate.collections import journal

    monkeypatch.setattr(journal, "PART_TURNS", 2)
    home = tmp_path / "home"
    with Engine.open(home=home, folder=tmp_path, executors=[double], shipped=False) as engine:
        made = sorted(engine.run_sync(plan=PLAN).turn for _ in range(5))
        turns = open_collection(home)
        assert places(turns) == [f"{home}:{turn}" for turn in made]
        assert [len(shard.turns) for shard in turns.shards()] == [2, 2, 1]
        assert (turns.weight(), turns.contracts()) == (5, None)
        assert all(verify_log(item.log).ok for item in items(turns))
        assert [item.log for item in items(turns)] == [engine.parts.journal.load(turn) for turn in made]
        named = journal.JournalTurns(home, (made[3], "20200101-000000-00000000"))
        assert places(named) == [f"{home}:{made[3]}", (f"{home}:20200101-000000-00000000", "turn-missing")]


def test_anchors_read_once_say_what_each_says_alone(tmp_path):
    file = AnchorFile(tmp_path / "anchors.log")
    for number in range(6):
        file.add(Anchor(f"t{number % 3}", number, f"sha256:{number:064x}"), sync=False)
    index = file.index()
    assert [index.latest(f"t{n}") for n in range(4)] == [file.latest(f"t{n}") for n in range(4)]
    assert file.index() is index
    file.add(Anchor("t0", 9, f"sha256:{9:064x}"), sync=False)
    assert file.index().latest("t0") == file.latest("t0") == Anchor("t0", 9, f"sha256:{9:064x}")
    path = tmp_path / "anchors.log"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:5], b"no anchor\n", *lines[5:]]))
    changed = file.index()
    for turn in ("t0", "t1", "t2", "t7"):  # what stands behind the bad line is known, what may be hidden by it is not
        outcomes = []
        for source in (changed, file):
            try:
                outcomes.append(source.latest(turn))
            except RecordFault as fault:
                outcomes.append((fault.code, fault.turn))
        assert outcomes[0] == outcomes[1]
    file.close()


@pytest.mark.parametrize("place", ["gone", "empty", "-"])
def test_a_place_without_turns_is_a_fault_of_the_caller(tmp_path, place):
    (tmp_path / "empty").mkdir()
    with pytest.raises(RecordFault, match="collection-missing"):
        open_collection(place if place == "-" else tmp_path / place)


def test_a_file_that_goes_away_is_a_fault_of_its_part(tmp_path, lines):
    for name in ("a", "b"):
        (tmp_path / f"{name}.jsonl").write_bytes(lines["failed"])
    turns = open_collection(tmp_path)
    (tmp_path / "a.jsonl").unlink()
    os.mkfifo(tmp_path / "a.jsonl")  # nobody waits for a writer
    first, second = turns.shards()
    with pytest.raises(OSError, match="not a plain file"):
        list(first.read())
    assert len(list(second.read())) == 1


def test_a_home_without_a_journal_that_can_be_read_is_a_fault(tmp_path):
    (tmp_path / "metnos.db").write_bytes(b"no database" * 1_000)
    with pytest.raises(RecordFault, match="record-s"):
        items(open_collection(tmp_path))
    assert SqliteJournal(tmp_path / "other").count() == 0


@pytest.mark.parametrize("part", [1, 4 * 1024 * 1024])
@pytest.mark.parametrize("how", ["file", "folder", "stream", "packed"])
def test_the_same_line_twice_is_one_turn_and_named(tmp_path, lines, monkeypatch, how, part):
    monkeypatch.setattr(jsonl, "PART_BYTES", part)
    monkeypatch.setattr(jsonl, "STREAM_BYTES", part)
    one, other = sorted(lines.values())[:2]
    text = b"\n".join((one.strip(), other.strip(), b"", one.strip(), b"no turn", b"no turn"))
    place = tmp_path / "turns"
    place.mkdir()
    if how == "packed":
        (place / "a.jsonl.gz").write_bytes(gzip.compress(text))
    elif how == "folder":
        (place / "a.jsonl").write_bytes(one)
        (place / "b.jsonl").write_bytes(text)
    else:
        (place / "a.jsonl").write_bytes(text)
    turns = open_collection("-", io.BytesIO(text)) if how == "stream" else open_collection(place)
    found = [item for shard in turns.shards() for item in shard.read()]
    told = [(item.where.rpartition("/")[2], item.code) for item in found if isinstance(item, Fault)]
    name = {"stream": "-", "folder": "b.jsonl", "packed": "a.jsonl.gz"}.get(how, "a.jsonl")
    again = [1, 4] if how == "folder" else [4]
    assert told == [
        *((f"{name}:{n}", "turn-exists") for n in again),
        *((f"{name}:{n}", "turnlog-malformed") for n in (5, 6)),
    ]
    assert len(found) - len(told) == 2
