"""Plans of good and bad form: what the reader and the schema must agree on, and where each fault is."""

from __future__ import annotations

from typing import Any

END: dict[str, Any] = {"tool": "final_answer", "args": {}}


def step(**more: Any) -> dict[str, Any]:
    return {"tool": "find_files", "args": {}} | more


def plan(*steps: Any, **more: Any) -> dict[str, Any]:
    """A plan of these steps, ended."""
    return {"steps": [*steps, END], **more}


def args(**given: Any) -> dict[str, Any]:
    """A plan of one step with these arguments."""
    return plan(step(args=given))


def ends(tool: str, **given: Any) -> dict[str, Any]:
    """A plan that is only an end."""
    return {"steps": [{"tool": tool, "args": given}]}


FILLER = {"prompt": "A title.", "schema": {"type": "string"}}
USES = step(args={"title": "${FILLER:title}"})

GOOD: dict[str, Any] = {
    "only an end": plan(),
    "with $schema": plan(step(), **{"$schema": "https://metnos.invalid/schema/plan-1.json"}),
    "from_step": args(from_step=1),
    "from_step by id": plan(step(id="src"), step(args={"from_step": "src"})),
    "from_steps": args(from_steps=[1, "src"]),
    "references": args(a="${step1.entries[0].path ?? null}", b=["$<src.x>", {"c": "x ${item.y} $${"}]),
    "for_each": plan(step(for_each="${step1.entries}")),
    "for_each list": plan(step(for_each=["a", {"b": "${step1}"}])),
    "when": plan(step(when={"nonempty": 1}), step(when={"empty": "src"})),
    "on_error": plan(step(on_error="continue"), step(on_error="stop")),
    "all fields": plan(step(id="a", for_each=[], when={"empty": 1}, on_error="stop")),
    "fillers": plan(USES, fillers={"title": FILLER | {"role": "wise"}}),
    "no fillers": plan(fillers={}),
    "filler in the end": ends("final_answer", text="${FILLER:t}") | {"fillers": {"t": FILLER}},
    "answer": ends("final_answer", text="${step1.count} files", data={"a": [None, "${step1}"]}),
    "null answer": ends("final_answer", data=None),
    "ask": ends("ask", question="Which one?", choices=["a", "b"]),
    "ask openly": ends("ask", question="Which one? $5"),
    "needs": ends(
        "needs_inputs", form={"folder": {"schema": {"type": "string"}, "label": "Folder"}, "n": {"schema": {}}}
    ),
    "200 steps": plan(*[step()] * 200),
}

BAD: dict[str, tuple[Any, list[tuple[str, str]]]] = {
    # whole
    "a list": ([], [("wrong-type", "")]),
    "no steps": ({}, [("missing-field", "")]),
    "steps no list": ({"steps": {}}, [("wrong-type", "/steps")]),
    "unknown field": (plan(stepz=[]), [("unknown-field", "/stepz")]),
    "$schema no string": (plan(**{"$schema": 1}), [("wrong-type", "/$schema")]),
    # the end
    "no end": ({"steps": [step()]}, [("terminal-missing", "/steps")]),
    "nothing": ({"steps": []}, [("terminal-missing", "/steps")]),
    "end not last": ({"steps": [step(), END, step(), step()]}, [("terminal-not-last", "/steps/1")]),
    "end not last, rest unreadable": (
        {"steps": [END, 7]},
        [("wrong-type", "/steps/1"), ("terminal-not-last", "/steps/0")],
    ),
    "two ends": ({"steps": [END, END]}, [("terminal-twice", "/steps/1")]),
    "three ends and a step": (
        {"steps": [END, END, step(), END]},
        [("terminal-twice", "/steps/1"), ("terminal-twice", "/steps/3"), ("terminal-not-last", "/steps/0")],
    ),
    "end with an id": ({"steps": [END | {"id": "x"}]}, [("unknown-field", "/steps/0/id")]),
    "end without args": ({"steps": [{"tool": "final_answer"}]}, [("missing-field", "/steps/0")]),
    "end with list args": ({"steps": [{"tool": "final_answer", "args": []}]}, [("wrong-type", "/steps/0/args")]),
    "end with unknown argument": (ends("final_answer", txt="x"), [("unknown-field", "/steps/0/args/txt")]),
    "text no string": (ends("final_answer", text=3), [("wrong-type", "/steps/0/args/text")]),
    "question missing": (ends("ask"), [("missing-field", "/steps/0/args")]),
    "question no string": (ends("ask", question=None), [("wrong-type", "/steps/0/args/question")]),
    "question with a reference": (
        ends("ask", question="${step1}?"),
        [("reference-not-allowed", "/steps/0/args/question")],
    ),
    "choices no list": (ends("ask", question="?", choices="a"), [("wrong-type", "/steps/0/args/choices")]),
    "choices of numbers": (ends("ask", question="?", choices=["a", 1]), [("wrong-type", "/steps/0/args/choices/1")]),
    "choice with a reference": (
        ends("ask", question="?", choices=["$<item>"]),
        [("reference-not-allowed", "/steps/0/args/choices/0")],
    ),
    "form missing": (ends("needs_inputs"), [("missing-field", "/steps/0/args")]),
    "form no object": (ends("needs_inputs", form=[]), [("wrong-type", "/steps/0/args/form")]),
    "form empty": (ends("needs_inputs", form={}), [("bad-value", "/steps/0/args/form")]),
    "form field no object": (ends("needs_inputs", form={"a": 1}), [("wrong-type", "/steps/0/args/form/a")]),
    "form field badly named": (
        ends("needs_inputs", form={"a b": {"schema": {}}}),
        [("bad-name", "/steps/0/args/form/a b")],
    ),
    "form field without schema": (
        ends("needs_inputs", form={"a": {"label": "A"}}),
        [("missing-field", "/steps/0/args/form/a")],
    ),
    "form schema no object": (
        ends("needs_inputs", form={"a": {"schema": True}}),
        [("wrong-type", "/steps/0/args/form/a/schema")],
    ),
    "form field with more": (
        ends("needs_inputs", form={"a": {"schema": {}, "x": 1}}),
        [("unknown-field", "/steps/0/args/form/a/x")],
    ),
    "label with a reference": (
        ends("needs_inputs", form={"a": {"schema": {}, "label": "${x}"}}),
        [("reference-not-allowed", "/steps/0/args/form/a/label")],
    ),
    # steps
    "step no object": (plan("find"), [("wrong-type", "/steps/0")]),
    "step empty": (plan({}), [("missing-field", "/steps/0"), ("missing-field", "/steps/0")]),
    "tool misspelled": (
        plan({"tol": "x", "args": {}}),
        [("missing-field", "/steps/0"), ("unknown-field", "/steps/0/tol")],
    ),
    "tool no string": (plan(step(tool=1)), [("wrong-type", "/steps/0/tool")]),
    "tool empty": (plan(step(tool="")), [("bad-name", "/steps/0/tool")]),
    "tool badly named": (plan(step(tool="a b")), [("bad-name", "/steps/0/tool")]),
    "tool named too long": (plan(step(tool="a" * 129)), [("bad-name", "/steps/0/tool")]),
    "args missing": (plan({"tool": "x"}), [("missing-field", "/steps/0")]),
    "args no object": (plan(step(args="x")), [("wrong-type", "/steps/0/args")]),
    "too many steps": (plan(*[step()] * 201), [("too-many-steps", "/steps")]),
    "id no string": (plan(step(id=1)), [("wrong-type", "/steps/0/id")]),
    "id null": (plan(step(id=None)), [("wrong-type", "/steps/0/id")]),
    "id like a step": (plan(step(id="Step2")), [("reserved-name", "/steps/0/id")]),
    "id a number": (plan(step(id="12")), [("reserved-name", "/steps/0/id")]),
    "id item": (plan(step(id="item")), [("reserved-name", "/steps/0/id")]),
    "id badly spelled": (plan(step(id="a b")), [("bad-name", "/steps/0/id")]),
    "id twice": (plan(step(id="a"), step(), step(id="a")), [("duplicate-id", "/steps/2/id")]),
    "for_each text": (plan(step(for_each="x ${step1}")), [("bad-value", "/steps/0/for_each")]),
    "for_each plain": (plan(step(for_each="entries")), [("bad-value", "/steps/0/for_each")]),
    "for_each number": (plan(step(for_each=1)), [("wrong-type", "/steps/0/for_each")]),
    "for_each null": (plan(step(for_each=None)), [("wrong-type", "/steps/0/for_each")]),
    "for_each misspelled": (plan(step(for_each="${step0}")), [("reference-syntax", "/steps/0/for_each")]),
    "for_each too long": (plan(step(for_each=[0] * 1001)), [("too-many-items", "/steps/0/for_each")]),
    "for_each item misspelled": (plan(step(for_each=["${"])), [("reference-syntax", "/steps/0/for_each/0")]),
    "when number": (plan(step(when=1)), [("wrong-type", "/steps/0/when")]),
    "when empty": (plan(step(when={})), [("missing-field", "/steps/0/when")]),
    "when both": (plan(step(when={"empty": 1, "nonempty": 1})), [("bad-value", "/steps/0/when")]),
    "when unknown": (
        plan(step(when={"nonemty": 1})),
        [("unknown-field", "/steps/0/when/nonemty"), ("missing-field", "/steps/0/when")],
    ),
    "when of step 0": (plan(step(when={"empty": 0})), [("bad-value", "/steps/0/when/empty")]),
    "when of a reference": (plan(step(when={"empty": "${step1}"})), [("bad-value", "/steps/0/when/empty")]),
    "on_error unknown": (plan(step(on_error="cont")), [("bad-value", "/steps/0/on_error")]),
    "on_error list": (plan(step(on_error=["stop"])), [("bad-value", "/steps/0/on_error")]),
    # arguments
    "from_step 0": (args(from_step=0), [("bad-value", "/steps/0/args/from_step")]),
    "from_step true": (args(from_step=True), [("wrong-type", "/steps/0/args/from_step")]),
    "from_step step1": (args(from_step="step1"), [("bad-value", "/steps/0/args/from_step")]),
    "from_step 1.5": (args(from_step=1.5), [("wrong-type", "/steps/0/args/from_step")]),
    "from_steps number": (args(from_steps=1), [("wrong-type", "/steps/0/args/from_steps")]),
    "from_steps empty": (args(from_steps=[]), [("wrong-type", "/steps/0/args/from_steps")]),
    "from_steps with null": (args(from_steps=[1, None]), [("wrong-type", "/steps/0/args/from_steps/1")]),
    "from both": (args(from_step=1, from_steps=[1]), [("bad-value", "/steps/0/args/from_steps")]),
    "reference misspelled": (
        args(a={"b/c": ["${step1", "$<>"]}),
        [("reference-syntax", "/steps/0/args/a/b~1c/0"), ("reference-syntax", "/steps/0/args/a/b~1c/1")],
    ),
    # fillers
    "fillers no object": (plan(USES, fillers=[]), [("wrong-type", "/fillers")]),
    "filler not defined": (plan(USES), [("unknown-filler", "/steps/0/args/title")]),
    "filler misspelled": (
        plan(USES, fillers={"titel": FILLER}),
        [("unknown-filler", "/steps/0/args/title"), ("unused-filler", "/fillers/titel")],
    ),
    "filler unused": (plan(fillers={"title": FILLER}), [("unused-filler", "/fillers/title")]),
    "filler in a broken string": (
        plan(step(args={"t": "${FILLER:title"}), fillers={"title": FILLER}),
        [("reference-syntax", "/steps/0/args/t")],
    ),
    "filler no object": (plan(USES, fillers={"title": "x"}), [("wrong-type", "/fillers/title")]),
    "filler without all": (plan(USES, fillers={"title": {}}), [("missing-field", "/fillers/title")] * 2),
    "filler prompt no string": (
        plan(USES, fillers={"title": FILLER | {"prompt": 1}}),
        [("wrong-type", "/fillers/title/prompt")],
    ),
    "filler prompt with a reference": (
        plan(USES, fillers={"title": FILLER | {"prompt": "${step1}"}}),
        [("reference-not-allowed", "/fillers/title/prompt")],
    ),
    "filler role unknown": (
        plan(USES, fillers={"title": FILLER | {"role": "slow"}}),
        [("bad-value", "/fillers/title/role")],
    ),
    "filler role no string": (
        plan(USES, fillers={"title": FILLER | {"role": 1}}),
        [("wrong-type", "/fillers/title/role")],
    ),
    "filler with more": (plan(USES, fillers={"title": FILLER | {"x": 1}}), [("unknown-field", "/fillers/title/x")]),
    "filler badly named": (
        plan(fillers={"a b": FILLER}),
        [("bad-name", "/fillers/a b"), ("unused-filler", "/fillers/a b")],
    ),
}
"""Name → plan, and its faults (code, JSON pointer) in the order in which they are named."""
