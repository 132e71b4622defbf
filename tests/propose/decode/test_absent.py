"""A bare word behind a preposition is a place where it is there, or where nothing else can be meant."""

from __future__ import annotations

import pytest

from metnos.propose.decode.offers import Offers
from metnos.request.understand import understand

THERE = frozenset({"cellar", "shop/stock.csv", "cantina", "conti.csv", "logs"})


def places(text: str, language: str, looks: bool = True) -> set[str]:
    offers = Offers(understand(text, language), THERE.__contains__ if looks else None)
    return {str(value.data) for value in (*offers.names, *offers.folders, *offers.places, *offers.unexplained_there)}


@pytest.mark.parametrize(
    ("language", "text", "word", "is_one"),
    [
        ("en", "how much did we use in October according to shop/stock.csv", "October", False),
        ("en", "how much went on groceries in shop/stock.csv", "groceries", False),
        ("en", "any markdown files around here?", "around", False),
        ("en", "count the rows of shop/stock.csv as well", "well", False),
        ("en", "find whichever file still contains FIXME", "still", False),
        ("it", "quante volte alla settimana? conti.csv", "settimana", False),
        ("it", "in che file si parla di gite?", "parla", False),
        ("it", "cerca timeout nei log della cartella cantina e copia quei file in vecchi", "log", False),
        # it is there
        ("en", "how many files are in cellar", "cellar", True),
        ("it", "quanti file ci sono in cantina", "cantina", True),
        # nothing else is meant, or a noun says so
        ("en", "how many files are in music", "music", True),
        ("it", "in musica quanti file ci sono?", "musica", True),
        ("en", "what is in the music folder", "music", True),
        ("it", "cosa c'è nella cartella musica", "musica", True),
        # something happens to what is there
        ("en", "delete all the pdfs in music", "music", True),
        ("en", "copy all the pdfs to album", "album", True),
        ("it", "sposta i pdf in album", "album", True),
        ("en", "write the count of rows of shop/stock.csv into album", "album", True),
    ],
)
def test_it_is_a_place(language: str, text: str, word: str, is_one: bool) -> None:
    assert (word in places(text, language)) is is_one


@pytest.mark.parametrize(
    ("language", "text", "word"),
    [
        ("en", "how much did we use in October according to shop/stock.csv", "October"),
        ("it", "cerca timeout nei log della cartella cantina", "log"),
    ],
)
def test_where_nobody_looks_it_may_be_one(language: str, text: str, word: str) -> None:
    assert word in places(text, language, looks=False)
