"""What is not of a form is a fault with code, file, line, place, found and expected; the runs around it are imported."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from metnos.evaluate.importing import ReadFault, import_collection
from tests.support.trajectories import DESK, assistant, called, imported, lines, result, tau, user

GOOD: dict[str, Any] = {
    "tau": tau(),
    "openai": {"messages": DESK},
    "trace": {"form": "metnos.trace/1", "turn": "t", "message": "m", "answer": "a"},
}
BAD: dict[str, tuple[str, Any, str, str]] = {
    "no object": ("tau", 3, "", "an object"),
    "no reward": ("tau", {"task_id": 1, "traj": DESK}, "/reward", "a number"),
    "no task": ("tau", {"reward": 1, "traj": DESK}, "/task_id", "a number from 0"),
    "no messages": ("tau", tau() | {"traj": {}}, "/traj", "a list"),
    "an odd role": ("tau", tau(messages=[{"role": "robot"}]), "/traj/0/role", "system, user, assistant or tool"),
    "nobody asks": ("tau", tau(messages=[]), "/traj", "somebody who asks for something"),
    "no message": ("tau", tau(messages=["x"]), "/traj/0", "a message, an object"),
    "arguments": ("openai", {"messages": [user("a"), assistant(None, {"function": {"name": "f", "arguments": "{"}})]},
                  "/messages/1/tool_calls/0/function/arguments", "an object as JSON text"),
    "a list of arguments": ("openai", {"messages": [user("a"), assistant(None, {"function": {"name": "f", "arguments": "[]"}})]},
                            "/messages/1/tool_calls/0/function/arguments", "an object of arguments"),
    "no name": ("openai", {"messages": [user("a"), assistant(None, {"function": {}})]},
                "/messages/1/tool_calls/0/function/name", "the name of a tool"),
    "neither": ("openai", {"prompt": "x"}, "", "a conversation, or a request with its response"),
    "no choices": ("openai", {"request": {"messages": [user("a")]}, "response": {}}, "/response/choices", "a list"),
    "another form": ("trace", {"form": "metnos.trace/9"}, "/form", "metnos.trace/1"),
    "a step of no kind": ("trace", {"form": "metnos.trace/1", "steps": [{"kind": "x"}]}, "", "a line of metnos.trace/1"),
}  # fmt: skip


@pytest.mark.parametrize(("form", "bad", "place", "expected"), BAD.values(), ids=BAD)
def test_a_record_that_is_not_of_the_form(form: str, bad: Any, place: str, expected: str, tmp_path: Path) -> None:
    path = lines(tmp_path / "in.jsonl", GOOD[form], bad)
    report = imported(form, path, tmp_path / "out")
    assert (report.turns, report.unread) == (1, 1)
    (fault,) = report.faults
    assert (fault["where"], fault["expected"]) == (f"{path}:2{place}", expected)
    assert fault["code"]
    assert fault["found"]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b'{"task_id": 1', "json-syntax"),
        (b'{"task_id": 1, "task_id": 2}', "duplicate-key"),
        (b'{"task_id": 123456789012345678901}', "integer-range"),
        (b'{"reward": NaN}', "not-a-number"),
        (b'"\xff"', "not-utf8"),
        (b"[" * 100 + b"]" * 100, "too-deep"),
        (b'{"a": "\\ud800"}', "lone-surrogate"),
    ],
)
def test_a_line_that_is_no_json_a_log_could_hold(line: bytes, code: str, tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_bytes(json.dumps(tau()).encode() + b"\n\n" + line + b"\n" + json.dumps(tau(1)).encode())
    report = imported("tau", path, tmp_path / "out")
    assert report.turns == 2
    (fault,) = report.faults
    assert fault["code"] == code
    assert fault["where"].startswith(f"{path}:3")


def test_nothing_at_all(tmp_path: Path) -> None:
    source = lines(tmp_path / "in.jsonl", {"reward": 1})
    cases: list[tuple[str, Path, Path, str]] = [
        ("nonsense", source, tmp_path / "out", "import-form-unknown"),
        ("tau", tmp_path / "nowhere", tmp_path / "out", "import-source"),
        ("nestful", tmp_path, tmp_path / "out", "import-source"),
        ("tau", source, tmp_path, "import-target"),
        ("tau", source, source, "import-target"),
        ("tau", source, tmp_path / "out", "import-empty"),
    ]
    for form, place, to, code in cases:
        with pytest.raises(ReadFault) as raised:
            import_collection(form, place, to)
        assert raised.value.code == code
        assert raised.value.expected
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.jsonl"]  # nothing half-made is left


def test_what_is_larger_than_a_log_holds_is_named_and_the_rest_is_imported(tmp_path: Path) -> None:
    deep: Any = 1
    for _ in range(40):
        deep = [deep]
    huge = [
        user("a"),
        assistant(None, called("f", {"x": "y"}, "1")),
        result("1", json.dumps({"deep": deep})),
        assistant("b"),
    ]
    path = lines(tmp_path / "in.jsonl", {"messages": huge}, {"messages": DESK})
    report = imported("openai", path, tmp_path / "out")
    assert report.turns == 2  # a result that is too deep for data is kept as the text that it was
    wide = [user("a"), assistant(None, called("f", {"x": "y" * 300_000}, "1")), result("1", "ok"), assistant("b")]
    report = imported(
        "openai", lines(tmp_path / "wide.jsonl", {"messages": wide}, {"messages": DESK}), tmp_path / "wide"
    )
    assert (report.turns, report.unread) == (1, 1)
    assert report.faults[0]["code"] == "too-large"
