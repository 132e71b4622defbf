from __future__ import annotations

import os

import pytest

from metnos.record import claim as claims
from metnos.record.claim import claim_turn
from metnos.record.faults import RecordFault


def test_a_claim_excludes_until_it_is_released(tmp_path):
    held = claim_turn(tmp_path / "locks", "t1")
    with pytest.raises(RecordFault, match="turn-busy"):
        claim_turn(tmp_path / "locks", "t1")
    claim_turn(tmp_path / "locks", "t2").release()
    held.release()
    held.release()
    assert list((tmp_path / "locks").iterdir()) == []
    claim_turn(tmp_path / "locks", "t1").release()


@pytest.mark.parametrize("meanwhile", ["removed", "replaced"])
def test_a_lock_on_a_file_that_was_removed_meanwhile_is_no_claim(tmp_path, monkeypatch, meanwhile):
    """Its holder removes the file between another's open and lock: without the second look both would hold "the" lock."""
    real, calls = claims._locked, []

    def locked(file):
        calls.append(file)
        if len(calls) == 1:
            (tmp_path / "t1").unlink()
            if meanwhile == "replaced":
                (tmp_path / "t1").write_text("")
        return real(file)

    monkeypatch.setattr(claims, "_locked", locked)
    held = claim_turn(tmp_path, "t1")
    assert len(calls) == 2
    assert os.fstat(held._file).st_ino == (tmp_path / "t1").stat().st_ino
    with pytest.raises(RecordFault, match="turn-busy"):
        claim_turn(tmp_path, "t1")
    held.release()


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "locks").write_text("")
    with pytest.raises(RecordFault, match="record-store"):
        claim_turn(tmp_path / "locks", "t1")
