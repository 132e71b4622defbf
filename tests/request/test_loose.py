"""The loose grade: what the table names may go, and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.request.lexicon import lexicons
from metnos.request.understand import understand

WORDS = sorted({word for lexicon in lexicons() for word in lexicon.known} | {",", "5", "*.py"})

EQUAL = [
    ("the five largest files", "five largest files"),
    ("what is the total size of the files", "what is total size of files"),
    ("hello, list the files", "list the files"),
    ("hey there list files", "list files"),
    ("can you please list the files", "list the files"),
    ("find the pdf files, and count them", "find the pdf files and count them"),
    ("could you tell me please how many files are here", "could you tell me how many files are here"),
    ("ciao, elenca i file", "elenca i file"),
    ("tell me how many files are here", "how many files are here"),
    ("hey, can you tell me what files are here?", "what files are here?"),
    ("i would like to know where the files are", "where the files are"),
    ("could you list the files", "can you list the files"),
    ("hi, i need to see the files", "i want to see the files"),
    ("dimmi quanti file ci sono qui", "quanti file ci sono qui"),
    ("potresti elencare i file", "puoi elencare i file"),
    ("puoi cortesemente elencare i file", "puoi elencare i file"),
    ("ok, list the files", "list the files"),
    ("okay what files are here", "what files are here"),
    ("um can you list the files", "can you list the files"),
    ("hi i want to know where the files are", "where the files are"),
    ("i was wondering where the files are", "where the files are"),
    ("i'd like to list the files", "i want to list the files"),
    ("pls list the files", "list the files pls"),
    ("what are we gonna list", "what are we going to list"),
    ("scusa, quanti file ci sono qui", "quanti file ci sono qui"),
    ("allora elenca i file", "elenca i file"),
]

APART = [
    ("ok if i list the files", "if i list the files"),
    ("hello i love you lyrics", "i love you lyrics"),
    ("let me know who calls", "who calls"),
    ("let me know who calls", "i want to know who calls"),
    ("tell me when it is ready", "when it is ready"),
    ("tell me if there are files", "if there are files"),
    ("well read books", "read books"),
    ("so do i", "do i"),
    ("oh what a night", "what a night"),
    ("dimmi quando è qui", "quando è qui"),
    ("fammi sapere chi legge", "chi legge"),
    ("scusa se elenca i file", "se elenca i file"),
    ("senti chi legge", "chi legge"),
    ("can you list the files", "list the files"),
    ("did you list the files", "will you list the files"),
    ("tell me the files", "the files"),
    ("tell him how many files are here", "how many files are here"),
    ("don't tell me how many files are here", "how many files are here"),
    ("could you list the files", "list the files"),
    ("could i list the files", "can you list the files"),
    ("i need to list the files", "do i need to list the files"),
    ("tell me", "let me know"),
    ("show me my files", "show me your files"),
    ("show me my files", "show him my files"),
    ("show a few files", "show few files"),
    ("show the few files", "show few files"),
    ("list the same files", "list same files"),
    ("what is the time", "what is time"),
    ("list the first file", "list first files"),
    ("if there are files, list them", "when there are files, list them"),
    ("list files, not folders", "list files not folders"),
    ("no, list files", "no list files"),
    ("list all files", "list files"),
    ("list files in src", "list files from src"),
    ("the five files", "five files"),
    ("the largest files", "the largest file"),
    ("songs that please my wife", "songs that my wife"),
    ("elenca i file", "elenca file"),
    ("mostra il file", "mostra un file"),
    ("puoi elencare i file", "devi elencare i file"),
    ("hello", "hi"),
]


@pytest.mark.parametrize(("left", "right"), EQUAL)
def test_equal_in_the_loose_grade(left: str, right: str) -> None:
    one, two = understand(left), understand(right)
    assert (one.language, one.loose_form) == (two.language, two.loose_form)


@pytest.mark.parametrize(("left", "right"), APART)
def test_apart_in_the_loose_grade(left: str, right: str) -> None:
    one, two = understand(left), understand(right)
    assert one.language == two.language
    assert one.loose_form != two.loose_form
    assert one.normal_form != two.normal_form


@given(st.lists(st.sampled_from(WORDS), max_size=10).map(" ".join), st.sampled_from(["en", "it"]))
def test_the_loose_form_is_the_strict_one_without_some_words(text: str, language: str) -> None:
    request = understand(text, language)
    strict = iter(request.normal_form.split(" "))
    assert all(word in strict for word in request.loose_form.split(" ") if word)


def test_an_equal_strict_form_is_an_equal_loose_form() -> None:
    for left, right in (("the biggest pdf", "the largest pdf file"), ("Hello, show FILES!", "hello, show files")):
        assert understand(left).normal_form == understand(right).normal_form
        assert understand(left).loose_form == understand(right).loose_form
