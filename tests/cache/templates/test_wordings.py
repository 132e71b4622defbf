"""The grammar of wordings and its automata."""

from __future__ import annotations

import itertools

import pytest

from metnos.cache.templates import wordings
from metnos.cache.templates.wordings import (
    Automaton,
    Choice,
    Flag,
    SlotPart,
    WordingFault,
    Words,
    canonical_words,
    parse_wording,
    sentences,
    shared_form,
)

PARTS = {"where": "[here|in {folder:path}]"}


def automaton(*lines: str, language: str = "en") -> Automaton:
    return Automaton([parse_wording(line, PARTS) for line in lines], language)


def test_trees() -> None:
    assert parse_wording("list [the] files", {}) == (Words("list"), Choice(((), (Words("the"),))), Words("files"))
    assert parse_wording("(a|b c) {n:integer}", {}) == (
        Choice(((Words("a"),), (Words("b"), Words("c")))), SlotPart("n", "integer"),
    )  # fmt: skip
    assert parse_wording("<where>", PARTS) == (
        Choice(((), (Words("here"),), (Words("in"), SlotPart("folder", "path")))),
    )
    assert parse_wording("a|b", {}) == (Choice(((Words("a"),), (Words("b"),))),)


FAULTS = ["[the", "(a|b", "the]", "a)", "<nowhere>", "a < b", "{n}", "{N:integer}", "}", "[(a]"]


@pytest.mark.parametrize("text", FAULTS)
def test_faults(text: str) -> None:
    with pytest.raises(WordingFault):
        parse_wording(text, PARTS)


def test_a_part_holds_no_other() -> None:
    with pytest.raises(WordingFault, match="no part <where>"):
        parse_wording("<outer>", {"outer": "<where>", "where": "here"})


def test_literals_pass_through_the_lexicon() -> None:
    assert canonical_words("BIGGEST", "en") == ("largest",)
    assert canonical_words("what's", "en") == ("what", "is")
    assert canonical_words("l'elenco", "it") == ("l'", "elenco")
    assert canonical_words(",", "en") == (",",)
    for unknown in ("flurb", "a.txt", "5", "?"):
        with pytest.raises(WordingFault, match="is not a word of the en lexicon"):
            canonical_words(unknown, "en")


def test_a_word_that_the_lexicon_lacks_is_a_fault() -> None:
    with pytest.raises(WordingFault, match="flurb"):
        automaton("list flurb")


def test_names_of_a_form() -> None:
    built = automaton("list [the] {n:integer} files <where>", "files in {folder:path} , {n:integer}")
    assert built.names(["list", "{integer}", "files"]) == (("n",),)
    assert built.names(["list", "the", "{integer}", "files", "in", "{path}"]) == (("n", "folder"),)
    assert built.names(["files", "in", "{path}", ",", "{integer}"]) == (("folder", "n"),)
    for no in (
        "list files",
        "list the the {integer} files",
        "list {integer} files in",
        "list {path} files",
        "",
        "here",
    ):
        assert built.names(no.split()) == ()


def test_a_flag_says_which_way_was_taken() -> None:
    assert parse_wording("a [b {x+}]", {}) == (Words("a"), Choice(((), (Words("b"), Flag("x")))))
    built = automaton("list files [[,] including hidden files {hidden+}] [in {folder:path}]")
    assert built.names(["list", "files"]) == ((),)
    assert built.names(["list", "files", ",", "including", "hidden", "files"]) == (("+hidden",),)
    assert built.names(["list", "files", "including", "hidden", "files", "in", "{path}"]) == (("+hidden", "folder"),)
    assert built.names(["list", "files", "including", "hidden"]) == ()
    assert automaton("list [all {x+}|all {y+}] files").names(["list", "all", "files"]) == (("+x",), ("+y",))


def test_two_bindings_of_one_form_are_both_given() -> None:
    built = automaton("list {a:path}", "list {b:path}")
    assert built.names(["list", "{path}"]) == (("a",), ("b",))


def test_the_automaton_accepts_what_the_tree_says_and_nothing_else() -> None:
    line = "[list|show [me]] (the|all) {n:integer} [files [here]]"
    built = automaton(line)
    tree = parse_wording(line, {})
    said: set[str] = set()
    for picks in itertools.product(range(3), repeat=5):
        left = list(picks)
        said.add(sentences(tree, lambda _: "{integer}", lambda n: left.pop(0) % n))  # noqa: B023
    assert len(said) == 4 * 2 * 3
    words = ["list", "show", "me", "the", "all", "{integer}", "files", "here"]
    for length in range(1, 6):
        for form in itertools.product(words, repeat=length):
            assert bool(built.names(form)) == (" ".join(form) in said)


def test_shared_forms() -> None:
    left, right = automaton("list [the] files", "show {p:path}"), automaton("(find|list) the files")
    assert shared_form(left, right) == "list the files"
    assert shared_form(left, automaton("show {q:glob}", "list")) is None
    assert shared_form(left, automaton("show {other:path}")) == "show {path}"


def test_states_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    built = automaton("[a] [the] [list] files")
    assert built.start in set(built.states())
    monkeypatch.setattr(wordings, "MAX_STATES", 2)
    with pytest.raises(WordingFault, match="more than 2 states"):
        list(built.states())
