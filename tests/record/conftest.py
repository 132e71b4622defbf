"""The record room's small world as a fixture, and the process of it that tests kill."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

HERE = Path(__file__).parent
_spec = importlib.util.spec_from_file_location("record_world", HERE / "world.py")
_world = importlib.util.module_from_spec(_spec)
sys.modules["record_world"] = _world
_spec.loader.exec_module(_world)


@pytest.fixture
def world():
    return _world


@pytest.fixture
def place(tmp_path: Path):
    """A folder in memory where there is one: what a killed process wrote stays, and syncs wait for no disk."""
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK):
        yield tmp_path
        return
    made = Path(tempfile.mkdtemp(prefix="metnos-record-", dir=memory))
    yield made
    shutil.rmtree(made)


@pytest.fixture
def home(place: Path) -> Path:
    return place / "home"


@pytest.fixture
def effects(place: Path) -> Path:
    return place / "effects"


@pytest.fixture
def journal(home: Path):
    from metnos.record.sqlite import SqliteJournal

    made = SqliteJournal(home)
    yield made
    made.close()


@pytest.fixture
def child(home: Path, effects: Path, root: Path):
    """Run a turn in another process: `child(turn, mode, crash_at, *tools)` → its answer, or None if it was killed."""

    def run(turn: str, mode: str, crash_at: str, *tools: str, script: Path = HERE / "world.py", **variables: str):
        done = subprocess.run(
            [sys.executable, str(script), str(home), str(effects), turn, mode, crash_at, *tools],
            env={**os.environ, "PYTHONPATH": str(root), **variables},
            capture_output=True,
            text=True,
            timeout=50,
            check=False,
        )
        if done.returncode == -9:
            return None
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run
