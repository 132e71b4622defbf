"""Each program that docs/embedding.md shows runs as it stands there; so does that of the host's own loop."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.pages import blocks

DOCS = Path(__file__).parents[2] / "docs"
PROGRAMS = [block.text for block in blocks(DOCS / "embedding.md") if block.language == "python"]


def run(root: Path, folder: Path, program: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "METNOS_HOME": str(folder / "home"), "PYTHONPATH": str(root)}
    return subprocess.run(
        [sys.executable, program], capture_output=True, text=True, cwd=folder, env=environment, check=False
    )


@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_a_program_runs(root: Path, tmp_path: Path, number: int) -> None:
    (program := tmp_path / "program.py").write_text(PROGRAMS[number], encoding="utf-8")
    done = run(root, tmp_path, program)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_machine_is_driven_by_a_loop_of_the_hosts(root: Path, tmp_path: Path) -> None:
    program = DOCS / "programs" / "own_loop.py"
    assert program.read_text().count("\n") <= 60
    done = run(root, tmp_path, program)
    assert (done.stdout, done.stderr, done.returncode) == ("success Order 3.\n", "", 0)
