"""A small source tree of executors, signed by keys of the test's own."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path

import pytest

from metnos.contracts.build import Signer, build
from tests.support.signing import CODE, key

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A source tree with the shipped manifests, stub code and one template."""
    source = tmp_path / "source"
    shutil.copytree(ROOT / "manifests", source / "manifests")
    for path in (source / "manifests").glob("*.toml"):
        folder = source / "catalog" / "executors" / path.stem
        folder.mkdir(parents=True)
        for name in tomllib.loads(path.read_text("utf-8"))["files"]:
            (folder / name).write_bytes(CODE)
    plans = source / "catalog" / "plans"
    plans.mkdir()
    (plans / "large_files.toml").write_bytes(b'id = "large_files"\nversion = "1.0.0"\n')
    return source


@pytest.fixture
def signed(tree: Path, tmp_path: Path) -> Path:
    """The tree, signed with a release key."""
    out = tmp_path / "catalog"
    build(tree, out, Signer(key=key(1), development=False))
    return out
