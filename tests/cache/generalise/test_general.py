"""Generalising: with its own slots the plan comes back as it was; with others it is the right plan, or a refusal."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest

from metnos.cache.generalise.general import bind_general, generalise, unfit
from metnos.cache.generalise.uses import General, NotGeneral
from metnos.cache.model import Match
from metnos.cache.templates.library import TemplateLibrary
from metnos.cache.templates.template import Refusal
from metnos.contracts.catalog import Catalog
from metnos.contracts.model import Contract, EffectRule
from metnos.plan.jsondata import canonical
from metnos.plan.terminals import TERMINALS
from metnos.request.understand import understand
from tests.cache.generated import requests_by_form

IDS = sorted(path.stem for path in (Path(__file__).parents[3] / "catalog" / "plans").glob("*.toml"))


def general_of(text: str, *steps: dict[str, Any], catalog: Catalog) -> General:
    found = generalise(understand(text, "en"), plan_of(list(steps)), catalog)
    assert isinstance(found, General), found
    return found


def plan_of(steps: list[dict[str, Any]]) -> dict[str, Any]:
    """With an end, where the steps have none of their own."""
    return {"steps": steps if steps[-1]["tool"] in TERMINALS else [*steps, {"tool": "final_answer", "args": {}}]}


def bound(general: General, text: str) -> dict[str, Any] | str:
    found = bind_general(general, understand(text, "en").slots)
    return found.detail if isinstance(found, Refusal) else found.plan


# --- every shipped template ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", IDS)
def test_a_template_learned_from_one_request_gives_no_other_plan_to_the_next(
    name: str, library: TemplateLibrary, catalog: Catalog
) -> None:
    template = next(template for template in library.templates if template.id == name)
    for language in ("en", "it"):
        for pairs in requests_by_form(library, template, language, ways=2, values=5):
            for request, plan in pairs:
                general = generalise(request, plan, catalog)
                assert isinstance(general, General), (request.text, general)
                for other, expected in pairs:
                    found = bind_general(general, other.slots)
                    if isinstance(found, Refusal):
                        assert other is not request, (request.text, found)
                    else:
                        assert canonical(found.plan) == canonical(expected), (request.text, other.text)


def test_most_examples_leave_every_slot_open(library: TemplateLibrary, catalog: Catalog) -> None:
    counted: Counter[str] = Counter()
    for example in library.examples():
        request = understand(example.text, example.language)
        match = library.match(request)
        assert isinstance(match, Match)
        general = generalise(request, match.plan, catalog)
        assert isinstance(general, General)
        counted["fixed" if general.fixed else "open"] += 1
    # The name of a column says what a plan looks at, and the end of a file's name how it writes: both stay in the key.
    assert counted["open"] > 2 * counted["fixed"], counted


# --- one rule each ------------------------------------------------------------------------------------------

FIND = "find_files"
Step = dict[str, Any]


def find(**args: Any) -> Step:
    return {"tool": FIND, "args": args}


def read(path: str) -> Step:
    return {"tool": "read_files", "args": {"path": path}}


def take(count: int) -> Step:
    return {"tool": "take_entries", "args": {"from_step": 1, "count": count}}


def answer(text: str) -> Step:
    return {"tool": "final_answer", "args": {"text": text}}


SERVED: list[tuple[str, list[Step], str, list[Step]]] = [
    ("list the pdf files", [find(pattern="*.pdf")], "list the zip files", [find(pattern="*.zip")]),
    ("list the pdf files", [find(pattern="**/*.pdf")], "list the PNG files", [find(pattern="**/*.png")]),
    ("files over 1 MB", [find(min_size=1_000_000)], "files over 3 KiB", [find(min_size=3072)]),
    ("the five largest files", [find(), take(5)], "the 12 largest files", [find(), take(12)]),
    (
        "files modified yesterday",
        [find(modified_from="${RUNTIME:day-1.start}", modified_to="${RUNTIME:day-1.end}")],
        "files modified last week",
        [find(modified_from="${RUNTIME:week-1.start}", modified_to="${RUNTIME:week-1.end}")],
    ),
    (
        'files containing "a b"',
        [find(), {"tool": "find_texts", "args": {"from_step": 1, "pattern": "a b"}}],
        'files containing "${step1}"',
        [find(), {"tool": "find_texts", "args": {"from_step": 1, "pattern": "$${step1}"}}],
    ),
    (
        "files over 1 MB in src",
        [find(path="src"), answer("Over 1 MB (1000000 bytes) in src: ${step1.count ?? 0}")],
        "files over 2 KB in lib",
        [find(path="lib"), answer("Over 2 KB (2000 bytes) in lib: ${step1.count ?? 0}")],
    ),
    (
        'list the files in "src x"',
        [find(path="src x"), answer('${step1.entries[0].path ?? "Nothing in \\"src x\\"."}')],
        'list the files in "a\\b"',
        [find(path="a\\b"), answer('${step1.entries[0].path ?? "Nothing in \\"a\\\\b\\"."}')],
    ),
    (
        'write "bees" to out.txt',
        [{"tool": "write_files", "args": {"path": "out.txt", "content": "Report about bees.docx"}}],
        'write "wasps" to new.txt',
        [{"tool": "write_files", "args": {"path": "new.txt", "content": "Report about wasps.docx"}}],
    ),
]  # fmt: skip


READ = "read_files"
SERVED += [
    # Lists, as a whole and one by one.
    ("read a.txt and b.txt", [{"tool": READ, "args": {"files": ["a.txt", "b.txt"]}}],
     "read c.txt and d.txt", [{"tool": READ, "args": {"files": ["c.txt", "d.txt"]}}]),
    ("read a.txt and b.txt", [read("a.txt"), read("b.txt")], "read c.txt and d.txt", [read("c.txt"), read("d.txt")]),
    # Days that count from today stay what they are.
    ("files modified before yesterday", [find(modified_to="${RUNTIME:yesterday}")],
     "files modified before today", [find(modified_to="${RUNTIME:today}")]),
    ("files modified yesterday", [find(modified_from="${RUNTIME:day-1.start}"), answer("Yesterday: ${step1.count}")],
     "files modified today", [find(modified_from="${RUNTIME:day.start}"), answer("Today: ${step1.count}")]),
    ("files modified on 30/11/2026", [find(modified_from="2026-11-30", modified_to="2026-12-01")],
     "files modified on 2026-12-31", [find(modified_from="2026-12-31", modified_to="2027-01-01")]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "steps", "other", "expected"), SERVED)
def test_served_with_other_values(
    text: str, steps: list[Step], other: str, expected: list[Step], catalog: Catalog
) -> None:
    assert bound(general_of(text, *steps, catalog=catalog), other) == plan_of(expected)


REFUSED: list[tuple[str, list[Step], str]] = [
    # The same value twice: whose is which?
    ("move a.txt to a.txt", [{"tool": "move_files", "args": {"path": "a.txt", "to": "a.txt"}}], "move b.txt to c.txt"),
    # The contract's own default need not be the person's dot.
    ("list the files in .", [find(path=".")], "list the files in src"),
    # A part of the value says something else.
    ("read src/report.txt", [read("src/report.txt"), answer("The report.")], "read src/notes.txt"),
    ("list the files in 2024", [find(path="2024"), answer("Since 1-2024.")], "list the files in 2025"),
    ("the 5 largest files", [find(limit=5), take(5)], "the 15 largest files"),
    # A name of a field, a value of an enum, a tool.
    (
        "list the files in size",
        [find(path="size"), {"tool": "sort_entries", "args": {"from_step": 1, "by": "size"}}],
        "list the files in src",
    ),
    # Another ending, another executor.
    ("read notes.txt", [read("notes.txt")], "read notes.csv"),
    ("read notes.txt", [read("notes.txt")], "read notes"),
    # A word of the sentence.
    (
        'files containing "files"',
        [find(), {"tool": "find_texts", "args": {"from_step": 1, "pattern": "files"}}, answer("All files with it.")],
        'files containing "bees"',
    ),
    # "Last week" ends where this one begins; last month does not.
    (
        "files modified last week",
        [find(modified_from="${RUNTIME:week-1.start}", modified_to="${RUNTIME:week.start}")],
        "files modified last month",
    ),
    # Which was meant, the bytes or the words?
    ("files over 512 bytes", [find(min_size=512), answer("Over 512 bytes.")], "files over 1 MB"),
    # A pattern may have been escaped.
    (
        'files containing "bees"',
        [find(), {"tool": "find_texts", "args": {"from_step": 1, "pattern": "bees", "syntax": "regex"}}],
        'files containing "a.b"',
    ),
    # One file, no files: other questions.
    ("the 7 largest files", [find(), take(7)], "the 1 largest files"),
    # A list with another number of items may need another number of steps.
    ("read a.txt and b.txt", [read("a.txt"), read("b.txt")], "read a.txt, b.txt and c.txt"),
    # One item is not in the plan.
    ("read a.txt and b.txt", [read("a.txt")], "read c.txt and d.txt"),
    # A day of the calendar is another thing than tomorrow.
    ("files modified before 2026-11-30", [find(modified_to="2026-11-30")], "files modified before tomorrow"),
    # Unknown to the plan: it stays in the key.
    ("list the pdf files", [find()], "list the zip files"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "steps", "other"), REFUSED)
def test_refused_with_other_values(text: str, steps: list[Step], other: str, catalog: Catalog) -> None:
    general = general_of(text, *steps, catalog=catalog)
    assert bound(general, text) == plan_of(steps)
    assert isinstance(bound(general, other), str)


def test_another_form_is_refused(catalog: Catalog) -> None:
    general = general_of("list the pdf files", find(pattern="*.pdf"), catalog=catalog)
    assert bound(general, "files over 1 MB") == "size ≠ glob"


def test_what_the_contract_would_refuse_is_refused(catalog: Catalog) -> None:
    general = general_of("the 5 largest files", find(limit=5), catalog=catalog)
    [use] = general.uses
    assert (use.least, use.most) == (1, 100_000)
    assert bound(general, "the 200000 largest files") == "200000 > 100000"


def test_what_is_free_what_is_a_default_and_what_is_structure(catalog: Catalog) -> None:
    plain = general_of("the 5 largest files", find(path=".", ignore_case=True), take(5), catalog=catalog)
    assert (plain.free_literals, plain.read_only, plain.fixed) == ((), True, {})
    said = general_of(
        'write "x y" to a.txt',
        {"tool": "write_files", "args": {"path": "a.txt", "content": "x y, and more"}},
        catalog=catalog,
    )
    assert (said.free_literals, said.read_only) == (("/steps/0/args/content",), False)
    one = general_of("the largest file", find(), take(1), catalog=catalog)
    assert one.free_literals == ("/steps/1/args/count",)


def test_a_fixed_slot_is_compared_by_its_words_only_where_text_may_repeat_them(catalog: Catalog) -> None:
    silent = general_of("the five largest files", find(), catalog=catalog)
    assert (silent.fixed, silent.fixed_texts) == ({0: 5}, {})
    assert bound(silent, "the 5 largest files") == plan_of([find()])
    saying = general_of("the five largest files", find(), answer("Here they are."), catalog=catalog)
    assert bound(saying, "the 5 largest files") == "5 ≠ five"


UNFIT: list[tuple[str, list[Step], str]] = [
    ("files modified yesterday", [find(modified_from="2026-11-29")], "moment"),
    ("files modified yesterday", [find(), answer("Since 29.11.2026.")], "moment"),
    ("files modified yesterday", [find(), answer("Since 29 November.")], "moment"),
    ("files modified yesterday", [find(), answer("Since November 29th.")], "moment"),
    ("files modified yesterday", [find(), answer("Since last Monday.")], "moment"),
    ("list the files", [find(), answer("So far in 2026.")], "moment"),
    ("list the files", [find(min_size=1796000000)], "moment"),
    ("files modified before March 5", [find(modified_to="2027-03-05")], "moment"),
    ("files modified before tomorrow", [find(modified_to="20261201")], "moment"),
    ("list the files", [{"tool": "no_such_tool", "args": {}}], "unknown-tool"),
    ("list the files", [{"tool": "ask", "args": {"question": "Which?"}}], "asks"),
    ("list the files", [find(path="${INPUT:folder}")], "answered"),
    ("list the files", [find(path="${plan1.step1.path}")], "answered"),
    ("list the files", [find(path="${SLOT:folder}")], "open-slot"),
    ('list the files in "${SLOT:s0}"', [find(path="$${SLOT:s0}")], "open-slot"),
    ("list the files", [find(path="\u27e6sealed:" + "0" * 32 + "\u27e7")], "sealed"),
    ("list the files", [find(path="${step")], "bad-plan"),
    ("list the files", [find(), answer("${SLOT:x}")], "open-slot"),
]


@pytest.mark.parametrize(("text", "steps", "reason"), UNFIT)
def test_no_cache_may_hold(text: str, steps: list[Step], reason: str, catalog: Catalog) -> None:
    found = generalise(understand(text, "en"), plan_of(steps), catalog)
    assert isinstance(found, NotGeneral)
    assert found.reason == reason


def test_a_date_that_the_person_said_may_be_kept(catalog: Catalog) -> None:
    general = general_of("files modified on 2026-11-29", find(modified_from="2026-11-29"), catalog=catalog)
    assert bound(general, "files modified on 2026-12-01") == plan_of([find(modified_from="2026-12-01")])


def test_fillers_and_names_of_steps(catalog: Catalog) -> None:
    def plan(path: str, prompt: str, step: str) -> dict[str, Any]:
        return {
            "steps": [{"tool": "read_files", "args": {"path": path}, "id": step}, answer("${FILLER:short}")],
            "fillers": {"short": {"prompt": prompt, "schema": {"type": "string", "maxLength": 80}}},
        }

    request = understand("read src/bees.txt", "en")
    found = generalise(request, plan("src/bees.txt", "Sum up src/bees.txt.", "one"), catalog)
    assert isinstance(found, General)
    assert found.free_literals == ("/fillers/short/prompt",)
    assert bound(found, "read src/wasps.txt") == plan("src/wasps.txt", "Sum up src/wasps.txt.", "one")
    # No reference may stand in a prompt, not even as text.
    assert isinstance(bound(found, 'read "a/${step1}.txt"'), str)
    named = generalise(request, plan("src/bees.txt", "Sum it up.", "bees"), catalog)
    assert isinstance(named, General)
    assert named.fixed == {0: "src/bees.txt"}


def test_a_stored_general_binds_as_the_first_did(catalog: Catalog) -> None:
    general = general_of("list the pdf files in src", find(pattern="*.pdf", path="src"), catalog=catalog)
    again = msgspec.json.decode(msgspec.json.encode(general), type=General)
    assert bound(again, "list the zip files in lib") == plan_of([find(pattern="*.zip", path="lib")])
    assert again == general


def test_a_literal_in_a_sensitive_argument_is_kept_nowhere(catalog: Catalog) -> None:
    properties = {"user": {"type": "string"}, "password": {"type": "string"}}
    login = Contract(
        name="log_in",
        version="1.0.0",
        args={"type": "object", "properties": properties},
        sensitive=("password",),
        effects=(EffectRule(effect="read"),),
    )
    wider = catalog.with_contracts([login])
    request = understand('log in with "hunter2"', "en")

    def plan(password: str) -> dict[str, Any]:
        return plan_of([read("key.txt"), {"tool": "log_in", "args": {"user": "me", "password": password}}])

    assert generalise(request, plan("hunter2"), wider) == NotGeneral("sensitive", "/steps/1/args/password")
    assert unfit(request, plan("hunter2"), wider) == NotGeneral("sensitive", "/steps/1/args/password")
    assert isinstance(generalise(request, plan("key ${step1.text}"), wider), NotGeneral)
    assert isinstance(generalise(request, plan("${step1.text}"), wider), General)
    assert unfit(request, plan("${step1.text}"), wider) is None


def test_values_side_by_side_and_opaque_spellings_stay_in_the_key(catalog: Catalog) -> None:
    # Two values without anything between them: "5$" and "{x}" would be read as one thing.
    general = general_of(
        'copy "a!" to "!b"',
        find(),
        answer("It is a!!b."),
        catalog=catalog,
    )
    assert set(general.fixed) == {0, 1}
    # A reference in another spelling cannot be given back byte for byte; what stands beside it is left as it is.
    general = general_of("list the files in src", find(path="src"), answer("In src: $<step1.count>"), catalog=catalog)
    assert general.fixed == {0: "src"}
