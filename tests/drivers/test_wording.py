"""From codes and recorded data to sentences: every failure in every language, and what is shown of data."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metnos.drivers.asked import Misfit, Typed, fit, typed_value
from metnos.drivers.given import inputs_wanted
from metnos.drivers.showing import cell, markdown_table, show_data
from metnos.drivers.wording import failure_text, warning_text
from metnos.sdk import Failure
from metnos.text import LANGUAGES, messages

FAILURES = sorted(key.removeprefix("failure.") for key in messages("en") if key.startswith("failure."))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("code", FAILURES)
def test_every_failure_says_what_it_is_about(code: str, language: str) -> None:
    said = failure_text(Failure(cls="data", code=code, where="/path"), {"path": "notes/a.txt"}, language)
    assert said
    assert "{" not in said
    assert language == "en" or code not in said
    if "{what}" in messages(language)[f"failure.{code}"]:
        assert "notes/a.txt" in said


@pytest.mark.parametrize(
    ("error", "args", "english", "italian"),
    [
        (Failure(cls="missing", code="not-found", message="x.txt: gone", where="/path"), {"path": "x.txt"}, "x.txt: gone", "x.txt: non c'è un tale file né una tale cartella"),
        (Failure(cls="missing", code="not-found", message="gone", where="/files/1"), {"files": ["a", {"path": "b"}]}, "b: gone", "b: non c'è un tale file né una tale cartella"),
        (Failure(cls="denied", code="outside-roots", message="outside", where="/etc/passwd"), {"path": "x"}, "/etc/passwd: outside", "/etc/passwd: fuori dalle cartelle concesse; `--root DIR` ne concede una"),
        (Failure(cls="data", code="value-misfit", message="5 is no text", where="/path"), {"path": 5}, "path: 5 is no text", "path: il valore non va bene"),
        (Failure(cls="internal", code="their-own", message="words of a tool"), None, "words of a tool", "words of a tool"),
        (Failure(cls="internal", code="their-own", where="/x"), {"x": "y"}, "y: their-own", "y: their-own"),
        (Failure(cls="internal", code="their-own"), {}, "their-own", "their-own"),
        (Failure(cls="data", code="not-found", where="/path"), {"path": "z" * 500}, "path: there is no such file or folder", "path: non c'è un tale file né una tale cartella"),
    ],
)  # fmt: skip
def test_a_failure_in_words(error: Failure, args: dict[str, object] | None, english: str, italian: str) -> None:
    assert failure_text(error, args, "en") == english
    assert failure_text(error, args, "it") == italian


@settings(max_examples=50)
@given(
    st.text(max_size=30), st.text(max_size=30), st.none() | st.dictionaries(st.text(max_size=5), st.text(max_size=9))
)
def test_no_failure_can_break_the_sentence(code: str, where: str, args: dict[str, str] | None) -> None:
    for language in LANGUAGES:
        assert isinstance(failure_text(Failure(cls="data", code=code, where=where), args, language), str)
        assert isinstance(warning_text(f"{code}: {where}", language), str)


def test_warnings() -> None:
    assert warning_text("unreadable: sub/x", "it") == "non si può leggere: sub/x"
    assert warning_text("1.2.3: not-found", "en").startswith("step 1.2.3 was left out: ")
    assert warning_text("not-text: a.jpg", "en") == "a.jpg: it is no text in this encoding"
    assert warning_text("what a tool says", "it") == "what a tool says"
    assert warning_text("note: what a tool says", "it") == "note: what a tool says"


# --- what is shown --------------------------------------------------------------------------------------------------------


def test_what_is_shown_of_data() -> None:
    assert show_data([], "en") == "Nothing found."
    assert show_data({"entries": []}, "it") == "Nessun risultato."
    assert show_data({"text": "x"}, "en") == "x"
    assert show_data({"entries": [1, "a", None, {"b": 1}]}, "en") == '- 1\n- a\n- \n- {"b":1}'
    assert show_data({"b": 1.5, "a": True, "path_bytes": "%FF", "none": None}, "en") == "a: true\nb: 1.5"
    many = show_data([{"path": f"f{n}", "size": n} for n in range(60)], "en")
    assert many.splitlines()[0] == "| path | size |"
    assert many.endswith("… and 10 more")
    assert len(show_data({"text": "x" * 10_000}, "en")) < 8_100
    assert markdown_table(["a"], [["x|y\nz"]]).splitlines()[2] == "| x\\|y z |"
    assert cell(10**15) == "1000000000000000"


# --- what a person types --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [("5", 5), ("a.txt", "a.txt"), ('"5"', "5"), ("NaN", "NaN"), ("[1, 2]", [1, 2]), ("", ""), ('{"a": 1, "a": 2}', '{"a": 1, "a": 2}'), ("1e999", "1e999"), ("9" * 30, "9" * 30), ("[" * 100, "[" * 100)],
)  # fmt: skip
def test_what_was_typed_is_json_where_it_is_json(text: str, value: object) -> None:
    assert typed_value(text) == value


def test_what_was_typed_takes_the_type_that_is_asked_for() -> None:
    assert fit("x", {"type": "string"}, Typed("5")) == "5"
    assert fit("x", {"type": "integer"}, Typed("5")) == 5
    assert fit("x", {"enum": [1, 2]}, Typed("2")) == 2
    assert fit("x", {"type": "array"}, Typed('["a"]')) == ["a"]
    assert fit("x", {"type": "integer"}, 5) == 5
    for schema, answer in (({"type": "integer"}, Typed("soon")), ({"type": "string"}, 5), ({"type": "integer"}, "5")):
        with pytest.raises(Misfit) as raised:
            fit("x", schema, answer)
        assert raised.value.where == "x"


def test_inputs_are_found_wherever_references_are_read() -> None:
    plan = {
        "steps": [
            {"tool": "a", "args": {"x": "${INPUT:one}", "y": ["and $<INPUT:two> too", {"z/~": "${INPUT:one} ${INPUT:three ?? 1}"}]}},
            {"tool": "b", "args": {}, "for_each": "${INPUT:four.rows}"},
            {"tool": "final_answer", "args": {"text": "$${INPUT:no} ${step1.x} ${broken"}},
        ]
    }  # fmt: skip
    assert inputs_wanted(plan) == {
        "one": "/steps/0/args/x",
        "two": "/steps/0/args/y/0",
        "three": "/steps/0/args/y/1/z~1~0",
        "four": "/steps/1/for_each",
    }
