"""One thread for each physical core that this process may use."""

from __future__ import annotations

from pathlib import Path

from metnos.propose.models.llama.threads import physical_cores


def processors(folder: Path, *siblings: str) -> Path:
    for number, shared in enumerate(siblings):
        place = folder / f"cpu{number}" / "topology"
        place.mkdir(parents=True)
        (place / "thread_siblings_list").write_text(shared + "\n")
    return folder


def test_two_threads_of_one_core_count_once(tmp_path: Path) -> None:
    cpus = processors(tmp_path, "0,2", "1,3", "0,2", "1,3")
    assert physical_cores(cpus=cpus, quota=tmp_path / "none", usable={0, 1, 2, 3}) == 2
    assert physical_cores(cpus=cpus, quota=tmp_path / "none", usable={1, 3}) == 1


def test_a_container_gets_what_it_was_granted(tmp_path: Path) -> None:
    cpus = processors(tmp_path / "cpus", *map(str, range(8)))
    quota = tmp_path / "cpu.max"
    for text, count in (("150000 100000\n", 2), ("max 100000\n", 8), ("nonsense\n", 8), ("50000 100000", 1)):
        quota.write_text(text)
        assert physical_cores(cpus=cpus, quota=quota, usable=set(range(8))) == count


def test_a_system_that_tells_nothing(tmp_path: Path) -> None:
    assert physical_cores(cpus=tmp_path, quota=tmp_path / "none", usable={0, 1, 2}) == 3
    assert physical_cores() >= 1
