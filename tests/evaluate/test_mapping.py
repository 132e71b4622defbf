"""A job over a collection: the same figures whoever does it, and whatever happens to who does it."""

from __future__ import annotations

import itertools
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest

from metnos.evaluate.collections import jsonl
from metnos.evaluate.collections.model import Fault
from metnos.evaluate.collections.opening import open_collection
from metnos.evaluate.collections.turnlog import decode_turn
from metnos.evaluate.mapping.handing import JobFailed
from metnos.evaluate.mapping.model import NAMED, Done, Faults, Mapped, empty, take
from metnos.evaluate.mapping.shards import map_shards
from metnos.record.codec import encode
from tests.support.jobs import Counted, Dies, count, fail


class Told:
    """Progress, kept."""

    def __init__(self):
        self.weight, self.done, self.turns, self.gone = -1, 0, 0, []

    def begin(self, weight):
        self.weight = weight

    def advance(self, weight, turns):
        self.done += weight
        self.turns += turns

    def lost(self, lost):
        self.gone.append(lost)


@pytest.fixture
def many(tmp_path, lines, monkeypatch):
    """Sixteen logs and some faults in several files, in some parts."""
    monkeypatch.setattr(jsonl, "PART_BYTES", 20_000)
    folder = tmp_path / "turns"
    folder.mkdir()
    names = sorted(lines)
    for number, some in enumerate((names[:7], names[7:8], names[8:])):
        text = b"".join(lines[name] for name in some) + b"no turn\n" * number
        (folder / f"{number}.jsonl").write_bytes(text)
    return folder


def test_processes_give_what_one_gives_and_tell_how_far_they_are(many):
    turns = open_collection(many)
    assert len(list(turns.shards())) > 4
    one, two = Told(), Told()
    alone = map_shards(count, turns, workers=1, progress=one)
    together = map_shards(count, turns, workers=2, progress=two)
    assert encode(alone) == encode(together)
    assert (alone.turns, alone.faults.counts) == (16, {"turnlog-malformed": 3})
    assert [fault.where for fault in alone.faults.named] == [
        f"{many}/1.jsonl:2",
        f"{many}/2.jsonl:9",
        f"{many}/2.jsonl:10",
    ]
    for told in (one, two):
        assert (told.weight, told.turns, told.gone) == (told.done, 16, [])


def test_parts_can_be_merged_in_any_order():
    rng = random.Random(5)
    parts = [
        Done(
            Counted({f"s{n % 3}": n}, n * 7 % 11),
            n,
            Faults({f"c{n % 4}": 1}, [Fault(where=f"f:{n}", code=f"c{n % 4}")]),
        )
        for n in range(1, 40)
    ]
    results = set()
    for _ in range(20):
        rng.shuffle(parts)
        mapped: Mapped[Counted] = empty(count)
        for part in msgspec.msgpack.decode(msgspec.msgpack.encode(parts), type=list[Done[Counted]]):
            take(mapped, part)
        results.add(encode(mapped))
        assert [fault.where for fault in mapped.faults.named] == [f"f:{n}" for n in range(1, NAMED + 1)]
    assert len(results) == 1


def test_a_killed_worker_is_named_and_its_part_done_once_more(many, tmp_path, lines):
    (tmp_path / "died").mkdir()
    turn = decode_turn(lines["resumed"]).log.turn
    told = Told()
    found = map_shards(Dies(turn, str(tmp_path / "died"), 1), open_collection(many), workers=2, progress=told)
    (died,) = (tmp_path / "died").iterdir()
    (lost,) = found.lost
    assert (lost.by, lost.again) == ("SIGKILL", True)
    assert died.name in lost.worker
    assert lost.shard.startswith(f"{many}/")
    assert told.gone == [lost]
    assert told.done == told.weight
    expected = map_shards(count, open_collection(many), workers=1)
    assert (found.partial, found.turns, found.faults) == (expected.partial, expected.turns, expected.faults)


def test_a_part_that_kills_twice_is_a_fault_and_the_others_are_done(many, tmp_path, lines):
    (tmp_path / "died").mkdir()
    turn = decode_turn(lines["resumed"]).log.turn
    job = Dies(turn, str(tmp_path / "died"), 99)
    found = map_shards(job, open_collection(many), workers=2)
    assert [lost.again for lost in found.lost] == [True, False]
    assert found.faults.counts["worker-lost"] == 1
    assert len(list((tmp_path / "died").iterdir())) == 2
    (part,) = {lost.shard for lost in found.lost}
    left_out = next(shard for shard in open_collection(many).shards() if shard.name == part)
    in_it = sum(not isinstance(item, Fault) for item in left_out.read())
    assert found.turns == 16 - in_it


def test_what_the_job_raises_is_raised_with_its_place(many):
    with pytest.raises(JobFailed, match=r"ZeroDivisionError: at .*jsonl:\d+"):
        map_shards(fail, open_collection(many), workers=2)
    with pytest.raises(ZeroDivisionError):
        map_shards(fail, open_collection(many), workers=1)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_no_worker_outlives_whoever_asked(many, tmp_path, root, how):
    """Ctrl-C reaches the whole group, as in a terminal; a kill only the one process."""
    here = tmp_path / "here"
    here.mkdir()
    program = (
        "from metnos.evaluate.collections.opening import open_collection\n"
        "from metnos.evaluate.mapping.shards import map_shards\n"
        "from tests.support.jobs import Dawdles\n"
        "if __name__ == '__main__':\n"
        f"    map_shards(Dawdles({str(here)!r}), open_collection({str(many)!r}), workers=2)\n"
    )
    script = tmp_path / "program.py"
    script.write_text(program)
    running = subprocess.Popen(
        [sys.executable, script],
        start_new_session=True,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(root)},
    )
    for _ in itertools.count():
        workers = [int(one.name) for one in here.iterdir()]
        if len(workers) == 2:
            break
        assert running.poll() is None, running.stderr.read()
        time.sleep(0.02)
    (os.killpg if how == signal.SIGINT else os.kill)(running.pid, how)
    _out, err = running.communicate(timeout=30)
    assert err.count("Traceback") == (how == signal.SIGINT), err  # one, of whoever asked
    for _ in itertools.count():  # stderr was closed by the last of them; the kernel may take a moment
        if not any(map(alive, workers)):
            break
        time.sleep(0.02)


def test_ray_gives_what_a_process_gives(many):
    pytest.importorskip("ray", reason="the extra `ray` is not installed")
    alone = map_shards(count, open_collection(many), workers=1)
    assert encode(map_shards(count, open_collection(many), workers=2, backend="ray")) == encode(alone)


def test_without_ray_the_line_that_installs_it_is_told(many, monkeypatch):
    from metnos.record.faults import RecordFault

    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(RecordFault) as raised:
        map_shards(count, open_collection(many), workers=2, backend="ray")
    assert (raised.value.code, raised.value.hint) == ("extra-missing", "pip install 'metnos[ray]'")
