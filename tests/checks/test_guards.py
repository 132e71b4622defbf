"""The guards: what each lets through and what it refuses; and what holds for all of them."""

from __future__ import annotations

import itertools
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metnos.checks.guards import CHECKERS, REWRITERS, guard, guard_with
from metnos.checks.guards.grounding import normalised
from metnos.checks.guards.model import Checker, Rewriter
from metnos.checks.model import CheckContext, Checked, Fine, Guarded, Refuse, Repropose, Rewritten
from metnos.checks.validator import Validator
from metnos.contracts.catalog import Catalog
from metnos.contracts.model import Contract, EffectRule
from metnos.plan.diagnostics import Diagnostic
from metnos.plan.model import Plan
from metnos.request.model import Clause, Request, RequestIntent, Slot, Told
from metnos.request.understand import understand
from metnos.sdk import EffectClass
from tests.support import generated

END: dict[str, Any] = {"tool": "final_answer", "args": {}}
FIND: dict[str, Any] = {"tool": "find_files", "args": {}}
TABLE: dict[str, Any] = {"tool": "render_table", "args": {"from_step": 1}}


def write(**args: Any) -> dict[str, Any]:
    return {"steps": [FIND, TABLE, {"tool": "write_files", "args": {"from_step": 2, **args}}, END]}


def request(
    *intents: RequestIntent, slots: tuple[Slot, ...] = (), negated: bool = False, text: str = "as said"
) -> Request:
    clauses = (Clause(start=0, end=1, intents=intents),)
    return Request(
        text=text, language="en", normal_form="", explanation=Told(clauses=clauses), slots=slots, negated=negated
    )


def intent(effect: EffectClass, *modifiers: str, verb: str = "write") -> RequestIntent:
    return RequestIntent(verb=verb, object="files", effect=effect, modifiers=modifiers)


def path(text: str, value: Any = None) -> Slot:
    return Slot(kind="path", start=0, end=len(text), text=text, value=text if value is None else value)


OUT = path("out.md")
CREATE = request(intent("create"), slots=(OUT,))


def faults(guarded: Guarded, *guards: str) -> list[Diagnostic]:
    """What was found; by the named guards, if any are named."""
    findings = (*guarded.refusals, *guarded.reproposals)
    return [fault for finding in findings if not guards or finding.guard in guards for fault in finding.diagnostics]


def codes(guarded: Guarded, *guards: str) -> set[str]:
    return {fault.code for fault in faults(guarded, *guards)}


EFFECTS = ("requested-effects", "overwrite-protection")


@pytest.fixture
def guarded(validator: Validator) -> Any:
    def run(plan: dict[str, Any], **context: Any) -> Guarded:
        made = CheckContext(**context)
        checked = validator(plan, made)
        assert checked.ok, checked.diagnostics
        return guard(checked, made, validator)

    return run


# ------------------------------------------------------------------------------------------------ effects


def test_a_plan_without_a_request_has_no_request_guards(guarded: Any) -> None:
    found = guarded(write(path="out.md", overwrite=True))
    assert codes(found) == set()
    left_out = [f.guard for f in found.findings if isinstance(f, Fine) and not f.applicable]
    assert left_out == [checker.name for checker in CHECKERS if checker.needs_request]
    assert set(left_out) > {"requested-effects", "clause-coverage", "explicit-destination"}


@pytest.mark.parametrize(
    ("said", "args", "expected"),
    [
        (CREATE, {}, set()),
        (request(intent("change"), slots=(OUT,)), {}, set()),
        (request(intent("read", verb="find"), slots=(OUT,)), {}, {"unrequested-effect"}),
        (request(slots=(OUT,)), {}, {"unrequested-effect"}),
        (request(intent("delete"), intent("send"), slots=(OUT,)), {}, {"unrequested-effect"}),
        (request(intent("create"), slots=(OUT,), negated=True), {}, {"negated-effect"}),
        (CREATE, {"overwrite": True}, {"unrequested-effect", "unrequested-overwrite"}),
        (request(intent("create", "overwrite"), slots=(OUT,)), {"overwrite": True}, set()),
        (request(intent("create", verb="replace"), slots=(OUT,)), {"overwrite": True}, set()),
        (request(intent("change"), slots=(OUT,)), {"overwrite": True}, set()),
        (request(intent("read", "overwrite"), slots=(OUT,)), {"overwrite": True}, {"unrequested-effect"}),
        (
            request(intent("change"), slots=(OUT,), negated=True),
            {"overwrite": True},
            {"negated-effect", "unrequested-overwrite"},
        ),
        (CREATE, {"overwrite": False}, set()),
    ],
)
def test_effects_need_a_request_for_them(said: Request, args: dict[str, Any], expected: set[str], guarded: Any) -> None:
    for source in ("template", "author", "host", "cache", "user"):
        found = guarded(write(path="out.md", **args), request=said, source=source)
        assert codes(found, *EFFECTS) == expected
        assert not found.reproposals
    by_model = guarded(write(path="out.md", **args), request=said, source="model")
    assert codes(by_model, *EFFECTS) == expected
    assert not by_model.refusals, "a model may propose again"


def test_reading_needs_no_request_for_an_effect(guarded: Any) -> None:
    assert codes(guarded({"steps": [FIND, END]}, request=request(negated=True), source="model")) == set()


def test_an_overwrite_is_named_where_it_is_written(guarded: Any) -> None:
    found = guarded(write(path="out.md", overwrite=True), request=CREATE)
    places = {fault.code: fault.where for refusal in found.refusals for fault in refusal.diagnostics}
    assert places == {"unrequested-effect": "/steps/2/tool", "unrequested-overwrite": "/steps/2/args/overwrite"}


def test_a_default_that_overwrites_is_named_at_the_tool(validator: Validator) -> None:
    wiping = Contract(
        name="wipe",
        version="1",
        targets=(),
        effects=(EffectRule(effect="delete", when={"all": True}), EffectRule(effect="read")),
        args={
            "type": "object",
            "properties": {"all": {"type": "boolean", "default": True}},
            "additionalProperties": False,
        },
    )
    own = Validator(Catalog().with_contracts([wiping]))
    context = CheckContext(source="model", request=CREATE)
    checked = own({"steps": [{"tool": "wipe", "args": {}}, END]}, context)
    places = {fault.where for fault in faults(guard(checked, context, own), *EFFECTS)}
    assert places == {"/steps/0/tool"}


# ------------------------------------------------------------------------------------------------ grounding


def grounded(guarded: Any, plan: dict[str, Any], *slots: Slot, **context: Any) -> bool:
    said = request(intent("create"), slots=slots)
    found = guarded(plan, **{"request": said, "source": "model", **context})
    return not codes(found, "grounding")


def test_a_models_target_must_be_one_of_the_requests_values(guarded: Any) -> None:
    assert grounded(guarded, write(path="out.md"), OUT)
    assert grounded(guarded, write(path="./out.md"), path("“out.md”", "out.md"))
    assert grounded(guarded, write(path="out.md"), path("x", ["a.md", "out.md"]))
    assert not grounded(guarded, write(path="out.md"))
    assert not grounded(guarded, write(path="OUT.md"), OUT), "file names differ by case"
    assert not grounded(guarded, write(path="/etc/out.md"), OUT)


def test_without_a_request_a_model_names_nothing(validator: Validator) -> None:
    context = CheckContext(source="model")
    found = guard(validator(write(path="out.md"), context), context, validator)
    assert codes(found) == {"ungrounded-target"}


@pytest.mark.parametrize("source", ["author", "host", "template", "user"])
def test_what_a_person_wrote_is_grounded(source: str, guarded: Any) -> None:
    assert grounded(guarded, write(path="anything.md"), source=source)


def test_a_cached_literal_is_held_against_the_request(guarded: Any) -> None:
    assert not grounded(guarded, write(path="anything.md"), source="cache")


def test_a_bound_slot_is_grounded_by_its_origin(guarded: Any) -> None:
    assert grounded(guarded, write(path="out.md"), origins={"/steps/2/args/path": "user"})


def test_references_are_grounded_by_what_they_refer_to(guarded: Any) -> None:
    at_world = write(path='${step1.entries[0].path ?? "out.md"}')
    assert not grounded(guarded, at_world), "the fallback is the model's"
    assert grounded(guarded, at_world, OUT)
    assert grounded(guarded, write(path="${INPUT:where}"), inputs={"where": {"type": "string"}})
    assert grounded(guarded, write(path="${RUNTIME:today}"))
    assert not grounded(guarded, write(path="${RUNTIME:today}.md"), OUT), "`.md` was not said"
    assert grounded(guarded, write(path="out.md/${RUNTIME:today}"), path("out.md/"))


def test_a_filler_is_never_a_target(guarded: Any) -> None:
    plan = write(path="${FILLER:name}")
    plan["fillers"] = {"name": {"prompt": "A name", "schema": {"type": "string"}}}
    assert not grounded(guarded, plan, OUT)
    assert not grounded(guarded, plan, OUT, source="author"), "whoever wrote the plan: a model writes the filler"


def test_a_transform_does_not_launder_a_literal(guarded: Any) -> None:
    taken = {"tool": "take_entries", "args": {"entries": [{"path": "secret.md"}], "count": 1}}
    plan = {
        "steps": [
            taken,
            {"tool": "write_files", "args": {"path": "${item.path}", "content": "x"}, "for_each": "${step1.entries}"},
            END,
        ]
    }
    assert not grounded(guarded, plan)
    assert grounded(guarded, plan, path("secret.md"))
    assert grounded(guarded, plan, source="author")
    joined = {"tool": "take_entries", "args": {"from_steps": [1, 1], "count": 1}}
    through = {"tool": "write_files", "args": {"path": "${item.path}", "content": "x"}, "for_each": "${step2.entries}"}
    assert not grounded(guarded, {"steps": [taken, joined, through, END]})


def test_a_loop_over_literals_is_held_against_the_request(guarded: Any) -> None:
    plan = {
        "steps": [
            {"tool": "write_files", "args": {"path": "${item}", "content": "x"}, "for_each": ["a.md", "b.md"]},
            END,
        ]
    }
    assert not grounded(guarded, plan, path("a.md"))
    assert grounded(guarded, plan, path("a.md"), path("b.md"))


def test_targets_of_every_type_are_traced() -> None:
    tool = Contract(
        name="touch",
        version="1",
        targets=("what", "other"),
        effects=(EffectRule(effect="create"),),
        args={"type": "object", "properties": {"what": {}, "other": {"type": "string"}}, "additionalProperties": False},
        result={"type": "object"},
    )
    pure = Contract(
        name="pure",
        version="1",
        effects=(EffectRule(effect="read"),),
        resources=(),
        args={"type": "object", "properties": {"x": {}}, "additionalProperties": False},
        result={"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]},
    )
    own = Validator(Catalog().with_contracts([tool, pure]))
    said = request(intent("create"), slots=(path("a"), path("7", 7)))
    context = CheckContext(source="model", request=said, earlier_steps={"plan1.step1": {"type": "string"}})

    def bad(*steps: dict[str, Any]) -> list[str]:
        checked = own({"steps": [*steps, END]}, context)
        assert checked.ok, checked.diagnostics
        return [fault.found for fault in faults(guard(checked, context, own), "grounding")]

    def touch(what: Any) -> dict[str, Any]:
        return {"tool": "touch", "args": {"what": what}}

    assert bad(touch({"in": ["a", "b", 7, 8, True, None]})) == ["b", "8"]
    assert bad(touch([{"k": "${plan1.step1}"}, "c"])) == ["c"]
    assert bad({"tool": "pure", "args": {"x": "d"}}, touch("${step1.x}")) == ["d"]


@given(st.text())
def test_normal_form_of_a_target_is_final(text: str) -> None:
    once = normalised(text)
    assert normalised(once) == once


def test_addresses_keep_their_slashes() -> None:
    assert normalised('"https://a.example//b"') == "https://a.example//b"
    assert normalised("a//b/../c ") == "a/c"


# ------------------------------------------------------------------------------------------------ rewriters


def test_an_input_in_words_wins_over_a_step_number(validator: Validator) -> None:
    plan = {"steps": [FIND, {"tool": "read_files", "args": {"from_step": 1, "path": "a.md"}}, END]}
    context = CheckContext()
    found = guard(validator(plan, context), context, validator)
    assert found.rewrites == ("explicit-input",)
    assert found.checked.plan.steps[1].args == {"path": "a.md"}
    assert (
        found.checked.digest
        == validator({"steps": [FIND, {"tool": "read_files", "args": {"path": "a.md"}}, END]}).digest
    )
    assert found.checked.steps[1].needs == frozenset()


def _rewrite(rewriters: tuple[Rewriter, ...], checked: Checked, context: CheckContext, validator: Validator) -> Plan:
    return guard(checked, context, validator, rewriters=rewriters, checkers=()).checked.plan


@settings(max_examples=30)
@given(st.integers(min_value=0, max_value=2**40))
def test_rewriters_are_idempotent_and_commute(seed: int) -> None:
    rnd = Random(seed)
    known = generated.catalog(rnd)
    own = Validator(known)
    context = CheckContext(inputs=generated.INPUTS)
    for _ in range(8):
        written = generated.plan(rnd, known)
        for step in written["steps"][:-1]:
            if rnd.random() < 0.5 and len(written["steps"]) > 1:
                step["args"].setdefault("from_step", 1)
        checked = own(written, context)
        if not checked.ok:
            continue
        once = guard(checked, context, own)
        again = guard(once.checked, context, own)
        assert again.checked.plan == once.checked.plan
        assert again.rewrites == ()
        for one, other in itertools.combinations(REWRITERS, 2):
            assert _rewrite((one, other), checked, context, own) == _rewrite((other, one), checked, context, own)


def test_no_rewriter_touches_what_another_reads_or_writes() -> None:
    for one, other in itertools.permutations(REWRITERS, 2):
        assert one.writes.isdisjoint(other.reads | other.writes), (one.name, other.name)


# ------------------------------------------------------------------------------------------------ all of them


@settings(max_examples=30)
@given(st.permutations(CHECKERS), st.integers(min_value=0, max_value=2**40))
def test_checkers_need_no_order(order: list[Checker], seed: int) -> None:
    rnd = Random(seed)
    known = generated.catalog(rnd)
    own = Validator(known)
    context = CheckContext(
        inputs=generated.INPUTS, request=rnd.choice((None, CREATE, request(negated=True))), source="model"
    )
    checked = own(generated.plan(rnd, known), context)
    plain = guard(checked, context, own)
    shuffled = guard(checked, context, own, checkers=tuple(order))
    assert sorted(map(repr, plain.findings)) == sorted(map(repr, shuffled.findings))
    assert guard(checked, context, own) == plain, "the same question has the same answer"


def test_names_are_unique() -> None:
    names = [each.name for each in (*REWRITERS, *CHECKERS)]
    assert len(names) == len(set(names))


def _explode(*_: Any) -> Any:
    raise RuntimeError("boom")


def test_a_guard_that_raises_refuses(validator: Validator) -> None:
    context = CheckContext(request=CREATE)
    checked = validator(write(path="out.md"), context)
    for checker in CHECKERS:
        broken = msgspec.structs.replace(checker, judge=_explode)
        found = guard(checked, context, validator, checkers=(broken,))
        assert [refusal.guard for refusal in found.refusals] == [checker.name]
        assert codes(found) == {"guard-failed"}
    for rewriter in REWRITERS:
        broken_one = msgspec.structs.replace(rewriter, rewrite=_explode)
        found = guard(checked, context, validator, rewriters=(broken_one,))
        assert codes(found) == {"guard-failed"}
        assert found.checked is checked


def test_a_rewrite_that_breaks_the_plan_is_refused(validator: Validator) -> None:
    context = CheckContext()
    checked = validator(write(path="out.md"), context)
    spoiling = Rewriter(
        name="spoil",
        reads=frozenset(),
        writes=frozenset(),
        rewrite=lambda checked, _: msgspec.structs.replace(checked.plan, steps=checked.plan.steps[1:]),
    )
    found = guard(checked, context, validator, rewriters=(spoiling,), checkers=())
    assert [refusal.guard for refusal in found.refusals] == ["spoil"]
    assert found.checked is checked


def test_a_plan_with_faults_is_handed_back(validator: Validator) -> None:
    checked = validator({"steps": [END, END]})
    assert guard_with(validator)(checked, CheckContext()) == Guarded(checked=checked)


def test_findings_are_told_apart() -> None:
    checked = Checked(plan=Plan(steps=()))
    made = Guarded(
        checked=checked,
        findings=(
            Rewritten(guard="a", plan=checked.plan),
            Fine(guard="b"),
            Repropose(guard="c", diagnostics=()),
            Refuse(guard="d", diagnostics=()),
        ),
    )
    assert (made.rewrites, [f.guard for f in made.reproposals], [f.guard for f in made.refusals]) == (
        ("a",),
        ["c"],
        ["d"],
    )


@pytest.mark.parametrize(
    ("said", "path", "grounded"),
    [
        ("delete the log files and show me what is in documents", "documents", False),
        ("delete the file in archive", "archive", False),
        ("delete the file archive", "archive", True),
        ("delete notes.txt in archive", "notes.txt", True),
        ("delete what is in ./archive", "./archive", True),
        ("delete old.log and move a.txt into archive", "archive", False),
        ("delete old.log and move a.txt into archive", "old.log", True),
    ],
)
def test_a_place_is_not_what_is_deleted(shipped: Catalog, said: str, path: str, grounded: bool) -> None:
    plan = {"steps": [{"tool": "delete_files", "args": {"path": path}}, END]}
    validator = Validator(shipped)
    context = CheckContext(source="model", request=understand(said, "en"))
    found = faults(guard_with(validator)(validator(plan, context), context), "grounding")
    assert (not found) is grounded, found
