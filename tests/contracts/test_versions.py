"""Versions in order, requirements, and what is installed without importing the library that says so."""

from __future__ import annotations

import sys
from importlib import metadata
from pathlib import Path

import pytest

from metnos.contracts.versions import distribution_of, installed_version, precedence, satisfies


def test_the_order_is_that_of_the_specification() -> None:
    order = [
        "0.9.9",
        "1.0.0-alpha",
        "1.0.0-alpha.1",
        "1.0.0-alpha.beta",
        "1.0.0-beta",
        "1.0.0-beta.2",
        "1.0.0-beta.11",
        "1.0.0-rc.1",
        "1.0.0",
        "1.0.1",
        "1.2.0",
        "1.10.0",
        "2.0.0",
    ]
    shuffled = order[::2] + order[1::2]
    assert sorted(shuffled, key=precedence) == order
    with pytest.raises(ValueError, match="semantic"):
        precedence("1.0")


@pytest.mark.parametrize(
    ("version", "requirement", "fits"),
    [
        ("1.1", "x", True),
        ("1.1.20251105", "x>=1.1", True),
        ("1.0.9", "x>=1.1", False),
        ("1.10", "x>=1.9", True),
        ("2.0", "x>=1.1,<2", False),
        ("1.99", "x>=1.1,<2", True),
        ("1.1", "x==1.1", True),
        ("1.1.0", "x==1.1", True),
        ("1.1.1", "x==1.1", False),
        ("unknown", "x>=0", True),
        ("unknown", "x>=1", False),
    ],
)
def test_requirements(version: str, requirement: str, fits: bool) -> None:
    assert satisfies(version, requirement) == fits
    assert distribution_of(requirement) == "x"


@pytest.mark.parametrize("name", ["msgspec", "google-re2", "Google_RE2", "jsonschema-rs", "typing.extensions"])
def test_the_installed_version_is_what_the_library_says(name: str) -> None:
    assert installed_version(name) == metadata.version(name)


def test_what_is_not_installed_has_no_version() -> None:
    assert installed_version("no-such-thing") is None


def test_older_forms_are_found_by_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    info = tmp_path / "oldform.egg-info"
    info.mkdir()
    (info / "PKG-INFO").write_text("Metadata-Version: 2.1\nName: oldform\nVersion: 3.4\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path / "gone"), *sys.path, str(tmp_path)])
    assert installed_version("oldform") == "3.4"
