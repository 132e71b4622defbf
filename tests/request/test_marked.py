"""Names with blanks that brackets make sure, or the words before them."""

from __future__ import annotations

import pytest

from metnos.checks.guards.nested import nested_names
from metnos.request.spaced import chosen
from metnos.request.understand import understand
from metnos.request.wider import names_with_blanks


def named(text: str, language: str, there: frozenset[str] | None = None) -> set[str]:
    request = understand(text, language)
    given = tuple(item for slot in request.slots for item in slot.items or (slot,))
    look = None if there is None else there.__contains__
    return {one.text for one in chosen(names_with_blanks(request), look, given)}


@pytest.mark.parametrize(
    ("language", "text", "name"),
    [
        ("en", "delete shop/offer 2026 (copy).txt please", "shop/offer 2026 (copy).txt"),
        ("it", "cancella il doppione shop/bolletta gas (1).pdf", "shop/bolletta gas (1).pdf"),
        ("en", "show offer (last draft).txt", "offer (last draft).txt"),
        ("en", "show (draft).txt", "(draft).txt"),
        ("en", "start a file to do.txt with the line x", "do.txt"),  # "to" joins no name
        ("en", "start a file day plan.txt with the line x", "day plan.txt"),
        ("en", "make a new text file day plan.txt with the line x", "day plan.txt"),
        ("it", "mi fai un file elenco gite.txt coi nomi", "elenco gite.txt"),
        ("it", "prepara un file nuovo elenco gite.txt con la riga x", "elenco gite.txt"),
        ("en", "from now on a.txt becomes old plan.txt", "old plan.txt"),
        ("it", "a.txt diventa piano vecchio.txt", "piano vecchio.txt"),
        ("it", "porta a.txt in casa dandogli il nome piano vecchio.txt", "piano vecchio.txt"),
    ],
)
def test_the_whole_name_is_one(language: str, text: str, name: str) -> None:
    assert (name in named(text, language)) is (" " in name or "(" in name)


@pytest.mark.parametrize(
    ("text", "there", "name"),
    [
        ("show the gas bill (1).pdf", {"gas bill (1).pdf"}, {"gas bill (1).pdf"}),
        ("show the gas bill (1).pdf", {"bill (1).pdf"}, {"bill (1).pdf"}),
        ("show notes.txt (the long one)", set[str](), set[str]()),
        ("show a file bigger than notes.txt", set[str](), set[str]()),
        ("make a file about notes.txt", set[str](), set[str]()),
        ("show docs (old)/notes.txt", set[str](), {"docs (old)/notes.txt"}),
    ],
)
def test_what_is_there_decides_where_it_begins(text: str, there: set[str], name: set[str]) -> None:
    assert named(text, "en", frozenset(there)) == name


@pytest.mark.parametrize(
    ("language", "text", "path"),
    [
        ("en", "copy home/a.md to archive, calling it b.md", "archive/b.md"),
        ("it", "trasferisci home/a.md in archivio dandogli il nome b 2025.md", "archivio/b 2025.md"),
        ("it", "fai una copia di home/a.md nella stessa cartella, chiamala b 2025.md", "home/b 2025.md"),
        ("en", "make a copy of home/a.md called old/b.md", ""),
        ("en", "copy home/a.md and home/c.md, calling them b.md", ""),
    ],
)
def test_a_new_name_goes_where_the_file_goes(language: str, text: str, path: str) -> None:
    found = {one.text for one in nested_names(understand(text, language))}
    assert path in found if path else not found
