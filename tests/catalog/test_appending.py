"""append_files: on real files; what is there stays, nothing is added twice, an undo brings back what was."""

from __future__ import annotations

import codecs
import os
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from tests.catalog.test_effects import trashed, undo

if TYPE_CHECKING:
    from tests.catalog.conftest import Shipped

BOM = codecs.BOM_UTF8


@pytest.mark.parametrize(
    ("old", "text", "encoding", "new"),
    [
        (b"a\n", "b", "utf-8", b"a\nb\n"),
        (b"a", "b\n", "utf-8", b"a\nb\n"),
        (b"", "b", "utf-8", b"b\n"),
        (b"\n", "b\nc", "utf-8", b"\nb\nc\n"),
        (b"a\r\nb\r\n", "c\nd", "utf-8", b"a\r\nb\r\nc\r\nd\r\n"),
        (b"a\r\nb", "c\r\n", "utf-8", b"a\r\nb\r\nc\r\n"),
        (b"a\nb", "c\r\n", "utf-8", b"a\nb\nc\n"),
        (b"a\r\nb\n", "c", "utf-8", b"a\r\nb\nc\n"),
        (b"\xe8", "\xe8", "latin-1", b"\xe8\n\xe8\n"),
        (BOM + b"a", "\xe8", "ascii", BOM + "a\n\xe8\n".encode()),
        (b"", "b", "utf-8-sig", BOM + b"b\n"),
        ("a".encode("utf-16"), "b", "utf-8", "a\nb\n".encode("utf-16")),
        ("a".encode("utf-16-le"), "b", "utf-16", "a\nb\n".encode("utf-16-le")),
        (b"a", "", "utf-8", b"a"),
    ],
)
def test_what_is_there_stays(shipped: Shipped, old: bytes, text: str, encoding: str, new: bytes) -> None:
    file = shipped.folder / "x"
    file.write_bytes(old)
    shipped.grant = replace(shipped.grant, now="2099-01-01T00:00:00+00:00")  # the file is older than the turn
    outcome = shipped("append_files", path="x", content=text, encoding=encoding)
    assert outcome.status == "finished", outcome.error
    assert file.read_bytes() == new
    assert (outcome.data["bytes"], outcome.data["added"]) == (len(new), len(new) - len(old))
    assert outcome.effects[0].cls == "change"
    again = shipped("append_files", path="x", content=text, encoding=encoding)
    assert (again.data, again.effects) == (outcome.data, outcome.effects), "the same operation: its own work"
    assert file.read_bytes() == new
    if text:
        assert [one.status for one in undo(shipped, outcome)] == ["finished"]
    assert file.read_bytes() == old


def test_a_missing_file_is_made_and_an_undo_takes_it_away(shipped: Shipped) -> None:
    shipped.grant = replace(shipped.grant, now="2001-01-01T00:00:00+00:00")
    first = shipped.operation("1", "append_files", path="sub/x", content="a")
    assert (first.effects[0].cls, first.effects[0].before) == ("create", None)
    again = shipped.operation("1", "append_files", path="sub/x", content="a")
    assert (again.data, again.effects) == (first.data, first.effects)
    second = shipped.operation("2", "append_files", path="sub/x", content="a")
    assert (shipped.folder / "sub/x").read_text() == "a\na\n", "another operation adds again, also in the same turn"
    assert second.effects[0].cls == "change"
    assert [one.status for outcome in (second, first) for one in undo(shipped, outcome)] == ["finished"] * 2
    assert not (shipped.folder / "sub/x").exists()


@pytest.mark.parametrize("made", [True, False])
def test_cut_off_at_each_point_it_adds_once(shipped: Shipped, made: bool) -> None:
    """What a crash leaves: nothing, the original and what is kept of it, or the whole; each is run again."""
    file = shipped.folder / "x"
    if not made:
        file.write_text("a\n")
        shipped.grant = replace(shipped.grant, now="2099-01-01T00:00:00+00:00")
    else:
        shipped.grant = replace(shipped.grant, now="2001-01-01T00:00:00+00:00")
        file.write_bytes(b"")  # made empty, and cut off there
    whole = shipped("append_files", path="x", content="b")
    written = file.read_text()
    file.unlink()
    kept = next((shipped.folder / ".metnos-trash").glob("*/x"))
    os.link(kept, file)  # kept, and cut off before it was written
    again = shipped("append_files", path="x", content="b")
    assert (again.data, again.effects) == (whole.data, whole.effects)
    assert file.read_text() == written == ("b\n" if made else "a\nb\n")
    file.write_text("a\nb\nsomebody else\n")
    assert shipped.error("append_files", path="x", content="b") == ("conflict", "changed-since", "/path")
    assert file.read_text() == "a\nb\nsomebody else\n"


def test_what_cannot_be_added_to_is_left_alone(shipped: Shipped) -> None:
    (shipped.folder / "x").write_bytes(b"\xff\xfa\x00")
    (shipped.folder / "y").write_bytes(b"a")
    with (shipped.folder / "big").open("wb") as big:
        big.truncate(16 * 1024 * 1024 + 1)
    assert shipped.error("append_files", path="x", content="new") == ("data", "not-text", "/path")
    assert shipped.error("append_files", path="big", content="new") == ("oversize", "too-large", "/path")
    for path in ("y", "none"):
        for content, encoding, expected in (
            ("è", "ascii", ("data", "not-encodable", "/content")),
            ("a", "hex", ("arguments", "unknown-encoding", "/encoding")),
            ("a", "a\0b", ("arguments", "unknown-encoding", "/encoding")),
        ):
            assert shipped.error("append_files", path=path, content=content, encoding=encoding) == expected
    assert shipped.error("append_files", path="/etc/y", content="") == ("denied", "outside-roots", "/path")
    assert shipped.error("append_files", path=".", content="")[:2] == ("arguments", "is-a-folder")
    assert sorted(os.listdir(shipped.folder)) == ["big", "x", "y"]
    assert (trashed(shipped.folder), (shipped.folder / "y").read_bytes()) == ({}, b"a")
