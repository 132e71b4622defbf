"""Values that stand in the tables that a request names: real files, asked through the door that the program has."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from metnos.checks.model import CheckContext
from metnos.drivers.looking import MOST_HELD, looks
from metnos.plan.jsondata import spell
from metnos.propose.decode.cells import Cells, forms_of, found_in
from metnos.propose.decode.loop import Decoder
from metnos.propose.decode.offers import Offers
from metnos.propose.decode.segments import is_first_of_all
from metnos.propose.decode.state import begin
from metnos.propose.decode.styles import LINES
from metnos.propose.decode.truths import WORDS
from metnos.request.understand import understand
from metnos.settings import load_settings
from metnos.testing.deciding import accepts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from metnos.drivers.looking import Looks
    from metnos.propose.decode.cells import Found
    from metnos.propose.decode.state import Checks, Plan

ROWS = """client,city,state,note,due,amount
Ada,Forlì,aperta,paid by card,monday,10
Leo,Leeds,chiusa,the blue box,tuesday,20
Mia,Forlì,on hold,total loss,monday,30
Orders,open,city bike,see Leo,friday,40
"""


@pytest.fixture
def there(tmp_path: Path) -> Looks:
    work, home = tmp_path / "work", tmp_path / "home"
    (work / "Leeds").mkdir(parents=True)
    home.mkdir()
    (work / "orders.csv").write_text(ROWS, encoding="utf-8")
    (work / "more.jsonl").write_text('{"who": "Zoë", "n": 3}\n{"who": "Ada", "done": true}\n', encoding="utf-8")
    (work / "all.json").write_text(json.dumps([{"who": "Zoë"}, {"who": "Ada", "city": "Rome"}]), encoding="utf-8")
    (work / "long.csv").write_text("who\n" + "Ada\n" * (MOST_HELD // 4), encoding="utf-8")
    (work / "wide.csv").write_text(f"who\n{'x' * 200_000}\n", encoding="utf-8")
    return looks(load_settings(home=home, folder=work))


@pytest.mark.parametrize(
    ("file", "passages", "whole", "parts"),
    [
        ("orders.csv", ["ada", "FORLI\u0300", "Box", "blue box", "blu", "20", "client"],
         {"ada": {0}, "FORLI\u0300": {1}, "20": {5}}, {"Box": {3}, "blue box": {3}}),
        ("orders.csv", ["Leo"], {"Leo": {0}}, {"Leo": {3}}),
        ("more.jsonl", ["zoë", "3", "true", "who"], {"zoë": {0}}, {}),
        ("all.json", ["Rome", "Ada"], {"Rome": {1}, "Ada": {0}}, {}),
    ],
)  # fmt: skip
def test_a_table_is_asked(
    there: Looks, file: str, passages: list[str], whole: dict[str, set[int]], parts: dict[str, set[int]]
) -> None:
    found = there.cells(file, passages, ["city", "gone"])
    assert found is not None
    assert found.whole == whole
    assert found.parts == parts
    assert found.columns.keys() <= {"city"}


@pytest.mark.parametrize("file", ["long.csv", "wide.csv", "gone.csv", "Leeds", "../home/x.csv", "x\0y.csv"])
def test_of_what_cannot_be_looked_through_nothing_is_known(there: Looks, file: str) -> None:
    assert there.cells(file, ["Ada"], []) is None


def test_columns_that_were_not_asked_about_are_numbers_only() -> None:
    found = found_in({"secret": ["a"], "city": ["b"]}, ["a", "b"], ["city"])
    assert "secret" not in repr(found)
    assert found.columns == {"city": 1}


@pytest.mark.parametrize(
    ("word", "form"),
    [
        ("aperte", "aperta"), ("Aperti", "Aperta"), ("banche", "banca"), ("luoghi", "luogo"), ("banca", "banche"),
        ("architects", "architect"), ("architect", "architects"), ("boxes", "box"), ("categories", "category"),
        ("category", "categories"),
    ],
)  # fmt: skip
def test_the_forms_of_a_word(word: str, form: str) -> None:
    assert form in forms_of(word)


@pytest.mark.parametrize("word", ["ads", "a-b-c-s", "12345", "box"])
def test_what_is_short_or_no_word_has_no_other_form(word: str) -> None:
    assert list(forms_of(word)) == []


@pytest.mark.parametrize(
    ("text", "language", "owed"),
    [
        ("how many of the clients in orders.csv are from Forlì?", "en", ["Forlì"]),
        ("sum of the amount in orders.csv", "en", []),
        ("total amount of ada and leo, orders.csv", "en", ["ada", "leo"]),
        ("orders.csv: the rows where state is chiusa", "en", ["chiusa"]),
        ("the orders on hold, from orders.csv", "en", ["on hold"]),
        ("what do Leo's orders come to, orders.csv", "en", ["Leo"]),
        ("how many open ones has orders.csv?", "en", ["open"]),
        ("open orders.csv", "en", []),
        ("how much for a city bike in orders.csv", "en", ["city bike"]),
        ("the rows of orders.csv by city", "en", []),
        ("what is due monday, orders.csv", "en", ["monday"]),
        ("the rows of Leeds in orders.csv", "en", []),
        ("quanti ordini aperti ci sono in orders.csv?", "it", ["aperta"]),
        ("quante righe di Ada e di Leo ha orders.csv?", "it", ["Ada", "Leo"]),
        ("how many rows of Ada has long.csv?", "en", []),
        ("how many rows of Ada are there", "en", []),
    ],
)  # fmt: skip
def test_what_says_which_rows(there: Looks, text: str, language: str, owed: list[str]) -> None:
    held = Offers(understand(text, language), there).held
    assert [cell.value.data for cell in held.cells if cell.owed] == owed


class Asked:
    """Who looks, and what they were asked."""

    def __init__(self, looks: Looks) -> None:
        self.looks = looks
        self.passages: list[str] = []

    def __call__(self, name: str) -> bool:
        return self.looks(name)

    def columns(self, file: str, passages: Sequence[str]) -> Mapping[str, str] | None:
        return self.looks.columns(file, passages)

    def numbers(self, file: str, columns: Sequence[str]) -> frozenset[str]:
        return self.looks.numbers(file, columns)

    def cells(self, file: str, passages: Sequence[str], columns: Sequence[str]) -> Found | None:
        self.passages += passages
        return self.looks.cells(file, passages, columns)


def test_passages_are_bounded_and_of_the_request(there: Looks) -> None:
    asked = Asked(there)
    assert isinstance(asked, Cells)
    text = "rows of Forlì in orders.csv " + " ".join(f"word{at}" for at in range(2000)) + " " + "x" * 5000
    assert Offers(understand(text), asked).held.cells
    said = {passage for passage in asked.passages if passage in text}
    others = set(asked.passages) - said - set(WORDS)
    assert len(asked.passages) < 2000
    assert max(map(len, asked.passages)) <= 80
    assert all(any(other.startswith(word[:3]) for word in text.split()) for other in others)


READ: Plan = {"tool": "read_files_csv", "args": {"path": "orders.csv"}}


@pytest.mark.parametrize(
    ("text", "written", "fits"),
    [
        ("how many clients in orders.csv are from Forlì?", 'field="*" op="eq" value="Forlì"', True),
        ("how many clients in orders.csv are from Forlì?", 'field="client" op="eq" value="Forlì"', False),
        ("the city Forlì in orders.csv", 'field="city" op="eq" value="Forlì"', True),
        ("the city Forlì in orders.csv", 'field="*" op="gt" value="Forlì"', False),
        ("the city Forlì in orders.csv", 'field="*" op="contains" value="Forlì"', False),
        ("rows of orders.csv that contain Forlì", 'field="*" op="contains" value="Forlì"', True),
        ("rows of orders.csv of Ada and of Leo", 'field="*" op="in" value=["Ada","Leo"]', True),
        ("rows of orders.csv of Ada and of Leo", 'field="*" op="eq" value="Ada"', False),
        ("rows of orders.csv of Ada from Forlì", 'field="*" op="eq" value="Ada"', True),
        ("rows of orders.csv of Ada from Forlì", 'field="*" op="in" value=["Ada","Forlì"]', False),
        ("rows of orders.csv with amount over 15 that went", 'field="amount" op="gt" value=15', True),
        ("rows of orders.csv with amount over 15 that went", 'field="amount" op="gt" value="went"', False),
        ("rows of orders.csv with client over 15", 'field="client" op="gt" value=15', False),
        ("rows of orders.csv where city is Paris", 'field="city" op="eq" value="Paris"', True),
        ("rows of orders.csv where city is Paris", 'field="*" op="eq" value="rows"', False),
        ("the orders that are still on hold in orders.csv", 'field="*" op="eq" value="still"', False),
        ("the orders that are still on hold in orders.csv", 'field="*" op="eq" value="on hold"', True),
        ('rows of orders.csv with the note "blue"', 'field="note" op="contains" value="blue"', True),
        ("rows of orders.csv about a blue thing", 'field="*" op="contains" value="blue"', True),
    ],
)  # fmt: skip
def test_comparisons(shipped: Checks, there: Looks, text: str, written: str, fits: bool) -> None:
    of = _decoder(shipped, there, text)
    line = of.tools.line(begin(shipped, of.request, of.context, (READ,)))
    assert accepts(LINES.grammar(line), f"2 filter_entries <1 {written}\n") is fits


def _decoder(shipped: Checks, there: Looks, text: str, language: str = "en") -> Decoder:
    request = understand(text, language)
    names = shipped.validator._catalog.names()  # pyright: ignore[reportPrivateUsage]
    return Decoder(shipped, names, request, CheckContext(source="model", request=request), there=there)


def test_the_line_behind_the_table_narrows_it(shipped: Checks, there: Looks) -> None:
    of = _decoder(shipped, there, "sum of the amount for Forlì in orders.csv")
    first = of.tools.line(begin(shipped, of.request, of.context))
    assert "read_files_csv" in {form.tool for form in first.forms}
    second = of.tools.line(begin(shipped, of.request, of.context, (READ,)))
    assert {form.tool for form in second.forms} == {"filter_entries"}
    assert not second.ends
    kept: Plan = {"tool": "filter_entries", "args": {"from_step": 1, "field": "*", "op": "eq", "value": "Forlì"}}
    third = of.tools.line(begin(shipped, of.request, of.context, (READ, kept)))
    assert "compute_stats" in {form.tool for form in third.forms}
    assert not of.tools.values.rows(begin(shipped, of.request, of.context, (READ, kept)))


def test_no_name_of_a_column_that_was_not_said(shipped: Checks, there: Looks) -> None:
    of = _decoder(shipped, there, "sum of the amount for Forlì in orders.csv")
    grammar = LINES.grammar(of.tools.line(begin(shipped, of.request, of.context, (READ,))))
    assert "city" not in grammar
    assert "state" not in grammar


def test_a_value_names_no_folder_unless_one_is_there(there: Looks) -> None:
    offers = Offers(understand("rows of Ada in Forlì, and in Leeds: orders.csv", "en"), there)
    assert spell("Forlì") not in {value.json for value in offers.folders}
    assert spell("Leeds") in {value.json for value in offers.folders}


def test_what_a_table_holds_is_compared_in_any_case(shipped: Checks, there: Looks) -> None:
    of = _decoder(shipped, there, "rows of orders.csv where city is forlì and client is 'Ada'")
    step: Plan = {"tool": "filter_entries", "args": {"from_step": 1, "field": "city", "op": "eq", "value": "forlì"}}
    assert of.tools.completed(step)["args"]["ignore_case"] is True
    open_one: Plan = {**step, "args": {**step["args"], "field": "*"}}
    assert "ignore_case" not in of.tools.completed(open_one)["args"]


DAYS = "date,amount,phone\n2026-09-02,10,0543 1\n2026-10-01,20,0543 2\n2025-10-09,30,0543 3\n"


@pytest.mark.parametrize(
    ("text", "language", "written"),
    [
        ("what did we spend in September? days.csv", "en", 'op="contains" value="-09-"'),
        ("what did we spend in September 2026? days.csv", "en", 'op="starts_with" value="2026-09-"'),
        ("days.csv: what did we spend in October 2025 in all", "en", 'op="starts_with" value="2025-10-"'),
        ("the September expenses, days.csv", "en", 'op="contains" value="-09-"'),
        ("total of amount in 2025, days.csv", "en", 'op="starts_with" value="2025-"'),
        ("le spese di settembre in days.csv", "it", 'op="contains" value="-09-"'),
        ("quanto nel 2025? days.csv", "it", 'op="starts_with" value="2025-"'),
    ],
)
def test_a_month_says_which_rows_of_a_column_of_days(
    shipped: Checks, there: Looks, tmp_path: Path, text: str, language: str, written: str
) -> None:
    (tmp_path / "work" / "days.csv").write_text(DAYS, encoding="utf-8")
    of = _decoder(shipped, there, text, language)
    read: Plan = {"tool": "read_files_csv", "args": {"path": "days.csv"}}
    line = of.tools.line(begin(shipped, of.request, of.context, (read,)))
    assert accepts(LINES.grammar(line), f'2 filter_entries <1 field="*" {written}\n')
    assert {form.tool for form in line.forms} == {"filter_entries"}
    assert not of.offers.counts


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        (DAYS, "what did we spend in March? days.csv"),
        (DAYS, "what did we spend before September? days.csv"),
        (DAYS, "what did we spend in September and in October? days.csv"),
        (DAYS, "may we see days.csv"),
        ("date,phone\n2026-09-02,02-09-33\n", "what did we spend in September? days.csv"),
        ("phone\n02-09-33\n", "what did we spend in September? days.csv"),
    ],
)
def test_no_month_says_so_elsewhere(there: Looks, tmp_path: Path, rows: str, text: str) -> None:
    (tmp_path / "work" / "days.csv").write_text(rows, encoding="utf-8")
    assert [cell for cell in Offers(understand(text, "en"), there).held.cells if cell.owed] == []


def test_a_table_that_is_still_to_be_written_is_not_looked_for(there: Looks) -> None:
    held = Offers(understand("save the rows of Ada in orders.csv to ada.csv", "en"), there).held
    assert held.tables == ("orders.csv",)
    assert [cell.value.data for cell in held.cells if cell.owed] == ["Ada"]


MEMBERS = "name,paid,pagata,answer\nAda,yes,sì,no\nLeo,no,no,maybe\nMia,no,sì,\n"
BOOKS = '{"title": "Dune", "returned": true}\n{"title": "Emma", "returned": false}\n'


@pytest.mark.parametrize(
    ("text", "language", "column", "values", "owed"),
    [
        ("which members have not paid? members.csv", "en", "paid", ["no"], True),
        ("which members haven't paid yet? members.csv", "en", "paid", ["no"], True),
        ("the members who have paid, members.csv", "en", "paid", ["yes"], True),
        ("members.csv by name and paid", "en", "paid", ["yes", "no"], False),
        ("the rows of members.csv where paid is no", "en", "paid", ["yes", "no"], False),
        ("i soci che non hanno pagato in members.csv", "it", "pagata", ["no"], True),
        ("quanti hanno già pagato? members.csv", "it", "pagata", ["sì"], True),
        ("which books are not returned, books.jsonl", "en", "returned", [False], True),
        ("the books that were returned, books.jsonl", "en", "returned", [True], True),
    ],
)
def test_columns_of_yes_and_no(
    shipped: Checks,
    there: Looks,
    tmp_path: Path,
    text: str,
    language: str,
    column: str,
    values: list[str | bool],
    owed: bool,
) -> None:
    (tmp_path / "work" / "members.csv").write_text(MEMBERS, encoding="utf-8")
    (tmp_path / "work" / "books.jsonl").write_text(BOOKS, encoding="utf-8")
    of = _decoder(shipped, there, text, language)
    truth = next(each for each in of.offers.held.truths if each.column.data == column)
    assert [value.data for value in truth.values] == values
    assert truth.owed is owed
    file = of.offers.held.tables[0]
    read: Plan = {"tool": "read_files_json" if "json" in file else "read_files_csv", "args": {"path": file}}
    line = of.tools.line(begin(shipped, of.request, of.context, (read,)))
    for value in values:
        written = f'2 filter_entries <1 field="{column}" op="eq" value={spell(value)}\n'
        assert accepts(LINES.grammar(line), written)
    assert ({form.tool for form in line.forms} == {"filter_entries"}) is owed


def test_a_column_of_other_words_says_neither_yes_nor_no(there: Looks, tmp_path: Path) -> None:
    (tmp_path / "work" / "tickets.csv").write_text("id,paid\n1,soon\n2,late\n", encoding="utf-8")
    assert Offers(understand("who has not paid? tickets.csv", "en"), there).held.truths == ()


def test_what_is_asked_of_all_rows_is_reckoned_first(shipped: Checks, there: Looks) -> None:
    of = _decoder(shipped, there, "how many rows are there in orders.csv, and how many of Ada?")
    kept: Plan = {"tool": "filter_entries", "args": {"from_step": 1, "field": "*", "op": "eq", "value": "Ada"}}
    steps: list[Plan] = [READ]
    seen: list[tuple[bool, bool]] = []
    for step in (
        {"tool": "compute_stats", "args": {"from_step": 1}},
        kept,
        {"tool": "compute_stats", "args": {"from_step": 3}},
        None,
    ):
        line = of.tools.line(begin(shipped, of.request, of.context, tuple(steps)))
        tools = {form.tool for form in line.forms}
        assert step is None or step["tool"] in tools
        seen.append(("filter_entries" in tools, line.ends))
        steps += [step] if step is not None else []
    assert [ends for _, ends in seen] == [False, False, False, True]
    assert seen[1] == (True, False)


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("how many rows of Ada are in orders.csv, and how much do they come to?", False),
        ("what is the total and the average of Ada in orders.csv", False),
        ("how many orders are there in orders.csv and how many of Ada", True),
        ("how many orders are there in orders.csv and how many in all", False),
    ],
)
def test_two_questions(shipped: Checks, there: Looks, text: str, first: bool) -> None:
    of = _decoder(shipped, there, text)
    assert is_first_of_all(of.tools.wanted.called) is first


@pytest.mark.parametrize("comma", [",", ", "])
def test_a_blank_may_stand_behind_the_comma_of_a_list(shipped: Checks, there: Looks, comma: str) -> None:
    of = _decoder(shipped, there, "only client and city of orders.csv")
    line = of.tools.line(begin(shipped, of.request, of.context, (READ,)))
    written = f'2 select_fields <1 fields=["client"{comma}"city"]\n'
    assert accepts(LINES.grammar(line), written)
    step, faults = LINES.read(written, 2)
    assert not faults
    assert step is not None
    assert step["args"]["fields"] == ["client", "city"]
