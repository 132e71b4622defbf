"""Which part is handed out next, and what comes back in which order."""

from __future__ import annotations

import itertools
import random

import msgspec
import pytest

from metnos.evaluate.mapping.handing import Failed, Finished, Handing, JobFailed, in_order
from metnos.evaluate.mapping.shards import each_shard
from metnos.record.faults import RecordFault
from tests.support.jobs import Named, Part


def parts(count):
    return [Part(f"p{number}") for number in range(count)]


def test_whoever_is_first_results_come_in_order_and_few_are_held():
    rng = random.Random(8)
    handing = Handing(parts(200), window=6)
    held = []

    def finished():
        under_way = []
        while True:
            while len(under_way) < 3 and (place := handing.next()) is not None:
                under_way.append(place)
            if not under_way:
                return
            place = under_way.pop(rng.randrange(len(under_way)))
            handing.done(place)
            held.append(place.number)
            yield Finished(place, place.shard.name)

    told = []
    for one in in_order(finished()):
        told.append(one.result)
        assert len(held) - len(told) <= 6
    assert told == [f"p{number}" for number in range(200)]


def test_a_full_window_waits_for_the_first():
    handing = Handing(parts(9), window=2)
    first, second = handing.next(), handing.next()
    assert first is not None
    assert second is not None
    assert handing.next() is None
    handing.done(second)
    assert handing.next() is None
    handing.done(first)
    third = handing.next()
    assert third is not None
    assert third.number == 2


def test_a_lost_part_is_handed_out_once_more_before_any_other():
    handing = Handing(parts(3), window=1)
    first = handing.next()
    assert first is not None
    assert handing.lose(first)
    assert handing.next() == first
    assert not handing.lose(first)
    following = handing.next()
    assert following is not None
    assert following.number == 1


@pytest.mark.parametrize("workers", [1, 2])
def test_in_order_whoever_does_it_and_stopped_early_nothing_goes_on(workers):
    read = itertools.count()
    shards = (Part(f"p{next(read)}") for _ in range(1000))
    finished = each_shard(Named(), shards, workers=workers, ordered=True)
    assert [next(finished).result for _ in range(8)] == [f"p{number}!" for number in range(8)]
    finished.close()
    assert next(read) <= 8 + 3 * workers


def test_a_fault_of_a_worker_keeps_its_code_and_way_out():
    with pytest.raises(RecordFault, match="cannot be read") as raised:
        list(each_shard(Named(bad="p5"), parts(9), workers=2, ordered=True))
    assert (raised.value.code, raised.value.hint) == ("seal-differs", "seal it again")
    fault = Failed.of(OSError(2, "No such file", "turns.jsonl")).again(Part("p"))
    assert isinstance(fault, RecordFault)
    assert (fault.code, fault.message) == ("environment", "turns.jsonl: No such file")
    assert isinstance(Failed.of(ValueError("odd")).again(Part("p")), JobFailed)
    assert msgspec.msgpack.encode(Failed.of(ValueError("odd")))
