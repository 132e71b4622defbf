"""Hostile settings for every test: no home, no setting and no zone of the machine it runs on leaks in.

Law: this file redirects and forbids; it builds nothing that a room owns. Sockets are limited to loopback, warnings
are errors and the order is random by `[tool.pytest]` in pyproject.toml.
"""

from __future__ import annotations

import itertools
import os
from pathlib import Path

import pytest
from check_coverage import FLOOR
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent.parent

# The same examples on every run, so that a red test stays red; `search` looks for new ones.
STEADY = settings(
    deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.register_profile("steady", STEADY)
settings.register_profile("ci", STEADY, max_examples=200)
settings.register_profile("search", STEADY, derandomize=False, max_examples=2_000)
settings.load_profile("ci" if os.environ.get("CI") else "steady")

_numbers = itertools.count()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Branches are counted in the tests of the rooms that have a floor: those must reach it by themselves. To count in
    all others too takes half as long again, and would call tested what the test of another room only passes through.
    """
    for item in items:
        if item.path.relative_to(ROOT).parts[1] not in FLOOR:
            item.add_marker(pytest.mark.no_cover)


@pytest.fixture(autouse=True)
def _own_home(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A home of the test's own (made when first written to); no METNOS_* and no XDG_* from outside."""
    home = tmp_path_factory.getbasetemp() / f"home{next(_numbers)}"
    for name in list(os.environ):
        if name.startswith(("METNOS_", "XDG_", "PIP_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("METNOS_HOME", str(home / "metnos"))
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "100")


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT
