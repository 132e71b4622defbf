"""Requests on a second tree: each that can be done is done by a plan by hand, and the judge finds it right."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from benchmarks.judged import office, tree
from benchmarks.judged.cases import Case, read_cases, unfit
from benchmarks.judged.desk import Desk
from benchmarks.judged.judge import happened, judge

DATA: Final = Path(__file__).resolve().parents[2] / "benchmarks" / "data"
SETS: Final = {"planning_fresh2": (70, 35, 24, 14), "planning_fresh3": (50, 25, 17, 10)}
"""Name → how many requests: all, Italian, compound, to be declined."""
REFUSED: Final = {"planning_fresh2": (), "planning_fresh3": ("en-07", "en-11", "en-14", "en-17", "it-08", "it-18")}
"""Plans by hand that a guard does not accept under their own request: no other may join them. `en-11` holds a negation, so
it admits no effect by law; the others are a guard's fault, and nobody mends it for these requests in particular."""
EARLIER: Final = ("planning", "planning_fresh", *SETS)


def gold(name: str) -> dict[str, str]:
    parts = (DATA / f"{name}_gold.txt").read_text("utf-8").split("\n== ")[1:]
    return dict(part.split("\n", 1) for part in parts)


def cases_of(name: str) -> dict[str, Case]:
    return {case.id: case for case in read_cases(DATA / f"{name}.jsonl")}


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("office")
    office.build(folder)
    return folder


@pytest.mark.parametrize("name", SETS)
def test_the_cases_are_what_they_are_said_to_be(source: Path, name: str) -> None:
    cases = list(cases_of(name).values())
    before = EARLIER[: EARLIER.index(name)]
    others = {case.request for one in before for case in read_cases(DATA / f"{one}.jsonl")}
    italian = sum(case.language == "it" for case in cases)
    compound = sum(case.kind == "compound" for case in cases)
    assert (len(cases), italian, compound, sum(bool(case.declines) for case in cases)) == SETS[name]
    assert not others & {case.request for case in cases}
    assert not unfit(cases, tree.look(source).keys())
    assert {case.id for case in cases if not case.declines} == gold(name).keys()


@pytest.mark.parametrize("name", SETS)
def test_what_is_expected_comes_of_a_plan(source: Path, tmp_path: Path, name: str) -> None:
    """Run as a plan file is: whether a request may lead to it is the guards' to say, and part of what is measured."""
    cases = cases_of(name)
    desk = Desk(tmp_path, lambda _request, _candidates: "end", source)
    try:
        for which, plan in gold(name).items():
            before = tree.copy(source, desk.folder)
            result = desk.engine.run_sync(plan=plan)
            answer = "\n".join([result.answer, *result.notes, str(result.data or "")])
            came = happened(result.outcome, suspended=result.status == "suspended")
            judged = judge(cases[which], before, desk.folder, answer, came)
            assert judged.verdict == "right", (which, judged.why, result.code)
            other = judge(cases[which], before, desk.folder, "", came)
            expected = cases[which].expected
            assert expected.files or expected.folders or other.verdict == "wrong", which
    finally:
        desk.close()


@pytest.mark.parametrize("name", SETS)
def test_the_guards_allow_what_is_asked(source: Path, tmp_path: Path, name: str) -> None:
    cases, plan = cases_of(name), ""
    desk = Desk(tmp_path, lambda _request, _candidates: plan, source)
    try:
        for which, plan in gold(name).items():  # noqa: B007 - the proposer reads it
            ran = desk.run(cases[which])
            if ran.judged.verdict == "refused" and not ran.judged.unrequested:
                assert which in REFUSED[name], (which, ran.code)
            else:
                assert (ran.judged.verdict, ran.code) == ("right", ""), (which, ran.judged.why, ran.code)
    finally:
        desk.close()
