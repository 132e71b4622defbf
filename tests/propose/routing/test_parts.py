"""What routing is made of: words, cues, parts, the index, what feeds what."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import metnos.propose.routing.cues as cues
from metnos.contracts.vocabulary import exists
from metnos.propose.routing.closure import Closure
from metnos.propose.routing.parts import parts_of
from metnos.propose.routing.words import stem, words_of
from metnos.request.lexicon import languages
from metnos.request.understand import understand

if TYPE_CHECKING:
    from metnos.contracts.catalog import Catalog


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("getURLs_v2", ["get", "url"]),
        ("read_files_csv", ["read", "file", "csv"]),
        ("XMLHttpRequest", ["xml", "http", "request"]),
        ("companies' boxes and glasses", ["company", "box", "glass"]),
        ("x" * 50 + " 42 a", []),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    assert words_of(text) == list(map(stem, words))


def test_number_gender_and_accents_do_not_matter_in_italian() -> None:
    assert words_of("le cartelle", "it") == words_of("cartella", "it")
    assert words_of("diversi", "it") == words_of("diverse", "it")
    assert words_of("città", "it") == words_of("citta", "it")
    assert words_of("status analysis") == ["status", "analysis"]


def test_every_cue_points_to_a_family_of_the_vocabulary_and_every_language_has_some() -> None:
    data = tomllib.loads(Path(cues.__file__).with_name("cues.toml").read_text("utf-8"))
    slots = data.pop("slots")
    assert set(data) == set(languages())
    families = {family for table in data.values() for family in table}
    families |= {family for value in slots.values() for family in value.split(", ")}
    assert all(exists(*family.split()) for family in families)
    assert set(data["en"]) == set(data["it"])


def test_parts_say_where_they_are_and_whose_the_intents_are() -> None:
    said = "Delete old.log. Then read notes.txt, and copy a.csv to b"
    first, second, third = parts_of(understand(said))
    assert (first.text, second.text, third.text) == ("Delete old.log", "read notes.txt", "copy a.csv to b")
    assert [intent.verb for part in (first, second, third) for intent in part.intents] == ["delete", "read", "copy"]
    assert said[third.start : third.end].endswith("b")
    assert (second.types, third.types) == (("txt",), ("csv",))


def test_a_name_that_only_may_be_a_folder_is_no_evidence_of_files() -> None:
    (rome,) = parts_of(understand("what is there in Rome"))
    (docs,) = parts_of(understand("what is there in ./docs"))
    assert (rome.names_files, docs.names_files) == (False, True)
    assert rome.about_files


def test_values_are_no_words() -> None:
    (part,) = parts_of(understand('find "delete the lights" in lights.txt'))
    assert part.words == ("find",)


def test_what_a_consumer_needs_is_brought(shipped: Catalog) -> None:
    contracts = tuple(shipped.contracts().values())
    names = [contract.name for contract in contracts]
    closure = Closure(contracts)

    def needed(*picked: str) -> set[str]:
        return {names[number] for number in closure.needed([names.index(name) for name in picked], [])}

    assert {"find_files"} <= needed("compute_files_hash")
    assert {"read_files", "render_table", "find_files"} <= needed("write_files")
    assert {"find_files"} <= needed("delete_files")
    assert needed("find_files") == needed("get_now") == set()
    shaping = {names[number] for number in closure.shaping([names.index("find_files")])}
    assert {"sort_entries", "take_entries", "compute_stats", "render_table"} <= shaping
    assert not shaping & {"read_files", "find_files", "delete_files"}
    assert closure.shaping([names.index("delete_files")]) == []
