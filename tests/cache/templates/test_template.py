"""Templates: what is refused, and how slots are bound."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.cache.model import Match, Miss
from metnos.cache.templates.library import TemplateLibrary, library_faults
from metnos.cache.templates.template import Template, TemplateFault, escape, read_payload
from metnos.plan.spelling import parse_string
from metnos.request.understand import understand


def toml(plan: object = None, **changes: str) -> bytes:
    """A template of one step, with the given sections replaced."""
    parts = {
        "id": "sample",
        "wordings": "list {n:integer} files [in {folder:path}]",
        "examples": "list 5 files",
        "slots": '[slots.n]\nkind = "integer"\nmin = 1\nmax = 9\n',
        "answer": '[answer]\nen = "${SLOT:n} of ${SLOT:folder.text}"\n',
        **changes,
    }
    if plan is None:
        plan = {"steps": [{"tool": "find_files", "args": {"path": "${SLOT:folder}", "limit": "${SLOT:n}"}}]}
    text = plan if isinstance(plan, str) else json.dumps(plan)
    return (
        f"id = \"{parts['id']}\"\nversion = \"1\"\nplan = '''{text}'''\n"
        f"[description]\nen = \"d\"\n[wordings]\nen = '''\n{parts['wordings']}\n'''\n"
        f"[examples]\nen = '''\n{parts['examples']}\n'''\n{parts['slots']}{parts['answer']}"
    ).encode()


def match(payload: bytes, text: str) -> Match | Miss:
    return TemplateLibrary.from_signed({"x": payload}).match(understand(text, "en"))


def plan_of(payload: bytes, text: str) -> dict[str, Any]:
    found = match(payload, text)
    assert isinstance(found, Match), found
    return found.plan


def test_a_bound_plan() -> None:
    found = match(toml(), "list 5 files in src/a")
    assert isinstance(found, Match)
    assert found.plan == {"steps": [
        {"tool": "find_files", "args": {"path": "src/a", "limit": 5}},
        {"tool": "final_answer", "args": {"text": "5 of src/a"}},
    ]}  # fmt: skip
    assert found.origins == {"/steps/0/args/path": "user", "/steps/0/args/limit": "user", "/steps/1/args/text": "user"}
    assert found.slots == {"folder": "src/a", "n": 5}
    assert (found.template, found.language) == ("sample", "en")
    assert found.entry.startswith("sample@sha256:")


def test_defaults_are_the_authors() -> None:
    found = match(toml(), "list five files")
    assert isinstance(found, Match)
    assert found.plan["steps"][0]["args"] == {"path": ".", "limit": 5}
    assert found.plan["steps"][1]["args"]["text"] == "5 of this folder"
    assert found.origins["/steps/0/args/path"] == "author"
    assert found.origins["/steps/0/args/limit"] == "user"


def test_a_whole_slot_keeps_its_type_and_text_is_text() -> None:
    plan = {"steps": [{"tool": "t", "args": {
        "a": "${SLOT:n}", "b": "n=${SLOT:n}", "c": ["${SLOT:n}", {"d": "${SLOT:n.text}"}], "e": 1, "f": None, "g": [], "h/~": True,
    }}]}  # fmt: skip
    found = match(toml(plan, answer=""), "list five files")
    assert isinstance(found, Match)
    assert found.plan["steps"][0]["args"] == {
        "a": 5, "b": "n=5", "c": [5, {"d": "five"}], "e": 1, "f": None, "g": [], "h/~": True,
    }  # fmt: skip
    assert {where.removeprefix("/steps/0/args"): origin for where, origin in found.origins.items()} == {
        "/a": "user", "/b": "user", "/c/0": "user", "/c/1/d": "user", "/e": "author", "/f": "author", "/g": "author",
        "/h~1~0": "author",
    }  # fmt: skip


def test_periods_become_runtime_references() -> None:
    plan = {"steps": [{"tool": "t", "args": {
        "whole": "${SLOT:w}", "from": "${SLOT:w.start}", "text": "since ${SLOT:w.start}, ${SLOT:w.text}",
    }}]}  # fmt: skip
    payload = toml(plan, wordings="files of {w:period}", examples="", slots='[slots.w]\nkind = "period"\n', answer="")
    assert plan_of(payload, "files of last week")["steps"][0]["args"] == {
        "whole": "${RUNTIME:week-1}",
        "from": "${RUNTIME:week-1.start}",
        "text": "since ${RUNTIME:week-1.start}, last week",
    }


QUOTED = toml(
    {"steps": [{"tool": "t", "args": {"whole": "${SLOT:q}", "inside": "<${SLOT:q}> ${step1.x}"}}]},
    wordings="write {q:quoted}", examples="", slots='[slots.q]\nkind = "quoted"\n', answer="",
)  # fmt: skip


@given(st.one_of(st.text(max_size=20), st.text("${}<>step1.SLOT:q", max_size=20), st.just("${step1}")))
def test_what_a_user_quotes_is_never_a_reference(text: str) -> None:
    if '"' in text:
        return
    args = plan_of(QUOTED, f'write "{text}"')["steps"][0]["args"]
    assert parse_string(args["whole"]) == (text,)
    inside = parse_string(args["inside"])
    assert inside[0] == f"<{text}> "
    assert len(inside) == 2


def test_escaping_is_for_openings_only() -> None:
    assert escape("5 $ and $x") == "5 $ and $x"
    assert escape("${a} $<b> $${c}") == "$${a} $$<b> $$$${c}"


REFUSED = [
    ("list 0 files", "0 < 1"),
    ("list 10 files", "10 > 9"),
]


@pytest.mark.parametrize(("text", "detail"), REFUSED)
def test_values_that_a_slot_does_not_take(text: str, detail: str) -> None:
    assert match(toml(), text) == Miss(reason="unbound-slot", detail=detail)


def test_a_slot_of_another_kind_than_its_rule() -> None:
    payload = toml(wordings="list {n:size} files")
    assert match(payload, "list 5 MB files") == Miss(reason="unbound-slot", detail="5 MB: size ≠ integer")


NO_TEMPLATE = [
    b"\xff",
    b"id = ",
    b'id = "x"',
    toml(id="Not an id"),
    toml().replace(b'version = "1"', b"version = 1"),
    toml().replace(b'version = "1"', b'version = "1"\nextra = 1'),
    toml(slots='[slots.n]\nkind = "integer"\nwhat = 1\n'),
]


@pytest.mark.parametrize("payload", NO_TEMPLATE)
def test_payloads_that_are_no_template(payload: bytes) -> None:
    with pytest.raises(TemplateFault):
        read_payload(payload)
    library = TemplateLibrary.from_signed({"bad": payload, "good": toml()})
    assert library.ids == ("sample",)
    assert list(library.refused) == ["bad"]


STEP = {"tool": "t", "args": {"n": "${SLOT:n}"}}
BROKEN = [
    (toml("{"), "plan: "),
    (toml('{"steps": [], "steps": []}'), "given twice"),
    (toml({"steps": [{"tool": "t", "args": {"x": "${SLOT:other}"}}]}), "slot 'other' is not declared"),
    (toml({"steps": [{"tool": "t", "args": {"x": "${SLOT:n.end.x}"}}]}), "a misspelled slot at /steps/0/args/x"),
    (toml({"steps": [{"tool": "t", "args": {"x": "$${SLOT:n}"}}]}), "a misspelled slot"),
    (toml({"steps": [{"tool": "t", "args": {"x": "${SLOT:n}{"}}]}), "a misspelled slot"),
    (toml(answer='[answer]\nit = "x"\n'), "no answer in 'en'"),
    (toml(wordings="list {n:integer} flurbs"), "'flurbs' is not a word"),
    (toml(wordings="list [{n:integer}"), "is missing"),
    (toml(wordings="[{n:integer}]"), "a wording that may be empty"),
    (toml(wordings="list [{n:integer}] files"), "missing: ['n']"),
    (toml(wordings="list {n:integer} files of {other:path}"), "unused: ['other']"),
    (toml(wordings="list {n:integer} files of {n:integer}"), "binds ['n', 'n']"),
    (toml(wordings="list {n:integer} in {folder:path}\nlist {folder:integer} in {n:path}"), "one form binds"),
]  # fmt: skip


@pytest.mark.parametrize(("payload", "message"), BROKEN)
def test_a_build_refuses_broken_templates(payload: bytes, message: str) -> None:
    with pytest.raises(TemplateFault, match="sample: ") as caught:
        read_payload(payload).check()
    assert message in str(caught.value)
    assert library_faults(TemplateLibrary.from_signed({"x": payload}))[0] == str(caught.value)


def test_too_many_forms(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("metnos.cache.templates.wordings.MAX_STATES", 1)
    with pytest.raises(TemplateFault, match="more than 1 states"):
        read_payload(toml()).check()


def test_a_broken_template_never_serves_and_never_raises() -> None:
    library = TemplateLibrary.from_signed(
        {
            "a": toml(wordings="list {n:integer} flurbs"),
            "b": toml({"steps": [{"tool": "t", "args": {"x": "${SLOT:n.x}"}}]}, id="second"),
        }
    )
    found = library.match(understand("list 5 files"))
    assert isinstance(found, Miss)
    assert found.reason == "no-template"
    assert set(library.broken) == {"sample", "second"}


def test_a_template_speaks_only_its_languages() -> None:
    template = read_payload(toml())
    assert isinstance(template, Template)
    assert template.automaton("it") is None
    assert template.automaton("en") is template.automaton("en")
    assert template.plan("en") is template.plan("en")
    with pytest.raises(TemplateFault, match="'zz' is not declared"):
        template.rule("zz")
