"""The validator, case by case: what is accepted, and how it is compiled."""

from __future__ import annotations

from typing import Any

import pytest

from metnos.checks.model import CheckContext
from metnos.checks.validator import Validator
from metnos.contracts.catalog import Catalog
from metnos.contracts.model import Consumes, EffectRule, Produces
from metnos.plan.model import FinalAnswer, Plan, Step
from metnos.plan.parse import read_plan
from metnos.plan.references import ItemTarget, Key, Reference, StepTarget
from metnos.values.expressions import Concat, DictOf, Literal_, Ref
from tests.support.checking import FIND, args_of, faults, plan, step, tool, validator_of


def test_from_step_becomes_a_reference_in_the_argument_the_contract_names(validator: Validator) -> None:
    written = plan(FIND, step("sort_entries", {"from_step": 1, "by": "size"}))
    value = args_of(validator, written, 2)["entries"]
    assert value == Ref(Reference(StepTarget(1), (Key("entries"),)))
    checked = validator(written)
    assert checked.plan.steps[1].args == {"from_step": 1, "by": "size"}, "kept as it was written"
    assert checked.steps[1].needs == checked.steps[1].waits == frozenset({1})


def test_a_single_value_is_handed_over_as_it_is(validator: Validator) -> None:
    written = plan(FIND, step("render_table", {"from_step": 1}), step("write_files", {"from_step": 2, "path": "a"}))
    assert args_of(validator, written, 3)["content"] == Ref(Reference(StepTarget(2), (Key("text"),)))


def test_a_single_result_without_a_field_is_the_whole(validator: Validator) -> None:
    taking = tool(
        "take_stats", {"stats": {"type": "object"}}, consumes=Consumes(into="stats", kinds=("stats",), many=False)
    )
    stats = validator.bound("compute_stats")
    assert stats is not None
    own = validator_of(stats.contract, taking)
    written = plan(step("compute_stats", {"entries": []}), step("take_stats", {"from_step": 1}))
    assert args_of(own, written, 2)["stats"] == Ref(Reference(StepTarget(1)))


ONE = tool(
    "handle_file",
    {
        "file": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
        "note": {"type": "string"},
    },
    {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    consumes=Consumes(into="file", kinds=("file",), many=False),
    produces=Produces(kind="text", field="text", many=False),
)


@pytest.fixture
def with_one(shipped: Catalog) -> Validator:
    return Validator(shipped.with_contracts([ONE]))


def test_a_consumer_of_single_entries_is_lifted(with_one: Validator) -> None:
    written = plan(
        FIND,
        step("handle_file", {"from_step": 1, "note": "${item.name}"}),
        end=step("final_answer", {"text": "${step2.count}", "data": "${step2.entries[*].text}"}),
    )
    checked = with_one(written)
    assert checked.ok
    lifted = checked.steps[1]
    assert lifted.for_each == Ref(Reference(StepTarget(1), (Key("entries"),)))
    assert isinstance(lifted.args, DictOf)
    assert dict(lifted.args.items)["file"] == Ref(Reference(ItemTarget()))
    assert checked.answer_data is not None


def test_a_lifted_step_over_two_collections(with_one: Validator) -> None:
    checked = with_one(plan(FIND, FIND, step("handle_file", {"from_steps": [1, 2]})))
    assert checked.ok
    assert isinstance(checked.steps[2].for_each, Concat)
    assert checked.steps[2].needs == frozenset({1, 2})


def test_lifting_and_for_each_exclude_each_other(with_one: Validator) -> None:
    written = plan(FIND, step("handle_file", {"from_step": 1}, for_each="${step1.entries}"))
    assert faults(with_one, written) == [("for-each-nested", "/steps/1/for_each")]


def test_a_lifted_step_passes_its_kind_on(with_one: Validator) -> None:
    written = plan(FIND, step("handle_file", {"from_step": 1}), step("sort_entries", {"from_step": 2, "by": "txt"}))
    assert faults(with_one, written) == [("unknown-field", "/steps/2/args/by")]


def test_collections_are_concatenated(validator: Validator) -> None:
    written = plan(FIND, FIND, step("take_entries", {"from_steps": [1, 2], "count": 2}))
    assert isinstance(args_of(validator, written, 3)["entries"], Concat)
    assert (
        faults(
            validator,
            plan(
                FIND, step("read_files", {"from_step": 1}), step("sort_entries", {"from_steps": [1, 2], "by": "size"})
            ),
        )
        == []
    )


def test_an_input_in_words_is_used_and_the_number_dropped(validator: Validator) -> None:
    written = plan(FIND, step("read_files", {"from_step": 1, "path": "a.txt"}))
    assert set(args_of(validator, written, 2)) == {"path"}
    checked = validator(written)
    assert checked.steps[1].waits == frozenset()
    assert faults(validator, plan(FIND, step("read_files", {"from_step": 9, "path": "a"}))) == [
        ("reference-unknown-step", "/steps/1/args/from_step")
    ]


def test_ids_become_positions(validator: Validator) -> None:
    by_id = plan(
        {**FIND, "id": "all"},
        step("take_entries", {"from_step": "all", "count": "${all.count}"}, when={"nonempty": "all"}),
        end=step("final_answer", {"text": "$<all.count> files"}),
    )
    by_number = plan(
        FIND,
        step("take_entries", {"from_step": 1, "count": "${step1.count}"}, when={"nonempty": 1}),
        end=step("final_answer", {"text": "${step1.count} files"}),
    )
    assert validator(by_id).digest == validator(by_number).digest
    assert validator(by_id).plan == validator(by_number).plan
    assert validator(by_id).steps == validator(by_number).steps


def test_a_plan_and_its_file_are_one(validator: Validator) -> None:
    written = plan(FIND, step("take_entries", {"from_step": 1, "count": 2}))
    read = read_plan(written).plan
    assert read is not None
    assert validator(read) == validator(written)
    unsound = Plan(steps=(Step(tool="find_files", args={"path": "${step1"}),), terminal=FinalAnswer())
    assert [fault.code for fault in validator(unsound).diagnostics] == ["reference-syntax"]


def test_spelling_of_references_changes_no_digest(validator: Validator) -> None:
    def of(value: Any) -> str:
        checked = validator(
            plan(
                FIND,
                step("render_table", {"entries": value}),
                end=step("final_answer", {"data": [{"n": value}, None, 1]}),
            )
        )
        assert checked.ok, checked.diagnostics
        return checked.digest

    assert of("${step1.entries}") == of("$<step1.entries>") == of('${ step1["entries"] }')


def test_literals_keep_their_source(validator: Validator) -> None:
    written = plan(step("write_files", {"path": "a", "content": "b"}))
    found = args_of(validator, written, 1, source="model", origins={"/steps/0/args/path": "user"})
    assert found == {"path": Literal_("a", "user"), "content": Literal_("b", "model")}


def test_the_first_of_a_collection_found_not_empty(validator: Validator) -> None:
    written = plan(
        FIND,
        step("read_files", {"path": "${step1.entries[0].path}"}, when={"nonempty": 1}),
        step(
            "write_files",
            {"path": "x", "content": "${step2.entries[0].text}${step1.entries[0].name}"},
            when={"nonempty": 2},
        ),
    )
    checked = validator(written)
    assert checked.ok, checked.diagnostics
    assert checked.steps[2].needs == frozenset({1, 2})
    assert checked.steps[1].when is not None


def test_empty_says_nothing_of_whether_the_step_has_run(validator: Validator) -> None:
    chain = [FIND, step("take_entries", {"from_step": 1, "count": 1}, when={"nonempty": 1})]
    third = step("render_table", {"from_step": 2}, when={"empty": 2})
    assert faults(validator, plan(*chain, third)) == [("may-be-skipped", "/steps/2/args/from_step")]
    with_fallback = step("render_table", {"entries": "${step2.entries ?? []}"}, when={"empty": 2})
    checked = validator(plan(*chain, with_fallback))
    assert checked.ok
    assert checked.steps[2].waits == frozenset({2})


def test_what_a_broken_when_hides_is_not_reported(validator: Validator) -> None:
    written = plan(
        FIND,
        step(
            "take_entries", {"entries": "${step1.entries}", "count": "${step1.entries[0].size}"}, when={"nonempty": 7}
        ),
        step("render_table", {"from_step": 2}),
    )
    found = validator(written).diagnostics
    assert [(f.code, f.where) for f in found] == [("reference-unknown-step", "/steps/1/when/nonempty")]


def test_effects_are_the_worst_still_possible(validator: Validator) -> None:
    def worst(**args: Any) -> str:
        checked = validator(
            plan(FIND, step("write_files", {"path": "a", "content": "b", **args})),
            CheckContext(inputs={"o": {"type": "boolean"}}),
        )
        assert checked.ok
        return checked.steps[1].worst_effect

    assert (worst(), worst(overwrite=False), worst(overwrite=True), worst(overwrite="${INPUT:o}")) == (
        "create",
        "create",
        "change",
        "change",
    )


def test_effect_rules_in_order() -> None:
    rules = (
        EffectRule(effect="delete", when={"a": 1, "b": True}),
        EffectRule(effect="send", when={"x": "on"}),
        EffectRule(effect="create", when={"a": 2}),
        EffectRule(effect="read"),
    )
    any_args: dict[str, Any] = {
        "a": {"type": "integer"},
        "b": {"type": "boolean", "default": True},
        "x": {"type": "string"},
    }
    own = validator_of(
        tool("t", any_args, effects=rules, consumes=Consumes(into="x", kinds=("text",), many=False)),
        tool(
            "say",
            {},
            {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
            produces=Produces(kind="text", field="text", many=False),
        ),
    )

    def worst(args: dict[str, Any]) -> str:
        checked = own(plan(step("say", {}), step("t", args)))
        assert checked.ok, checked.diagnostics
        return checked.steps[1].worst_effect

    assert worst({}) == "read"
    assert worst({"a": 1}) == "delete"
    assert worst({"a": 1, "b": False}) == "read"
    assert worst({"a": 2}) == "create"
    assert worst({"a": 2, "from_step": 1}) == "send", "what a step hands over may be `on`"
