"""`make` on a bare machine: which Python it takes, and what it says where there is none."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A PATH of one empty folder."""
    folder = tmp_path / "bin"
    folder.mkdir()
    return folder


def find(root: Path, path: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    shell = shutil.which("sh")
    assert shell is not None
    return subprocess.run(
        [shell, str(root / "scripts" / "find_python.sh"), *arguments],
        env={"PATH": str(path), "HOME": str(path), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def interpreter(folder: Path, name: str, body: str) -> None:
    file = folder / name
    file.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    file.chmod(0o755)


REAL = f'exec "{sys.executable}" "$@"'
WITHOUT_VENV = f'case "$2" in *ensurepip*) exit 1;; esac\n{REAL}'
REFUSES = "echo 'not chosen here' >&2; exit 127"


def test_no_python_at_all(root: Path, path: Path) -> None:
    done = find(root, path)
    assert done.returncode == 3
    assert "Python 3.11 or later" in done.stderr
    assert "apt-get install python3 python3-venv" in done.stderr


def test_a_python_without_venv_is_named_with_its_package(root: Path, path: Path) -> None:
    interpreter(path, "python3", WITHOUT_VENV)
    done = find(root, path)
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    assert done.returncode == 3
    assert f"apt-get install python{version}-venv" in done.stderr


def test_a_shim_that_refuses_is_passed_over(root: Path, path: Path) -> None:
    interpreter(path, "python3.13", REFUSES)
    interpreter(path, "python3", REAL)
    done = find(root, path)
    assert done.returncode == 0
    assert Path(done.stdout.strip()).samefile(sys.executable)


def test_the_interpreters_of_pyenv_are_looked_at_last(root: Path, path: Path) -> None:
    folder = path / "pyenv" / "versions" / "3.99.0" / "bin"
    folder.mkdir(parents=True)
    interpreter(folder, "python3", REAL)
    done = find(root, path, PYENV_ROOT=str(path / "pyenv"))
    assert done.returncode == 0


def test_a_wanted_version_that_is_not_here_is_no_noise(root: Path, path: Path) -> None:
    interpreter(path, "python3", REAL)
    done = find(root, path, "3.99")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")


def test_the_named_python_is_taken_or_refused(root: Path, path: Path) -> None:
    assert find(root, path, PYTHON=sys.executable).returncode == 0
    done = find(root, path, PYTHON="/nowhere/python")
    assert done.returncode == 3
    assert "/nowhere/python" in done.stderr
