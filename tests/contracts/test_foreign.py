"""Foreign tools become lenient contracts, and keep what they said."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.contracts.aliases import alias, original
from metnos.contracts.foreign import SCALARS, ForeignFault, foreign_contract, foreign_contracts
from metnos.contracts.model import Contract, Intent
from metnos.contracts.schemas import validator_for

SCALAR = {"type": SCALARS}


def one(described: dict[str, Any]) -> Contract:
    return foreign_contracts([{"name": "tool", **described}]).contracts[0]


def test_parameters_are_found_wherever_they_stand() -> None:
    contract = one(
        {
            "query_parameters": {"q": {"type": "String", "required": True}},
            "path_parameters": {"id": {"type": "string", "required": True, "description": "Which."}},
            "parameters": {"n": {"type": "Number"}},
            "arguments": {"style": {"allowed_values": ["a"], "required": False}},
        }
    )
    assert contract.args == {
        "type": "object",
        "properties": {
            "id": {"type": SCALARS, "description": "Which."},
            "q": SCALAR,
            "n": SCALAR,
            "style": {"type": SCALARS, "examples": ["a"]},
        },
        "additionalProperties": False,
        "required": ["id", "q"],
    }


def test_a_json_schema_of_parameters_is_unfolded() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}, "b": "string"}, "required": ["b"]}
    contract = one({"parameters": schema})
    assert contract.args["required"] == ["b"]
    assert set(contract.args["properties"]) == {"a", "b"}
    assert foreign_contract("tool", schema, required=["a"]).args["required"] == ["a", "b"]


def test_a_parameter_that_is_called_properties_is_a_parameter() -> None:
    contract = one({"parameters": {"properties": {"type": "string"}, "city": {"type": "string"}}})
    assert set(contract.args["properties"]) == {"properties", "city"}


def test_arguments_that_nobody_described_are_refused_and_scalars_join() -> None:
    valid = validator_for(one({"parameters": {"n": {"type": "string"}}}).args)
    assert valid({"n": 4}) == []
    assert valid({"n": "4"}) == []
    assert valid({"n": [4]})
    assert valid({"m": 4})


def test_outputs_count_as_required_down_to_the_leaves() -> None:
    contract = one(
        {
            "output_parameters": {
                "Exchange Rate": {"type": "Number"},
                "company": {"type": "Object", "properties": {"status": {"type": "Number"}}},
                "filings": {"type": "Array", "items": {"type": "Object", "properties": {"url": {"type": "String"}}}},
                "tags": {"type": "array"},
                "raw": {"type": "object"},
                "plain": {"description": "No type at all.", "possible_values": []},
                "valued": {"possible_values": ["a", "b"]},
                "number": {"type": "int or float"},
                "maybe": {"type": "Optional[List[str]]"},
                "typed": {"type": "string[]"},
                "worded": {"type": "string array"},
                "several": {"type": "string | array"},
                "nothing": {"type": "null"},
                "bare": {"type": "optional"},
                "implied": {"properties": {"x": {}}},
                "listed": {"items": "string"},
                "any": {"type": "any"},
                "either": {"type": ["string", "null"]},
                "mixed": {"type": ["string", "array"]},
                "short": "List[str]",
                "blank": {"type": "  "},
            }
        }
    )
    properties = contract.result["properties"]
    assert contract.result["required"] == list(properties)
    assert properties["company"]["required"] == ["status"]
    assert properties["filings"]["items"]["required"] == ["url"]
    assert properties["tags"] == {"type": "array"}
    assert properties["raw"] == {"type": "object"}
    assert properties["plain"] == {"description": "No type at all."}
    assert properties["valued"] == {"type": SCALARS, "examples": ["a", "b"]}
    assert properties["number"] == SCALAR
    assert properties["maybe"] == {"type": "array"}
    assert properties["typed"] == properties["worded"] == {"type": "array"}
    assert properties["several"] == {}
    assert properties["nothing"] == {}
    assert properties["bare"] == {}
    assert properties["implied"]["required"] == ["x"]
    assert properties["listed"] == {"type": "array", "items": SCALAR}
    assert properties["any"] == {}
    assert properties["either"] == SCALAR
    assert properties["mixed"] == {}
    assert properties["short"] == {"type": "array"}
    assert properties["blank"] == {}
    assert contract.lenient


def test_no_outputs_is_anything() -> None:
    assert one({}).result == {}
    assert foreign_contract("tool").result == {}


def test_unannotated_is_the_strictest_class() -> None:
    assert one({}).effects[0].effect == "execute"
    assert not one({}).idempotent
    stand_in = foreign_contracts([{"name": "a"}], effect="read").contracts[0]
    assert stand_in.effects[0].effect == "read"
    assert stand_in.idempotent
    assert (stand_in.origin, stand_in.placement, stand_in.families) == ("foreign", "external", (Intent("a"),))


def test_an_odd_name_gets_an_alias_and_keeps_the_original() -> None:
    found = foreign_contracts([{"name": "Search hotels!", "description": "Hotels."}, {"name": "plain.name-1"}])
    odd, plain = found.contracts
    assert odd.name == "Search_x0020_hotels_x0021_"
    assert odd.original == "Search hotels!"
    assert odd.descriptions == {"en": "Hotels."}
    assert plain.original == ""
    assert found.names == {"Search hotels!": odd.name, "plain.name-1": "plain.name-1"}


def test_one_name_twice_takes_what_either_takes() -> None:
    found = foreign_contracts(
        [
            {"name": "t", "parameters": {"a": {"required": True}, "b": {"required": True}}, "outputs": {"x": {}}},
            {
                "name": "t",
                "parameters": {"a": {"required": True}, "c": "string"},
                "outputs": {"y": {}},
                "description": "D",
            },
            {"name": "u"},
            {"name": "u"},
        ]
    )
    merged, same = found.contracts
    assert found.merged == ("t",)
    assert merged.args["required"] == ["a"]
    assert set(merged.args["properties"]) == {"a", "b", "c"}
    assert set(merged.result["properties"]) == {"x", "y"}
    assert merged.descriptions == {"en": "D"}
    assert same.name == "u"


def test_what_two_descriptions_say_differently_may_be_either() -> None:
    found = foreign_contracts(
        [
            {
                "name": "t",
                "parameters": {"a": {"type": "string", "required": True, "description": "One."}, "b": "string"},
                "outputs": {
                    "x": "string",
                    "y": {"type": "object", "properties": {"z": "string"}},
                    "w": {"type": "array"},
                },
            },
            {
                "name": "t",
                "parameters": {"a": {"type": "number", "required": True}, "b": {"type": "array", "items": "string"}},
                "outputs": {
                    "x": "number",
                    "y": {"type": "object", "properties": {"v": "string"}},
                    "w": {"type": "array"},
                },
            },
        ]
    )
    (contract,) = found.contracts
    assert contract.args["properties"] == {"a": {**SCALAR, "description": "One."}, "b": {}}
    assert contract.args["required"] == ["a"]
    assert contract.result["properties"] == {"x": SCALAR, "y": {}, "w": {"type": "array"}}


def test_an_object_that_is_a_parameter_needs_what_is_declared_and_takes_more() -> None:
    place = {"type": "object", "properties": {"city": "string", "zip": {"type": "string"}}, "required": ["city"]}
    flagged = {"type": "object", "properties": {"city": {"type": "string", "required": True}, "zip": "string"}}
    contract = one(
        {
            "parameters": {
                "place": place,
                "closed": {**flagged, "additionalProperties": False},
                "listed": {"items": place},
            },
        }
    )
    properties = contract.args["properties"]
    assert properties["place"] == {
        "type": "object",
        "properties": {"city": SCALAR, "zip": SCALAR},
        "required": ["city"],
    }
    assert properties["closed"] == {**properties["place"], "additionalProperties": False}
    assert properties["listed"] == {"type": "array", "items": properties["place"]}
    assert "required" not in contract.args


def test_a_result_that_says_so_has_further_fields() -> None:
    rates = {"type": "object", "properties": {"base": "string"}, "additionalProperties": {"type": "number"}}
    properties = one({"outputs": {"rates": rates, "open": {"type": "object", "additionalProperties": {}}}}).result[
        "properties"
    ]
    assert properties["rates"] == {
        "type": "object",
        "properties": {"base": SCALAR},
        "required": ["base"],
        "additionalProperties": True,
    }
    assert properties["open"] == {"type": "object"}


def test_required_parameters_may_stand_beside_the_table() -> None:
    contract = one({"parameters": {"a": "string", "b": "string"}, "required": ["b", "gone"]})
    assert contract.args["required"] == ["b"]
    untyped = one({"inputSchema": {"properties": {"a": "string"}, "required": ["a"], "optional": []}})
    assert (untyped.args["required"], list(untyped.args["properties"])) == (["a"], ["a"])
    nested = one({"parameters": {"type": "object", "properties": {"a": "string"}, "required": ["a"], "examples": []}})
    assert nested.args["required"] == ["a"]
    assert list(nested.args["properties"]) == ["a"]


def test_a_result_may_be_an_array() -> None:
    described = {"type": "array", "items": {"type": "object", "properties": {"title": "string"}}}
    whole = one({"output_parameters": described}).result
    assert whole["type"] == "array"
    assert whole["items"]["required"] == ["title"]
    named = one({"output_parameters": {"type": "array", "title": "string"}}).result
    assert named["required"] == ["type", "title"]
    found = foreign_contracts(
        [{"name": "t", "outputs": described}, {"name": "t", "outputs": {"title": "string"}}, {"name": "t"}]
    )
    assert found.contracts[0].result == {}
    silent = foreign_contracts(
        [{"name": "t", "parameters": {"a": "string"}}, {"name": "t", "outputs": {"title": "string"}}]
    )
    assert silent.contracts[0].result["required"] == ["title"]
    assert silent.contracts[0].args["properties"] == {"a": SCALAR}


def test_parameters_may_be_listed() -> None:
    contract = one({"parameters": [{"name": "q", "type": "string", "required": True}, {"name": "n", "type": "array"}]})
    assert contract.args["properties"] == {"q": SCALAR, "n": {"type": "array"}}
    assert contract.args["required"] == ["q"]


@pytest.mark.parametrize("name", ["ask", "final_answer", "needs_inputs"])
def test_a_tool_that_is_called_like_the_end_of_a_plan_gets_an_alias(name: str) -> None:
    (contract,) = foreign_contracts([{"name": name}]).contracts
    assert contract.name != name
    assert contract.original == name
    assert original(contract.name) == name


def test_two_tools_that_differ_have_two_digests() -> None:
    one_, two = foreign_contract("a", {"x": "string"}), foreign_contract("a", {"y": "string"})
    assert one_.digest != two.digest
    assert one_.digest == foreign_contract("a", {"x": "string"}).digest


@pytest.mark.parametrize(
    "described",
    [
        {},
        {"name": ""},
        {"name": 3},
        {"name": "t", "parameters": [1]},
        {"name": "t", "parameters": "q"},
        {"name": "t", "outputs": {"a": {"type": "object", "properties": [1]}}},
    ],
)
def test_what_is_no_description_is_refused(described: dict[str, Any]) -> None:
    with pytest.raises(ForeignFault):
        foreign_contracts([described])


@pytest.mark.parametrize("odd", ["\ud800", 2**60, float("nan")])
def test_a_description_that_is_no_json_is_refused(odd: Any) -> None:
    with pytest.raises(ForeignFault, match=r"^'?t'?: (lone-surrogate|integer-range|not-a-number)"):
        foreign_contracts([{"name": "t", "parameters": {"a": {"type": "string", "enum": [odd]}}}])


@pytest.mark.parametrize("described", [{"description": "\ud800", "name": "t"}, {"name": "\ud800"}])
def test_a_description_that_is_no_text_is_refused(described: dict[str, Any]) -> None:
    with pytest.raises(ForeignFault, match="lone-surrogate"):
        foreign_contracts([described])


def test_a_description_without_end_is_refused() -> None:
    deep: dict[str, Any] = {}
    for _ in range(40):
        deep = {"type": "array", "items": deep or "string"}
    with pytest.raises(ForeignFault, match="schema-oversize"):
        foreign_contract("t", outputs={"a": deep})
    with pytest.raises(ForeignFault, match="without a name"):
        foreign_contract("")


@given(st.text(min_size=1, max_size=20) | st.sampled_from(["ask", "final_answer", "_x0061_sk"]))
def test_an_alias_leads_back(name: str) -> None:
    coded = alias(name)
    if len(coded) < 128:
        assert original(coded) == name
    assert alias(name) == coded


@pytest.mark.parametrize("name", ["_x0020_", "a_x0020_b", "_x005F_x0020_", "x_x", "𝄞", " "])
def test_what_looks_like_an_alias_leads_back_too(name: str) -> None:
    assert original(alias(name)) == name


def test_long_names_stay_apart() -> None:
    assert len(alias("é" * 500)) == 128
    assert alias("é" * 500) != alias("é" * 501)
    assert alias("a" * 128) == "a" * 128
    with pytest.raises(ValueError, match="without a name"):
        alias("")


@pytest.mark.parametrize(("text", "taken"), [("63", True), (" +1.5e3 ", True), (".5", True), ("2.", True), ("", False),
                                             ("per month", False), ("5 km", False), ("1,000", False), ("1e", False)])  # fmt: skip
def test_where_numerals_are_asked_for_a_text_for_a_number_reads_as_one(text: str, taken: bool) -> None:
    described = {
        "name": "t",
        "parameters": {"n": {"type": "Int"}, "deep": {"type": "object", "properties": {"f": {"type": "float"}}}},
        "outputs": {"n": {"type": "int"}},
    }
    (strict,) = foreign_contracts([described], numerals=True).contracts
    (loose,) = foreign_contracts([described]).contracts
    for args in ({"n": text}, {"deep": {"f": text}}):
        assert validator_for(strict.args).is_valid(args) is taken
        assert validator_for(loose.args).is_valid(args)
    assert validator_for(strict.args).is_valid({"n": 63})
    assert validator_for(strict.result).is_valid({"n": "per month"})
