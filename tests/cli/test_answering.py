"""Answering what a turn waits for: `all`, short ids, and hints that can be typed as they are."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

from tests.support.terminal import Metnos


def plan(folder: Path, *names: str) -> str:
    steps: list[dict[str, Any]] = [{"tool": "write_files", "args": {"path": name, "content": name}} for name in names]
    steps.append({"tool": "final_answer", "args": {}})
    (folder / "plan.json").write_text(json.dumps({"steps": steps}))
    return "plan.json"


def test_all_that_was_asked_is_allowed_at_once(metnos: Metnos, folder: Path) -> None:
    waits = metnos("--json", "run", plan(folder, "x.txt", "y.txt"))
    assert (waits.status, len(waits.json["needs"])) == (5, 2)
    assert metnos("resume", "last", "--approve", "all").status == 0
    assert (folder / "x.txt").exists()
    assert (folder / "y.txt").exists()


def test_an_id_may_be_the_step_or_as_much_as_no_other_has(metnos: Metnos, folder: Path) -> None:
    waits = metnos("--json", "run", plan(folder, *(f"{n}.txt" for n in range(1, 11)))).json
    several = metnos("--json", "resume", "last", "--approve", waits["turn"])
    assert (several.status, several.error["code"]) == (2, "nothing-asked")
    assert "1.10" in several.error["hint"]
    none = metnos("--json", "resume", "last", "--approve", "2")
    assert (none.status, none.error["where"]) == (2, "2")
    first = metnos("--json", "resume", "last", "--approve", "1.1")  # 1.1 itself, though 1.10 begins so, too
    assert first.status == 5
    assert sorted(path.name for path in folder.glob("[0-9]*.txt")) == ["1.txt"]
    rest = metnos("--json", "resume", "last", "--approve", "all", "--deny", "1.10")
    assert (rest.status, rest.json["outcome"]) == (1, "user_aborted")
    assert not (folder / "10.txt").exists()


def test_a_hint_can_be_typed_as_it_is(metnos: Metnos, folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "another home"
    waits = metnos("--home", str(other), "run", plan(folder, "x.txt"))
    (typed,) = re.findall(r" metnos (.*? --approve \S+)`", waits.err)
    assert shlex.split(typed)[:2] == ["--home", str(other)]
    assert metnos(*shlex.split(typed)).status == 0
    assert (folder / "x.txt").exists()
    plain = metnos("--lang", "it", "run", plan(folder, "y.txt"))
    assert " metnos resume " in plain.err
    assert plain.err.count("--home") == 0
