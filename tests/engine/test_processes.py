"""Several processes on one home: at the same turn one has it, and the others are told; else they do not meet."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from metnos.record.faults import RecordFault
from metnos.record.sqlite import SqliteJournal
from tests.support.hosted import lines, plan, step

if TYPE_CHECKING:
    from pathlib import Path

    from tests.engine.conftest import Opens

RUNS = """
import sys
from metnos import Engine
from tests.support import hosted
from tests.support.hosted import plan, step
home, folder, name = sys.argv[1:]
with Engine.open(home, folder=folder, executors=hosted.ALL) as engine:
    for number in range(5):
        given = plan(step("append_line", path=f"{folder}/{name}{number}"), data=name)
        print(engine.run_sync(plan=given, assume_yes=True).turn)
"""
HOLDS = """
import sys
from metnos import Engine
from tests.support import hosted
home, folder, turn, approval = sys.argv[1:]
def wait(_event):
    print("inside", flush=True)
    sys.stdin.read()
with Engine.open(home, folder=folder, executors=hosted.ALL, progress=wait) as engine:
    engine.resume_sync(turn, approve=[approval])
"""


def start(root: Path, code: str, *args: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, args)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
    )


def test_processes_on_one_home(root: Path, opens: Opens, home: Path, folder: Path) -> None:
    processes = [start(root, RUNS, home, folder, name) for name in ("a", "b", "c")]
    turns = [turn for one in processes for turn in one.communicate()[0].split()]
    assert [one.returncode for one in processes] == [0, 0, 0]
    engine = opens()
    assert {one.turn for one in engine.turns(100)} == set(turns)
    assert len(turns) == 15
    for turn in turns:
        assert engine.verify(turn).ok
    for name in "abc":
        assert [lines(folder / f"{name}{number}") for number in range(5)] == [1] * 5


def test_a_turn_that_another_process_has(root: Path, opens: Opens, home: Path, folder: Path) -> None:
    """Busy in the library by its code, on the command line by exit code 3; killed, it is free at once."""
    engine = opens()
    waiting = engine.run_sync(plan=plan(step("append_line", path=str(folder / "x"))))
    holder = start(root, HOLDS, home, folder, waiting.turn, waiting.needs[0].id)
    assert holder.stdout is not None
    try:
        assert holder.stdout.readline() == "inside\n"
        with pytest.raises(RecordFault) as caught:
            engine.resume_sync(waiting.turn)
        assert caught.value.code == "turn-busy"
        done: Any = subprocess.run(
            [sys.executable, "-m", "metnos", "--home", home, "--json", "resume", waiting.turn],
            capture_output=True, text=True, cwd=root, check=False,
        )  # fmt: skip
        assert done.returncode == 3
        assert json.loads(done.stdout)["error"]["code"] == "turn-busy"
        assert engine.run_sync(plan=plan(step("add_one", n=1))).ok, "other turns are not held"
    finally:
        holder.send_signal(signal.SIGKILL)
        holder.communicate()
    assert lines(folder / "x") == 0
    again = engine.resume_sync(waiting.turn)
    assert again.outcome == "effect_unknown", "the intent is on disk, and nobody knows"
    assert engine.verify(waiting.turn).ok


def test_a_writer_that_lost_its_claim_writes_nothing(opens: Opens, home: Path, folder: Path) -> None:
    """Where locks do not hold, the fence does."""
    engine = opens()
    waiting = engine.run_sync(plan=plan(step("append_line", path=str(folder / "x"))))
    slow = SqliteJournal(home)
    writer, _ = slow.resume(waiting.turn)
    (home / "locks" / waiting.turn).unlink()
    assert engine.resume_sync(waiting.turn, approve=[waiting.needs[0].id]).ok
    with pytest.raises(RecordFault, match="stale-fence"):
        writer.finish("suspended")
    slow.close()
    assert engine.verify(waiting.turn).ok
