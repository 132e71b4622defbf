"""A table is not copied whole where only some of its rows are to be written; a folder that is there is a place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from metnos.propose.decode.offers import Offers
from metnos.request.understand import understand
from metnos.testing.deciding import accepts
from tests.propose.decode.test_rows import line

if TYPE_CHECKING:
    from metnos.propose.decode.state import Checks


@pytest.mark.parametrize(
    ("text", "copied", "fits"),
    [
        ("put the names of those with weekly_hours over 35 in staff.csv into a file full.txt", "full.txt", False),
        ("put the three oldest by age of staff.csv into a file full.txt", "full.txt", False),
        ("copy staff.csv to full.csv", "full.csv", True),
        ("put a copy of staff.csv into full.csv", "full.csv", True),
    ],
)
def test_only_what_is_copied_is_copied_whole(shipped: Checks, text: str, copied: str, fits: bool) -> None:
    assert accepts(line(shipped, text), f'1 copy_files path="staff.csv" to="{copied}"\n') is fits


@pytest.mark.parametrize(
    ("text", "places", "patterns"),
    [
        ("quali sono i due file più pesanti di foto? scrivine i nomi in foto/pesanti.txt", {"foto"}, set[str]()),
        ("quali file hanno gita nel nome?", set[str](), {"*gita*"}),
        ("di foto mostrami le righe di conti.csv", set[str](), set[str]()),
    ],
)
def test_a_folder_that_is_there_is_no_part_of_names(text: str, places: set[str], patterns: set[str]) -> None:
    offers = Offers(understand(text, "it"), frozenset({"foto", "conti.csv"}).__contains__)
    found = {str(value.data) for value in offers.places if not str(value.data).endswith((".txt", ".csv"))}
    assert found == places
    assert {str(value.data) for value in offers.globs if str(value.data).startswith("*")} == patterns
