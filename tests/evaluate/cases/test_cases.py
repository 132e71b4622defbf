"""Cases: made from recorded turns, written and read again, held against turns that went otherwise."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from metnos.evaluate.cases.files import case_schema, case_text, load_case, log_of, save_case, toml_of
from metnos.evaluate.cases.judging import unmet
from metnos.evaluate.cases.making import make_case
from metnos.evaluate.cases.model import Case, Expect, ExpectedEffect, ExpectedStep
from metnos.record.faults import RecordFault
from metnos.record.verify import verify_log
from metnos.sdk import Failure
from tests.support.checking import plan, step
from tests.support.recorded import contract, recorded

TEXT = {"type": "string"}
FIND = contract("find", {"path": TEXT, "more": {}}, {})
PUT = contract("put", {"path": TEXT}, effect="create", targets=("path",))
ODD = 'a "quoted" \\ text\x7f\n\ttwo lines, ünïcode 🙂, ]] = #'
PLAN = plan(
    step("find", {"path": ODD, "more": {"none": None, "list": [1, 2.5, True, {"a": "b"}], "x": "${step1}"[:0]}}),
    step("put", {"path": "x"}),
)
LOG = recorded([FIND, PUT], PLAN, {"find": {"text": ODD}}, effects={"put": "create"}, turn="t-1")


@pytest.fixture
def case() -> Case:
    return make_case(LOG, "odd", {"task": 3, "judge": "good", "sure": True, "share": 0.5})


def test_what_came_of_a_turn_is_expected_of_it(case: Case) -> None:
    expect = case.expect
    assert (expect.outcome, expect.code, expect.tools, expect.answer) == ("success", "", ("find", "put"), "1.1,1.2")
    assert expect.effects == (ExpectedEffect(cls="create", target="x"),)
    assert not expect.other_effects
    assert [(one.tool, one.runs) for one in expect.steps or ()] == [("find", "done"), ("put", "done")]
    assert unmet(expect, LOG) == ()


@pytest.mark.parametrize("name", ["odd.toml", "odd.json"])
def test_a_case_that_is_written_is_the_same_when_it_is_read(name: str, case: Case, tmp_path: Path) -> None:
    files = save_case(case, tmp_path / name)
    assert sorted(files) == sorted(tmp_path.iterdir())
    read = load_case(tmp_path / name)
    assert log_of(read) == LOG
    assert verify_log(log_of(read)).ok
    assert unmet(read.expect, LOG) == ()
    assert msgspec.structs.replace(read, log="", expect=case.expect) == case
    steps = read.expect.steps
    assert steps is not None
    args = steps[0].args
    assert (json.loads(args) if isinstance(args, str) else args) == PLAN["steps"][0]["args"]
    assert case_text(case) == case_text(load_case(save_case(case, tmp_path / "again.json")[0]))


@pytest.mark.parametrize("name", ["odd.toml", "odd.json"])
def test_what_is_written_fits_the_schema(name: str, case: Case, tmp_path: Path) -> None:
    import tomllib

    from metnos.contracts.schemas import validator_for

    path = save_case(case, tmp_path / name)[0]
    data = tomllib.loads(path.read_text()) if path.suffix == ".toml" else json.loads(path.read_text())
    schema = case_schema()
    assert validator_for(schema)(data) == []
    data["expect"]["outcom"] = "success"
    assert [fault.pointer for fault in validator_for(schema)(data)] == ["/expect/outcom"]


CHANGES: list[tuple[dict[str, Any], str, str]] = [
    ({"outcome": "error"}, "outcome", "success"),
    ({"code": "broken"}, "code", ""),
    ({"tools": ("find",)}, "tools", "find, put"),
    ({"steps": (ExpectedStep(tool="find"),), "tools": None}, "steps", "find, put"),
    ({"steps": (ExpectedStep(tool="find", runs="failed"), ExpectedStep(tool="put"))}, "steps", "done"),
    ({"steps": (ExpectedStep(tool="find"), ExpectedStep(tool="put", args={"path": "y"}))}, "arguments", '{"path":"x"}'),
    ({"effects": (ExpectedEffect(cls="delete", target="x"),), "other_effects": True}, "effects", ""),
    ({"effects": ()}, "other-effects", "create x"),
    ({"answer": "another"}, "answer", "1.1,1.2"),
]


@pytest.mark.parametrize(("changes", "what", "found"), CHANGES)
def test_each_expectation_that_is_not_met_is_named(changes: dict[str, Any], what: str, found: str, case: Case) -> None:
    (one,) = unmet(msgspec.structs.replace(case.expect, **changes), LOG)
    assert (one.what, one.found) == (what, found)


def test_a_turn_that_went_otherwise_fails_at_every_difference(case: Case) -> None:
    other = recorded([FIND, PUT], PLAN, {"find": Failure(cls="operational", code="broken")}, turn="t-2")
    assert {one.what for one in unmet(case.expect, other)} >= {"outcome", "code", "steps", "effects", "answer"}
    assert unmet(Expect(), other) == ()


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('form = "metnos.case/1"\nname = "x"\n[expect]\noutcom = "success"\n', "outcom"),
        ('form = "metnos.case/2"\nname = "x"\n', "metnos.case/2"),
        ('form = "metnos.case/1"\nname = 3\n', "$.name"),
        ('form = "metnos.case/1"\nname = "x"\nlog = "../secret"\n', "../secret"),
        ('form = "metnos.case/1"\nname = "x"\nlog = ".."\n', ".."),
        ('form = "metnos.case/1"\nname = "x"\nlog = "a\\u0000b"\n', "beside the case"),
        ("form = \n", "line 1"),
    ],
)
def test_what_is_no_case_is_refused_with_its_place(text: str, place: str, tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text(text)
    with pytest.raises(RecordFault) as refused:
        load_case(path)
    assert refused.value.code == "case-invalid"
    assert place in refused.value.message


def test_a_case_without_its_turn_is_said_to_be_one(tmp_path: Path, case: Case) -> None:
    with pytest.raises(RecordFault, match="holds no recorded turn"):
        log_of(msgspec.structs.replace(case, record=None))
    save_case(case, tmp_path / "odd.toml")
    (tmp_path / "odd.turn.jsonl").write_text("{}")
    with pytest.raises(RecordFault, match="the turn beside"):
        load_case(tmp_path / "odd.toml")


def test_toml_of_odd_names() -> None:
    import tomllib

    table = {"a b": 1, "": {"x.y": [], "é": {}}, "list": [{"n": {"deep": {"e": [None]}}}], "n": -1.5e300}
    read = tomllib.loads(toml_of(table))
    assert read["list"][0].pop("n") == {"deep": '{"e":[null]}'}
    assert read == {**table, "list": [{}]}
