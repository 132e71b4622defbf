"""What a step need not do again, what is shown beside a figure, and what one clause says in one breath."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from metnos.checks.model import CheckContext
from metnos.propose.decode.heads import matching
from metnos.propose.decode.line import in_folder
from metnos.propose.decode.loop import Decoder
from metnos.propose.decode.offers import Offers
from metnos.propose.decode.state import begin
from metnos.propose.decode.styles import LINES
from metnos.propose.decode.units import of_columns
from metnos.propose.decode.unsaid import unsaid
from metnos.request.understand import understand
from metnos.testing.deciding import accepts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from metnos.propose.decode.state import Checks, Plan

HEADERS = {
    "staff.json": "name,role,hours,office",
    "orders.csv": "number,customer,amount,date",
    "ferie.csv": "nome,giorni",
}
NUMBERS = frozenset({"hours", "amount", "giorni"})
THERE = {*HEADERS, "docs", "clienti", "temp", "server", "archivio", "notes.txt"}


class Folder:
    """A folder with these tables, files and folders."""

    def __call__(self, name: str) -> bool:
        return name in THERE

    def columns(self, file: str, passages: Sequence[str]) -> Mapping[str, str] | None:
        return matching(HEADERS[file].split(","), passages) if file in HEADERS else None

    def numbers(self, file: str, columns: Sequence[str]) -> frozenset[str]:
        return NUMBERS.intersection(columns) if file in HEADERS else frozenset()


def _line(checks: Checks, language: str, text: str, *steps: Plan) -> str:
    request = understand(text, language)
    names = checks.validator._catalog.names()  # pyright: ignore[reportPrivateUsage]
    of = Decoder(checks, names, request, CheckContext(source="model", request=request), there=Folder())
    sofar = begin(checks, request, of.context, steps)
    assert sofar.checked.ok
    return LINES.grammar(of.tools.line(sofar))


def _step(tool: str, **args: Any) -> Plan:
    return {"tool": tool, "args": args}


ALL = _step("find_files")
COUNT = _step("compute_stats", from_step=1)
STAFF = _step("read_files_json", path="staff.json")
MOST = (
    STAFF,
    _step("sort_entries", from_step=1, by="hours", order="desc"),
    _step("take_entries", from_step=2, count=1),
)
WRITTEN = _step("write_files", content="call at 3", path="plan.txt")


@pytest.mark.parametrize(
    ("language", "text", "steps", "line", "fits"),
    [
        # what the figure was made of is shown, and only asked for where it is not what the list is of
        ("en", "list the pdf files and say how many there are", (ALL, COUNT), "3 render_table <1", True),
        ("en", "list the pdf files and say how many there are", (ALL, COUNT), "end", False),
        ("en", "show me how many pdf files there are", (ALL, COUNT), "end", True),
        ("it", "elenca i file in docs e dimmi quanti sono", (ALL, COUNT), "end", False),
        # one row is shown whole
        ("en", "who has the most hours in staff.json", MOST, '4 select_fields <3 fields=["hours"]', False),
        ("en", "who has the most hours in staff.json", MOST, "end", True),
        ("en", "show only the name column of staff.json", (STAFF,), '2 select_fields <1 fields=["name"]', True),
        # a unit that is a column
        ("en", "who works more than 35 hours, see staff.json", (STAFF,),
         '2 filter_entries <1 field="hours" op="gt" value=35', True),
        ("it", "chi ha più di 10 giorni in ferie.csv?", (_step("read_files_csv", path="ferie.csv"),),
         '2 filter_entries <1 field="giorni" op="gt" value=10', True),
        # years of files
        ("it", "cerca in server i log modificati prima del 2025", (),
         '1 find_files path="server" pattern="*.log" modified_to="2025-01-01"', True),
        ("it", "cerca in server i log modificati prima del 2025", (), '1 find_files path="server"', False),
        # what was written is there then, and the copy is still to be made
        ("en", 'write "call at 3" into plan.txt and copy it into archivio/', (WRITTEN,),
         '2 copy_files path="plan.txt" folder="archivio/"', True),
        ("en", 'write "call at 3" into plan.txt and copy it into archivio/', (WRITTEN,), "end", False),
        ("en", 'write "call at 3" into plan.txt and copy it into archivio/', (), '1 copy_files path="plan.txt"', False),
        # whose files are meant is not acted on itself
        ("it", "cancella i log della cartella server", (), '1 delete_files path="server"', False),
        ("it", "cancella i log della cartella server", (_step("find_files", path="server", pattern="*.log"),),
         "2 delete_files <1", True),
        ("it", "cancella la cartella server", (), '1 delete_files path="server"', True),
        # bare words that are there; quoted ones that are not
        ("it", "quali sottocartelle ha clienti?", (), '1 list_dirs path="clienti"', True),
        ("it", 'dove ho scritto "DA FARE"?', (), '1 find_files path="DA FARE"', False),
        # before an event is no place
        ("en", "before the audit please move every file in temp into archivio/", (_step("find_files", path="temp"),),
         '2 move_files <1 folder="archivio/"', True),
        # what stands before a number is no number of its own
        ("en", "phone number of Dubois in orders.csv", (_step("read_files_csv", path="orders.csv"),),
         "2 compute_stats <1", False),
        # figures of groups are in the groups
        ("en", "count the orders of each customer in orders.csv and save the result as sums.csv",
         (_step("read_files_csv", path="orders.csv"), _step("group_entries", from_step=1, by="customer")),
         '3 write_files content="${step1.count}\\n" path="sums.csv"', False),
        # a text that is looked for in tables is a value of theirs
        ("en", "find Dubois in orders.csv", (), '1 find_texts pattern="Dubois" path="orders.csv"', False),
        # words that have no order
        ("en", "the files in docs", (ALL,), '2 filter_entries <1 field="path" op="gt" value="docs"', False),
    ],
)  # fmt: skip
def test_what_a_line_may_be(
    shipped: Checks, language: str, text: str, steps: tuple[Plan, ...], line: str, fits: bool
) -> None:
    assert accepts(_line(shipped, language, text, *steps), f"{line}\n") is fits


def test_a_plan_only_shows_what_is_there(shipped: Checks) -> None:
    request = understand("the files in docs as a table")
    context = CheckContext(source="model", request=request)
    shown = _step("render_table", from_step=1)
    picked = _step("render_table", from_step=1, columns=["name"])
    sofar = begin(shipped, request, context, (ALL, shown, picked))
    assert [sofar.is_shown(number) for number in (1, 2, 3)] == [False, True, False]


def test_adverbs_are_no_values() -> None:
    offers = Offers(understand("find whichever file still contains FIXME"), Folder())
    assert [value.data for value in offers.names] == []
    assert [value.data for value in offers.compared] == ["FIXME"]


def test_a_unit_stays_one_where_no_table_has_it() -> None:
    request = understand("files older than 35 hours")
    assert of_columns(request.slots, Folder()) == {}
    assert of_columns(understand("more than 35 hours in staff.json").slots, None) == {}


class Below(Folder):
    """The same, in folders below."""

    def __call__(self, name: str) -> bool:
        return name in THERE and name != "docs"

    def below(self, name: str) -> bool:
        return name in HEADERS or name == "notes.txt"

    def below_folder(self, name: str) -> bool:
        return name == "docs"

    def forget(self) -> None:
        """Nothing is kept."""


FOUND = _step("find_files", pattern="orders.csv", ignore_case=True)


@pytest.mark.parametrize(
    ("text", "steps", "line", "fits"),
    [
        ("how many orders are in orders.csv", (), '1 find_files pattern="orders.csv"', True),
        ("how many orders are in orders.csv", (), '1 read_files_csv path="orders.csv"', False),
        ("how many orders are in orders.csv", (), "1 find_files", False),
        ("how many orders are in orders.csv", (FOUND,), "2 read_files_csv <1", True),
        ("the last 2 orders in orders.csv", (FOUND,), "2 take_entries <1 count=2", False),
        ("how many orders are in orders.csv", (FOUND,), "2 compute_stats <1", False),
        ("delete notes.txt", (), '1 delete_files path="notes.txt"', False),
        ("delete notes.txt", (_step("find_files", pattern="notes.txt"),), "2 delete_files <1", True),
        (
            "copy notes.txt to archivio/",
            (_step("find_files", pattern="notes.txt"),),
            '2 copy_files <1 folder="archivio/"',
            True,
        ),
        ("join orders.csv and staff.json on name", (), '1 find_files pattern="staff.json"', True),
        ("join orders.csv and staff.json on name", (FOUND,), '2 find_files pattern="orders.csv"', False),
        ("which pdf files are in the folder docs", (), '1 find_files path="docs" pattern="*.pdf"', True),
    ],
)
def test_a_bare_name_is_found_first(shipped: Checks, text: str, steps: tuple[Plan, ...], line: str, fits: bool) -> None:
    request = understand(text, "en")
    names = shipped.validator._catalog.names()  # pyright: ignore[reportPrivateUsage]
    of = Decoder(shipped, names, request, CheckContext(source="model", request=request), there=Below())
    sofar = begin(shipped, request, of.context, steps)
    assert accepts(LINES.grammar(of.tools.line(sofar)), f"{line}\n") is fits


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ({"path": "docs"}, {"pattern": "**/docs/**/*"}),
        ({"path": "docs", "pattern": "*.pdf"}, {"pattern": "**/docs/**/*.pdf"}),
        ({"path": "temp", "pattern": "*.pdf"}, {"path": "temp", "pattern": "*.pdf"}),
        ({"path": "docs", "pattern": "a/*.pdf"}, {"path": "docs", "pattern": "a/*.pdf"}),
    ],
)
def test_a_folder_below_is_said_by_the_pattern(args: dict[str, str], expected: dict[str, str]) -> None:
    properties = {"path": {"default": "."}, "pattern": {"default": "*"}}
    assert in_folder(args, properties, frozenset({"docs"})) == expected


@pytest.mark.parametrize(
    ("text", "steps", "count"),
    [
        ("move both pump manuals into archivio/", (ALL, _step("move_files", from_step=1, folder="archivio/")), 2),
        ("move the pdf files into archivio/", (ALL, _step("move_files", from_step=1, folder="archivio/")), 0),
        ("which notes still have FIXME in them", (ALL,), 1),
        ("the last 4 lines of notes.txt",
         (_step("read_files", path="notes.txt"), _step("take_entries", from_step=1, count=4)), 1),
        ("the total hours per team in staff.json", (STAFF, _step("compute_stats", from_step=1, field="hours")), 1),
    ],
)  # fmt: skip
def test_what_a_plan_leaves_unsaid_makes_it_a_guess(
    shipped: Checks, text: str, steps: tuple[Plan, ...], count: int
) -> None:
    request = understand(text, "en")
    names = shipped.validator._catalog.names()  # pyright: ignore[reportPrivateUsage]
    of = Decoder(shipped, names, request, CheckContext(source="model", request=request), there=Folder())
    sofar = begin(shipped, request, of.context, steps)
    assert unsaid(of.tools.wanted, sofar) == count


def test_a_folder_below_is_not_made_here_unseen(shipped: Checks) -> None:
    request = understand("create the folder docs", "en")
    names = shipped.validator._catalog.names()  # pyright: ignore[reportPrivateUsage]
    context = CheckContext(source="model", request=request)
    steps = (_step("create_dirs", path="docs"),)
    for there, count in ((Below(), 1), (Folder(), 0)):
        of = Decoder(shipped, names, request, context, there=there)
        assert unsaid(of.tools.wanted, begin(shipped, request, context, steps)) == count
