"""select_fields, group_entries, join_entries, dedupe_entries: inline, as in a turn."""

from __future__ import annotations

import math
from itertools import groupby
from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

if TYPE_CHECKING:
    from tests.catalog.conftest import Shipped

FILES: list[dict[str, Any]] = [
    {"path": "b", "ext": ".txt", "size": 10},
    {"path": "a", "ext": ".pdf", "size": 2.5, "note": "x"},
    {"path": "c", "ext": ".txt", "size": 30},
]
SLOW = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)


def entries(data: Any) -> list[Any]:
    assert data["count"] == len(data["entries"])
    return data["entries"]


# --- picking -------------------------------------------------------------------------------------------------------


def test_fields_are_picked_in_order_and_renamed(shipped: Shipped) -> None:
    found = entries(shipped.data("select_fields", entries=FILES, fields=["size", "path"], rename={"size": "bytes"}))
    assert found[0] == {"bytes": 10, "path": "b"}
    assert [list(each) for each in found] == [["bytes", "path"]] * 3
    assert entries(shipped.data("select_fields", entries=FILES, fields="ext"))[1] == {"ext": ".pdf"}
    swapped = shipped.data(
        "select_fields", entries=FILES[:1], fields=["path", "ext"], rename={"path": "ext", "ext": "path"}
    )
    assert entries(swapped) == [{"ext": "b", "path": ".txt"}]
    assert entries(shipped.data("select_fields", entries=[], fields=["x"])) == []


def test_a_field_that_is_absent(shipped: Shipped) -> None:
    call = {"entries": FILES, "fields": ["note"]}
    assert shipped.error("select_fields", **call) == ("data", "value-missing", "/entries/0/note")
    assert entries(shipped.data("select_fields", **call, missing="null")) == [
        {"note": None},
        {"note": "x"},
        {"note": None},
    ]
    outcome = shipped("select_fields", **call, missing="drop")
    assert entries(outcome.data) == [{"note": "x"}]
    assert outcome.counters == {"left": 2}


def test_two_fields_never_get_one_name(shipped: Shipped) -> None:
    taken = ("arguments", "field-taken")
    assert shipped.error("select_fields", entries=FILES, fields=["path", "size"], rename={"size": "path"})[:2] == taken
    assert shipped.error("select_fields", entries=FILES, fields=["path", "path"])[:2] == taken
    error = shipped.error("select_fields", entries=FILES, fields=["path"], rename={"a/b": "x"})
    assert error == ("arguments", "unknown-field", "/rename/a~1b")


# --- grouping ------------------------------------------------------------------------------------------------------


def test_groups_in_the_order_of_their_first(shipped: Shipped) -> None:
    assert entries(shipped.data("group_entries", entries=FILES, by="ext")) == [
        {"ext": ".txt", "count": 2}, {"ext": ".pdf", "count": 1},
    ]  # fmt: skip
    found = entries(shipped.data("group_entries", entries=FILES, by=["ext"], field="size", keep=True))
    assert found[0] == {
        "ext": ".txt", "count": 2, "sum": 40, "min": 10, "max": 30, "mean": 20.0, "entries": [FILES[0], FILES[2]],
    }  # fmt: skip
    assert len(entries(shipped.data("group_entries", entries=FILES, by=["ext", "path"]))) == 3
    assert entries(shipped.data("group_entries", entries=[], by="x", field="y")) == []


def test_values_are_equal_as_json(shipped: Shipped) -> None:
    values = [1, 1.0, True, "1", None, None, [1], [1.0], [True], {"a": 1}, {"a": True}, False, 0]
    found = entries(shipped.data("group_entries", entries=[{"v": value} for value in values], by="v"))
    assert [each["count"] for each in found] == [2, 1, 1, 2, 2, 1, 1, 1, 1, 1]


def test_grouping_what_is_absent(shipped: Shipped) -> None:
    mixed = [{"k": "a", "n": 1}, {"n": 2}, {"k": "a", "n": None}, {"k": "b"}]
    assert shipped.error("group_entries", entries=mixed, by="k") == ("data", "value-missing", "/entries/1/k")
    assert shipped.error("group_entries", entries=mixed[2:], by="k", field="n") == (
        "data",
        "value-missing",
        "/entries/0/n",
    )
    found = entries(shipped.data("group_entries", entries=mixed, by="k", field="n", missing="null"))
    assert found == [
        {"k": "a", "count": 2, "sum": 1, "min": 1, "max": 1, "mean": 1.0},
        {"k": None, "count": 1, "sum": 2, "min": 2, "max": 2, "mean": 2.0},
        {"k": "b", "count": 1},
    ]
    outcome = shipped("group_entries", entries=mixed, by="k", field="n", missing="drop")
    assert [(each["k"], each["count"]) for each in entries(outcome.data)] == [("a", 1)]
    assert outcome.counters == {"left": 3}


def test_what_cannot_be_summed_up(shipped: Shipped) -> None:
    for value in ("1", True, [1]):
        error = shipped.error("group_entries", entries=[{"k": 1, "n/m": value}], by="k", field="n/m")
        assert error == ("data", "value-type", "/entries/0/n~1m")
    for value in (2**53 - 1, 1e308):
        error = shipped.error("group_entries", entries=[{"k": 1, "n": value}] * 3, by="k", field="n")
        assert error[:2] == ("data", "integer-range")
    assert shipped.error("group_entries", entries=[{"count": 1}], by="count") == ("arguments", "field-taken", "/by")


@SLOW
@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(-(2**40), 2**40)), max_size=12))
def test_groups_agree_with_the_standard_library(shipped: Shipped, pairs: list[tuple[str, int]]) -> None:
    given_ = [{"k": key, "n": value} for key, value in pairs]
    found = {each["k"]: each for each in entries(shipped.data("group_entries", entries=given_, by="k", field="n"))}
    for key, members in groupby(sorted(pairs), key=lambda pair: pair[0]):
        values = [value for _, value in members]
        expected = {"k": key, "count": len(values), "sum": sum(values), "min": min(values), "max": max(values)}
        assert found.pop(key) == expected | {"mean": sum(values) / len(values)}
    assert found == {}


def test_duplicates_are_found_with_checksums(shipped: Shipped) -> None:
    for name, raw in (("a", b"same"), ("b", b"other"), ("sub/c", b"same")):
        (shipped.folder / name).parent.mkdir(exist_ok=True)
        (shipped.folder / name).write_bytes(raw)
    found = shipped.data("compute_files_hash", files=shipped.data("find_files")["entries"])["entries"]
    groups = shipped.data("group_entries", entries=found, by="digest", keep=True)["entries"]
    twice = shipped.data("filter_entries", entries=groups, field="count", op="gt", value=1)["entries"]
    assert [[each["path"] for each in group["entries"]] for group in twice] == [["a", "sub/c"]]


# --- joining -------------------------------------------------------------------------------------------------------

PRICES = [{"ext": ".txt", "price": 1}, {"ext": ".png", "price": 9}, {"ext": ".txt", "price": 2, "size": "s"}]


def test_each_pair_in_order(shipped: Shipped) -> None:
    found = entries(shipped.data("join_entries", entries=FILES, other=PRICES, on="ext"))
    assert [(each["path"], each["price"]) for each in found] == [("b", 1), ("b", 2), ("c", 1), ("c", 2)]
    assert found[1] == {"path": "b", "ext": ".txt", "size": 10, "price": 2, "other_size": "s"}
    assert "other_size" not in found[0]


def test_what_matches_nothing(shipped: Shipped) -> None:
    outcome = shipped("join_entries", entries=FILES, other=PRICES, on=["ext"], how="left", prefix="p_")
    found = entries(outcome.data)
    assert [each["path"] for each in found] == ["b", "b", "a", "c", "c"]
    assert found[2] == {**FILES[1], "price": None, "p_size": None}
    assert outcome.counters == {"unmatched": 1}
    assert entries(shipped.data("join_entries", entries=FILES, other=[], on="ext", how="left")) == FILES
    assert entries(shipped.data("join_entries", entries=FILES, other=[], on="ext")) == []


def test_keys_of_other_names_and_several(shipped: Shipped) -> None:
    left = [{"id": 1, "k": "a"}, {"id": True, "k": "a"}, {"id": None, "k": "a"}]
    right = [
        {"ref": 1.0, "key": "a", "v": "number"},
        {"ref": True, "key": "a", "v": "truth"},
        {"ref": None, "key": "a", "v": "null"},
    ]
    found = entries(shipped.data("join_entries", entries=left, other=right, on=["id", "k"], other_on=["ref", "key"]))
    assert found == [{"id": 1, "k": "a", "v": "number"}, {"id": True, "k": "a", "v": "truth"}]
    kept = entries(shipped.data("join_entries", entries=left, other=right, on="id", other_on="ref", how="left"))
    assert kept[2] == {"id": None, "k": "a", "key": None, "v": None}
    error = shipped.error("join_entries", entries=left, other=right, on=["id"], other_on=["ref", "key"])
    assert error == ("arguments", "bad-value", "/other_on")


def test_keys_that_are_absent(shipped: Shipped) -> None:
    left, right = [{"k": 1}, {"x": 2}], [{"k": 1, "v": 3}, {"v": 4}]
    assert shipped.error("join_entries", entries=left, other=right, on="k") == ("data", "value-missing", "/entries/1/k")
    assert shipped.error("join_entries", entries=left[:1], other=right, on="k") == (
        "data",
        "value-missing",
        "/other/1/k",
    )
    call = {"entries": left, "other": right, "on": "k", "how": "left"}
    assert entries(shipped.data("join_entries", **call, missing="null")) == [{"k": 1, "v": 3}, {"x": 2, "v": None}]
    assert entries(shipped.data("join_entries", **call, missing="drop")) == [{"k": 1, "v": 3}]
    assert shipped.error("join_entries", entries=[{"k": [1]}], other=right[:1], on="k") == ("data", "value-type", "/on")


def test_names_that_clash_twice(shipped: Shipped) -> None:
    left, right = [{"k": 1, "v": 2, "other_v": 3}], [{"k": 1, "v": 4}]
    assert shipped.error("join_entries", entries=left, other=right, on="k") == ("arguments", "field-taken", "/prefix")
    right = [{"k": 1, "v": 4, "x_v": 5}]
    assert shipped.error("join_entries", entries=left, other=right, on="k", prefix="x_")[1] == "field-taken"
    assert entries(shipped.data("join_entries", entries=left, other=right, on="k", prefix="y_"))[0]["y_v"] == 4


def test_a_join_does_not_grow_without_end(shipped: Shipped) -> None:
    many = [{"k": 1}] * 1000
    assert shipped.error("join_entries", entries=many, other=many, on="k") == ("oversize", "too-many", "/on")


KEYS = st.lists(st.sampled_from([None, 0, 1, "a", True, math.pi]), max_size=6)


@SLOW
@given(KEYS, KEYS)
def test_a_join_agrees_with_two_loops(shipped: Shipped, left: list[Any], right: list[Any]) -> None:
    one = [{"k": key, "l": at} for at, key in enumerate(left)]
    two = [{"k": key, "r": at} for at, key in enumerate(right)]
    pairs = [
        (a["l"], b["r"])
        for a in one
        for b in two
        if a["k"] is not None and a["k"] == b["k"] and isinstance(a["k"], bool) == isinstance(b["k"], bool)
    ]
    found = entries(shipped.data("join_entries", entries=one, other=two, on="k"))
    assert [(each["l"], each["r"]) for each in found] == pairs


# --- one of each ---------------------------------------------------------------------------------------------------


def test_one_of_each(shipped: Shipped) -> None:
    twice = [{"k": 1, "at": 0}, {"k": "1", "at": 1}, {"k": 1.0, "at": 2}, {"k": True, "at": 3}]
    assert [each["at"] for each in entries(shipped.data("dedupe_entries", entries=twice, by="k"))] == [0, 1, 3]
    assert [each["at"] for each in entries(shipped.data("dedupe_entries", entries=twice, by=["k"], keep="last"))] == [
        1,
        2,
        3,
    ]
    outcome = shipped("dedupe_entries", entries=[{"a": [1]}, {"a": [1.0]}, {"a": [1], "b": None}, {"a": [True]}])
    assert len(entries(outcome.data)) == 3
    assert outcome.counters == {"left": 1}


def test_one_of_each_where_fields_are_absent(shipped: Shipped) -> None:
    some = [{"k": 1}, {}, {"k": None}, {"x/y": 1}]
    assert shipped.error("dedupe_entries", entries=some, by="x/y") == ("data", "value-missing", "/entries/0/x~1y")
    assert entries(shipped.data("dedupe_entries", entries=some, by="k", missing="null")) == [{"k": 1}, {}]
    assert entries(shipped.data("dedupe_entries", entries=some, by="k", missing="drop")) == [{"k": 1}, {"k": None}]


def test_what_is_equal_to_another_stands_side_by_side(shipped: Shipped) -> None:
    some = [{"k": "a", "at": 0}, {"k": "b", "at": 1}, {"k": "c", "at": 2}, {"k": "b", "at": 3}, {"k": "a", "at": 4}]
    found = shipped.data("dedupe_entries", entries=some, by="k", keep="repeated")
    assert [each["at"] for each in entries(found)] == [0, 4, 1, 3]
    assert shipped.data("dedupe_entries", entries=some, keep="repeated") == {"entries": [], "count": 0}
