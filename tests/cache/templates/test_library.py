"""The library: every reason for a miss, examples, and what a build refuses."""

from __future__ import annotations

import hashlib

import msgspec
import pytest

from metnos.cache.model import TEMPLATE_REASONS, Match, Miss, MissReason
from metnos.cache.templates.library import TemplateLibrary, library_faults
from metnos.request.understand import understand
from metnos.text import message

MISSES = [
    ("", "empty-request", ""),
    ("please", "empty-request", ""),
    ("list the flurbed files", "unknown-words", "flurbed"),
    ("Do NOT list the files in a/b", "negated", "NOT"),
    ("don't list the files", "negated", "don't"),
    ("list some files in a/b", "quantified", "some"),
    ("the 0 largest files", "unbound-slot", "0 < 1"),
    ("save the list of all files to list.xlsx", "unbound-slot", "list.xlsx ≠ .md, .markdown, .txt, .csv"),
    ("largest  in a/b", "no-template", "largest in a/b"),
    ("delete the flurbed files over 5 MB", "no-delete", "delete the flurbed files over 5 MB"),
    ("move everything to the folder x", "no-move", "move everything to the folder x"),
    ("rename all files to b.txt", "no-rename", "rename all files to b.txt"),
    ("rename a/b.txt to c.txt", "unbound-slot", "a/b.txt: /"),
    ("copy a.txt to b/", "unbound-slot", "b/: /"),
    ("duplicate all files", "no-copy", "duplicate all files"),
    ('append "x" to a.txt', "no-append", 'append "x" to a.txt'),
    ("send a.txt to a@b.it", "no-send", "send a.txt to a@b.it"),
    ("run the script a.sh", "no-run", "run the script a.sh"),
]


@pytest.mark.parametrize(("text", "reason", "detail"), MISSES)
def test_misses(library: TemplateLibrary, text: str, reason: MissReason, detail: str) -> None:
    found = library.match(understand(text, "en"))
    assert found == Miss(reason=reason, detail=detail)
    for language in ("en", "it"):
        assert "{" not in message(f"miss.{reason}", language, detail=detail)


def test_an_action_that_is_negated_is_not_what_was_asked_for(library: TemplateLibrary) -> None:
    assert library.match(understand("do not delete a.txt")) == Miss(reason="negated", detail="not")
    assert library.match(understand("non cancellare i file")) == Miss(reason="negated", detail="non")


def test_reasons_are_a_closed_list(payloads: dict[str, bytes]) -> None:
    twice = {"a": payloads["largest-files"], "b": payloads["largest-files"].replace(b'"largest-files"', b'"second"')}
    ambiguous = TemplateLibrary.from_signed(twice).match(understand("the five largest files"))
    assert ambiguous == Miss(reason="ambiguous", detail="largest-files, second")
    empty = TemplateLibrary().match(understand("the five largest files"))
    assert empty == Miss(reason="no-library", detail="no template in 'en'")
    seen = {reason for _, reason, _ in MISSES} | {ambiguous.reason, empty.reason}
    assert seen == set(TEMPLATE_REASONS)


def test_the_default_question(library: TemplateLibrary, payloads: dict[str, bytes]) -> None:
    for text in (
        "the five largest files here, as a table", "what are the five largest files under src/x?",
        "i cinque file più grandi in questa cartella",
    ):  # fmt: skip
        found = library.match(understand(text))
        assert isinstance(found, Match)
        digest = hashlib.sha256(payloads["largest-files"]).hexdigest()
        assert found.entry == f"largest-files@sha256:{digest}"
        assert found.plan["steps"][2] == {"tool": "take_entries", "args": {"from_step": 2, "count": 5}}
        assert "${SLOT:" not in msgspec.json.encode(found.plan).decode()


def test_a_request_whose_slots_are_not_in_its_form_is_not_served(library: TemplateLibrary) -> None:
    request = msgspec.structs.replace(understand("the five largest files"), slots=())
    assert library.match(request) == Miss(reason="unbound-slot", detail="a slot of the request is not in its form")


def test_a_match_is_the_callers_own(library: TemplateLibrary) -> None:
    first = library.match(understand("list all files"))
    assert isinstance(first, Match)
    first.plan["steps"].clear()
    second = library.match(understand("list all files"))
    assert isinstance(second, Match)
    assert second.plan["steps"]


def test_ids_are_unique(payloads: dict[str, bytes]) -> None:
    library = TemplateLibrary.from_signed({"a": payloads["read-file"], "b": payloads["read-file"]})
    assert library.ids == ("read-file",)
    assert library.refused == {"b": "the id 'read-file' is taken"}


def test_examples(library: TemplateLibrary) -> None:
    english = library.examples(language="en")
    assert {example.language for example in english} == {"en"}
    assert len(library.examples()) > len(english)
    about = library.examples("SMALLEST", "en")
    assert about
    assert all("smallest" in f"{e.text} {e.template} {e.description}".lower() for e in about)
    assert library.examples("flurb") == []
    assert {example.effect for example in library.examples("hello.txt")} == {"create", "change"}


def test_the_digest_is_over_the_references(payloads: dict[str, bytes], library: TemplateLibrary) -> None:
    assert library.digest == TemplateLibrary.from_signed(dict(reversed(payloads.items()))).digest
    changed = payloads | {"read-file": payloads["read-file"] + b"\n"}
    assert library.digest != TemplateLibrary.from_signed(changed).digest


def test_a_build_refuses_a_shared_form_and_a_dead_example(payloads: dict[str, bytes]) -> None:
    one = payloads["read-file"]
    two = one.replace(b'"read-file"', b'"other"').replace(b"leggi README.md", b"leggi flurb")
    faults = library_faults(TemplateLibrary.from_signed({"a": one, "b": two, "c": b"no"}))
    assert faults[0].startswith("c: ")
    assert any("read-file: shares " in fault and " with other" in fault for fault in faults)
    assert any("other: the example 'leggi flurb' does not match it" in fault for fault in faults)
