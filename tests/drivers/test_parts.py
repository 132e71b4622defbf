"""What stands behind an engine: rooms opened once, interrupts, the doctor."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from pathlib import Path
from typing import Any

import pytest

from metnos import Engine
from metnos.drivers import assembly
from metnos.drivers.doctor import CHECKS, examine
from metnos.drivers.parts import Once, Parts


@pytest.mark.parametrize("room", ["journal", "catalog", "plans", "runners"])
def test_a_room_is_opened_once_whichever_threads_ask(
    room: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first one that opens it waits for a second one inside: with a lock nobody comes."""
    opening = {"plans": "read_plans"}.get(room, "open_" + room)
    real = getattr(assembly, opening)
    inside = threading.Semaphore(0)
    opened: list[Any] = []

    def slowly(*args: Any, **more: Any) -> Any:
        opened.append(real(*args, **more))
        inside.release()
        if len(opened) == 1:
            inside.acquire()
            inside.acquire(timeout=0.1)
        return opened[-1]

    monkeypatch.setattr(assembly, opening, slowly)
    engine = Engine.open(tmp_path / "home", folder=tmp_path)
    found: list[Any] = []
    threads = [threading.Thread(target=lambda: found.append(getattr(engine.parts, room))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert len(opened) == 1
    assert found == [opened[0]] * 2
    engine.close()


def test_a_room_is_told_by_its_description() -> None:
    assert isinstance(Parts.journal, Once)
    assert Parts.journal.__doc__ == "Where turns are recorded."


def test_a_room_that_cannot_be_opened_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine.open(tmp_path / "home", folder=tmp_path)
    with monkeypatch.context() as patched, pytest.raises(OSError, match="not today"):

        def fails(*_args: Any, **_more: Any) -> Any:
            raise OSError("not today")

        patched.setattr(assembly, "open_journal", fails)
        _ = engine.parts.journal
    assert engine.turns() == ()
    engine.close()


# --- interrupts -----------------------------------------------------------------------------------------------------------


def test_a_signal_just_before_the_loop_sleeps_wakes_it() -> None:
    """The handler runs, and what it schedules is seen: also if the signal came after the loop looked last."""
    interrupts = assembly.Interrupts()
    turn: Any = Turn()

    async def run() -> None:
        loop = asyncio.get_running_loop()
        turn.event, turn.loop = asyncio.Event(), loop
        with interrupts.waking(loop):
            assert signal.set_wakeup_fd(-1) > 0
            signal.set_wakeup_fd(-1)
        with interrupts.waking(loop), interrupts.watching(turn):
            loop.call_soon(os.kill, os.getpid(), signal.SIGINT)
            await asyncio.wait_for(turn.event.wait(), 20)

    with interrupts.caught():
        asyncio.run(run())
    assert turn.asked == 1


class Turn:
    """As much of a live turn as interrupts know."""

    def __init__(self) -> None:
        self.asked = 0
        self.event: asyncio.Event | None = None
        self.loop: asyncio.AbstractEventLoop | None = None

    def ask_cancel(self) -> None:
        self.asked += 1
        if self.loop is not None and self.event is not None:
            self.loop.call_soon_threadsafe(self.event.set)


def test_where_nobody_catches_interrupts_no_signal_is_touched() -> None:
    async def run() -> None:
        with assembly.Interrupts().waking(asyncio.get_running_loop()):
            found = signal.set_wakeup_fd(-1)
            signal.set_wakeup_fd(found)
            assert found == -1

    asyncio.run(run())


# --- doctor ---------------------------------------------------------------------------------------------------------------


def found(engine: Engine) -> dict[str, tuple[bool, str, str]]:
    return {one.name: (one.ok, one.found, one.hint) for one in engine.doctor()}


def test_a_check_that_raises_is_itself_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine.open(tmp_path / "home", folder=tmp_path)

    def broken(*_args: Any, **_more: Any) -> Any:
        raise OSError("the disk is on fire")

    monkeypatch.setattr(assembly, "read_plans", broken)
    told = found(engine)
    assert told["catalog"][0] is True
    assert told["plans"] == (False, "OSError: the disk is on fire", "")
    assert len(examine(engine.parts)) >= len(CHECKS)
    engine.close()


def test_a_worker_that_cannot_start_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine.open(tmp_path / "home", folder=tmp_path)

    def refuse(*_args: Any, **_more: Any) -> Any:
        raise OSError(11, "no process")

    monkeypatch.setattr("metnos.execute.workers.spawn", refuse)
    ok, said, hint = found(engine)["workers"]
    assert (ok, hint != "") == (False, True)
    assert "no-worker" in said
    engine.close()


def test_the_doctor_can_be_asked_from_inside_a_loop(tmp_path: Path) -> None:
    async def run() -> bool:
        with Engine.open(tmp_path / "home", folder=tmp_path) as engine:
            return all(ok for ok, _, _ in found(engine).values())

    assert asyncio.run(run())


def test_no_root_is_granted_in_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    engine = Engine.open(tmp_path / "m", folder=tmp_path)
    assert engine.settings.roots == ()
    ok, said, hint = found(engine)["roots"]
    assert (ok, said) == (False, "none")
    assert "--root" in hint
    engine.close()
