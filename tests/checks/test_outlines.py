"""A plan judged by its outline has the verdict that the validator gives it, whatever its values are."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.cache.model import Match
from metnos.cache.templates.library import TemplateLibrary
from metnos.checks.guards.run import guard
from metnos.checks.model import CheckContext, Checked
from metnos.checks.outlines import Outlines
from metnos.checks.validator import Validator
from metnos.contracts.catalog import Catalog
from metnos.contracts.model import Consumes, Contract, EffectRule, Produces
from metnos.plan.jsondata import JSONFault, canonical
from metnos.request.understand import understand
from tests.support import generated, shaping

ROOT = Path(__file__).parents[2]
HANDLE = f"⟦sealed:{'0' * 32}⟧"
VALUES: tuple[Any, ...] = (
    "", "x", "name", "size", "entries", "skip", "null", "desc", "../../etc/passwd", "/tmp/a b", "~", "café ☕ 𝕏", "a" * 65_537,
    "\ud800", "\x00", "costs 5$", "$${item}", HANDLE, "2026-02-30", "${step1}", "${step9.x}", "${item.path}", "${nope",
    "${ step1.count }", "${step1.count}", "n: ${step1.count}", "a ${step1.count} b ${step2.count}", "${RUNTIME:today}",
    "from ${RUNTIME:day-1.start}", "${RUNTIME:never}", '${step1.text ?? "none"}', '${step1.count ?? "\\u0041"}', "${step1.count ?? 7}",
    '${step1.entries[0].path ?? "' + HANDLE + '"}', "${step1.entries[0].path}", "${FILLER:t}", "${SLOT:s1}", "${INPUT:folder}",
    0, 1, -1, 7, 10**9, 2**53 - 1, 2**53, 0.5, 1.0, -0.0, 1e300, float("nan"), True, False, None, [], ["name"], ["${item}"],
    ("name",), {}, {"name": "x"}, [[[[1]]]],
)  # fmt: skip


class Judges:
    """The validator, and one with a memory of outlines, over one catalog."""

    def __init__(self, catalog: Catalog) -> None:
        self.plain = Validator(catalog)
        validator = Validator(catalog)
        self.asked = 0
        """How often the validator behind the outlines was asked."""

        def validate(plan: Any, context: CheckContext) -> Checked:
            self.asked += 1
            return validator(plan, context)

        self.outlines = Outlines(validate, validator.bound)

    def same(self, plan: dict[str, Any], context: CheckContext) -> bool:
        """Both say the same of a plan; whether its outline was enough for it."""
        try:
            bytes_ = canonical(plan)
        except JSONFault:
            return False  # never handed to the outlines
        expected = self.plain(copy.deepcopy(plan), context)
        before = self.asked
        found = self.outlines.judged(plan, context, bytes_)
        assert found == expected
        assert written(found) == written(expected)  # 1 is not true here
        if context.request is not None:
            assert guard(found, context, self.plain) == guard(expected, context, self.plain)
        return self.asked == before


def written(checked: Checked) -> str:
    compiled = [(step.args, step.for_each) for step in checked.steps]
    return repr((checked.plan, compiled, checked.answer_text, checked.answer_data, checked.diagnostics))


def leaves(plan: dict[str, Any]) -> list[tuple[int, str]]:
    return [(index, name) for index, step in enumerate(plan["steps"]) for name in step["args"]]


def changed(plan: dict[str, Any], values: dict[tuple[int, str], Any]) -> dict[str, Any]:
    made = copy.deepcopy(plan)
    for (index, name), value in values.items():
        made["steps"][index]["args"][name] = value
    return made


def like(rnd: Random, value: Any) -> Any:
    """Another value of this form, as other slots would give it; most are allowed."""
    if isinstance(value, str):
        pieces = value.split("${")
        pieces[0] = (
            rnd.choice(("", "x", "In ~/notes/d1: ", pieces[0]))
            if len(pieces) > 1
            else rnd.choice(("a.txt", "*.md", "b c"))
        )
        return "${".join(pieces).replace('?? "', '?? "' + rnd.choice(("No ", "è ", '\\"q\\" ')))
    return value if isinstance(value, bool) or not isinstance(value, int) else rnd.choice((1, 2, 50, 10**6, -5))


@pytest.fixture(scope="module")
def library() -> TemplateLibrary:
    return TemplateLibrary.from_signed(
        {path.stem: path.read_bytes() for path in (ROOT / "catalog" / "plans").glob("*.toml")}
    )


@pytest.fixture(scope="module")
def judges(shipped: Catalog) -> Judges:
    return Judges(shipped)


def of_the_library(library: TemplateLibrary) -> Iterator[tuple[dict[str, Any], CheckContext]]:
    """Each sentence of the catalog with its plan, as if it had been learned; and as the template that it is."""
    for example in library.examples():
        request = understand(example.text, example.language)
        found = library.match(request)
        assert isinstance(found, Match)
        for source, origins in (("cache", {}), ("template", found.origins)):
            yield found.plan, CheckContext(source=source, origins=origins, request=request)  # pyright: ignore[reportArgumentType]


def test_every_sentence_with_any_values(judges: Judges, library: TemplateLibrary) -> None:
    rnd = Random(4)
    enough = tried = 0
    for plan, context in of_the_library(library):
        judges.same(copy.deepcopy(plan), context)
        silent = msgspec.structs.replace(context, request=None)
        places = leaves(plan)
        for number in range(6):
            few = rnd.sample(places, rnd.randint(1, len(places)))
            values = {place: like(rnd, plan["steps"][place[0]]["args"][place[1]]) for place in few}
            enough += judges.same(changed(plan, values), context if number == 0 else silent)
            tried += 1
        for place in rnd.sample(places, min(3, len(places))):
            judges.same(changed(plan, {place: rnd.choice(VALUES)}), silent)
    assert enough > tried / 3  # else nothing was tested


def plan_of(contract: Contract, first: Contract, rnd: Random) -> dict[str, Any]:
    """A call of `contract` with whatever its arguments take, after a step that makes files."""
    args = {name: generated.literal(rnd, each) for name, each in contract.args.get("properties", {}).items()}
    args = {
        name: value for name, value in args.items() if rnd.random() < 0.6 or name in contract.args.get("required", ())
    }
    if contract.consumes is not None and rnd.random() < 0.6:
        args.pop(contract.consumes.into, None)
        args["from_step"] = 1
    steps = [{"tool": first.name, "args": {"path": "."}}, {"tool": contract.name, "args": args}]
    return {"steps": [*steps, {"tool": "final_answer", "args": {"text": "Done: ${step1.count}."}}]}


def test_every_argument_of_every_shipped_contract(shipped: Catalog, judges: Judges) -> None:
    """Any value in any place, the executors' own enumerations and bounds among them."""
    rnd = Random(7)
    first = shipped.get("find_files")
    assert first is not None
    for name in shipped.names():
        contract = shipped.get(name)
        assert contract is not None
        properties: dict[str, Any] = contract.args.get("properties", {})
        for _ in range(4):
            plan = plan_of(contract, first, rnd)
            judges.same(plan, CheckContext(source="cache"))
            for argument, schema in properties.items():
                own = [*schema.get("enum", ()), generated.literal(rnd, schema), schema.get("minimum", 0) - 1]
                for value in (*own, *rnd.sample(VALUES, 3)):
                    judges.same(changed(plan, {(1, argument): value}), CheckContext(source="cache"))


@given(st.integers(min_value=0, max_value=2**48), st.booleans())
def test_made_up_contracts_and_plans(seed: int, shapes: bool) -> None:
    rnd = Random(seed)
    known = shaping.shaping_catalog(rnd) if shapes else generated.catalog(rnd)
    judges = Judges(known)
    for _ in range(2):
        plan = shaping.shaping_plan(rnd, known) if shapes else generated.plan(rnd, known)
        context = CheckContext(source="cache", inputs=generated.INPUTS if rnd.random() < 0.5 else {})
        judges.same(copy.deepcopy(plan), context)
        if not isinstance(plan.get("steps"), list) or not all(
            isinstance(step.get("args"), dict) for step in plan["steps"]
        ):
            continue
        for _ in range(3):
            values = {place: rnd.choice(VALUES) for place in leaves(plan) if rnd.random() < 0.3}
            similar = {place: like(rnd, plan["steps"][place[0]]["args"][place[1]]) for place in leaves(plan)}
            judges.same(changed(plan, rnd.choice((values, similar))), context)
        judges.same(generated.mutated(rnd, copy.deepcopy(plan)), context)


# ------------------------------------------------------------------------------------------ what a value may decide


def contract(**changes: Any) -> Contract:
    args = {
        "path": {"type": "string", "maxLength": 20},
        "mode": {"type": "string", "enum": ["add", "replace"]},
        "count": {"type": "integer", "maximum": 10},
        "note": {"type": "string"},
    }
    made = Contract(
        name="put", version="1", args={"type": "object", "properties": args, "additionalProperties": False, "required": []},
        result={"type": "object"},
        effects=(EffectRule(when={"mode": "replace"}, effect="change"), EffectRule(effect="create")),
        requires_one_of=(("path", "note"),),
    )  # fmt: skip
    return msgspec.structs.replace(made, **changes)


def put(**args: Any) -> dict[str, Any]:
    return {"steps": [{"tool": "put", "args": args}, {"tool": "final_answer", "args": {"text": "Put."}}]}


def test_a_value_that_decides_the_effect_is_never_taken_out() -> None:
    judges = Judges(Catalog().with_contracts([contract()]))
    context = CheckContext(source="cache")
    for mode, effect in (("add", "create"), ("replace", "change"), ("add", "create")):
        judges.same(put(path="a", mode=mode), context)
        plan = put(path=f"b-{mode}", mode=mode)
        assert judges.outlines.judged(plan, context, canonical(plan)).steps[0].worst_effect == effect
    assert judges.same(put(path="c", mode="replace"), context)


def test_bounds_kinds_and_required_groups_are_asked_of_each_value() -> None:
    judges = Judges(Catalog().with_contracts([contract()]))
    context = CheckContext(source="cache")
    judges.same(put(path="a", count=1), context)
    assert judges.same(put(path="b", count=10), context)
    for wrong in (
        put(path="a" * 21, count=1),
        put(path="b", count=11),
        put(path="b", count=True),
        put(path=3, count=1),
    ):
        assert not judges.same(wrong, context)
        assert not judges.plain(wrong, context).ok
    for names in (put(count=1), put(path="b", cuont=1), put(note="b", count=1)):
        assert not judges.same(names, context)


def test_what_was_learned_of_a_contract_is_void_once_it_is_exchanged() -> None:
    known = {"put": contract()}

    class Changing:
        def get(self, name: str) -> Contract | None:
            return known.get(name)

        def names(self) -> tuple[str, ...]:
            return tuple(known)

    validator = Validator(Changing())
    outlines = Outlines(validator, validator.bound)
    context = CheckContext(source="cache")

    def by_outline(plan: dict[str, Any]) -> Checked | None:
        outline = outlines.outline(plan, context)
        return None if outline is None else outlines.affirm(plan, outline, canonical(plan))

    plan = put(path="a", mode="add")
    outline = outlines.outline(plan, context)
    assert outline is not None
    outlines.learn(plan, outline, canonical(plan), validator(plan, context))
    assert by_outline(put(path="b", mode="add")) == validator(put(path="b", mode="add"), context)
    known["put"] = contract(
        effects=(EffectRule(when={"mode": "replace"}, effect="change"), EffectRule(effect="delete"))
    )
    assert by_outline(put(path="c", mode="add")) is None
    assert validator(put(path="c", mode="add"), context).steps[0].worst_effect == "delete"
    del known["put"]
    assert by_outline(put(path="d", mode="add")) is None


def test_another_source_other_origins_and_inputs_are_another_outline() -> None:
    validator = Validator(Catalog().with_contracts([contract()]))
    outlines = Outlines(validator, validator.bound)
    keys: list[bytes] = []
    for context in (
        CheckContext(source="cache"),
        CheckContext(source="model"),
        CheckContext(source="cache", origins={"/steps/0/args/path": "user"}),
        CheckContext(source="cache", inputs={"path": {"type": "string"}}),
        CheckContext(source="cache", earlier_steps={"plan1.step1": {"type": "string"}}),
    ):
        outline = outlines.outline(put(path="a"), context)
        assert outline is not None
        keys.append(outline.key)
    assert len(set(keys)) == len(keys)


def test_the_plan_that_was_judged_first_may_be_changed_by_its_owner(shipped: Catalog) -> None:
    judges = Judges(shipped)
    context = CheckContext(source="cache")
    text = (
        '{"steps": [{"tool": "find_files", "args": {"path": "PATH", "hidden": false}}, {"tool": "render_table", "args":'
    )
    text += ' {"columns": ["size"], "from_step": 1, "title": "PATH"}}, {"tool": "final_answer", "args": {"text": "In PATH: ${step2.text}"}}]}'
    first, second, third = (json.loads(text.replace("PATH", path)) for path in ("a", "b", "c"))
    judges.same(first, context)
    assert judges.same(second, context)
    first["steps"][1]["args"]["columns"][0] = "name"
    first["steps"][0]["args"]["path"] = "elsewhere"
    second["steps"][1]["args"]["columns"].append("path")
    assert judges.same(third, context)


@pytest.mark.parametrize(
    "plan",
    [
        {},
        {"steps": []},
        {"steps": [{"tool": "final_answer", "args": {}}], "fillers": {}},
        {"steps": [{"tool": "put", "args": []}, {"tool": "final_answer", "args": {}}]},
        {"steps": [{"tool": ["put"], "args": {}}, {"tool": "final_answer", "args": {}}]},
        {"steps": [{"tool": "take", "args": {}}, {"tool": "final_answer", "args": {}}]},
        {"steps": [{"tool": "final_answer", "args": {"text": 1}}]},
        {"steps": [{"tool": "final_answer", "args": {"text": "${FILLER:x}"}}]},
        {"steps": [{"tool": "final_answer", "args": {"data": "x"}}]},
        {"steps": [{"tool": "final_answer", "args": {}, "id": "x"}]},
        {"steps": [{"tool": "ask", "args": {"question": "x"}}]},
        put(path=object()),
    ],
)
def test_plans_of_other_forms_have_no_outline(plan: dict[str, Any]) -> None:
    validator = Validator(Catalog().with_contracts([contract()]))
    outlines = Outlines(validator, validator.bound)
    context = CheckContext()
    assert outlines.outline(plan, context) is None or plan["steps"][0]["args"].keys() == {"path"}
    assert outlines.outline(put(mode=object()), context) is None


DECIDING = {
    "sort_entries": ("by", "missing"),
    "select_fields": ("fields", "rename"),
    "group_entries": ("by", "field", "keep"),
    "join_entries": ("on", "other", "other_on", "prefix", "how"),
    "write_files": ("overwrite",),
}
"""Arguments whose value says what an effect is, or what a step makes."""


@pytest.mark.parametrize("tool", sorted(DECIDING))
def test_a_value_that_decides_something_stays(shipped: Catalog, tool: str) -> None:
    bound = Validator(shipped).bound(tool)
    assert bound is not None
    assert bound.free.isdisjoint(DECIDING[tool])
    assert bound.args.keys() >= set(DECIDING[tool])


def test_the_number_of_a_step_stays() -> None:
    args = {"type": "object", "properties": {"from_step": {"type": "integer"}, "from_steps": {"type": "string"}}}
    bound = Validator(Catalog().with_contracts([contract(args=args)])).bound("put")
    assert bound is not None
    assert bound.args.keys() > bound.free == set()


def test_long_texts_are_refused() -> None:
    judges = Judges(Catalog().with_contracts([contract()]))
    context = CheckContext(source="cache")
    judges.same(put(note="a"), context)
    assert judges.same(put(note="a" * 65_536), context)
    assert not judges.same(put(note="a" * 65_537), context)
    long = put(note="b")
    long["steps"][1]["args"]["text"] = "a" * 65_536
    assert judges.same(long, context)
    long["steps"][1]["args"]["text"] = "a" * 65_537
    assert not judges.same(long, context)


def test_a_text_to_use_instead_is_held_against_the_schema() -> None:
    text = {"type": "object", "properties": {"text": {"type": "string"}}}
    make = contract(name="make", requires_one_of=(), effects=(EffectRule(effect="read"),), result=text)
    judges = Judges(Catalog().with_contracts([contract(), make]))
    context = CheckContext(source="cache")

    def plan(other: str) -> dict[str, Any]:
        path = f'${{step1.text ?? "{other}"}}'
        return {"steps": [{"tool": "make", "args": {}}, *put(path=path)["steps"]]}

    judges.same(plan("a"), context)
    assert judges.same(plan("b"), context)
    assert not judges.same(plan("b" * 21), context)


def test_the_type_of_what_goes_in_stays() -> None:
    """What a step makes of its input has the type of the input."""
    args = {"type": "object", "properties": {"value": {"type": ["string", "integer"]}}}
    result = {"type": "object", "properties": {"entries": {"type": "array", "items": {}}}, "required": ["entries"]}
    echo = contract(
        name="echo",
        args=args,
        result=result,
        requires_one_of=(),
        effects=(EffectRule(effect="read"),),
        consumes=Consumes(kinds=("row",), into="value", many=False),
        produces=Produces(kind="row", rule="same"),
    )
    judges = Judges(Catalog().with_contracts([contract(), echo]))
    context = CheckContext(source="cache")

    def plan(value: str | int) -> dict[str, Any]:
        last = put(note="n", count="${step1.entries[0] ?? 1}")["steps"]
        return {"steps": [{"tool": "echo", "args": {"value": value}}, *last]}

    judges.same(plan(1), context)
    assert judges.same(plan(2), context)
    assert not judges.same(plan("2"), context)
    assert not judges.plain(plan("2"), context).ok


def test_few_outlines_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("metnos.checks.outlines.LIMIT", 2)
    judges = Judges(
        Catalog().with_contracts(
            [contract(consumes=Consumes(kinds=("file",), into="path"), produces=Produces(kind="file"))]
        )
    )
    context = CheckContext(source="cache")
    for args in ({"path": "a"}, {"note": "a"}, {"path": "a", "note": "a"}):
        judges.same(put(**args), context)
    assert not judges.same(put(path="b"), context)
    assert judges.same(put(path="b", note="b"), context)
