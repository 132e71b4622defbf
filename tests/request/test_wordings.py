"""What a sentence asks to be done: one row a wording, and look-alikes that ask for nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from metnos.request.understand import understand

ROWS = [
    line.partition("|")[::2]
    for line in Path(__file__).with_name("wordings.txt").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]
"""Effects by their verbs, `neg` where the request is negated, `none`; and the sentence."""


def asked(text: str) -> str:
    request = understand(text)
    effects = {(intent.verb, intent.object) for intent in request.intents if intent.effect != "read"}
    said = sorted({f"{verb}-dirs" if (verb, thing) == ("write", "dirs") else verb for verb, thing in effects})
    return " ".join((["neg"] if request.negated else []) + (said or ["none"]))


@pytest.mark.parametrize(("wanted", "text"), ROWS)
def test_what_is_asked_for(wanted: str, text: str) -> None:
    assert asked(text) == wanted


def test_a_negation_of_what_is_asked_for_stays_one() -> None:
    """Whatever asks for an effect asks for none with a negation in front of it."""
    starts = {"en": "do not ", "it": "non "}
    for wanted, text in ROWS:
        if wanted != "none" and not wanted.startswith("neg"):
            request = understand(text)
            again = understand(starts[request.language] + text, request.language)
            assert again.negated, text


def test_the_words_of_a_pattern_stay_what_they_are() -> None:
    request = understand("bin temp/b.tmp", "en")
    assert request.normal_form == "bin {path}"
    assert request.unknown == ("bin",)
