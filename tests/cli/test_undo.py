"""`metnos undo`: in a pipe it suspends, on a terminal it asks; the log says what can be undone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from metnos.text import message

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.terminal import Metnos

PLAN = {
    "steps": [
        {"tool": "copy_files", "args": {"path": "a.txt", "to": "copy.txt"}},
        {"tool": "delete_files", "args": {"path": "b.txt"}},
        {"tool": "final_answer", "args": {}},
    ]
}


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("*.txt"))


def approved(metnos: Metnos, *command: str) -> str:
    """Run a command that suspends, say yes to all it asks; the turn."""
    done = metnos("--json", *command)
    while done.status == 5:
        options = [option for need in done.json["needs"] for option in ("--approve", need["id"])]
        done = metnos("--json", "resume", done.json["turn"], *options)
    assert done.status == 0, done.out
    return done.json["turn"]


def test_undo_in_a_pipe(metnos: Metnos, folder: Path) -> None:
    (folder / "plan.json").write_text(json.dumps(PLAN))
    turn = approved(metnos, "run", "plan.json")
    assert files(folder) == ["a.txt", "copy.txt"]
    shown = metnos("log", turn).out
    assert shown.count("(can be undone)") == 2
    assert "delete b.txt (can be undone)" in shown
    asked = metnos("undo", turn)
    assert asked.status == 5
    assert "--approve" in asked.err
    undone = approved(metnos, "undo", turn)
    assert files(folder) == ["a.txt", "b.txt"]
    (folder / "b.txt").write_text("changed by hand")
    again = metnos("--json", "undo", undone)
    (need,) = again.json["needs"]
    refused = metnos("--json", "resume", again.json["turn"], "--approve", need["id"])
    assert refused.status == 1
    assert refused.json["outcome"] in ("partial", "error")  # by which of the two actions came first
    assert "changed-since" in refused.out
    assert (folder / "b.txt").read_text() == "changed by hand"


def test_undo_on_a_terminal_in_italian(metnos: Metnos, folder: Path) -> None:
    (folder / "plan.json").write_text(json.dumps(PLAN))
    turn = approved(metnos, "run", "plan.json")
    terminal = metnos.on_terminal("--lang", "it", "undo", turn, NO_COLOR="1")
    terminal.until(f"{message('ask.yes_no', 'it')} [")
    assert str(folder / "b.txt") in terminal.screen
    terminal.type("sì\n")
    assert terminal.end() == 0
    assert files(folder) == ["a.txt", "b.txt"]


def test_what_cannot_be_undone(metnos: Metnos) -> None:
    assert metnos("--json", "undo", "last").error["code"] == "turn-missing"
    assert metnos("ask", "how many files are here").status == 0
    done = metnos("--json", "undo", "last")
    assert (done.status, done.error["code"]) == (1, "nothing-to-undo")
    (metnos.folder / "plan.json").write_text(json.dumps(PLAN))
    assert metnos("run", "plan.json").status == 5
    done = metnos("--json", "undo", "last")
    assert (done.status, done.error["code"]) == (1, "turn-open")
    assert "metnos resume" in done.error["hint"]
    assert metnos("undo").status == 2


def test_a_turn_that_did_nothing_points_to_the_latest_that_did(metnos: Metnos, folder: Path) -> None:
    (folder / "plan.json").write_text(json.dumps(PLAN))
    turn = approved(metnos, "run", "plan.json")
    assert metnos("ask", "how many files are here").status == 0
    done = metnos("--json", "undo", "last")
    assert done.error["code"] == "nothing-to-undo"
    assert f" metnos undo {turn}`" in done.error["hint"]
    assert metnos("undo", turn).status == 5  # it waits for consent
