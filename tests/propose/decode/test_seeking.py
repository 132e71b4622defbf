"""What is looked for inside of files is told by the words: quotes, what stands behind "contains", capitals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from metnos.propose.decode.offers import Offers
from metnos.request.understand import understand
from metnos.testing.deciding import accepts
from tests.propose.decode.test_line import decoder, grammar

if TYPE_CHECKING:
    from metnos.propose.decode.state import Checks


@pytest.mark.parametrize(
    ("language", "text", "sought"),
    [
        ("en", "find whichever file still contains FIXME and show me the line", ("FIXME",)),
        ("en", "which files mention the boiler repair?", ("boiler repair",)),
        ("en", "search all files for the word invoice in docs", ("invoice",)),
        ("en", "collect the lines with WARN from the logs", ("WARN",)),
        ("en", "is there a file that talks about Keller?", ("Keller",)),
        ("en", 'find the files that say "to do" or TODO', ("to do",)),
        ("en", "find the files with TO DO", ("TO DO",)),
        ("en", "which of the files are from Keller", ("Keller",)),
        ("it", "che file contiene ancora FIXME", ("FIXME",)),
        ("it", "in che file si parla della Puglia??", ("Puglia",)),
        ("it", "in quali file si parla di assicurazione?", ("assicurazione",)),
        ("it", "tutti i file di testo dove c'è scritto DA FARE", ("DA FARE",)),
        ("it", "quali documenti parlano di codice fiscale?", ("codice fiscale",)),
        ("it", "in quali file compare la polizza della casa", ("polizza della casa",)),
        ("it", "cerca la parola timeout nei log", ("timeout",)),
        # the words do not tell
        ("en", "list the PDF files", ()),
        ("en", "show all files", ()),
        ("it", "quali file ci sono qui?", ()),
    ],
)
def test_the_words_tell(language: str, text: str, sought: tuple[str, ...]) -> None:
    assert Offers(understand(text, language)).sought == sought


@pytest.mark.parametrize(
    ("text", "line", "fits"),
    [
        ("find whichever file still contains FIXME", '1 find_texts pattern="FIXME" path="notes"', False),
        ("find the files in notes that still contain FIXME", '1 find_texts pattern="FIXME" path="notes"', True),
        ("find the files in notes that still contain FIXME", '1 find_texts pattern="still" path="notes"', False),
        ("che file nella cartella notes contengono ancora FIXME", '1 find_texts pattern="FIXME" path="notes"', True),
        ("che file nella cartella notes contengono ancora FIXME", '1 find_texts pattern="ancora" path="notes"', False),
    ],
)
def test_nothing_else_is_looked_for(shipped: Checks, text: str, line: str, fits: bool) -> None:
    assert accepts(grammar(decoder(shipped, text)), f"{line}\n") is fits


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ("list the markdown files and say how many they are", False),
        ("find the files that say bonjour", True),
        ("collect the lines with WARN from the files in server", True),
    ],
)
def test_who_says_how_many_looks_for_no_text(shipped: Checks, text: str, inside: bool) -> None:
    assert decoder(shipped, text).tools.wanted.called.inside is inside
