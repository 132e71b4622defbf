"""A stall and a hang told apart; time in which nobody looked is nobody's pause."""

from __future__ import annotations

import pytest

from metnos.propose.models.ports import ModelFault
from metnos.propose.models.watchdog import TICK_S, Watch


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def begun(limit: float | None, clock: Clock) -> Watch:
    watch = Watch(limit, clock)
    clock.now += 3600.0  # loading a library, finding the server
    watch.look()
    watch.begin()
    return watch


def wait(watch: Watch, clock: Clock, seconds: float) -> None:
    for _ in range(round(seconds / TICK_S)):
        clock.now += TICK_S
        watch.look()


def test_a_pause_that_ends_is_a_stall_and_begins_the_count_anew() -> None:
    watch = begun(10.0, clock := Clock())
    for pause in (9.0, 3.0, 9.0):
        wait(watch, clock, pause)
        watch.token()
        watch.look()
    assert watch.longest_s == pytest.approx(9.0)
    assert watch.tokens == 3


def test_one_that_does_not_end_is_a_hang() -> None:
    watch = begun(10.0, clock := Clock())
    wait(watch, clock, 4.0)
    watch.token()
    with pytest.raises(ModelFault, match=r"no token for 10 s, after 1; .* 4\.[01] s") as caught:
        wait(watch, clock, 11.0)
    assert caught.value.code == "model-stalled"


def test_a_process_that_was_stopped_blames_nobody() -> None:
    watch = begun(10.0, clock := Clock())
    clock.now += 3600.0
    watch.look()
    wait(watch, clock, 9.0)
    with pytest.raises(ModelFault):
        wait(watch, clock, 2.0)


def test_without_a_limit_it_waits() -> None:
    watch = begun(None, clock := Clock())
    wait(watch, clock, 500.0)
    watch.token()
    watch.look()
    assert watch.longest_s == pytest.approx(500.0)
