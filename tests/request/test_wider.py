"""Names over words that join count only where they are there; names to be made are sure by their place."""

from __future__ import annotations

import pytest

from metnos.request.model import Request
from metnos.request.referring import referred_place
from metnos.request.spaced import chosen, with_names
from metnos.request.understand import understand
from metnos.request.wider import names_with_blanks, wider_names

OWN = {"clients/Bell and sons", "clients/Bell and sons/offer.md", "notes and plans.txt", "a.txt", "b.txt", "a.txt and b.txt",
       "casa", "lista nozze.txt", "Bianchi e figlie"}  # fmt: skip


def named(request: Request, there: set[str] | None = OWN) -> list[str]:
    given = tuple(item for slot in request.slots for item in slot.items or (slot,))
    picked = chosen(names_with_blanks(request), None if there is None else there.__contains__, given)
    return [str(slot.value) for slot in with_names(given, picked)]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("read clients/Bell and sons/offer.md", ["clients/Bell and sons/offer.md"]),
        ("copy a.txt and notes and plans.txt to casa", ["a.txt", "notes and plans.txt"]),
        ("elenca i file in clients/Bell and sons", ["clients/Bell and sons"]),
        ("sposta a.txt nella cartella Bianchi e figlie", ["a.txt", "Bianchi e figlie"]),
        # made in a folder that is there
        ("save the list in clients/Bell and sons/new offer.md", ["clients/Bell and sons/new offer.md"]),
        # a list of what is there is a list, whatever else is there
        ("copy a.txt and b.txt to casa", ["a.txt", "b.txt"]),
        # not there: what the words say
        ("read clients/Gray and sons/offer.md", ["clients/Gray", "sons/offer.md"]),
        ("delete a.txt and\nnotes and plans.txt", ["a.txt", "notes and plans.txt"]),
        # to be made
        ("rename a.txt to dear a.txt", ["a.txt", "dear a.txt"]),
        ("rinomina lista nozze.txt in lista della spesa.txt", ["lista nozze.txt", "lista della spesa.txt"]),
        ("crea una cartella foto gita", ["foto gita"]),
        # quotes of one stroke, over an apostrophe
        ("rinomina 'da fare.md' in b.txt", ["da fare.md", "b.txt"]),
        ("copia 'foto dell'anno.txt' in casa", ["foto dell'anno.txt", "casa"]),
    ],
)
def test_the_names(text: str, names: list[str]) -> None:
    assert named(understand(text)) == names


def test_nobody_may_look() -> None:
    assert named(understand("read clients/Bell and sons/offer.md"), None) == ["clients/Bell", "sons/offer.md"]
    assert named(understand("rename a.txt to wifi words.txt"), None) == ["a.txt", "wifi words.txt"]


def test_readings_are_passages_and_few() -> None:
    text = "read " + "green and " * 4000 + "house.txt"
    assert len(wider_names(understand(text))) <= 8
    text = "copy clients/Bell and sons/offer.md to the folder casa"
    assert all(text[one.start : one.end] == one.text for one in wider_names(understand(text)))


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("make a folder old-tmp and move a.txt and b.txt into it", "old-tmp"),
        ("create the folder x in docs, then copy a.txt there", None),  # two folders: `docs/x` is joined by who decodes
        ("crea la cartella consegna e copiaci dentro a.html", "consegna"),
        ("crea la cartella consegna e metti a.html lì dentro", "consegna"),
        ("crea le cartelle uno/ e due/ e sposta a.txt lì", None),
        ("make a folder old-tmp and move a.txt into new", None),
        ("make a folder old-tmp and show what there is", None),
        ("move a.txt into it", None),
    ],
)
def test_what_is_referred_to(text: str, place: str | None) -> None:
    request = understand(text)
    found = referred_place(request, len(request.clauses) - 1, request.slots)
    assert (found.value if found is not None else None) == place
