"""Schemas: what may be loaded, and that the fast validator says what the reference says."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator as Reference

from metnos.contracts import schemas
from metnos.contracts.schema_walk import MAX_APPLIED, MAX_DEPTH, MAX_NODES
from metnos.contracts.schemas import Fault, check_schema, pointer_of, validator_for
from metnos.plan.codes import CODES

SMALL = {
    "type": "object",
    "properties": {"path": {"type": "string", "minLength": 1}, "n": {"type": "integer", "minimum": 0}},
    "required": ["path"],
    "additionalProperties": False,
}


def codes(schema: Any, *, strict: bool = True) -> list[str]:
    found = check_schema(schema, "/args", strict=strict)
    assert all(fault.code in CODES and fault.where.startswith("/args") for fault in found)
    return [fault.code for fault in found]


def test_every_fault_of_an_instance_with_its_place() -> None:
    assert validator_for(SMALL)({"path": "a", "n": 1}) == []
    found = validator_for(SMALL)({"n": -1, "a/b": 1, "c~d": 2})
    assert {(fault.pointer, fault.expected) for fault in found} == {
        ("", "required: path"),
        ("/n", "minimum: 0"),
        ("/a~1b", "no such property"),
        ("/c~0d", "no such property"),
    }


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        ({"type": "string"}, 1, "type: string"),
        ({"type": ["string", "null"]}, 1, "type: "),
        ({"enum": ["a", "b"]}, "c", "enum: a, b"),
        ({"const": 3}, 4, "const: 3"),
        ({"pattern": "^a$"}, "b", "pattern: ^a$"),
        ({"not": {}}, 1, "not"),
        ({"multipleOf": 2}, 3, "multipleOf: 2"),
    ],
)
def test_what_was_expected_is_said_in_a_phrase(schema: dict[str, Any], value: Any, expected: str) -> None:
    (fault,) = validator_for(schema)(value)
    assert fault.pointer == ""
    assert fault.expected.startswith(expected)


def test_messages_are_short() -> None:
    (fault,) = validator_for({"type": "integer"})("x" * 10_000)
    assert len(fault.message) < 300


def test_a_value_beyond_json_is_a_fault_and_no_exception() -> None:
    assert validator_for({"type": "array"})({1, 2})[0].expected == "JSON"


def test_a_validator_is_made_once_for_a_schema_and_for_its_equal() -> None:
    assert validator_for(SMALL) is validator_for(SMALL)
    assert validator_for(dict(SMALL)) is validator_for(SMALL)


def test_the_memory_of_validators_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schemas, "_CACHE_LIMIT", 4)
    monkeypatch.setattr(schemas, "_by_identity", {})
    monkeypatch.setattr(schemas, "_by_digest", {})
    kept = [{"minimum": number} for number in range(20)]
    for schema in kept:
        assert validator_for(schema)(-1)
        assert len(schemas._by_identity) <= 4
        assert len(schemas._by_digest) <= 4


def test_identity_is_not_believed_after_the_schema_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    other = {"type": "integer"}
    monkeypatch.setattr(schemas, "_by_identity", {id(other): (SMALL, validator_for(SMALL))})
    assert validator_for(other)(1) == []


def test_sound_schemas_load() -> None:
    tree = {
        "$defs": {"n": {"properties": {"l": {"$ref": "#/$defs/n"}, "r": {"$ref": "#/$defs/n"}}}},
        "$ref": "#/$defs/n",
    }
    assert codes(SMALL) == []
    assert codes(tree) == []
    assert (
        codes({"$schema": "https://json-schema.org/draft/2020-12/schema", "x-note": 1, "properties": {"pattern": True}})
        == []
    )
    assert codes({"allOf": [{"type": "object"}], "items": {"$ref": "#"}}) == []


@pytest.mark.parametrize(
    ("schema", "code"),
    [
        ([], "schema-malformed"),
        ({"type": "strng"}, "schema-malformed"),
        ({"properties": {"a": 3}}, "schema-malformed"),
        ({"properties": []}, "schema-malformed"),
        ({"allOf": {}}, "schema-malformed"),
        ({"minimum": float("nan")}, "schema-malformed"),
        ({"const": {1, 2}}, "schema-malformed"),
        ({"const": {1: 2}}, "schema-malformed"),
        ({"$schema": "http://json-schema.org/draft-07/schema#"}, "schema-malformed"),
        ({"requird": []}, "schema-unknown-keyword"),
        ({"$ref": "http://example.com/x"}, "schema-ref"),
        ({"$ref": "other.json"}, "schema-ref"),
        ({"$ref": 3}, "schema-ref"),
        ({"$ref": "#/$defs/none"}, "schema-ref"),
        ({"$ref": "#/$defs"}, "schema-ref"),
        ({"$id": "x"}, "schema-ref"),
        ({"$dynamicRef": "#a"}, "schema-ref"),
        ({"$ref": "#"}, "schema-ref-cycle"),
        ({"allOf": [{"$ref": "#"}]}, "schema-ref-cycle"),
        ({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"not": {"$ref": "#/$defs/a"}}}}, "schema-ref-cycle"),
        ({"pattern": "(?=a)"}, "schema-pattern"),
        ({"pattern": "(a)\\1"}, "schema-pattern"),
        ({"pattern": "["}, "schema-pattern"),
        ({"patternProperties": {"(?<!a)": True}}, "schema-pattern"),
        ({"properties": {"a": {"pattern": "a{1,1000}{1,1000}"}}}, "schema-pattern"),
    ],
)
def test_unsound_schemas_are_refused(schema: Any, code: str) -> None:
    assert codes(schema) == [code]


def test_a_misspelt_keyword_is_explained_and_foreign_ones_pass() -> None:
    (fault,) = check_schema({"properties": {"a": {"requird": []}}}, "/args")
    assert (fault.where, fault.hint) == ("/args/properties/a/requird", "did you mean required?")
    assert check_schema({"zzzz": []})[0].hint == ""
    assert codes({"requird": []}, strict=False) == []


def bomb(levels: int) -> dict[str, Any]:
    """Two references to the next level, `levels` times: 2^levels schemas apply to one value."""
    level = {f"a{n}": {"allOf": [{"$ref": f"#/$defs/a{n + 1}"}] * 2} for n in range(levels)}
    return {"$ref": "#/$defs/a0", "$defs": {**level, f"a{levels}": {"type": "object"}}}


def test_a_bomb_is_refused_and_a_small_one_is_not() -> None:
    assert codes(bomb(3)) == []
    assert codes(bomb(16)) == ["schema-ref-bomb"]
    assert MAX_APPLIED < 2**16


def deep(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for _ in range(levels):
        schema = {"items": schema}
    return schema


HOSTILE: dict[str, Any] = {
    "depth": deep(100_000),
    "keys": {"properties": {str(number): True for number in range(1_000_000)}},
    "long list": {"enum": list(range(1_000_000))},
    "bomb": bomb(200),
    "cycle": {"$ref": "#/$defs/a0", "$defs": {f"a{n}": {"$ref": f"#/$defs/a{(n + 1) % 3000}"} for n in range(3000)}},
    "wide": {"allOf": [{"$ref": "#/$defs/a"}] * 3000, "$defs": {"a": {}}},
    "pattern": {"pattern": "a{1,1000}{1,1000}"},
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_schemas_are_refused_at_load(name: str) -> None:
    before = time.process_time()
    assert codes(HOSTILE[name])
    # Fault row 13 asks for 50 ms; ten times that still tells a linear walk from one that explodes.
    assert time.process_time() - before < 5


def test_the_limits_are_the_documented_ones() -> None:
    assert codes(deep(MAX_DEPTH - 1)) == []
    assert codes(deep(MAX_DEPTH)) == ["schema-oversize"]
    assert codes({"enum": list(range(MAX_NODES))}) == ["schema-oversize"]


def test_a_catastrophic_pattern_is_matched_in_linear_time() -> None:
    validator = validator_for({"type": "string", "pattern": "^(a+)+$"})
    before = time.process_time()
    assert validator("a" * 50_000 + "!")
    assert time.process_time() - before < 1


def test_a_schema_that_was_never_checked_raises() -> None:
    with pytest.raises(ValueError, match="strng"):
        validator_for({"type": "strng"})


def test_pointers_are_escaped() -> None:
    assert pointer_of(["a/b", 0, "c~"]) == "/a~1b/0/c~0"
    assert Fault("", "", "") == ("", "", "")


# --- the reference -------------------------------------------------------------------------------------------

SCALAR = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 5), st.sampled_from([0.5, 2.0, -1.5]), st.text("ab", max_size=3)
)
INSTANCE = st.recursive(
    SCALAR,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)
LEAF = st.one_of(
    st.builds(
        lambda name: {"type": name},
        st.sampled_from(["string", "number", "integer", "boolean", "null", "array", "object"]),
    ),
    st.builds(lambda values: {"enum": values}, st.lists(SCALAR, min_size=1, max_size=3)),
    st.builds(lambda value: {"const": value}, SCALAR),
    st.builds(lambda n: {"minimum": n}, st.integers(-3, 3)),
    st.builds(lambda n: {"maxLength": n}, st.integers(0, 2)),
    st.builds(lambda n: {"minItems": n}, st.integers(0, 2)),
    st.sampled_from([{"pattern": "^a+$"}, {"uniqueItems": True}, {"multipleOf": 2}, {"required": ["a"]}, True, False]),
)
SCHEMA = st.recursive(
    LEAF,
    lambda inner: st.one_of(
        st.builds(lambda part: {"items": part}, inner),
        st.builds(lambda parts: {"properties": parts}, st.dictionaries(st.sampled_from("abc"), inner, max_size=3)),
        st.builds(lambda part: {"additionalProperties": part}, inner),
        st.builds(lambda parts: {"anyOf": parts}, st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda parts: {"allOf": parts}, st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda parts: {"oneOf": parts}, st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda part: {"not": part}, inner),
        st.builds(lambda one, other: {"if": one, "then": other}, inner, inner),
    ),
    max_leaves=6,
).filter(lambda schema: isinstance(schema, dict))


@given(SCHEMA, INSTANCE)
def test_the_fast_validator_agrees_with_the_reference(schema: dict[str, Any], instance: Any) -> None:
    assert check_schema(schema) == []
    fast = validator_for(schema)
    reference = list(Reference(schema).iter_errors(instance))
    found = fast(instance)
    assert bool(found) == bool(reference)
    assert fast.is_valid(instance) == (not reference)
    # Where the reference places a fault below the instance's top, so does the fast one.
    placed = {pointer_of(list(error.absolute_path)) for error in reference}
    assert {fault.pointer for fault in found if fault.expected != "no such property"} <= placed
