"""filter, sort, take, stats and the table: pure, inline, in a declared order."""

from __future__ import annotations

import csv
import io
import statistics
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

if TYPE_CHECKING:
    from metnos.execute.runner import Runners
    from tests.catalog.conftest import Catalog, Shipped

FILES = [
    {"path": "b", "size": 10, "modified": "2026-11-30T12:00:00+01:00", "tags": ["x", "y"]},
    {"path": "a", "size": 2, "modified": "2026-11-30T12:30:00+02:00", "tags": []},
    {"path": "C", "size": 30, "modified": "2026-11-30T11:30:00Z", "note": None},
]


def kept(shipped: Shipped, **args: Any) -> list[str]:
    data = shipped.data("filter_entries", entries=FILES, **args)
    assert data["count"] == len(data["entries"])
    return [entry["path"] for entry in data["entries"]]


@pytest.mark.parametrize(
    ("field", "op", "value", "expected"),
    [
        ("size", "eq", 10, ["b"]),
        ("size", "eq", 10.0, ["b"]),
        ("size", "eq", "10", ["b"]),
        ("size", "eq", True, []),
        ("size", "ne", 10, ["a", "C"]),
        ("size", "lt", 10, ["a"]),
        ("size", "le", 10, ["b", "a"]),
        ("size", "gt", 2.5, ["b", "C"]),
        ("size", "ge", 30, ["C"]),
        ("size", "in", [2, 30], ["a", "C"]),
        ("size", "in", [], []),
        ("path", "lt", "b", ["a", "C"]),
        ("path", "contains", "a", ["a"]),
        ("path", "starts_with", "b", ["b"]),
        ("path", "ends_with", "C", ["C"]),
        ("path", "matches", "^[a-b]$", ["b", "a"]),
        ("path", "matches", "(?i)c", ["C"]),
        ("modified", "ge", "2026-11-30T12:00:00+01:00", ["b", "C"]),
        ("modified", "lt", "2026-11-30T11:00:00+00:00", ["a"]),
        ("modified", "eq", "2026-11-30T11:00:00Z", ["b"]),
    ],
)
def test_each_condition(shipped: Shipped, field: str, op: str, value: Any, expected: list[str]) -> None:
    assert kept(shipped, field=field, op=op, value=value) == expected


@pytest.mark.parametrize(
    ("field", "op", "value", "expected"),
    [
        ("path", "eq", "B", ["b"]),
        ("path", "ne", "c", ["b", "a"]),
        ("path", "in", ["A", "c"], ["a", "C"]),
        ("path", "starts_with", "c", ["C"]),
        ("path", "ends_with", "A", ["a"]),
        ("path", "lt", "C", ["b", "a"]),
        ("path", "matches", "^[A-B]$", ["b", "a"]),
        ("path", "contains", "c", ["C"]),
        ("tags", "contains", "X", ["b"]),
        ("size", "eq", 10, ["b"]),
        ("modified", "eq", "2026-11-30T11:00:00Z", ["b"]),
    ],
)
def test_each_condition_without_case(shipped: Shipped, field: str, op: str, value: Any, expected: list[str]) -> None:
    assert kept(shipped, field=field, op=op, value=value, ignore_case=True, missing="null") == expected


def test_without_case_accents_are_one(shipped: Shipped) -> None:
    entries = [{"name": "Caffe\u0300"}]
    for value, count in (("CAFF\u00c8", 1), ("caffe", 0)):
        args = {"entries": entries, "field": "name", "op": "eq", "value": value}
        assert shipped.data("filter_entries", ignore_case=True, **args)["count"] == count
        assert shipped.data("filter_entries", **args)["count"] == 0


def test_a_missing_field_is_an_error_null_or_dropped(shipped: Shipped) -> None:
    assert shipped.error("filter_entries", entries=FILES, field="tags", op="contains", value="x") == (
        "data",
        "value-missing",
        "/entries/2/tags",
    )
    assert kept(shipped, field="tags", op="contains", value="x", missing="drop") == ["b"]
    assert kept(shipped, field="note", op="eq", value=None, missing="null") == ["b", "a", "C"]
    assert kept(shipped, field="note", op="eq", value=None, missing="drop") == ["C"]
    assert kept(shipped, field="note", op="gt", value=1, missing="null") == []


@pytest.mark.parametrize(
    ("op", "value", "where"),
    [
        ("lt", True, "/value"),
        ("lt", None, "/value"),
        ("in", 3, "/value"),
        ("starts_with", True, "/value"),
        ("matches", "(", "/value"),
        ("matches", "(?=a)", "/value"),
        ("matches", r"(a)\1", "/value"),
    ],
)
def test_values_that_fit_no_condition(shipped: Shipped, op: str, value: Any, where: str) -> None:
    assert shipped.error("filter_entries", entries=FILES, field="path", op=op, value=value) == (
        "arguments",
        "bad-value",
        where,
    )


@pytest.mark.parametrize(
    ("field", "op", "value"),
    [
        ("size", "lt", "ten"),
        ("size", "lt", "010"),
        ("path", "gt", 3),
        ("path", "contains", True),
        ("tags", "matches", "1"),
        ("tags", "starts_with", "x"),
    ],
)
def test_fields_of_another_type(shipped: Shipped, field: str, op: str, value: Any) -> None:
    assert shipped.error("filter_entries", entries=FILES[:1], field=field, op=op, value=value) == (
        "data",
        "value-type",
        f"/entries/0/{field}",
    )


def test_a_hostile_pattern_is_linear(shipped: Shipped) -> None:
    entries = [{"x": "a" * 5000}]
    assert shipped.data("filter_entries", entries=entries, field="x", op="matches", value="^(a+)+$")["count"] == 1
    assert shipped.data("filter_entries", entries=entries, field="x", op="matches", value="^(a+)+b$")["count"] == 0


def order(shipped: Shipped, entries: list[dict[str, Any]], **args: Any) -> list[Any]:
    data = shipped.data("sort_entries", entries=entries, **args)
    assert data["count"] == len(data["entries"])
    return [entry["path"] for entry in data["entries"]]


def test_sorting(shipped: Shipped) -> None:
    assert order(shipped, FILES, by="size") == ["a", "b", "C"]
    assert order(shipped, FILES, by="size", order="desc") == ["C", "b", "a"]
    assert order(shipped, FILES, by="path") == ["a", "b", "C"]
    assert order(shipped, FILES, by="modified") == ["a", "b", "C"]
    assert order(shipped, [*FILES, {"path": "d", "size": None}], by="size", order="desc") == ["C", "b", "a", "d"]
    assert order(shipped, [{"path": "d"}, *FILES], by="size", missing="null") == ["a", "b", "C", "d"]
    assert order(shipped, [{"path": "d"}, *FILES], by="size", missing="drop") == ["a", "b", "C"]
    assert order(shipped, [], by="size") == []


def test_what_has_no_order(shipped: Shipped) -> None:
    assert shipped.error("sort_entries", entries=[{"path": "d"}], by="size") == (
        "data",
        "value-missing",
        "/entries/0/size",
    )
    assert shipped.error("sort_entries", entries=[{"a/b": 1}, {"a/b": "1"}], by="a/b") == (
        "data",
        "value-type",
        "/entries/1/a~1b",
    )
    assert shipped.error("sort_entries", entries=FILES[:1], by="tags") == ("data", "value-type", "/entries/0/tags")


@pytest.fixture(scope="module")
def module_shipped(tmp_path_factory: pytest.TempPathFactory, shared: Runners, catalog: Catalog) -> Any:
    from tests.catalog.conftest import Shipped as Made

    return Made(tmp_path_factory.getbasetemp(), shared, catalog)


@given(values=st.lists(st.integers(-5, 5)), descending=st.booleans())
def test_sorting_is_stable_in_both_orders(module_shipped: Any, values: list[int], descending: bool) -> None:
    entries = [{"path": at, "size": value} for at, value in enumerate(values)]
    found = order(module_shipped, entries, by="size", order="desc" if descending else "asc")
    assert found == [at for at, _ in sorted(enumerate(values), key=lambda pair: -pair[1] if descending else pair[1])]


@pytest.mark.parametrize(
    ("count", "end", "expected"),
    [
        (0, "start", []),
        (2, "start", ["b", "a"]),
        (9, "start", ["b", "a", "C"]),
        (0, "end", []),
        (2, "end", ["a", "C"]),
        (9, "end", ["b", "a", "C"]),
    ],
)
def test_taking(shipped: Shipped, count: int, end: str, expected: list[str]) -> None:
    data = shipped.data("take_entries", entries=FILES, count=count, **{"from": end})
    assert [entry["path"] for entry in data["entries"]] == expected
    assert data["count"] == len(expected)


@given(values=st.lists(st.integers(-(2**40), 2**40) | st.floats(-1e6, 1e6), min_size=1, max_size=20))
def test_stats_agree_with_the_standard_library(module_shipped: Any, values: list[Any]) -> None:
    data = module_shipped.data("compute_stats", entries=[{"x": value} for value in values], field="x")
    assert data["count"] == len(values)
    assert (data["min"], data["max"]) == (min(values), max(values))
    assert data["sum"] == pytest.approx(sum(values), abs=1e-3)
    assert data["mean"] == pytest.approx(statistics.fmean(values), abs=1e-3)
    assert data["median"] == pytest.approx(statistics.median(values), abs=1e-3)


def test_stats_without_values(shipped: Shipped) -> None:
    assert shipped.data("compute_stats", entries=FILES) == {"count": 3}
    assert shipped.data("compute_stats", entries=[], field="size") == {"count": 0, "sum": 0}
    mixed = [{"x": 1}, {"x": None}, {}]
    assert shipped.data("compute_stats", entries=mixed, field="x", missing="null") == {
        "count": 3,
        "sum": 1,
        "min": 1,
        "max": 1,
        "mean": 1,
        "median": 1,
    }
    assert shipped.data("compute_stats", entries=mixed, field="x", missing="drop")["count"] == 1
    assert shipped.error("compute_stats", entries=mixed, field="x") == ("data", "value-missing", "/entries/1/x")
    assert shipped.error("compute_stats", entries=[{"x": "1"}], field="x") == ("data", "value-type", "/entries/0/x")
    assert shipped.error("compute_stats", entries=[{"x": True}], field="x") == ("data", "value-type", "/entries/0/x")
    assert shipped.error("compute_stats", entries=[{"x": 2**52}] * 4, field="x")[:2] == ("data", "integer-range")
    assert shipped.error("compute_stats", entries=[{"x": 1e308}] * 4, field="x")[:2] == ("data", "integer-range")


def table(shipped: Shipped, **args: Any) -> str:
    return shipped.data("render_table", **args)["text"]


def test_a_markdown_table(shipped: Shipped) -> None:
    entries = [{"name": "a|b\\", "size": 1000}, {"name": "two\nlines\x1b[31m", "size": None, "more": [1, {"x": True}]}]
    assert table(shipped, entries=entries, title="Files\nhere") == (
        "Files here\n\n"
        "| name | more | size |\n| --- | --- | ---: |\n"
        "| a\\|b\\\\ |  | 1000 |\n"
        '| two<br>lines\\u001b[31m | [1, {"x": true}] |  |\n'
    )


def test_a_time_is_shown_to_the_second_but_whole_in_csv(shipped: Shipped) -> None:
    entries = [{"at": "2026-11-30T12:36:22.299581+00:00"}, {"at": "at 12:36:22.299581"}]
    assert "| 2026-11-30T12:36:22+00:00 |\n| at 12:36:22.299581 |" in table(shipped, entries=entries)
    assert "2026-11-30T12:36:22.299581+00:00" in table(shipped, entries=entries, format="csv")


def test_a_text_table_lines_up(shipped: Shipped) -> None:
    entries = [{"name": "è", "n": 5}, {"name": "日本", "n": 12345}, {"name": "right\u202eleft", "n": -1.5}]
    assert table(shipped, entries=entries, format="text") == (
        "name                 n\n"
        "---------------  -----\n"
        "è                    5\n"
        "日本             12345\n"
        "right\\u202eleft   -1.5\n"
    )


def test_a_csv_table_reads_back(shipped: Shipped) -> None:
    entries = [{"a": 'x,"y"', "b": "l1\nl2"}, {"a": None, "b": 1.5}]
    text = table(shipped, entries=entries, format="csv")
    assert list(csv.reader(io.StringIO(text))) == [["a", "b"], ['x,"y"', "l1\nl2"], ["", "1.5"]]


def test_columns_and_missing_cells(shipped: Shipped) -> None:
    entries = [{"a": 1, "b": 2}, {"a": 3}]
    assert table(shipped, entries=entries, columns=["b", "a"]) == "| b | a |\n| ---: | ---: |\n| 2 | 1 |\n|  | 3 |\n"
    assert shipped.data("render_table", entries=entries, columns=["b"], missing="drop")["rows"] == 1
    assert shipped.error("render_table", entries=entries, columns=["b"], missing="error") == (
        "data",
        "value-missing",
        "/entries/1/b",
    )
    assert shipped.data("render_table", entries=[]) == {"text": "", "rows": 0}
    assert table(shipped, entries=[], columns=["a"]) == "| a |\n| --- |\n"


def test_mean_and_median_are_rounded_on_request(shipped: Shipped) -> None:
    entries = [{"n": 1}, {"n": 2}, {"n": 2}, {"n": 4}]
    for decimals, mean, median in ((None, 2.25, 2), (1, 2.2, 2), (0, 2, 2)):
        more = {} if decimals is None else {"decimals": decimals}
        data = shipped.data("compute_stats", entries=entries, field="n", **more)
        assert (data["mean"], data["median"], data["sum"]) == (mean, median, 9)
