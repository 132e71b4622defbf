"""What a killed writer leaves beside its target is removed by the next one; what a live one is writing never is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from metnos import drafts
from metnos.drafts import DRAFT, drafted, drafted_beside, remove_stale, stale
from metnos.execute.grant import Grant
from metnos.execute.roots import RootedFiles
from metnos.record.blobs import BlobFolder
from metnos.record.chain import digest

if TYPE_CHECKING:
    from collections.abc import Iterator

OP = "ab" * 32
WRITER = """
import os, signal, sys
from metnos.execute.grant import Grant
from metnos.execute.roots import RootedFiles
from metnos.record.blobs import BlobFolder
from metnos.record.chain import digest
from metnos.record.keys import open_key
from pathlib import Path

folder, act, end = sys.argv[1:]
real, here = os.fsync, RootedFiles(Grant(folder=folder, roots=(folder,), now="2026-11-30T12:00:00+01:00"))

def stopped(handle):
    print(flush=True)
    if end == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    sys.stdin.readline()
    real(handle)

os.fsync = stopped
ACTS = {
    "write": lambda: here.write("new", b"x" * 100_000, overwrite=False),
    "replace": lambda: here.write("a", b"x" * 100_000, overwrite=True),
    "copy": lambda: here.copy("a", "copy", overwrite=False, operation="ab" * 32),
    "blob": lambda: BlobFolder(Path(folder)).write_all({digest(b"blob"): b"blob"}),
    "key": lambda: open_key(Path(folder)),
}
ACTS[act]()
"""


@pytest.fixture(autouse=True)
def _no_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drafts, "_rests_until", {})


@pytest.fixture
def top(tmp_path: Path) -> Path:
    (made := tmp_path / "top").mkdir()
    (made / "a").write_text("alpha")
    return made


@pytest.fixture
def folder(top: Path) -> Iterator[int]:
    handle = os.open(top, os.O_RDONLY)
    yield handle
    os.close(handle)


def files(top: Path) -> RootedFiles:
    return RootedFiles(Grant(folder=str(top), roots=(str(top),), now="2026-11-30T12:00:00+01:00"))


def writer(root: Path, top: Path, act: str, end: str) -> subprocess.Popen[str]:
    """A process that stops in the middle of an act: its draft is written and not synced."""
    made = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(top), act, end],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONPATH": str(root)},
    )  # fmt: skip
    assert made.stdout is not None
    assert made.stdout.readline() == "\n"
    return made


def ended(process: subprocess.Popen[str]) -> int:
    process.communicate("\n" * 5, timeout=30)
    return process.returncode


def left(top: Path) -> list[str]:
    return [path.name for path in top.rglob(".metnos-*.tmp")]


AGAIN: dict[str, Any] = {
    "write": lambda top: files(top).write("new", b"x" * 100_000, overwrite=False),
    "replace": lambda top: files(top).write("other", b"1", overwrite=False),
    "copy": lambda top: files(top).copy("a", "copy", overwrite=False, operation=OP),
    "blob": lambda top: BlobFolder(top).write_all({digest(b"blob"): b"blob"}),
}


@pytest.mark.kill
@pytest.mark.parametrize("act", ["write", "replace", "copy", "blob"])
def test_what_a_killed_writer_leaves_goes_with_the_next_write_there(root: Path, top: Path, act: str) -> None:
    assert ended(writer(root, top, act, "kill")) == -signal.SIGKILL
    (name,) = left(top)
    assert DRAFT.fullmatch(name)
    assert (top / "a").read_text() == "alpha"
    AGAIN[act](top)
    assert left(top) == []


@pytest.mark.kill
@pytest.mark.parametrize("act", ["write", "key"])
def test_what_a_live_writer_is_writing_stays_and_gets_its_name(root: Path, top: Path, folder: int, act: str) -> None:
    process = writer(root, top, act, "wait")
    (name,) = left(top)
    assert stale(folder) == []
    assert remove_stale(folder) == 0
    files(top).write("other", b"1", overwrite=False)
    assert left(top) == [name]
    assert ended(process) == 0
    assert left(top) == []
    assert (top / {"write": "new", "key": "log.ed25519"}[act]).stat().st_size > 60


def test_only_an_own_regular_file_of_exactly_that_form_is_a_draft(top: Path, folder: int) -> None:
    name = ".metnos-" + "0" * 16 + ".tmp"
    kept = ["metnos-" + "0" * 16 + ".tmp", name + "x", name.upper(), ".metnos-" + "g" * 16 + ".tmp", ".metnos-00.tmp"]
    for one in kept:
        (top / one).write_text("a person's")
    (top / name).symlink_to("a")
    assert remove_stale(folder) == 0
    (top / name).unlink()
    os.mkfifo(top / name)
    assert remove_stale(folder) == 0
    (top / name).unlink()
    (top / name).mkdir()
    assert remove_stale(folder) == 0
    (top / name).rmdir()
    assert sorted(os.listdir(top)) == sorted([*kept, "a"])
    (top / name).write_text("half")
    assert stale(folder) == [name]
    assert remove_stale(folder) == 1
    assert sorted(os.listdir(top)) == sorted([*kept, "a"])


def test_one_that_was_taken_for_stale_is_begun_again(top: Path, folder: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between its making and its lock somebody else finds it unheld."""
    real, removed = drafts.fcntl.flock, list[str]()

    def flock(handle: int, how: int) -> None:
        if not removed:
            (name,) = left(top)
            removed.append(name)
            (top / name).unlink()
        real(handle, how)

    monkeypatch.setattr(drafts.fcntl, "flock", flock)
    with drafted(folder) as (name, handle):
        assert removed != [name]
        assert left(top) == [name]
        assert os.write(handle, b"1") == 1
    assert left(top) == []


def test_one_that_gets_its_name_while_it_is_looked_at_is_left(
    top: Path, folder: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, name = drafts.fcntl.flock, ".metnos-" + "0" * 16 + ".tmp"
    (top / name).write_text("whole")

    def flock(handle: int, how: int) -> None:
        (top / name).rename(top / "mine")
        (top / name).write_text("another")
        real(handle, how)

    monkeypatch.setattr(drafts.fcntl, "flock", flock)
    assert remove_stale(folder) == 0
    assert (top / "mine").read_text() == "whole"


def test_where_there_are_no_locks_nothing_is_removed(top: Path, folder: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def flock(_handle: int, _how: int) -> None:
        raise OSError(37, "No locks available")

    (top / (".metnos-" + "0" * 16 + ".tmp")).write_text("half")
    monkeypatch.setattr(drafts.fcntl, "flock", flock)
    files(top).write("new", b"1", overwrite=False)
    assert (top / "new").read_bytes() == b"1"
    assert len(left(top)) == 1
    assert remove_stale(folder) == 0


def test_an_exception_leaves_no_draft_and_no_descriptor(top: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(ValueError, match="no"), drafted_beside(top / "new") as (draft, _handle):
        assert draft.parent == top
        raise ValueError("no")
    assert (os.listdir(top), len(os.listdir("/proc/self/fd"))) == (["a"], before)


def test_a_large_folder_is_not_looked_through_each_time(
    top: Path, folder: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = iter([10.0, 10.5, 11.0, 100.0, 100.0])
    monkeypatch.setattr(drafts.time, "monotonic", lambda: next(times))
    assert remove_stale(folder) == 0  # takes 0.5 s
    (top / (".metnos-" + "0" * 16 + ".tmp")).write_text("half")
    assert remove_stale(folder) == 0
    assert remove_stale(folder) == 1
