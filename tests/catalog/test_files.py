"""find_files, read_files, write_files: on real files."""

from __future__ import annotations

import codecs
import hashlib
import os
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from metnos.execute.code import load

if TYPE_CHECKING:
    from tests.catalog.conftest import Shipped

HOUR = 3_600_000_000_000
NOON = 1_796_036_400_000_000_000
"""2026-11-30T12:00:00+01:00 in ns."""


@pytest.fixture
def tree(shipped: Shipped) -> Path:
    top = shipped.folder
    for name, size in (
        ("a.txt", 1),
        ("B.PDF", 20),
        ("sub/c.pdf", 300),
        ("sub/deep/d.tar.gz", 4000),
        (".hidden/e", 5),
        ("Makefile", 0),
    ):
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * size)
        os.utime(path, ns=(NOON, NOON))
    (top / "link.txt").symlink_to("a.txt")
    os.utime(top / "a.txt", ns=(NOON - 1000, NOON - 1000))
    os.utime(top / "sub" / "c.pdf", ns=(NOON + HOUR, NOON + HOUR))
    return top


def paths(data: Any) -> list[str]:
    assert data["count"] == len(data["entries"])
    return [entry["path"] for entry in data["entries"]]


def test_all_files_in_order(shipped: Shipped, tree: Path) -> None:
    data = shipped.data("find_files")
    assert paths(data) == ["B.PDF", "Makefile", "a.txt", "sub/c.pdf", "sub/deep/d.tar.gz"]
    assert data["entries"][0] == {
        "path": "B.PDF",
        "name": "B.PDF",
        "ext": ".pdf",
        "size": 20,
        "modified": "2026-11-30T12:00:00+01:00",
    }
    assert [entry["ext"] for entry in data["entries"]] == [".pdf", "", ".txt", ".pdf", ".gz"]
    assert "truncated" not in data


def test_without_case_composed_and_decomposed_accents_are_one(shipped: Shipped) -> None:
    for name in ("Perche\u0301.TXT", "stra\u00dfe.txt"):
        (shipped.folder / name).write_bytes(b"")
    assert paths(shipped.data("find_files", pattern="perch\u00e9.txt", ignore_case=True)) == ["Perche\u0301.TXT"]
    assert paths(shipped.data("find_files", pattern="STRASSE.*", ignore_case=True)) == ["stra\u00dfe.txt"]
    assert paths(shipped.data("find_files", pattern="perch\u00e9.txt")) == []


def test_hidden_files_and_the_others_are_all_files(shipped: Shipped, tree: Path) -> None:
    for name in (".a", "sub/.b/c/d", "sub/.b/.e", "x.y/z"):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_bytes(b"")
    for path in (".", "sub", str(tree), str(tree / "sub")):
        hidden = paths(shipped.data("find_files", path=path, only_hidden=True))
        rest = paths(shipped.data("find_files", path=path))
        assert sorted(hidden + rest) == sorted(paths(shipped.data("find_files", path=path, hidden=True)))
        assert any(text.endswith(".b/c/d") for text in hidden)


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ({"recursive": False}, ["B.PDF", "Makefile", "a.txt"]),
        ({"path": "sub"}, ["sub/c.pdf", "sub/deep/d.tar.gz"]),
        ({"path": "sub", "pattern": "deep/*"}, ["sub/deep/d.tar.gz"]),
        ({"pattern": "*.pdf"}, ["sub/c.pdf"]),
        ({"pattern": "*.{pdf,PDF}"}, ["B.PDF", "sub/c.pdf"]),
        ({"pattern": "*.pdf", "ignore_case": True}, ["B.PDF", "sub/c.pdf"]),
        ({"pattern": "SUB/**/*.[A-H]z", "ignore_case": True}, ["sub/deep/d.tar.gz"]),
        ({"only_hidden": True}, [".hidden/e"]),
        ({"path": ".hidden", "only_hidden": True}, []),
        ({"pattern": "[aB].*"}, ["B.PDF", "a.txt"]),
        ({"pattern": "**/*.gz"}, ["sub/deep/d.tar.gz"]),
        ({"pattern": "sub/*"}, ["sub/c.pdf"]),
        ({"pattern": "sub/**"}, ["sub/c.pdf", "sub/deep/d.tar.gz"]),
        ({"pattern": "nothing"}, []),
        ({"hidden": True, "pattern": "e"}, [".hidden/e"]),
        ({"min_size": 20, "max_size": 300}, ["B.PDF", "sub/c.pdf"]),
        ({"max_size": 0}, ["Makefile"]),
        ({"modified_from": "2026-11-30T12:00:00+01:00", "max_size": 20}, ["B.PDF", "Makefile"]),
        ({"modified_to": "2026-11-30T12:00:00+01:00"}, ["a.txt"]),
        ({"modified_from": "2026-11-30T12:00:00Z"}, ["sub/c.pdf"]),
        ({"modified_from": "2026-11-30T13:00:00", "modified_to": "2026-12-01"}, ["sub/c.pdf"]),
    ],
)
def test_each_condition(shipped: Shipped, tree: Path, args: dict[str, Any], expected: list[str]) -> None:
    assert paths(shipped.data("find_files", **args)) == expected


def test_a_limit_says_that_there_is_more(shipped: Shipped, tree: Path) -> None:
    outcome = shipped("find_files", limit=2)
    assert paths(outcome.data) == ["B.PDF", "Makefile"]
    assert outcome.data["truncated"] is True
    assert outcome.truncated
    assert "truncated" not in shipped.data("find_files", limit=5)


def test_bad_arguments_of_find(shipped: Shipped, tree: Path) -> None:
    assert shipped.error("find_files", path="nowhere")[:2] == ("missing", "not-found")
    assert shipped.error("find_files", path="/etc")[:2] == ("denied", "outside-roots")
    assert shipped.error("find_files", path="a.txt")[:2] == ("missing", "not-a-folder")
    assert shipped.error("find_files", modified_from="next tuesday") == ("arguments", "bad-time", "/modified_from")
    assert shipped.error("find_files", modified_to="2026-13-40") == ("arguments", "bad-time", "/modified_to")
    assert shipped.error("find_files", pattern="{a,b}" * 10) == ("arguments", "bad-pattern", "/pattern")


def test_what_was_found_can_be_read_whatever_it_is_called(shipped: Shipped) -> None:
    for name in (b"caf\xe9", "è|\n*.txt".encode(), b"-rf", b"%41"):
        (shipped.folder / os.fsdecode(name)).write_bytes(b"<" + name.hex().encode() + b">")
    found = shipped.data("find_files")["entries"]
    read = shipped.data("read_files", files=found)["entries"]
    assert [entry["path"] for entry in read] == [entry["path"] for entry in found]
    assert {entry["text"] for entry in read} == {
        f"<{name.hex()}>" for name in (b"caf\xe9", "è|\n*.txt".encode(), b"-rf", b"%41")
    }


def glob_of(root: Path) -> Any:
    source = (root / "catalog/executors/find_files/executor.py").read_bytes()
    return load("find_files", "test", {"executor.py": source}, frozenset()).__globals__["matches"]


@given(st.text("ab*?[]!-.", max_size=8), st.text("ab.-]", max_size=8))
def test_a_glob_on_a_name_means_what_fnmatch_means(pattern: str, name: str) -> None:
    root = Path(__file__).resolve().parents[2]
    if "**" in pattern:
        return
    if "[" in pattern and ("]" not in pattern[pattern.index("[") + 2 :] or "-" in pattern):
        return  # ranges that run backwards and brackets left open: fnmatch's own reading
    assert glob_of(root)(pattern, name) == fnmatchcase(name, pattern), (pattern, name)


def test_a_hostile_glob_is_fast(root: Path) -> None:
    assert glob_of(root)("*a" * 200 + "b", "a" * 2000) is False


# --- reading -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "args", "text", "lines"),
    [
        (b"one\ntwo\n", {}, "one\ntwo\n", 2),
        (b"one\r\ntwo", {}, "one\r\ntwo", 2),
        (b"", {}, "", 0),
        ("è".encode(), {}, "è", 1),
        (codecs.BOM_UTF8 + b"x", {}, "x", 1),
        ("xè".encode("utf-16"), {}, "xè", 1),
        (codecs.BOM_UTF32_BE + "xè".encode("utf-32-be"), {}, "xè", 1),
        ("è".encode("latin-1"), {"encoding": "latin-1"}, "è", 1),
        (b"\xff\x00", {"errors": "replace"}, "\ufffd\x00", 1),
    ],
)
def test_decoding(shipped: Shipped, raw: bytes, args: dict[str, Any], text: str, lines: int) -> None:
    (shipped.folder / "x").write_bytes(raw)
    entry = {"path": "x", "text": text, "size": len(raw), "lines": lines, "truncated": False}
    assert shipped.data("read_files", path="x", **args) == {"entries": [entry], "count": 1}


@pytest.mark.parametrize("raw", [b"\xff\xfe\xfd", b"caf\xe9", b"PNG\x00\x01"])
def test_what_is_no_text_is_an_error_that_names_the_file(shipped: Shipped, raw: bytes) -> None:
    (shipped.folder / "good").write_bytes(b"x")
    (shipped.folder / "bad").write_bytes(raw)
    outcome = shipped("read_files", files=["good", {"path": "bad"}])
    assert outcome.error is not None
    assert (outcome.error.cls, outcome.error.code, outcome.error.where) == ("data", "not-text", "/files/1")
    assert "bad" in outcome.error.message


def test_a_limit_never_cuts_a_character_in_two(shipped: Shipped) -> None:
    (shipped.folder / "x").write_text("aèè")
    for limit, text in ((1, "a"), (2, "a"), (3, "aè"), (4, "aè"), (5, "aèè")):
        outcome = shipped("read_files", path="x", max_bytes=limit)
        assert outcome.data["entries"][0] == {"path": "x", "text": text, "size": 5, "lines": 1, "truncated": limit < 5}
        assert outcome.truncated is (limit < 5)


def test_bad_arguments_of_read(shipped: Shipped) -> None:
    (shipped.folder / "x").write_bytes(b"x")
    assert shipped.error("read_files", path="x", encoding="klingon") == ("arguments", "unknown-encoding", "/encoding")
    assert shipped.error("read_files", path="x", encoding="rot13") == ("arguments", "unknown-encoding", "/encoding")
    assert shipped.error("read_files", files=["x", "gone"]) == ("missing", "not-found", "/files/1")
    assert shipped.error("read_files", path="../x") == ("denied", "outside-roots", "/path")
    assert shipped.error("read_files", path=".") == ("arguments", "is-a-folder", "/path")


# --- writing -----------------------------------------------------------------------------------------------------


def sha(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def test_writing_tells_what_was_done(shipped: Shipped) -> None:
    shipped.grant = replace(shipped.grant, now="2001-01-01T00:00:00+00:00")
    outcome = shipped("write_files", path="new/x.md", content="è\n")
    assert outcome.data == {"path": "new/x.md", "bytes": 3, "digest": sha("è\n".encode())}
    assert (shipped.folder / "new/x.md").read_text(encoding="utf-8") == "è\n"
    (effect,) = outcome.effects
    assert (effect.cls, effect.target, effect.before, effect.after) == ("create", "new/x.md", None, sha("è\n".encode()))
    again = shipped("write_files", path="new/x.md", content="è\n")
    assert again.data == outcome.data
    assert again.effects == outcome.effects, "made in this turn: its own work"
    changed = shipped("write_files", path="new/x.md", content="z", overwrite=True)
    assert (changed.effects[0].cls, changed.effects[0].before, changed.effects[0].after) == (
        "change",
        sha("è\n".encode()),
        sha(b"z"),
    )


def test_what_cannot_be_written(shipped: Shipped) -> None:
    (shipped.folder / "x").write_text("old")
    assert shipped.error("write_files", path="x", content="new") == ("conflict", "exists", "/path")
    assert shipped.error("write_files", path="y", content="è", encoding="ascii") == (
        "data",
        "not-encodable",
        "/content",
    )
    assert shipped.error("write_files", path="y", content="", encoding="hex") == (
        "arguments",
        "unknown-encoding",
        "/encoding",
    )
    assert shipped.error("write_files", path="y", content="", encoding="a\0b") == (
        "arguments",
        "unknown-encoding",
        "/encoding",
    )
    assert shipped.error("write_files", path="/etc/y", content="") == ("denied", "outside-roots", "/path")
    assert shipped.error("write_files", path=".", content="") == ("arguments", "is-a-folder", "/path")
    assert (shipped.folder / "x").read_text() == "old"
    assert os.listdir(shipped.folder) == ["x"]
