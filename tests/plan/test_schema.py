from __future__ import annotations

import json
from typing import Any

import jsonschema
import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.plan.model import Plan
from metnos.plan.parse import read_plan, to_json
from metnos.plan.schema import BEYOND_SCHEMA, plan_schema
from tests.support.plan_corpus import BAD, END, GOOD
from tests.support.strategies import json_values, plans

SCHEMA = plan_schema()
RUST = jsonschema_rs.validator_for(SCHEMA)
REFERENCE = jsonschema.Draft202012Validator(SCHEMA)


def schema_takes(data: Any) -> bool:
    taken = RUST.is_valid(data)
    assert REFERENCE.is_valid(data) == taken
    return taken


def reader_takes(data: Any) -> bool:
    """Whether the reader finds no fault that a schema could find too."""
    return all(found.code in BEYOND_SCHEMA for found in read_plan(json.dumps(data)).diagnostics)


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert json.loads(json.dumps(SCHEMA)) == SCHEMA


@pytest.mark.parametrize("name", GOOD)
def test_both_take_good_plans(name: str) -> None:
    assert schema_takes(GOOD[name])


@pytest.mark.parametrize("name", BAD)
def test_both_refuse_bad_plans(name: str) -> None:
    data, _ = BAD[name]
    assert schema_takes(data) == reader_takes(data)


def test_what_a_schema_cannot_see_is_little() -> None:
    unseen = {name for name, (data, _) in BAD.items() if schema_takes(data)}
    assert unseen == {
        "end not last", "id twice", "for_each item misspelled", "for_each misspelled", "reference misspelled",
        "filler not defined", "filler misspelled", "filler unused", "filler in a broken string",
    }  # fmt: skip


@given(plans())
def test_made_plans_fit(plan: Plan) -> None:
    assert schema_takes(to_json(plan))


_fields = st.sampled_from(("tool", "args", "id", "for_each", "when", "on_error", "x"))
_values = st.one_of(
    st.sampled_from(
        (
            1,
            0,
            True,
            None,
            "a",
            "step1",
            "final_answer",
            "ask",
            "stop",
            "${step1}",
            "${step1} x",
            [],
            {},
            {"empty": 1},
            {"from_step": 1},
        )
    ),
    json_values,
)


@given(st.lists(st.dictionaries(_fields, _values, max_size=4) | st.just(END), max_size=3))
def test_both_give_one_verdict_on_random_steps(steps: list[Any]) -> None:
    data = {"steps": steps}
    assert schema_takes(data) == reader_takes(data)
