"""read_files_csv and read_files_json on real files."""

from __future__ import annotations

import csv
import io
import json
import os
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

if TYPE_CHECKING:
    from tests.catalog.conftest import Shipped


def put(shipped: Shipped, raw: str | bytes, name: str = "x") -> None:
    (shipped.folder / name).write_bytes(raw.encode() if isinstance(raw, str) else raw)


def rows(data: Any) -> list[Any]:
    assert data["count"] == len(data["entries"])
    return data["entries"]


# --- CSV -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "args", "expected"),
    [
        ("a,b\n1,x\n2,\n", {}, [{"a": 1, "b": "x"}, {"a": 2, "b": ""}]),
        ("a;b\r\np;x\r\n", {}, [{"a": "p", "b": "x"}]),
        ("a\tb\np\tq", {}, [{"a": "p", "b": "q"}]),
        ("a|b\np|q", {}, [{"a": "p", "b": "q"}]),
        ("a b\np q", {}, [{"a b": "p q"}]),
        ("a b\np q", {"delimiter": " "}, [{"a": "p", "b": "q"}]),
        ('"a;b",c\n"x,""y""\nz",q\n', {}, [{"a;b": 'x,"y"\nz', "c": "q"}]),
        ("a,b\n\np,q\n\n", {}, [{"a": "p", "b": "q"}]),
        (" a ,\np,q\n", {}, [{"a": "p", "column2": "q"}]),
        ("p,q\nr,s\n", {"header": False}, [{"column1": "p", "column2": "q"}, {"column1": "r", "column2": "s"}]),
        ("p,q\n", {"header": False, "columns": ["p", "q"]}, [{"p": "p", "q": "q"}]),
        ("a,a\n1,2\n", {"columns": ["p", "q"], "header": False, "max_rows": 1}, [{"p": "a", "q": "a"}]),
        ("a,b\np,q\n", {"columns": ["p", "q"]}, [{"p": "p", "q": "q"}]),
        ("a,b\nx\n", {"ragged": "pad"}, [{"a": "x", "b": None}]),
        ("a,b\n1\n1,2,3\nx,y\n", {"ragged": "drop"}, [{"a": "x", "b": "y"}]),
        ("n,t\n-1,007\n2.5,1e3\n ,x\n1e3,\n", {"numbers": ["n"]}, [
            {"n": -1, "t": "007"}, {"n": 2.5, "t": "1e3"}, {"n": None, "t": "x"}, {"n": 1000.0, "t": ""},
        ]),
        ("n,t\n1,2\n", {"numbers": ["n"]}, [{"n": 1, "t": "2"}]),
        ("n,t\n1,2\n", {"numbers": []}, [{"n": "1", "t": "2"}]),
        ("n;t\n1,5;a\n-2;b\n", {"numbers": ["n"], "decimal": ","}, [{"n": 1.5, "t": "a"}, {"n": -2, "t": "b"}]),
        ("è\nß\n".encode("latin-1"), {"encoding": "latin-1"}, [{"è": "ß"}]),
        ("\ufeffa,b\np,q\n", {}, [{"a": "p", "b": "q"}]),
        ("a,b\np,q\n".encode("utf-16"), {}, [{"a": "p", "b": "q"}]),
        ("", {}, []),
        ("a,b\n", {"numbers": ["b"]}, []),
    ],
)  # fmt: skip
def test_rows(shipped: Shipped, raw: str | bytes, args: dict[str, Any], expected: list[Any]) -> None:
    put(shipped, raw)
    assert rows(shipped.data("read_files_csv", path="x", **args)) == expected


NOT = None
"""The column stays text."""


@pytest.mark.parametrize(
    ("cells", "delimiter", "args", "expected"),
    [
        (("1", "-20", " 3 "), ",", {}, [1, -20, 3]),
        (("12.50", "8.00", "7"), ",", {}, [12.5, 8.0, 7]),
        (("0.5", "-0.25"), ",", {}, [0.5, -0.25]),
        (("1", "", "  ", "2"), ",", {}, [1, None, None, 2]),
        (("", ""), ",", {}, NOT),
        (("1", "n/a"), ",", {}, NOT),
        (("1", "007"), ",", {}, NOT),
        (("00.5",), ",", {}, NOT),
        (("+39",), ",", {}, NOT),
        (("-0",), ",", {}, NOT),
        (("-0.00",), ",", {}, NOT),
        (("1e5",), ",", {}, NOT),
        (("12%",), ",", {}, NOT),
        (("٣",), ",", {}, NOT),
        ((".5",), ",", {}, NOT),
        (("5.",), ",", {}, NOT),
        (("9007199254740991", "-9007199254740991"), ",", {}, [2**53 - 1, 1 - 2**53]),
        (("9007199254740992",), ",", {}, NOT),
        (("9" * 400,), ",", {}, NOT),
        (("0.1234567890123456",), ",", {}, NOT),
        # Editions are no amounts.
        (("1.9", "1.10"), ",", {}, NOT),
        (("1.9", "1.11"), ",", {}, [1.9, 1.11]),
        (("1.90", "1.10"), ",", {}, [1.9, 1.1]),
        # Decimal commas.
        (("12,50", "8,00", "7"), ";", {}, [12.5, 8.0, 7]),
        (("12,50", "-3,75"), "\t", {}, [12.5, -3.75]),
        (("1,5", "2,5"), ",", {}, NOT),
        (("1,5", "2.5"), ";", {}, NOT),
        (("1,234", "2,500"), ";", {}, NOT),
        (("1,234", "2,5"), ";", {}, [1.234, 2.5]),
        (("0,125", "1,250"), ";", {}, [0.125, 1.25]),
        (("1234,125", "1,250"), ";", {}, [1234.125, 1.25]),
        (("1.234", "2.500"), ";", {}, NOT),
        (("1.234", "2.500"), ",", {}, [1.234, 2.5]),
        (("1.25",), ";", {}, [1.25]),
        (("1.234,50",), ";", {}, NOT),
        (("1.234.567",), ";", {}, NOT),
        (("1,234", "2,500"), ";", {"decimal": ","}, [1.234, 2.5]),
        (("1,5",), ",", {"decimal": ","}, [1.5]),
        (("1.5",), ",", {"decimal": ","}, NOT),
        (("1.234",), ";", {"decimal": "."}, [1.234]),
        (("1,5",), ";", {"decimal": "."}, NOT),
    ],
)
def test_columns_that_are_plainly_numbers_are_learned(
    shipped: Shipped, cells: tuple[str, ...], delimiter: str, args: dict[str, Any], expected: list[Any] | None
) -> None:
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows([("n", "t"), *((cell, "x") for cell in cells)])
    put(shipped, out.getvalue())
    data = shipped.data("read_files_csv", path="x", delimiter=delimiter, **args)
    found = [row["n"] for row in rows(data)]
    assert found == (list(cells) if expected is None else expected)
    assert [type(cell) for cell in found] == [type(cell) for cell in (cells if expected is None else expected)]


def test_a_column_is_one_thing_in_all_files(shipped: Shipped) -> None:
    put(shipped, "id,n,only\n1,10,1\n", "one.csv")
    put(shipped, "id,n\nA2,20\n", "two.csv")
    data = shipped.data("read_files_csv", files=["one.csv", "two.csv"])
    assert rows(data) == [{"id": "1", "n": 10, "only": 1}, {"id": "A2", "n": 20}]


def test_whether_a_column_holds_numbers_nobody_has_to_know(shipped: Shipped) -> None:
    put(shipped, "id,year,total\n1,2025,12.50\n2,2026,8.00\n", "orders.csv")
    put(shipped, "id,name\n1,Ada\n2,Bob\nA3,Cy\n", "people.csv")
    orders = shipped.data("read_files_csv", path="orders.csv")["entries"]
    people = shipped.data("read_files_csv", path="people.csv")["entries"]

    def kept(field: str, op: str, value: Any, entries: list[Any]) -> list[Any]:
        data = shipped.data("filter_entries", entries=entries, field=field, op=op, value=value)
        return [entry["id"] for entry in data["entries"]]

    assert kept("year", "eq", "2026", orders) == [2]
    assert kept("year", "ne", "2026", orders) == [1]
    assert kept("year", "in", ["2026", "x"], orders) == [2]
    assert kept("year", "contains", "202", orders) == [1, 2]
    assert kept("year", "contains", 25, orders) == [1]
    assert kept("year", "starts_with", 2026, orders) == [2]
    assert kept("year", "matches", "5$", orders) == [1]
    assert kept("total", "gt", "8.5", orders) == [1]
    assert kept("total", "eq", "12.50", orders) == [1]
    assert kept("total", "contains", "8", orders) == [2]
    assert kept("id", "eq", 1, people) == ["1"]
    assert kept("id", "contains", 3, people) == ["A3"]
    assert shipped.error("filter_entries", entries=people, field="id", op="gt", value=1)[1] == "value-type"
    joined = shipped.data("join_entries", entries=orders, other=people, on="id")["entries"]
    assert [entry["name"] for entry in joined] == ["Ada", "Bob"]


@pytest.mark.parametrize(
    ("raw", "args", "code", "said"),
    [
        ("a,b\n1\n", {}, "row-length", "line 2: 1 cells under 2 columns"),
        ("a,b\n1,2,3\n", {"ragged": "pad"}, "row-length", "line 2: 3 cells"),
        ("a,a\n1,2\n", {}, "duplicate-column", "two columns are called a"),
        ("a,b\n1,2\n", {"columns": ["p", "p"]}, "duplicate-column", "called p"),
        ("a,b\n1,x\n", {"numbers": ["b"]}, "value-type", "line 2, b: 'x' is no number"),
        ('a,b\n1,"1,234"\n', {"numbers": ["b"]}, "value-type", "is no number"),
        ("a;b\n1;1.234\n", {"numbers": ["b"], "decimal": ","}, "value-type", "is no number"),
        ("a,b\n1,nan\n", {"numbers": ["b"]}, "value-type", "is no number"),
        ("a,b\n1,٣\n", {"numbers": ["b"]}, "value-type", "is no number"),
        ("a,b\n1,1e999\n", {"numbers": ["b"]}, "integer-range", "beyond"),
        ("a,b\n1," + "9" * 30 + "\n", {"numbers": ["b"]}, "integer-range", "beyond"),
        ("a,b\n1,9007199254740992\n", {"numbers": ["b"]}, "integer-range", "beyond"),
        ('a,b\n1,"2\n', {}, "bad-csv", "line 2"),
        ("a,b\n1,2\0\n", {}, "not-text", "no text in utf-8"),
        (b"a,b\n1,\xe9\n", {}, "not-text", "no text in utf-8"),
    ],
)
def test_what_is_no_table_is_an_error_with_its_line(
    shipped: Shipped, raw: str | bytes, args: dict[str, Any], code: str, said: str
) -> None:
    put(shipped, "a\n", "good")
    put(shipped, raw)
    outcome = shipped(
        "read_files_csv", files=[{"path": "x"}, "good"], **{"delimiter": ",", **args} if ";" not in str(raw) else args
    )
    assert outcome.error is not None
    assert (outcome.error.cls, outcome.error.code, outcome.error.where) == ("data", code, "/files/0")
    assert said in outcome.error.message
    assert "x" in outcome.error.message


def test_arguments_of_csv(shipped: Shipped) -> None:
    put(shipped, "a,b\n1,2\n")
    assert shipped.error("read_files_csv", path="x", numbers=["c"]) == ("arguments", "unknown-column", "/path")
    assert shipped.error("read_files_csv", path="x", encoding="hex") == ("arguments", "unknown-encoding", "/encoding")
    assert shipped.error("read_files_csv", path="x", max_bytes=3) == ("oversize", "too-large", "/path")
    assert shipped.error("read_files_csv", path="gone") == ("missing", "not-found", "/path")


def test_several_tables_and_how_they_were_read(shipped: Shipped) -> None:
    put(shipped, "a,b\n1,2\n3,4\n", "one.csv")
    put(shipped, "a;c\n5;6\n", os.fsdecode(b"tw\xf2.csv"))
    found = shipped.data("find_files")["entries"]
    data = shipped.data("read_files_csv", files=found)
    assert rows(data) == [{"a": 1, "b": 2}, {"a": 3, "b": 4}, {"a": 5, "c": 6}]
    assert data["files"] == [
        {"path": "one.csv", "rows": 2, "columns": ["a", "b"], "delimiter": ","},
        {"path": "tw\ufffd.csv", "rows": 1, "columns": ["a", "c"], "delimiter": ";"},
    ]


def test_rows_that_were_left_out_are_told(shipped: Shipped) -> None:
    put(shipped, "a,b\n\n1\n2,3\n4,5\n6,7\n")
    outcome = shipped("read_files_csv", path="x", ragged="drop", max_rows=2, delimiter=",")
    assert rows(outcome.data) == [{"a": 2, "b": 3}, {"a": 4, "b": 5}]
    assert outcome.truncated
    assert outcome.data["truncated"] is True
    assert outcome.counters == {"blank": 1, "dropped": 1}
    assert outcome.warnings == ("dropped: 1 rows",)
    assert "truncated" not in shipped.data("read_files_csv", path="x", ragged="drop", max_rows=3, delimiter=",")


CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\0\r", exclude_categories=["Cs"]), max_size=6)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=6), st.sampled_from([",", ";", "\t", "|"]))
def test_what_a_writer_writes_reads_back(shipped: Shipped, table: list[tuple[str, str]], delimiter: str) -> None:
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerows([("p", "q"), *table])
    put(shipped, out.getvalue())
    expected = [{"p": one, "q": other} for one, other in table]
    assert rows(shipped.data("read_files_csv", path="x", delimiter=delimiter)) == expected


# --- JSON ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "args", "expected"),
    [
        ('[{"a": 1}, {"b": [2.5, null]}]', {}, [{"a": 1}, {"b": [2.5, None]}]),
        ('{"a": 1}', {}, [{"a": 1}]),
        ('[1, "x", null]', {}, [{"value": 1}, {"value": "x"}, {"value": None}]),
        ("3", {}, [{"value": 3}]),
        ('{"data": {"a/b": [{"x": 1}]}}', {"at": "/data/a~1b"}, [{"x": 1}]),
        ('[[{"x": 1}], [{"y": 2}]]', {"at": "/1"}, [{"y": 2}]),
        ('{"a": 1}\n\n{"a": 2}\r\n', {"format": "lines"}, [{"a": 1}, {"a": 2}]),
        ('{"r": {"a": 1}}\n{"r": [2]}', {"format": "lines", "at": "/r"}, [{"a": 1}, {"value": [2]}]),
        ('"\\ud83d\\ude00"', {}, [{"value": "\U0001f600"}]),
        ("[]", {}, []),
        ("\ufeff[]", {}, []),
        ('{"è": 1}'.encode("utf-16"), {}, [{"è": 1}]),
    ],
)
def test_records(shipped: Shipped, raw: str | bytes, args: dict[str, Any], expected: list[Any]) -> None:
    put(shipped, raw)
    assert rows(shipped.data("read_files_json", path="x", **args)) == expected


@pytest.mark.parametrize(
    ("raw", "args", "code", "said"),
    [
        ('{"a": 1, "a": 2}', {}, "duplicate-key", "'a' is given twice"),
        ('{"x": 1}\n{"a": 1, "a": 1}', {"format": "lines"}, "duplicate-key", "line 2"),
        ("[NaN]", {}, "not-finite", "NaN"),
        ("[-Infinity]", {}, "not-finite", "Infinity"),
        ("[1e400]", {}, "not-finite", "1e400"),
        ("[9007199254740992]", {}, "integer-range", "9007199254740992"),
        ("[" + "9" * 5000 + "]", {}, "integer-range", "999"),
        ('["\\ud800"]', {}, "lone-surrogate", "surrogate"),
        ("[" * 100_000, {}, "too-deep", "nested deeper"),
        ('{"a":' * 29 + "1" + "}" * 29, {}, "too-deep", "nested deeper"),
        ('{"a": 1,}', {}, "bad-json", "line 1, column"),
        ('{"a": 1}\n{"a": 2}', {}, "bad-json", "line 2, column 1"),
        ('{"a": 1}\nx', {"format": "lines"}, "bad-json", "line 2, column 1"),
        ("", {}, "bad-json", "line 1"),
        ("'a'", {}, "bad-json", "line 1"),
        ('{"a": [1]}', {"at": "/b"}, "value-missing", "the whole has no 'b'"),
        ('{"a": [1]}', {"at": "/a/1"}, "value-missing", "/a has no '1'"),
        ('{"a": [1]}', {"at": "/a/00"}, "value-missing", "/a has no '00'"),
        ('{"a": 1}', {"at": "/a/b"}, "value-missing", "/a has no 'b'"),
        (b'"\xff"', {}, "not-text", "no text"),
        (b'"\0"', {}, "not-text", "no text"),
    ],
)
def test_what_is_not_strict_is_refused(
    shipped: Shipped, raw: str | bytes, args: dict[str, Any], code: str, said: str
) -> None:
    put(shipped, raw)
    outcome = shipped("read_files_json", files=[{"path": "x"}], **args)
    assert outcome.error is not None
    assert (outcome.error.cls, outcome.error.code, outcome.error.where) == ("data", code, "/files/0")
    assert said in outcome.error.message


def test_brackets_within_text_are_not_nested(shipped: Shipped) -> None:
    put(shipped, json.dumps({"a": "[" * 50 + '"' + "\\", "b": "{" * 50}))
    assert rows(shipped.data("read_files_json", path="x")) == [{"a": "[" * 50 + '"\\', "b": "{" * 50}]


def test_arguments_of_json(shipped: Shipped) -> None:
    put(shipped, "[1, 2, 3]")
    for pointer in ("a", "/~2", "/~"):
        assert shipped.error("read_files_json", path="x", at=pointer) == ("arguments", "bad-pointer", "/at")
    assert shipped.error("read_files_json", path="x", encoding="hex") == ("arguments", "unknown-encoding", "/encoding")
    assert shipped.error("read_files_json", path="x", max_bytes=3) == ("oversize", "too-large", "/path")
    assert shipped.error("read_files_json", path="gone") == ("missing", "not-found", "/path")
    outcome = shipped("read_files_json", files=["x", "x"], max_rows=4)
    assert [each["value"] for each in rows(outcome.data)] == [1, 2, 3, 1]
    assert outcome.data["truncated"] is True
    assert outcome.truncated
    assert "truncated" not in shipped.data("read_files_json", files=["x", "x"], max_rows=6)


def test_the_name_says_that_there_is_a_value_a_line(shipped: Shipped) -> None:
    for name in ("x.jsonl", "X.NDJSON"):
        put(shipped, '{"a": 1}\n{"a": 2}\n', name)
        assert len(rows(shipped.data("read_files_json", path=name))) == 2
    assert shipped.error("read_files_json", path="x.jsonl", format="json")[1] == "bad-json"


DATA = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(st.lists(st.dictionaries(st.text(max_size=3), DATA, max_size=3), max_size=4), st.booleans())
def test_what_was_dumped_reads_back(shipped: Shipped, records: list[Any], ascii_only: bool) -> None:
    put(shipped, json.dumps(records, ensure_ascii=ascii_only))
    assert rows(shipped.data("read_files_json", path="x")) == records
    put(shipped, "".join(json.dumps(each, ensure_ascii=ascii_only) + "\n" for each in records), "y.jsonl")
    assert rows(shipped.data("read_files_json", path="y.jsonl")) == records
