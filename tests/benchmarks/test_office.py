"""Requests on a second tree: each that can be done is done by a plan by hand, and the judge finds it right."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.judged import office, tree
from benchmarks.judged.cases import read_cases, unfit
from benchmarks.judged.desk import Desk
from benchmarks.judged.judge import happened, judge

DATA = Path(__file__).resolve().parents[2] / "benchmarks" / "data"
CASES = {case.id: case for case in read_cases(DATA / "planning_fresh2.jsonl")}
GOLD = dict(part.split("\n", 1) for part in (DATA / "planning_fresh2_gold.txt").read_text("utf-8").split("\n== ")[1:])


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("office")
    office.build(folder)
    return folder


def test_the_cases_are_what_they_are_said_to_be(source: Path) -> None:
    cases = list(CASES.values())
    others = {case.request for name in ("planning", "planning_fresh") for case in read_cases(DATA / f"{name}.jsonl")}
    assert len(cases) == 70
    assert sum(case.language == "it" for case in cases) == 35
    assert sum(case.kind == "compound" for case in cases) == 24
    assert sum(bool(case.declines) for case in cases) == 14
    assert not others & {case.request for case in cases}
    assert not unfit(cases, tree.look(source).keys())
    assert {case.id for case in cases if not case.declines} == GOLD.keys()


def test_what_is_expected_comes_of_a_plan(source: Path, tmp_path: Path) -> None:
    """Run as a plan file is: whether a request may lead to it is the guards' to say, and part of what is measured."""
    desk = Desk(tmp_path, lambda _request, _candidates: "end", source)
    try:
        for name, plan in GOLD.items():
            before = tree.copy(source, desk.folder)
            result = desk.engine.run_sync(plan=plan)
            answer = "\n".join([result.answer, *result.notes, str(result.data or "")])
            came = happened(result.outcome, suspended=result.status == "suspended")
            judged = judge(CASES[name], before, desk.folder, answer, came)
            assert judged.verdict == "right", (name, judged.why, result.code)
            other = judge(CASES[name], before, desk.folder, "", came)
            assert CASES[name].expected.files or CASES[name].expected.folders or other.verdict == "wrong", name
    finally:
        desk.close()


def test_the_guards_allow_what_is_asked(source: Path, tmp_path: Path) -> None:
    plan = ""
    desk = Desk(tmp_path, lambda _request, _candidates: plan, source)
    try:
        for name, plan in GOLD.items():  # noqa: B007 - the proposer reads it
            ran = desk.run(CASES[name])
            assert (ran.judged.verdict, ran.code) == ("right", ""), (name, ran.judged.why, ran.code)
    finally:
        desk.close()
