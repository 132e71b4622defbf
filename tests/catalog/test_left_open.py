"""A column that is left open (`*`), over rows as a reader gives them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.catalog.conftest import Shipped

ONE = "who,what,amount\nAda,Travel,12.50\nBob,Meals,8.00\nAda,travel,\n"
TWO = "id,who,amount\n1,Ada,12.50\n2,Bob,8.00\n"
NONE = "who,what\nAda,Travel\n"


def entries(shipped: Shipped, raw: str) -> list[dict[str, Any]]:
    (shipped.folder / "x.csv").write_text(raw, encoding="utf-8")
    return shipped.data("read_files_csv", path="x.csv")["entries"]


CALLS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("compute_stats", "field", {}),
    ("sort_entries", "by", {}),
    ("group_entries", "field", {"by": "who"}),
    ("filter_entries", "field", {"op": "gt", "value": 9}),
)


def test_the_only_column_of_numbers_is_meant(shipped: Shipped) -> None:
    rows = entries(shipped, ONE)
    found = shipped.data("compute_stats", entries=rows, field="*")
    assert (found["count"], found["sum"], found["max"]) == (2, 20.5, 12.5)
    assert shipped.data("compute_stats", entries=rows) == {"count": 3}
    found = shipped.data("sort_entries", entries=rows, by="*")
    assert [row["amount"] for row in found["entries"]] == [8.0, 12.5, None]
    found = shipped.data("group_entries", entries=rows[:2], by="who", field="*")
    assert [(group["who"], group["sum"]) for group in found["entries"]] == [("Ada", 12.5), ("Bob", 8.0)]
    found = shipped.data("filter_entries", entries=rows, field="*", op="gt", value=9)
    assert [row["amount"] for row in found["entries"]] == [12.5]


def test_a_group_is_not_summed_by_what_it_shares(shipped: Shipped) -> None:
    rows = entries(shipped, "year,amount\n2025,3\n2026,4\n2026,5\n")
    for by in ("year", ["year"]):
        found = shipped.data("group_entries", entries=rows, by=by, field="*")
        assert [(group["year"], group["sum"]) for group in found["entries"]] == [(2025, 3), (2026, 9)]


@pytest.mark.parametrize(("tool", "argument", "args"), CALLS)
def test_several_columns_leave_a_choice_and_none_is_a_plain_failure(
    shipped: Shipped, tool: str, argument: str, args: dict[str, Any]
) -> None:
    outcome = shipped(tool, entries=entries(shipped, TWO), **{argument: "*", **args})
    assert outcome.error is not None
    assert (outcome.error.cls, outcome.error.code, outcome.error.where) == ("data", "column-open", "")
    assert [(option.key, option.args) for option in outcome.error.options] == [
        ("column", {argument: "id"}),
        ("column", {argument: "amount"}),
    ]
    outcome = shipped(tool, entries=entries(shipped, NONE), **{argument: "*", **args})
    assert outcome.error is not None
    assert (outcome.error.code, outcome.error.options) == ("column-open", ())
    assert outcome.error.hint.startswith("name one of ")
    assert "what" in outcome.error.hint


@pytest.mark.parametrize(("tool", "argument", "args"), CALLS)
def test_nothing_at_all_has_no_column(shipped: Shipped, tool: str, argument: str, args: dict[str, Any]) -> None:
    assert shipped.data(tool, entries=[], **{argument: "*", **args})["count"] == 0


def test_a_column_of_truth_values_and_one_with_a_word_are_no_numbers(shipped: Shipped) -> None:
    rows = [{"on": True, "n": 1, "mixed": 2}, {"on": False, "n": None, "mixed": "x"}]
    assert shipped.data("compute_stats", entries=rows, field="*")["sum"] == 1


def test_a_column_that_is_called_so_is_meant_itself(shipped: Shipped) -> None:
    rows = [{"*": 1, "n": 5}, {"*": 2, "n": 6}]
    assert shipped.data("compute_stats", entries=rows, field="*")["sum"] == 3
    found = shipped.data("filter_entries", entries=rows, field="*", op="eq", value=2)
    assert found["entries"] == rows[1:]


@pytest.mark.parametrize(
    ("op", "value", "args", "kept"),
    [
        ("eq", "travel", {}, [0, 2]),
        ("eq", "travel", {"ignore_case": False}, [2]),
        ("eq", "trav", {}, []),
        ("eq", 8, {}, [1]),
        ("eq", "8", {}, [1]),
        ("ne", "ADA", {}, [1]),
        ("in", ["meals", "x"], {}, [1]),
        ("contains", "AD", {}, [0, 2]),
        ("contains", "12", {}, [0]),
        ("starts_with", "me", {}, [1]),
        ("matches", "^bo", {}, [1]),
    ],
)
def test_a_value_in_whatever_column(
    shipped: Shipped, op: str, value: Any, args: dict[str, Any], kept: list[int]
) -> None:
    rows = entries(shipped, ONE)
    found = shipped.data("filter_entries", entries=rows, field="*", op=op, value=value, **args)
    assert found["entries"] == [rows[at] for at in kept]
    assert found["count"] == len(kept)


def test_values_of_other_types_are_passed_over(shipped: Shipped) -> None:
    rows = [{"a": None, "b": True, "c": ["x", "y"], "d": {"e": "x"}}, {"a": "z"}]
    for op in ("eq", "contains", "starts_with", "matches"):
        found = shipped.data("filter_entries", entries=rows, field="*", op=op, value="x")
        assert found["entries"] == (rows[:1] if op == "contains" else [])
    assert shipped.error("filter_entries", entries=rows, field="*", op="matches", value="(")[1] == "bad-value"


def test_a_column_that_only_numbers_the_rows_is_not_meant(shipped: Shipped) -> None:
    rows = entries(shipped, "no;who;amount\n101;Ada;12\n102;Bob;8\n103;Ada;15\n")
    assert shipped.data("compute_stats", entries=rows, field="*")["sum"] == 35
    assert shipped.data("sort_entries", entries=rows, by="*")["entries"][0]["who"] == "Bob"
    # A gap, or another order, and it may be meant; and where nothing else holds numbers it is.
    for raw in ("n;amount\n1;12\n2;8\n4;15\n", "n;amount\n3;12\n2;8\n1;15\n"):
        assert shipped("compute_stats", entries=entries(shipped, raw), field="*").error is not None
    assert shipped.data("compute_stats", entries=entries(shipped, "no;who\n1;a\n2;b\n3;c\n"), field="*")["sum"] == 6


def test_of_several_columns_the_one_is_meant_that_is_called_so(shipped: Shipped) -> None:
    rows = entries(shipped, "item,stock,unitPrice\nhelmet,4,25\nbike,2,480\n")
    for open_ in ("*: pric, cost", "*: cost, pric"):
        assert shipped.data("compute_stats", entries=rows, field=open_)["max"] == 480
        assert shipped.data("sort_entries", entries=rows, by=open_)["entries"][0]["item"] == "helmet"
        assert shipped.data("group_entries", entries=rows, by="item", field=open_)["entries"][1]["sum"] == 480
    # None is called so, or two are: a person chooses.
    for open_ in ("*: weight", "*: pric, stock", "*: ice"):
        outcome = shipped("compute_stats", entries=rows, field=open_)
        assert outcome.error is not None
        assert [option.args for option in outcome.error.options] == [{"field": "stock"}, {"field": "unitPrice"}]
    assert shipped.data("compute_stats", entries=[{"*: a": 3, "b": 4}], field="*: a")["sum"] == 3
