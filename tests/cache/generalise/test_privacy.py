"""Sharing is asked for with a proof. Whoever can smuggle a word of an owner past it has found a hole."""

from __future__ import annotations

import base64
import copy
from typing import Any

import msgspec
import pytest

from metnos.cache.generalise.general import generalise
from metnos.cache.generalise.privacy import belongs_to_nobody
from metnos.cache.generalise.uses import General
from metnos.contracts.catalog import Catalog
from metnos.request.model import Request
from metnos.request.understand import understand

SECRET = "mario"
TEXT = "list the pdf files over 5 MB in src"
PLAN: dict[str, Any] = {
    "steps": [
        {"tool": "find_files", "args": {"path": "src", "pattern": "*.pdf", "ignore_case": True, "min_size": 5_000_000}},
        {"tool": "sort_entries", "args": {"from_step": 1, "by": "size", "order": "desc"}},
        {"tool": "take_entries", "args": {"from_step": 2, "count": 1}},
        {
            "tool": "render_table",
            "args": {"from_step": 3, "columns": ["path", "size"], "title": "Files in src: ${step3.count}"},
            "when": {"nonempty": 3},
        },
        {"tool": "final_answer", "args": {"text": '${step4.text ?? "No files in src."}'}},
    ]
}


def learned(plan: dict[str, Any], catalog: Catalog, text: str = TEXT) -> tuple[General, Request]:
    request = understand(text, "en")
    general = generalise(request, plan, catalog)
    assert isinstance(general, General), general
    return general, request


def remains(plan: dict[str, Any], catalog: Catalog, text: str = TEXT) -> tuple[str, ...]:
    general, request = learned(plan, catalog, text)
    return belongs_to_nobody(general, request, request.normal_form, catalog)


def changed(path: str, value: Any) -> dict[str, Any]:
    """The plan with `value` at a slashed path; `+` at its end is a new key."""
    plan = copy.deepcopy(PLAN)
    *way, last = path.split("/")
    place: Any = plan
    for token in way:
        place = place[int(token)] if isinstance(place, list) else place[token]
    place[int(last) if isinstance(place, list) else last] = value
    return plan


def test_what_is_made_of_slots_and_words_of_the_language_is_nobodys(catalog: Catalog) -> None:
    assert remains(PLAN, catalog) == ()


def test_in_another_language_too(catalog: Catalog) -> None:
    text = "elenca i file pdf più grandi di 5 MB in src"
    request = understand(text, "it")
    plan = changed("steps/4/args/text", '${step4.text ?? "Nessun file in src, compresi i nascosti."}')
    plan["steps"][3]["args"]["title"] = "I file della cartella src: ${step3.count}"
    general = generalise(request, plan, catalog)
    assert isinstance(general, General)
    assert belongs_to_nobody(general, request, request.normal_form, catalog) == ()
    # English words are no words of Italian, and so nobody can say whose they are.
    plan["steps"][3]["args"]["title"] = "Largest files"
    general = generalise(request, plan, catalog)
    assert isinstance(general, General)
    assert belongs_to_nobody(general, request, request.normal_form, catalog) == ("/steps/3/args/title: Largest",)


TITLE = "steps/3/args/title"
SMUGGLED: list[tuple[str, Any]] = [
    # Text, as it is and in disguise.
    (TITLE, f"Files of {SECRET}"),
    (TITLE, f"Files of {SECRET.upper()}"),
    (TITLE, f"Files of {SECRET.title()}"),
    (TITLE, "Files of m-a-r-i-o"),
    (TITLE, "Files of m a r i o"),
    (TITLE, "Files of oiram"),
    (TITLE, "Files of ｍａｒｉｏ"),
    (TITLE, "Files of m\u200bario"),
    (TITLE, "Files of \u043cario"),
    (TITLE, f"Files of {base64.b64encode(SECRET.encode()).decode()}"),
    (TITLE, f"Files of {SECRET.encode().hex()}"),
    (TITLE, "Files of 4711"),
    (TITLE, "Files of 0 1 1 0"),
    (TITLE, "fIlEs Of"),
    (TITLE, "Files -- .- .-. .. ---"),
    (TITLE, "Files  of"),
    (TITLE, "Files\tof"),
    (TITLE, "Files of ma${step3.count}rio"),
    (TITLE, "Files in srcmario"),
    # References: fallbacks, fields, indices, quoted keys.
    (TITLE, f'${{step3.count ?? "{SECRET}"}}'),
    (TITLE, "${step3.count ?? 4711}"),
    (TITLE, f"${{step3.{SECRET} ?? 0}}"),
    (TITLE, f'${{step3["{SECRET} rossi"] ?? 0}}'),
    (TITLE, "${step3.entries[4711].path ?? 0}"),
    ("steps/4/args/text", f'${{step4.text ?? "No files of {SECRET}."}}'),
    ("steps/4/args/text", f"{SECRET}: ${{step4.text ?? 0}}"),
    # Arguments.
    ("steps/0/args/path", f"/home/{SECRET}"),
    ("steps/0/args/path", "src/../src"),
    ("steps/0/args/pattern", f"{SECRET}*.pdf"),
    ("steps/0/args/limit", 4711),
    ("steps/0/args/max_size", 2),
    ("steps/0/args/modified_from", "${RUNTIME:day-4711.start}"),
    ("steps/2/args/count", 4711),
    ("steps/1/args/by", SECRET),
    ("steps/1/args/order", SECRET),
    ("steps/3/args/columns", ["path", SECRET]),
    ("steps/3/args/format", SECRET),
    # Arguments that no contract has, and what is in them.
    (f"steps/0/args/{SECRET}", True),
    ("steps/0/args/extra", {SECRET: True}),
    ("steps/0/args/extra", {"files": {SECRET: "files"}}),
    ("steps/0/args/extra", [True, False, False, True]),
    ("steps/0/args/extra", [0, 1, 1, 0]),
    ("steps/0/args/extra", [None, None]),
    ("steps/0/args/min_size", 0.4711),
    # Names.
    ("steps/0/id", SECRET),
    ("steps/0/id", f"files_of_{SECRET}"),
    ("steps/4/args/data", {SECRET: "${step3.count}"}),
    ("steps/4/args/data", [1, 0, 1]),
    ("$schema", f"https://{SECRET}.example"),
    ("fillers", {SECRET: {"prompt": "files", "schema": {"type": "string"}}}),
    ("fillers", {"files": {"prompt": f"Files of {SECRET}", "schema": {"type": "string"}}}),
    ("fillers", {"files": {"prompt": "files", "schema": {"type": "string", "enum": [SECRET]}}}),
    ("fillers", {"files": {"prompt": "files", "schema": {"type": "string", "maxLength": 4711}}}),
    ("fillers", {"files": {"prompt": "files", "schema": {"type": "string", SECRET: True}}}),
]


@pytest.mark.parametrize(("path", "value"), SMUGGLED)
def test_nothing_is_smuggled_in_by_the_plan(path: str, value: Any, catalog: Catalog) -> None:
    plan = changed(path, value)
    if path == "fillers":
        plan["steps"][4]["args"]["text"] = f"${{FILLER:{next(iter(value))}}}"
    assert remains(plan, catalog) != ()


@pytest.mark.parametrize(
    "text",
    [
        "list the pdf files over 5 MB in src for mario",  # unknown words
        "list the pdf files over 5 MB in src containing TODO",  # a slot that is not in the plan: a fixed value
        'list the pdf files over 5 MB in src, "mario"',
        "list the 4711 pdf files over 5 MB in src",
        "list the pdf files over 5 MB in src.mario",  # an ending that only one owner has
    ],
)
def test_nothing_is_smuggled_in_by_the_request(text: str, catalog: Catalog) -> None:
    plan = changed("steps/0/args/path", "src.mario") if text.endswith("src.mario") else PLAN
    assert remains(plan, catalog, text) != ()


def replaced(general: General, **fields: Any) -> General:
    return msgspec.structs.replace(general, **fields)


def test_nothing_is_smuggled_in_by_the_fields_of_an_entry(catalog: Catalog) -> None:
    """A stored entry could have been written by anyone with the key of an owner; each field is looked at."""
    general, request = learned(PLAN, catalog)
    use = general.uses[0]

    def with_use(**fields: Any) -> General:
        return replaced(general, uses=(msgspec.structs.replace(use, **fields), *general.uses[1:]))

    forged: list[tuple[General, str]] = [
        (replaced(general, language=SECRET), "/language"),
        (replaced(general, fixed={0: SECRET}), "/fixed"),
        (replaced(general, fixed_texts={0: SECRET}), "/fixed_texts"),
        (replaced(general, kinds=(*general.kinds[1:], SECRET)), "/kinds"),
        (replaced(general, apart=(*general.apart, SECRET)), "/apart"),
        (replaced(general, shapes={0: (f".{SECRET}",)}), "/shapes"),
        (replaced(general, free_literals=(f"/{SECRET}",)), "/free_literals"),
        (with_use(index=4711), "/uses"),
        (with_use(kind=SECRET), "/uses"),
        (with_use(places=(f"/{SECRET}",)), "/uses"),
        (with_use(least=47.11), "/uses"),
        (with_use(readings=((SECRET, "value", ""),)), "/uses"),
        (with_use(readings=(("", SECRET, ""),)), "/uses"),
        (with_use(readings=(("", f"exact:{SECRET}", ""),)), "/uses"),
    ]
    for entry, where in forged:
        found = belongs_to_nobody(entry, request, request.normal_form, catalog)
        assert any(line.startswith(where) for line in found), (where, found)


def test_a_slot_that_no_use_fills_is_text(catalog: Catalog) -> None:
    general, request = learned(PLAN, catalog)
    plan = copy.deepcopy(general.plan)
    plan["steps"][3]["args"]["title"] = "Files ${SLOT:s4711}"
    assert belongs_to_nobody(replaced(general, plan=plan), request, request.normal_form, catalog)
    plan["steps"][3]["args"]["title"] = f"Files ${{SLOT:{SECRET}}}"
    assert belongs_to_nobody(replaced(general, plan=plan), request, request.normal_form, catalog)


@pytest.mark.parametrize(
    "wording", [f"list the {SECRET} files", "list the {mario} files", "list {{glob}} files", "a  4711"]
)
def test_the_key_holds_words_of_the_language_only(wording: str, catalog: Catalog) -> None:
    general, request = learned(PLAN, catalog)
    assert belongs_to_nobody(general, request, wording, catalog)
