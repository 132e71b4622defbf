"""A name with blanks is written whole where it is sure or there, and its parts are then no names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from metnos.checks.model import CheckContext
from metnos.propose.decode.loop import Decoder
from metnos.propose.decode.offers import Offers
from metnos.request.understand import understand
from metnos.testing.deciding import accepts
from tests.propose.decode.test_line import SHIPPED, grammar

if TYPE_CHECKING:
    from metnos.propose.decode.state import Checks


@pytest.mark.parametrize(
    ("text", "there", "line", "fits"),
    [
        ("read trips/plan 2031.csv", (), '1 read_files_csv path="trips/plan 2031.csv"', True),
        ("read trips/plan 2031.csv", (), '1 read_files_csv path="2031.csv"', False),
        ("sposta torta mele.md nella cartella vecchi", ("torta mele.md",),
         '1 move_files path="torta mele.md" folder="vecchi"', True),
        ("sposta torta mele.md nella cartella vecchi", ("torta mele.md",),
         '1 move_files path="mele.md" folder="vecchi"', False),
        ("open the sheet costs.csv", ("costs.csv",), '1 read_files_csv path="costs.csv"', True),
        ("open the sheet costs.csv", ("costs.csv",), '1 read_files_csv path="sheet costs.csv"', False),
        ("list the files in Lake House", (), '1 find_files path="Lake House"', True),
        ("list the files in Lake House", (), '1 find_files path="Lake"', False),
        ("make a folder called Lake House inside trips", (), '1 create_dirs path="trips/Lake House"', True),
        ("make a folder called Lake House inside trips", (), '1 create_dirs path="trips"', False),
        ("crea la cartella 'Case vecchie' dentro viaggi", (), '1 create_dirs path="viaggi/Case vecchie"', True),
        ("crea la cartella 'Case vecchie' dentro viaggi", (), '1 create_dirs path="Case vecchie"', False),
        ("dentro viaggi crea una cartella mare", (), '1 create_dirs path="viaggi/mare"', True),
        ("rename a.txt to dear a.txt", ("a.txt",), '1 move_files path="a.txt" to="dear a.txt"', True),
        ("rename a.txt to dear a.txt", ("a.txt",), '1 move_files path="dear a.txt" to="a.txt"', False),
        ("rename trips/a.txt to b.txt", ("trips/a.txt",), '1 move_files path="trips/a.txt" to="trips/b.txt"', True),
        ("rename trips/a.txt to b.txt", ("trips/a.txt",), '1 move_files path="trips/a.txt" to="b.txt"', False),
        ("rename trips/a.txt to b.txt", ("trips/a.txt",), '1 move_files path="b.txt" to="trips/a.txt"', False),
        ("leggi clienti/Rossi e figli/nota.txt", ("clienti/Rossi e figli",),
         '1 read_files path="clienti/Rossi e figli/nota.txt"', True),
    ],
)  # fmt: skip
def test_the_grammar_holds_the_whole(shipped: Checks, text: str, there: tuple[str, ...], line: str, fits: bool) -> None:
    request = understand(text)
    context = CheckContext(source="model", request=request)
    of = Decoder(shipped, SHIPPED, request, context, there=there.__contains__)
    assert accepts(grammar(of), f"{line}\n") is fits


def test_what_is_referred_to_is_where_it_goes(shipped: Checks) -> None:
    request = understand("make a folder Lake in trips and move a.txt into it")
    of = Decoder(shipped, SHIPPED, request, CheckContext(source="model", request=request))
    made = {"tool": "create_dirs", "args": {"path": "trips/Lake"}}
    assert accepts(grammar(of, made), '2 move_files path="a.txt" folder="trips/Lake"\n')
    assert not accepts(grammar(of, made), '2 move_files path="a.txt" folder="a.txt"\n')


def test_a_kind_of_files_stands_where_its_language_puts_it() -> None:
    assert Offers(understand("delete the zero byte files lying around", "en")).kinds == ()
    assert Offers(understand("delete the foo files", "en")).kinds == ("foo",)
    assert Offers(understand("cancella i file foo", "it")).kinds == ("foo",)


def test_only_what_was_said_is_asked_for(shipped: Checks) -> None:
    request = understand("copy the green garden notes.md to trips")
    asked: list[str] = []

    def there(name: str) -> bool:
        asked.append(name)
        return False

    Decoder(shipped, SHIPPED, request, CheckContext(source="model", request=request), there=there)
    assert asked
    assert all(name in request.text for name in asked)
