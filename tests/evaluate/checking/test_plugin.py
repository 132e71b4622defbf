"""The pytest plugin, in a pytest of its own: found by its entry point, free where it is not used, and saying what fails."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from metnos import Engine
from metnos.cli.main import main
from metnos.evaluate.cases.files import save_case
from metnos.evaluate.cases.making import make_case
from tests.support.turnfiles import record, write_turns


def pytest_here(folder: Path, root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", *arguments]
    environment = {"PATH": "/usr/bin:/bin", "TZ": "UTC", "HOME": str(folder), "METNOS_HOME": str(folder / "home")}
    return subprocess.run(
        command, cwd=folder, env={**environment, "PYTHONPATH": str(root)}, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a case that holds, one that does not, a run and turns."""
    top = tmp_path_factory.mktemp("cases")
    (here := top / "here").mkdir()
    (here / "a.txt").write_text("alpha")
    with Engine.open(home=str(top / "home"), folder=here) as engine:
        logs = record(engine, "how many files are here", "the five largest files here")
    save_case(make_case(logs[0], "counts"), top / "counts.case.toml")
    save_case(make_case(logs[1], "largest"), top / "largest.case.json")
    write_turns(top / "turns" / "turns.jsonl", logs)
    (top / "largest.run.toml").write_text('form = "metnos.run/1"\n[turns]\npath = "turns"\n')
    return top


def test_it_is_found_by_its_entry_point_and_costs_nothing_where_there_is_nothing_for_it(tmp_path, root):
    assert [one.value for one in entry_points(group="pytest11", name="metnos")] == ["metnos.evaluate.checking.plugin"]
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    (tmp_path / "test_it.py").write_text(
        "import sys\ndef test_it():\n"
        "    there = {name for name in sys.modules if name.split('.')[0] == 'metnos'}\n"
        "    assert there == {'metnos', 'metnos.evaluate', 'metnos.evaluate.checking', 'metnos.evaluate.checking.plugin'}\n"
    )
    done = pytest_here(tmp_path, root)
    assert done.returncode == 0, done.stdout
    assert "--metnos-baseline" in pytest_here(tmp_path, root, "--help").stdout


def test_cases_and_runs_are_tests(cases, root):
    done = pytest_here(cases, root, "-rs")
    assert done.returncode == 0, done.stdout
    assert "2 passed, 1 skipped" in done.stdout
    assert "no baseline" in done.stdout


def test_a_case_that_is_not_met_fails_with_what_is_not_met(cases, root, tmp_path):
    text = (cases / "counts.case.toml").read_text().replace('outcome = "success"', 'outcome = "error"')
    (tmp_path / "odd.toml").write_text(text)
    (tmp_path / "counts.case.turn.jsonl").write_bytes((cases / "counts.case.turn.jsonl").read_bytes())
    assert pytest_here(tmp_path, root).returncode == 5  # nothing is collected: the name says nothing
    done = pytest_here(tmp_path, root, "odd.toml")
    assert done.returncode == 1
    assert "outcome: expected 'error', found 'success'" in done.stdout
    assert "Traceback" not in done.stdout


def test_a_run_that_is_worse_than_the_baseline_fails_and_names_it(cases, root, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as left:
        main(["--home", str(cases / "home"), "eval", str(cases / "largest.run.toml"), "--out", "base.json"])
    assert left.value.code == 0
    run = tmp_path / "worse.run.toml"
    run.write_text(f'form = "metnos.run/1"\n[turns]\npath = "{cases}/turns"\n')
    done = pytest_here(tmp_path, root, "--metnos-baseline", "base.json")
    assert (done.returncode, "1 passed" in done.stdout) == (0, True), done.stdout
    run.write_text(run.read_text() + '[parts.cache]\nmode = "off"\n')
    done = pytest_here(tmp_path, root, "--metnos-baseline", "base.json", "--junit-xml", "junit.xml")
    assert done.returncode == 1
    assert "WORSE: 2 requests are no longer served: no-cache" in done.stdout
    assert "“how many files are here”" in done.stdout
    assert 'failures="1"' in (tmp_path / "junit.xml").read_text()
    assert sorted(one.name for one in tmp_path.iterdir() if "rows" in one.name) == ["base.rows.jsonl"]


def test_a_run_over_a_data_set_imports_it_as_the_command_does(root, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    talk = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "good day"}]
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "one.jsonl").write_text(
        json.dumps({"task_id": 1, "trial": 0, "reward": 1.0, "traj": talk}) + "\n"
    )
    run = tmp_path / "one.run.toml"
    run.write_text('form = "metnos.run/1"\n[turns]\npath = "runs"\nimport = "tau"\n')
    with pytest.raises(SystemExit) as left:
        main(["--home", str(tmp_path / "home"), "eval", str(run), "--out", "base.json"])
    assert left.value.code == 0
    done = pytest_here(tmp_path, root, "--metnos-baseline", "base.json")
    assert done.returncode == 0, done.stdout


def test_a_file_that_cannot_be_read_is_an_error_with_its_place(root, tmp_path):
    (tmp_path / "odd.run.toml").write_text('form = "metnos.run/1"\n[turns]\npath = "nowhere"\n[gards]\n')
    done = pytest_here(tmp_path, root)
    assert done.returncode == 1
    assert "bad-run: odd.run.toml: gards: no such key" in done.stdout
