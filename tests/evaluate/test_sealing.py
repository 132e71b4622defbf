"""Sealed turns are the recorded ones, byte for byte; what was altered since is found; what was not closed stays out."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys

import duckdb
import msgspec
import pytest

from metnos.evaluate.collections import sealed, sealing
from metnos.evaluate.collections.model import Fault, Turn
from metnos.evaluate.collections.opening import open_collection
from metnos.evaluate.collections.sealing import seal
from metnos.evaluate.collections.turnlog import decode_turn, encode_turn
from metnos.evaluate.mapping.shards import map_shards
from metnos.evaluate.replaying.ground import Ground
from metnos.evaluate.replaying.many import Replay
from metnos.record.codec import encode
from metnos.record.faults import RecordFault
from metnos.record.verify import verify_log


def items(folder):
    return [item for shard in open_collection(folder).shards() for item in shard.read()]


@pytest.fixture
def out(tmp_path):
    return tmp_path / "sealed"


@pytest.fixture
def good(lines):
    """Name → turn of each recorded log that verifies and is closed."""
    turns = {name: decode_turn(line) for name, line in lines.items()}
    return {name: turn for name, turn in turns.items() if verify_log(turn.log).ok and turn.log.status == "closed"}


@pytest.fixture
def source(tmp_path, good):
    """Turns of ids of their own (unsigned), in two files, some with labels and one with odd texts."""
    folder = tmp_path / "turns"
    folder.mkdir()
    with (folder / "a.jsonl").open("wb") as file:
        for number, turn in enumerate(turn for name, turn in good.items() if not name.startswith("diverged")):
            file.write(encode_turn(turn.log, {"task": f'tàsk\\u0000 {number}\n"', "reward": 0.1} if number % 2 else {}))
            file.write(b"\n")
    return folder


@pytest.mark.parametrize("size", [1, 3, 2_000])
def test_every_turn_comes_back_as_it_was(source, out, size):
    told = seal(open_collection(source), out, size=size)
    before, after = items(source), items(out)
    assert (told.sealed, told.already, told.open, told.faults) == (len(before), 0, 0, [])
    assert [(turn.log, turn.labels) for turn in after] == [(turn.log, turn.labels) for turn in before]
    assert any(turn.log.blobs for turn in after)
    turns = open_collection(out)
    assert turns.weight() == len(before) == sum(shard.weight for shard in turns.shards())
    assert sorted(path.name for path in out.iterdir() if path.name.startswith(".")) == []


def test_what_is_open_or_does_not_verify_is_named_and_left_out(logs, out):
    told = seal(open_collection(logs), out)
    assert told.open == 1
    codes = ["log-cut-off", "record-altered"]  # and four are another turn of an id that is sealed
    assert sorted(fault.code for fault in told.faults) == [*codes, *["turn-exists"] * 4]
    assert told.already == 0
    left_out = {decode_turn((logs / f"{name}.jsonl").read_bytes()).log.turn for name in ("suspended",)}
    assert not left_out & {turn.log.turn for turn in items(out)}


def test_a_second_time_adds_what_is_new(source, good, out):
    seal(open_collection(source), out, size=3)
    (source / "b.jsonl").write_bytes(encode_turn(good["diverged-fact"].log).replace(b"20261130", b"20261129") + b"\n")
    first = (out / "turn-000001.parquet").read_bytes()
    again = seal(open_collection(source), out, size=3)
    assert (again.sealed, again.already) == (0, len(items(out)))  # another id, so the chain does not hold
    assert [fault.code for fault in again.faults] == ["record-altered"]
    assert (out / "turn-000001.parquet").read_bytes() == first


def test_replay_of_sealed_turns_is_that_of_the_lines(source, logs, out):
    seal(open_collection(source), out, size=3)
    job = Replay(Ground(open_collection(logs).contracts() or ()))
    plain, packed = (map_shards(job, open_collection(place), workers=1).partial for place in (source, out))
    assert (plain.turns, plain.identical, plain.records) == (packed.turns, packed.identical, packed.records)
    assert encode(map_shards(job, open_collection(out), workers=2).partial.groups) == encode(packed.groups)


def altered(out, column, change):
    """The record table of the first part, written anew with one value changed."""
    path = out / "record-000001.parquet"
    with duckdb.connect() as connection:
        changed = f'CASE WHEN seq = 2 THEN {change} ELSE "{column}" END AS "{column}"'
        rows = f"SELECT * REPLACE ({changed}) FROM '{path}'"
        connection.execute(f"COPY ({rows}) TO '{path}.new' (FORMAT parquet)")
    os.replace(f"{path}.new", path)


@pytest.mark.parametrize(
    ("column", "change"),
    [
        ("body", "replace(body, ':', ': ')"),
        ("at", '"at" + 1'),
        ("kind", "'step_failed'"),
        ("commands", "commands || '0'"),
    ],
)
def test_an_altered_record_is_found(source, out, column, change):
    seal(open_collection(source), out)
    assert all(verify_log(turn.log).ok for turn in items(out))
    altered(out, column, change)
    found = [verify_log(turn.log) for turn in items(out)]
    assert {one.code for one in found} == {"record-altered"}


def test_a_turn_or_record_that_is_gone_is_found(source, out):
    seal(open_collection(source), out)
    count = len(items(out))
    for table, where in (("record", "seq <> 2"), ("turn", "outcome = 'success'")):
        path = out / f"{table}-000001.parquet"
        whole = path.read_bytes()
        with duckdb.connect() as connection:
            connection.execute(f"COPY (SELECT * FROM '{path}' WHERE {where}) TO '{path}.new' (FORMAT parquet)")
        os.replace(f"{path}.new", path)
        found = items(out)
        assert any(isinstance(item, Fault) for item in found), table
        path.write_bytes(whole)
    assert len(items(out)) == count


@pytest.mark.parametrize("damage", ["gone", "cut", "noise"])
def test_a_damaged_file_is_a_fault_and_the_other_parts_are_read(source, out, damage):
    seal(open_collection(source), out, size=3)
    path = out / "record-000002.parquet"
    data = path.read_bytes()
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(data[: len(data) // 2] if damage == "cut" else os.urandom(len(data)))
    found = items(out)
    assert [item.code for item in found if isinstance(item, Fault)] == ["turnlog-malformed"]
    assert sum(isinstance(item, Turn) for item in found) >= 3


def test_a_part_that_does_not_give_its_turns_again_does_not_count(source, out, monkeypatch):
    made = itertools.count()
    monkeypatch.setattr(sealing, "encode_turn", lambda *given: str(next(made)).encode())
    with pytest.raises(RecordFault, match="seal-differs"):
        seal(open_collection(source), out)
    assert not (out / sealed.NAME).exists()


def test_a_process_killed_at_it_leaves_parts_that_count_and_the_next_goes_on(tmp_path, source, out, root):
    program = (
        "import os, signal\n"
        "from pathlib import Path\n"
        "from metnos.evaluate.collections import sealing\n"
        "from metnos.evaluate.collections.opening import open_collection\n"
        "sync, seen = sealing._sync, []\n"
        "def dying(path):\n"
        "    seen.append(path)\n"
        "    if len(seen) > 2:\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "    sync(path)\n"
        "sealing._sync = dying\n"
        f"sealing.seal(open_collection({str(source)!r}), Path({str(out)!r}), size=2)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=root, check=False)
    assert done.returncode == -signal.SIGKILL
    kept = len(items(out))
    assert kept == 2
    told = seal(open_collection(source), out, size=2)
    assert (told.already, told.sealed) == (2, len(items(source)) - 2)
    assert [turn.log for turn in items(out)] == [turn.log for turn in items(source)]


def test_without_duckdb_the_line_that_installs_it_is_told(source, out, monkeypatch):
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(RecordFault) as raised:
        seal(open_collection(source), out)
    assert (raised.value.code, raised.value.hint) == ("extra-missing", "pip install 'metnos[evaluate]'")


@pytest.mark.parametrize("text", [b"{}", b"no json", b'{"form":"metnos.seal/9","parts":[]}'])
def test_a_folder_that_says_it_is_sealed_and_is_not_is_refused(tmp_path, text):
    (tmp_path / "seal.json").write_bytes(text)
    with pytest.raises(RecordFault, match="collection-missing"):
        open_collection(tmp_path)


def test_the_tables_can_be_queried(source, out):
    seal(open_collection(source), out, size=3)
    with duckdb.connect() as connection:
        rows = connection.execute(
            f"SELECT outcome, count(*) FROM '{out}/turn-*.parquet' GROUP BY outcome ORDER BY outcome"
        ).fetchall()
    outcomes = [msgspec.json.decode(turn.log.records[-1].body).get("outcome") for turn in items(out)]
    assert sum(count for _, count in rows) == len(outcomes)
    assert {outcome for outcome, _ in rows} >= {"success", "error"}


def test_a_home_is_sealed_by_a_command_and_replayed_from_there(tmp_path, out):
    from tests.support.terminal import Metnos

    here = tmp_path / "here"
    here.mkdir()
    metnos = Metnos(here, tmp_path / "home")
    assert metnos("ask", "the three largest files here").status == 0
    first = metnos("log", "seal", str(out))
    assert (first.status, first.out.split()[0]) == (0, "1"), first.err
    assert metnos("log", "seal", str(out), "--json").json == {
        "folder": str(out),
        "sealed": 0,
        "already": 1,
        "open": 0,
        "left_out": [],
        "forgotten": 0,
    }
    again = metnos("replay", str(out), "--workers", "1")
    assert (again.status, again.out.strip()) == (0, "1 turns replayed: 1 identical, 0 diverged, 0 broken.")


def test_what_lies_beside_turns_is_sealed_with_them_and_other_contracts_are_refused(tmp_path, source, out):
    from tests.support.trajectories import imported, lines, tau

    lines(tmp_path / "runs.jsonl", tau())
    imported("tau", tmp_path / "runs.jsonl", tmp_path / "one")
    one = tmp_path / "one"
    for _ in range(2):  # the second time nothing is added
        seal(open_collection(one), out)
        for name in ("contracts.json", "labels.ndjson"):
            assert (out / name).read_bytes() == (one / name).read_bytes()
    seal(open_collection(source), tmp_path / "here")
    ground = Ground(open_collection(out).contracts(), ())
    assert map_shards(Replay(ground), open_collection(out)).partial.identical == 1
    with pytest.raises(RecordFault, match="contracts-differ"):
        seal(open_collection(source), out)
    with pytest.raises(RecordFault, match="contracts-differ"):
        seal(open_collection(one), tmp_path / "here")
    assert len(items(out)) == 1
