"""What a text may say of a turn: attempts to sneak in a number, a claim, a negation, a place, in two languages."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.drivers.held import LONGEST, Held, unheld

READ = Held(
    facts="| name | size |\n| --- | --- |\n| notes.txt | 1,234 |\n| dir/plan.md | 56 |\n\nNote: 2 could not be read",
    request="the files over 50 bytes here",
    numbers=frozenset({Decimal(2)}),
)
ACTED = Held(
    facts="Deleted a.txt\nDeleted b.txt\nCreated report.md",
    request="delete the 5 old drafts, and write a report",
    effects={"delete": ("/home/ada/a.txt", "/home/ada/b.txt"), "create": ("/home/ada/report.md",)},
)
DATED = Held(
    facts="| name | modified |\n| --- | --- |\n| a.txt | 2026-12-01T00:03:26.245018+00:00 |\n| b.txt | 2024-05-06 |"
)
NOTHING = Held(facts="Nothing found.", request="files over 5 GB")


def same(held: Held, *texts: str) -> list[Any]:
    return [pytest.param(held, text, id=text[:60]) for text in texts]


HOLDS = [
    *same(
        READ,
        "There are two files, notes.txt and dir/plan.md.",
        "The largest is notes.txt with 1234 bytes.",
        "notes.txt has 1.234 bytes, and plan.md is smaller.".replace("plan.md", "dir/plan.md"),
        "I see 2 files over 50 bytes.",
        "Ci sono due file sopra i 50 byte; il primo è “notes.txt”.",
        "2 could not be read: no, not.".replace(": no, not.", "."),
    ),
    *same(
        ACTED,
        "I deleted a.txt and b.txt.",
        "Two drafts were deleted, 2 in number.",
        "Ho cancellato due bozze: a.txt e b.txt.",
        "Created report.md.",
        "Ho scritto il rapporto in report.md.",
    ),
    *same(NOTHING, "Nothing is over 5 GB."),
    *same(DATED, "b.txt is of 2024-05-06.", "a.txt was touched at 2026-12-01T00:03:26.245018+00:00."),
]


@pytest.mark.parametrize(("held", "text"), HOLDS)
def test_what_the_record_holds_may_be_said(held: Held, text: str) -> None:
    assert unheld(text, held) == ""


SNEAKS: list[tuple[str, list[Any]]] = [
    (
        "number",
        same(
            READ,
            "There are three files.",
            "There are 3 files.",
            "There are ３ files.",
            "There are ³ files.",
            "There are ٣ files.",
            "There are twenty-three files.",
            "One thousand two hundred thirty-five bytes.",
            "notes.txt has 1235 bytes.",
            "notes.txt has 12.34 bytes.",
            "notes.txt has -1234 bytes.",
            "notes.txt has 1 235 bytes.",
            "There are Ⅷ files.",
            "There are VIII files.",
            "There are ⑧ files.",
            "Ci sono tre file.",
            "Ci sono ventitré file.",
            "Sono milleduecentotrentacinque byte.",
            "Sono millecento byte.",
            "2.5 files",
        )
        + same(DATED, "Three files are here.", "12 files are here.", "b.txt is of 2024-05-07.", "Sono sei file."),
    ),
    (
        "vague",
        same(
            READ,
            "About 2 files.",
            "A dozen files.",
            "Half of them are small.",
            "It is twice the size.",
            "Quasi 2 file.",
            "Una dozzina di file.",
            "Circa 2 file.",
            "Migliaia di file.",
            "Due milioni di byte.",
        ),
    ),
    (
        "effect",
        same(
            READ,
            "I deleted notes.txt.",
            "notes.txt was removed.",
            "The files were moved to dir/plan.md.",
            "I sent you the list.",
            "I've e-mailed the list.".replace("e-mailed", "emailed"),
            "Uploaded.",
            "The program ran.",
            "Done!",
            "It was completed successfully.",
            "I will delete notes.txt.",
            "notes.txt is gone.",
            "Ho cancellato notes.txt.",
            "Il file notes.txt è stato eliminato.",
            "Ho inviato la lista.",
            "Ho spostato i file.",
            "Fatto!",
            "Il messaggio è stato spedito.",
            "ＤＥＬＥＴＥＤ notes.txt.",
        )
        + same(ACTED, "I deleted a.txt and sent b.txt.", "Ho modificato a.txt.", "I deleted and updated a.txt."),
    ),
    (
        "count",
        same(
            ACTED,
            "I deleted 5 drafts.",
            "I deleted five drafts.",
            "Ho cancellato cinque bozze.",
            "Three files were deleted.",
            "Deleted: 5.",
            "I deleted the drafts.\nFive of them.",
            "All drafts were deleted.",
            "Every draft is deleted.",
            "Ho cancellato tutte le bozze.",
            "Ho cancellato ogni bozza.",
            "Created 2 reports and deleted 2 drafts.",
            "I deleted one draft.",
        ),
    ),
    ("target", same(ACTED, "I deleted “old drafts”.", "I deleted the ‘5’ drafts.")),
    (
        "negation",
        same(
            ACTED,
            "I did not delete a.txt.",
            "No file was deleted.",
            "I never deleted a.txt.",
            "a.txt wasn't deleted.",
            "Non ho cancellato a.txt.",
            "Nessuna bozza è stata cancellata.",
            "Deleting a.txt failed.",
        )
        + same(
            READ,
            "There are no files.",
            "Nothing is there.",
            "Non ci sono file.",
            "The folder is empty.",
            "Nessun file.",
        ),
    ),
    (
        "place",
        same(
            READ,
            "See /etc/passwd.",
            "The largest is other.txt.",
            "It is in dir/other.",
            "Ask ada@example.com.",
            "It lies in ~/secret.",
            "The largest is “secret plan”.",
            "The largest is otes.txt.",
            "Il più grande è altro.txt.",
        ),
    ),
    (
        "form",
        same(
            READ,
            "",
            " \n",
            "x" * (LONGEST + 1),
            "See https://example.com.",
            "[notes](notes.txt)",
            "<b>notes.txt</b>",
            "| a | b |",
            "# Result",
            "notes\u202e.txt",
            "notes\x1b[31m",
            "delet\u200bed",
            "I dеleted notes.txt",  # a letter of another alphabet
        ),
    ),
]


@pytest.mark.parametrize(
    ("kind", "held", "text"),
    [pytest.param(kind, *one.values, id=f"{kind}: {one.id}") for kind, many in SNEAKS for one in many],
)
def test_what_it_does_not_hold_is_refused_by_name(kind: str, held: Held, text: str) -> None:
    assert unheld(text, held).partition(":")[0] == kind


@given(st.integers(0, 10**9), st.sampled_from(["There are {} files.", "{} file", "Sono {}.", "({})", "x={}"]))
def test_no_number_in_digits_slips_through(number: int, sentence: str) -> None:
    held = unheld(sentence.format(number), READ)
    assert (held == "") == (number in (2, 50, 56, 1234)), held


@given(st.text(max_size=200))
def test_any_text_has_an_answer(text: str) -> None:
    assert re.fullmatch(r"|[a-z]+: .*", unheld(text, ACTED), re.DOTALL)
