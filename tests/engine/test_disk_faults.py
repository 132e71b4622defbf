"""Fault row 5: a disk that fails at the n-th call of any kind, for every n, under a turn of several effects.

Each time: no effect without a durable intent; after a fault the connection is dropped; what the caller gets is a result or
a coded fault; and on a disk that works again the turn ends done or `effect_unknown`, with no effect made twice.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from metnos import Context, Effect, Engine, Result, executor
from metnos.drivers import state
from metnos.drivers.live import LiveTurn
from metnos.plan.codes import CODES
from metnos.record.connection import load_driver
from metnos.record.faults import RecordFault
from metnos.sdk import FilesError
from metnos.testing import BadDisk, FullDisk
from tests.support.hosted import PATH, plan, step

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metnos import TurnResult
    from metnos.testing.disk import Kind

MOST = 60


@executor(version="1.0.0", effect="read", description="Makes a large text.", resources=())
def large_text() -> str:
    return "x" * 20_000


@executor(version="1.0.0", effect="create", description="Adds its id.", targets=("path",), resources=PATH)
def add_id(path: str, ctx: Context) -> Result:
    """An effect that may not be repeated: each time that it is made is a line."""
    with Path(path).open("a") as file:
        file.write(ctx.operation + "\n")
    return Result.done({"path": path}, effects=(Effect(cls="create", target=path),))


@executor(
    version="1.0.0", effect="create", description="Puts a file.", targets=("path",), resources=PATH, idempotent=True
)
def put_file(path: str, ctx: Context) -> Result:
    """As `write_files` does it, in this process."""
    try:
        before, after = ctx.files.write(path, ctx.operation.encode(), overwrite=False)
    except FilesError as fault:
        return Result.failed(fault.cls, fault.code, fault.message)
    return Result.done({"path": path}, effects=(Effect(cls="create", target=path, before=before, after=after),))


HOSTED = (large_text, add_id, put_file)


@pytest.fixture
def top() -> Iterator[Path]:
    """In memory where there is such a place: nobody waits for a real disk."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="metnos-disk-", dir=memory) as made:
        yield Path(made)


def given(folder: Path) -> dict[str, Any]:
    """A read that is too large for a record, an effect, one that may be repeated, and an effect again."""
    ids = str(folder / "ids")
    return plan(
        step("large_text"), step("add_id", path=ids), step("put_file", path=str(folder / "put.txt")),
        step("add_id", path=ids), text="${step1}",
    )  # fmt: skip


def opened(top: Path) -> Engine:
    (folder := top / "work").mkdir(exist_ok=True)
    return Engine.open(top / "home", folder=folder, executors=HOSTED, shipped=False, zone="UTC")


def attempt(top: Path, disk: BadDisk | FullDisk) -> TurnResult | str:
    """Its result, or the code of the fault; anything else that is raised fails the test."""
    engine = opened(top)
    with engine, disk:
        journal: Any = engine.parts.journal
        generation = journal._database.generation
        try:
            return engine.run_sync(plan=given(top / "work"), assume_yes=True)
        except RecordFault as fault:
            assert fault.code in CODES
            assert fault.message
            if fault.code == "record-write":
                assert journal._database.generation > generation
                assert journal._database._connection is None
            return fault.code


def ids(top: Path) -> list[str]:
    path = top / "work" / "ids"
    return path.read_text().split() if path.exists() else []


def intents(top: Path) -> set[str]:
    """Operations of effects that are durable."""
    if not (top / "home" / "metnos.db").exists():
        return set()
    connection = load_driver().connect(str(top / "home" / "metnos.db"))
    try:
        if not connection.execute("SELECT name FROM sqlite_master WHERE name = 'operation'").fetchall():
            return set()
        return {row[0] for row in connection.execute("SELECT id FROM operation")}
    finally:
        connection.close()


def settled(top: Path) -> str:
    """On a disk that works again: the turn is gone on with, or it was never recorded; its outcome, or empty."""
    made = ids(top)
    assert set(made) <= intents(top), "an effect was made whose intent is not on disk"
    with opened(top) as engine:
        recorded = engine.turns(5)
        if not recorded:
            assert made == []
            assert not (top / "work" / "put.txt").exists()
            return ""
        (turn,) = (one.turn for one in recorded)
        found = engine.verify(turn)
        assert found.ok, found
        if engine.read_turn(turn).status != "closed":
            engine.resume_sync(turn)
        view = engine.read_turn(turn)
        found = engine.verify(turn)
        assert found.ok, (found, view)
        assert (view.status, engine.replay(turn).status) == ("closed", "identical")
    assert len(set(ids(top))) == len(ids(top)), "an effect was made twice"
    assert not list((top / "work").glob(".metnos-*"))
    return view.outcome


HOME_FAULTS: list[tuple[Kind, int, bool, bool]] = [
    ("open", errno.EIO, False, False),
    ("open", errno.ENOSPC, False, True),
    ("write", errno.ENOSPC, False, False),
    ("write", errno.ENOSPC, True, False),
    ("fsync", errno.EIO, False, False),
    ("fsync", errno.EIO, False, True),
    ("rename", errno.ENOSPC, False, False),
    ("unlink", errno.EIO, False, False),
    ("begin", errno.EIO, False, False),
    ("insert", errno.ENOSPC, False, False),
    ("commit", errno.EIO, False, False),
    ("commit", errno.ENOSPC, False, True),
    ("committed", errno.EIO, False, False),
]


def matrix(top: Path, kind: Kind, where: str, **how: Any) -> list[tuple[Any, str]]:
    """(what the caller got, how the turn ended) for every n until the n-th call does not come."""
    seen: list[tuple[Any, str]] = []
    for nth in range(1, MOST):
        (place := top / str(nth)).mkdir()
        (place / "work").mkdir()
        disk = BadDisk(kind, nth, below=place / where, **how)
        got = attempt(place, disk)
        ended = settled(place)
        if not disk.failed:
            assert (getattr(got, "outcome", got), ended) == ("success", "success")
            return seen
        seen.append((got, ended))
        shutil.rmtree(place)
    raise AssertionError("it calls it without end")


@pytest.mark.kill
@pytest.mark.parametrize(("kind", "error", "short", "lasting"), HOME_FAULTS)
def test_the_home_fails_at_the_nth_call(top: Path, kind: Kind, error: int, short: bool, lasting: bool) -> None:
    seen = matrix(top, kind, "home", error=error, short=short, lasting=lasting)
    assert seen, "nothing of that kind is called: the row tries nothing"
    for got, ended in seen:
        assert ended in ("", "success", "effect_unknown"), (got, ended)


@pytest.mark.kill
@pytest.mark.parametrize(("kind", "short"), [("write", False), ("write", True), ("fsync", False), ("open", False)])
def test_the_files_of_an_executor_fail_at_the_nth_call(top: Path, kind: Kind, short: bool) -> None:
    """The step says so with a code; what was done stays, and the turn is closed and whole."""
    seen = matrix(top, kind, "work", error=errno.ENOSPC, short=short)
    assert seen
    for got, ended in seen:
        assert not isinstance(got, str), "the log was not touched by it"
        assert (got.outcome, got.code) == (("success", "") if short else ("partial", "no-space"))
        assert ended == got.outcome


@pytest.mark.kill
def test_a_worker_that_meets_a_full_disk_says_so_and_leaves_nothing(top: Path) -> None:
    """Real writes in a real worker fail; the log has room enough."""
    (folder := top / "work").mkdir()
    (folder / "big").write_bytes(b"x" * 2_000_000)
    copy = plan(step("copy_files", path="big", to="copy"))
    with FullDisk(1_000_000), Engine.open(top / "home", folder=folder) as engine:
        result = engine.run_sync(plan=copy, assume_yes=True)
        assert (result.outcome, result.code) == ("error", "io-error")
        assert os.listdir(folder) == ["big"]
        assert engine.verify(result.turn).ok
    with Engine.open(top / "home", folder=folder) as engine:
        assert engine.run_sync(plan=copy, assume_yes=True).outcome == "success"


def test_a_log_that_ended_and_was_cut_off_before_its_head_gets_it(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The close is recorded with the last outcome while another step's task is not done with; then the process dies."""

    def dies(_turn: Any) -> None:
        raise RecordFault("record-write", "as a process that dies here")

    with monkeypatch.context() as patch, opened(top) as engine:
        patch.setattr(state, "must_commit", lambda *_: True)
        patch.setattr(LiveTurn, "finish", dies)
        with pytest.raises(RecordFault, match="dies here"):
            engine.run_sync(plan=given(top / "work"), assume_yes=True)
    made = ids(top)
    assert len(made) == 2
    with opened(top) as engine:
        (turn,) = (one.turn for one in engine.turns())
        assert engine.read_turn(turn).status == "open"
        result = engine.resume_sync(turn)
        assert (result.status, result.outcome, result.answer) == ("closed", "success", "x" * 20_000)
        assert engine.verify(turn).ok
        assert engine.replay(turn).status == "identical"
        with pytest.raises(RecordFault, match="turn-closed"):
            engine.resume_sync(turn)
    assert ids(top) == made


# --- the checker itself ---------------------------------------------------------------------------------------------------


def test_without_the_intent_on_disk_the_matrix_notices(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "is_intent", lambda *_: False)
    with pytest.raises(AssertionError, match="whose intent is not on disk"):
        matrix(top, "commit", "home", error=errno.EIO)
