"""A process that is forked from that of an engine: its copy refuses, and nothing of the parent's is touched."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any

import pytest

from metnos import Engine, executor
from metnos.record.faults import RecordFault
from metnos.record.sqlite import SqliteJournal
from tests.support import hosted
from tests.support.hosted import lines, plan, step

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.engine.conftest import Opens

pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
ADD = plan(step("add_one", n=1), data="${step1.n}")


def in_child(work: Callable[[], str]) -> str:
    """What `work` says in a real child; what it raises, by its name and words. The child ends at once."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            said = work()
        except BaseException as fault:  # noqa: BLE001 - whatever it is, it is what the parent looks at
            said = f"{type(fault).__name__}: {fault}"
        os.write(theirs, said.encode())
        os._exit(0)
    os.close(theirs)
    with os.fdopen(ours, encoding="utf-8") as reader:
        said = reader.read()
    assert os.waitpid(child, 0)[1] == 0
    return said


def test_an_engine_of_the_parent_refuses(engine: Engine) -> None:
    turn = engine.run_sync(plan=ADD).turn
    calls: list[Callable[[], Any]] = [
        lambda: engine.run_sync(plan=ADD),
        lambda: engine.plan_sync("how many files are here"),
        lambda: engine.read_turn(turn),
        lambda: engine.resume_sync(turn),
        lambda: next(engine.stream_sync(plan=ADD)),
    ]
    for call in calls:
        assert "open one here" in in_child(lambda call=call: str(call()))
    assert engine.run_sync(plan=ADD).data == 2
    assert engine.verify(turn).ok


def test_so_does_one_that_was_not_used_yet(opens: Opens) -> None:
    engine = opens(memory=True)
    assert in_child(lambda: str(engine.run_sync(plan=ADD))).startswith(
        "RuntimeError: this engine belongs to the process"
    )


def test_what_runs_nothing_goes_on(engine: Engine) -> None:
    assert engine.run_sync(plan=ADD).ok
    assert in_child(lambda: str((engine.check(ADD).ok, "add_one" in engine.catalog.names()))) == "(True, True)"


def test_another_thread_that_holds_a_lock_does_not_hold_the_child(engine: Engine) -> None:
    held, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with engine.parts.lock:
            held.set()
            leave.wait(20)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(20)
    said = in_child(lambda: str(engine.check(ADD).ok) + str(engine.close()))
    leave.set()
    thread.join()
    assert said == "TrueNone"


def test_closing_it_in_the_child_ends_nothing_of_the_parents(opens: Opens) -> None:
    engine = opens()
    turn = engine.run_sync("how many files are here")
    assert turn.ok
    assert in_child(lambda: str(engine.close())) == "None"
    assert engine.run_sync("how many files are here").answer == turn.answer
    assert engine.verify(turn.turn).ok


def test_a_home_that_was_open_is_not_opened_in_the_child(opens: Opens, home: Path, folder: Path) -> None:
    """The child's SQLite would count on locks that only the parent holds."""
    engine = opens()
    assert engine.run_sync(plan=ADD).ok

    def anew() -> str:
        with Engine.open(home, folder=folder, executors=hosted.ALL) as other:
            return str(other.run_sync(plan=ADD).data)

    assert in_child(anew).endswith("[record-forked]")
    engine.close()
    assert in_child(anew) == "2"


def test_a_child_opens_an_engine_of_its_own(opens: Opens, tmp_path: Path) -> None:
    engine = opens()
    assert engine.run_sync(plan=ADD).ok

    def another() -> str:
        with Engine.open(tmp_path / "other", folder=tmp_path, executors=hosted.ALL) as other:
            return str(other.run_sync(plan=ADD).data)

    assert in_child(another) == "2"


@pytest.mark.parametrize("memory", [False, True])
def test_a_step_that_forks_and_comes_back_twice_is_run_on_once(opens: Opens, folder: Path, memory: bool) -> None:
    """In the child the turn ends there: no second step, nothing written."""
    ours, theirs = os.pipe()
    parent = os.getpid()

    @executor(version="1.0.0", effect="read", description="Forks.", resources=())
    def fork() -> dict[str, int]:
        child = os.fork()
        if child:
            os.waitpid(child, 0)
        return {"n": child}

    engine = opens(memory=memory, executors=[fork, *hosted.ALL])
    given = plan(step("fork"), step("append_line", path=f"{folder}/x${{step1.n ?? 0}}"))
    try:
        result = engine.run_sync(plan=given, assume_yes=True)
    except BaseException as fault:
        if os.getpid() == parent:
            raise
        os.write(theirs, str(fault).encode())
    finally:
        if os.getpid() != parent:
            os._exit(0)
    os.close(theirs)
    with os.fdopen(ours, encoding="utf-8") as reader:
        assert "writer-unusable" in reader.read()
    assert result.outcome == "success"
    assert [lines(path) for path in folder.glob("x*")] == [1]
    assert engine.verify(result.turn).ok
    assert engine.replay(result.turn).status == "identical"


def test_a_child_does_not_keep_the_claim_of_a_turn(opens: Opens, home: Path, folder: Path) -> None:
    """It lives on after the parent gave the turn up without a word, as a kill does; the turn can be resumed meanwhile."""
    engine = opens()
    waiting = engine.run_sync(plan=plan(step("append_line", path=str(folder / "x"))))
    engine.close()
    journal = SqliteJournal(home)
    writer, _ = journal.resume(waiting.turn)
    ours, theirs = os.pipe()
    forked, tells = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(theirs)
        os.write(tells, b"!")
        os.read(ours, 1)
        os._exit(0)
    try:
        assert os.read(forked, 1) == b"!"
        with pytest.raises(RecordFault, match="turn-busy"):
            opens().resume_sync(waiting.turn)
        claim = vars(writer)["_claim"]
        assert claim is not None
        os.close(claim._file)  # what the kernel does for a process that was killed
        claim._file = -1
        assert opens().resume_sync(waiting.turn, approve=[waiting.needs[0].id]).ok
    finally:
        os.close(theirs)
        os.waitpid(child, 0)
        for end in (ours, forked, tells):
            os.close(end)
        journal.close()
