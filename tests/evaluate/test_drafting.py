"""A folder that is imported or exported is whole or not there, and what a killed process left goes with the next."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from metnos.evaluate.drafting import drafted_folder


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_fault_leaves_nothing_and_an_empty_folder_is_filled(tmp_path):
    to = tmp_path / "turns"
    with pytest.raises(ZeroDivisionError), drafted_folder(to) as draft:
        (draft / "turns.jsonl").write_bytes(b"half")
        raise ZeroDivisionError
    assert names(tmp_path) == []
    to.mkdir()
    with drafted_folder(to) as draft:
        (draft / "turns.jsonl").write_bytes(b"whole")
    assert names(tmp_path) == ["turns"]
    assert (to / "turns.jsonl").read_bytes() == b"whole"


def test_what_a_killed_process_left_is_removed_by_the_next_and_nothing_else(tmp_path, root):
    to = tmp_path / "turns"
    program = (
        "import os, signal\n"
        "from pathlib import Path\n"
        "from metnos.evaluate.drafting import drafted_folder\n"
        f"with drafted_folder(Path({str(to)!r})) as draft:\n"
        "    (draft / 'turns.jsonl').write_text('what somebody asked')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    assert subprocess.run([sys.executable, "-c", program], cwd=root, check=False).returncode == -signal.SIGKILL
    (left,) = names(tmp_path)
    assert left.startswith(".turns.")
    kept = [".turns.notes.draft2", ".other.abcdefgh.draft", "turnsx"]
    for name in kept:
        (tmp_path / name).mkdir()
    (tmp_path / ".turns.abcdefgh.draft").write_text("a file of somebody's")
    with drafted_folder(to) as held:
        with drafted_folder(to):
            assert held.is_dir()
            assert left not in names(tmp_path)
        held.chmod(0o700)
        for path in to.iterdir():
            path.unlink()
    assert names(tmp_path) == sorted([*kept, ".turns.abcdefgh.draft", "turns"])
