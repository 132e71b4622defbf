"""The record room's small world as a fixture, and the process of it that tests kill."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
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
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def effects(tmp_path: Path) -> Path:
    return tmp_path / "effects"


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
            env={**os.environ, "PYTHONPATH": str(root), **variables}, capture_output=True, text=True, timeout=50, check=False,
        )
        if done.returncode == -9:
            return None
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run
