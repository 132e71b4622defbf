"""Guards that hold a plan against what was said: coverage, order, destination, provider; on real sentences."""

from __future__ import annotations

import itertools
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metnos.checks.guards import CHECKERS, guard
from metnos.checks.model import CheckContext, Guarded
from metnos.checks.providers import provider_of, providers_of
from metnos.checks.validator import Validator
from metnos.contracts.catalog import Catalog
from metnos.contracts.foreign import foreign_contract
from metnos.contracts.model import Consumes, Contract, EffectRule, Intent, Produces, Resource
from metnos.request.understand import understand
from metnos.sdk import EffectClass

ENTRY = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "size": {"type": "integer"}},
    "required": ["path", "size"],
}
LISTED = {"type": "object", "properties": {"entries": {"type": "array", "items": ENTRY}}, "required": ["entries"]}
PATH = {"type": "string"}
DISK = (Resource(kind="root", arg="path"),)


def tool(
    name: str, family: str, effect: EffectClass = "read", *targets: str, args: dict[str, Any] | None = None, **more: Any
) -> Contract:
    verb, _, thing = family.partition(" ")
    given = args or dict.fromkeys((*targets, "path", "text"), PATH)
    return Contract(
        name=name,
        version="1.0.0",
        families=(Intent(verb, thing),) if family else (),
        effects=(EffectRule(effect=effect),),
        targets=targets,
        args={"type": "object", "properties": given, "additionalProperties": False},
        **{"result": LISTED, "resources": DISK, **more},
    )


LIST = Produces(kind="file")
TAKES = Consumes(into="files", kinds=("file",))
OVER = {"files": {"type": "array", "items": {}}, "by": {"type": "string"}}
TOOLS = (
    tool("find_files", "find files", produces=LIST),
    tool("read_files", "read files", produces=Produces(kind="text")),
    tool("read_files_csv", "read files", produces=Produces(kind="row")),
    tool("find_texts", "find texts", produces=Produces(kind="match")),
    tool("sort_entries", "sort entries", args=OVER, consumes=TAKES, produces=LIST, resources=()),
    tool("render_table", "render table", args=OVER, consumes=TAKES, resources=()),
    tool("write_files", "write files", "create", "path"),
    tool("append_files", "append files", "change", "path"),
    tool("append_logs", "append logs", "change", "path"),
    tool("copy_files", "copy files", "create", "to"),
    tool("move_files", "move files", "change", "path", "to"),
    tool("rename_files", "rename files", "change", "path", "to"),
    tool("delete_files", "delete files", "delete", "path"),
    tool("create_dirs", "create dirs", "create", "path"),
    tool("send_messages_email", "send messages", "send", "to"),
    tool("send_messages_telegram", "send messages", "send", "to"),
    tool("host_store", "", "change", args={"path": PATH, "text": PATH}),
)
KNOWN = Catalog().with_contracts(TOOLS)
OWN = Validator(KNOWN)
END: dict[str, Any] = {"tool": "final_answer", "args": {}}
GUARDS = ("clause-coverage", "clause-order", "clause-place", "explicit-destination", "provider-named")


def judged(text: str, *steps: Any, end: dict[str, Any] = END, language: str | None = None, **context: Any) -> Guarded:
    """What the guards say of a plan; a step is `(tool, args)` or a table."""
    request = understand(text, language)
    made = CheckContext(**{"request": request, "source": "model", **context})
    written = [step if isinstance(step, dict) else {"tool": step[0], "args": step[1]} for step in steps]
    checked = OWN({"steps": [*written, end]}, made)
    assert checked.ok, checked.diagnostics
    return guard(checked, made, OWN)


def codes(found: Guarded) -> list[str]:
    return [
        fault.code
        for finding in (*found.refusals, *found.reproposals)
        if finding.guard in GUARDS
        for fault in finding.diagnostics
    ]


FIND = ("find_files", {"path": "docs"})
READ = ("read_files", {"path": "a.txt"})
DELETE = ("delete_files", {"path": "a.txt"})
OUT = ("write_files", {"path": "out.md", "text": "x"})
ADD = ("append_files", {"path": "out.md", "text": "x"})


def copy(path: str, to: str) -> tuple[str, dict[str, str]]:
    return "copy_files", {"path": path, "to": to}


def delete(path: str) -> tuple[str, dict[str, str]]:
    return "delete_files", {"path": path}


SORTED = ("sort_entries", {"from_step": 1, "by": "size"})

COVERED: dict[str, tuple[Any, ...]] = {
    "find the files in docs": (FIND,),
    "find the files in docs and delete a.txt": (FIND, DELETE),
    "trova i file in docs e cancella a.txt": (FIND, DELETE),
    "copy a.txt to b.txt and then delete a.txt": (copy("a.txt", "b.txt"), DELETE),
    "copy a.txt to b.txt, then delete a.txt": (copy("a.txt", "b.txt"), DELETE),
    "read a.txt and then delete a.txt": (READ, DELETE),
    "delete a.txt and show me the files": (DELETE, FIND),
    "sort the files in docs by size and save the list to out.md": (FIND, SORTED, OUT),
    "rename a.txt to b.txt": (("move_files", {"path": "a.txt", "to": "b.txt"}),),
    "create a folder in x/y": (("create_dirs", {"path": "x/y"}),),
    "put a.txt into b": (("move_files", {"path": "a.txt", "to": "b"}),),
    "save 'x' to out.md": (("host_store", {"path": "out.md"}),),
    "print the list of files in docs": (FIND,),
    "read the lines in a.txt": (("find_texts", {"path": "a.txt"}),),
    "do not delete a.txt, read a.txt": (READ,),
    "send a message to bob@example.org": (("send_messages_email", {"to": "bob@example.org"}),),
    "append 'x' to out.md": (ADD,),
    "add 'x' at the bottom of out.md": (ADD,),
    "aggiungi 'x' in fondo a out.md": (ADD,),
    "accoda 'x' a out.md": (("append_logs", {"path": "out.md"}),),
    "append 'y' to out.md": (("host_store", {"path": "out.md"}),),
    "write 'x' to out.md": (("append_logs", {"path": "out.md"}),),
    "aggiungi a.txt alla cartella docs": (copy("a.txt", "docs"),),
    "aggiungi a.txt a docs/": (("move_files", {"path": "a.txt", "to": "docs"}),),
    "copy a.txt to b and copy c.txt to d": (copy("a.txt", "b"), copy("c.txt", "d")),
    "copy a.txt and b.txt to d": (
        {"tool": "copy_files", "args": {"path": "${item}", "to": "d"}, "for_each": ["a.txt", "b.txt"]},
    ),
}


@pytest.mark.parametrize(("text", "steps"), COVERED.items(), ids=COVERED)
def test_a_plan_that_does_what_was_asked_passes(text: str, steps: tuple[Any, ...]) -> None:
    assert codes(judged(text, *steps)) == []


MISSING: dict[str, tuple[Any, ...]] = {
    "find the files in docs and delete a.txt": (FIND,),
    "trova i file in docs e cancella a.txt": (FIND,),
    "copy a.txt to b.txt and then delete a.txt": (copy("a.txt", "b.txt"),),
    "read a.txt and then delete a.txt": (DELETE,),
    "leggi a.txt e poi cancella a.txt": (DELETE,),
    "find the files in docs, sort them by size and save the list to out.md": (FIND, OUT),
    "find the files in docs and show them as a table": (FIND,),
    "rename a.txt to b.txt": (copy("a.txt", "b.txt"),),
    "copy a.txt to b.txt": (("delete_files", {"path": "b.txt"}),),
    "send a message to bob@example.org": (FIND,),
    "find the files in docs and write the list to out.md": (FIND,),
    "append 'x' to out.md": (OUT,),
    "aggiungi 'x' in fondo a out.md": (OUT,),
    "add 'x' at the end of out.md": (READ, OUT),
    "find the files in docs and append the list to out.md": (FIND, OUT),
    "write 'x' to out.md": (ADD,),
    "overwrite out.md with 'x'": (ADD,),
    "aggiungi a.txt a docs/": (("append_files", {"path": "docs", "text": "a.txt"}),),
}


@pytest.mark.parametrize(("text", "steps"), MISSING.items(), ids=MISSING)
def test_what_was_asked_for_and_is_missing_is_named(text: str, steps: tuple[Any, ...]) -> None:
    by_model = judged(text, *steps)
    assert codes(by_model) == ["action-missing"]
    (finding,) = [finding for finding in by_model.reproposals if finding.guard == "clause-coverage"]
    (fault,) = finding.diagnostics
    assert fault.where == "/steps"
    assert fault.found == ", ".join(step[0] for step in steps)
    assert fault.expected.startswith("a step that answers `")
    for source in ("template", "cache", "host", "author", "user"):
        found = judged(text, *steps, source=source)
        assert "clause-coverage" in [refusal.guard for refusal in found.refusals]
        assert not found.reproposals


def test_the_missing_clause_is_quoted_as_said() -> None:
    found = judged("find the files in docs and then delete a.txt", FIND)
    (fault,) = [
        fault for finding in found.reproposals if finding.guard == "clause-coverage" for fault in finding.diagnostics
    ]
    assert "delete files" in fault.expected
    assert "delete a.txt" in fault.expected


def test_a_plan_that_asks_back_or_goes_on_need_not_do_everything() -> None:
    asks = {"tool": "ask", "args": {"question": "Which one?"}}
    assert codes(judged("find the files in docs and delete a.txt", FIND, end=asks)) == []
    done = {"plan1.step1": {"type": "object"}}
    assert codes(judged("find the files in docs and delete a.txt", FIND, earlier_steps=done)) == []


def test_where_plans_go_on_none_owes_the_whole_request_and_none_may_do_more() -> None:
    assert codes(judged("find the files in docs and delete a.txt", FIND, goes_on=True)) == []
    deleting = judged("find the files in docs", ("delete_files", {"path": "a.txt"}), goes_on=True)
    assert "requested-effects" in [finding.guard for finding in (*deleting.refusals, *deleting.reproposals)]


def test_a_host_draws_its_own_table() -> None:
    data = {"tool": "final_answer", "args": {"data": "${step1}"}}
    assert codes(judged("show the files in docs as a table", FIND, end=data)) == []
    assert codes(judged("show the files in docs as a table", FIND)) == ["action-missing"]


# ------------------------------------------------------------------------------------------------ order


@pytest.mark.parametrize(
    ("text", "steps", "wrong"),
    [
        ("copy a.txt to b.txt and then delete a.txt", (DELETE, copy("a.txt", "b.txt")), "/steps/0"),
        ("copia a.txt in b.txt e poi cancella a.txt", (DELETE, copy("a.txt", "b.txt")), "/steps/0"),
        ("read a.txt and then delete a.txt", (DELETE, READ), "/steps/0"),
        ("delete a.txt and then show me the files in docs", (FIND, DELETE), "/steps/0"),
        ("delete a.txt and delete b.txt", (delete("b.txt"), delete("a.txt")), "/steps/0"),
        ("copy a.txt to b.txt and copy b.txt to c.txt", (copy("b.txt", "c.txt"), copy("a.txt", "b.txt")), "/steps/0"),
    ],
)
def test_steps_stand_in_the_order_said(text: str, steps: tuple[Any, ...], wrong: str) -> None:
    found = judged(text, *steps)
    assert codes(found) == ["clause-order"]
    (finding,) = [finding for finding in found.reproposals if finding.guard == "clause-order"]
    assert finding.diagnostics[0].where == wrong
    assert codes(judged(text, *reversed(steps))) == []


def test_what_an_effect_is_fed_by_comes_before_it_whatever_was_said() -> None:
    fed = {"tool": "delete_files", "args": {"path": "${item.path}"}, "for_each": "${step1.entries}"}
    assert codes(judged("delete the files in docs and list the files in docs", FIND, fed)) == []
    twice = {"tool": "delete_files", "args": {"path": "${item.path}"}, "for_each": "${step2.files}"}
    assert twice
    sort = {"tool": "sort_entries", "args": {"from_step": 1, "by": "size"}}
    last = {"tool": "delete_files", "args": {"path": "${item.path}"}, "for_each": "${step2.entries}"}
    assert codes(judged("delete the files in docs and list the files in docs", FIND, sort, last)) == []


def test_readings_have_no_order_among_themselves() -> None:
    assert codes(judged("read a.txt and find the files in docs", FIND, READ)) == []


# ------------------------------------------------------------------------------------------------ destination


@pytest.mark.parametrize(
    ("text", "step", "fits"),
    [
        ("write 'x' to out.md", OUT, True),
        ("write 'x' to the new file out.md", OUT, True),
        ("write 'x' to ./out.md", OUT, True),
        ("scrivi 'x' in out.md", OUT, True),
        ("scrivi 'x' nel file out.md", OUT, True),
        ("overwrite out.md with 'x'", OUT, True),
        ("add 'x' at the end of out.md", ADD, True),
        ("add 'x' at the end of other.md", ADD, False),
        ("write 'x' to other.md", OUT, False),
        ("scrivi 'x' in altro.md", OUT, False),
        ("update other.md with 'x'", OUT, False),
        ("copy a.txt to backup/", copy("a.txt", "backup"), True),
        ("copy a.txt to backup/", copy("a.txt", "backup/a.txt"), True),
        ("copy a.txt to backup/", copy("a.txt", "backup2/a.txt"), False),
        ("copy a.txt to backup/", copy("backup", "a.txt"), False),
        ("copy the files in docs to backup/", copy("docs", "backup"), True),
        ("copy the files in docs to backup/", copy("docs", "docs"), False),
        ("copia i file di docs in backup", copy("docs", "backup"), True),
        ("copia a.txt in backup", copy("backup", "a.txt"), False),
        ("copy a.txt from docs", copy("docs/a.txt", "a.txt"), True),
        ("save the list of files as 'my list.md'", ("write_files", {"path": "my list.md"}), True),
        ("save the list of files as 'my list.md'", OUT, False),
        ("send a message to bob@example.org", ("send_messages_email", {"to": "bob@example.org"}), True),
        ("send a message to bob@example.org", ("send_messages_email", {"to": "eve@example.org"}), False),
        ("write 'x' to out.md", ("write_files", {"text": "x"}), False),
        ("write 'x' to out.md", ("host_store", {"path": "out.md"}), True),
        ("write 'x' to out.md", ("host_store", {"path": "b.md"}), False),
    ],
)
def test_the_destination_that_was_said_is_where_the_plan_writes(text: str, step: Any, fits: bool) -> None:
    assert codes(judged(text, step)) == ([] if fits else ["destination-ignored"])
    refused = judged(text, step, source="template").refusals
    assert ("explicit-destination" in [refusal.guard for refusal in refused]) is not fits


@pytest.mark.parametrize(
    ("target", "fits"),
    [
        ("${step1.entries[0].path ?? 'x'}", False),
        ("backup/${step1.entries[0].path ?? 'x'}", True),
        ("back${step1.entries[0].path ?? 'x'}", False),
        ("docs/${step1.entries[0].path ?? 'x'}", False),
        ("${RUNTIME:today}", False),
        ("${INPUT:where}", True),
    ],
)
def test_a_destination_wins_over_what_a_step_gives(target: str, fits: bool) -> None:
    target = target.replace("'x'", '"x"')
    found = judged(
        "copy the files in docs to backup/", FIND, copy("a.txt", target), inputs={"where": {"type": "string"}}
    )
    assert codes(found) == ([] if fits else ["destination-ignored"])


def test_destinations_of_a_loop_are_looked_at() -> None:
    each = {
        "tool": "copy_files",
        "args": {"path": "a.txt", "to": "${item.to}"},
        "for_each": [{"to": "b"}, {"to": "backup"}],
    }
    text = {"tool": "copy_files", "args": {"path": "a.txt", "to": "${item}/a.txt"}, "for_each": ["backup"]}
    assert codes(judged("copy a.txt to backup/", each)) == []
    assert codes(judged("copy a.txt to elsewhere/", each)) == ["destination-ignored"]
    assert codes(judged("copy a.txt to elsewhere/", text)) == ["destination-ignored"]


def test_the_home_folder_is_the_persons() -> None:
    at_home = ("write_files", {"path": "/home/ada/out.md"})
    assert codes(judged("write 'x' to ~/out.md", at_home, home="/home/ada")) == []
    assert codes(judged("write 'x' to ~/out.md", at_home)) == ["destination-ignored"]


def test_the_fault_names_the_target_and_both_places() -> None:
    found = judged("write 'x' to other.md", OUT)
    (finding,) = [finding for finding in found.reproposals if finding.guard == "explicit-destination"]
    (fault,) = finding.diagnostics
    assert (fault.where, fault.found, fault.expected) == ("/steps/0/args/path", "out.md", "other.md")


# ------------------------------------------------------------------------------------------------ provider


@pytest.mark.parametrize(
    ("text", "step", "fits"),
    [
        ("send a telegram message to bob@example.org", "send_messages_telegram", True),
        ("send a telegram message to bob@example.org", "send_messages_email", False),
        ("send a message to bob@example.org with telegram", "send_messages_email", False),
        ("invia un messaggio a bob@example.org con telegram", "send_messages_email", False),
        ("invia un messaggio a bob@example.org con Telegram", "send_messages_telegram", True),
        ("send a message to bob@example.org", "send_messages_telegram", True),
        ("send an email to bob@example.org", "send_messages_telegram", True),
        ("send a message to bob@example.org via email", "send_messages_telegram", False),
        ("send the text 'telegram' to bob@example.org", "send_messages_email", True),
    ],
)
def test_a_provider_that_was_named_is_used(text: str, step: str, fits: bool) -> None:
    assert codes(judged(text, (step, {"to": "bob@example.org"}))) == ([] if fits else ["provider-ignored"])


def test_a_provider_is_no_matter_to_a_plan_that_does_something_else() -> None:
    assert codes(judged("find the telegram files in docs", FIND)) == []
    assert codes(judged("read a.txt using csv", READ)) == ["provider-ignored"]
    assert codes(judged("read a.csv, the csv report", READ)) == []


def test_the_server_of_a_foreign_tool_is_its_provider() -> None:
    issues = foreign_contract("github.create issue", {"title": {}}, effect="read")
    search = foreign_contract("search", {"q": {}}, effect="read")
    assert provider_of(issues) == "github"
    assert provider_of(search) == ""
    own = Validator(Catalog().with_contracts([issues, search]))
    assert own.providers == {"github": ()}
    context = CheckContext(request=understand("search github"), source="model")
    for name, expected in ((search.name, ["provider-ignored"]), (issues.name, [])):
        checked = own({"steps": [{"tool": name, "args": {}}, END]}, context)
        assert codes(guard(checked, context, own)) == expected


def test_providers_of_the_catalog() -> None:
    assert providers_of(TOOLS) == {
        "csv": ("read files",),
        "email": ("send messages",),
        "telegram": ("send messages",),
    }
    assert OWN.providers == providers_of(TOOLS)


# ------------------------------------------------------------------------------------------------ all of them

STEPS = [
    step
    for steps in (*COVERED.values(), *MISSING.values())
    for step in steps
    if not (isinstance(step, tuple) and "from_step" in step[1])
]


@settings(max_examples=40)
@given(
    st.sampled_from([*COVERED, *MISSING]),
    st.lists(st.sampled_from(STEPS), min_size=1, max_size=4),
    st.integers(0, 2**32),
)
def test_the_guards_are_idempotent_and_commute(text: str, steps: list[Any], seed: int) -> None:
    context = CheckContext(request=understand(text), source="model")
    written = [step if isinstance(step, dict) else {"tool": step[0], "args": step[1]} for step in steps]
    checked = OWN({"steps": [*written, END]}, context)
    assert checked.ok, checked.diagnostics
    once = guard(checked, context, OWN)
    assert guard(once.checked, context, OWN) == once
    for one, other in itertools.combinations(CHECKERS, 2):
        there = guard(checked, context, OWN, checkers=(one, other)).findings[-2:]
        back = guard(checked, context, OWN, checkers=(other, one)).findings[-2:]
        assert there == tuple(reversed(back)), (one.name, other.name)
        assert set(map(repr, there)) <= set(map(repr, once.findings)), "what a guard says depends on itself alone"
    shuffled = Random(seed).sample(CHECKERS, len(CHECKERS))
    assert sorted(map(repr, guard(checked, context, OWN, checkers=tuple(shuffled)).findings)) == sorted(
        map(repr, once.findings)
    )


def test_without_a_request_they_are_not_applicable() -> None:
    context = CheckContext(source="author")
    checked = OWN({"steps": [{"tool": "delete_files", "args": {"path": "a"}}, END]}, context)
    found = guard(checked, context, OWN)
    assert {f.guard for f in found.findings if not getattr(f, "applicable", True)} == {"requested-effects", *GUARDS}
    assert codes(found) == []
    for checker in CHECKERS:
        if checker.name in GUARDS:
            assert not getattr(checker.judge(checked, context), "applicable", True)


def test_a_language_without_a_lexicon_is_refused_not_waved_through() -> None:
    import msgspec

    request = msgspec.structs.replace(understand("write 'x' to out.md"), language="xx")
    context = CheckContext(request=request, source="author")
    found = guard(OWN({"steps": [{"tool": "find_files", "args": {}}, END]}, context), context, OWN)
    assert {fault.code for refusal in found.refusals for fault in refusal.diagnostics} >= {"guard-failed"}
