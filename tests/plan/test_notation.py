from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.plan.codes import CODES
from metnos.plan.model import Ask, FinalAnswer, Plan, Step, When
from metnos.plan.notation import NotationRefused, parse_lines, show
from metnos.plan.parse import read_plan
from metnos.plan.write import canonical_plan
from tests.support.plan_corpus import BAD, GOOD
from tests.support.strategies import plans, texts

FULL = """\
1 find_files path="." pattern="*.pdf"
2 read_files <1 encoding="utf-8" continue
3 render_table <1,2 title=${FILLER:title ?? "a b}"} if 1
4 write_files path="out/${item.name}" "Exchange Rate"={"a":[1,2.5,null]} each ${step2.entries} unless 3
5 take_entries <3, count=5
end text="Wrote ${step4.count} files.\\n" data={"n":"${step4.count}"}
filler title prompt="A short title." schema={"type":"string"}
"""


def test_every_form_is_read_and_shown() -> None:
    parsed = parse_lines(FULL)
    assert parsed.diagnostics == ()
    assert parsed.plan is not None
    assert show(parsed.plan) == FULL
    assert parsed.plan.steps[2] == Step(
        tool="render_table",
        args={"from_steps": [1, 2], "title": '${FILLER:title ?? "a b}"}'},
        when=When(nonempty=True, step=1),
    )
    assert parsed.plan.steps[3].for_each == "${step2.entries}"
    assert parsed.plan.steps[3].when == When(nonempty=False, step=3)
    assert parsed.plan.steps[4].args == {"from_steps": [3], "count": 5}
    assert parsed.plan.terminal == FinalAnswer(
        text="Wrote ${step4.count} files.\n", data={"n": "${step4.count}"}, has_data=True
    )


def test_the_lines_of_the_design_are_lines() -> None:
    text = '1 find_urls query="…" count=10\n2 read_urls_html <1\n3 create_files_doc <2 path="Rapporti/dpp.docx"\nend'
    parsed = parse_lines(text)
    assert parsed.ok
    assert parsed.plan is not None
    assert parsed.plan.steps[1].args == {"from_step": 1}


def test_people_may_name_steps_leave_space_and_comment() -> None:
    parsed = parse_lines(
        "# a plan\r\n\r\n  1 find_files   as src\t\n2 read_files <src,1 if src each $<src.entries>\n end\n"
    )
    assert parsed.diagnostics == ()
    assert parsed.plan is not None
    assert parsed.plan.steps[0].id == "src"
    assert show(parsed.plan) == "1 find_files\n2 read_files <1,1 each ${step1.entries} if 1\nend\n"


def test_terminals_have_no_number() -> None:
    asked = parse_lines('ask question="Which?" choices=["a","b"]').plan
    assert asked == Plan(steps=(), terminal=Ask(question="Which?", choices=("a", "b")))
    assert asked is not None
    assert show(asked) == 'ask question="Which?" choices=["a","b"]\n'
    needs = read_plan(GOOD["needs"]).plan
    assert needs is not None
    assert show(needs) == 'needs folder={"label":"Folder","schema":{"type":"string"}} n={"schema":{}}\n'


@given(plans())
def test_shown_plans_are_read_back_canonical(plan: Plan) -> None:
    text = show(plan)
    parsed = parse_lines(text)
    assert parsed.diagnostics == ()
    assert parsed.plan == canonical_plan(plan)
    assert show(parsed.plan) == text


@pytest.mark.parametrize("name", GOOD)
def test_the_subset_is_all_that_can_be_read(name: str) -> None:
    plan = read_plan(GOOD[name]).plan
    assert plan is not None
    assert parse_lines(show(plan)).plan == canonical_plan(plan)


@pytest.mark.parametrize("name", BAD)
def test_outside_the_subset_nothing_is_shown(name: str) -> None:
    parsed = read_plan(BAD[name][0]) if isinstance(BAD[name][0], dict) else None
    if parsed is None or parsed.plan is None:
        return
    plan = parsed.plan
    try:
        text = show(plan)
    except NotationRefused as refused:
        diagnostic = refused.diagnostic
    else:  # the fault was in what the reader left out
        assert parse_lines(text).plan == canonical_plan(plan)
        return
    assert diagnostic.code == "outside-notation"
    assert diagnostic.where.startswith(("/steps", "/fillers"))


def test_a_plan_made_by_hand_can_be_outside() -> None:
    with pytest.raises(NotationRefused) as caught:
        show(Plan(steps=(Step(tool="a", args={"x": "${"}),)))
    assert caught.value.diagnostic.where == "/steps/0/args/x"
    with pytest.raises(NotationRefused, match="bad-name"):
        show(Plan(steps=(Step(tool="", args={}),)))
    with pytest.raises(NotationRefused, match="not-a-number"):
        show(Plan(steps=(Step(tool="a", args={"x": float("nan")}),)))


FAULTY: list[tuple[str, list[tuple[str, str, str]]]] = [
    ("", [("terminal-missing", "/steps", "")]),
    ("1 a x=", [("line-syntax", "/steps/0", "line 1, column 7: the end of the line")]),
    ("1 a x=foo", [("line-syntax", "/steps/0", "line 1, column 7: foo")]),
    ('1 a x="b', [("line-syntax", "/steps/0", 'column 7: "b')]),
    ('1 a x="b"y=1', [("line-syntax", "/steps/0", "column 10: y=1")]),
    ("1 a x=${item", [("line-syntax", "/steps/0", "column 7: ${item")]),
    ("1 a x=1 x=2", [("line-syntax", "/steps/0", "column 9: x=2")]),
    ('1 a x=1 "x"=2', [("line-syntax", "/steps/0", 'column 9: "x"=2')]),
    ("1 a <1 from_step=2", [("line-syntax", "/steps/0", "column 8: from_step=2")]),
    ("1 a <", [("line-syntax", "/steps/0", "column 5: <")]),
    ("1 a if", [("line-syntax", "/steps/0", "the end of the line")]),
    ("1 a if 1 unless 2", [("line-syntax", "/steps/0", "column 10: unless 2")]),
    ("1 a if 1 if 2", [("line-syntax", "/steps/0", "column 10: if 2")]),
    ("1 a whenever", [("line-syntax", "/steps/0", "column 5: whenever")]),
    ("1 a =", [("line-syntax", "/steps/0", "column 5: =")]),
    ("1 a each", [("line-syntax", "/steps/0", "the end of the line")]),
    ("1 a each 7", [("wrong-type", "/steps/0/for_each", "an integer: 7")]),
    ("1 a as step1", [("reserved-name", "/steps/0/id", "step1")]),
    ("1 a x=99999999999999999999", [("line-syntax", "/steps/0", "beyond 2^53")]),
    ('1 a x={"k":1,"k":2}', [("line-syntax", "/steps/0", "given twice")]),
    ('1 a "\\ud800"=1', [("line-syntax", "/steps/0", "surrogate")]),
    ('1 a x="${"', [("reference-syntax", "/steps/0/args/x", "the end of the string")]),
    ("1 a x=${step0}", [("reference-syntax", "/steps/0/args/x", "character 3")]),
    ("1", [("line-syntax", "/steps/0", "column 1: 1")]),
    ("2 a", [("line-number", "/steps/0", "line 1: 2")]),
    ("1 a\n\n3 b", [("line-number", "/steps/1", "line 3: 3")]),
    ("find_files", [("line-syntax", "/steps/0", "column 1: find_files")]),
    ("end 7", [("line-syntax", "/steps/0", "column 5: 7")]),
    ("end txt=1", [("unknown-field", "/steps/0/args/txt", "txt")]),
    ("end\nfiller", [("line-syntax", "/fillers", "line 2, column 7: the end of the line")]),
    ("end\nfiller t 7", [("line-syntax", "/fillers", "column 10: 7")]),
    (
        "end\nfiller t prompt=1",
        [
            ("wrong-type", "/fillers/t/prompt", "an integer: 1"),
            ("missing-field", "/fillers/t", ""),
            ("unused-filler", "/fillers/t", "t"),
        ],
    ),
]


@pytest.mark.parametrize(("text", "faults"), FAULTY, ids=[repr(row[0]) for row in FAULTY])
def test_faulty_lines_name_their_place(text: str, faults: list[tuple[str, str, str]]) -> None:
    found = list(parse_lines(text).diagnostics)
    if "end" not in text.split() and text:
        assert found.pop().code == "terminal-missing"
    assert [(item.code, item.where) for item in found] == [(code, where) for code, where, _ in faults]
    for item, (_, _, words) in zip(found, faults, strict=True):
        assert words in item.found


def test_a_filler_is_given_once() -> None:
    line = 'filler t prompt="" schema={}\n'
    (fault,) = parse_lines("end text=${FILLER:t}\n" + line + line).diagnostics
    assert (fault.code, fault.expected) == ("line-syntax", "t once")


def test_the_reader_goes_on_behind_a_broken_line() -> None:
    parsed = parse_lines('1 a x=\n2 b <1 y="${"\n4 c\nend')
    assert [(item.code, item.where) for item in parsed.diagnostics] == [
        ("line-syntax", "/steps/0"),
        ("line-number", "/steps/2"),
        ("reference-syntax", "/steps/1/args/y"),
    ]
    assert parsed.plan is not None
    assert [step.tool for step in parsed.plan.steps] == ["", "b", "c"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("1 a x=" + "[" * 100_000, "too-deep"),
        ("#" * 300_000, "too-large"),
        ("1 a x=" + "[" * 30 + "1" + "]" * 30 + "\nend", "too-deep"),
    ],
)
def test_limits_hold_for_lines(text: str, code: str) -> None:
    (fault,) = parse_lines(text).diagnostics
    assert fault.code == code


_words: st.SearchStrategy[Any] = st.sampled_from(
    [
        "1",
        "2",
        "a",
        "end",
        "filler",
        "ask",
        "<1",
        "<1,2",
        "x=1",
        "x=",
        '"y"=',
        "${step1}",
        "each",
        "if",
        "as",
        "continue",
        "[",
        "{}",
        "\n",
        "#",
    ]
)


@given(st.lists(_words | texts, max_size=12).map(" ".join))
def test_any_text_is_read_or_refused(text: str) -> None:
    parsed = parse_lines(text)
    assert all(found.code in CODES for found in parsed.diagnostics)
    if parsed.ok:
        assert parsed.plan is not None
        assert parse_lines(show(parsed.plan)).plan == canonical_plan(parsed.plan)
