from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.plan.codes import CODES
from metnos.plan.faults import describe
from metnos.plan.model import Ask, Field, Filler, FinalAnswer, NeedsInputs, Plan, Step, When
from metnos.plan.parse import MAX_STEPS, Parsed, read_plan, to_json
from metnos.turn.inputs import Budget
from tests.support.plan_corpus import BAD, END, GOOD, args, plan, step
from tests.support.strategies import json_values, plans


@pytest.mark.parametrize("name", GOOD)
def test_good_plans_are_read_and_written_back(name: str) -> None:
    raw = GOOD[name]
    parsed = read_plan(raw)
    assert parsed.diagnostics == ()
    assert parsed.ok
    assert parsed.plan is not None
    assert read_plan(to_json(parsed.plan)).plan == parsed.plan
    assert read_plan(json.dumps(raw)) == read_plan(json.dumps(raw).encode()) == parsed


@pytest.mark.parametrize("name", BAD)
def test_bad_plans_name_every_fault_in_one_pass(name: str) -> None:
    raw, faults = BAD[name]
    parsed = read_plan(json.dumps(raw))
    assert [(found.code, found.where) for found in parsed.diagnostics] == faults
    assert not parsed.ok
    assert all(found.code in CODES for found in parsed.diagnostics)
    if isinstance(raw, dict):
        assert read_plan(raw) == parsed


def test_faults_of_all_kinds_at_once() -> None:
    raw = {
        "steps": [step(tool="a b"), step(id="step1", args={"x": "${"}), END, step(on_error="x")],
        "fillers": {"t": {"prompt": 1, "schema": {}}},
        "extra": 1,
    }
    found = [(item.code, item.where) for item in read_plan(raw).diagnostics]
    assert found == [
        ("unknown-field", "/extra"),
        ("bad-name", "/steps/0/tool"),
        ("reference-syntax", "/steps/1/args/x"),
        ("reserved-name", "/steps/1/id"),
        ("bad-value", "/steps/3/on_error"),
        ("terminal-not-last", "/steps/2"),
        ("wrong-type", "/fillers/t/prompt"),
        ("unused-filler", "/fillers/t"),
    ]


def test_what_was_meant_is_said() -> None:
    hints = {
        item.where: item.hint
        for item in read_plan(plan({"Tol": "x", "arg": {}}, step(args={"from_step": "step12"}))).diagnostics
    }
    assert hints["/steps/0/Tol"] == "did you mean `tool`?"
    assert hints["/steps/0/arg"] == "did you mean `args`?"
    assert hints["/steps/1/args/from_step"] == "write the number: 12"
    (far,) = read_plan(plan(zzzzzz=1)).diagnostics
    assert far.hint == ""
    assert far.expected == "steps, fillers, $schema"
    (reserved,) = read_plan(args(from_step="item")).diagnostics
    assert reserved.hint == ""


def test_every_part_of_a_plan_has_its_place() -> None:
    raw = {
        "steps": [
            {"tool": "a", "args": {"x": 1}, "id": "one"},
            {
                "tool": "b",
                "args": {"from_step": "one"},
                "for_each": "${one}",
                "when": {"empty": "one"},
                "on_error": "continue",
            },
            {"tool": "needs_inputs", "args": {"form": {"f": {"schema": {"type": "string"}, "label": "F"}}}},
        ]
    }
    assert read_plan(raw) == Parsed(
        Plan(
            steps=(
                Step(tool="a", args={"x": 1}, id="one"),
                Step(
                    tool="b",
                    args={"from_step": "one"},
                    for_each="${one}",
                    when=When(nonempty=False, step="one"),
                    on_error="continue",
                ),
            ),
            terminal=NeedsInputs(form={"f": Field(schema={"type": "string"}, label="F")}),
        )
    )
    assert to_json(read_plan(raw).plan or Plan(steps=())) == raw


def test_terminals_and_fillers() -> None:
    ask = read_plan({"steps": [{"tool": "ask", "args": {"question": "?", "choices": ["a"]}}]})
    assert ask.plan == Plan(steps=(), terminal=Ask(question="?", choices=("a",)))
    null = read_plan({"steps": [{"tool": "final_answer", "args": {"data": None}}]})
    assert null.plan == Plan(steps=(), terminal=FinalAnswer(has_data=True))
    assert to_json(null.plan)["steps"][0]["args"] == {"data": None}
    filled = read_plan(GOOD["fillers"]).plan
    assert filled is not None
    assert filled.fillers == {"title": Filler(prompt="A title.", schema={"type": "string"}, role="wise")}


def test_what_cannot_be_read_keeps_its_place() -> None:
    parsed = read_plan({"steps": [step(tool="one"), 7, END, step(tool="two"), END]})
    assert parsed.plan is not None
    assert [found.tool for found in parsed.plan.steps] == ["one", "", "", "two"]
    assert read_plan({"steps": [step()]}).plan == Plan(steps=(Step(tool="find_files", args={}),))


@pytest.mark.parametrize(
    ("data", "code", "where"),
    [
        ("{", "json-syntax", ""),
        ("1", "wrong-type", ""),
        (b"\xff", "not-utf8", ""),
        ('{"steps": [], "steps": []}', "duplicate-key", "/steps"),
        (args(n=2**60), "integer-range", "/steps/0/args/n"),
        (args(n=float("nan")), "not-a-number", "/steps/0/args/n"),
        (args(n="x" * 300_000), "too-large", ""),
        (json.dumps(args(n="x" * 300_000)), "too-large", ""),
        (args(n={1}), "not-json", "/steps/0/args/n"),
    ],
)
def test_unreadable_data_are_one_fault(data: Any, code: str, where: str) -> None:
    parsed = read_plan(data)
    assert [(found.code, found.where) for found in parsed.diagnostics] == [(code, where)]
    assert parsed.plan is None


def test_depth_is_limited_however_the_plan_comes() -> None:
    def nested(depth: int) -> dict[str, Any]:
        value: Any = 0
        for _ in range(depth):
            value = [value]
        return args(x=value)

    assert read_plan(nested(28)).ok
    for data in (nested(29), json.dumps(nested(29))):
        assert [found.code for found in read_plan(data).diagnostics] == ["too-deep"]


@given(plans())
def test_written_plans_are_read_back(made: Plan) -> None:
    parsed = read_plan(to_json(made))
    assert parsed.diagnostics == ()
    assert parsed.plan == made


@given(st.one_of(json_values, st.fixed_dictionaries({"steps": st.lists(json_values | st.just(END), max_size=3)})))
def test_bad_data_never_raise(data: Any) -> None:
    parsed = read_plan(json.dumps(data))
    assert parsed.ok or all(found.code in CODES for found in parsed.diagnostics)


def test_the_limit_is_the_budget_of_a_turn() -> None:
    assert Budget().steps >= MAX_STEPS


def test_values_are_described_shortly() -> None:
    assert describe("x" * 100) == 'a string: "' + "x" * 56 + "..."
    assert describe(True) == "a boolean: true"
    assert describe(None) == "null"
    assert describe(("x",)) == "a list"
    assert describe({1}) == "a set"
    assert describe(float("nan")) == "a number"
