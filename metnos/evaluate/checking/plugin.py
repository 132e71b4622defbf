"""pytest plugin: cases and run files are tests. Registered as `metnos` (entry point `pytest11`); `-p no:metnos` leaves it out.

    pytest cases/ --metnos-baseline results/main.json

Law: hooks only, and nothing of Metnos is imported before a file is collected: a test run without such files pays for one
look at each file's name. Files are known by their names (`*.case.toml`, `*.case.json`, `*.run.toml`, or what the ini
option `metnos_files` says), and any file that is named on the command line by its form.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from metnos.evaluate.checking.collected import CaseFile, RunFile

PATTERNS: Final = ("*.case.toml", "*.case.json", "*.run.toml")
HEAD: Final = 4096
"""Bytes of a named file in which its form must stand."""
FORMS: Final = {b"metnos.case/1": "case", b"metnos.run/1": "run"}


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options."""
    group = parser.getgroup("metnos")
    group.addoption(
        "--metnos-baseline",
        metavar="FILE",
        help="Result of another run (metnos eval --out FILE) that run files are compared with.",
    )
    parser.addini("metnos_files", "Names of files that are cases or runs of Metnos.", type="args", default=PATTERNS)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> CaseFile | RunFile | None:
    """A case, a run, or nothing of ours."""
    if file_path.suffix not in (".toml", ".json"):
        return None
    patterns: list[str] = parent.config.getini("metnos_files")
    if not (parent.session.isinitpath(file_path) or any(file_path.match(one) for one in patterns)):
        return None
    kind = _kind(file_path)
    if kind is None:
        return None
    from metnos.evaluate.checking import collected

    make: Any = collected.CaseFile if kind == "case" else collected.RunFile
    return make.from_parent(parent, path=file_path)


def _kind(path: Path) -> str | None:
    """By the form that it says it has; None: it is none of ours."""
    with path.open("rb") as file:
        head = file.read(HEAD)
    return next((kind for form, kind in FORMS.items() if form in head), None)
