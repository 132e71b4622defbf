"""The turns that the benchmark of replay makes are whole, differ from each other, and come out as they were made."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.evaluated import Counted, Evaluate
from benchmarks.replay import Made, Slices, maker, speed
from benchmarks.turns import catalog_of
from metnos.evaluate.collections.opening import open_collection
from metnos.evaluate.collections.sealing import seal
from metnos.evaluate.mapping.shards import map_shards
from metnos.evaluate.replaying.ground import Ground
from metnos.evaluate.replaying.many import Replay
from metnos.record.codec import INPUT_KINDS, decode_input, fetch_from
from metnos.record.keys import open_key
from metnos.record.verify import verify_log
from metnos.turn.inputs import StepFinished, TurnOpened

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return list(maker(open_key(tmp_path_factory.mktemp("key"))).turns(0, 60))


def test_made_turns_are_whole_and_the_same_for_the_same_number(made, tmp_path):
    assert all(verify_log(turn.log).ok for turn in made)
    again = next(maker(open_key(tmp_path)).turns(7, 1)).log
    assert [(one.kind, one.at, one.body) for one in again.records] == [
        (one.kind, one.at, one.body) for one in made[7].log.records
    ]
    assert len({turn.log.records[0].body for turn in made}) == len(made)


def test_results_are_what_the_contracts_promise(made):
    import jsonschema

    catalog = catalog_of(ROOT)
    seen = set()
    for turn in made[:20]:
        fetch = fetch_from(turn.log.blobs)
        inputs = [decode_input(record.body, fetch) for record in turn.log.records if record.kind in INPUT_KINDS]
        for item in inputs:
            if isinstance(item, StepFinished):
                tool = TOOLS[int(item.step.split(".")[1]) - 1]
                jsonschema.validate(item.data, catalog.get(tool).result)
                seen.add(tool)
        assert isinstance(inputs[0], TurnOpened)
    assert seen == set(TOOLS)


TOOLS = ("find_files", "filter_entries", "sort_entries", "take_entries", "render_table")


def test_speed_counts_turns_and_finds_them_identical(tmp_path):
    found = speed(30, tmp_path)
    assert found["turns"] == 30
    assert all(value > 0 for value in found.values())


def test_sealed_slices_are_counted_the_same_by_one_and_by_parts(tmp_path):
    key = str(tmp_path / "key")
    open_key(Path(key))
    seal(Slices([Made(0, 20, key), Made(20, 20, key)]), tmp_path / "sealed", size=15)
    job = Evaluate(Replay(Ground(catalog_of(ROOT).contracts().values())))
    whole = map_shards(job, open_collection(tmp_path / "sealed"), workers=1)
    made: Counted = job(maker(open_key(Path(key))).turns(0, 40))
    assert (whole.turns, whole.partial.replayed.identical) == (40, 40)
    assert whole.partial.digest() == made.digest()
