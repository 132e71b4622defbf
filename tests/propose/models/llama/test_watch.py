"""The watch: a stall is forgiven for a while, a hang is not, and a wish to stop is heard within the computation."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from metnos.propose.models.llama.watch import PATIENCE, Reading, Watch, judged, read
from metnos.propose.models.ports import ModelFault, Stop

ZERO = Reading(0.0, 0.0, 0.0, 0)
IDLE = 10.0


def code(now: Reading, *, threads: int = 2, idle_s: float | None = IDLE) -> str | None:
    fault = judged(Stop(idle_s=idle_s), ZERO, now, threads)
    return fault.code if fault else None


def test_a_step_within_its_time_goes_on() -> None:
    assert code(Reading(9.9, 19.8, 0.0, 0)) is None


@pytest.mark.parametrize(
    ("now", "why"),
    [
        (Reading(10.0, 20.0, 0.0, 0), "it computed all the time"),
        (Reading(10.0, 0.0, 0.0, 0), "it slept: nothing kept it from computing"),
        (Reading(20.0, 20.0, 20.0, 0), "half of the time it had the machine"),
        (Reading(40.0, 0.0, 80.0, 0), "the machine was to blame, but for too long"),
        (Reading(10.0, 20.0, None, 0), "this system does not tell who waited"),
    ],
)
def test_a_hang_is_ended(now: Reading, why: str) -> None:
    assert code(now) == "model-stalled", why


@pytest.mark.parametrize(
    ("now", "why"),
    [
        (Reading(12.0, 2.0, 20.0, 0), "it waited for a core"),
        (Reading(39.0, 2.0, 76.0, 0), "still within the patience"),
        (Reading(12.0, 1.0, 0.0, 7), "its pages came from the disk"),
        (Reading(12.0, 2.0, None, 0), "it had little of the machine"),
    ],
)
def test_a_stall_goes_on(now: Reading, why: str) -> None:
    assert code(now) is None, why


def test_a_stall_that_is_given_up_says_whose_fault_it_was() -> None:
    fault = judged(Stop(idle_s=IDLE), ZERO, Reading(IDLE * PATIENCE, 4.0, 76.0, 0), 2)
    assert fault is not None
    assert "machine" in fault.message
    assert fault.hint


def test_without_a_limit_nothing_is_a_hang() -> None:
    assert code(Reading(1e6, 0.0, 0.0, 0), idle_s=None) is None


def test_a_wish_to_stop_comes_before_any_reckoning() -> None:
    stop = Stop(deadline_s=0.0)
    assert judged(stop, ZERO, ZERO, 1).code == "model-deadline"  # pyright: ignore[reportOptionalMemberAccess]
    stop.cancel()
    assert judged(stop, ZERO, ZERO, 1).code == "model-cancelled"  # pyright: ignore[reportOptionalMemberAccess]


def test_the_machine_can_be_read() -> None:
    first, second = read(), read()
    assert second.wall >= first.wall
    assert second.cpu >= first.cpu


@pytest.fixture
def watch() -> Iterator[Watch]:
    made = Watch(1)
    made.begin()
    yield made
    made.end()
    made.close()


def asked(watch: Watch) -> Callable[[], bool]:
    """As llama.cpp asks: a C function, with its argument."""
    function, argument = watch.asked
    call = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p)(function.value)
    return lambda: call(argument)


def until(said: Callable[[], bool]) -> bool:
    end = time.monotonic() + 20
    while not said() and time.monotonic() < end:
        time.sleep(0.005)
    return said()


def test_cancelling_is_heard_by_what_computes(watch: Watch) -> None:
    stop, said = Stop(), asked(watch)
    with watch.over(stop):
        assert not said()
        threading.Timer(0.05, stop.cancel).start()
        assert until(said)
    assert watch.fault is not None
    assert watch.fault.code == "model-cancelled"


def test_a_deadline_is_heard_by_what_computes(watch: Watch) -> None:
    said = asked(watch)
    with watch.over(Stop(deadline_s=0.1)):
        assert until(said)
    assert watch.fault is not None
    assert watch.fault.code == "model-deadline"


def test_the_next_step_begins_with_nothing_said(watch: Watch) -> None:
    said, stop = asked(watch), Stop(deadline_s=0.05)
    with watch.over(stop):
        assert until(said)
    with watch.over(Stop()):
        assert not said()
        assert watch.fault is None
    with pytest.raises(ModelFault, match="longer"), watch.over(stop):
        pytest.fail("a step of a call that is over does not begin")


def test_a_hang_is_told_from_what_the_machine_says() -> None:
    wall = iter(range(1_000))
    watch = Watch(1, lambda: Reading(float(next(wall)), 0.0, 0.0, 0))
    watch.begin()
    said = asked(watch)
    with watch.over(Stop(idle_s=3.0)):
        assert until(said)
    watch.close()
    assert watch.fault is not None
    assert watch.fault.code == "model-stalled"


def test_closing_twice_and_before_the_beginning() -> None:
    watch = Watch(1)
    watch.close()
    watch.begin()
    watch.close()
    with watch.over(Stop()):
        assert not watch.raised
