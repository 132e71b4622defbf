from __future__ import annotations

import msgspec
import pytest
from hypothesis import given

from metnos.plan.model import FinalAnswer, Plan, Step, When
from metnos.plan.parse import read_plan
from metnos.plan.spelling import ReferenceSyntax
from metnos.plan.write import canonical_plan, numbers_of, respell_string, to_json
from tests.support.strategies import plans


def test_positions_stand_for_ids_and_references_have_one_spelling() -> None:
    written = Plan(
        steps=(
            Step(tool="a", args={"keep": ["x", {"y": 1}]}, id="src"),
            Step(
                tool="b",
                args={"from_steps": ["src", 1, "who"], "x": [{"y": "$< src.n ?? 1.0 >"}, "z"], "$<src>": "${who.x}"},
                for_each="${src.entries}",
                when=When(nonempty=True, step="src"),
            ),
            Step(tool="c", args={"from_step": "src"}, when=When(nonempty=False, step=2)),
        ),
        terminal=FinalAnswer(text="n: $<src.n>", data=["${src}"], has_data=True),
    )
    canonical = canonical_plan(written)
    assert canonical == Plan(
        steps=(
            Step(tool="a", args={"keep": ["x", {"y": 1}]}),
            Step(
                tool="b",
                args={"from_steps": [1, 1, "who"], "x": [{"y": "${step1.n ?? 1}"}, "z"], "$<src>": "${who.x}"},
                for_each="${step1.entries}",
                when=When(nonempty=True, step=1),
            ),
            Step(tool="c", args={"from_step": 1}, when=When(nonempty=False, step=2)),
        ),
        terminal=FinalAnswer(text="n: ${step1.n}", data=["${step1}"], has_data=True),
    )
    assert canonical.steps[0].args is written.steps[0].args
    assert numbers_of(written) == {"src": 1}


@given(plans())
def test_canonical_is_final_and_readable(plan: Plan) -> None:
    canonical = canonical_plan(plan)
    assert canonical_plan(canonical) == canonical
    assert read_plan(to_json(canonical)).plan == canonical


@given(plans())
def test_names_of_steps_do_not_matter(plan: Plan) -> None:
    without_names = canonical_plan(plan)
    names = {step.id: f"other{number}" for number, step in enumerate(plan.steps) if step.id}
    numbered = [msgspec.structs.replace(step, id=names.get(step.id or "")) for step in without_names.steps]
    assert canonical_plan(msgspec.structs.replace(without_names, steps=tuple(numbered))) == without_names


def test_respelling_keeps_what_is_canonical() -> None:
    text = "a ${step1.x} $${"
    assert respell_string(text, {}) is text
    assert respell_string("$<a>", {"a": 3}) == "${step3}"
    with pytest.raises(ReferenceSyntax):
        respell_string("${", {})
