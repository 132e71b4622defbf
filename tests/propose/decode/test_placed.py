"""Every value of a request has its place in the plan, once, and of the right kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from metnos.propose.decode.model import Written
from metnos.propose.decode.state import begin
from metnos.testing import RandomSession
from metnos.testing.deciding import accepts
from tests.propose.decode.test_line import FIND, SHIPPED, decoder, grammar

if TYPE_CHECKING:
    from metnos.propose.decode.state import Checks, Plan

MORE = (*SHIPPED, "append_files", "group_entries", "list_dirs")
CSV: Plan = {"tool": "find_files", "args": {"path": "documents"}}
GROUPS: Plan = {"tool": "group_entries", "args": {"from_step": 1, "by": "ext"}}


@pytest.mark.parametrize(
    ("text", "steps", "line", "fits"),
    [
        # a bare number is no size, a size is
        ("the three newest files", (), "1 find_files max_size=3", False),
        ("prendi i tre file più recenti", (), "1 find_files max_size=3", False),
        ("files smaller than 3 kB", (), "1 find_files max_size=3000", True),
        # at least nothing is everything; and nothing is done to what lies on a side that is only supposed
        ("I don't want any zero byte files around, delete them all", (), "1 find_files min_size=0", False),
        ("I don't want any zero byte files around, delete them all", (), "1 find_files max_size=0", True),
        ("delete the empty files of tmp", (), '1 find_files path="tmp" min_size=0', False),
        ("elimina i file da zero byte", (), "1 find_files min_size=0", False),
        ("delete the files of 10 kB in tmp", (), '1 find_files path="tmp" min_size=10000', False),
        ("delete the files over 10 kB in tmp", (), '1 find_files path="tmp" min_size=10000', True),
        ("the files of 10 kB in tmp", (), '1 find_files path="tmp" min_size=10000', True),
        ("delete the files of 3 days in tmp", (), '1 find_files path="tmp" modified_from=${RUNTIME:day-3.start}', False),
        ("delete the files of 3 days in tmp", (), '1 find_files path="tmp" modified_to=${RUNTIME:day-3.start}', False),
        ("delete the files older than 3 days in tmp", (), '1 find_files path="tmp" modified_to=${RUNTIME:day-3.start}',
         True),
        # names one behind the other are a list, also where a copy of each is meant
        ("copy x/a.txt and also x/b.txt into safe", (),
         '1 copy_files path=${item} folder="safe" each ["x/a.txt","x/b.txt"]', True),
        ("mettici una copia di sito/a.html e una di sito/b.css in copie", (),
         '1 copy_files path=${item} folder="copie" each ["sito/a.html","sito/b.css"]', True),
        ("delete a.txt and read sito/b.css", (), '1 delete_files path=${item} each ["a.txt","sito/b.css"]', False),
        # once is enough, until something has been changed
        ("the three newest files", (FIND, {"tool": "take_entries", "args": {"from_step": 1, "count": 3}}),
         "3 take_entries <1 count=3", False),
        ("list the pdf files", ({"tool": "find_files", "args": {"pattern": "*.pdf"}},),
         '2 filter_entries <1 field="ext" op="eq" value=".pdf"', False),
        ("delete the pdf files and list them", ({"tool": "find_files", "args": {"pattern": "*.pdf"}},
         {"tool": "delete_files", "args": {"from_step": 1}}), '3 find_files pattern="*.pdf"', True),
        ("copy a.txt to b.txt", ({"tool": "read_files", "args": {"path": "a.txt"}},),
         '2 copy_files path="a.txt" to="b.txt"', True),
        # names
        ("delete the big files of downloads and list what stays", (), '1 find_files pattern="*stays*"', False),
        ("group the files of documents by extension", (), '1 find_files pattern="*extension*"', False),
        ("find the files with budget in the name", (), '1 find_files pattern="*budget*"', True),
        ("trova i file con budget nel nome", (), '1 find_files pattern="*budget*"', True),
        ("which files in documents mention Bob?", (), '1 find_files path="documents" pattern="*Bob*"', False),
        ("which files in documents mention Bob?", (CSV,), '2 filter_entries <1 field="name" op="contains" value="Bob"',
         False),
        ("which files in documents have Bob in their name?", (CSV,),
         '2 filter_entries <1 field="name" op="contains" value="Bob"', True),
        # places
        ("find where TODO is written in the markdown files of documents", (),
         '1 find_texts pattern="TODO" path="documents" glob="*.md"', True),
        ("find where TODO is written in the markdown files of documents", (),
         '1 find_texts pattern="TODO" files=["written"]', False),
        ("files in the documents folder larger than 2 MB", (), '1 find_files path="documents" min_size=2000000', True),
        ("files in the documents folder larger than 2 MB", (), '1 find_files path="larger"', False),
        ("mostra i file di testo di documents", (), '1 find_files path="testo"', False),
        ("list the files in here", (), '1 find_files path="here"', False),
        ("find all images bigger than 2 MB and put their names into big.txt", (), '1 find_files pattern="*images*"',
         False),
        # empty
        ("quali file sono vuoti?", (), "1 find_files max_size=0", True),
        ("non cancellare niente: dimmi solo quali file sono vuoti", (), "1 find_files min_size=0", False),
        ("dimmi quali file sono vuoti", (FIND,), '2 filter_entries <1 field="size" op="eq" value=0', True),
        ("dimmi quali file sono di testo", (FIND,), '2 filter_entries <1 field="ext" op="eq" value="dimmi"', False),
        ("the three largest files", (FIND,), '2 filter_entries <1 field="size" op="gt" value=3', False),
        # what is written
        ("raggruppa i file di documents per estensione e salva i gruppi in conteggi.csv", (CSV, GROUPS),
         '3 render_table <2 format="csv"', True),
        ("raggruppa i file di documents per estensione e salva i gruppi in conteggi.csv", (CSV, GROUPS),
         "3 render_table <2", False),
        ("write the groups of the files in documents to groups.md", (CSV, GROUPS), "3 render_table <2", True),
        ("write the groups of the files in documents to groups.md", (CSV, GROUPS), '3 render_table <2 format="csv"',
         False),
        ("raggruppa i file di documents per estensione e salva i gruppi in x.csv",
         (CSV, GROUPS, {"tool": "compute_stats", "args": {"from_step": 2}}),
         '4 write_files path="x.csv" content="${step3.count}\\n"', False),
        # what is added to a file: what was quoted, the words said, a result; its end is no text and no name
        ("append milk to list.txt", (), '1 append_files path="list.txt" content="milk"', True),
        ("append milk to list.txt", (), '1 write_files path="list.txt" content="milk" overwrite=true', False),
        ("append milk to list.txt", (), '1 write_files path="list.txt" content="milk"', False),
        ('write "x" at the end of a.txt', (), '1 append_files path="a.txt" content="x"', True),
        ('write "x" to a.txt', (), '1 append_files path="a.txt" content="x"', False),
        ("add milk to the end of list.txt", (), '1 append_files path="list.txt" content="milk"', True),
        ("add milk to the end of list.txt", (), '1 append_files path="end" content="milk"', False),
        ("aggiungi burro in fondo a lista spesa.txt", (), '1 append_files path="lista spesa.txt" content="burro"', True),
        ("aggiungi burro in fondo a lista spesa.txt", (), '1 append_files path="lista spesa.txt" content="fondo"', False),
        ('aggiungi "x" in coda a n.txt', (), '1 append_files path="coda" content="x"', False),
        ('aggiungi "x" in coda a n.txt', (), '1 append_files path="n.txt" content="x"', True),
        ("aggiungi burro alla fine di lista.txt", (), '1 append_files path="lista.txt" content="burro"', True),
        ("count the files and append the number to n.txt", (FIND,),
         '2 append_files path="n.txt" content="${step1.count}\\n"', True),
        ("conta i pdf e aggiungi il numero in coda a n.txt", ({"tool": "find_files", "args": {"pattern": "*.pdf"}},),
         '2 append_files path="n.txt" content="${step1.count}\\n"', True),
        ("append the list of the pdf files to list.txt", ({"tool": "find_files", "args": {"pattern": "*.pdf"}},
         {"tool": "render_table", "args": {"from_step": 1}}), '3 append_files <2 path="list.txt"', True),
    ],
)  # fmt: skip
def test_the_grammar_of_a_line(shipped: Checks, text: str, steps: tuple[Plan, ...], line: str, fits: bool) -> None:
    assert accepts(grammar(decoder(shipped, text, MORE), *steps), f"{line}\n") is fits


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("files in my documents folder older than 2 years", {"2 years", "documents"}),
        ("write a note that says buy milk at 5 pm into todo.txt", {"buy milk at 5 pm", "todo.txt"}),
        ("fai una copia di sicurezza di documents/letter.md", {"documents/letter.md"}),
        ("quali file della cartella documents sono vuoti", {"documents", ""}),
        ("show the files from inbox", {"inbox"}),
        ("group the files of documents by extension", {"documents"}),
        ("from which year is it?", set[str]()),
        ("sposta i file log in vecchi", {"log", "vecchi"}),
    ],
)
def test_which_words_are_values(shipped: Checks, text: str, values: set[str]) -> None:
    assert {told.text for told in decoder(shipped, text).tools.values.all} == values


@pytest.mark.parametrize(
    ("text", "used"),
    [
        ("which txt files are here?", ("*.txt",)),
        ("quali file txt ci sono qui?", ("*.txt",)),
        ("trova i file log in logs", ("*.log", "logs")),
        ("find the 3 largest png files in photos", ("*.png", "photos", "3")),
        ("quali file di documents sono vuoti?", ("documents", "0")),
        ("files in downloads over 5 MB", ("downloads", "5")),
    ],
)
def test_nothing_that_was_said_is_left_out(shipped: Checks, text: str, used: tuple[str, ...]) -> None:
    """Whatever a model would choose: the plan that comes out says it all."""
    plans = 0
    for seed in range(12):
        found = decoder(shipped, text, MORE).decode(RandomSession(seed))
        if isinstance(found, Written):
            written = "".join(found.lines)
            assert all(each.removeprefix("*.") in written for each in used), written
            plans += 1
    assert plans


def test_what_no_argument_takes_blocks_nothing(shipped: Checks) -> None:
    of = decoder(shipped, "read notes.txt 7 times", ("read_files",))
    assert isinstance(of.decode(RandomSession(1)), Written)


def test_what_is_said_of_a_later_thing_does_not_narrow_this_one(shipped: Checks) -> None:
    for text in ("delete the empty files and list the txt files", "elimina i file vuoti e poi elenca i file txt"):
        of = decoder(shipped, text)
        both: Plan = {"tool": "find_files", "args": {"pattern": "*.txt", "max_size": 0}}
        assert not accepts(grammar(of, both), "2 delete_files <1\n")
        empty: Plan = {"tool": "find_files", "args": {"max_size": 0}}
        assert accepts(grammar(of, empty), "2 delete_files <1\n")


def test_a_kind_of_files_is_looked_at_before_they_are_deleted(shipped: Checks) -> None:
    of = decoder(shipped, "trova i file log più vecchi di due mesi e cancellali")
    old: Plan = {"tool": "find_files", "args": {"modified_to": "${RUNTIME:day-60.start}"}}
    assert not accepts(grammar(of, old), "2 delete_files <1\n")
    logs: Plan = {"tool": "find_files", "args": {**old["args"], "pattern": "*.log"}}
    assert accepts(grammar(of, logs), "2 delete_files <1\n")


def test_what_was_found_is_not_looked_for_again(shipped: Checks) -> None:
    of = decoder(shipped, "which files in documents mention Bob?")
    assert accepts(grammar(of, CSV), '2 find_texts <1 pattern="Bob"\n')
    assert not accepts(grammar(of, CSV), '2 find_texts pattern="Bob" path="documents"\n')
    assert accepts(grammar(of), '1 find_texts pattern="Bob" path="documents"\n')


def test_who_asks_the_day_has_had_the_day(shipped: Checks) -> None:
    of = decoder(shipped, "what day is it today?", ("get_now",))
    now = begin(of.checks, of.request, of.context, ({"tool": "get_now", "args": {}},))
    assert of.tools.values.all
    assert of.tools.values.left(now) == ()
