"""Kinds, and the vocabulary."""

from __future__ import annotations

import pytest

from metnos.contracts import vocabulary
from metnos.contracts.kinds import KINDS, accepts, is_open, read_kinds, reader_for


def test_a_wider_kind_takes_a_narrower_one_and_never_the_reverse() -> None:
    assert accepts(("entry",), "file")
    assert accepts(("file", "text"), "text")
    assert not accepts(("file",), "entry")
    assert not accepts(("entry",), "stats")
    assert not accepts(("entry",), "unheard")
    assert accepts(("entry", "city"), "city")  # a host's own kind
    assert all(accepts((kind,), kind) for kind in KINDS)


def test_readers_are_found_by_what_they_make() -> None:
    assert reader_for("file", ("text",)) == "read_files"
    assert reader_for("file", ("entry",)) == "read_files"
    assert reader_for("text", ("file",)) is None
    assert reader_for("file", ("stats",)) is None
    assert reader_for("unheard", ("text",)) is None


def test_open_kinds_may_lack_a_field() -> None:
    assert is_open("row")
    assert is_open("unheard")
    assert not is_open("file")


@pytest.mark.parametrize(
    "data",
    [
        b"[a]\nis_a = ['b']\nabout = ''\n",
        b"[a]\nis_a = []\nabout = ''\nreaders = {b = 'x'}\n",
        b"[a]\nis_a = ['b']\nabout = ''\n[b]\nis_a = ['a']\nabout = ''\n",
        b"[a]\nis_a = ['a']\nabout = ''\n",
    ],
    ids=["unknown kind", "unknown reader kind", "cycle", "itself"],
)
def test_a_kinds_file_with_a_fault_is_not_loaded(data: bytes) -> None:
    with pytest.raises(ValueError, match="kinds: "):
        read_kinds(data)


def test_a_diamond_is_no_cycle() -> None:
    data = b"".join(
        b"[%b]\nis_a = [%b]\nabout = ''\n" % pair
        for pair in ((b"a", b"'b', 'c'"), (b"b", b"'d'"), (b"c", b"'d'"), (b"d", b""))
    )
    assert set(read_kinds(data)) == {"a", "b", "c", "d"}


def test_the_vocabulary_has_pairs() -> None:
    assert vocabulary.exists("find", "files")
    assert not vocabulary.exists("filter", "files")
    assert {"find", "write"} <= vocabulary.VERBS
    assert {"files", "entries"} <= vocabulary.OBJECTS
