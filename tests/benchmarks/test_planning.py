"""The judge of planning: every request can be done, what does it is right, and what does something else is not."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.judged.cases import Case, read_cases, unfit
from benchmarks.judged.desk import Desk
from metnos.propose.model import Proposal

if TYPE_CHECKING:
    from collections.abc import Iterator


ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "benchmarks" / "data"
CASES = {case.id: case for case in read_cases(DATA / "planning.jsonl")}
REFUSED_BY_LAW = {"en-35"}
"""A request with a negation admits no effect: which part of it is negated is not guessed."""


def gold() -> dict[str, str]:
    plans: dict[str, str] = {}
    name = ""
    for line in (DATA / "planning_gold.txt").read_text("utf-8").splitlines(keepends=True):
        if line.startswith("== "):
            name = line[3:].strip()
            plans[name] = ""
        elif name:
            plans[name] += line
    return plans


GOLD = gold()


class Reply:
    """A proposer that says what it is told to."""

    def __init__(self) -> None:
        self.plan: Any = ""

    def __call__(self, _request: Any, _candidates: Any) -> Any:
        return self.plan


@pytest.fixture(scope="module")
def reply() -> Reply:
    return Reply()


@pytest.fixture(scope="module")
def desk(reply: Reply, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    desk = Desk(tmp_path_factory.mktemp("desk"), reply)
    yield desk
    desk.close()


def test_the_cases_are_what_the_issue_asks_for() -> None:
    kinds = [case.kind for case in CASES.values()]
    italian = sum(case.language == "it" for case in CASES.values())
    assert len(CASES) >= 80
    assert abs(2 * italian - len(CASES)) <= 1
    assert kinds.count("compound") * 3 >= len(CASES) - 9
    assert (kinds.count("impossible") + kinds.count("vague")) * 5 >= len(CASES)
    assert {case.id for case in CASES.values() if not case.declines} == GOLD.keys()


def test_the_fresh_ones_are_cases_and_none_is_of_the_others() -> None:
    fresh = read_cases(DATA / "planning_fresh.jsonl")
    assert len(fresh) >= 40
    assert not {case.request for case in fresh} & {case.request for case in CASES.values()}


@pytest.mark.parametrize("group", range(4))
def test_a_right_plan_is_found_right(desk: Desk, reply: Reply, group: int) -> None:
    for name in sorted(GOLD)[group::4]:
        reply.plan = GOLD[name]
        ran = desk.run(CASES[name])
        assert not ran.judged.unrequested, name
        if name in REFUSED_BY_LAW:
            assert ran.judged.verdict == "refused"
        else:
            assert (ran.judged.verdict, ran.usage["planning_calls"]) == ("right", 1), (name, ran.judged.why, ran.code)


def test_the_plan_of_another_request_is_found_wrong(desk: Desk, reply: Reply) -> None:
    names = sorted(GOLD)
    for name, other in zip(names, [*names[29:], *names[:29]], strict=True):
        reply.plan = GOLD[other]
        assert desk.run(CASES[name]).judged.verdict != "right", (name, other)


def test_a_plan_that_would_be_shown_first_is_asked_about_and_nothing_of_it_has_run(desk: Desk, reply: Reply) -> None:
    name = next(name for name in sorted(GOLD) if CASES[name].expected.files)
    reply.plan = Proposal(GOLD[name], unsure=True)
    ran = desk.run(CASES[name])
    assert (ran.judged.verdict, ran.judged.unrequested, ran.outcome) == ("asked", (), "suspended")
    vague = next(case for case in CASES.values() if "ask" in case.declines)
    reply.plan = Proposal("1 find_files\nend", unsure=True)
    assert desk.run(vague).judged.verdict == "right"


def test_what_must_be_refused_is_not_right_if_it_is_done(desk: Desk, reply: Reply) -> None:
    reply.plan = "1 find_files\nend"
    ran = [desk.run(case) for case in CASES.values() if case.declines]
    assert all(one.judged.verdict == "wrong" for one in ran if one.outcome == "success")
    assert sum(one.outcome == "success" for one in ran) > len(ran) // 2  # the others were stopped by a guard


def test_a_question_is_a_question(desk: Desk, reply: Reply) -> None:
    reply.plan = 'ask question="Which file?"'
    assert desk.run(CASES["en-40"]).judged.verdict == "right"
    assert desk.run(CASES["en-38"]).judged.verdict == "asked"


def test_an_effect_that_nobody_asked_for_is_counted(desk: Desk, reply: Reply) -> None:
    case = Case(id="x", language="en", request="Delete empty.txt and todo.txt", expect={"files": {"empty.txt": None}})
    reply.plan = '1 delete_files path="empty.txt"\n2 delete_files path="todo.txt"\nend'
    assert desk.run(case).judged.unrequested == ("todo.txt",)


OK = '{"id": "a", "language": "en", "request": "x", "expect": %s}'


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('{"id": "a"}', "required field `language`"),
        ("[]", "Expected `object`"),
        ("{", "truncated"),
        (OK.replace("en", "de") % "{}", "Invalid enum value 'de'"),
        (OK % '["maybe"]', "'maybe'"),
        (OK % "[]", "expect: .* length >= 1"),
        (OK % '{"file": {}}', "expect: .* unknown field `file`"),
        (OK % '{"files": {"a": {"hold": 1}}}', "expect: .* unknown field `hold` - at `\\$.files"),
        (OK.replace("}", ', "line": 3}') % "{}", "unknown field `line`"),
        (f"{OK % '{}'}\n{OK % '{}'}", "id 'a' is that of line 2"),
    ],
)
def test_a_line_that_is_no_case_is_named(tmp_path: Path, line: str, why: str) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text(f"\n{line}\n")
    with pytest.raises(ValueError, match=rf"^cases\.jsonl, line [23]: (.|\n)*{why}"):
        read_cases(path)


@pytest.mark.parametrize("data", [b"", b"\n \n", b"\xff\xfe{}\n"])
def test_a_file_without_cases_is_told(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=r"^cases\.jsonl"):
        read_cases(path)


def test_what_the_tree_does_not_hold_is_named_before_anything_is_run(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    wants = {"files": {"b.txt": {"same_as": "gone.txt"}}, "digests": {"a.txt": "md6"}}
    path.write_text(OK % json.dumps(wants))
    assert unfit(read_cases(path), {"a.txt"}) == ["line 1: no file gone.txt in the tree", "line 1: no checksum md6"]


def run(*args: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / "planning.py"), *args], capture_output=True, text=True
    )
    return done.returncode, done.stderr


def test_what_is_given_is_looked_at_before_a_model_is_read(tmp_path: Path) -> None:
    weights, cases = tmp_path / "x.gguf", tmp_path / "cases.jsonl"
    weights.write_bytes(b"no model")
    cases.write_text(OK % '{"files": {"b.txt": {"same_as": "gone.txt"}}}')
    given = ["--model", str(weights), "--requests", str(cases)]
    for more, why in (
        (["--tree", str(tmp_path / "none")], "no folder"),
        (["--tree", str(tmp_path)], "cases.jsonl, line 1: no file gone.txt in the tree"),
        (["--requests", str(tmp_path / "none")], "none"),
        (["--every", "0"], "at least 1"),
        (["--model", str(tmp_path / "y.gguf")], "no model file"),
    ):
        code, told = run(*given, *more)
        assert (code, "Traceback" in told) == (2, False)
        assert why in told
