from __future__ import annotations

import os
import stat

import pytest

from metnos.record.anchor import AnchorFile, format_anchor, parse_anchor
from metnos.record.faults import RecordFault
from metnos.record.model import Anchor

ONE = Anchor("t1", 3, "sha256:" + "a" * 64)
TWO = Anchor("t1", 9, "sha256:" + "b" * 64)
OTHER = Anchor("t2", 4, "sha256:" + "c" * 64)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "anchors.log"


@pytest.fixture
def anchors(path):
    made = AnchorFile(path)
    yield made
    made.close()


def test_the_last_of_a_turn_counts(anchors, path):
    assert anchors.latest("t1") is None
    for anchor in (ONE, OTHER, TWO):
        anchors.add(anchor, sync=anchor is TWO)
    assert (anchors.latest("t1"), anchors.latest("t2"), anchors.latest("t")) == (TWO, OTHER, None)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_torn_last_line_is_passed_over_and_cut_off_by_the_next_writer(anchors, path):
    anchors.add(ONE, sync=True)
    for length in range(1, len(format_anchor(TWO))):
        path.write_bytes(format_anchor(ONE) + format_anchor(TWO)[:length])
        assert anchors.latest("t1") == ONE
        anchors.add(OTHER, sync=False)
        assert path.read_bytes() == format_anchor(ONE) + format_anchor(OTHER)


def test_a_flipped_bit_anywhere_is_named(path):
    line = format_anchor(TWO)
    for position in range(len(line) - 1):
        for bit in (1, 0x20, 0x80):
            changed = bytearray(line)
            changed[position] ^= bit
            path.write_bytes(format_anchor(ONE) + bytes(changed) + format_anchor(OTHER))
            with pytest.raises(RecordFault) as caught:
                AnchorFile(path).latest("t1")
            assert caught.value.code == "anchor-malformed"
            assert AnchorFile(path).latest("t2") == OTHER


def test_lines_of_another_form_are_malformed():
    good = format_anchor(ONE)[:-1]
    assert parse_anchor(good) == ONE
    from hashlib import sha256

    for text in (
        b"",
        b"metnos.anchor/2 t1 3 x ",
        b"metnos.anchor/1 t1 x y ",
        b"metnos.anchor/1 t1 3 ",
        b"metnos.anchor/1 t\xff 3 x ",
    ):
        assert parse_anchor(text + sha256(text).hexdigest()[:16].encode()) is None
    assert parse_anchor(good + b" ") is None


def test_pruning_keeps_the_last_of_every_other_turn(anchors, path):
    writer = AnchorFile(path)
    for anchor in (ONE, OTHER, TWO):
        writer.add(anchor, sync=False)
    assert anchors.prune({"t2"}) == 2
    assert path.read_bytes() == format_anchor(TWO)
    writer.add(OTHER, sync=False)  # a writer that was open before the file was replaced
    assert anchors.latest("t2") == OTHER
    path.unlink()
    writer.add(ONE, sync=True)
    assert path.read_bytes() == format_anchor(ONE)
    writer.close()


def test_pruning_touches_nothing_that_it_cannot_read(anchors, path):
    anchors.add(ONE, sync=False)
    path.write_bytes(path.read_bytes() + b"garbage\n")
    before = path.read_bytes()
    with pytest.raises(RecordFault, match="anchor-malformed"):
        anchors.prune(set())
    assert path.read_bytes() == before


@pytest.mark.parametrize("broken", ["short", "fails", "unsynced"])
def test_a_fault_of_the_disk_is_named_and_healed(anchors, path, monkeypatch, broken):
    anchors.add(ONE, sync=True)
    real = os.write

    def write(file, data):
        if broken == "fails":
            raise OSError(28, "no space")
        return real(file, data[: len(data) // 2] if broken == "short" else data)

    def fdatasync(_file):
        raise OSError(5, "I/O error")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", write)
        patch.setattr(os, "fdatasync", fdatasync)
        with pytest.raises(RecordFault, match="anchor-write"):
            anchors.add(TWO, sync=True)
        with pytest.raises(RecordFault, match="anchor-write"):
            anchors.prune(()) if broken != "unsynced" else anchors.add(TWO, sync=True)
    anchors.add(OTHER, sync=True)
    assert anchors.latest("t2") == OTHER
    assert anchors.latest("t1") in (ONE, TWO)


def test_an_unreadable_file_is_a_fault_not_an_empty_one(tmp_path):
    (tmp_path / "anchors.log").mkdir()
    with pytest.raises(RecordFault, match="anchor-read"):
        AnchorFile(tmp_path / "anchors.log").latest("t1")
