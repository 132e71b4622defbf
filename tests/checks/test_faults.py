"""The validator, case by case: faults that the broken plans do not show, and what is none."""

from __future__ import annotations

from typing import Any

from metnos.checks.scope import listed
from metnos.checks.validator import Validator
from metnos.contracts.catalog import Catalog
from metnos.contracts.model import Consumes, Contract, EffectRule, Produces
from tests.support.checking import FIND, faults, plan, step, tool, validator_of


def test_answers_are_checked_too(validator: Validator) -> None:
    def end(**args: Any) -> list[tuple[str, str]]:
        return faults(validator, plan(FIND, end=step("final_answer", args)))

    assert end(text="${step1}") == [("text-not-scalar", "/steps/1/args/text")]
    assert end(text="n: ${step1.count}", data={"files": "${step1.entries}"}) == []
    assert end(data=["${step1.entries[0].path}", "${step2}"]) == [
        ("fallback-needed", "/steps/1/args/data/0"),
        ("reference-unknown-step", "/steps/1/args/data/1"),
    ]
    assert end(text="${step1", data="${step1.nothing}") == [
        ("unknown-field", "/steps/1/args/data"),
        ("reference-syntax", "/steps/1/args/text"),
    ]
    assert end(data="${step1") == [("reference-syntax", "/steps/1/args/data")]


def test_steps_behind_the_end_keep_their_places(validator: Validator) -> None:
    written = {"steps": [FIND, step("final_answer", {"text": "${step1}"}), step("find_fils", {})]}
    assert faults(validator, written) == [
        ("terminal-not-last", "/steps/1"),
        ("text-not-scalar", "/steps/1/args/text"),
        ("unknown-tool", "/steps/2/tool"),
    ]


def test_schemas_that_a_plan_brings_are_judged(validator: Validator) -> None:
    filler = {"prompt": "?", "schema": {"type": "text"}}
    found = faults(validator, plan(step("find_files", {"path": "${FILLER:x}"}), fillers={"x": filler}))
    assert found
    assert all(where.startswith("/fillers/x/schema") for _, where in found)
    form = step("needs_inputs", {"form": {"name": {"schema": {"pattern": "(a)\\1"}}}})
    assert [where for _, where in faults(validator, {"steps": [FIND, form]})] == [
        "/steps/1/args/form/name/schema/pattern"
    ]
    assert faults(validator, {"steps": [step("ask", {"question": "Which?"})]}) == []
    good = step("needs_inputs", {"form": {"name": {"schema": {"type": "string"}}}})
    assert faults(validator, {"steps": [good]}) == []


def test_what_is_known_beside_the_plan(validator: Validator) -> None:
    written = plan(
        step("take_entries", {"entries": "${INPUT:rows}", "count": "${INPUT:n}"}),
        step("take_entries", {"entries": "${plan1.step2.entries}", "count": 1}),
    )
    rows: dict[str, Any] = {"type": "array", "items": {"type": "object"}}
    earlier = {"plan1.step2": {"type": "object", "properties": {"entries": rows}, "required": ["entries"]}}
    assert faults(validator, written, inputs={"rows": rows, "n": {"type": "integer"}}, earlier_steps=earlier) == []
    assert faults(validator, written, inputs={"rows": rows, "n": {"type": "string"}}, earlier_steps=earlier) == [
        ("type-mismatch", "/steps/0/args/count")
    ]


def test_items_of_a_loop(validator: Validator) -> None:
    def loop(over: Any, use: str) -> list[tuple[str, str]]:
        return faults(validator, plan(FIND, step("read_files", {"path": use}, for_each=over)))

    assert loop(["a", "b"], "${item}") == []
    assert loop(["a", 1], "${item}") == [("type-mismatch", "/steps/1/args/path")]
    assert loop(["a", "${step1.entries[*].path}"], "${item}") == [("type-mismatch", "/steps/1/args/path")]
    assert loop([{"p": "a"}, {"p": "b"}], "${item.p}") == []
    assert loop("${step1.entries}", "${item.nmae}") == [("unknown-field", "/steps/1/args/path")]
    assert loop("${step1.entries ?? []}", "${item.path}") == []
    assert loop("${step1.entries ?? 3}", "${item.path}") == [("for-each-not-list", "/steps/1/for_each")]
    assert loop("${item}", "${item}") == [("item-outside", "/steps/1/for_each")]
    assert loop("${step1", "${item.x.y}") == [("reference-syntax", "/steps/1/for_each")]
    assert loop(["${step1"], "${item.x.y}") == [("reference-syntax", "/steps/1/for_each/0")]


def test_literals_with_holes_are_checked_where_they_stand() -> None:
    record: dict[str, Any] = {
        "type": "object",
        "required": ["name", "size"],
        "additionalProperties": False,
        "properties": {
            "name": {"type": "string"},
            "size": {"type": "integer", "minimum": 1},
            "tags": {"type": "array", "items": {"type": "string"}},
            "pair": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}]},
            "free": {"type": "array"},
        },
    }
    source = tool(
        "source",
        {},
        {"type": "object", "properties": {"s": {"type": "string"}, "n": {"type": "integer"}}, "required": ["s", "n"]},
    )
    own = validator_of(
        source,
        tool(
            "sink",
            {
                "r": record,
                "u": {
                    "anyOf": [{"type": "string"}, record, {"type": "object", "properties": {"k": {"type": "integer"}}}]
                },
                "any": {},
                "list": {
                    "anyOf": [
                        {"type": "array", "items": {"type": "string"}},
                        {"type": "array", "items": {"type": "integer"}},
                    ]
                },
            },
        ),
    )

    def sink(**args: Any) -> list[tuple[str, str]]:
        return faults(own, plan(step("source", {}), step("sink", args)))

    at = "/steps/1/args"
    assert (
        sink(
            r={
                "name": "${step1.s}",
                "size": 2,
                "tags": ["a", "${step1.s}"],
                "pair": ["${step1.s}", 3],
                "free": [1, "${step1.s}"],
            }
        )
        == []
    )
    assert sink(r={"name": "${step1.n}", "size": 0, "tags": ["${step1.s}", 4], "pair": ["${step1.s}", "x"]}) == [
        ("type-mismatch", f"{at}/r/name"),
        ("type-mismatch", f"{at}/r/pair/1"),
        ("invalid-value", f"{at}/r/size"),
        ("type-mismatch", f"{at}/r/tags/1"),
    ]
    assert sink(r={"nam": "${step1.s}", "size": 1}) == [("missing-field", f"{at}/r"), ("unknown-field", f"{at}/r/nam")]
    assert sink(r={"nam": "x", "size": "1"}) == [
        ("missing-field", f"{at}/r"),
        ("unknown-field", f"{at}/r/nam"),
        ("type-mismatch", f"{at}/r/size"),
    ]
    assert sink(r=["${step1.s}"]) == [("type-mismatch", f"{at}/r")]
    assert sink(r="${step1}") == [("type-mismatch", f"{at}/r")]
    assert sink(u={"k": "${step1.n}"}, any={"x": ["${step1.s}", {"y": "${step1.z}"}]}) == [
        ("unknown-field", f"{at}/any/x/1/y")
    ]
    assert sink(u={"name": "${step1.s}", "size": "${step1.n}"}, list=["${step1.n}", 3]) == []
    assert sink(list=["${step1.n}", "x"]) == [("type-mismatch", f"{at}/list/0")]
    assert sink(list=[1, "x"]) == [("type-mismatch", f"{at}/list")]
    assert sink(any=["${step1.s}", "x" * 70_000]) == [("literal-too-large", f"{at}/any/1")]
    assert sink(any={"deep": ["x" * 70_000]}) == [("literal-too-large", f"{at}/any/deep/0")]


def test_fields_of_what_is_consumed(validator: Validator) -> None:
    def sort(entries: Any, by: Any, **more: Any) -> list[tuple[str, str]]:
        return faults(validator, plan(FIND, step("sort_entries", {"entries": entries, "by": by, **more})))

    by = "/steps/1/args/by"
    assert sort("${step1.entries}", "size") == []
    assert sort("${step1.entries}", "sizes") == [("unknown-field", by)]
    assert sort("${step1.entries ?? []}", "size") == []
    assert sort("${step1.entries ?? []}", "sizes") == [("unknown-field", by)]
    assert sort("${step1.entries}", "path_bytes") == [("missing-undecided", by)]
    assert sort("${step1.entries}", "path_bytes", missing="drop") == []
    assert sort([{"a": 1}, {"a": 2}], "a") == []
    assert sort([{"a": 1}, {"a": 2}], "b") == [("unknown-field", by)]
    assert sort(["${step1.entries[0] ?? {}}"], "size") == [("missing-undecided", by)]
    assert sort("${step1.entries}", '${step1.entries[0].name ?? "size"}') == [], "met at run time"
    assert sort("${step1", "b") == [("reference-syntax", "/steps/1/args/entries")]
    assert sort("${step1.count}", "b") == [("type-mismatch", "/steps/1/args/entries")]
    columns = step(
        "render_table", {"from_step": 1, "columns": ['${step1.entries[0].name ?? "size"}', "nme", "path_bytes"]}
    )
    assert faults(validator, plan(FIND, columns)) == [("unknown-field", "/steps/1/args/columns/1")]


def test_a_transform_without_a_word_on_missing_fields() -> None:
    source = tool(
        "source",
        {},
        {
            "type": "object",
            "properties": {
                "entries": {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "string"}}}}
            },
            "required": ["entries"],
        },
        produces=Produces(kind="file"),
    )
    rows = tool(
        "rows",
        {},
        {
            "type": "object",
            "properties": {
                "entries": {
                    "type": "array",
                    "items": {"type": "object", "properties": {"a": {}}, "additionalProperties": True},
                }
            },
            "required": ["entries"],
        },
        produces=Produces(kind="row"),
    )
    pick = tool(
        "pick",
        {"entries": {"type": "array"}, "field": {"type": "string"}},
        field_of_input=("field",),
        consumes=Consumes(into="entries", kinds=("entry",)),
    )
    own = validator_of(source, rows, pick)
    assert faults(own, plan(step("source", {}), step("pick", {"from_step": 1, "field": "a"}))) == [
        ("missing-undecided", "/steps/1/args/field")
    ]
    for field in ("a", "whatever"):
        assert faults(own, plan(step("rows", {}), step("pick", {"from_step": 1, "field": field}))) == [], (
            "an open kind: the data decide"
        )
    assert faults(own, plan(step("rows", {}), step("pick", {"field": "a"}))) == []
    assert faults(own, plan(step("rows", {}), step("pick", {"from_step": 1, "field": 3}))) == [
        ("type-mismatch", "/steps/1/args/field")
    ]


def test_hints_name_what_was_meant(validator: Validator) -> None:
    def hint(*steps: dict[str, Any]) -> str:
        (fault,) = validator(plan(*steps)).diagnostics
        return fault.hint

    assert hint(step("find_fles", {})) == "did you mean `find_files`?"
    assert hint(step("find_files", {"pattrn": "x"})) == "did you mean `pattern`?"
    assert hint(FIND, step("write_files", {"from_step": 1, "path": "x"})) == "insert `read_files` between the two"
    assert "from_step" in hint(FIND, step("take_entries", {"count": 1}))
    assert "from_step" in hint(FIND, step("read_files", {}))
    assert '{"nonempty": 1}' in hint(FIND, step("read_files", {"path": "${step1.entries[0].path}"}))
    assert "where it is missing" in hint(FIND, step("read_files", {"path": "${step1.entries[1].path}"}))
    written = plan({**FIND, "id": "files"}, step("take_entries", {"from_step": "file", "count": 1}))
    assert validator(written).diagnostics[0].hint == "did you mean `files`?"
    assert listed(map(str, range(14))).endswith("11 and 2 more")
    assert listed(()) == "none"


def test_handing_over_what_does_not_fit() -> None:
    numbers = tool(
        "numbers",
        {},
        {
            "type": "object",
            "properties": {"entries": {"type": "array", "items": {"type": "integer"}}},
            "required": ["entries"],
        },
        produces=Produces(kind="row"),
    )
    texts = tool(
        "texts", {"of": {"type": "array", "items": {"type": "string"}}}, consumes=Consumes(into="of", kinds=("entry",))
    )
    gone = tool("gone", {}, {"type": "object"}, produces=Produces(kind="row", field="nowhere"))
    scalar = tool("scalar", {}, {"type": "string"}, produces=Produces(kind="row"))
    nullable = {"type": "object", "properties": {"entries": {"type": ["array", "null"]}}, "required": ["entries"]}
    own = validator_of(numbers, texts, gone, scalar, tool("maybe", {}, nullable, produces=Produces(kind="row")))
    assert faults(own, plan(step("numbers", {}), step("texts", {"from_step": 1}))) == [
        ("type-mismatch", "/steps/1/args/from_step")
    ]
    assert faults(own, plan(step("numbers", {}), step("texts", {"from_steps": [1, 1]}))) == [
        ("type-mismatch", "/steps/1/args/from_steps/0"),
        ("type-mismatch", "/steps/1/args/from_steps/1"),
    ]
    assert faults(own, plan(step("numbers", {}), step("texts", {"from_steps": []}))) == [
        ("wrong-type", "/steps/1/args/from_steps")
    ]
    both = faults(own, plan(step("numbers", {}), step("texts", {"from_step": 1, "from_steps": [1]})))
    assert both == [("type-mismatch", "/steps/1/args/from_step"), ("bad-value", "/steps/1/args/from_steps")]
    assert faults(own, plan(step("numbers", {}), step("texts", {"from_step": True}))) == [
        ("wrong-type", "/steps/1/args/from_step")
    ]
    assert faults(own, plan(step("nmbers", {}), step("texts", {"from_step": 1}))) == [("unknown-tool", "/steps/0/tool")]
    for promises_nothing in ("gone", "scalar", "maybe"):
        written = plan(step(promises_nothing, {}), step("texts", {"from_step": 1}))
        assert faults(own, written) == [("nothing-produced", "/steps/1/args/from_step")]


def test_foreign_contracts_are_lenient_by_declaration() -> None:
    loose: dict[str, Any] = {"type": ["string", "number", "boolean"]}
    result = {"type": "object", "properties": {"id": {"type": "string"}, "rows": {"type": "array", "items": loose}}}
    foreign = tool("far", {"key": {"type": "string"}}, result, lenient=True, origin="foreign")
    strict = tool(
        "near",
        {"n": {"type": "integer"}, "s": {"type": "string"}},
        {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
    )
    own = validator_of(foreign, strict)
    first = step("far", {"key": "k"})
    assert faults(own, plan(first, step("near", {"s": "${step1.id}"}))) == [], "outputs count as there"
    assert faults(own, plan(first, step("near", {"s": "${step1.rows[3]}"}))) == [], "an index may fail as class data"
    assert faults(own, plan(first, step("near", {"n": "${step1.id}"}))) == [("type-mismatch", "/steps/1/args/n")]
    assert faults(own, plan(step("near", {}), step("far", {"key": "${step1.n}"}))) == [], "scalars join"
    assert faults(own, plan(first, step("near", {"s": "${step1.nme}"}))) == [("unknown-field", "/steps/1/args/s")]
    assert faults(own, plan(first, step("near", {"s": "a ${step1.rows[0]} b"}))) == []


def test_arguments_that_a_schema_leaves_open() -> None:
    extra = Contract(
        name="open",
        version="1",
        effects=(EffectRule(effect="read"),),
        lenient=True,
        args={"type": "object", "properties": {}, "additionalProperties": {"type": "integer"}, "required": ["must"]},
    )
    nothing = Contract(name="nothing", version="1", args={}, effects=(EffectRule(effect="read"),))
    own = validator_of(extra, nothing)
    assert faults(own, plan(step("open", {"must": 1, "x": 2}))) == []
    assert faults(own, plan(step("open", {"must": []}))) == [("type-mismatch", "/steps/0/args/must")]
    assert faults(own, plan(step("open", {"must": "1"}))) == [("invalid-value", "/steps/0/args/must")], (
        "scalars join; the schema says no"
    )
    assert faults(own, plan(step("open", {}))) == [("missing-argument", "/steps/0/args")]
    twice = faults(own, plan(step("nothing", {"x": "${step1"})))
    assert sorted(twice) == [("reference-syntax", "/steps/0/args/x"), ("unknown-argument", "/steps/0/args/x")]
    assert ("unknown-argument", "/steps/0/args/x") in faults(own, plan(step("nothing", {"x": 1})))


def test_an_unknown_tool_does_not_hide_its_references(validator: Validator) -> None:
    written = plan(step("find_fles", {"x": "${step2}", "y": "${step1", "from_step": 4}))
    assert faults(validator, written) == [
        ("reference-unknown-step", "/steps/0/args/from_step"),
        ("reference-unknown-step", "/steps/0/args/x"),
        ("reference-syntax", "/steps/0/args/y"),
        ("unknown-tool", "/steps/0/tool"),
    ]


def test_null_inside_text_needs_a_fallback() -> None:
    maybe = tool("maybe", {}, {"type": "object", "properties": {"x": {"type": ["string", "null"]}}, "required": ["x"]})
    own = validator_of(maybe)
    assert faults(own, plan(step("maybe", {}), end=step("final_answer", {"text": "x: ${step1.x}"}))) == [
        ("text-not-scalar", "/steps/1/args/text")
    ]
    assert faults(own, plan(step("maybe", {}), end=step("final_answer", {"text": 'x: ${step1.x ?? "none"}'}))) == []
    assert faults(own, plan(step("maybe", {}), end=step("final_answer", {"text": "x: ${step1.x ?? []}"}))) == [
        ("fallback-mismatch", "/steps/1/args/text")
    ]


def test_a_catalog_that_changes_is_seen(shipped: Catalog) -> None:
    class View:
        """A catalog whose contract is replaced."""

        def __init__(self) -> None:
            self.now = tool("t", {"a": {"type": "string"}})

        def get(self, name: str) -> Contract | None:
            return self.now if name == "t" else None

        def names(self) -> tuple[str, ...]:
            return ("t",)

    view = View()
    own = Validator(view)
    assert own(plan(step("t", {"a": "x"}))).ok
    view.now = tool("t", {"a": {"type": "integer"}})
    assert not own(plan(step("t", {"a": "x"}))).ok


def test_bad_data_never_raise(validator: Validator) -> None:
    for data in (
        "",
        "[]",
        "null",
        "{",
        b"\xff",
        '{"steps": 3}',
        '{"steps": [1, null, {"tool": 3}]}',
        {"steps": [{"tool": "find_files", "args": {"from_steps": "x"}}]},
    ):
        assert not validator(data).ok


def test_an_index_into_a_path_before_the_collection(validator: Validator) -> None:
    written = plan(FIND, step("read_files", {"path": "${step1.entries[0].path}"}, when={"empty": 1}))
    assert faults(validator, written) == [("fallback-needed", "/steps/1/args/path")]
