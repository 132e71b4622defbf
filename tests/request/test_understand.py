"""Requests explained: tiling, reasons, slots, forms, language, intents."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.request.lexicon import lexicons
from metnos.request.named import names_said
from metnos.request.understand import understand

REASON = re.compile(r"slot\([a-z]+\)|keyword\(.+\)|synonym\(.+\)|typo\(.+\)|polite|stop|space|unknown")
WORDS = sorted({word for lexicon in lexicons() for word in lexicon.known})
PIECES = st.one_of(
    st.sampled_from(WORDS),
    st.sampled_from(
        ["5", "1.5 MB", "a/b.txt", "*.py", '"x y"', "README", "PDFs", ".txt", "2026-01-01", ",", "please", "?"]
    ),
    st.text(max_size=6),
)


@given(st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=12).map(" ".join)))
def test_spans_tile_any_text_and_each_has_one_reason(text: str) -> None:
    request = understand(text)
    position = 0
    for span in request.spans:
        assert span.start == position
        assert span.end > span.start
        assert REASON.fullmatch(span.reason), span
        position = span.end
    assert position == len(text)
    for slot in request.slots:
        assert text[slot.start : slot.end] == slot.text


@given(st.lists(PIECES, max_size=10).map(" ".join))
def test_only_white_space_is_space(text: str) -> None:
    for span in understand(text).spans:
        assert (span.reason == "space") == text[span.start : span.end].isspace()


@given(st.lists(PIECES, max_size=10).map(" ".join))
def test_forms_have_one_token_a_slot(text: str) -> None:
    request = understand(text)
    marks = re.findall(r"(?<!\S)\{([a-z]+)\}(?!\S)", request.normal_form)
    assert marks == [slot.kind for slot in request.slots]


SLOTS: list[tuple[str, str, list[tuple[str, Any]]]] = [
    ("en", "the five largest files", [("integer", 5)]),
    ("en", "the 5 largest files", [("integer", 5)]),
    ("it", "i cinque file", [("integer", 5)]),
    ("en", "files larger than 1 MB", [("size", 1_000_000)]),
    ("en", "files larger than 1.5MB", [("size", 1_500_000)]),
    ("en", "files larger than 1 MiB", [("size", 1_048_576)]),
    ("en", "files larger than five kilobytes", [("size", 5000)]),
    ("it", "file più grandi di 10 mega", [("size", 10_000_000)]),
    ("it", "file più grandi di 1,5 GB", [("size", 1_500_000_000)]),
    ("en", "under 1,000 bytes", [("size", 1000)]),
    ("it", "sotto 1.000 byte", [("size", 1000)]),
    ("en", "2,000,000 files", [("integer", 2_000_000)]),
    ("en", "files of 0.500 KB", [("size", 500)]),
    ("en", "1.5 files", [("number", 1.5)]),
    ("en", "find *.py under src/lib", [("glob", "*.py"), ("path", "src/lib")]),
    ("en", "find pdf files", [("glob", "*.pdf")]),
    ("en", "find PDFs", [("glob", "*.pdf")]),
    ("en", "find python files", [("glob", "*.py")]),
    ("en", "find .txt files", [("glob", "*.txt")]),
    ("en", "files with extension csv", [("glob", "*.csv")]),
    ("it", "trova i file pdf", [("glob", "*.pdf")]),
    ("it", "trova i pdf", [("glob", "*.pdf")]),
    ("it", "file con estensione .md", [("glob", "*.md")]),
    ("en", "read ~/Notes/A.md", [("path", "~/Notes/A.md")]),
    ("en", "read README", [("path", "README")]),
    ("en", "read .gitignore", [("path", ".gitignore")]),
    ("en", "list files in .", [("path", ".")]),
    ("en", "list files in src", [("path", "src")]),
    ("en", "list files in Documents", [("path", "Documents")]),
    ("en", "list files in the src folder", [("path", "src")]),
    ("en", 'list files in the folder "My Things"', [("path", "My Things")]),
    ("it", "elenca i file nella cartella src", [("path", "src")]),
    ("it", "quanti file ci sono in Documenti", [("path", "Documenti")]),
    ("en", "files modified yesterday", [("period", "day-1")]),
    ("en", "files modified the day before yesterday", [("period", "day-2")]),
    ("en", "files modified last week", [("period", "week-1")]),
    ("it", "file modificati la settimana scorsa", [("period", "week-1")]),
    ("it", "file modificati l'altro ieri", [("period", "day-2")]),
    ("it", "file modificati quest'anno", [("period", "year")]),
    ("en", "files since 2026-02-28", [("date", "2026-02-28")]),
    ("en", 'write "Hello, World" to a.txt', [("quoted", "Hello, World"), ("path", "a.txt")]),
    ("en", "read http://x.y/z and mail a@b.it", [("url", "http://x.y/z"), ("address", "a@b.it")]),
    ("en", "show csv", []),
    ("en", 'the largest file in "My Docs"', [("path", "My Docs")]),
    ("en", 'files in the "My Docs" folder', [("path", "My Docs")]),
    ("it", 'i file più piccoli nella "Mia Cartella"', [("path", "Mia Cartella")]),
    ("en", "newest pdf", [("glob", "*.pdf")]),
    ("en", "how many pdf", [("glob", "*.pdf")]),
    ("it", "il pdf più grande", [("glob", "*.pdf")]),
    ("en", "which files contain TODO", [("quoted", "TODO")]),
    ("en", "files containing flurb in src", [("quoted", "flurb"), ("path", "src")]),
    ("it", "quali file contengono TODO", [("quoted", "TODO")]),
    ("it", "cosa contiene README", [("path", "README")]),
    ("en", "files modified in the last 7 days", [("period", "day-7..day")]),
    ("en", "files modified in the past two weeks", [("period", "day-14..day")]),
    ("en", "files modified in the last week", [("period", "day-7..day")]),
    ("it", "file modificati negli ultimi tre giorni", [("period", "day-3..day")]),
    ("en", "the last 5 files", [("integer", 5)]),
    ("en", "files in the pdf folder", [("path", "pdf")]),
]


@pytest.mark.parametrize(("language", "text", "expected"), SLOTS, ids=[text for _, text, _ in SLOTS])
def test_slots(language: str, text: str, expected: list[tuple[str, Any]]) -> None:
    request = understand(text, language)
    assert [(slot.kind, slot.value) for slot in request.slots] == expected
    assert all(type(slot.value) is type(value) for slot, (_, value) in zip(request.slots, expected, strict=True))


UNSURE = [
    ("en", "files larger than 1.000 MB"),  # one, or a thousand?
    ("it", "file più grandi di 1,000 MB"),
    ("en", "files of 1.5 bytes"),
    ("en", "files of 12,34,567 bytes"),
    ("en", "files of 1.234,5 KB"),
    ("en", "the 99999999999999999999 files"),
    ("en", "the 9999999999999999999999999999 files"),
    ("en", "the 9999999999999999 files"),
    ("en", "files of 99999999999 TB"),
    ("en", "files since 2026-02-30"),
    ("en", "the pdf"),
    ("en", "files in spanish accents"),
    ("en", "the -5 largest files"),
    ("en", "files of 10k"),
    ("en", "the size of the files in MB"),
    ("en", "files in total in reverse"),
    ("en", "files in the parent folder"),
    ("en", "files in everything"),
    ("en", "the files in Reverse"),
    ("it", "il file più grande in assoluto"),
    ("it", "i file nella cartella principale"),
    ("it", "i file in dettaglio"),
    ("it", "i file in uso"),
    ("it", "i file in giro"),
    ("it", "i file in gigabyte"),
]


@pytest.mark.parametrize(("language", "text"), UNSURE, ids=[text for _, text in UNSURE])
def test_what_is_not_sure_is_unknown(language: str, text: str) -> None:
    assert any(span.reason == "unknown" for span in understand(text, language).spans)


EQUAL = [
    ("the five largest files", "THE FIVE BIGGEST FILES"),
    ("the five largest files", "  the 7   largest\nfiles."),
    ("list all files", "Please list all files!"),
    ("list all files", "could you please list all files, please?"),
    ("list all files", "please, please list all files"),
    ("list all files", "ｌｉｓｔ all files, thanks"),
    ("find pdf files", "find *.txt files"),
    ("find pdf files", "find pdfs"),
    ("the largest pdf file", "the biggest pdf"),
    ("i 5 file più grandi", "i 5 file piu' grandi"),
    ("i 5 file più grandi", "i 5 file piu grandi"),
    ("qual è il file", "qual e' il file"),
    ("what is the largest file", "What's the largest file?"),
    ("don't delete files", "do not delete files"),
    ("list files in the directory a/b", "list files in the folder c.d"),
    ("elenca i file", "per favore, elencami i file. Grazie!"),
    ("qual è il file più grande", "QUAL È il file più grande?"),
    ("i cinque file dell'archivio", "i 6 file dell’archivio"),
]


@pytest.mark.parametrize(("left", "right"), EQUAL)
def test_equal_forms(left: str, right: str) -> None:
    one, two = understand(left), understand(right)
    assert (one.language, one.normal_form) == (two.language, two.normal_form)


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=8), st.data())
def test_case_and_spacing_are_folded(words: list[str], data: st.DataObject) -> None:
    text = " ".join(words)
    gaps = data.draw(st.lists(st.sampled_from([" ", "  ", "\n", "\t "]), min_size=len(words), max_size=len(words)))
    spaced = "".join(word + gap for word, gap in zip(words, gaps, strict=True))
    for language in ("en", "it"):
        assert understand(spaced, language).normal_form == understand(text, language).normal_form


def test_no_text_looks_like_a_slot() -> None:
    assert understand("list {path}").normal_form == "list {{path}}"
    assert understand("list a/b").normal_form == "list {path}"


def test_empty() -> None:
    for text in ("", "   ", "please", "per favore, grazie", "?!"):
        request = understand(text)
        assert request.normal_form == ""
        assert request.clauses == ()


LANGUAGES = [
    ("the five largest files", "en"),
    ("i cinque file più grandi", "it"),
    ("file pdf", "en"),
    ("mostra README.md", "it"),
    ("show README.md", "en"),
    ("conta i file", "it"),
]


@pytest.mark.parametrize(("text", "language"), LANGUAGES)
def test_the_language_that_explains_more(text: str, language: str) -> None:
    assert understand(text).language == language
    assert understand(text, "it").language == "it"


def test_an_unknown_language_is_the_callers_fault() -> None:
    with pytest.raises(ValueError, match="no lexicon"):
        understand("x", "xx")


INTENTS: list[tuple[str, list[tuple[str, str, str]]]] = [
    ("the five largest files", [("find", "files", "read")]),
    ("the five largest files, as a table", [("find", "files", "read"), ("render", "table", "read")]),
    ("how many lines are in a.txt", [("find", "texts", "read")]),
    ("show the contents of a.txt", [("read", "files", "read")]),
    ("count the pdf files", [("compute", "stats", "read")]),
    ('write "x" to a.txt', [("write", "files", "create")]),
    ('write "x" to a.txt, overwriting it', [("write", "files", "change")]),
    ('write "x" to a.txt without overwriting it', [("write", "files", "create")]),
    ('overwrite a.txt with "x"', [("write", "files", "change")]),
    ("write the list of the files to a.txt", [("write", "files", "create")]),
    ("find the pdf files and then delete them", [("find", "files", "read"), ("delete", "files", "delete")]),
    ("find the pdf files but do not delete them", [("find", "files", "read")]),
    ("do not delete the pdf files", []),
    ("please never delete a.txt", []),
    ("send a.txt to a@b.it", [("send", "messages", "send")]),
    ("run the script", [("run", "programs", "execute")]),
    ("list files in alphabetical order", [("find", "files", "read")]),
    ("I want to delete a.txt", [("find", "files", "read"), ("delete", "files", "delete")]),
    ("trova i file pdf e poi cancellali", [("find", "files", "read"), ("delete", "files", "delete")]),
    ("trova i file pdf e copiali in fatture", [("find", "files", "read"), ("copy", "files", "create")]),
    ("vorrei copiarli in fatture", [("find", "files", "read"), ("copy", "files", "create")]),
    ("leggi a.txt e non cancellarlo", [("read", "files", "read")]),
    ("quali file sono cambiati in aprile", [("find", "files", "read")]),
    ("trova i file pdf e cancella tutto", [("find", "files", "read"), ("delete", "files", "delete")]),
    ("non cancellare i file", []),
    ('scrivi "x" in a.txt, sovrascrivendolo', [("write", "files", "change")]),
    ('scrivi "x" in a.txt senza sovrascrivere', [("write", "files", "create")]),
    ("show me duplicate files", [("find", "files", "read")]),
    ("duplicate a.txt", [("copy", "files", "create")]),
    ("let me copy a.txt", [("copy", "files", "create")]),
    ("newest pdf", [("find", "files", "read")]),
    ("how big is a.txt", [("find", "files", "read")]),
    ("which files did i change yesterday", [("find", "files", "read")]),
    ("did you delete a.txt", [("find", "files", "read")]),
    (
        "trova i csv, contali e scrivi il numero in n.txt",
        [("find", "files", "read"), ("compute", "stats", "read"), ("write", "files", "create")],
    ),
    ("hello", []),
]


@pytest.mark.parametrize(("text", "expected"), INTENTS, ids=[text for text, _ in INTENTS])
def test_intents(text: str, expected: list[tuple[str, str, str]]) -> None:
    assert [(i.verb, i.object, i.effect) for i in understand(text).intents] == expected


def test_modifiers() -> None:
    assert understand("list hidden files recursively").intents[0].modifiers == ("hidden", "recursive")
    assert understand('write "x" to a.txt without overwriting it').intents[0].modifiers == ()


def test_clauses() -> None:
    text = "find the pdf files, count them and then write the list to a.txt"
    clauses = understand(text).clauses
    assert [text[c.start : c.end] for c in clauses] == [
        "find the pdf files", ", count them", "and then write the list to a.txt",
    ]  # fmt: skip
    assert len(understand("files by size and name, in a table").clauses) == 1


NEGATED = [
    "do not list files", "don't list files", "list files without subfolders", "list all files except a.txt",
    "list files but not hidden ones", "never list files", "non elencare i file", "elenca i file senza sottocartelle",
    "elenca i file tranne a.txt", "elenca tutto escluso a.txt",
]  # fmt: skip


@pytest.mark.parametrize("text", NEGATED)
def test_negation_is_never_lost(text: str) -> None:
    assert understand(text).negated
    assert not understand("list the files").negated


@pytest.mark.parametrize(
    ("text", "slots"),
    [
        ("how many files are in docs", [("path", "docs")]),
        ("list the docs in src", [("path", "src")]),
        ("how many pdfs are there in docs?", [("glob", "*.pdf"), ("path", "docs")]),
        ("quanti file ci sono in docs", [("path", "docs")]),
    ],
)
def test_a_plural_type_after_a_place_is_a_folder(text: str, slots: list[tuple[str, str]]) -> None:
    assert [(slot.kind, slot.value) for slot in understand(text).slots] == slots


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("fai una copia di a.txt chiamata b.txt", ["copy"]),
        ("puoi fare una copia di a.txt?", ["copy"]),
        ("elimina a.txt e fai una copia di b.txt in c.txt", ["delete", "copy"]),
        ("non fare una copia di a.txt", []),
        ("hai una copia di a.txt?", ["find"]),
        ("fammi vedere una copia di a.txt", ["find"]),
    ],
)
def test_the_noun_of_an_action_behind_a_word_of_doing(text: str, asked: list[str]) -> None:
    assert [intent.verb for intent in understand(text, "it").intents] == asked


@pytest.mark.parametrize(
    ("text", "language"), [("the files in the subfolders", "en"), ("i file nelle sottocartelle", "it")]
)
def test_how_far_is_no_name(text: str, language: str) -> None:
    assert not names_said(understand(text, language))
