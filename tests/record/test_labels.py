"""Labels of turns: beside the logs, several writers, damaged files."""

from __future__ import annotations

from pathlib import Path
from threading import Thread

import pytest

from metnos.record.faults import RecordFault
from metnos.record.labels import LONGEST, MOST, Labels, MemoryLabels


@pytest.fixture(params=["disk", "memory"])
def labels(request: pytest.FixtureRequest, tmp_path: Path) -> Labels | MemoryLabels:
    return Labels(tmp_path / "home") if request.param == "disk" else MemoryLabels()


def test_labels_are_put_replaced_and_taken_away(labels: Labels | MemoryLabels) -> None:
    assert labels.of("t1") == {}
    assert labels.change("t1", {"judge": "good", "task": 3, "a": True}) == {"a": True, "judge": "good", "task": 3}
    assert labels.change("t1", {"judge": "bad", "share": 0.5}, ["a", "nothing"]) == {
        "judge": "bad",
        "share": 0.5,
        "task": 3,
    }
    assert labels.of("t1") == {"judge": "bad", "share": 0.5, "task": 3}
    assert labels.of("t2") == {}
    assert labels.change("t1", {}, ["judge", "share", "task"]) == {}
    assert labels.of("t1") == {}


@pytest.mark.parametrize("name", ["", "1a", "a b", "é", "a" * 65, "_a", "a\n"])
def test_odd_names_are_refused(name: str, labels: Labels | MemoryLabels) -> None:
    with pytest.raises(RecordFault) as refused:
        labels.change("t1", {name: 1})
    assert refused.value.code == "label-invalid"
    assert labels.of("t1") == {}


def test_long_values_too_many_and_what_is_no_number_are_refused(labels: Labels | MemoryLabels) -> None:
    for put in ({"a": "x" * (LONGEST + 1)}, {"a": float("nan")}, {f"a{n}": n for n in range(MOST + 1)}):
        with pytest.raises(RecordFault, match="label-invalid"):
            labels.change("t1", put)
    labels.change("t1", {f"a{n}": n for n in range(MOST)})
    with pytest.raises(RecordFault, match="label-invalid"):
        labels.change("t1", {"one-more": 1})
    with pytest.raises(RecordFault, match="turn-id"):
        labels.change("../t1", {"a": 1})


@pytest.mark.parametrize("damage", ["{", '{"form":"metnos.labels/2","turn":"t1","labels":{}}', '{"form":"metnos.labels/1","turn":"t2","labels":{}}', "\xff"])  # fmt: skip
def test_a_damaged_file_is_no_labels_when_listed_and_a_fault_when_changed(damage: str, tmp_path: Path) -> None:
    labels = Labels(tmp_path)
    labels.change("t1", {"a": 1})
    (tmp_path / "labels" / "t1.json").write_bytes(damage.encode("latin-1"))
    assert labels.of("t1") == {}
    with pytest.raises(RecordFault) as refused:
        labels.change("t1", {"b": 1})
    assert refused.value.code == "labels-damaged"
    assert (tmp_path / "labels" / "t1.json").read_bytes() == damage.encode("latin-1")


def test_who_label_at_once_all_count(tmp_path: Path) -> None:
    threads = [Thread(target=lambda n=n: Labels(tmp_path).change("t1", {f"a{n}": n})) for n in range(20)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert Labels(tmp_path).of("t1") == {f"a{n}": n for n in range(20)}
    assert [path.name for path in (tmp_path / "labels").iterdir()] == ["t1.json"]
