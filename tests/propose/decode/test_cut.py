"""Names that may have lost a part, and names behind what says that one follows."""

from __future__ import annotations

import pytest

from metnos.propose.decode.offers import Offers
from metnos.request.understand import understand

THERE = frozenset({"garden.md", "gas.pdf", "old notes.txt"})


def offers(text: str, language: str) -> Offers:
    return Offers(understand(text, language), THERE.__contains__)


@pytest.mark.parametrize(
    ("language", "text", "cut"),
    [
        ("en", "move gas.pdf home and delete the double gas (1).pdf", {'"gas (1).pdf"'}),
        ("it", "cancella il doppione gas (1).pdf", {'"gas (1).pdf"'}),
        ("it", "cancella verbale (1).pdf", set[str]()),
        ("en", "copy garden.md to x.md", set[str]()),
        ("en", "delete zork x.md", {'"x.md"'}),
        ("en", "rename garden.md to bilge water.md", set[str]()),
        ("en", "delete old notes.txt", set[str]()),
        ("en", "zork x.md", set[str]()),  # what opens a clause is a verb, known or not
    ],
)
def test_a_name_may_be_the_end_of_another(language: str, text: str, cut: set[str]) -> None:
    assert offers(text, language).cut == cut


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "copy garden.md to the same folder, call it garden 2027.md"),
        ("en", "make a copy of garden.md called garden 2027.md"),
        ("it", "fammi una copia di garden.md nella stessa cartella, chiamala garden 2027.md"),
        ("it", "fai una copia di garden.md col nome garden 2027.md"),
    ],
)
def test_what_is_made_is_called_by_its_whole_name(language: str, text: str) -> None:
    assert "garden 2027.md" in {str(name.data) for name in offers(text, language).names}
    assert not offers(text, language).cut
