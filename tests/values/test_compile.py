from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.plan.references import FillerTarget, InputTarget, ItemTarget, Key, Reference, StepTarget
from metnos.plan.spelling import ReferenceSyntax, format_parts
from metnos.values.compile import compile_args, references_of
from metnos.values.expressions import Concat, DictOf, ListOf, Literal_, Ref, Text
from metnos.values.resolve import resolve
from metnos.values.value import Absent, Value
from tests.support.strategies import json_values, references, texts

STEP1 = Reference(StepTarget(1), (Key("x"),))


def test_arguments_become_a_tree_of_literals_and_references() -> None:
    compiled = compile_args(
        {
            "plain": 1,
            "deep": {"a": [True, None, "x"]},
            "ref": "${step1.x}",
            "text": "a ${step1.x}",
            "list": [1, "${item}"],
            "dict": {"k": "$<item>"},
        }
    )
    assert compiled == DictOf(
        (
            ("plain", Literal_(1)),
            ("deep", Literal_({"a": [True, None, "x"]})),
            ("ref", Ref(STEP1)),
            ("text", Text(("a ", STEP1))),
            ("list", ListOf((Literal_(1), Ref(Reference(ItemTarget()))))),
            ("dict", DictOf((("k", Ref(Reference(ItemTarget()))),))),
        )
    )


def test_arguments_are_always_items_and_other_data_as_small_as_they_can_be() -> None:
    assert compile_args({}) == DictOf(())
    assert compile_args([1, {"a": ("b",)}], source="user") == Literal_([1, {"a": ["b"]}], "user")
    assert compile_args("$${x} $$<") == Literal_("${x} $<")
    assert compile_args(None) == Literal_(None)


def test_each_literal_has_its_source() -> None:
    origins = {
        "/steps/0/args/path": "user",
        "/steps/0/args/list/1": "user",
        "/steps/0/args/deep": "template",
        "/steps/0/args/deep/a~1b": "user",
        "/steps/0/args/text": "user",
        "/steps/0/args/ref": "user",
    }
    args = {
        "path": ".",
        "list": [1, 2],
        "deep": {"a/b": 1, "c": 2},
        "text": "x ${item}",
        "ref": "${item ?? 1}",
        "rest": [1],
    }
    assert compile_args(args, pointer="/steps/0/args", source="model", origins=origins) == DictOf(
        (
            ("path", Literal_(".", "user")),
            ("list", ListOf((Literal_(1, "model"), Literal_(2, "user")))),
            ("deep", DictOf((("a/b", Literal_(1, "user")), ("c", Literal_(2, "template"))))),
            ("text", Text(("x ", Reference(ItemTarget())), "user")),
            ("ref", Ref(Reference(ItemTarget(), has_fallback=True, fallback=1), "user")),
            ("rest", Literal_([1], "model")),
        )
    )
    assert compile_args({"a": 1}, pointer="/x", origins={"/x": "user"}) == DictOf((("a", Literal_(1, "user")),))
    assert compile_args(1, pointer="/x", origins={"/x": "user"}) == Literal_(1, "user")


def test_ids_become_numbers() -> None:
    compiled = compile_args(["${src.x}", "a ${src.x}${other}", "${FILLER:src}", "${plan1.step2}"], rename={"src": 1})
    assert compiled == ListOf(
        (
            Ref(STEP1),
            Text(("a ", STEP1, Reference(StepTarget("other")))),
            Ref(Reference(FillerTarget("src"))),
            Ref(Reference(StepTarget(2, 1))),
        )
    )


def test_a_misspelled_reference_is_not_compiled() -> None:
    with pytest.raises(ReferenceSyntax):
        compile_args({"a": ["${"]})


def test_references_are_listed_in_order() -> None:
    compiled = compile_args({"a": ["${item}", {"b": "x ${INPUT:n} ${step1.x}"}], "c": 1, "d": "${step1.x}"})
    assert references_of(compiled) == (Reference(ItemTarget()), Reference(InputTarget("n")), STEP1, STEP1)
    assert references_of(Concat((STEP1,))) == (STEP1,)


class Nothing:
    def lookup(self, target: Any) -> Value | Absent:
        raise AssertionError(target)


def _quoted(data: Any) -> Any:
    """The data as a plan spells them: literal `${` escaped."""
    if isinstance(data, str):
        return format_parts((data,))
    if isinstance(data, dict):
        return {key: _quoted(item) for key, item in data.items()}
    return [_quoted(item) for item in data] if isinstance(data, list) else data


@given(st.dictionaries(texts, json_values, max_size=3))
def test_literals_are_what_was_written(data: dict[str, Any]) -> None:
    found = resolve(compile_args(_quoted(data), source="user"), Nothing())
    assert found == Value(data, frozenset({"user"} if data else ()))


@given(st.lists(references(), max_size=5))
def test_no_reference_is_lost(made: list[Reference]) -> None:
    data = [[format_parts((item,)), {"x": format_parts(("a ", item))}] for item in made]
    assert references_of(compile_args(data)) == tuple(item for item in made for _ in range(2))
