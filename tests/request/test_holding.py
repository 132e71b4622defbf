"""Where a synonym is one, and where a word is meant as it is written: no two meanings share a form."""

from __future__ import annotations

from typing import Any

import pytest

from metnos.cache.entries.key import form_of
from metnos.request.lexicon import LexiconFault, lexicon_for, read_lexicon
from metnos.request.typos import corrected
from metnos.request.understand import understand
from tests.request.test_lexicon import data

APART = [
    ("en", "what does mean mean", "what does average mean"),
    ("en", "what does big mean", "what does large mean"),
    ("en", "what does five mean", "what does 5 mean"),
    ("en", "translate two weeks", "translate 14 days"),
    ("en", "define noon", "define midday"),
    ("en", "spell folder", "spell directory"),
    ("en", "turn off the display", "turn off the show"),
    ("en", "display settings", "show settings"),
    ("en", "list the files in display", "list the files in show"),
    ("en", "find the nearest store", "find the nearest save"),
    ("en", "search the phone directory for Anna", "search the phone folder for Anna"),
    ("en", "order a big mac", "order a large mac"),
    ("en", "let us see the files", "let's see the files"),
    ("en", "I'd read the file", "I would read the file"),
    ("en", "files containing biggest", "files containing largest"),
    ("en", "files containing five", "files containing 5"),
    ("en", "count the word big in a.txt", "count the word large in a.txt"),
    ("en", "write five to a.txt", "write 5 to a.txt"),
    ("en", "write biggest to a.txt", "write largest to a.txt"),
    ("en", "what is my mail address", "what is my email address"),
    ("en", "show files in directory", "show files in folder"),
    ("en", "zip files in src", "rar files in src"),
    ("en", "find txt files and zip files in src", "find txt files and rar files in src"),
    ("en", "what is 5!", "what is 5"),
    ("en", "what is 5 !", "what is 5"),
    ("en", "show May", "show may"),
    ("en", "who is Will", "who is will"),
    ("en", "show the rss", "show the rs files"),
    ("en", "list docs files", "list doc files"),
    ("it", "trovami in documenti", "trova in documenti"),
    ("it", "cercami in questa cartella", "cerca in questa cartella"),
    ("it", "trovami prima di domani", "trova prima di domani"),
    ("it", "mostrami", "mostra"),
    ("it", "trova la linea più lunga", "trova la riga più lunga"),
    ("it", "elimina la riunione di domani", "cancella la riunione di domani"),
    ("it", "elimina la mail di ieri", "cancella la mail di ieri"),
    ("it", "cosa significa elimina i file", "cosa significa cancella i file"),
    ("it", "cosa significa manda", "cosa significa invia"),
    ("it", "come si dice cinque", "come si dice 5"),
    ("it", "manda avanti il video", "invia avanti il video"),
    ("it", "trova i file e le cartelle e salvali", "trova i file e le cartelle e salvale"),
    ("it", "alle 17 persone", "alle 18"),
    ("it", "svegliami alle 5", "svegliami alle 17"),
]


def read(language: str, text: str, grade: Any) -> tuple[str, list[Any]]:
    request = understand(text, language)
    return form_of(request, grade), [slot.value for slot in request.slots]


@pytest.mark.parametrize("grade", ["strict", "loose"])
@pytest.mark.parametrize(("language", "left", "right"), APART)
def test_what_differs_in_meaning_differs_in_form(language: str, left: str, right: str, grade: str) -> None:
    assert read(language, left, grade) != read(language, right, grade)


EQUAL = [
    ("en", "display all files", "show all files"),
    ("en", "can you display the files", "can you show the files"),
    ("en", "list files in the directory a/b", "list files in the folder a/b"),
    ("en", "how big is a.txt", "how large is a.txt"),
    ("en", "send an e-mail to a@b.it", "send a mail to a@b.it"),
    ("en", "read my e-mail about taxes", "read my email about taxes"),
    ("en", "which files were changed yesterday", "which files were modified yesterday"),
    ("en", "save the list to a.txt", "store the list to a.txt"),
    ("en", "write the biggest files to a.txt", "write the largest files to a.txt"),
    ("en", "can you compute the mean size of the biggest files", "can you compute the mean size of the largest files"),
    ("en", "find zip files in src", "find rar files in src"),
    ("en", "Show Me The Biggest Files", "show me the largest files"),
    ("en", "Is it here? Show the files", "is it here? show the files"),
    ("it", "trovami i file pdf", "trova i file pdf"),
    ("it", "trovami tutti i file", "trova tutti i file"),
    ("it", "mostrami 5 file", "mostra 5 file"),
    ("it", "mostrami cinque file", "mostra cinque file"),
    ("it", "mostrami a.txt", "mostra a.txt"),
    ("it", "elimina tutti i primi 5 file in src", "cancella tutti i primi 5 file in src"),
    ("it", "elimina a.txt", "cancella a.txt"),
    ("it", "eliminare i file", "cancellare i file"),
    ("it", "invia una e-mail a a@b.it", "manda una mail a a@b.it"),
    ("it", "perche' i file", "perché i file"),
]


@pytest.mark.parametrize(("language", "left", "right"), EQUAL)
def test_what_means_the_same_has_one_form(language: str, left: str, right: str) -> None:
    assert read(language, left, "strict")[0] == read(language, right, "strict")[0]


def test_a_synonym_that_does_not_hold_is_explained_as_itself() -> None:
    reasons = {span.reason for span in understand("turn off the display", "en").spans}
    assert "keyword(display)" in reasons
    assert "synonym(show)" in {span.reason for span in understand("display all files", "en").spans}


SIZES = [
    ("5 MB", 5_000_000), ("5 mb", 5_000_000), ("5MB", 5_000_000), ("5 KB", 5000), ("5 kB", 5000), ("5 kb", 5000), ("5 B", 5),
    ("5 GiB", 5 * 1024**3), ("5 MEGABYTES", 5_000_000), ("one MB", 1_000_000), ("a megabyte", 1_000_000), ("2 bytes", 2),
    ("5 Mb", None), ("5 Gb", None), ("5 Kb", None), ("5 b", None), ("5 mB", None), ("5 Mib", None), ("5 M", None), ("5 m", None),
    ("one Mb", None), ("a gig", None),
]  # fmt: skip


@pytest.mark.parametrize(("said", "value"), SIZES)
def test_the_case_of_a_unit_is_meaning(said: str, value: int | None) -> None:
    request = understand(f"files larger than {said}", "en")
    sizes = [slot.value for slot in request.slots if slot.kind == "size"]
    assert sizes == ([] if value is None else [value])


def test_units_that_differ_in_case_alone_never_share_a_form() -> None:
    for left, right in (("5 Mb", "5 MB"), ("5 M", "5 m"), ("5 Gb", "5 gb"), ("MB in a GB", "Mb in a GB")):
        assert read("en", f"how much is {left}", "loose") != read("en", f"how much is {right}", "loose")


HOURS = [
    ("alle 17", "17:00"), ("dopo le 17", "17:00"), ("prima delle 17 di domani", "17:00"), ("alle 17 oggi", "17:00"), ("alle 17, poi", "17:00"),
    ("alle 5", None), ("alle 24", None), ("alle 17 persone", None), ("alle 17 e 30", None), ("i 17", None), ("le 17", None),
]  # fmt: skip


@pytest.mark.parametrize(("said", "value"), HOURS)
def test_an_hour_of_twenty_four_behind_its_article(said: str, value: str | None) -> None:
    request = understand(f"chiama Anna {said}", "it")
    assert [slot.value for slot in request.slots if slot.kind == "time"] == ([] if value is None else [value])


def test_italian_megabytes_in_words() -> None:
    assert [slot.value for slot in understand("file più grandi di un megabyte", "it").slots] == [1_000_000]
    assert [slot.value for slot in understand("file oltre un giga", "it").slots] == [1_000_000_000]
    assert understand("un megabyte", "it").slots == ()


def test_a_word_that_is_asked_about_is_not_put_right() -> None:
    assert corrected(understand("list the contants of a.txt")) is not None
    assert corrected(understand("define contants")) is None


def test_what_holds_somewhere_is_a_synonym() -> None:
    assert lexicon_for("en").words["display"].holds == "leading"
    english = data("en")
    english["holding"]["leading"] += " show"
    with pytest.raises(LexiconFault, match="'show' is no synonym"):
        read_lexicon(english, data("common"))
