"""Each program that docs/testing.md shows runs as it stands there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "testing.md"
PROGRAMS = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_a_program_runs(root: Path, tmp_path: Path, number: int) -> None:
    (program := tmp_path / "test_program.py").write_text(PROGRAMS[number], encoding="utf-8")
    environment = {**os.environ, "METNOS_HOME": str(tmp_path / "home"), "PYTHONPATH": str(root)}
    if os.access("/dev/shm", os.W_OK):
        environment["TMPDIR"] = "/dev/shm"  # what it syncs waits for no disk
    done = subprocess.run(
        [sys.executable, program], capture_output=True, text=True, cwd=tmp_path, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr


def test_each_promised_name_is_shown() -> None:
    import metnos.testing

    page = PAGE.read_text(encoding="utf-8")
    shown = {name for name in metnos.testing.__all__ if re.search(rf"\b{name}\b", page)}
    assert shown >= set(metnos.testing.__all__) - {"Asked", "Call"}
