from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from metnos.record import claim as claims
from metnos.record.claim import claim_turn
from metnos.record.faults import RecordFault


def test_a_claim_excludes_until_it_is_released(tmp_path):
    held = claim_turn(tmp_path / "locks", "t1")
    with pytest.raises(RecordFault, match="turn-busy"):
        claim_turn(tmp_path / "locks", "t1")
    claim_turn(tmp_path / "locks", "t2").release()
    held.release()
    held.release()
    assert list((tmp_path / "locks").iterdir()) == []
    claim_turn(tmp_path / "locks", "t1").release()


@pytest.mark.parametrize("meanwhile", ["removed", "replaced"])
def test_a_lock_on_a_file_that_was_removed_meanwhile_is_no_claim(tmp_path, monkeypatch, meanwhile):
    """Its holder removes the file between another's open and lock: without the second look both would hold "the" lock."""
    real, calls = claims._locked, []

    def locked(file):
        calls.append(file)
        if len(calls) == 1:
            (tmp_path / "t1").unlink()
            if meanwhile == "replaced":
                (tmp_path / "t1").write_text("")
        return real(file)

    monkeypatch.setattr(claims, "_locked", locked)
    held = claim_turn(tmp_path, "t1")
    assert len(calls) == 2
    assert os.fstat(held._file).st_ino == (tmp_path / "t1").stat().st_ino
    with pytest.raises(RecordFault, match="turn-busy"):
        claim_turn(tmp_path, "t1")
    held.release()


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "locks").write_text("")
    with pytest.raises(RecordFault, match="record-store"):
        claim_turn(tmp_path / "locks", "t1")


HOLDER = """
import os, sys
from pathlib import Path
from metnos.record.claim import claim_turn
claim_turn(Path(sys.argv[1]) / "locks", "t1")
print("claimed", flush=True)
waits = [(os.POSIX_SPAWN_OPEN, 99, sys.argv[1] + "/gate", os.O_RDONLY, 0)]
os.posix_spawn("/bin/true", ["true"], {}, file_actions=waits)
"""
"""Claims, and starts a program that does not begin before the gate opens: between fork and exec, as long as we like."""


@pytest.mark.kill
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="children are told from /proc")
def test_a_program_that_is_being_started_does_not_hold_the_turn_of_a_process_that_was_killed(tmp_path, root):
    os.mkfifo(tmp_path / "gate")
    command = [sys.executable, "-c", HOLDER, str(tmp_path)]
    with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout.readline() == "claimed\n"
        while not (started := children(holder.pid)):
            time.sleep(0.01)
        with pytest.raises(RecordFault, match="turn-busy"):
            claim_turn(tmp_path / "locks", "t1")
        holder.kill()
        holder.wait()
        try:
            shared = [os.readlink(file) for file in Path(f"/proc/{started[0]}/fd").iterdir()]
            assert str(tmp_path / "locks" / "t1") in shared, "it is there, and has the file open"
            claim_turn(tmp_path / "locks", "t1").release()
        finally:
            os.close(os.open(tmp_path / "gate", os.O_RDWR))


def children(parent: int) -> list[int]:
    """Process ids, by the fourth field of `stat`."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            if path.read_text().rsplit(")", 1)[1].split()[1] == str(parent):
                found.append(int(path.parent.name))
    return found
