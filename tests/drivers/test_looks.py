"""Whether something is there is told of the granted folders alone."""

from __future__ import annotations

from pathlib import Path

from metnos.drivers.looking import looks
from metnos.settings import load_settings


def test_below_the_granted_folders_and_nowhere_else(tmp_path: Path) -> None:
    work, home, other = tmp_path / "work", tmp_path / "home", tmp_path / "other"
    for folder in (work / "Lake House", home, other):
        folder.mkdir(parents=True)
    for file in (work / "garden notes.md", home / "models.toml", other / "secret plan.md"):
        file.write_text("x", encoding="utf-8")
    (work / "a link.md").symlink_to(other / "secret plan.md")
    there = looks(load_settings(home=home, folder=work))
    assert there("garden notes.md")
    assert there("Lake House")
    assert not there("notes.md")
    for name in (
        str(other / "secret plan.md"),
        "../other/secret plan.md",
        "../home/models.toml",
        "x\0y",
        "",
        "a" * 9000,
    ):
        assert not there(name)
