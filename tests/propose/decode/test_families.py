"""Kinds of files in words are a pattern of all their endings, where files are found by what they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from metnos.propose.decode.offers import Offers
from metnos.request.understand import understand
from metnos.testing.deciding import accepts
from tests.propose.decode.test_line import decoder, grammar

if TYPE_CHECKING:
    from metnos.propose.decode.state import Checks

PICTURES = "*.{jpg,jpeg,png,gif,webp,bmp,tif,tiff,heic,svg}"
THERE = frozenset({"photos", "foto"})


def families(text: str, language: str) -> set[str]:
    return set(Offers(understand(text, language), THERE.__contains__).families.values())


@pytest.mark.parametrize(
    ("language", "text", "patterns"),
    [
        ("en", "any markdown files around here? say how many", {"*.md"}),
        ("en", "list the text or markdown files", {"*.{txt,md}"}),
        ("en", "how many pictures are in photos", {PICTURES}),
        ("en", "what's the biggest photo", {PICTURES}),
        ("en", "delete the logs in server", {"*.log"}),
        ("it", "tutti i file di testo o markdown", {"*.{txt,md}"}),
        ("it", "cancella tutte le foto in foto", {PICTURES}),
        ("it", "cerca timeout nei log della cartella server", {"*.log"}),
        ("it", "quante immagini ci sono qui", {PICTURES}),
        # a place, a name, rows of a table, an ending that says more
        ("en", "what is in the photos folder", set[str]()),
        ("en", "list the files of photos", set[str]()),
        ("en", "how many photos did I sell in sales.csv", set[str]()),
        ("en", "list the pictures whose name starts with lake", set[str]()),
        ("en", "find png pictures in photos", set[str]()),
        ("en", "copy the photos lake.jpg and sea.jpg to old", set[str]()),
        ("it", "i due file più pesanti di foto", set[str]()),
        ("it", "leggi il testo", set[str]()),
    ],
)
def test_a_word_stands_for_its_endings(language: str, text: str, patterns: set[str]) -> None:
    assert families(text, language) == patterns


@pytest.mark.parametrize(
    ("text", "line", "fits"),
    [
        ("delete the logs in server", '1 find_files path="server" pattern="*.log"', True),
        ("list the text or markdown files in notes", '1 find_files path="notes" pattern="*.{txt,md}"', True),
        ("list the text or markdown files in notes", '1 find_files path="notes" pattern="*.md"', False),
    ],
)
def test_the_pattern_is_offered(shipped: Checks, text: str, line: str, fits: bool) -> None:
    assert accepts(grammar(decoder(shipped, text)), f"{line}\n") is fits


def test_what_is_deleted_was_found_by_its_kind(shipped: Checks) -> None:
    steps = ({"tool": "find_files", "args": {"path": "server"}},)
    assert not accepts(grammar(decoder(shipped, "delete the logs in server"), *steps), "2 delete_files <1\n")
    steps = ({"tool": "find_files", "args": {"path": "server", "pattern": "*.log"}},)
    assert accepts(grammar(decoder(shipped, "delete the logs in server"), *steps), "2 delete_files <1\n")


@pytest.mark.parametrize(
    ("language", "text", "folders"),
    [
        ("it", "elenco dei file vuoti, di tutte le cartelle", False),
        ("en", "list the empty files in all these folders", False),
        ("it", "elenco di tutte le cartelle", True),
        ("en", "list all the folders", True),
    ],
)
def test_folders_that_only_say_where_are_not_listed(shipped: Checks, language: str, text: str, folders: bool) -> None:
    assert decoder(shipped, text).tools.wanted.called.folders is folders


def test_how_deep_a_folder_is_is_never_nothing(shipped: Checks) -> None:
    steps = ({"tool": "list_dirs", "args": {}},)
    made = grammar(decoder(shipped, "list the folders and the empty files"), *steps)
    assert not accepts(made, '2 filter_entries <1 field="depth" op="eq" value=0\n')
