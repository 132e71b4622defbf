"""A reason behind a request negates nothing of it; everything else that is negated stays so."""

from __future__ import annotations

import pytest

from metnos.request.understand import understand

REASONS = """
en Delete old.txt, I don't need it any more
en Delete the folder drafts. Not needed anymore
en please bin tmp.log since nobody needs it
en delete notes.txt, it's no longer needed!
en move it to archive; I do not use it any longer
it elimina la cartella vecchia, non mi serve più
it Cancella bozza.txt perché non ci serve più.
it butta via appunti.txt, tanto non lo uso mai
it sposta bozze.txt in archivio, non serve più a nessuno
"""
NEGATED = """
en Don't delete old.txt, I don't need it any more
en Delete old.txt, but not new.txt, I don't need it
en Delete everything except a.txt, I don't need it any more
en Delete a.txt, I don't need help
en Delete a.txt, I don't need it any more, do not touch b.txt
en Remove the file I don't need
en I don't need it any more
it cancella a.txt ma b.txt non mi serve più
it non cancellare a.txt, non mi serve più
it cancella a.txt, non b.txt
"""


def _lines(text: str) -> list[tuple[str, str]]:
    return [(line[:2], line[3:]) for line in text.strip().splitlines()]


@pytest.mark.parametrize(("language", "text"), _lines(REASONS))
def test_a_reason_negates_nothing(language: str, text: str) -> None:
    request = understand(text)
    assert request.language == language
    assert not request.negated


@pytest.mark.parametrize(("language", "text"), _lines(NEGATED))
def test_what_is_no_reason_stays_negated(language: str, text: str) -> None:
    assert understand(text, language).negated
