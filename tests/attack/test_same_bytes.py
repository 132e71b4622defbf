"""Row 18: the same turns leave the same bytes, whatever the hash seed, the locale, the time zone and the Python.

`same_bytes.json` holds what they left when it was committed: a library that spells a number in another way, or a change
of a record's form, is seen here. Where that is wanted, and VERSIONING allows it, the file is written anew:

    python -m tests.attack.same_bytes --write
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

GOLDEN = Path(__file__).with_name("same_bytes.json")
OTHER = ".venv313/bin/python"
"""Made by `make test-313`, which walks this golden list on 3.13, too."""


def left_by(root: Path, python: str = sys.executable, **environment: str) -> dict[str, Any]:
    """What the turns leave in a process of its own."""
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPYCACHEPREFIX") if name in os.environ}
    done = subprocess.run(
        [python, "-m", "tests.attack.same_bytes"], cwd=root, env=kept | environment, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def here(root: Path) -> dict[str, Any]:
    return left_by(root, PYTHONHASHSEED="0", LC_ALL="C.UTF-8", TZ="UTC")


def test_the_turns_leave_what_they_always_left(here: dict[str, Any]) -> None:
    assert here["pinned"] == json.loads(GOLDEN.read_text(encoding="utf-8"))


def test_the_turns_are_of_every_kind(here: dict[str, Any]) -> None:
    outcomes = {turn["outcome"] for turns in here.values() for turn in turns.values()}
    assert outcomes == {"success", "error", "plan_rejected", "user_aborted", "not_understood", ""}
    records = [record for turn in here["pinned"].values() for record in turn["records"]]
    kinds = {record.partition(" ")[0] for record in records}
    assert kinds >= {"turn_opened", "plan_accepted", "plan_rejected", "policy_decided", "step_started", "step_finished",
                     "step_failed", "approval_given", "approval_refused", "turn_suspended", "turn_closed"}  # fmt: skip
    assert all(turn["head"].startswith("sha256:") for turns in here.values() for turn in turns.values())


@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONHASHSEED": "1", "LC_ALL": "C", "TZ": "Pacific/Apia"},
        {"PYTHONHASHSEED": "4294967295", "LC_ALL": "tr_TR.UTF-8", "LANG": "it_IT", "TZ": "America/New_York"},
        {"PYTHONHASHSEED": "77", "PYTHONUTF8": "0", "PYTHONIOENCODING": "latin-1", "PYTHONOPTIMIZE": "1"},
    ],
    ids=["C, Apia", "Turkish, New York", "Latin-1, optimised"],
)
def test_no_environment_changes_a_byte(root: Path, here: dict[str, Any], environment: dict[str, str]) -> None:
    assert left_by(root, **environment) == here


def test_another_python_leaves_the_same(root: Path, here: dict[str, Any]) -> None:
    if sys.version_info[:2] == (3, 13):
        pytest.skip("this is 3.13; the golden list is what both are held to")
    python = root / OTHER
    made = root / ".venv313" / ".dev"
    if not made.exists() or made.stat().st_mtime < (root / "pyproject.toml").stat().st_mtime:
        pytest.skip(
            f"no {OTHER} with the packages of today: `make test-313` makes it and holds 3.13 to the same golden list"
        )
    assert left_by(root, str(python)) == here
