"""What a file is to hold, as it is said without quotes: to the end of its clause, and no further."""

from __future__ import annotations

import pytest

from metnos.request.contents import contents_said
from metnos.request.understand import understand


def contents(text: str, language: str) -> list[str]:
    return [str(content.slot.value) for content in contents_said(understand(text, language))]


@pytest.mark.parametrize(
    ("language", "text", "content"),
    [
        ("en", "write me a file shopping.txt that says: apples and pears", "apples and pears"),
        ("en", "write a.txt that says: apples, pears and figs and put a copy in old", "apples, pears and figs"),
        ("en", "write a.txt with the words: nothing kept here", "nothing kept here"),
        ("en", "write a.txt saying buy milk. then show it", "buy milk"),
        ("en", "write a file a.txt containing hello world", "hello world"),
        ("en", "append to to-do.txt: call mum, buy bread", "call mum, buy bread"),
        ("en", "add the line pay the bill at the end of notes.txt, please", "pay the bill"),
        ("en", "write a note that says buy milk at 5 pm into to-do.txt", "buy milk at 5 pm"),
        ("en", "write a.txt that says 'call Ann about F12' and put a copy of it in old", "call Ann about F12"),
        ("en", 'add "x y" to notes.txt', "x y"),
        ("it", "crea a.txt con scritto dentro: portare il diario, e poi copialo in casa", "portare il diario"),
        ("it", "aggiungi a conti.txt la riga: pane 700; poi mostralo", "pane 700"),
        ("it", "aggiungi la riga benzina 60 alla fine di conti.txt", "benzina 60"),
        ("it", "crea il file a.txt con la frase ci vediamo domani alle 5", "ci vediamo domani alle 5"),
        ("it", "scrivi in a.txt: comprare pane e latte", "comprare pane e latte"),
        ("it", "fammi un file a.txt che dica buongiorno a tutti, grazie", "buongiorno a tutti"),
        ("it", 'aggiungi in fondo a casa/da fare.md la riga "- pagare il bollo"', "- pagare il bollo"),
    ],
)
def test_it_goes_to_the_end_of_its_clause(language: str, text: str, content: str) -> None:
    assert contents(text, language) == [content]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "write the lines with ERROR from a.log to b.txt"),
        ("en", "write the lines containing ERROR from a.log to b.txt"),
        ("en", "write the text of a.txt to b.txt"),
        ("en", 'write the lines with the word "ERROR" from a.log to b.txt'),
        ("en", "save to out.csv: name and cost"),
        ("en", "create two folders"),
        ("en", 'create a folder "Old Trips" and write a.txt into it'),
        ("en", "find the files that say hello"),
        ("en", "what is in a.txt: apples or pears?"),
        ("it", "salva in x.txt l'elenco dei file: nome e dimensione"),
        ("it", "trova il file con scritto ciao"),
        ("en", "Overwrite todo.txt with the text of documents/letter.md"),
        ("it", "sovrascrivi todo.txt con il testo di documents/letter.md"),
    ],
)
def test_what_tells_something_else_is_none(language: str, text: str) -> None:
    assert contents(text, language) == []


def test_each_clause_may_have_one() -> None:
    text = 'write a.txt with the line "ring Ann", and below it put "send it"'
    assert contents(text, "en") == ["ring Ann", "send it"]
