"""`metnos log import` and `metnos log export`: what they print, what they leave, and their exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.trajectories import DESK, lines, tau


def metnos(home: Path, *words: str, **more: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "metnos", "--home", str(home), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=50, **more)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return lines(tmp_path / "lib.jsonl", tau(), {"reward": 1}, tau(1, 0, 0.0))


def test_there_out_and_back(source: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    done = metnos(home, "--lang", "en", "log", "import", "tau", str(source), "--to", str(tmp_path / "turns"))
    assert done.returncode == 1, done.stderr  # one record could not be read
    assert "2 turns, 8 plans, 6 calls (0 repeated), 3 tools" in done.stdout
    assert "rewards of the data set: 0 1, 1 1" in done.stdout
    assert f"{source}:2/task_id: import-form: found nothing, expected a number from 0" in done.stdout
    trace = tmp_path / "traces.jsonl"
    done = metnos(home, "--json", "log", "export", "trace", str(tmp_path / "turns"), "--to", str(trace))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["turns"] == 2
    assert json.loads(trace.read_text("utf-8").splitlines()[0])["steps"][2]["arguments"] == {"topic": "bees"}
    done = metnos(home, "log", "import", "trace", str(trace), "--to", str(tmp_path / "again"), "--json")
    assert (done.returncode, json.loads(done.stdout)["calls"]) == (0, 6)
    again = metnos(home, "log", "export", "trace", "-", "--to", str(trace), input="")
    assert again.returncode != 0
    assert "export-target" in again.stderr


def test_turns_of_this_home(tmp_path: Path) -> None:
    home, folder = tmp_path / "home", tmp_path / "here"
    folder.mkdir()
    (folder / "a.txt").write_text("bees", "utf-8")
    asked = metnos(home, "--json", "ask", "find the files here", cwd=folder)
    turn = json.loads(asked.stdout)["turn"]
    for words in ([], [turn]):
        to = tmp_path / f"{len(words)}{words[:1]}.jsonl"
        done = metnos(home, "--lang", "en", "log", "export", "otel", *words, "--to", str(to))
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("1 turns: ")
        spans = json.loads(to.read_text("utf-8"))["resourceSpans"][0]["scopeSpans"][0]["spans"]
        kinds = [span["name"].split()[0] for span in spans]
        assert kinds[:3] == ["invoke_agent", "plan", "execute_tool"]
        assert set(kinds[3:]) <= {"execute_tool"}


def test_the_folder_of_a_home_comes_with_contracts(tmp_path: Path) -> None:
    home, folder = tmp_path / "home", tmp_path / "here"
    folder.mkdir()
    (folder / "a.txt").write_text("bees", "utf-8")
    turn = json.loads(metnos(home, "--json", "ask", "find the files here", cwd=folder).stdout)["turn"]
    for number, where in enumerate(([], [turn], [str(home)])):
        to = tmp_path / f"turns{number}"
        done = metnos(home, "log", "export", "jsonl", *where, "--to", str(to))
        assert done.returncode == 0, done.stderr
        contracts = json.loads((to / "contracts.json").read_bytes())
        assert "find_files" in {one["name"] for one in contracts["contracts"]}
    done = metnos(tmp_path / "other", "--json", "replay", str(to))
    assert (done.returncode, json.loads(done.stdout)["identical"]) == (0, 1)


def test_the_schema_of_a_trace_is_printed_as_it_is_published(tmp_path: Path) -> None:
    done = metnos(tmp_path, "schema", "trace")
    assert done.stdout == Path("docs/schema/trace-1.json").read_text("utf-8")


def test_what_is_no_source_is_a_fault_of_the_caller(tmp_path: Path) -> None:
    lines(tmp_path / "in.jsonl", {"messages": DESK})
    done = metnos(
        tmp_path / "home", "--json", "log", "import", "tau", str(tmp_path / "in.jsonl"), "--to", str(tmp_path / "o")
    )
    assert done.returncode == 2
    told = json.loads(done.stdout)["error"]
    assert (told["code"], told["where"]) == ("import-empty", f"{tmp_path / 'in.jsonl'}:1/task_id")
    assert not (tmp_path / "o").exists()
