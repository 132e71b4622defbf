"""What a slot is worth: numbers in words, durations by value, dates, times, names, lists; and what is none of these."""

from __future__ import annotations

from typing import Any

import pytest

from metnos.request.model import LIST_OF
from metnos.request.understand import understand

SLOTS: list[tuple[str, str, list[tuple[str, Any]]]] = [
    ("en", "twenty five files", [("integer", 25)]),
    ("en", "twenty-five files", [("integer", 25)]),
    ("en", "two hundred twenty five files", [("integer", 225)]),
    ("en", "five hundred files", [("integer", 500)]),
    ("en", "two thousand three hundred files", [("integer", 2300)]),
    ("en", "three million files", [("integer", 3_000_000)]),
    ("en", "5 thousand files", [("integer", 5000)]),
    ("en", "one hundred files", [("integer", 100)]),
    ("en", "twenty one files", [("integer", 21)]),
    ("en", "one megabyte", [("size", 1_000_000)]),
    ("en", "zero files", [("integer", 0)]),
    ("en", "between one hundred and fifty files", [("integer", 100), ("integer", 50)]),
    ("en", "room five two", [("integer", 5), ("integer", 2)]),
    ("en", "20% of $5.50", [("integer", 20), ("number", 5.5)]),
    ("it", "ventuno file", [("integer", 21)]),
    ("it", "trentotto file", [("integer", 38)]),
    ("it", "duecento file", [("integer", 200)]),
    ("it", "duemila file", [("integer", 2000)]),
    ("en", "two weeks", [("duration", "P14D")]),
    ("en", "14 days", [("duration", "P14D")]),
    ("en", "90 minutes", [("duration", "PT1H30M")]),
    ("en", "an hour and a half", [("duration", "PT1H30M")]),
    ("en", "1.5 hours", [("duration", "PT1H30M")]),
    ("en", "1 hour and 30 minutes", [("duration", "PT1H30M")]),
    ("en", "1 hour 30 minutes", [("duration", "PT1H30M")]),
    ("en", "an hour", [("duration", "PT1H")]),
    ("en", "one hour", [("duration", "PT1H")]),
    ("en", "half an hour", [("duration", "PT30M")]),
    ("en", "24 months", [("duration", "P2Y")]),
    ("en", "2 years", [("duration", "P2Y")]),
    ("en", "1 year and 6 months", [("duration", "P1Y6M")]),
    ("en", "24 hours", [("duration", "PT24H")]),
    ("en", "1 day", [("duration", "P1D")]),
    ("en", "0 seconds", [("duration", "PT0S")]),
    ("en", "5 minutes and 2 hours", [("duration", "PT5M"), ("duration", "PT2H")]),
    ("en", "between 2 and 3 hours", [("integer", 2), ("duration", "PT3H")]),
    ("it", "due settimane", [("duration", "P14D")]),
    ("it", "un'ora e mezza", [("duration", "PT1H30M")]),
    ("it", "2 ore e 30 minuti", [("duration", "PT2H30M")]),
    ("it", "mezz'ora", [("duration", "PT30M")]),
    ("it", "un giorno", [("duration", "P1D")]),
    ("en", "5 pm", [("time", "17:00")]),
    ("en", "at 5pm", [("time", "17:00")]),
    ("en", "at 12 am", [("time", "00:00")]),
    ("en", "at 12 p.m.", [("time", "12:00")]),
    ("en", "at five thirty pm", [("time", "17:30")]),
    ("en", "at 5:30 p.m. today", [("time", "17:30"), ("period", "day")]),
    ("en", "at 17:30", [("time", "17:30")]),
    ("en", "at noon", [("time", "12:00")]),
    ("it", "alle 17:30", [("time", "17:30")]),
    ("it", "a mezzanotte", [("time", "00:00")]),
    ("en", "tomorrow", [("date", "tomorrow")]),
    ("en", "the day after tomorrow", [("date", "day after tomorrow")]),
    ("en", "next monday", [("date", "next monday")]),
    ("en", "on monday", [("date", "monday")]),
    ("en", "march 5th, 2026", [("date", "2026-03-05")]),
    ("en", "the 5th of march 2026", [("date", "2026-03-05")]),
    ("en", "5 march", [("date", "--03-05")]),
    ("en", "the twenty first of june", [("date", "--06-21")]),
    ("en", "twenty-first june", [("date", "--06-21")]),
    ("en", "july fourth", [("date", "--07-04")]),
    ("en", "on may 5", [("date", "--05-05")]),
    ("en", "feb 29", [("date", "--02-29")]),
    ("en", "30/11/2026", [("date", "2026-11-30")]),
    ("en", "11/30/2026", [("date", "2026-11-30")]),
    ("en", "04/04/2026", [("date", "2026-04-04")]),
    ("it", "il 5 marzo 2026", [("date", "2026-03-05")]),
    ("it", "il primo maggio", [("date", "--05-01")]),
    ("it", "03/04/2026", [("date", "2026-04-03")]),
    ("it", "domani", [("date", "tomorrow")]),
    ("it", "lunedì prossimo", [("date", "next monday")]),
    ("it", "lunedi scorso", [("date", "last monday")]),
    ("en", "files called Summer Hits", [("name", "Summer Hits")]),
    ("en", "files called flurb", [("name", "flurb")]),
    ("it", "i file chiamati Gita Al Mare", [("name", "Gita Al Mare")]),
    ("en", "make a folder called 2027", [("name", "2027")]),
    ("en", "how many files are in the 2024 folder", [("path", "2024")]),
    ("en", "the files in folder 12 and folder 13", [("path", "12"), ("path", "13")]),
    ("en", "list the 5 folders", [("integer", 5)]),
    ("en", "show the folder 3 times", [("integer", 3)]),
    ("it", "crea una cartella 2027 dentro progetti", [("path", "2027"), ("path", "progetti")]),
    ("it", "nella cartella 2024 trova i pdf", [("path", "2024"), ("glob", "*.pdf")]),
    ("it", "nella cartella 5 file sono vuoti", [("integer", 5)]),
    ("it", "le 3 cartelle", [("integer", 3)]),
    ("en", "read a.txt and b.txt", [("paths", ["a.txt", "b.txt"])]),
    ("en", "read a.txt, b.txt, and c.txt", [("paths", ["a.txt", "b.txt", "c.txt"])]),
    ("it", "leggi a.txt, b.txt e c.txt", [("paths", ["a.txt", "b.txt", "c.txt"])]),
    ("en", "find *.py and *.md", [("globs", ["*.py", "*.md"])]),
    ("en", 'find "a" and "b"', [("texts", ["a", "b"])]),
    ("en", "mail a@b.it and c@d.it", [("addresses", ["a@b.it", "c@d.it"])]),
    ("en", "open http://a.it and http://b.it", [("urls", ["http://a.it", "http://b.it"])]),
    ("en", "copy a.txt and b.txt to c/", [("paths", ["a.txt", "b.txt"]), ("path", "c/")]),
    ("en", "find *.py and a.txt", [("glob", "*.py"), ("path", "a.txt")]),
    ("en", "read a.txt or b.txt", [("path", "a.txt"), ("path", "b.txt")]),
    ("en", "read a.txt, b.txt", [("path", "a.txt"), ("path", "b.txt")]),
    ("en", "files between 1 MB and 5 MB", [("size", 1_000_000), ("size", 5_000_000)]),
]  # fmt: skip


@pytest.mark.parametrize(("language", "text", "expected"), SLOTS, ids=[text for _, text, _ in SLOTS])
def test_slots(language: str, text: str, expected: list[tuple[str, Any]]) -> None:
    request = understand(text, language)
    assert [(slot.kind, slot.value) for slot in request.slots] == expected
    assert all(type(slot.value) is type(value) for slot, (_, value) in zip(request.slots, expected, strict=True))


NONE = [
    ("en", "february 30"),
    ("en", "march 32"),
    ("en", "a second file"),
    ("en", "may i read it"),
    ("en", "a file"),
    ("en", "03/04/2026"),
    ("en", "31/31/2026"),
    ("en", "13 o'clock pm"),
    ("en", "the march of time"),
    ("en", "who called"),
    ("en", "one of them"),
    ("it", "31 aprile"),
    ("it", "un secondo file"),
    ("it", "una lista"),
]


@pytest.mark.parametrize(("language", "text"), NONE, ids=[text for _, text in NONE])
def test_what_is_no_such_value(language: str, text: str) -> None:
    kinds = {slot.kind for slot in understand(text, language).slots}
    assert kinds <= {"integer"}


def test_a_name_ends_where_the_sentence_may_go_on() -> None:
    assert understand("files called flurb gnarl").slots == ()
    assert [slot.text for slot in understand("files called flurb in src").slots] == ["flurb", "src"]


def test_the_items_of_a_list_stand_in_the_text() -> None:
    text = "copy a.txt, b/c.txt and d.txt to e/"
    whole, target = understand(text).slots
    assert [text[item.start : item.end] for item in whole.items] == ["a.txt", "b/c.txt", "d.txt"]
    assert {item.kind for item in whole.items} == {"path"}
    assert LIST_OF["path"] == whole.kind
    assert text[whole.start : whole.end] == whole.text == "a.txt, b/c.txt and d.txt"
    assert target.items == ()


FORMS = [
    ("weather today", "weather yesterday"),
    ("today's weather", "yesterday's weather"),
    ("wake me in an hour", "wake me in 20 minutes"),
    ("wake me at 5 pm", "wake me at 17:30"),
    ("meet on monday", "meet on 2026-03-05"),
    ("cancel friday's meeting", "cancel monday's meeting"),
    ("promemoria per domani", "promemoria per lunedì"),
]


@pytest.mark.parametrize(("left", "right"), FORMS)
def test_one_form_whatever_the_value(left: str, right: str) -> None:
    one, two = understand(left), understand(right)
    assert one.normal_form == two.normal_form
    assert [slot.value for slot in one.slots] != [slot.value for slot in two.slots]


APART = [
    ("weather today", "today's weather"),
    ("wake me in 5 minutes", "wake me in 5"),
    ("wake me at 5 pm", "wake me at 5"),
    ("wake me in an hour", "wake me every hour"),
    ("remind me on monday", "remind me every monday"),
    ("remind me on monday", "remind me before monday"),
    ("read a.txt and b.txt", "read a.txt or b.txt"),
    ("read a.txt and b.txt", "read a.txt"),
    ("read a.txt and b.txt", "find *.txt and *.md"),
    ("files called flurb", "files called"),
    ("20% of 50", "20 of 50"),
    ("pay $5", "pay €5"),
    ("pay $5", "pay 5"),
    ("svegliami tra un'ora", "svegliami ogni ora"),
    ("svegliami alle 17:30", "svegliami prima delle 17:30"),
]


@pytest.mark.parametrize(("left", "right"), APART)
def test_apart_in_both_grades(left: str, right: str) -> None:
    one, two = understand(left), understand(right)
    assert one.normal_form != two.normal_form
    assert one.loose_form != two.loose_form
