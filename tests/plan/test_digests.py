from __future__ import annotations

import hashlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.plan.digests import argument_digest, operation_id, plan_digest
from metnos.plan.jsondata import JSONFault, canonical, digest
from metnos.plan.model import Plan
from metnos.plan.parse import read_plan, to_json
from metnos.plan.write import canonical_plan
from tests.support.strategies import json_values, plans, texts


@given(plans())
def test_a_plan_digest_is_over_its_canonical_bytes(plan: Plan) -> None:
    assert plan_digest(plan) == digest(to_json(plan))
    assert plan_digest(canonical_plan(canonical_plan(plan))) == plan_digest(canonical_plan(plan))


def test_known_digests() -> None:
    """Pinned: logs and approvals hold them."""
    plan = read_plan(
        {"steps": [{"tool": "a", "args": {"n": 1, "b": "${step1}"}}, {"tool": "final_answer", "args": {}}]}
    ).plan
    assert plan is not None
    text = '{"steps":[{"args":{"b":"${step1}","n":1},"tool":"a"},{"args":{},"tool":"final_answer"}]}'
    assert plan_digest(plan) == "sha256:" + hashlib.sha256(text.encode()).hexdigest()
    text = '["metnos.op/1","t","sha256:p","1.2",null,"a@1","sha256:a"]'
    assert operation_id("t", "sha256:p", "1.2", None, "a@1", "sha256:a") == hashlib.sha256(text.encode()).hexdigest()


@given(st.dictionaries(texts, json_values, max_size=3))
def test_an_argument_digest_does_not_see_the_order_of_keys(args: dict[str, Any]) -> None:
    assert argument_digest(args) == argument_digest(dict(reversed(args.items())))
    assert argument_digest(args) == digest(args)


def test_arguments_are_limited() -> None:
    with pytest.raises(JSONFault, match="262144"):
        argument_digest({"x": "y" * 300_000})


_fields = st.tuples(texts, texts, texts, st.none() | st.integers(0, 1000), texts, texts)


@given(_fields, _fields)
def test_operations_differ_where_anything_differs(one: Any, other: Any) -> None:
    assert (operation_id(*one) == operation_id(*other)) == (canonical(list(one)) == canonical(list(other)))
