"""The NESTFUL benchmark on a small data set of our own: each defect is named with its place, each leniency is taken."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import nestful
from benchmarks.gold.reference import run_gold
from metnos.evaluate.importing import gold as gold_convert
from metnos.evaluate.importing.gold import convert, gold_pointer
from metnos.evaluate.importing.notation import Broken, Found, Notation
from metnos.plan.parse import read_plan
from metnos.plan.references import Every, Index, Key, Reference, StepTarget

BOOK = {"type": "Object", "properties": {"isbn": {"type": "String"}, "price": {"type": "Number"}, "loaned": "boolean"}}
SPEC: list[dict[str, Any]] = [
    {
        "name": "Library.Find",
        "description": "Books about something.",
        "query_parameters": {
            "topic": {"type": "string", "required": True},
            "limit": {"type": "number", "default": 10},
            "shelf": {"type": "Enum", "allowed_values": ["north", "south"]},
        },
        "output_parameters": {
            "books": {"type": "Array", "items": BOOK},
            "tags": {"type": "array"},
            "Reading Room": {"type": "string"},
            "No. of pages": {"type": "integer"},
            "meta": {"type": "object"},
            "anything": {"description": "Nobody knows."},
            "open": {"type": "Boolean"},
            "state": {"possible_values": ["new", "worn"]},
        },
    },
    {
        "name": "Library.Reserve",
        "path_parameters": {"isbn": {"type": "string", "required": True}},
        "parameters": {
            "note": {"type": "string"},
            "names": {"type": "array", "items": {"type": "string"}},
            "reader": {
                "type": "object",
                "properties": {"name": "string", "age": {"type": "int"}},
                "required": ["name"],
            },
        },
        "output_parameters": {"ticket": {"type": "String"}, "fee": {"type": "float"}},
    },
    {"name": "Post card", "arguments": {"to": {"required": True}, "text": {}, "list": {"type": "list"}}},
    {"name": "ask", "arguments": {"what": {}}, "output_parameters": {"api_key": {"type": "string"}}},
    {"name": "twice", "arguments": {"a": {"required": True}}, "output_parameters": {"x": {}}},
    {"name": "twice", "arguments": {"a": {"required": True}, "b": {"required": True}}, "output_parameters": {"y": {}}},
    {
        "name": "sum",
        "parameters": {
            "type": "object",
            "properties": {"arg_0": {"type": "int or float"}, "arg_1": {}},
            "required": ["arg_0"],
        },
        "output_parameters": {"result": {"type": "int or float"}},
    },
]


def call(name: str, label: str | None = None, /, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments, **({} if label is None else {"label": label})}


FIND = call("Library.Find", "var1", topic="bees")

SOUND: dict[str, list[Any]] = {
    "a field of an element, a whole result": [
        FIND,
        call("Library.Reserve", "var2", isbn="$var1.books[0].isbn$"),
        call("var_result", found="$var1$", ticket="$var2.ticket$"),
    ],
    "no var_result": [FIND],
    "var_result alone": [call("var_result", said="hello")],
    "a name with spaces, a name with a dot": [
        FIND,
        call("Post card", "var2", to="$var1.Reading Room$", text="$var1.No. of pages$"),
        call("var_result", pages="$var1.No. of pages$"),
    ],
    "inside longer text": [
        FIND,
        call("Post card", to="A", text="costs $var1.books[0].price$ $ ($var1.open$), was $5 or $6"),
    ],
    "an index far into a list of unknown length": [FIND, call("var_result", a="$var1.tags[40].b.c[3]$", b="$var1.tags[7].b$")],
    "every element": [FIND, call("Library.Reserve", "v", isbn="x", names="$var1.books[*].isbn$"), call("var_result", n="$var1.tags[*]$")],
    "fields of an object that nobody described": [FIND, call("var_result", a="$var1.meta.a$", b="$var1.meta.b[1].c$")],
    "numbers and truths as strings, and the other way": [
        call("Library.Find", "var1", topic=7, limit="20", shelf=True),
        call("Library.Reserve", isbn="$var1.books[1].price$", note="$var1.open$"),
    ],
    "a value that is not among the allowed ones": [call("Library.Find", "var1", topic="bees", shelf="cellar")],
    "lists of references, nested arguments": [
        FIND,
        call("Library.Reserve", "var2", isbn="1", names=["$var1.books[0].isbn$", "Ada", "$var1.state$"],
             reader={"name": "$var1.Reading Room$", "pets": ["$var1.anything.cat$"]}),
        call("var_result", all=[{"deep": ["$var2.fee$", "$var2.ticket$ of $var1.books[0].isbn$"]}, "$var2$"]),
    ],
    "what nobody described is handed to a list, or further into": [
        FIND, call("Library.Reserve", "var2", isbn="1", names="$var1.anything$"), call("var_result", a="$var1.anything$"),
    ],
    "a tool without outputs": [call("Post card", "c", to="A"), call("var_result", all="$c$", one="$c.number$")],
    "odd names and labels": [
        call("Post card", "step 1", to="A"),
        call("ask", "step2", what="$step 1$"),
        call("ask", "item", what="$step2.api_key$"),
        call("ask", "", what="$item$"),
        call("var_result", key="$step2.api_key$"),
    ],
    "a dollar before the label": [
        call("sum", "$var_1", arg_0=1, arg_1=2.5),
        call("sum", "$var_2", arg_0="$var_1.result$", arg_1=["$var_1.result$", 3]),
        call("var_result", result="$var_2.result$"),
    ],
    "text that looks like our own references": [call("Post card", to="${step1.a}", text="$${x} $<y> $var1 and $"), call("var_result", a="${b}")],
    "a tool that is described twice takes what either takes": [
        call("twice", "one", a="1"), call("twice", "two", a="$one.x$", b="$one.y$"), call("var_result", both="$two$"),
    ],
    "no arguments, no label": [{"name": "ask"}, {"name": "ask", "arguments": None, "label": None}],
    "the same label as var_result has": [FIND, {"name": "var_result", "arguments": {"a": "$var1.open$"}, "label": "var1"}],
}  # fmt: skip

ONE_TEXT = json.dumps(SOUND["a dollar before the label"])

DEFECTIVE: dict[str, tuple[Any, list[tuple[str, str]]]] = {
    "an unknown tool": ([call("Library.Burn", "var1", topic="bees")], [("unknown-tool", "/output/0/name")]),
    "an unknown argument": (
        [call("Library.Find", "var1", topic="bees", colour="red")],
        [("unknown-argument", "/output/0/arguments/colour")],
    ),
    "an argument is missing": (
        [FIND, call("Library.Reserve", "var2", note="$var1.Reading Room$")],
        [("missing-argument", "/output/1/arguments")],
    ),
    "a tool that is described twice needs what both need": (
        [call("twice", b="1")],
        [("missing-argument", "/output/0/arguments")],
    ),
    "an unknown field": (
        [FIND, call("Library.Reserve", "var2", isbn="$var1.isbn$")],
        [("unknown-field", "/output/1/arguments/isbn")],
    ),
    "an unknown field of an element, in the answer": (
        [FIND, call("var_result", a="$var1.open$", b=["$var1.books[0].author$"])],
        [("unknown-field", "/output/1/arguments/b/0")],
    ),
    "a list is no object": (
        [FIND, call("var_result", a="$var1.books.isbn$")],
        [("type-mismatch", "/output/1/arguments/a")],
    ),
    "a list is no scalar": (
        [FIND, call("Library.Reserve", isbn="$var1.books$")],
        [("type-mismatch", "/output/1/arguments/isbn")],
    ),
    "a nested argument lacks what is declared": (
        [call("Library.Reserve", isbn="1", reader={"age": 7})],
        [("missing-field", "/output/0/arguments/reader")],
    ),
    "a list inside text": (
        [FIND, call("Post card", to="A", text="all: $var1.books$")],
        [("text-not-scalar", "/output/1/arguments/text")],
    ),
    "a dangling label": (
        [FIND, call("Library.Reserve", "var2", isbn="$var3.isbn$"), call("var_result", a="$step1.x$ of $item$")],
        [("reference-unknown-step", "/output/1/arguments/isbn"), ("reference-unknown-step", "/output/2/arguments/a")],
    ),
    "a label that comes later, and one's own": (
        [
            call("Library.Reserve", "var2", isbn="$var1.Reading Room$"),
            call("Library.Find", "var1", topic="$var1.state$"),
        ],
        [("reference-forward", "/output/0/arguments/isbn"), ("reference-forward", "/output/1/arguments/topic")],
    ),
    "a label that comes twice": (
        [FIND, call("Library.Find", "var1", topic="wasps"), call("var_result", a="$var1$")],
        [("duplicate-id", "/output/1/label")],
    ),
    "an odd label that comes twice": (
        [call("ask", "my 1"), call("ask", "my 1"), call("var_result", a="$my 1$")],
        [("duplicate-id", "/output/1/label")],
    ),
    "a reference that lacks a dollar": (
        [FIND, call("Library.Reserve", isbn="var1.isbn$", note="$var1.books[0].isbn")],
        [("reference-syntax", "/output/1/arguments/isbn"), ("reference-syntax", "/output/1/arguments/note")],
    ),
    "paths that cannot be read": (
        [
            FIND,
            call("var_result", a="$var1.tags[-1]$", b="$var1..tags$", c="$var1.tags[0$", d="$var1.tags[9999999999]$"),
        ],
        [("reference-syntax", f"/output/1/arguments/{name}") for name in "abcd"],
    ),
    "var_result is not last": (
        [call("var_result", a="1"), FIND],
        [("terminal-not-last", "/output/0")],
    ),
    "a number that is none in JSON": (
        [call("Library.Find", "var1", topic=float("nan"))],
        [("not-a-number", "/output/0/arguments/topic")],
    ),
    "no calls": (None, [("wrong-type", "/output")]),
    "no readable calls": ("[{", [("wrong-type", "/output")]),
    "a call that is none": ([3, FIND], [("wrong-type", "/output/0")]),
    "a call without a name": ([{"arguments": {}}], [("missing-field", "/output/0")]),
    "arguments that are none": ([{"name": "ask", "arguments": "what"}], [("wrong-type", "/output/0/arguments")]),
    "several at once": (
        [call("Library.Find", "var1", subject="bees"), call("Library.Reserve", isbn="$var1.shelf$", day="$var4.day$")],
        [
            ("missing-argument", "/output/0/arguments"),
            ("unknown-argument", "/output/0/arguments/subject"),
            ("unknown-argument", "/output/1/arguments/day"),
            ("reference-unknown-step", "/output/1/arguments/day"),
            ("unknown-field", "/output/1/arguments/isbn"),
        ],
    ),
}


def write(folder: Path, name: str, outputs: list[Any], spec: Any = SPEC) -> Path:
    records = [{"input": "Whatever.", "output": output} for output in outputs]
    (folder / f"{name}-data.json").write_text(json.dumps(records), encoding="utf-8")
    (folder / f"{name}-spec.json").write_text(json.dumps(spec), encoding="utf-8")
    return folder


@pytest.mark.parametrize("calls", [*SOUND.values(), ONE_TEXT], ids=[*SOUND, "calls as one text"])
def test_a_sound_plan_is_accepted_and_resolves_equal(tmp_path: Path, calls: Any) -> None:
    figures, lines = nestful.measure(write(tmp_path, "small", [calls]))
    assert lines == []
    assert (figures.plans, figures.accepted, figures.resolved_equal) == (1, 1, 1)


@pytest.mark.parametrize(("calls", "faults"), DEFECTIVE.values(), ids=DEFECTIVE)
def test_a_defective_plan_is_rejected_with_code_and_place(
    tmp_path: Path, calls: Any, faults: list[tuple[str, str]]
) -> None:
    figures, (line,) = nestful.measure(write(tmp_path, "small", [calls]))
    assert (figures.plans, figures.accepted, figures.resolved_equal) == (1, 0, 0)
    assert figures.rejected == {line["code"]: 1}
    plan = convert({"output": calls}).plan
    found = [
        (code, gold_pointer(where, plan)) for code, where in (fault.split(" ", 1) for fault in line.get("more", []))
    ]
    assert sorted([(line["code"], line["gold"]), *found]) == sorted(faults)
    assert (line["file"], line["index"]) == ("small-data.json", 0)


def test_the_fault_says_what_was_found_and_what_was_expected(tmp_path: Path) -> None:
    _, (line,) = nestful.measure(write(tmp_path, "small", [DEFECTIVE["an unknown field"][0]]))
    assert line["where"] == "/steps/1/args/isbn"
    assert line["found"] == "isbn"
    assert "Reading Room" in line["expected"]


def test_every_file_is_counted_and_the_figures_are_the_last_line(tmp_path: Path, root: Path) -> None:
    write(tmp_path, "one", list(SOUND.values())[:3])
    write(tmp_path, "two", [*list(SOUND.values())[3:], *(calls for calls, _ in DEFECTIVE.values())])
    command = [sys.executable, str(root / "benchmarks" / "nestful.py"), "--data", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    *lines, last = map(json.loads, done.stdout.splitlines())
    assert last["plans"] == len(SOUND) + len(DEFECTIVE)
    assert last["accepted"] == last["resolved_equal"] == len(SOUND)
    assert sum(last["rejected"].values()) == len(lines) == len(DEFECTIVE)
    assert list(last) == ["plans", "accepted", "rejected", "resolved_equal"]
    assert {(line["file"], line["index"]) for line in lines} == {
        ("two-data.json", len(SOUND) - 3 + number) for number in range(len(DEFECTIVE))
    }


# --- equal means something ----------------------------------------------------------------------------------------


def test_an_index_past_all_reason_is_an_honest_fault_of_the_data(tmp_path: Path) -> None:
    calls = [FIND, call("Library.Reserve", "var2", isbn="$var1.tags[5000]$")]
    figures, (line,) = nestful.measure(write(tmp_path, "small", [calls]))
    assert (figures.accepted, figures.resolved_equal) == (1, 0)
    assert (line["step"], line["code"], line["where"]) == ("1.2", "index-range", "/isbn")


@pytest.mark.parametrize(
    ("calls", "unequal"),
    [
        ([FIND, call("Library.Reserve", "var2", isbn="$var1.tags[2]$")], "arguments"),
        ([FIND, call("var_result", a="$var1.tags[2]$")], "answer"),
    ],
)
def test_a_wrong_conversion_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], calls: list[Any], unequal: str
) -> None:
    right = Notation.parse

    def wrong(self: Notation, text: str) -> tuple[str | Found, ...]:
        parts = right(self, text)
        return tuple(Found(part.label, (Key("tags"), Index(3))) if isinstance(part, Found) else part for part in parts)

    monkeypatch.setattr(Notation, "parse", wrong)
    assert nestful.main(["--data", str(write(tmp_path, "small", [calls]))]) == 1
    line, last = map(json.loads, capsys.readouterr().out.splitlines())
    assert line["unequal"] == unequal
    assert (last["accepted"], last["resolved_equal"]) == (1, 0)


def test_a_reference_to_another_call_of_the_same_tool_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = [
        FIND,
        call("Library.Find", "var2", topic="wasps"),
        call("Library.Reserve", "v", isbn="$var2.books[0].isbn$"),
    ]
    assert nestful.measure(write(tmp_path, "small", [calls]))[0].resolved_equal == 1
    right = Notation.parse
    first = Found("var1", (Key("books"), Index(0), Key("isbn")))
    monkeypatch.setattr(Notation, "parse", lambda self, text: (first,) if "$" in text else right(self, text))
    figures, _ = nestful.measure(write(tmp_path, "small", [calls]))
    assert figures.rejected == {}
    assert (figures.accepted, figures.resolved_equal) == (1, 0)


def test_what_the_reference_cannot_follow_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(*_: Any) -> Any:
        raise KeyError(".a")

    monkeypatch.setattr(nestful, "run_gold", lost)
    _, (line,) = nestful.measure(write(tmp_path, "small", [[FIND]]))
    assert line["unequal"] == "the reference cannot follow it"


def test_one_is_not_true_and_not_one_point_zero() -> None:
    assert nestful.same({"a": [1], "b": 2}, {"b": 2, "a": [1]})
    assert not nestful.same(1, True)
    assert not nestful.same(1, 1.0)
    assert not nestful.same("1", 1)


# --- notation -----------------------------------------------------------------------------------------------------

VAR1 = Found("var1", ())


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("plain", ("plain",)),
        ("", ("",)),
        ("$", ("$",)),
        ("$var1$", (VAR1,)),
        ("$var10$", (Found("var10", ()),)),
        ("$var1.a.b[0].c$", (Found("var1", (Key("a"), Key("b"), Index(0), Key("c"))),)),
        ("$var1[2][*].x y$", (Found("var1", (Index(2), Every(), Key("x y"))),)),
        ("$var1.['a.b'].[\"c\"].[3]$", (Found("var1", (Key("a.b"), Key("c"), Index(3))),)),
        ("$var1.1. Open.x$", (Found("var1", (Key("1. Open"), Key("x"))),)),
        ("$my label.x$", (Found("my label", (Key("x"),)),)),
        ("5 * $var1$$var1.a$!", ("5 * ", VAR1, Found("var1", (Key("a"),)), "!")),
        ("$$var1$", ("$", VAR1)),
        ("$5 to $10", ("$5 to $10",)),
        ("$ var1 $", ("$ var1 $",)),
        ("$other$", (Found("other", ()),)),
    ],
)
def test_what_is_read(text: str, parts: tuple[Any, ...]) -> None:
    assert Notation(["var1", "my label"], ["1. Open", "x", "plain"]).parse(text) == parts


@pytest.mark.parametrize("text", ["$var1", "var1$", "$var1.a", "var1.a[0]$", "$var1.$", "$var1.a[x]$", "a $var1[0$ b"])
def test_what_is_broken(text: str) -> None:
    with pytest.raises(Broken):
        Notation(["var1"]).parse(text)


def test_without_labels_a_dollar_too_few_is_text() -> None:
    assert Notation([]).parse("$var1") == ("$var1",)
    assert Notation([]).parse("$var1$") == (VAR1,)


@given(st.text(alphabet='${}<>ab.[0]" ', max_size=14))
def test_whatever_is_written_becomes_a_plan_that_says_the_same(text: str) -> None:
    converted = convert({"output": [{"name": "t", "label": "a"}, {"name": "t", "arguments": {"x": text}}]})
    parsed = read_plan(converted.plan)
    assert parsed.diagnostics == ()
    assert parsed.plan is not None
    if not converted.faults and Notation(["a"]).parse(text) == (text,):
        parts = gold_convert.format_parts((text,))
        assert parsed.plan.steps[1].args == {"x": parts}


def test_a_label_of_a_call_becomes_its_id() -> None:
    plan = convert({"output": [call("t", "first"), call("u", None, x="$first.a$")]}).plan
    assert plan["steps"][0] == {"tool": "t", "args": {}, "id": "first"}
    assert plan["steps"][1]["args"] == {"x": "${first.a}"}
    assert plan["steps"][2] == {"tool": "final_answer", "args": {}}
    assert gold_convert.format_parts((Reference(StepTarget("first"), (Key("a"),)),)) == "${first.a}"


@pytest.mark.parametrize(
    ("where", "gold"),
    [
        ("", ""),
        ("/steps", "/output"),
        ("/steps/0/tool", "/output/0/name"),
        ("/steps/0/args/data/x", "/output/0/arguments/data/x"),
        ("/steps/1/args/data/x", "/output/1/arguments/x"),
        ("/steps/1/args/data", "/output/1/arguments"),
    ],
)
def test_a_place_in_the_plan_is_a_place_in_the_record(where: str, gold: str) -> None:
    plan = convert({"output": [call("t", "a", data={"x": 1}), call("var_result", x=2)]}).plan
    assert gold_pointer(where, plan) == gold


# --- the reference reads on its own ---------------------------------------------------------------------------------


def test_the_reference() -> None:
    def tool(name: str, args: Any) -> Any:
        return {"a.b": [{"n": 1.0, "t": True}, {"n": 2.5, "t": False}], "name": name, "args": args}

    calls = [
        call("f", "v1", x="$5"),
        call("g", "$v10", x="$v1.a.b[1].n$", y=["$v1.a.b[0].n$/$v1.a.b[0].t$ $v1.name$ $"], z={"k": "$v1.a.b[*].n$"}),
        {"name": "h", "label": None},
        call("var_result", all="$v10.args.x$", it="$v1.['a.b'][0].t$", not_one="$nobody$"),
    ]
    every, answer = run_gold(calls, tool)
    assert every == [{"x": "$5"}, {"x": 2.5, "y": ["1/true f $"], "z": {"k": [1.0, 2.5]}}, {}]
    assert answer == {"all": 2.5, "it": True, "not_one": "$nobody$"}


@pytest.mark.parametrize("text", ["$v.b$", "$v.a.c$", "$v[0]$", "$v.a[3]$", "$v.a['k']$", "$v.$"])
def test_the_reference_raises_where_a_path_leads_nowhere(text: str) -> None:
    with pytest.raises(LookupError):
        run_gold([call("f", "v"), call("f", None, x=text)], lambda *_: {"a": [1]})


def test_the_reference_writes_no_list_inside_text() -> None:
    with pytest.raises(TypeError):
        run_gold([call("f", "v"), call("f", None, x="a $v.a$")], lambda *_: {"a": [1]})


# --- files --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "spec",
    [
        {"tools": SPEC},
        [{"type": "function", "function": tool} for tool in SPEC],
        {
            tool["name"]: {word: held for word, held in tool.items() if word != "name"}
            for tool in SPEC
            if tool["name"] != "twice"
        },
    ],
    ids=["one list in an object", "functions", "by name"],
)
def test_a_specification_may_be_wrapped(tmp_path: Path, spec: Any) -> None:
    figures, lines = nestful.measure(write(tmp_path, "small", list(SOUND.values())[:5], spec))
    assert (figures.resolved_equal, lines) == (5, [])


def test_a_description_that_is_none_is_told_and_the_others_stay(tmp_path: Path) -> None:
    spec = [{"name": "broken", "parameters": "none"}, "no tool", *SPEC]
    figures, lines = nestful.measure(write(tmp_path, "small", [[call("broken")], [FIND]], spec))
    assert figures.rejected == {"unknown-tool": 1}
    assert figures.resolved_equal == 1
    assert lines[0] == {"file": "small-data.json", "refused_tool": "broken: parameters is no table"}


def test_records_may_stand_in_an_object(tmp_path: Path) -> None:
    write(tmp_path, "small", [])
    (tmp_path / "small-data.json").write_text(json.dumps({"version": 1, "records": [{"output": [FIND]}]}))
    assert nestful.measure(tmp_path)[0].resolved_equal == 1
    (tmp_path / "small-data.json").write_text(json.dumps({"output": [FIND]}))
    assert nestful.measure(tmp_path)[0].resolved_equal == 1


def test_a_folder_that_cannot_be_used(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert nestful.main(["--data", str(tmp_path)]) == 2
    assert "there is no NAME-data.json" in capsys.readouterr().err
    (tmp_path / "small-data.json").write_text("[]")
    assert nestful.main(["--data", str(tmp_path)]) == 2
    assert "small-spec.json" in capsys.readouterr().err
    (tmp_path / "small-spec.json").write_text("[")
    assert nestful.main(["--data", str(tmp_path)]) == 2
    assert capsys.readouterr().out == ""
