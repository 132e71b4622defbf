"""The workload benchmark in small: what it counts, when it calls a plan wrong, and that files are put back."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks import workload
from benchmarks.traffic.sentences import Drawing, Drawn
from benchmarks.traffic.tree import Tree

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("HOME", str(tmp_path))  # put back afterwards: the day has a home of its own
    day = workload.Day(tmp_path.resolve())
    yield day
    day.close()


def stream(day: workload.Day, count: int) -> list[Any]:
    drawing = Drawing(day.library, day.tree.places(), random.Random(3))
    return list(workload.stream(drawing, day.library, count, 0.4, 3))


def test_a_short_day_is_counted(day: workload.Day, capsys: pytest.CaptureFixture[str]) -> None:
    turns = []
    for number, drawn in enumerate(stream(day, 30)):
        ran, wrong = day.both(drawn, cache_first=number % 2 == 0)
        assert not wrong, drawn
        turns.append(ran)
    figures = workload.report(day, turns, 3.6, listed=True)
    served = sum(ran.source == "cache" for ran in turns)
    assert served > 0
    assert figures["served"] == round(served / 30, 4)
    assert figures["proposals"] == 30 - served
    assert day.proposals["without"] == 30
    assert figures["break_even"] == 1
    assert "break_even at 3.6 s" in capsys.readouterr().out


def test_a_plan_that_differs_is_wrong(day: workload.Day, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = next(one for one in stream(day, 30) if one.template == "largest-files" or one.effect == "read")
    first, _ = day.both(drawn, cache_first=True)
    ran, differs = day.both(drawn, cache_first=True)
    assert (ran.source, differs) == ("cache", None)
    other = {"steps": [{"tool": "get_now", "args": {}}, {"tool": "final_answer", "args": {}}]}
    monkeypatch.setattr(day, "propose", lambda _asked, _engine: other)
    again, differs = day.both(drawn, cache_first=True)
    assert differs is not None
    assert not day.is_worded(again, differs, [first])


def test_a_value_said_in_other_words_is_no_wrong_plan(day: workload.Day) -> None:
    spoken = [
        Drawn(text, "en", "files-older-than", "read", {})
        for text in ("files older than 14 days", "files older than 2 weeks")
    ]
    (first, _), (again, differs) = (day.both(drawn, cache_first=True) for drawn in spoken)
    assert again.source == "cache"
    assert differs is not None
    assert day.is_worded(again, differs, [first])
    served, right = differs
    right["steps"][0]["args"]["hidden"] = True
    assert not day.is_worded(again, (served, right), [first])


def test_what_is_drawn_is_there(day: workload.Day) -> None:
    drawing = Drawing(day.library, day.tree.places(), random.Random(3))
    asked = [one for one in day.library.examples() if one.template.startswith(("csv-", "json-", "lines-of-these"))]
    assert len(asked) > 20
    for example in asked:
        drawn = drawing.like(example)
        assert drawn is not None, example
        assert day.ask("without", drawn)[1].outcome == "success", drawn


def ran(with_s: float, without_s: float) -> workload.Ran:
    return workload.Ran("", "", with_s, without_s, "cache", "", "success", "", "")


def test_break_even_is_the_first_reuse_that_has_paid() -> None:
    even = workload._even
    assert even([ran(1, 1), ran(1, 1)], 3.6) == 1
    assert even([ran(5, 1), ran(1, 1), ran(1, 1), ran(1, 1)], 1.5) == 3
    assert even([ran(9, 1), ran(1, 1)], 1.5) is None


def test_the_tree_is_put_back(tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    before = {path: path.stat().st_mtime_ns for root in (tree.work, tree.documents) for path in root.rglob("*.*")}
    first = tree.work / tree.names[0]
    text = first.read_bytes()
    first.unlink()
    (tree.work / tree.names[1]).write_text("other")
    (tree.work / "new-1.md").write_text("new")
    (tree.work / "old" / "new-2").mkdir()
    (tree.work / "old" / "new-2" / "x").write_text("")
    tree.put_back()
    assert first.read_bytes() == text
    after = {path: path.stat().st_mtime_ns for root in (tree.work, tree.documents) for path in root.rglob("*.*")}
    assert after == before
    assert not (tree.work / "old" / "new-2").exists()
