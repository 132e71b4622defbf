"""A folder with files, a home, and the command line in a process of its own."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.support.terminal import ROOT, Metnos, Typed


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "work"
    made.mkdir()
    (made / "a.txt").write_text("alpha\n")
    (made / "b.txt").write_text("beta beta\n")
    return made


@pytest.fixture
def metnos(folder: Path, tmp_path: Path) -> Metnos:
    return Metnos(folder, tmp_path / "home")


@pytest.fixture
def catalog(tmp_path: Path) -> Path:
    """A copy of the signed catalog, to be damaged."""
    made = tmp_path / "catalog"
    shutil.copytree(ROOT / "build" / "catalog", made)
    return made


SLOW = """
name = "find_files_slow"
version = "1.0.0"
placement = "worker"
families = ["find files"]
files = ["executor.py"]
resources = [{ kind = "root", arg = "path" }]
targets = ["path"]

[descriptions]
en = "Waits for somebody to write into a pipe."
it = "Aspetta che qualcuno scriva in una pipe."

[[effect]]
class = "read"

[args]
type = "object"
additionalProperties = false
required = ["path"]

[args.properties.path]
type = "string"
minLength = 1
maxLength = 4096
description = "The pipe."

[result]
type = "object"
additionalProperties = false
required = ["text"]

[result.properties]
text = { type = "string" }
"""
SLOW_CODE = '''"""Waits."""

from metnos.sdk import Context, Result


def run(args, ctx: Context) -> Result:
    with open(args["path"]) as pipe:
        return Result.done({"text": pipe.read()})
'''


@pytest.fixture
def slow_catalog(tmp_path: Path) -> Path:
    """Two of the shipped executors and two that wait on a pipe, one of them with an effect, signed with a development key of the test's own."""
    from metnos.contracts.build import Signer, build
    from tests.support.signing import key

    source = tmp_path / "source"
    (source / "manifests").mkdir(parents=True)
    for name in ("find_files", "write_files"):
        shutil.copy(ROOT / "manifests" / f"{name}.toml", source / "manifests")
        shutil.copytree(ROOT / "catalog" / "executors" / name, source / "catalog" / "executors" / name)
    acting = (
        SLOW.replace("find_files", "write_files").replace("find files", "write files").replace('"read"', '"create"')
    )
    for name, manifest in (("find_files_slow", SLOW), ("write_files_slow", acting)):
        (source / "manifests" / f"{name}.toml").write_text(manifest)
        (source / "catalog" / "executors" / name).mkdir()
        (source / "catalog" / "executors" / name / "executor.py").write_text(SLOW_CODE)
    out = tmp_path / "slow"
    build(source, out, Signer(key=key(7), development=True))
    return out


@pytest.fixture
def typed(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Typed:
    """In the folder, on a home of the test's own."""
    monkeypatch.chdir(folder)
    return Typed(folder, tmp_path / "home", capsys)
