from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from metnos import Engine
from metnos.propose.model import Proposal
from metnos.testing.proposer import ScriptedProposer
from tests.support.turnfiles import record, write_turns


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that turns are recorded in: `here`, with four files; the home beside it."""
    (tmp_path / "here").mkdir()
    for number in range(4):
        (tmp_path / "here" / f"f{number}.txt").write_text("x" * number * 1000)
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path


ASKED = (
    "the five largest files here as a table",
    "how many files are here",
    "read f2.txt",
    "delete f1.txt",
    "write 'hello' to a.txt",
    "do something odd",
    "read nothing.txt",
)


@pytest.fixture(scope="session")
def recorded_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same, recorded once; not to be written to."""
    top = tmp_path_factory.mktemp("recorded")
    (here := top / "here").mkdir()
    for number in range(4):
        (here / f"f{number}.txt").write_text("x" * number * 1000)
    plan = {"steps": [{"tool": "find_files", "args": {"path": "."}}, {"tool": "final_answer", "args": {}}]}
    wrong = {"steps": [{"tool": "find_files", "args": {"path": 3}}, {"tool": "final_answer", "args": {}}]}
    said = [Proposal(one, model="tiny", tokens_in=100, tokens_out=9) for one in (wrong, plan)]
    with Engine.open(home=str(top / "home"), folder=here) as engine:
        logs = record(engine, *ASKED, approve=lambda _: True)
    with Engine.open(home=str(top / "home"), folder=here, proposer=ScriptedProposer(*said)) as engine:
        logs += record(engine, "find the files here in some odd way")
    return write_turns(top / "turns.jsonl", logs)


@pytest.fixture
def recorded(folder: Path, recorded_once: Path) -> Path:
    """`turns.jsonl`: templates, effects that were allowed, a miss, a failure, and proposals, one of which was repaired."""
    return Path(shutil.copy(recorded_once, folder / "turns.jsonl"))
