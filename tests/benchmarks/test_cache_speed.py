"""The speed benchmark on a small cache: every figure is there, and what goes wrong between processes is counted."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks import cache_speed
from benchmarks.traffic import race
from benchmarks.traffic.sentences import Drawing, any_places
from benchmarks.traffic.world import Missed
from metnos.cache.model import Match
from metnos.request.understand import understand

if TYPE_CHECKING:
    from pathlib import Path

OURS = {key for key in cache_speed.KEYS if not key.startswith(("gptcache", "etchplan"))}


def test_a_small_cache_is_filled_timed_and_shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_speed, "SAMPLE", 12)
    monkeypatch.setattr(cache_speed, "LESSONS", 2)
    speed = cache_speed.Speed(tmp_path, tools=60, entries=60)
    filled = speed.fill()
    assert filled
    figures = speed.measure(filled, rounds=2)
    assert figures.keys() >= OURS
    assert all(figures[key] > 0 for key in OURS)
    assert speed.fill() == filled  # read back, not written again
    told = race.one(tmp_path, 60, 0.5, 40, 1)
    assert told["look_ups"] > 0
    assert not any(told.get(name) for name in ("errors", "torn", "wrong"))
    with pytest.raises(Missed):
        speed.walked("l1", speed.here.cache())(filled[0].text)
    with pytest.raises(Missed):
        speed.here.walk(speed.here.cache(), "sing me a song")


def test_processes_at_once_leave_nothing_torn(tmp_path: Path) -> None:
    told = race.run(tmp_path, tools=60, processes=2, seconds=0.5, universe=30)
    assert told["look_ups"] > 0
    assert told["learned_rows"] > 0
    assert not race.is_wrong(told), json.dumps(told)


@pytest.mark.parametrize("name", ["errors", "torn", "wrong", "lost", "alarms"])
def test_each_thing_that_must_not_happen_counts(name: str) -> None:
    fine = dict.fromkeys(("look_ups", "hits", "errors", "torn", "wrong", "lost", "alarms"), 0)
    assert not race.is_wrong(fine | {"look_ups": 5, "hits": 3})
    assert race.is_wrong(fine | {name: 1})


def test_times_are_the_best_of_medians_and_the_worst_of_all() -> None:
    times = cache_speed.Times()
    times.rounds = [[10.0] * 50 + [30.0] * 51, [20.0] * 100]
    assert times.p50 == 20.0
    assert times.p99 == 30.0
    measured: list[str] = []
    times.measure(measured.append, ["a", "b"])
    assert measured == ["a", "b"]
    assert len(times.rounds[-1]) == 2


def test_a_drawn_request_is_one_that_the_library_serves_with_the_same_template(library: Any) -> None:
    drawing = Drawing(library, any_places(), random.Random(1))
    examples = library.examples()[::7]
    drawn = list(drawing.different(examples, 60))
    assert len({one.text for one in drawn}) == len(drawn) == 60
    assert {one.text for one in drawn} - {example.text for example in examples}
    for one in drawn:
        found = library.match(understand(one.text))
        assert isinstance(found, Match)
        assert (found.template, found.plan) == (one.template, one.plan)
    again = Drawing(library, any_places(), random.Random(1)).different(examples, 60)
    assert list(again) == drawn
