"""find_texts on real files."""

from __future__ import annotations

import os
import time
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import re2
from hypothesis import given
from hypothesis import strategies as st

from metnos.execute.code import load

if TYPE_CHECKING:
    from tests.catalog.conftest import Shipped

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def tree(shipped: Shipped) -> Path:
    top = shipped.folder
    for name, raw in {
        "a.txt": b"one TODO\r\ntwo\r\ntodo three TODO",
        "b.md": "è TODO: città\n".encode(),
        "sub/c.txt": b"nothing\n",
        "sub/d.bin": b"TODO\0",
        "sub/e.txt": b"TODO caf\xe9\n",
        ".hidden/f.txt": b"TODO\n",
    }.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(raw)
    (top / "link.txt").symlink_to("a.txt")
    return top


def places(data: Any) -> list[tuple[str, int, int]]:
    assert data["count"] == len(data["entries"])
    return [(each["path"], each["line"], each["column"]) for each in data["entries"]]


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ({"pattern": "TODO"}, [("a.txt", 1, 5), ("a.txt", 3, 12), ("b.md", 1, 3)]),
        ({"pattern": "todo"}, [("a.txt", 3, 1)]),
        (
            {"pattern": "todo", "ignore_case": True},
            [("a.txt", 1, 5), ("a.txt", 3, 1), ("a.txt", 3, 12), ("b.md", 1, 3)],
        ),
        ({"pattern": "CITTÀ", "ignore_case": True}, [("b.md", 1, 9)]),
        ({"pattern": "TODO", "glob": "*.md"}, [("b.md", 1, 3)]),
        ({"pattern": "TODO", "glob": "[a-b].{txt,md}"}, [("a.txt", 1, 5), ("a.txt", 3, 12), ("b.md", 1, 3)]),
        ({"pattern": "T.DO"}, []),
        ({"pattern": "T.DO$", "syntax": "regex"}, [("a.txt", 1, 5), ("a.txt", 3, 12)]),
        ({"pattern": r"^\w+$", "syntax": "regex"}, [("a.txt", 2, 1), ("sub/c.txt", 1, 1)]),
        ({"pattern": "TODO", "path": "sub", "encoding": "latin-1"}, [("sub/e.txt", 1, 1)]),
        ({"pattern": "TODO", "path": ".hidden", "hidden": True}, [(".hidden/f.txt", 1, 1)]),
        ({"pattern": "TODO", "path": "a.txt"}, [("a.txt", 1, 5), ("a.txt", 3, 12)]),
    ],
)
def test_each_place(shipped: Shipped, tree: Path, args: dict[str, Any], expected: list[Any]) -> None:
    assert places(shipped.data("find_texts", **{"path": ".", **args})) == expected


def test_a_match_says_what_and_where(shipped: Shipped, tree: Path) -> None:
    found = shipped.data("find_texts", pattern=r"T\w+", syntax="regex", path="b.md")
    expected = {"path": "b.md", "line": 1, "column": 3, "match": "TODO", "text": "è TODO: città"}
    assert found == {"entries": [expected], "count": 1, "files": 1, "skipped": 0}


def test_what_is_no_text_is_counted_and_named(shipped: Shipped, tree: Path) -> None:
    (tree / "big.txt").write_bytes(b"TODO" + b"x" * 2000)
    outcome = shipped("find_texts", pattern="TODO", path=".", max_bytes=1000)
    assert (outcome.data["files"], outcome.data["skipped"]) == (3, 3)
    assert outcome.counters == {"not-text": 2, "too-large": 1}
    assert sorted(outcome.warnings) == ["not-text: sub/d.bin", "not-text: sub/e.txt", "too-large: big.txt"]


def test_files_that_were_found_are_searched_whatever_they_are_called(shipped: Shipped, tree: Path) -> None:
    (tree / os.fsdecode(b"caf\xe9")).write_bytes(b"TODO")
    found = shipped.data("find_files", recursive=False)["entries"]
    data = shipped.data("find_texts", files=found, pattern="TODO")
    assert places(data)[-1] == ("caf\ufffd", 1, 1)
    assert data["entries"][-1]["path_bytes"] == "caf%E9"
    assert shipped.data("find_texts", path=".", pattern="TODO", glob="caf*")["entries"] == data["entries"][-1:]


def test_a_file_that_is_gone_is_counted_one_not_granted_is_refused(shipped: Shipped, tree: Path) -> None:
    outcome = shipped("find_texts", files=["gone", "a.txt", {"path": "link.txt"}], pattern="two")
    assert places(outcome.data) == [("a.txt", 2, 1)]
    assert outcome.data["skipped"] == 2
    assert outcome.warnings[0] == "not-found: gone"
    assert shipped.error("find_texts", files=["a.txt", "/etc/passwd"], pattern="x") == (
        "denied",
        "outside-roots",
        "/files/1",
    )
    assert shipped.error("find_texts", path="/etc", pattern="x") == ("denied", "outside-roots", "/path")
    assert shipped.error("find_texts", path="gone", pattern="x") == ("missing", "not-found", "/path")


def test_limits_say_that_there_is_more(shipped: Shipped) -> None:
    (shipped.folder / "x").write_text("ab\n" * 10)
    outcome = shipped("find_texts", path="x", pattern="a", max_matches=3)
    assert places(outcome.data) == [("x", 1, 1), ("x", 2, 1), ("x", 3, 1)]
    assert outcome.truncated
    assert outcome.data["truncated"] is True
    assert "truncated" not in shipped.data("find_texts", path="x", pattern="a", max_matches=10)


def test_a_long_line_is_shown_around_the_match(shipped: Shipped) -> None:
    (shipped.folder / "x").write_text("<" * 3000 + "here" + ">" * 3000)
    (found,) = shipped.data("find_texts", path="x", pattern="here")["entries"]
    assert found["column"] == 3001
    assert len(found["text"]) == 500
    assert "here" in found["text"]
    (shipped.folder / "y").write_text("x" * 400_000 + "\n")
    many = shipped("find_texts", path="y", pattern="x", max_matches=100_000)
    assert many.data["truncated"] is True
    assert many.data["count"] < 20_000  # so much text as a result may hold


def test_empty_lines_can_be_found(shipped: Shipped) -> None:
    (shipped.folder / "x").write_text("a\n\nb")
    assert places(shipped.data("find_texts", path="x", pattern="^$", syntax="regex")) == [("x", 2, 1)]
    assert places(shipped.data("find_texts", path="x", pattern="b*", syntax="regex")) == [
        ("x", 1, 1), ("x", 2, 1), ("x", 3, 1),
    ]  # fmt: skip


@pytest.mark.parametrize("pattern", ["(", "(?=a)", r"(a)\1", "[z-a]"])
def test_patterns_that_cannot_be_read(shipped: Shipped, tree: Path, pattern: str) -> None:
    assert shipped.error("find_texts", path=".", pattern=pattern, syntax="regex") == (
        "arguments",
        "bad-pattern",
        "/pattern",
    )


def test_an_unknown_encoding(shipped: Shipped, tree: Path) -> None:
    for encoding in ("klingon", "hex", "a\0b"):
        error = shipped.error("find_texts", path=".", pattern="x", encoding=encoding)
        assert error == ("arguments", "unknown-encoding", "/encoding")


def test_a_catastrophic_pattern_is_none(shipped: Shipped) -> None:
    (shipped.folder / "x").write_text("a" * 40_000 + "!")
    began = time.process_time()
    assert shipped.data("find_texts", path="x", pattern="^(a+)+$", syntax="regex")["count"] == 0
    assert time.process_time() - began < 5


def globs() -> Any:
    folder = ROOT / "catalog/executors/find_texts"
    source = b"from .patterns import pattern_of as run\n"
    return load(
        "globs",
        "globs",
        {"executor.py": source, "patterns.py": (folder / "patterns.py").read_bytes()},
        frozenset({"re2"}),
    )


PATTERN_OF: Any = globs()


@given(st.text("ab*?[]!-.{},^\\", max_size=8), st.text("ab.-]{,^\\", max_size=8))
def test_a_glob_means_what_fnmatch_means(glob: str, name: str) -> None:
    compiled = re2.compile(PATTERN_OF(glob))  # whatever the glob, RE2 reads it
    if any(character in glob for character in "{[") or "^" in glob:
        return  # alternatives, and brackets: fnmatch's own reading
    assert bool(compiled.search(name)) == fnmatchcase(name, glob), (glob, name)


@pytest.mark.parametrize(
    ("glob", "names"),
    [
        ("[ab]", {"a", "b"}), ("[!ab]", {"c", "-", "]"}), ("[a-c]", {"a", "b", "c"}), ("[]]", {"]"}), ("[c-a]", set()),
        ("[a-]", {"a", "-"}), ("{a,b}", {"a", "b"}), ("[!c-a]", {"a", "b", "c", "-", "]"}),
    ],
)  # fmt: skip
def test_brackets_and_braces(glob: str, names: set[str]) -> None:
    compiled = re2.compile(PATTERN_OF(glob))
    assert {name for name in ("a", "b", "c", "-", "]", "ab") if compiled.search(name)} == names


@pytest.mark.parametrize(("name", "count"), [("decoding.py", 3), ("leftopen.py", 4)])
def test_what_several_carry_is_alike(name: str, count: int) -> None:
    """An executor carries its own files; these are meant to be the same."""
    copies = [path.read_bytes() for path in (ROOT / "catalog" / "executors").glob(f"*/{name}")]
    assert (len(copies), len(set(copies))) == (count, 1)
