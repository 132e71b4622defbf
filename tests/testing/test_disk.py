"""The fault injector fails what it is told to, when it is told to, and nothing else."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from metnos.record.faults import RecordFault
from metnos.record.sqlite import SqliteJournal
from metnos.testing import BadDisk, FullDisk
from metnos.testing.story import beginning, opened, tell

if TYPE_CHECKING:
    from pathlib import Path

    from metnos.testing.disk import Kind


def put(path: Path, data: bytes = b"0123456789") -> int:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        written = os.write(handle, data)
        os.fsync(handle)
    finally:
        os.close(handle)
    path.replace(path.with_suffix(".done"))
    return written


@pytest.mark.parametrize("kind", ["open", "write", "fsync", "rename"])
def test_the_nth_call_fails_and_no_other(tmp_path: Path, kind: Kind) -> None:
    before = (os.open, os.write, os.fsync, os.replace)
    with BadDisk(kind, nth=2, error=errno.EIO, below=tmp_path) as disk:
        put(tmp_path / "a")
        assert (disk.calls, disk.failed) == (1, False)
        with pytest.raises(OSError, match="Input/output") as raised:
            put(tmp_path / "b")
        put(tmp_path / "c")
    assert (disk.calls, disk.failed, raised.value.errno) == (3, True, errno.EIO)
    assert (os.open, os.write, os.fsync, os.replace) == before
    assert (tmp_path / "b.done").exists() is False


def test_only_calls_below_the_folder_count(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "inner").mkdir()
    folder = os.open(tmp_path / "in", os.O_RDONLY)
    with BadDisk("open", below=tmp_path / "in") as disk:
        put(tmp_path / "inner" / "a")
        put(tmp_path / "b")
        assert disk.calls == 0
        with pytest.raises(OSError, match="No space"):
            os.open("c", os.O_RDONLY | os.O_CREAT, dir_fd=folder)
    os.close(folder)


def test_a_short_write_says_what_it_wrote_and_a_lasting_fault_stays(tmp_path: Path) -> None:
    with BadDisk("write", short=True, below=tmp_path):
        assert put(tmp_path / "a") == 5
        assert put(tmp_path / "b") == 10
    assert (tmp_path / "a.done").read_bytes() == b"01234"
    with BadDisk("write", nth=2, lasting=True, below=tmp_path):
        put(tmp_path / "a")
        for _ in range(2):
            with pytest.raises(OSError, match="No space"):
                put(tmp_path / "b")


@pytest.mark.parametrize("kind", ["begin", "insert", "commit", "committed"])
def test_statements_of_a_journal_fail_too(tmp_path: Path, kind: Kind) -> None:
    SqliteJournal(tmp_path).mode()
    with BadDisk(kind, below=tmp_path) as disk:
        journal = SqliteJournal(tmp_path)
        with pytest.raises(RecordFault, match="record-write"):
            tell(journal.begin(opened("t1")), beginning("t1"))
        assert disk.failed
        try:
            made = len(journal.load("t1").records)
        except RecordFault as fault:
            assert fault.code == "turn-missing"
            made = 0
        assert (made > 0) is (kind == "committed")
    journal.close()


def test_a_full_disk_is_full_for_a_process_that_starts_inside_too(tmp_path: Path) -> None:
    code = "import pathlib, sys; pathlib.Path(sys.argv[1]).write_bytes(b'x' * 9_000)"
    with FullDisk(5_000):
        with pytest.raises(OSError, match="File too large"):
            (tmp_path / "a").write_bytes(b"x" * 9_000)
        done = subprocess.run([sys.executable, "-c", code, tmp_path / "b"], capture_output=True, text=True, check=False)
    assert "File too large" in done.stderr
    (tmp_path / "a").write_bytes(b"x" * 9_000)
