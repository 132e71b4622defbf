"""Whatever stands where in a source: it is imported, or named as a fault; nothing else is raised, and all of it replays."""

from __future__ import annotations

import copy
import json
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from metnos.evaluate.importing import FORMS, ReadFault
from tests.evaluate.importing.test_forms import AREA, SHELL, dojo, response
from tests.evaluate.importing.test_spans import ASK, CALL, CAME, SAID, chat, export, tool
from tests.support.trajectories import DESK, assistant, called, imported, result, tau, user

ROUNDS = 8
"""Of each form; more by hand."""
VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 2.5, "", "x", "\u0000", "${step1}", [], {}, [[]], {"": {}}, ["x"], "é" * 300, "../../x", {"$blob": "x"},
    {"role": "user"}, 9_007_199_254_740_991,
)  # fmt: skip
TRACE: dict[str, Any] = {
    "form": "metnos.trace/1", "turn": "t", "message": "m", "outcome": "success", "answer": "a", "labels": {"reward": 1},
    "steps": [
        {"kind": "thought", "plan": 1, "text": "t", "usage": {"tokens_in": 1}, "at": 5},
        {"kind": "critic", "plan": 1, "by": "validator", "verdict": "accepted"},
        {"kind": "action", "plan": 1, "step": "1.1", "tool": "add", "arguments": {"a": 3}, "state": "done", "result": 7},
        {"kind": "action", "plan": 1, "step": "1.2", "tool": "add", "state": "failed", "error": {"code": "x", "message": "m"}},
        {"kind": "ask", "plan": 1, "question": "q", "answers": {"answer": "yes"}},
    ],
}  # fmt: skip
TAU2 = {
    "info": {"environment_info": {"domain_name": "d"}},
    "simulations": [{
        "task_id": "t", "trial": 0, "reward_info": {"reward": 1.0}, "termination_reason": "user_stop",
        "messages": [
            user("a"), {"role": "assistant", "content": "", "tool_calls": [{"id": "1", "name": "f", "arguments": {"a": 1}}],
                        "usage": {"prompt_tokens": 1}, "cost": 0.5, "timestamp": "2026-05-01T10:00:02"},
            {"role": "tool", "id": "1", "content": "{}", "error": False}, assistant("b"),
        ],
    }],
}  # fmt: skip
NESTED = [
    {"name": "F", "arguments": {"a": "x"}, "label": "var1"},
    {"name": "F", "arguments": {"a": "$var1.b$"}, "label": "var2"},
    {"name": "var_result", "arguments": {"b": "$var2.b$"}},
]
SOURCES: dict[str, dict[str, list[Any]]] = {
    "tau": {"a.jsonl": [tau()]},
    "tau2": {"a.json": [TAU2]},
    "nestful": {
        "x-data.json": [{"input": "q", "output": NESTED}],
        "x-spec.json": [{"name": "F", "parameters": {"a": {"type": "string"}}, "output_parameters": {"b": {"type": "string"}}}],
    },
    "bfcl": {
        "BFCL_a.json": [{"id": "a_0", "question": [[user("q")], [user("r")]], "function": [AREA, SHELL]}],
        "result/m/BFCL_a_result.json": [
            {"id": "a_0", "result": [[[{"area": '{"base": 1}'}]], ["sort('x')"]], "input_token_count": [[1], [2]],
             "inference_log": [{"begin_of_turn_query": [], "step_0": [{"role": "tool", "content": "1"}]}]},
        ],
        "score/m/BFCL_a_score.json": [{"accuracy": 1.0}, {"id": "a_0", "valid": False}],
    },
    "agentdojo": {"a.json": [dojo("p", True)]},
    "openai": {
        "a.jsonl": [
            {"id": "1", "messages": DESK, "tools": [{"type": "function", "function": SHELL}], "metadata": {"a": 1}},
            {"request": {"model": "m", "messages": DESK[:2]}, "response": response(assistant(None, called("f", {}, "1")))},
            {"custom_id": "c", "request": {"body": {"messages": DESK[:2]}}, "response": {"body": response(assistant("x"))}},
            {"messages": [user("a"), assistant(None, called("f", {"a": 1}, "9")), result("9", "1"), assistant("b")]},
        ]
    },
    "otel": {"a.jsonl": [export(chat(10, [ASK], [CALL]), tool(20, "c1"), chat(30, [ASK, CALL, CAME], [SAID]))]},
    "trace": {"a.jsonl": [TRACE]},
}  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, held in pairs:
        yield from places(held, (*path, key))


def broken(rows: dict[str, list[Any]], chance: random.Random) -> dict[str, list[Any]]:
    """The source with one to three places replaced by something, or left out."""
    rows = copy.deepcopy(rows)
    for _ in range(chance.randint(1, 3)):
        path = chance.choice([path for path in places(rows) if len(path) > 1] or [()])
        if not path:
            break
        holder: Any = rows
        for key in path[:-1]:
            holder = holder[key]
        if chance.random() < 0.2:
            del holder[path[-1]]
        else:
            holder[path[-1]] = copy.deepcopy(chance.choice(VALUES))
    return rows


def test_each_form_has_a_source_here() -> None:
    assert set(SOURCES) == set(FORMS)


@pytest.mark.parametrize("form", SOURCES)
def test_a_source_with_anything_in_it(form: str) -> None:
    for seed in range(ROUNDS):
        rows = broken(SOURCES[form], random.Random(f"{form} {seed}"))
        with tempfile.TemporaryDirectory() as folder:
            for name, held in rows.items():
                path = Path(folder, "in", name)
                path.parent.mkdir(parents=True, exist_ok=True)
                whole = name.endswith(".json") and form in ("nestful", "agentdojo")
                text = json.dumps(held) if whole else "".join(f"{json.dumps(row)}\n" for row in held)
                path.write_text(text, "utf-8")
            try:
                report = imported(form, Path(folder, "in"), Path(folder, "out"))
            except ReadFault as fault:
                assert fault.code in ("import-empty", "import-source"), fault
                continue
            assert report.turns, seed
