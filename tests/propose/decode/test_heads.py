"""Columns of a table that may be looked at: what the header confirms, as it is spelled; all else is no column."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from metnos.checks.model import CheckContext
from metnos.propose.decode.heads import matching
from metnos.propose.decode.loop import Decoder
from metnos.propose.decode.offers import Offers
from metnos.propose.decode.state import begin
from metnos.propose.decode.styles import LINES
from metnos.request.understand import understand
from metnos.testing.deciding import accepts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from metnos.propose.decode.state import Checks, Plan


class Tables:
    """A folder with tables of these headers."""

    def __init__(self, **headers: str) -> None:
        self.headers = {f"{name}.csv": header.split(",") for name, header in headers.items()}
        self.asked: list[str] = []

    def __call__(self, name: str) -> bool:
        return name in self.headers

    def columns(self, file: str, passages: Sequence[str]) -> Mapping[str, str] | None:
        self.asked += passages
        return matching(self.headers[file], passages) if file in self.headers else None

    def numbers(self, file: str, columns: Sequence[str]) -> frozenset[str]:
        return frozenset(columns) & {"Amount", "weekly_hours"} if file in self.headers else frozenset()


@pytest.mark.parametrize(
    ("header", "passage", "column"),
    [
        ("Amount,who", "amount", "Amount"),
        ("Amount,amount", "amount", "amount"),
        ("weekly_hours,name", "Weekly Hours", "weekly_hours"),
        ("weekly_hours,name", "hours", "weekly_hours"),
        ("weeklyHours,name", "weekly-hours", "weeklyHours"),
        ("weekly_hours,daily_hours", "hours", None),
        ("category,total", "categories", "category"),
        ("box,total", "boxes", "box"),
        ("Categoria,importo", "categorie", "Categoria"),
        ("spese,importi", "importo", "importi"),
        ("luogo,data", "luoghi", "luogo"),
        ("banca,data", "banche", "banca"),
        ("viaggio,data", "viaggi", "viaggio"),
        ("città,cap", "citta\u0300", "città"),
        ("id,who", "ids", None),
        ("amount,who", "amount who", None),
        ("amount,who", "travel", None),
        ("amount,who", "-", None),
    ],
)
def test_a_passage_means_a_column_by_its_normal_form(header: str, passage: str, column: str | None) -> None:
    assert matching(header.split(","), [passage]).get(passage) == column


@pytest.mark.parametrize(
    ("text", "named", "by", "reckoned"),
    [
        ("how much did we spend on travel? it is in x.csv", [], [], []),
        ("the two highest entries by amount in x.csv, with the client", ["Amount", "client"], ["Amount"], []),
        ("average of the weekly hours in x.csv", ["weekly_hours"], [], ["weekly_hours"]),
        ("the rows of x.csv where category is travel", ["category"], [], []),
        ("sum of amounts by client and category in x.csv",
         ["Amount", "client", "category"], ["client", "category"], ["Amount"]),
        ("rows of x.csv with weekly hours over 30", ["weekly_hours"], [], ["weekly_hours"]),
        ('x.csv: the sum of "amount" per "client"', ["Amount", "client"], ["client"], ["Amount"]),
    ],
)  # fmt: skip
def test_what_the_header_does_not_confirm_is_no_column(
    text: str, named: list[str], by: list[str], reckoned: list[str]
) -> None:
    tables = Tables(x="Amount,category,client,weekly_hours")
    columns = Offers(understand(text), tables).columns
    assert [value.data for value in columns.named] == named
    assert [value.data for value in columns.apart] == by
    assert [value.data for value in columns.reckoned] == reckoned
    assert all(passage in text for passage in tables.asked)


def test_where_no_header_can_be_read_words_decide() -> None:
    text = "sum of amount by region in y.csv"
    for there in (Tables(x="a,b"), None, lambda name: name == "y.csv"):
        columns = Offers(understand(text), there).columns
        assert columns.confirmed is None
        assert [value.data for value in columns.named] == ["amount", "region"]


X: Plan = {"tool": "read_files_csv", "args": {"path": "x.csv"}}


@pytest.mark.parametrize(
    ("text", "written", "fits"),
    [
        (
            "how much did we spend on travel? it is in x.csv",
            '2 filter_entries <1 field="*" op="eq" value="travel"',
            True,
        ),
        (
            "how much did we spend on travel? it is in x.csv",
            '2 filter_entries <1 field="travel" op="eq" value="x"',
            False,
        ),
        ("how much did we spend on travel? it is in x.csv", '2 compute_stats <1 field="*"', True),
        ("how much did we spend on travel? it is in x.csv", '2 compute_stats <1 field="travel"', False),
        ("how many rows has x.csv?", "2 compute_stats <1", True),
        ("how many times is travel a category in x.csv?", '2 compute_stats <1 field="category"', False),
        (
            "how many times is travel a category in x.csv?",
            '2 filter_entries <1 field="category" op="eq" value="travel"',
            True,
        ),
        ("sort x.csv by amount", '2 sort_entries <1 by="Amount" order="asc"', True),
        ("sort x.csv by amount", '2 sort_entries <1 by="*" order="asc"', False),
        ("sort x.csv", '2 sort_entries <1 by="*" order="asc"', True),
        ("sum of amount per client in x.csv", '2 group_entries <1 by="client" field="Amount"', True),
        ("sum of amount per client in x.csv", '2 group_entries <1 by="*" field="Amount"', False),
        ("sum of the amount in x.csv", '2 filter_entries <1 field="Amount" op="gt" value=0', False),
        ("rows of x.csv with a positive amount", '2 filter_entries <1 field="Amount" op="gt" value=0', True),
        ("sum of the category in x.csv", '2 compute_stats <1 field="category"', False),
        ("sum of the category in x.csv", '2 compute_stats <1 field="*"', True),
        ("sum of the amount in x.csv", '2 compute_stats <1 field="Amount"', True),
        ("count the clients of each category in x.csv", '2 group_entries <1 by="category" field="client"', False),
        ("rows of x.csv where category is travel", '2 filter_entries <1 field="category" op="eq" value="travel"', True),
        ("rows of x.csv where category is travel", '2 filter_entries <1 field="*" op="eq" value="category"', False),
    ],
)
def test_lines(shipped: Checks, text: str, written: str, fits: bool) -> None:
    request = understand(text)
    names = shipped.validator._catalog.names()  # pyright: ignore[reportPrivateUsage]
    there = Tables(x="Amount,category,client,weekly_hours")
    of = Decoder(shipped, names, request, CheckContext(source="model", request=request), there=there)
    sofar = begin(shipped, request, of.context, (X,))
    assert accepts(LINES.grammar(of.tools.line(sofar)), f"{written}\n") is fits
