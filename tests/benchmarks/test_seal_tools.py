"""The Seal-Tools benchmark on a small data set of our own: what fits is taken, what does not is named with its place."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks import seal_tools
from benchmarks.gold.seal import convert, seal_pointer


def tool(
    name: str, parameters: dict[str, str], responses: dict[str, str], required: list[str] | None = None
) -> dict[str, Any]:
    def table(types: dict[str, str]) -> dict[str, Any]:
        return {name: {"type": kind, "description": name} for name, kind in types.items()}

    return {
        "api_name": name,
        "api_description": name,
        "field": "Library",
        "parameters": table(parameters),
        "required": list(parameters) if required is None else required,
        "responses": table(responses),
    }


TOOLS = [
    tool(
        "findBook", {"topic": "str", "limit": "int"}, {"isbn": "str", "pm2.5 level": "float", "pages": "int"}, ["topic"]
    ),
    tool("reserve Book", {"isbn": "str", "days": "int", "fee": "float", "gift": "bool"}, {"ticket": "str"}, []),
    tool("getHours", {}, {"open": "bool"}),
    tool("ask", {"what": "str"}, {}),
]


def call(api: Any, responses: list[Any] | None = None, /, **parameters: Any) -> dict[str, Any]:
    return {"api": api, "parameters": parameters, "responses": responses or []}


FIND = call("findBook", ["API_call_0", "API_call_1", "API_call_2"], topic="bees")

SOUND: dict[str, list[Any]] = {
    "one call": [FIND],
    "no parameters": [call("getHours", ["API_call_0"]), {"api": "getHours"}, {"api": "getHours", "parameters": None}],
    "a name with a space, a field with a dot and a space": [FIND, call("reserve Book", ["API_call_3"], isbn="API_call_1")],
    "literals in another type": [call("reserve Book", isbn=7, days="63", fee=" -1.5e3 ", gift="yes"), call("findBook", topic=True, limit=2.0)],
    "references that join unequal scalars": [FIND, call("reserve Book", days="API_call_0", fee="API_call_2", isbn="API_call_2")],
    "text that looks like our own references": [call("findBook", topic="${step9.a} costs $5 and $<x>"), call("ask", what="API call 0")],
    "a tool whose name ends our plans": [call("ask", what="why"), call("findBook", topic="bees")],
    "a result that nobody described": [call("ask", ["API_call_0"], what="why"), call("ask", what="API_call_0")],
}  # fmt: skip

DEFECTIVE: dict[str, tuple[list[Any], list[tuple[str, str]]]] = {
    "an unknown tool": ([call("burnBook"), FIND], [("unknown-tool", "/calling/0/api")]),
    "an unknown argument": ([call("getHours", day="Monday")], [("unknown-argument", "/calling/0/parameters/day")]),
    "a missing argument": ([FIND, call("findBook")], [("missing-argument", "/calling/1/parameters")]),
    "text where a number is declared": (
        [call("reserve Book", days="per month"), call("reserve Book", fee="10%"), call("reserve Book", fee="")],
        [("invalid-value", "/calling/0/parameters/days"), *(("invalid-value", f"/calling/{n}/parameters/fee") for n in (1, 2))],
    ),
    "a list for a number": ([call("reserve Book", fee=[0, 1])], [("type-mismatch", "/calling/0/parameters/fee")]),
    "a name of a response inside text": (
        [FIND, call("reserve Book", isbn="API_call_0 response")],
        [("reference-syntax", "/calling/1/parameters/isbn")],
    ),
    "a name that no call gives": ([FIND, call("ask", what="API_call_7")], [("reference-unknown-step", "/calling/1/parameters/what")]),
    "a name of a later call": ([call("ask", what="API_call_0"), FIND], [("reference-forward", "/calling/0/parameters/what")]),
    "a name of the same call": ([call("findBook", ["API_call_0"], topic="API_call_0")], [("reference-forward", "/calling/0/parameters/topic")]),
    "a name more than fields": (
        [call("getHours", ["API_call_0", "API_call_1"]), call("ask", what="API_call_1")],
        [("unknown-field", "/calling/1/parameters/what")],
    ),
    "a name that two responses have": (
        [FIND, call("getHours", ["API_call_0"])],
        [("duplicate-id", "/calling/1/responses/0")],
    ),
    "no call": (["findBook", call(7)], [("wrong-type", "/calling/0"), ("wrong-type", "/calling/1/api")]),
    "parameters that are none": ([{"api": "getHours", "parameters": "now"}], [("wrong-type", "/calling/0/parameters")]),
}  # fmt: skip


def write(folder: Path, **files: list[Any]) -> Path:
    for name, rows in {"tool": TOOLS, **files}.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return folder


def records(*calling: list[Any]) -> list[Any]:
    return [{"id": f"r{index}", "query": "Whatever.", "calling": calls} for index, calls in enumerate(calling)]


@pytest.mark.parametrize("calls", SOUND.values(), ids=SOUND)
def test_what_fits_is_taken(tmp_path: Path, calls: list[Any]) -> None:
    figures, lines = seal_tools.measure(write(tmp_path, dev=records(calls)))
    assert lines == []
    assert (figures.tools, figures.calls, figures.rejected) == (4, len(calls), {})


@pytest.mark.parametrize(("calls", "faults"), DEFECTIVE.values(), ids=DEFECTIVE)
def test_what_does_not_is_rejected_call_by_call(
    tmp_path: Path, calls: list[Any], faults: list[tuple[str, str]]
) -> None:
    figures, lines = seal_tools.measure(write(tmp_path, dev=records(calls)))
    assert [(line["code"], line["gold"]) for line in lines] == faults
    assert all((line["file"], line["id"]) == ("dev.jsonl", "r0") for line in lines)
    assert (figures.calls, figures.rejected.total()) == (len(calls), len(faults))


def test_several_faults_of_one_call_are_one_rejection(tmp_path: Path) -> None:
    calls = [call("reserve Book", fee=[0], days={"n": 1}, colour="red"), FIND]
    figures, (line,) = seal_tools.measure(write(tmp_path, dev=records(calls)))
    assert len(line["more"]) == 2
    assert figures.rejected.total() == 1


def test_a_name_refers_to_the_field_at_its_position() -> None:
    fields = {"findBook": ["isbn", "pm2.5 level", "pages"]}
    converted = convert({"calling": [FIND, call("ask", what="API_call_1")]}, fields)
    assert converted.plan["steps"][1]["args"] == {"what": '${step1["pm2.5 level"]}'}
    assert converted.faults == ()


@pytest.mark.parametrize("record", [[], {"calling": None}, {"calling": "x"}, 7])
def test_a_record_without_calls_counts_as_one_that_is_rejected(tmp_path: Path, record: Any) -> None:
    figures, (line,) = seal_tools.measure(write(tmp_path, dev=[record]))
    assert (figures.calls, figures.rejected) == (1, {"wrong-type": 1})
    assert (line["id"], line["code"]) == (0, "wrong-type")


def test_places_outside_the_calls_are_kept() -> None:
    assert seal_pointer("") == ""
    assert seal_pointer("/steps/0") == "/calling/0"


def test_every_file_is_counted_and_the_figures_are_the_last_line(tmp_path: Path, root: Path) -> None:
    write(tmp_path, one=records(*SOUND.values()), two=records(*(calls for calls, _ in DEFECTIVE.values())))
    (tmp_path / "three.jsonl").write_bytes(b"\xef\xbb\xbf" + json.dumps(records([FIND])[0]).encode() + b"\r\n\n")
    command = [sys.executable, str(root / "benchmarks" / "seal_tools.py"), "--data", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    *lines, last = map(json.loads, done.stdout.splitlines())
    assert list(last) == ["tools", "load_s", "calls", "rejected", "us_per_step"]
    wrong = [fault for _, faults in DEFECTIVE.values() for fault in faults]
    assert sum(last["rejected"].values()) == len(lines) == len(wrong)
    assert last["calls"] == 1 + sum(map(len, SOUND.values())) + sum(len(calls) for calls, _ in DEFECTIVE.values())
    assert last["us_per_step"] > 0 < last["load_s"]


def test_a_tool_that_is_none_is_told_and_the_others_stay(tmp_path: Path) -> None:
    broken = [
        {"api_name": "a", "parameters": "none"},
        {"api_description": "?"},
        7,
        {**TOOLS[2], "api_name": "b", "responses": "x"},
    ]
    write(tmp_path, dev=records([FIND], [call("a")]))
    write(tmp_path, tool=[*broken, *TOOLS, TOOLS[0]])
    figures, lines = seal_tools.measure(tmp_path)
    assert [set(line) for line in lines[:4]] == [{"file", "refused_tool"}] * 4
    assert (figures.tools, figures.rejected) == (4, {"unknown-tool": 1})


def test_responses_may_be_a_list(tmp_path: Path) -> None:
    listed = {**TOOLS[0], "responses": [{"name": "isbn", "type": "str"}, {"name": "pages", "type": "int"}]}
    write(tmp_path, dev=records([FIND, call("ask", what="API_call_1")]))
    write(tmp_path, tool=[listed, TOOLS[3]])
    assert seal_tools.measure(tmp_path)[0].rejected == {}


def test_a_folder_that_cannot_be_used(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert seal_tools.main(["--data", str(tmp_path)]) == 2
    assert "tool.jsonl" in capsys.readouterr().err
    write(tmp_path, dev=[])
    with (tmp_path / "dev.jsonl").open("a") as stream:
        stream.write("{}\n[\n")
    assert seal_tools.main(["--data", str(tmp_path)]) == 2
    captured = capsys.readouterr()
    assert "dev.jsonl:2" in captured.err
    assert captured.out == ""
