"""The benchmark of false hits: none by hand in two languages, and a stream is judged by plans, not by labels alone."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks import cache_safety
from benchmarks.safety import handed
from benchmarks.safety.changes import changes
from benchmarks.safety.measures import completeness, homogeneity


def test_what_looks_alike_and_means_something_else_is_never_served() -> None:
    differ, same, lines = cache_safety.adversarial()
    assert differ["pairs"] >= 500
    assert [line for line in lines if line.startswith("FALSE")] == []
    assert differ["false_hits"] == 0
    assert same["kinds"]["same"]["hits"] >= 0.85 * same["kinds"]["same"]["pairs"]


def test_a_stream_is_judged_by_its_plans(tmp_path: Path) -> None:
    rows = [
        {"request": "play the song", "intent": "play", "slots": [{"kind": "name", "value": "song"}]},
        {"request": "Please play the song!", "intent": "play", "slots": [{"kind": "name", "value": "song"}]},
        {"request": "play the song please", "intent": "stop", "slots": []},
        {"request": "do not play the song", "intent": "stop", "slots": []},
    ]
    (tmp_path / "house.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    (tmp_path / "pairs.jsonl").write_text(json.dumps({"origin": "a", "similar": "b"}), "utf-8")
    streams, pairs = handed.read(tmp_path)
    assert pairs == {"pairs": [("a", "b")]}
    found, lines = cache_safety.all_streams(streams, [], 4)
    row = found["house"]["l1"]
    assert (row["requests"], row["hits"], row["false_hits"], row["contradictory_labels"]) == (4, 2, 0, 1)
    assert any(
        "'play the song please' stop() was served play(name='song') of 'play the song'" in line for line in lines
    )


def test_a_change_of_meaning_changes_the_sentence() -> None:
    text = "move the files in docs/a.txt larger than 5 MB to docs/b.txt"
    kinds = {change.kind for change in changes(text, "en")}
    assert {"negation", "number", "unit", "path", "roles", "condition", "order", "except"} <= kinds
    assert all(change.text != text for change in changes(text, "en"))


def test_keys_that_mix_meanings_or_split_them_are_told() -> None:
    assert homogeneity(["a", "a", "b"], [1, 1, 2]) == completeness(["a", "a", "b"], [1, 1, 2]) == 1
    assert homogeneity(["a", "b"], [1, 1]) == 0
    assert completeness(["a", "a"], [1, 2]) == 0
