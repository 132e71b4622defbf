"""Dependencies are pinned and named without an address; no machine's own paths are in what is shipped."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PIN = re.compile(r"[a-z0-9][a-z0-9.-]*==[0-9][0-9a-z.+!]*")


def pins(root: Path) -> dict[str, str]:
    lines = (root / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.split("==") for line in lines if not line.startswith("#"))


def test_a_constraint_is_a_name_and_a_version(root: Path) -> None:
    lines = (root / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if not line.startswith("#") and not PIN.fullmatch(line)] == []
    assert list(pins(root)) == sorted(pins(root))


def test_each_dependency_is_pinned_within_its_range(root: Path) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *(one for extra in project["optional-dependencies"].values() for one in extra)]
    known = {canonicalize_name(name): version for name, version in pins(root).items()}
    for text in wanted:
        requirement = Requirement(text)
        if requirement.name != "metnos":
            assert requirement.specifier.contains(known[canonicalize_name(requirement.name)]), text


def test_no_address_of_a_registry_and_no_path_of_a_machine(root: Path) -> None:
    folders = ("metnos", "catalog", "manifests", "tests", "scripts", "docs", "benchmarks", "changelog.d", ".ci")
    files = [path for folder in folders for path in (root / folder).rglob("*") if path.is_file()]
    files += [path for path in root.iterdir() if path.is_file() and (path.suffix or path.name == "Makefile")]
    # Written in two halves: this file is searched too.
    forbidden = re.compile(
        rb"(?<![A-Za-z0-9_.])(/wor" + rb"k/|/roo" + rb"t/)|index-" + rb"url|file" + rb"s\.pythonhosted"
    )
    guilty = [
        str(path.relative_to(root))
        for path in files
        if "__pycache__" not in path.parts and forbidden.search(path.read_bytes())
    ]
    assert guilty == []
