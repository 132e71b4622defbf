"""What asks without being one verb: a phrase, a participle behind a mark, a word of doing; and what only looks like it."""

from __future__ import annotations

import pytest

from metnos.request.understand import understand

ASKS = [
    ("get rid of the empty files in old", "en", "delete"),
    ("please do away with notes.bak", "en", "delete"),
    ("throw away draft.txt", "en", "delete"),
    ("throw the empty files of old away", "en", "delete"),
    ("find the tmp files and get rid of them", "en", "delete"),
    ("butta via prova.txt", "it", "delete"),
    ("butta i file vuoti", "it", "delete"),
    ("cerca i file tmp e buttali via", "it", "delete"),
    ("sbarazzati di prova.txt", "it", "delete"),
    ("change the name of a.txt to b.txt", "en", "change"),
    ("I need the newest logs, written to a new file newest.md", "en", "create"),
    ("the sizes of the images, saved in a file called sizes.md", "en", "create"),
    ("the sizes of the images, stored as sizes.md", "en", "create"),
    ("mi serve la somma di ore.csv, salvata in un nuovo file somma.txt", "it", "create"),
    ("mi servono i nomi dei pdf e scritti in un file nomi.txt", "it", "create"),
    ("fai una cartella Estate", "it", "create"),
    ("fammi una lista in vecchi.md dei file più vecchi", "it", "create"),
]  # fmt: skip
NONE = [
    # described, not asked for
    ("which lines are saved in a.txt", "en"),
    ("show the rows, saved in a.csv", "en"),
    ("show the rows saved to a.csv", "en"),
    ("mostra le righe scritte in un file a.txt", "it"),
    ("mostra le righe, scritte in a.txt", "it"),
    # a list of what is in a file
    ("fammi una lista dei doppioni in dati.csv", "it"),
    ("fammi la lista dei file in elenco.md", "it"),
    # told, or split by a mark
    ("which files did I throw away", "en"),
    ("show who can throw, then the files and away", "en"),
    ("the word rid in a.txt", "en"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "language", "effect"), ASKS)
def test_it_asks(text: str, language: str, effect: str) -> None:
    request = understand(text, language)
    assert effect in {intent.effect for intent in request.intents}
    assert not request.negated


@pytest.mark.parametrize(("text", "language"), NONE)
def test_it_asks_for_nothing(text: str, language: str) -> None:
    assert {intent.effect for intent in understand(text, language).intents} <= {"read"}


@pytest.mark.parametrize(("text", "language"), [("never get rid of a.txt", "en"), ("non buttare via a.txt", "it")])
def test_a_negation_stays_one(text: str, language: str) -> None:
    request = understand(text, language)
    assert request.negated
    assert {intent.effect for intent in request.intents} <= {"read"}


def test_its_words_stay_what_they_are() -> None:
    request = understand("get rid of a.txt", "en")
    assert request.normal_form == "get rid of {path}"
    assert request.unknown == ("get", "rid")
    assert "".join(request.text[span.start : span.end] for span in request.spans) == request.text
    assert understand("butta via a.txt").language == "it"
