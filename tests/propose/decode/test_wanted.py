"""What the words of a request call for: tools that stand only then, and what a plan owes before it may end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from metnos.checks.model import CheckContext
from metnos.propose.decode.called import Called
from metnos.propose.decode.loop import Decoder, twice_named
from metnos.propose.decode.offers import Offers
from metnos.propose.decode.state import begin
from metnos.propose.decode.styles import LINES
from metnos.request.understand import understand
from metnos.testing.deciding import accepts

if TYPE_CHECKING:
    from metnos.propose.decode.state import Checks, Plan

FIND: Plan = {"tool": "find_files", "args": {"path": "docs"}}
TXT: Plan = {"tool": "find_files", "args": {"pattern": "*.txt"}}
CSV: Plan = {"tool": "find_files", "args": {"pattern": "*.csv"}}
TSV: Plan = {"tool": "find_files", "args": {"pattern": "*.tsv"}}
DIRS: Plan = {"tool": "list_dirs", "args": {}}
SORT: Plan = {"tool": "sort_entries", "args": {"from_step": 1, "by": "size", "order": "desc"}}
STATS: Plan = {"tool": "compute_stats", "args": {"from_step": 1}}
TAKE: Plan = {"tool": "take_entries", "args": {"from_step": 2, "count": 1}}
TEXTS: Plan = {"tool": "find_texts", "args": {"pattern": "Bob", "path": "docs"}}
PNG: Plan = {"tool": "find_files", "args": {"pattern": "*.png"}}
DELETE: Plan = {"tool": "delete_files", "args": {"from_step": 1}}
LOG: Plan = {"tool": "find_files", "args": {"pattern": "*.log"}}
LOG_DOCS: Plan = {"tool": "find_files", "args": {"path": "docs", "pattern": "*.log"}}
NAMES: Plan = {"tool": "select_fields", "args": {"from_step": 1, "fields": ["name"]}}
ROWS: Plan = {"tool": "read_files_csv", "args": {"path": "a.csv"}}


def line(checks: Checks, text: str, *steps: Plan) -> str:
    request = understand(text)
    catalog = checks.validator._catalog  # pyright: ignore[reportPrivateUsage]
    of = Decoder(checks, catalog.names(), request, CheckContext(source="model", request=request))
    sofar = begin(checks, request, of.context, steps)
    assert sofar.checked.ok
    return LINES.grammar(of.tools.line(sofar))


@pytest.mark.parametrize(
    ("text", "steps", "written", "fits"),
    [
        # The ending of a file tells which tool reads it.
        ("show the rows of data/people.csv", (), '1 read_files path="data/people.csv"', False),
        ("show the rows of data/people.csv", (), '1 read_files_csv path="data/people.csv"', True),
        ("mostra le righe di data/stock.json", (), '1 read_files path="data/stock.json"', False),
        ("mostra le righe di data/stock.json", (), '1 read_files_json path="data/stock.json"', True),
        ("read letter.md", (), '1 read_files path="letter.md"', True),
        ("read letter.md", (), '1 read_files_csv path="letter.md"', False),
        ("read letter.md", (), '1 read_files_json path="letter.md"', False),
        ("read letter", (), '1 read_files_json path="letter"', False),
        ("the rows of stock.tsv", (), '1 read_files_csv path="stock.tsv"', True),
        ("the rows of stock.tsv", (), '1 read_files path="stock.tsv"', False),
        ("the rows of stock.tsv", (), '1 read_files_json path="stock.tsv"', False),
        ("leggi log/eventi.JSONL", (), '1 read_files_json path="log/eventi.JSONL"', True),
        ("leggi log/eventi.JSONL", (), '1 read_files_json path="log/eventi.JSONL" format="json"', False),
        ("leggi log/eventi.JSONL", (), '1 read_files path="log/eventi.JSONL"', False),
        ("leggi log/eventi.jsonl", (), '1 read_files_csv path="log/eventi.jsonl"', False),
        # Text of a table is read where it is asked for, and another ending where the format is said.
        ("how many words are there in data/people.csv?", (), '1 read_files path="data/people.csv"', True),
        ("il testo di data/people.csv", (), '1 read_files path="data/people.csv"', True),
        ("copy the content of data/people.csv into a.txt", (), '1 read_files path="data/people.csv"', True),
        ("rows of data.txt, which is csv", (), '1 read_files_csv path="data.txt"', True),
        ("read data.json in format lines", (), '1 read_files_json path="data.json" format="lines"', True),
        ("show what is in the tsv files", (TSV,), "2 read_files_csv <1", True),
        ("show what is in the tsv files", (TSV,), "2 read_files <1", False),
        ("show what is in the csv files", (CSV,), "2 read_files <1", False),
        ("show what is in the csv files", (CSV,), "2 read_files_csv <1", True),
        ("show what is in the txt files", (TXT,), "2 read_files_csv <1", False),
        ("show what is in the txt files", (TXT,), "2 read_files <1", True),
        # What makes something special is spoken of.
        ("the total size of the pdf files", (FIND,), "2 compute_files_hash <1", False),
        ("quanto pesano i file pdf", (FIND,), "2 compute_files_hash <1", False),
        ("which files in docs are duplicates", (FIND,), "2 compute_files_hash <1", True),
        ("impronta dei file in docs", (FIND,), "2 compute_files_hash <1", True),
        ("sort the files by size", (FIND,), '2 group_entries <1 by="size"', False),
        ("ordina i file per dimensione", (FIND,), '2 group_entries <1 by="size"', False),
        ("the files in docs by extension", (FIND,), '2 group_entries <1 by="ext"', True),
        ("dividi i file per estensione", (FIND,), '2 group_entries <1 by="ext"', True),
        ("which txt files are here, subfolders included?", (), "1 list_dirs", False),
        ("quali file txt ci sono qui, sottocartelle comprese?", (), "1 list_dirs", False),
        ("the pdf files in the folder docs", (), '1 list_dirs path="docs"', False),
        ("which folders are there?", (), "1 list_dirs", True),
        ("qual è la cartella con più file?", (), "1 list_dirs", True),
        ("how many files are in each folder?", (), "1 list_dirs", True),
        ("the files in docs", (), "1 get_now", False),
        ("what time is it?", (), "1 get_now", True),
        ("che ore sono?", (), "1 get_now", True),
        # How many: a figure over what is counted.
        ("how many folders are there?", (DIRS,), "end", False),
        ("quante cartelle ci sono?", (DIRS,), "end", False),
        ("quante cartelle ci sono?", (DIRS, STATS), "end", True),
        ("how many files are there?", (DIRS, STATS), "end", False),
        ("how many files are there?", (FIND, STATS), "end", True),
        ("how many files are there?", (FIND, STATS), "3 take_entries <1 count=1", False),  # all is said
        ("quanto pesano i file in docs?", (FIND,), "2 compute_stats <1", False),
        ("quanto pesano i file in docs?", (FIND,), '2 compute_stats <1 field="size"', True),
        # The most of all.
        ("which is the biggest file in docs?", (FIND,), "end", False),
        ("which is the biggest file in docs?", (FIND,), "2 take_entries <1 count=1", False),
        ("which is the biggest file in docs?", (FIND,), '2 sort_entries <1 by="size" order="desc"', True),
        ("which is the biggest file in docs?", (FIND,), '2 sort_entries <1 by="size" order="asc"', False),
        ("which is the biggest file in docs?", (FIND,), '2 sort_entries <1 by="name" order="desc"', False),
        ("which is the biggest file in docs?", (FIND, SORT), "end", False),
        ("which is the biggest file in docs?", (FIND, SORT, TAKE), "end", True),
        ("il file più vecchio di docs", (FIND,), '2 sort_entries <1 by="modified" order="asc"', True),
        ("il file più vecchio di docs", (FIND,), "end", False),
        ("i file più pesanti di docs", (FIND, SORT), "end", True),
        ("the three largest files in docs", (FIND, SORT), "3 take_entries <2 count=1", False),
        ("the three largest files in docs", (FIND, SORT), "3 take_entries <2 count=3", True),
        ("i file in docs più grandi di 4 kB", (FIND,), "end", True),  # nothing is the most of all
        # A text that is looked for in files.
        ("which files in docs mention Bob?", (), '1 find_texts pattern="Bob" path="docs"', True),
        ("which files in docs mention Bob?", (), '1 find_files path="docs"', False),
        ("which files in docs mention Bob?", (TEXTS,), "end", True),
        ("cerca Bob nei file di docs", (), '1 find_files pattern="*Bob*"', False),
        ("quali file hanno un nome che contiene Bob?", (), '1 find_files pattern="*Bob*"', True),
        ("the rows of people.csv that contain Bob", (), '1 read_files_csv path="people.csv"', True),
        # A clause behind an effect has a reading of its own behind it.
        ("delete the png files and show what remains", (PNG, DELETE), "end", False),
        ("elimina i file png e poi elenca i file che restano", (PNG, DELETE), "end", False),
        ("elimina i file png e poi elenca i file che restano", (PNG, DELETE, FIND), "end", True),
        ("delete the png files", (PNG, DELETE), "end", True),
        # A place binds to its own clause, and a name to what is done with it.
        ("delete the log files and show what stays in docs", (LOG_DOCS,), "2 delete_files <1", False),
        ("delete the log files and show what stays in docs", (LOG,), "2 delete_files <1", True),
        ("delete the log files in docs and show what stays", (LOG_DOCS,), "2 delete_files <1", True),
        ("elimina i file log e poi elenca i file di docs", (LOG_DOCS,), "2 delete_files <1", False),
        ("elimina i file log di docs e poi elenca i file", (LOG_DOCS,), "2 delete_files <1", True),
        ("delete a.txt and show what is in b.txt", (), '1 delete_files path="b.txt"', False),
        ("cancella a.txt e mostra il contenuto di b.txt", (), '1 delete_files path="a.txt"', True),
        ("cancella a.txt e mostra il contenuto di b.txt", (), '1 delete_files path="b.txt"', False),
        # How far a search goes is no place.
        ("i file txt qui e nelle sottocartelle", (), '1 find_files path="sottocartelle" pattern="*.txt"', False),
        ("the txt files in the subfolders", (), '1 find_files path="subfolders" pattern="*.txt"', False),
        # What shapes a result stands only where it is asked for.
        ("the files in docs", (FIND,), '2 sort_entries <1 by="size" order="asc"', False),
        ("the files in docs", (FIND,), "2 take_entries <1 count=1", False),
        ("the files in docs", (FIND,), '2 select_fields <1 fields=["path"]', False),
        ("only the names of the files in docs", (FIND,), '2 select_fields <1 fields=["name"]', True),
        ("solo i nomi dei file di docs", (FIND,), '2 select_fields <1 fields=["name","path"]', True),
        ("solo i nomi dei file di docs", (FIND, NAMES), '3 select_fields <2 fields=["name"]', False),
        ("i primi due file di docs", (FIND,), "2 take_entries <1 count=2", True),
        ("rows of a.csv with count over 30", (ROWS,), "2 take_entries <1 count=30", False),
        ("righe di a.csv con count oltre 30", (ROWS,), '2 filter_entries <1 field="count" op="gt" value=30', True),
        # Figures of each value of a column.
        ("sum of amount per region in a.csv", (ROWS,), '2 compute_stats <1 field="amount"', False),
        ("sum of amount per region in a.csv", (ROWS,), '2 group_entries <1 by="region" field="amount"', True),
        ("sum of amount per region in a.csv", (ROWS,), '2 group_entries <1 by="region"', False),
        ("sum of amount per region in a.csv", (ROWS,), '2 group_entries <1 by="amount" field="region"', False),
        ("sum of amount per region in a.csv", (ROWS,), "end", False),
        # A reader learns which columns are numbers: it is told only what is said of them.
        ("media di age per ogni city in a.csv", (), '1 read_files_csv path="a.csv"', True),
        ("media di age per ogni city in a.csv", (), '1 read_files_csv path="a.csv" numbers=["age"]', False),
        ("rows of a.csv with code as numbers", (), '1 read_files_csv path="a.csv" numbers=["code"]', True),
        ("media di age per ogni city in a.csv", (ROWS,), '2 group_entries <1 by="city" field="age"', True),
        ("qual è la media di age in a.csv?", (ROWS,), '2 compute_stats <1 field="age"', True),
    ],
)  # fmt: skip
def test_lines(shipped: Checks, text: str, steps: tuple[Plan, ...], written: str, fits: bool) -> None:
    assert accepts(line(shipped, text, *steps), f"{written}\n") is fits


@pytest.mark.parametrize(
    ("text", "sought"),
    [
        ("which files mention Bob?", ("Bob",)),
        ("dove compare la parola ERROR nei file di logs?", ("ERROR",)),
        ("what does notes.txt contain?", ()),
        ("which folder contains drafts?", ()),
        ('find the files that contain "total due"', ("total due",)),
    ],
)
def test_what_is_sought_inside(text: str, sought: tuple[str, ...]) -> None:
    called = Called(Offers(understand(text)))
    assert called.inside is bool(sought)
    assert not sought or called.sought[: len(sought)] == sought


def test_a_word_of_a_list_is_named_twice_too() -> None:
    step = {"tool": "find_texts", "args": {"files": ["TODO"], "pattern": "TODO"}}
    assert twice_named(step, ("files",)) == {"files"}


def test_what_was_looked_at_before_an_effect_may_be_looked_at_again(shipped: Checks) -> None:
    request = understand("delete the png files in docs and list what stays")
    context = CheckContext(source="model", request=request)
    steps = (FIND, {"tool": "delete_files", "args": {"from_step": 1}})
    assert FIND in begin(shipped, request, context, (FIND,)).since_changed
    assert FIND not in begin(shipped, request, context, steps).since_changed
    assert begin(shipped, request, context, (*steps, FIND)).checked.ok


@pytest.mark.parametrize(
    ("text", "plainly"),
    [
        ("look for the word timeout in logs", True),
        ("dove compare la parola ERROR nei file di log?", True),
        ("cerca la parola timeout dentro logs", True),
        ("search the web for the word timeout", False),
        ("cerca su internet la parola timeout", False),
        ("what does the word gate mean?", False),
        ("delete the files that contain timeout in logs", False),  # an effect is always weighed
    ],
)
def test_where_nothing_is_left_to_judge(text: str, plainly: bool) -> None:
    assert Called(Offers(understand(text))).plainly_inside is plainly


@pytest.mark.parametrize(
    ("text", "named", "by", "reckoned"),
    [
        ("sort data/people.csv by city and save the result to sorted.csv", ["city"], ["city"], []),
        ("write the entries of a.json with count over 30 as a table to b.md", ["count"], ["count"], ["count"]),
        ("somma amount per region in a.csv e salva il risultato in b.csv",
         ["amount", "region"], ["region"], ["amount"]),
        ("average age by city and month in a.csv", ["age", "city", "month"], ["city", "month"], ["age"]),
        ("the rows of a.csv", [], [], []),
        ("mostra le colonne name e city di a.csv", ["name", "city"], ["name", "city"], []),
    ],
)  # fmt: skip
def test_columns_of_a_table_that_nobody_has_seen(
    text: str, named: list[str], by: list[str], reckoned: list[str]
) -> None:
    columns = Offers(understand(text)).columns
    assert [value.data for value in columns.named] == named
    assert [value.data for value in columns.by] == by
    assert [value.data for value in columns.reckoned] == reckoned
