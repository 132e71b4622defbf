"""Shapes: schemas read as types, one type against another, and paths into them."""

from __future__ import annotations

from random import Random
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.checks.fits import misfit
from metnos.checks.remembering import LIMIT, remembered
from metnos.checks.shapes import ANY, NEVER, STRING, Shape, array_of, elements, infer, is_scalar, record, simple, union
from metnos.checks.shaping import MAX_DEPTH, compile_shape
from metnos.checks.walk import field_names, walk
from metnos.plan.references import Every, Index, Key
from tests.support import generated
from tests.support.world import CONSTRAINTS

PATH: dict[str, Any] = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
MAP: dict[str, Any] = {"type": "object", "additionalProperties": {"type": "integer"}}
"""As of `dict[str, int]`: no field is declared, and each that comes has a type."""
TREE: dict[str, Any] = {
    "$ref": "#/$defs/tree",
    "$defs": {
        "tree": {
            "type": "object",
            "properties": {"name": {"type": "string"}, "left": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/tree"}]}},
            "required": ["name", "left"],
            "additionalProperties": False,
        }
    },
}
PAIR: dict[str, Any] = {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "maxItems": 2}


def shape_of(of: Any) -> Shape:
    return of if isinstance(of, Shape) else compile_shape(of)


def under(of: Any, field: str) -> Shape:
    """The shape of a field of each of the objects that `of` may be."""
    return union([each.fields[field] for each in shape_of(of).only("object")])


def elements_of(array: Any) -> Shape:
    found = elements(shape_of(array))
    assert found is not None
    return found


def fits(made: Any, wanted: Any, **how: bool) -> bool:
    return misfit(shape_of(made), shape_of(wanted), **how) is None


@given(st.integers(min_value=0, max_value=2**48))
def test_what_fits_is_valid(seed: int) -> None:
    """Soundness: if a shape fits, all data of the one schema are valid under the other (but for constraints)."""
    rnd = Random(seed)
    for _ in range(20):
        made, wanted = generated.schema(rnd, 3), generated.schema(rnd, 3)
        if rnd.random() < 0.5:
            wanted = made
        if fits(made, wanted) and compile_shape(wanted).of:
            for _ in range(3):
                value = generated.data(rnd, made)
                errors = [str(e.schema_path[-1]) for e in jsonschema_rs.Draft202012Validator(wanted).iter_errors(value)]
                assert set(errors) <= CONSTRAINTS, (made, wanted, value)


@given(st.integers(min_value=0, max_value=2**48))
def test_inferred_shapes_fit_what_the_data_came_from(seed: int) -> None:
    rnd = Random(seed)
    shape = generated.schema(rnd, 3)
    value = generated.data(rnd, shape)
    assert misfit(infer(value), compile_shape(shape)) is None


@pytest.mark.parametrize(
    ("made", "wanted", "expected"),
    [
        ({"type": "integer"}, {"type": "number"}, True),
        ({"type": "number"}, {"type": "integer"}, False),
        ({"type": ["string", "null"]}, {"type": "string"}, False),
        ({"type": "string"}, {"type": ["string", "null"]}, True),
        ({}, {"type": "string"}, True),
        ({"type": "string"}, True, True),
        ({"type": "string"}, False, False),
        ({"const": 3}, {"type": "integer"}, True),
        ({"enum": ["a", None]}, {"type": "string"}, False),
        ({"enum": [1, 2.5]}, {"type": "number"}, True),
        (PATH, {"type": "object"}, True),
        ({"type": "object"}, PATH, True),
        ({"type": "object", "properties": {"path": {"type": "string"}}}, PATH, False),
        ({"type": "object", "properties": {"size": {}}, "required": ["size"]}, PATH, False),
        ({**PATH, "additionalProperties": False}, {**PATH, "additionalProperties": False}, True),
        (PATH, {**PATH, "additionalProperties": False}, False),
        ({**PATH, "additionalProperties": False}, {"type": "object", "additionalProperties": False}, False),
        (
            {**PATH, "additionalProperties": {"type": "string"}},
            {"type": "object", "properties": {}, "additionalProperties": {"type": "integer"}},
            False,
        ),
        (
            {**PATH, "additionalProperties": {"type": "string"}},
            {"type": "object", "additionalProperties": {"type": "string"}},
            True,
        ),
        ({"type": "array", "items": {"type": "string"}}, {"type": "array", "items": {"type": "integer"}}, False),
        ({"type": "array"}, {"type": "array", "items": {"type": "integer"}}, True),
        ({"type": "array", "items": False}, {"type": "array", "items": {"type": "integer"}}, True),
        (
            {"type": "array", "prefixItems": [{"type": "string"}], "items": {"type": "integer"}},
            {"type": "array", "items": {"type": "integer"}},
            False,
        ),
        (
            {"type": "array", "prefixItems": [{"type": "integer"}], "items": {"type": "integer"}},
            {"type": "array", "items": {"type": "integer"}},
            True,
        ),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, {"type": ["integer", "string"]}, True),
        ({"oneOf": [{"type": "string"}, PATH]}, {"anyOf": [{"type": "string"}, PATH]}, True),
        ({"allOf": [{"type": ["string", "null"]}, {"type": ["string", "integer"]}]}, {"type": "string"}, True),
        ({"allOf": [{"type": "number"}, {"type": "integer"}]}, {"type": "integer"}, True),
        ({"allOf": [{"type": "string"}, {"minLength": 1}]}, {"type": "string"}, True),
        ({"allOf": [{"minLength": 1}, {"type": "string"}]}, {"type": "string"}, True),
        (
            {"allOf": [PATH, {"properties": {"path": {"type": ["string", "null"]}, "size": {"type": "integer"}}}]},
            PATH,
            True,
        ),
        (
            {
                "allOf": [
                    {**PATH, "additionalProperties": False},
                    {"type": "object", "additionalProperties": {"type": "string"}},
                ]
            },
            {**PATH, "additionalProperties": False},
            True,
        ),
        (
            {"allOf": [{"type": "object", "additionalProperties": {"type": "string"}}, {"type": "object"}]},
            {"type": "object"},
            True,
        ),
        (
            {"allOf": [{"type": "array"}, {"items": {"type": "string"}, "minItems": 2}]},
            {"type": "array", "items": {"type": "string"}},
            True,
        ),
        (MAP, {"type": "object", "additionalProperties": {"type": "string"}}, False),
        (MAP, {"type": "object", "additionalProperties": {"type": "number"}}, True),
        (MAP, {"type": "object"}, True),
        (MAP, PATH, False),
        (MAP, {"type": "object", "properties": {"path": {"type": "string"}}}, False),
        (MAP, {"type": "object", "properties": {"size": {"type": "integer"}}}, True),
        (MAP, {"type": "object", "properties": {"size": {"type": "integer"}}, "additionalProperties": False}, False),
        ({**PATH, **MAP}, {**PATH, "properties": {**PATH["properties"], "note": {"type": "string"}}}, False),
        (PATH, {**PATH, "properties": {**PATH["properties"], "note": {"type": "string"}}}, True),
        (TREE, TREE, True),
        (under(TREE, "left"), {"type": "boolean"}, False),
        (under(TREE, "left"), {"type": ["object", "null"]}, True),
        (under(TREE, "left"), MAP, False),
        (under(under(TREE, "left"), "left"), {"type": "boolean"}, False),
        (elements_of(PAIR), {"type": ["integer", "string"]}, True),
        (elements_of(PAIR), {"type": "integer"}, False),
        ({"required": ["a"]}, {"type": "string"}, False),
        ({"prefixItems": []}, {"type": "string"}, False),
        ({"type": "object", "patternProperties": {"^a": {}}, "additionalProperties": False}, {"type": "object"}, True),
    ],
)
def test_types_fit_or_not(made: Any, wanted: Any, expected: bool) -> None:
    assert fits(made, wanted) is expected


def test_references_inside_a_schema_are_followed_once() -> None:
    bomb: dict[str, Any] = {
        "$defs": {
            f"d{n}": {
                "type": "array",
                "items": {"$ref": f"#/$defs/d{n + 1}"},
                "prefixItems": [{"$ref": f"#/$defs/d{n + 1}"}] * 9,
            }
            for n in range(18)
        },
        "$ref": "#/$defs/d0",
    }
    bomb["$defs"]["d18"] = {"type": "string"}
    assert compile_shape(bomb).describe().startswith("array")
    cycle = {
        "$ref": "#/$defs/tree",
        "$defs": {"tree": {"type": "object", "properties": {"left": {"$ref": "#/$defs/tree"}}, "required": ["left"]}},
    }
    assert walk(compile_shape(cycle), (Key("left"), Key("left")), False).lost is None
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(MAX_DEPTH + 5):
        deep = {"type": "array", "items": deep}
    assert walk(compile_shape(deep), (Every(),) * 3, False).lost is None
    for odd in ({"$ref": "https://elsewhere"}, {"$ref": "#/$defs/none"}, {"$ref": 3}):
        assert compile_shape(odd).is_any


def test_a_part_of_a_schema_with_references_stands_alone() -> None:
    root = {
        "type": "object",
        "properties": {
            "a/b": {"type": "integer", "minimum": 3},
            "two": {"type": "array", "items": {"$ref": "#/properties/a~1b"}},
        },
        "anyOf": [{"required": ["two"]}, True],
    }
    part = compile_shape(root).of[0].fields["two"].schema
    valid = jsonschema_rs.Draft202012Validator(part)
    assert valid.is_valid([3])
    assert not valid.is_valid([2])
    assert not valid.is_valid(["3"])


@pytest.mark.parametrize(
    ("made", "wanted", "how", "expected"),
    [
        ({"type": "number"}, {"type": "string"}, {"to_lenient": True}, True),
        ({"type": "array"}, {"type": "string"}, {"to_lenient": True}, False),
        ({"type": ["string", "number"]}, {"type": "string"}, {"from_lenient": True}, True),
        ({"type": "number"}, {"type": "string"}, {"from_lenient": True}, False),
        (
            {"type": "object", "properties": {"path": {"type": "string"}}},
            {**PATH, "additionalProperties": False},
            {"from_lenient": True},
            True,
        ),
    ],
)
def test_foreign_contracts_are_lenient(made: Any, wanted: Any, how: dict[str, bool], expected: bool) -> None:
    assert fits(made, wanted, **how) is expected
    assert not fits(made, wanted)


def test_a_misfit_says_where() -> None:
    wrong = misfit(
        compile_shape({"type": "array", "items": {**PATH, "properties": {"path": {"type": "integer"}}}}),
        compile_shape({"type": "array", "items": PATH}),
    )
    assert wrong is not None
    assert (wrong.at, wrong.found, wrong.expected) == ("[*].path", "integer", "string")
    short = misfit(infer(["a", 1]), compile_shape({"type": "array", "prefixItems": [{"type": "integer"}]}))
    assert short is not None
    assert short.at == "[0]"


def test_words_for_shapes() -> None:
    assert compile_shape({"type": ["string", "null"]}).describe() == "null or string"
    assert array_of(ANY).describe() == "array"
    assert array_of(STRING).describe() == "array of string"
    assert union([STRING, STRING]).describe() == "string"
    assert (ANY.describe(), NEVER.describe()) == ("any value", "nothing")


def test_scalars_and_elements() -> None:
    nullable = compile_shape({"type": ["string", "null"]})
    assert is_scalar(STRING)
    assert is_scalar(ANY)
    assert not is_scalar(nullable)
    assert is_scalar(nullable, or_null=True)
    assert is_scalar(nullable, lenient=True)
    assert not is_scalar(array_of(STRING), lenient=True)
    assert elements(ANY) is ANY
    assert elements(union([STRING, array_of(STRING)])) is None
    assert elements(STRING) is None
    assert elements(infer([1.5, None, True])) is not None
    assert elements(compile_shape({"type": "array"})) is ANY


@pytest.mark.parametrize(
    ("schema", "path", "lenient", "shape", "gaps", "lost"),
    [
        ({}, (Key("a"),), False, "any value", 1, False),
        ({}, (Key("a"), Index(0)), True, "any value", 0, False),
        ({}, (Index(0),), False, "any value", 1, False),
        ({}, (Every(),), False, "", 0, True),
        ({}, (Every(),), True, "array", 0, False),
        (PATH, (Key("path"),), False, "string", 0, False),
        (PATH, (Key("size"),), False, "", 0, True),
        (PATH, (Key("path"), Key("x")), False, "", 0, True),
        (PATH, (Index(0),), False, "", 0, True),
        (PATH, (Every(),), True, "", 0, True),
        ({**PATH, "additionalProperties": True}, (Key("size"),), False, "any value", 1, False),
        ({**PATH, "additionalProperties": {"type": "integer"}}, (Key("size"),), False, "integer", 1, False),
        ({"type": "object"}, (Key("size"),), False, "any value", 1, False),
        (
            {"anyOf": [PATH, {"type": "object", "additionalProperties": False}]},
            (Key("path"),),
            False,
            "string",
            1,
            False,
        ),
        ({"anyOf": [PATH, {"type": "null"}]}, (Key("path"),), False, "", 0, True),
        ({"anyOf": [PATH, {"type": "null"}]}, (Key("path"),), True, "string", 0, False),
        ({"anyOf": [PATH, {"type": "null"}]}, (Key("size"),), True, "", 0, True),
        ({"type": "array", "items": {"type": "string"}, "minItems": 2}, (Index(1),), False, "string", 0, False),
        ({"type": "array", "items": {"type": "string"}, "minItems": 2}, (Index(2),), False, "string", 1, False),
        ({"type": "array", "prefixItems": [{"type": "integer"}]}, (Index(0),), False, "integer", 1, False),
        ({"type": "array"}, (Index(0),), True, "any value", 0, False),
        ({"type": ["array", "null"]}, (Index(0),), False, "", 0, True),
        ({"type": ["array", "null"]}, (Index(0),), True, "any value", 0, False),
        ({"type": "string"}, (Index(0),), True, "", 0, True),
        ({"type": ["array", "null"], "items": PATH}, (Every(), Key("path")), False, "", 0, True),
        ({"type": ["array", "null"], "items": PATH}, (Every(), Key("path")), True, "array of string", 0, False),
        (
            {"type": "array", "items": {"type": "array", "items": PATH}},
            (Every(), Every(), Key("path")),
            False,
            "array of array of string",
            0,
            False,
        ),
        ({"type": "array", "items": False}, (Every(),), False, "array of nothing", 0, False),
    ],
)
def test_paths(schema: Any, path: Any, lenient: bool, shape: str, gaps: int, lost: bool) -> None:
    walked = walk(compile_shape(schema), path, lenient)
    assert (walked.lost is not None) is lost
    if not lost:
        assert walked.shape.describe() == shape
        assert len(walked.gaps) == gaps


def test_field_names_are_those_of_all_alternatives() -> None:
    assert field_names(union([record({"a": STRING}), record({"b": STRING}), simple("null")])) == ("a", "b")


def test_answers_are_remembered_by_identity_and_forgotten_in_bulk() -> None:
    calls: list[Shape] = []

    @remembered
    def ask(shape: Shape) -> int:
        calls.append(shape)
        return len(calls)

    assert ask(STRING) == ask(STRING) == 1
    for _ in range(LIMIT):
        ask(array_of(STRING))
    assert ask(STRING) > LIMIT
