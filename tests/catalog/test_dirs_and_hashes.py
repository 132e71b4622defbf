"""list_dirs and compute_files_hash on real files; get_now."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.catalog.conftest import Shipped


@pytest.fixture
def tree(shipped: Shipped) -> Path:
    top = shipped.folder
    for name, size in (("a.txt", 1), ("sub/b", 20), ("sub/deep/c", 300), ("sub/deep/er/d", 4000), ("sub/.h/e", 50000)):
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * size)
    (top / "empty").mkdir()
    (top / "link").symlink_to("sub")
    return top


def paths(data: Any) -> list[str]:
    assert data["count"] == len(data["entries"])
    return [entry["path"] for entry in data["entries"]]


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ({}, ["empty", "sub"]),
        ({"depth": 2}, ["empty", "sub", "sub/deep"]),
        ({"depth": 200}, ["empty", "sub", "sub/deep", "sub/deep/er"]),
        ({"depth": 2, "hidden": True}, ["empty", "sub", "sub/.h", "sub/deep"]),
        ({"path": "sub"}, ["sub/deep"]),
        ({"path": "empty"}, []),
    ],
)
def test_folders_in_order(shipped: Shipped, tree: Path, args: dict[str, Any], expected: list[str]) -> None:
    data = shipped.data("list_dirs", **args)
    assert paths(data) == expected
    assert "truncated" not in data


def test_a_folder_and_its_totals(shipped: Shipped, tree: Path) -> None:
    os.utime(tree / "sub", ns=(0, 1_796_036_400_000_000_000))
    found = shipped.data("list_dirs", totals=True, depth=2)["entries"]
    assert found[1] == {
        "path": "sub", "name": "sub", "depth": 1, "modified": "2026-11-30T12:00:00+01:00",
        "files": 3, "dirs": 2, "size": 4320,
    }  # fmt: skip
    assert [(each["files"], each["dirs"], each["size"]) for each in found] == [(0, 0, 0), (3, 2, 4320), (2, 1, 4300)]
    hidden = shipped.data("list_dirs", totals=True, hidden=True)["entries"]
    assert (hidden[1]["files"], hidden[1]["dirs"], hidden[1]["size"]) == (4, 3, 54320)


def test_depth_is_counted_from_the_folder_looked_in(shipped: Shipped, tree: Path) -> None:
    shipped.grant = type(shipped.grant)(
        turn="t", folder=str(tree / "sub"), roots=(str(tree),), now="2026-11-30T12:00:00+01:00"
    )
    found = shipped.data("list_dirs", path="..", depth=3, totals=True)["entries"]
    assert [(each["name"], each["depth"], each["files"]) for each in found] == [
        ("empty", 1, 0), ("sub", 1, 3), ("deep", 2, 2), ("er", 3, 1),
    ]  # fmt: skip


def test_a_limit_of_folders_keeps_the_totals_whole(shipped: Shipped, tree: Path) -> None:
    assert paths(shipped.data("list_dirs", depth=9, limit=2)) == ["empty", "sub"]
    outcome = shipped("list_dirs", depth=9, limit=2, totals=True)
    assert outcome.truncated
    assert outcome.data["truncated"] is True
    assert outcome.data["entries"][1]["size"] == 4320
    assert "truncated" not in shipped.data("list_dirs", limit=2)


def test_folders_that_are_no_text_are_told_apart(shipped: Shipped) -> None:
    for name in (b"\xe9", b"\xe8"):
        (shipped.folder / os.fsdecode(name) / "in").mkdir(parents=True)
    found = shipped.data("list_dirs", depth=2, totals=True)["entries"]
    assert [each.get("path_bytes") for each in found] == ["%E8", "%E8/in", "%E9", "%E9/in"]
    assert [each["dirs"] for each in found] == [1, 0, 1, 0]


def test_bad_arguments_of_list(shipped: Shipped, tree: Path) -> None:
    assert shipped.error("list_dirs", path="nowhere")[:2] == ("missing", "not-found")
    assert shipped.error("list_dirs", path="/etc")[:2] == ("denied", "outside-roots")
    assert shipped.error("list_dirs", path="a.txt")[:2] == ("missing", "not-a-folder")
    assert shipped.error("list_dirs", path="link")[0] in ("denied", "missing")


# --- checksums -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ["sha256", "sha512", "sha3_256", "blake2b", "sha1", "md5"])
def test_a_checksum_is_the_one_of_the_whole_file(shipped: Shipped, algorithm: str) -> None:
    raw = os.urandom(3 * 1024 * 1024 + 7)
    (shipped.folder / "x").write_bytes(raw)
    expected = f"{algorithm}:{hashlib.new(algorithm, raw).hexdigest()}"
    data = shipped.data("compute_files_hash", path="x", algorithm=algorithm)
    assert data == {"entries": [{"path": "x", "name": "x", "size": len(raw), "digest": expected}], "count": 1}


def test_what_was_found_has_checksums_whatever_it_is_called(shipped: Shipped) -> None:
    (shipped.folder / os.fsdecode(b"caf\xe9")).write_bytes(b"x")
    (shipped.folder / "empty").write_bytes(b"")
    found = shipped.data("find_files")["entries"]
    data = shipped.data("compute_files_hash", files=found)["entries"]
    assert [each.get("path_bytes") for each in data] == ["caf%E9", None]
    assert data[1]["digest"] == f"sha256:{hashlib.sha256().hexdigest()}"


def test_a_file_that_is_gone_is_an_error_or_counted(shipped: Shipped) -> None:
    (shipped.folder / "a").write_bytes(b"x")
    files = ["a", {"path": "gone"}]
    assert shipped.error("compute_files_hash", files=files) == ("missing", "not-found", "/files/1")
    outcome = shipped("compute_files_hash", files=files, unreadable="skip")
    assert paths(outcome.data) == ["a"]
    assert outcome.counters["skipped"] == 1
    assert outcome.warnings == ("not-found: gone",)
    # What is not granted, and what was named in words, is never passed over.
    assert shipped.error("compute_files_hash", files=["/etc/passwd"], unreadable="skip")[1] == "outside-roots"
    assert shipped.error("compute_files_hash", path="gone", unreadable="skip") == ("missing", "not-found", "/path")
    (shipped.folder / "d").mkdir()
    assert shipped.error("compute_files_hash", path="d")[:2] == ("arguments", "is-a-folder")
    os.mkfifo(shipped.folder / "pipe")
    assert shipped.error("compute_files_hash", path="pipe")[:2] == ("denied", "not-a-file")


# --- the time ------------------------------------------------------------------------------------------------------


def test_the_time_is_the_turn_s(shipped: Shipped) -> None:
    assert shipped.data("get_now") == {
        "now": "2026-11-30T12:00:00+01:00", "utc": "2026-11-30T11:00:00+00:00", "date": "2026-11-30",
        "time": "12:00:00", "zone": "+01:00", "weekday": "monday", "weekday_number": 1, "week": 49,
        "year": 2026, "month": 11, "day": 30,
    }  # fmt: skip


def test_the_time_elsewhere(shipped: Shipped) -> None:
    data = shipped.data("get_now", zone="Pacific/Kiritimati")
    assert (data["now"], data["zone"], data["weekday"]) == (
        "2026-12-01T01:00:00+14:00",
        "Pacific/Kiritimati",
        "tuesday",
    )
    for zone in ("Nowhere/Land", "../etc/passwd", "/etc/localtime", "x" * 64, "Europe"):
        assert shipped.error("get_now", zone=zone) == ("arguments", "unknown-zone", "/zone")
