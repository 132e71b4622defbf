"""What is asked of the rows of a table that can be looked at: the most of all, the last ones, figures, what is there twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from metnos.checks.model import CheckContext
from metnos.propose.decode.called import Called
from metnos.propose.decode.heads import matching
from metnos.propose.decode.loop import Decoder
from metnos.propose.decode.offers import Offers
from metnos.propose.decode.state import begin
from metnos.propose.decode.styles import LINES
from metnos.request.understand import understand
from metnos.testing.deciding import accepts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from metnos.propose.decode.rows import Rows
    from metnos.propose.decode.state import Checks, Plan

HEADERS = {
    "trips.csv": "trip,month,climb,guests,date,number",
    "gite.json": "gita,mese,dislivello,iscritti,data",
    "staff.csv": "name,role,weekly_hours,age",
}
NUMBERS = frozenset({"climb", "guests", "number", "dislivello", "iscritti", "weekly_hours", "age"})


class Tables:
    """A folder with these tables, and nothing else."""

    def __call__(self, name: str) -> bool:
        return name in HEADERS

    def columns(self, file: str, passages: Sequence[str]) -> Mapping[str, str] | None:
        return matching(HEADERS[file].split(","), passages) if file in HEADERS else None

    def numbers(self, file: str, columns: Sequence[str]) -> frozenset[str]:
        return NUMBERS.intersection(columns) if file in HEADERS else frozenset()


def language(text: str) -> str:
    return "it" if any(each in text for each in ("gite.json", "doppi", "colonne")) else "en"


def rows(text: str) -> Rows:
    return Offers(understand(text, language(text)), Tables()).rows


def line(checks: Checks, text: str, *steps: Plan) -> str:
    request = understand(text, language(text))
    names = checks.validator._catalog.names()  # pyright: ignore[reportPrivateUsage]
    of = Decoder(checks, names, request, CheckContext(source="model", request=request), there=Tables())
    sofar = begin(checks, request, of.context, steps)
    assert sofar.checked.ok
    return LINES.grammar(of.tools.line(sofar))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("who puts in the fewest hours, says staff.csv?", [("weekly_hours", "asc", 1)]),
        ("which trip of trips.csv has the most guests?", [("guests", "desc", 1)]),
        ("the trip with the highest climb in trips.csv", [("climb", "desc", 1)]),
        ("the three biggest trips by guests in trips.csv", [("guests", "desc", 3)]),
        ("top 2 trips of trips.csv by climb", [("climb", "desc", 2)]),
        ("the biggest of trips.csv: its month and number", [("*", "desc", 1)]),
        ("the largest trips of trips.csv", [("*", "desc", None)]),
        ("who is the oldest by age in staff.csv?", [("age", "desc", 1)]),
        ("which trip has the oldest date in trips.csv?", [("date", "asc", 1)]),
        ("rows of trips.csv by climb, highest first", [("climb", "desc", None)]),
        (
            "which trips of trips.csv have the lowest and the highest climb?",
            [("climb", "asc", 1), ("climb", "desc", 1)],
        ),
        ("qual è la gita con il dislivello maggiore in gite.json?", [("dislivello", "desc", 1)]),
        ("le tre gite con più iscritti di gite.json", [("iscritti", "desc", 3)]),
        ("che gita di gite.json ha meno iscritti?", [("iscritti", "asc", 1)]),
        ("la gita piu bassa di gite.json, e la più alta", [("*", "asc", 1), ("*", "desc", 1)]),
        ("la gita con la data più vecchia in gite.json", [("data", "asc", 1)]),
        # No superlative of a row.
        ("rows of trips.csv with at most 5 guests", []),
        ("gite di gite.json con più di 30 iscritti", []),
        ("gite di gite.json con al massimo 30 iscritti", []),
        ("what is the highest climb in trips.csv?", []),
        ("qual è il dislivello massimo in gite.json?", []),
        ("the largest file beside trips.csv", []),
        ("which trip has the most guests in nowhere.csv?", []),
    ],
)
def test_superlatives_of_rows(text: str, found: list[tuple[str, str, int | None]]) -> None:
    mosts = rows(text).mosts
    named = [(next(iter(most.fields or ())), "desc" if most.down else "asc") for most in mosts]
    assert [(*each, 1 if most.one else most.number) for each, most in zip(named, mosts, strict=True)] == found


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("what is the highest climb in trips.csv?", ["climb"]),
        ("average climb of trips.csv", ["climb"]),
        ("how many guests did we have in trips.csv?", ["guests"]),
        ("how many guests over 30 in trips.csv, and the average climb", ["climb"]),
        ("what does it come to overall in trips.csv?", ["*"]),
        ("how many trips are in trips.csv?", []),
        ("how big is trips.csv in total?", []),
        ("quanti iscritti ci sono in media in gite.json?", ["iscritti"]),
        ("quanto fa in tutto, secondo gite.json?", ["*"]),
        ("quante gite ci sono in gite.json?", []),
    ],
)
def test_columns_that_are_reckoned_with(text: str, columns: list[str]) -> None:
    assert [value.data for value in rows(text).reckoned_with] == columns


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("the last 5 rows of trips.csv", 5),
        ("show me the last trip of trips.csv", 1),
        ("the last trips of trips.csv", 0),
        ("ultime due gite di gite.json", 2),
        ("l'ultima gita di gite.json", 1),
        ("the trips of last month in trips.csv", None),
        ("the last file beside trips.csv", None),
        ("le gite della settimana ultima in gite.json", 1),
        ("le gite dell'ultima settimana in gite.json", None),
    ],
)
def test_the_last_ones(text: str, count: int | None) -> None:
    assert rows(text).end == count


@pytest.mark.parametrize(
    ("text", "certain"),
    [
        ("average climb of trips.csv", True),
        ("che gita di gite.json ha meno iscritti?", True),
        ("average climb of trips.csv in dollars", False),
        ("draw a chart of the total climb in trips.csv", False),
        ("write the average climb of trips.csv to out.txt", False),
        ("the largest of the files beside trips.csv", False),
        ("the rows of trips.csv", False),
        ("average climb of nowhere.csv", False),
    ],
)
def test_code_is_certain_of_what_rows_can_tell_and_of_nothing_else(text: str, certain: bool) -> None:
    assert rows(text).certain == certain


READ: Plan = {"tool": "read_files_csv", "args": {"path": "trips.csv"}}
UP: Plan = {"tool": "sort_entries", "args": {"from_step": 1, "by": "climb", "order": "asc"}}
DOWN: Plan = {"tool": "sort_entries", "args": {"from_step": 1, "by": "climb", "order": "desc"}}
ONE: Plan = {"tool": "take_entries", "args": {"from_step": 2, "count": 1}}
OTHER: Plan = {"tool": "take_entries", "args": {"from_step": 4, "count": 1}}
BOTH = "which trips of trips.csv have the lowest and the highest climb?"
MOST = "which trip of trips.csv has the highest climb?"
TWICE = "ci sono doppioni in clienti?"
FIND: Plan = {"tool": "find_files", "args": {"path": "clienti"}}
HASH: Plan = {"tool": "compute_files_hash", "args": {"from_step": 1}}
KEEP: Plan = {"tool": "dedupe_entries", "args": {"from_step": 2, "by": "digest", "keep": "repeated"}}
LAST: Plan = {"tool": "take_entries", "args": {"from_step": 1, "count": 5, "from": "end"}}
EACH = "the total climb for each month in trips.csv"


@pytest.mark.parametrize(
    ("text", "steps", "written", "fits"),
    [
        (MOST, (), "1 find_files", False),  # only the table is read
        (MOST, (READ,), '2 sort_entries <1 by="climb" order="desc"', True),
        (MOST, (READ,), '2 sort_entries <1 by="climb" order="asc"', False),
        (MOST, (READ,), '2 sort_entries <1 by="month" order="desc"', False),
        (MOST, (READ,), '2 compute_stats <1 field="climb"', False),
        (MOST, (READ,), "2 render_table <1", False),
        (
            "fetch trips of trips.csv with the highest climb",
            (READ,),
            '2 filter_entries <1 field="*" op="eq" value="highest"',
            False,
        ),
        (MOST, (READ, DOWN), "end", False),
        (MOST, (READ, DOWN), "3 take_entries <2 count=1", True),
        (MOST, (READ, DOWN), "3 take_entries <1 count=1", False),
        (MOST, (READ, DOWN, ONE), "end", True),
        (MOST, (READ, DOWN, ONE), "4 compute_stats <3", False),
        (BOTH, (READ, UP, ONE), "end", False),
        (BOTH, (READ, UP, ONE), '4 sort_entries <1 by="climb" order="desc"', True),
        (BOTH, (READ, UP, ONE), '4 sort_entries <1 by="climb" order="asc"', False),
        (BOTH, (READ, UP, ONE), '4 sort_entries <3 by="climb" order="desc"', False),
        (BOTH, (READ, UP, ONE, DOWN), "5 take_entries <4 count=1", True),
        (BOTH, (READ, UP, ONE, DOWN, OTHER), "end", True),
        ("average climb of trips.csv", (READ,), "2 compute_stats <1", False),
        ("average climb of trips.csv", (READ,), '2 compute_stats <1 field="climb"', True),
        ("average climb of trips.csv", (READ,), "end", False),
        ("how many guests did we have in trips.csv?", (READ,), '2 compute_stats <1 field="guests"', True),
        ("how many trips are in trips.csv?", (READ,), "2 compute_stats <1", True),
        ("the last 5 rows of trips.csv", (READ,), '2 take_entries <1 count=5 from="end"', True),
        ("the last 5 rows of trips.csv", (READ,), "2 take_entries <1 count=5", False),
        ("the last 5 rows of trips.csv", (READ,), "end", False),
        ("the last 5 rows of trips.csv", (READ, LAST), "end", True),
        ("the last 5 rows of trips.csv", (READ,), '2 sort_entries <1 by="date" order="asc"', False),
        (EACH, (READ,), '2 group_entries <1 by="month" field="climb"', True),
        (EACH, (READ,), '2 group_entries <1 by="month"', False),
        (MOST, (READ,), '2 read_files_csv path="trips.csv"', False),
        ("the total climb, going by trips.csv, and the month", (READ,), '2 group_entries <1 by="month"', False),
        (
            "climb medio per mese in trips.csv (colonne month e climb)",
            (READ,),
            '2 group_entries <1 by="month" field="climb"',
            True,
        ),
        (TWICE, (FIND,), "end", False),
        (TWICE, (FIND,), '2 dedupe_entries <1 by="name" keep="repeated"', False),
        (TWICE, (FIND, HASH), '3 group_entries <2 by="digest"', False),
        (TWICE, (FIND, HASH), '3 dedupe_entries <2 by="digest" keep="repeated"', True),
        (TWICE, (FIND, HASH), "end", False),
        (TWICE, (FIND, HASH, KEEP), "end", True),
        ("the rows of trips.csv that are there twice", (READ,), '2 dedupe_entries <1 keep="repeated"', True),
        ("the rows of trips.csv without duplicates", (READ,), '2 dedupe_entries <1 keep="repeated"', False),
        ("the rows of trips.csv without duplicates", (READ,), "2 dedupe_entries <1", True),
    ],
)
def test_what_a_line_may_be(shipped: Checks, text: str, steps: tuple[Plan, ...], written: str, fits: bool) -> None:
    assert accepts(line(shipped, text, *steps), f"{written}\n" if not written.startswith("end") else "end\n") == fits


@pytest.mark.parametrize(
    ("text", "tongue", "down"),
    [
        ("the file in docs that was changed longest ago", "en", False),
        ("which file in docs was last modified?", "en", True),
        ("qual è il file che non tocco da più tempo?", "it", False),
        ("il file di docs modificato per ultimo", "it", True),
        ("files last modified before 2024", "en", None),
        ("the file modified last week", "en", None),
        ("i file modificati nell'ultima settimana", "it", None),
    ],
)
def test_what_was_done_last_or_longest_ago(text: str, tongue: str, down: bool | None) -> None:
    mosts = Called(Offers(understand(text, tongue))).mosts
    assert [(most.fields, most.down) for most in mosts] == ([] if down is None else [(frozenset({"modified"}), down)])


@pytest.mark.parametrize(
    ("text", "called"),
    [
        ("the three most expensive trips of trips.csv", "price"),
        ("quanto abbiamo speso in tutto? gite.json", "import"),
        ("chi ha più ferie di tutti? gite.json", "giorn"),
        ("the biggest of trips.csv", ""),
        ("the expenses in trips.csv", ""),  # nothing is left open
    ],
)
def test_what_a_column_that_is_left_open_may_be_called(shipped: Checks, text: str, called: str) -> None:
    request = understand(text, language(text))
    names = shipped.validator._catalog.names()  # pyright: ignore[reportPrivateUsage]
    of = Decoder(shipped, names, request, CheckContext(source="model", request=request), there=Tables())
    step = of.tools.completed({"tool": "sort_entries", "args": {"from_step": 1, "by": "*"}})
    opened, _, words = step["args"]["by"].partition(": ")
    assert opened == "*"
    assert (called in words.split(", ")) if called else not words
