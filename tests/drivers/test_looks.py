"""Whether something is there is told of the granted folders alone."""

from __future__ import annotations

from pathlib import Path

import pytest

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


@pytest.mark.parametrize(
    ("name", "raw", "column"),
    [
        ("a.csv", "who,Weekly Hours\nAda,40\n", "Weekly Hours"),
        ("a.csv", "\ufeffwho;weekly_hours\nAda;40,5\n", "weekly_hours"),
        ("a.tsv", "who\tweekly_hours\nAda\t40\n", "weekly_hours"),
        ("a.csv", "weekly_hours\n40\n", "weekly_hours"),
        ("a.csv", 'who,"weekly_hours"\n' + "Ada,40\n" * 60_000, "weekly_hours"),
        ("a.csv", "", None),
        ("a.csv", "a,b\n1,2\n", ""),
        ("a.csv", b"w\xe9\n\xff\n", None),
        ("a.txt", "who,weekly_hours\nAda,40\n", None),
        ("a.json", '[{"who": 1}, {"weekly_hours": 2}]', "weekly_hours"),
        ("a.json", '{"weekly_hours": 2}', "weekly_hours"),
        ("a.json", "[1, 2]", None),
        ("a.json", '[{"weekly_hours": 2}', None),
        ("a.json", '[{"weekly_hours": "' + "x" * 300_000 + '"}]', None),
        ("a.jsonl", '{"who": 1}\n\n{"weekly_hours": 2}\n', "weekly_hours"),
        ("a.jsonl", '{"weekly_hours": 2}\n' * 20_000, "weekly_hours"),
        ("a.jsonl", "[" * 100_000, None),
        ("a.csv", "é,weekly_hours\n" + "é,1\n" * 70_000, "weekly_hours"),
    ],
)
def test_a_header_is_asked(tmp_path: Path, name: str, raw: str | bytes, column: str | None) -> None:
    """`None`: no header can be read; empty: there is one, and no such column."""
    work, home = tmp_path / "work", tmp_path / "home"
    work.mkdir()
    home.mkdir()
    (work / name).write_bytes(raw.encode() if isinstance(raw, str) else raw)
    there = looks(load_settings(home=home, folder=work))
    expected = {"weekly hours": column} if column else {}
    assert there.columns(name, ["weekly hours", "x"]) == (None if column is None else expected)


def test_no_header_outside_of_the_granted_folders(tmp_path: Path) -> None:
    work, home, other = tmp_path / "work", tmp_path / "home", tmp_path / "other"
    for folder in (work, home, other):
        folder.mkdir()
    (other / "a.csv").write_text("x,y\n1,2\n", encoding="utf-8")
    (home / "a.csv").write_text("x,y\n1,2\n", encoding="utf-8")
    (work / "link.csv").symlink_to(other / "a.csv")
    (work / "folder.csv").mkdir()
    there = looks(load_settings(home=home, folder=work))
    for name in (
        "../other/a.csv",
        str(other / "a.csv"),
        str(home / "a.csv"),
        "link.csv",
        "gone.csv",
        "folder.csv",
        "\0",
    ):
        assert there.columns(name, ["x"]) is None


def test_a_bare_name_is_looked_for_below(tmp_path: Path) -> None:
    work, home, other = tmp_path / "work", tmp_path / "home", tmp_path / "other"
    for folder in (work / "shop" / "old stock", work / "club", work / ".cache", home, other):
        folder.mkdir(parents=True)
    table = "part,left\nchain,3\n"
    for file in ("shop/stock.csv", "shop/twice.txt", "club/twice.txt", "shop/Case.txt", "club/case.txt", "here.txt"):
        (work / file).write_text(table, encoding="utf-8")
    for file in (work / ".cache" / "kept.txt", home / "models.toml", other / "secret.txt"):
        file.write_text("x", encoding="utf-8")
    (work / "club" / "link.txt").symlink_to(other / "secret.txt")
    (work / "shop" / "here.txt").write_text("x", encoding="utf-8")
    there = looks(load_settings(home=home, folder=work))
    assert there("stock.csv")
    assert there.below("stock.csv")
    assert there.columns("stock.csv", ["left"]) == {"left": "left"}
    assert there.numbers("stock.csv", ["left"]) == {"left"}
    assert there.below_folder("old stock")
    assert not there.below_folder("shop")  # it is here
    for name in ("twice.txt", "Case.txt", "case.txt", "here.txt", "kept.txt", "models.toml", "secret.txt", "link.txt"):
        assert not there.below(name), name
    for name in ("shop/stock.csv", "*.csv", "[s]tock.csv", "stock", "", "..", "\0.csv"):
        assert not there.below(name), name
    (work / "club" / "stock.csv").write_text(table, encoding="utf-8")
    assert there.below("stock.csv")  # of the same request
    there.forget()
    assert not there.below("stock.csv")
    assert not there("stock.csv")
