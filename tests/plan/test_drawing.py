"""Plans as Mermaid flowcharts: every node and edge is there, and nothing that a plan says gets out of its label.

The drawings of these tests, and 250 random plans of hostile texts, were read by Mermaid's own parser (11.17) when this
was written: it counted the same nodes and edges.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.plan.drawing import LONGEST, draw, label
from metnos.plan.parse import read_plan
from tests.support.hosted import plan, step

NODE = re.compile(r'^    ([sx]\d+|t)(\["|\[/"|\(\[")([^"]*)("\]|"/\]|"\]\))$')
EDGE = re.compile(r'^    ([sx]\d+) (-->|==>|-\.->)(\|"[^"]*"\|)? (s\d+|t)$')
STYLE = re.compile(r"^    (classDef e_[a-z]+ fill:#[0-9a-f]{6},stroke:#[0-9a-f]{6}|class s\d+(,s\d+)* e_[a-z]+)$")

EVERYTHING = {
    "steps": [
        {"id": "found", "tool": "find_files", "args": {"path": "${INPUT:where}", "pattern": "*.txt"}},
        {"tool": "read_files", "args": {"from_step": 1}, "on_error": "continue"},
        {
            "tool": "write_files",
            "for_each": "${step2.entries}",
            "when": {"nonempty": "found"},
            "args": {
                "path": "out/${item.name}",
                "content": '${step2.entries[0].text ?? "x"}',
                "title": "${FILLER:title}",
            },
        },
        {
            "tool": "final_answer",
            "args": {"text": "Wrote ${step3.count} of ${step1.count}", "data": "${plan1.step2.n}"},
        },
    ],
    "fillers": {"title": {"prompt": "A title", "schema": {"type": "string"}}},
}
DRAWN = """\
flowchart TD
    s1["1 find_files<br/>read"]
    s2["2 read_files<br/>read<br/>on error: continue"]
    s3["3 write_files<br/>create<br/>for each"]
    x1[/"INPUT:where"/]
    x2[/"FILLER:title"/]
    x3[/"plan1.step2"/]
    t(["final_answer"])
    x1 -->|"path"| s1
    s1 -->|"from_step"| s2
    s1 -.->|"if not empty"| s3
    s2 ==>|"entries"| s3
    s2 -->|"entries#91;0#93;.text #8594; content"| s3
    x2 -->|"title"| s3
    s3 -->|"count #8594; text"| t
    s1 -->|"count #8594; text"| t
    x3 -->|"n #8594; data"| t
    classDef e_read fill:#eef4fb,stroke:#4a6d8c
    classDef e_create fill:#eaf6ea,stroke:#3d7a3d
    class s1,s2 e_read
    class s3 e_create
"""


def drawn(body: dict[str, Any], effects: dict[int, str] | None = None) -> str:
    found = read_plan(body).plan
    assert found is not None
    return draw(found, effects)


def counted(text: str) -> tuple[int, int]:
    """Nodes and edges; every line must be one of the forms that are drawn."""
    first, *lines = text.splitlines()
    assert first == "flowchart TD"
    kinds = [
        ("node" if NODE.match(x) else "edge" if EDGE.match(x) else "style" if STYLE.match(x) else x) for x in lines
    ]
    assert set(kinds) <= {"node", "edge", "style"}, kinds
    return kinds.count("node"), kinds.count("edge")


def test_every_part_of_a_plan_is_drawn() -> None:
    text = drawn(EVERYTHING, {1: "read", 2: "read", 3: "create"})
    assert text == DRAWN
    assert counted(text) == (7, 9)
    assert drawn(EVERYTHING, {1: "read", 2: "read", 3: "create"}) == text


@pytest.mark.parametrize(
    ("body", "nodes", "edges"),
    [
        (plan(), 1, 0),
        (plan(step("a"), step("b")), 3, 2),
        (plan(step("a"), step("b", from_step=1)), 3, 2),
        (plan(step("a"), step("b"), step("c", from_steps=[1, 2])), 4, 3),
        (plan(step("a"), step("b", x="${step1.n} and ${step1.n}", y="${step1.n}")), 3, 3),
        (plan(step("a"), step("b") | {"when": {"empty": 1}}, text="done"), 3, 1),
        (plan(step("a", x="${step9.n}", y="${step1", from_step=7), text="x"), 2, 0),
        ({"steps": [step("a"), {"tool": "ask", "args": {"question": "Which?"}}]}, 2, 0),
    ],
)
def test_nodes_and_edges_are_those_of_the_plan(body: dict[str, Any], nodes: int, edges: int) -> None:
    assert counted(drawn(body)) == (nodes, edges)


HOSTILE = [
    '"]; click s1 "javascript:alert(1)"',
    "a\nend\n    s9 --> s1",
    "<script>alert(1)</script>",
    "%%{init: {}}%%",
    "`**bold**`",
    "#quot;]",
    "\u202egnp.exe",
    "\x1b[2J",
    "end",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_of_a_plan_gets_out_of_its_label(text: str) -> None:
    name = json.dumps(text)
    body = {
        "steps": [
            {"tool": text, "args": {text: "${step1}", "q": f"${{step1[{name}]}}"}},
            {"tool": text, "args": {text: "${step1}"}},
            {"tool": "ask", "args": {"question": text}},
        ]
    }
    assert counted(drawn(body, {1: text, 2: "delete"}))[0] == 3


@given(st.text(max_size=2 * LONGEST))
def test_a_label_is_made_of_letters_plain_marks_and_character_codes(text: str) -> None:
    made = label(text)
    assert re.fullmatch(r"(?:#\d+;|[\w \-.,:/+=]|\w)*", made.replace("\n", "\\n")) or made.isprintable()
    assert not set('"<>[]{}()|`\n\r;&%\\').intersection(re.sub(r"#\d+;", "", made))
    decoded = re.sub(r"#(\d+);", lambda found: chr(int(found[1])), made)
    if len(text) <= LONGEST and text.isprintable():
        assert decoded == text


def test_an_engine_knows_the_effects(tmp_path: Path) -> None:
    from metnos import Engine
    from tests.support.hosted import ALL

    with Engine.open(tmp_path, folder=tmp_path, shipped=False, executors=ALL, memory=True) as engine:
        text = engine.draw(plan(step("list_numbers", count=1), step("append_line", path="x"), step("no_such")))
        assert "class s1 e_read" in text
        assert "class s2 e_create" in text
        assert '    s3["3 no_such"]\n' in text
        assert engine.draw(b"1 list_numbers count=1\nend").startswith("flowchart TD\n")
        assert engine.draw(b"{") == engine.draw(b"no plan at all") == ""
