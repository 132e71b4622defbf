"""The gates hold on this tree, and each of them can fail: a gate that lets everything through is none."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import check_coverage
import check_sizes
import pytest


def test_sizes_hold(root: Path) -> None:
    assert check_sizes.faults(root) == []


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        ("metnos/plan/parse.py", '"""Law."""\n' + "x = 1\n" * 400, "401 lines"),
        ("tests/plan/test_parse.py", "x = 1\n" * 501, "501 lines"),
        ("catalog/executors/read_files/executor.py", "x = 1\n", "without its law"),
        ("metnos/rooms/a.py", '"""Law."""\n', "a room without __init__.py"),
    ],
)
def test_a_fault_of_size_is_seen(tmp_path: Path, name: str, text: str, fault: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    assert any(fault in line for line in check_sizes.faults(tmp_path))


@pytest.fixture
def tree(root: Path, tmp_path: Path) -> Path:
    """A copy of the package, linted in place of this one."""
    shutil.copytree(root / "metnos", tmp_path / "metnos", ignore=shutil.ignore_patterns("__pycache__", "_catalog"))
    shutil.copy(root / "pyproject.toml", tmp_path)
    return tmp_path


LINT = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"


def lint(tree: Path) -> tuple[int, str]:
    """Exit code and what was printed; a process of its own, for the package must not be imported already."""
    done = subprocess.run([sys.executable, "-c", LINT], cwd=tree, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_rooms_hold(tree: Path) -> None:
    assert lint(tree)[0] == 0, lint(tree)[1]


@pytest.mark.parametrize(
    ("module", "line", "contract"),
    [
        ("sdk", "from metnos.plan import model", "Arrows point one way"),
        ("request/model", "from metnos.plan import diagnostics", "Arrows point one way"),
        ("policy/model", "from metnos.checks import model", "Arrows point one way"),
        ("cli/main", "from metnos.checks import model", "The command line does not know"),
    ],
)
def test_an_arrow_the_wrong_way_is_seen(tree: Path, module: str, line: str, contract: str) -> None:
    path = tree / "metnos" / f"{module}.py"
    with path.open("a", encoding="utf-8") as file:
        file.write(f"\n{line}\n")
    code, printed = lint(tree)
    assert code == 1
    assert any(contract in row and "BROKEN" in row for row in printed.splitlines()), printed


def test_a_room_without_a_place_is_seen(tree: Path) -> None:
    (tree / "metnos" / "attic").mkdir()
    (tree / "metnos" / "attic" / "__init__.py").write_text('"""Law."""\n', encoding="utf-8")
    code, printed = lint(tree)
    assert code == 1
    assert "attic" in printed


def report(tmp_path: Path, covered: int) -> str:
    summary = {"num_statements": 80, "covered_lines": covered, "num_branches": 20, "covered_branches": 20}
    files = {f"metnos/{room}/a.py": {"summary": summary} for room in check_coverage.FLOOR}
    path = tmp_path / "report.json"
    path.write_text(json.dumps({"files": files}), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(("covered", "code"), [(80, 0), (75, 0), (74, 1)])
def test_the_floor_of_coverage(tmp_path: Path, covered: int, code: int) -> None:
    assert check_coverage.main(report(tmp_path, covered)) == code


def test_a_room_that_was_not_measured_is_below_its_floor(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text('{"files": {}}', encoding="utf-8")
    assert check_coverage.main(str(path)) == 1
