"""A sealed turn that is to go is gone, the others are as they were, and a kill in between loses nothing."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from metnos.evaluate.collections.forgetting import forget
from metnos.evaluate.collections.model import Fault
from metnos.evaluate.collections.opening import open_collection
from metnos.evaluate.collections.sealed import read_seal
from metnos.evaluate.collections.sealing import seal
from metnos.record.faults import RecordFault
from tests.evaluate.test_sealing import good, items, out, source  # noqa: F401 - fixtures


def by_turn(folder):
    return {item.log.turn: item.log for item in items(folder) if not isinstance(item, Fault)}


def bytes_in(folder):
    return b"".join(path.read_bytes() for path in sorted(folder.glob("*.parquet")))


@pytest.mark.parametrize("size", [1, 3, 2_000])
def test_what_is_forgotten_is_gone_and_stays_out_and_the_others_are_as_they_were(source, out, size):  # noqa: F811
    seal(open_collection(source), out, size=size)
    before = by_turn(out)
    gone = sorted(before)[1:3]
    (out / "labels.ndjson").write_text("".join(f'{{"turn":"{turn}","good":true}}\n' for turn in before))
    assert forget(out, gone) == 2
    left = {turn: log for turn, log in before.items() if turn not in gone}
    assert by_turn(out) == left
    assert not any(turn.encode() in (out / "labels.ndjson").read_bytes() for turn in gone)
    assert {path.name for path in out.glob("turn-*")} == {part.file("turn") for part in read_seal(out).parts}
    told = seal(open_collection(source), out, size=size)
    assert (told.sealed, told.already, told.forgotten) == (0, len(left), 2)
    assert forget(out, gone) == 0
    assert forget(out, sorted(left)) == len(left)
    assert items(out) == []
    assert not list(out.glob("*.parquet"))


def test_a_turn_that_is_not_there_changes_nothing(source, out):  # noqa: F811
    seal(open_collection(source), out)
    before = (bytes_in(out), read_seal(out))
    with pytest.raises(RecordFault, match="turn-missing"):
        forget(out, [min(by_turn(out)), "20260101-000000-00000000"])
    assert (bytes_in(out), read_seal(out)) == before


def test_a_damaged_part_is_not_written_anew(source, out):  # noqa: F811
    seal(open_collection(source), out)
    turn = min(by_turn(out))
    path = out / "record-000001.parquet"
    path.write_bytes(path.read_bytes()[:-50])
    before = (bytes_in(out), read_seal(out))
    with pytest.raises(RecordFault, match=r"seal-unreadable"):
        forget(out, [turn])
    assert (bytes_in(out), read_seal(out)) == before


@pytest.mark.parametrize("when", [1, 2, 3, 4])
def test_killed_at_it_nothing_else_is_lost_and_the_next_time_it_is_done(source, out, root, when):  # noqa: F811
    seal(open_collection(source), out, size=3)
    before = by_turn(out)
    gone = min(before)
    program = (
        "import os, signal\n"
        "from pathlib import Path\n"
        "from metnos.evaluate.collections import forgetting, sealing\n"
        "seen = []\n"
        "def dying(real):\n"
        "    def call(*given):\n"
        "        seen.append(1)\n"
        f"        if len(seen) == {when}:\n"
        "            os.kill(os.getpid(), signal.SIGKILL)\n"
        "        return real(*given)\n"
        "    return call\n"
        "sealing._sync = dying(sealing._sync)\n"
        "sealing.write_seal = dying(sealing.write_seal)\n"
        "forgetting.sweep = dying(forgetting.sweep)\n"
        f"forgetting.forget(Path({str(out)!r}), [{gone!r}])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=root, check=False)
    assert done.returncode == -signal.SIGKILL
    found = by_turn(out)
    assert {turn: log for turn, log in found.items() if turn != gone} == {
        turn: log for turn, log in before.items() if turn != gone
    }
    forget(out, [gone])
    assert gone not in by_turn(out)
    assert len(by_turn(out)) == len(before) - 1
    assert {path.name for path in out.glob("turn-*")} == {part.file("turn") for part in read_seal(out).parts}
