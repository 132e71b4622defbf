"""A small source tree of executors, signed by keys of the test's own."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path

import pytest

from metnos.contracts.build import Signer, build
from tests.support.signing import CODE, key

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`source`: a source tree with the shipped manifests, stub code and one template; `catalog`: the same, signed with
    a release key. Made once, and copied for each test.
    """
    folder = tmp_path_factory.mktemp("once")
    source = folder / "source"
    shutil.copytree(ROOT / "manifests", source / "manifests")
    for path in (source / "manifests").glob("*.toml"):
        code = source / "catalog" / "executors" / path.stem
        code.mkdir(parents=True)
        for name in tomllib.loads(path.read_text("utf-8"))["files"]:
            (code / name).write_bytes(CODE)
    plans = source / "catalog" / "plans"
    plans.mkdir()
    (plans / "large_files.toml").write_bytes(b'id = "large_files"\nversion = "1.0.0"\n')
    build(source, folder / "catalog", Signer(key=key(1), development=False))
    return folder


@pytest.fixture
def tree(once: Path, tmp_path: Path) -> Path:
    """The source tree, this test's own."""
    return shutil.copytree(once / "source", tmp_path / "source")


@pytest.fixture
def signed(once: Path, tree: Path, tmp_path: Path) -> Path:
    """What is signed, this test's own, beside its source tree."""
    return shutil.copytree(once / "catalog", tmp_path / "catalog")
