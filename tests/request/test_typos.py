"""A slip of one letter, put right where it is certain; otherwise nothing is guessed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.request.lexicon import lexicon_for, lexicons
from metnos.request.model import Request
from metnos.request.typos import corrected, meant_by
from metnos.request.understand import understand

MENDED = [
    ("the five lagest files", "the five largest files"),
    ("the largset fiels", "the largest files"),
    ("show the foldres in src", "show the folders in src"),
    ("the newest folderr in a/b", "the newest folder in a/b"),
    ("files in src of the smalest size", "files in src of the smallest size"),
    ("i file modifcati ieri", "i file modificati ieri"),
]


@pytest.mark.parametrize(("typed", "meant"), MENDED)
def test_one_slip(typed: str, meant: str) -> None:
    request = understand(typed)
    found = corrected(request)
    assert found is not None
    wanted = understand(meant, request.language)
    assert (found.normal_form, found.loose_form) == (wanted.normal_form, wanted.loose_form)
    assert found.text == typed
    assert found.slots == request.slots
    assert found.intents == wanted.intents
    told = [span.reason for span in found.spans if span.reason.startswith("typo(")]
    assert len(told) == sum(span.reason == "unknown" for span in request.spans)
    assert not any(span.reason == "unknown" for span in found.spans)


LEFT_ALONE = [
    "the five largest files",  # nothing to put right
    "list the tiles",  # another first letter
    "list the filed",  # another last letter
    "list the lanes",  # too short to tell
    "delete the foldres",  # an effect
    "remove the lagest files",
    "delte a.txt",
    "list files withuot folders",  # what negates is never guessed
    "list the largest hiden files",  # nor what says how
    "read lagest.txt in the fodlers flurb",  # one word is left
    "list files in lagest",  # a name
    "list flurb",
    "files contaning TODO",  # the text looked for, or a file of that name
    "the yesteday files",
    "the twelfe files",
]


@pytest.mark.parametrize("text", LEFT_ALONE)
def test_where_there_is_a_doubt_nothing_is_guessed(text: str) -> None:
    assert corrected(understand(text)) is None


def test_a_request_of_another_making_is_left_alone() -> None:
    assert corrected(Request(text="lagest", language="en", normal_form="lagest")) is None


@pytest.mark.parametrize("language", [lexicon.language for lexicon in lexicons()])
def test_no_word_of_the_lexicon_is_a_slip_of_another(language: str) -> None:
    lexicon = lexicon_for(language)
    for word in lexicon.words:
        meant = meant_by(word, lexicon)
        assert meant == "" or understand(word, language).spans[0].reason != "unknown"


@given(st.text("abcdefghilmnoprstuvz'àè-", min_size=1, max_size=14), st.sampled_from(["en", "it"]))
def test_what_is_meant_is_one_slip_away_and_turns_nothing(word: str, language: str) -> None:
    lexicon = lexicon_for(language)
    meant = meant_by(word, lexicon)
    if meant:
        assert abs(len(meant) - len(word)) <= 1
        assert lexicon.words[meant].roles <= {"verb", "object", "content"}
