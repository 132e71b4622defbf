"""What README.md shows is what happens: its questions have the plans that are printed, its program runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

QUESTION = re.compile(r'`make ask Q="([^"]+)"`\n\n```text\n(.*?)```', re.DOTALL)


def readme(root: Path) -> str:
    return (root / "README.md").read_text(encoding="utf-8")


def metnos(root: Path, home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "metnos", "--home", str(home), *arguments],
        capture_output=True,
        text=True,
        cwd=root,
        stdin=subprocess.DEVNULL,
        check=False,
    )


def test_there_are_four_questions(root: Path) -> None:
    assert len(QUESTION.findall(readme(root))) == 4


@pytest.mark.parametrize("number", range(4))
def test_each_question_has_the_plan_that_is_printed(root: Path, tmp_path: Path, number: int) -> None:
    question, shown = QUESTION.findall(readme(root))[number]
    planned = metnos(root, tmp_path, "plan", question)
    assert planned.returncode == 0, planned.stderr
    plan, _, answer = shown.partition("\n\n")
    assert planned.stdout.strip() == plan.strip()
    if answer:  # the refused one prints what is said, too
        asked = metnos(root, tmp_path, "ask", question)
        assert asked.returncode == 1
        assert re.sub(r"\n+", "\n", asked.stdout).strip() == answer.strip()


def test_the_writing_question_waits_without_a_terminal_and_goes_on(root: Path, tmp_path: Path) -> None:
    (folder := tmp_path / "here").mkdir()
    (folder / "a.txt").write_text("hello")
    asked = metnos(folder, tmp_path / "home", "ask", "write the list of the 3 largest files to largest.md")
    assert asked.returncode == 5
    found = re.search(r" resume (\S+) --approve (\S+?)`", asked.stderr)
    assert found is not None
    assert not (folder / "largest.md").exists()
    resumed = metnos(folder, tmp_path / "home", "resume", found.group(1), "--approve", found.group(2))
    assert resumed.returncode == 0, resumed.stderr
    assert "| a.txt | 5 |" in (folder / "largest.md").read_text()


def test_the_program_runs(root: Path, tmp_path: Path) -> None:
    found = re.search(r"```python\n(.*?)```", readme(root), re.DOTALL)
    assert found is not None
    (program := tmp_path / "program.py").write_text(found.group(1))
    environment = {**os.environ, "METNOS_HOME": str(tmp_path / "home"), "PYTHONPATH": str(root)}
    done = subprocess.run(
        [sys.executable, program], capture_output=True, text=True, cwd=root, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"success \{'words': \d+\}\nidentical\n", done.stdout)
