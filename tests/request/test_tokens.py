"""Tokenisation: the rules, one by one, and that tokens tile any text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.request.tokens import fold, tokenise

RULES = [
    ("list files", [("word", "list"), ("word", "files")]),
    ("LIST  Files\n", [("word", "list"), ("word", "files")]),
    ('say "a  b" now', [("word", "say"), ("quoted", "a  b"), ("word", "now")]),
    ("“x” «y» `z` 'k l'", [("quoted", "x"), ("quoted", "y"), ("quoted", "z"), ("quoted", "k l")]),
    ('5" wide', [("number", "5"), ("odd", '"'), ("word", "wide")]),
    ("dell'archivio", [("word", "dell'"), ("word", "archivio")]),
    ("nell’~/Docs", [("word", "nell'"), ("path", "~/docs")]),
    ("don’t what's", [("word", "don't"), ("word", "what's")]),
    ("c'è", [("word", "c'"), ("word", "è")]),
    ("1.5MB 10 mb 1,000", [("number", "1.5"), ("word", "mb"), ("number", "10"), ("word", "mb"), ("number", "1,000")]),
    ("５ files", [("number", "5"), ("word", "files")]),
    ("2026-11-30 30/11/2026", [("date", "2026-11-30"), ("odd", "30/11/2026")]),
    ("*.txt src/**/*.py file?.md", [("glob", "*.txt"), ("glob", "src/**/*.py"), ("glob", "file?.md")]),
    ("./a ../b ~ ~/c /d .. a/b", [("path", p) for p in ("./a", "../b", "~", "~/c", "/d", "..", "a/b")]),
    ("report.txt foo.tar.gz song.mp3", [("path", "report.txt"), ("path", "foo.tar.gz"), ("path", "song.mp3")]),
    (".txt .", [("ext", ".txt"), ("dot", ".")]),
    ("~user 1/2 a<b", [("odd", "~user"), ("odd", "1/2"), ("odd", "a<b")]),
    ("a@b.it http://x.y/z @me x@y", [("address", "a@b.it"), ("url", "http://x.y/z"), ("odd", "@me"), ("odd", "x@y")]),
    ("(see README.md), ok?", [("punct", "("), ("word", "see"), ("path", "readme.md"), ("punct", ")"), ("punct", ","),
                              ("word", "ok"), ("punct", "?")]),
    ("report(1).pdf src/..", [("path", "report(1).pdf"), ("path", "src/..")]),
    ("end... well-known snake_case", [("word", "end"), ("punct", "."), ("punct", "."), ("punct", "."),
                                      ("word", "well-known"), ("word", "snake_case")]),
    ("e\u0301", [("word", "é")]),
    ("...", [("punct", ".")] * 3),
    ("files' $x {x}", [("word", "files'"), ("odd", "$x"), ("odd", "{x}")]),
    ("$5 €1.50 $5k $", [("word", "$"), ("number", "5"), ("word", "€"), ("number", "1.50"), ("word", "$"), ("number", "5"),
                        ("word", "k"), ("odd", "$")]),
    ("20% 5:30 17:30? 5:30pm 5:3", [("number", "20"), ("word", "%"), ("clock", "5:30"), ("clock", "17:30"), ("punct", "?"),
                                    ("clock", "5:30"), ("word", "pm"), ("odd", "5:3")]),
    ("at 5 p.m., e.g. A.M.", [("word", "at"), ("number", "5"), ("word", "p.m"), ("punct", "."), ("punct", ","),
                              ("word", "e.g"), ("punct", "."), ("word", "a.m"), ("punct", ".")]),
    ("l'un'ora dell'l'arte's lʼarte lʼ1", [("word", "l'"), ("word", "un'"), ("word", "ora"), ("word", "dell'l'arte's"),
                                           ("word", "l'arte"), ("word", "l'"), ("number", "1")]),
    ("mezz'ora un'ora", [("word", "mezz'"), ("word", "ora"), ("word", "un'"), ("word", "ora")]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), RULES, ids=[text for text, _ in RULES])
def test_rules(text: str, expected: list[tuple[str, str]]) -> None:
    assert [(token.kind, token.key) for token in tokenise(text) if token.kind != "space"] == expected


NEAR = st.text("abc'’\"“”«»`.,;:/~*?()[]{}<>$@ 019-_\n\t é５ﬁ ⟦\u0301\u200b", max_size=60)


@given(st.one_of(st.text(max_size=80), NEAR))
def test_tokens_tile_any_text(text: str) -> None:
    tokens = tokenise(text)
    assert "".join(text[token.start : token.end] for token in tokens) == text
    assert all(token.start < token.end for token in tokens)


@given(st.one_of(st.text(max_size=40), NEAR))
def test_keys_hold_no_white_space(text: str) -> None:
    # A key becomes part of a form that is joined by spaces; quoted text is the one exception, and never a key there.
    for token in tokenise(text):
        if token.kind not in {"space", "quoted"}:
            assert token.key.split() == [token.key]


@pytest.mark.parametrize(
    "piece", ['"', "“", "'a ", "«", "((((", "a.b.", "1.1.", "1,1,", "a'a'", "l'", "l’1-", "lʼ", "/..", "~/"]
)
def test_no_text_costs_more_than_its_length(piece: str) -> None:
    # Quadratic scanning would take minutes here; the per-test timeout is the judge.
    text = piece * (200_000 // len(piece))
    assert sum(token.end - token.start for token in tokenise(text)) == len(text)


def test_folding() -> None:
    assert fold("ＬＩＳＴ") == fold("List") == "list"
    assert fold("ﬁle") == "file"
    assert fold("è") == fold("È") == "è"
    assert fold("l’") == "l'"
    assert fold("\ufdfa").split() == [fold("\ufdfa")]
