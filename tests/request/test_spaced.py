"""Readings of names with blanks: letter for letter, between what no name goes on over; and no form changes for them."""

from __future__ import annotations

import pytest

from metnos.request.spaced import chosen, spaced_names, with_names
from metnos.request.understand import understand

FILES: list[tuple[str, str, dict[str, bool | None]]] = [
    ("read trips/plan 2031.txt", "en", {"trips/plan 2031.txt": True}),
    ("copy garden notes.md in trips", "en", {"garden notes.md": False}),
    ("open the new garden notes.md", "en", {"garden notes.md": False, "new garden notes.md": False}),
    (
        "leggi ricette torta mele.txt",
        "it",
        {"ricette torta mele.txt": False, "torta mele.txt": False, "mele.txt": None},
    ),
    ("leggi il file torta mele.txt", "it", {"torta mele.txt": False}),
    ("sposta da fare.md in vecchi", "it", {"da fare.md": False}),
    ("archive notes.md", "en", {}),
    ("could you zip notes.md", "en", {}),
    ("get rid of notes.md", "en", {}),
    ("copy a.txt b.txt", "en", {}),
    ("read notes.md, plan.md", "en", {}),
    ("save it in plan.md", "en", {}),
    ("the size of every plan.md", "en", {}),
    ("read my\nnotes.md", "en", {}),
]
FOLDERS: list[tuple[str, str, dict[str, bool | None]]] = [
    ("make a folder called Lake House inside trips", "en", {"Lake House": True}),
    ("make a folder called summer plans", "en", {"summer plans": True}),
    ("list the files in Lake House", "en", {"Lake House": True}),
    ("which pdf files are in the Lake House folder?", "en", {"Lake House": True}),
    ("crea la cartella Verbali 2031", "it", {"Verbali 2031": True}),
    ("elenca i file nella cartella casa lago", "it", {"casa lago": False}),
    ("list the files in docs modified today", "en", {}),
    ("list the files in docs and sort them", "en", {}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "language", "readings"), [*FILES, *FOLDERS])
def test_the_readings(text: str, language: str, readings: dict[str, bool | None]) -> None:
    found = {one.text: one.sure for one in spaced_names(understand(text, language))}
    assert found == {name: sure for name, sure in readings.items() if sure is not None}
    assert all(text[one.start : one.end] == one.text for one in spaced_names(understand(text, language)))


@pytest.mark.parametrize(
    ("text", "there", "names"),
    [
        ("read trips/plan 2031.txt", None, ["trips/plan 2031.txt"]),
        ("read trips/plan 2031.txt", {"2031.txt"}, ["2031.txt"]),
        ("read trips/plan 2031.txt", set[str](), ["trips/plan 2031.txt"]),
        ("copy garden notes.md in trips", None, ["notes.md", "trips"]),
        ("copy garden notes.md in trips", {"notes.md"}, ["notes.md", "trips"]),
        ("copy garden notes.md in trips", {"garden notes.md"}, ["garden notes.md", "trips"]),
        ("open the new garden notes.md", {"garden notes.md", "notes.md"}, ["garden notes.md"]),
        ("open the new garden notes.md", {"new garden notes.md", "garden notes.md"}, ["new garden notes.md"]),
        ("list the files in Lake House", {"House"}, ["Lake House"]),
    ],
)
def test_one_is_chosen_by_what_is_there(text: str, there: set[str] | None, names: list[str]) -> None:
    request = understand(text, "en")
    picked = chosen(spaced_names(request), None if there is None else there.__contains__, request.slots)
    slots = with_names(request.slots, picked)
    if there == {"2031.txt"}:
        assert not picked
    else:
        assert [slot.value for slot in slots] == names
    assert all(text[slot.start : slot.end] == slot.text for slot in slots)


def test_no_form_changes() -> None:
    """A cache finds what it found: the slots and the forms are those of the short names."""
    request = understand("sposta lista nozze.txt nella cartella archivio", "it")
    assert request.normal_form == "sposta lista {path} nella cartella {path}"
    assert [slot.text for slot in request.slots] == ["nozze.txt", "archivio"]


def test_an_endless_request_has_few_readings() -> None:
    text = "read " + "green " * 4000 + "house.txt"
    assert len(spaced_names(understand(text, "en"))) <= 5
