"""What is exported and imported again has the same calls, arguments, results, answers and outcome; and the forms hold."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from metnos.evaluate import genai
from metnos.evaluate.collections.model import Fault, Turn
from metnos.evaluate.collections.opening import open_collection
from metnos.evaluate.exporting.view import RunView, view_of
from metnos.evaluate.exporting.writing import EXPORTS, FOLDERS, ExportFault, export_collection, export_folder
from metnos.evaluate.trace import schema
from tests.support.trajectories import (
    DESK,
    assistant,
    called,
    imported,
    lines,
    result,
    rules_of,
    tau,
    turns_of,
    user,
    views_of,
)

ODD = [
    user("Say ${this}"),
    assistant("Once?", called("say it", {"from_step": "${step1}", "n": 1.5}, "a")),
    result("a", "null"),
    assistant("Again?"),
    user("yes"),
    assistant("Sure?"),
    user("yes"),
    assistant(None, called("say it", {"from_step": "x", "n": None}, "b")),
]


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    over = [user("Help"), assistant(None, called("transfer_to_human_agents", {}, "a")), result("a", "ok")]
    runs = (tau(0, 0, 0.0), tau(0, 1, 1.0, ODD), tau(1, 0, 1.0, over), tau(2, 0, 0.5, [*DESK, user("###STOP###")]))
    lines(tmp_path / "lib.jsonl", *runs)
    imported("tau", tmp_path / "lib.jsonl", tmp_path / "turns")
    return tmp_path / "turns"


def exported(form: str, folder: Path, to: Path) -> Path:
    rules = rules_of(folder)
    report = export_collection(form, ((turn, rules) for turn in turns_of(folder)), to)
    assert (report.turns, report.unresolved, report.unread) == (len(turns_of(folder)), 0, 0)
    return to


def told(view: RunView) -> Any:
    """All of a turn that another form must keep; labels that only say what the turn itself says are not compared."""
    labels = {name: held for name, held in view.labels.items() if not name.startswith("recorded_")}
    labels.pop("conversation", None)
    plans = [
        ([(call.tool, call.arguments, call.state, call.data, call.error) for call in plan.calls], plan.question,
         plan.answers, plan.said, plan.usage, plan.model)
        for plan in view.plans
    ]  # fmt: skip
    return view.request, plans, view.answer, view.outcome, view.code, labels


@pytest.mark.parametrize("form", ["trace", "otel"])
def test_there_and_back(form: str, collection: Path, tmp_path: Path) -> None:
    imported(form, exported(form, collection, tmp_path / f"{form}.jsonl"), tmp_path / "again")
    before, after = views_of(collection), views_of(tmp_path / "again")
    assert before.keys() == after.keys()
    for name, view in before.items():
        assert told(after[name]) == told(view), name


def test_json_lines_are_the_turns_themselves(collection: Path, tmp_path: Path) -> None:
    path = exported("jsonl", collection, tmp_path / "x.jsonl")
    assert path.read_bytes() == (collection / "turns.jsonl").read_bytes()


@pytest.mark.parametrize("form", FOLDERS)
def test_a_folder_is_a_whole_collection(form: str, collection: Path, tmp_path: Path) -> None:
    if form == "parquet":
        pytest.importorskip("duckdb", reason="the extra `evaluate` is not installed")
    report = export_folder(form, open_collection(collection), tmp_path / "out")
    assert (report.turns, report.unread) == (4, 0)
    before, after = views_of(collection), views_of(tmp_path / "out")
    assert {name: told(view) for name, view in after.items()} == {name: told(view) for name, view in before.items()}
    for name in ("contracts.json", "labels.ndjson"):
        assert (tmp_path / "out" / name).read_bytes() == (collection / name).read_bytes()
    with pytest.raises(ExportFault, match="something is there"):
        export_folder(form, open_collection(collection), tmp_path / "out")
    with pytest.raises(ExportFault, match="no such folder"):
        export_folder("otel", open_collection(collection), tmp_path / "other")


def test_spans_are_where_the_conventions_have_them(collection: Path, tmp_path: Path) -> None:
    for line in exported("otel", collection, tmp_path / "x.jsonl").read_text("utf-8").splitlines():
        (resource,) = json.loads(line)["resourceSpans"]
        (scope,) = resource["scopeSpans"]
        spans = scope["spans"]
        by_id = {span["spanId"]: span for span in spans}
        assert len(by_id) == len(spans)
        assert len({span["traceId"] for span in spans}) == 1
        root = spans[0]
        assert "parentSpanId" not in root
        for span in spans[1:]:
            told = {one["key"]: next(iter(one["value"].values())) for one in span["attributes"]}
            parent = by_id[span["parentSpanId"]]
            operation = told[genai.OPERATION]
            if operation == genai.CHAT:
                assert parent["name"] == "plan metnos"
                assert span["kind"] == genai.CLIENT
            else:
                assert operation in (genai.PLAN, genai.EXECUTE_TOOL)
                assert parent is root
            if operation == genai.EXECUTE_TOOL:
                assert span["name"] == f"execute_tool {told[genai.TOOL_NAME]}"
                assert isinstance(json.loads(told[genai.TOOL_ARGUMENTS]), dict)
                assert ("status" in span) == (genai.ERROR_TYPE in told)


def test_every_trace_is_of_the_published_schema(collection: Path, tmp_path: Path) -> None:
    published = json.loads(Path("docs/schema/trace-1.json").read_text("utf-8"))
    assert published == json.loads(json.dumps(schema()))
    check = Draft202012Validator(published)
    for line in exported("trace", collection, tmp_path / "x.jsonl").read_text("utf-8").splitlines():
        check.validate(json.loads(line))
    assert not check.is_valid({"form": "metnos.trace/1", "steps": [{"kind": "x"}]})


def test_an_inspect_log_holds_what_its_readers_look_for(collection: Path, tmp_path: Path) -> None:
    path = exported("inspect", collection, tmp_path / "desk.eval")
    assert path.read_bytes() == exported("inspect", collection, tmp_path / "desk2" / "desk.eval").read_bytes()
    with zipfile.ZipFile(path) as log:
        header = json.loads(log.read("header.json"))
        sample = json.loads(log.read("samples/lib-2_epoch_1.json"))
        names = log.namelist()
    assert {name for name in names if name.startswith("samples/")} == {
        "samples/lib-0_epoch_1.json", "samples/lib-0_epoch_2.json", "samples/lib-1_epoch_1.json", "samples/lib-2_epoch_1.json",
    }  # fmt: skip
    assert (header["version"], header["status"], header["eval"]["task"]) == (2, "success", "desk")
    means = {score["name"]: score["metrics"]["mean"]["value"] for score in header["results"]["scores"]}
    assert means == {"reward": 0.625, "outcome": 0.25}
    roles = [message["role"] for message in sample["messages"]]
    assert roles == ["user", "assistant", "tool", "assistant", "user", "assistant", "tool", "tool", "assistant"]
    assert sample["messages"][5]["content"] == "I will lend it."
    assert sample["messages"][6]["error"] == {"type": "unknown", "message": "Error: the card has expired"}
    assert sample["scores"]["outcome"] == {"value": 0.0, "answer": "partial", "explanation": "tool-error"}


def test_the_real_reader_of_inspect_reads_it(collection: Path, tmp_path: Path) -> None:
    log = pytest.importorskip("inspect_ai.log", reason="inspect_ai is not installed")
    path = str(exported("inspect", collection, tmp_path / "desk.eval"))
    read = log.read_eval_log(path)
    assert (read.status, len(read.samples)) == ("success", 4)
    assert {score.name: score.metrics["mean"].value for score in read.results.scores} == {
        "reward": 0.625,
        "outcome": 0.25,
    }
    sample = log.read_eval_log_sample(path, id="lib-2", epoch=1)
    assert [message.role for message in sample.messages][:3] == ["user", "assistant", "tool"]
    assert sample.messages[1].tool_calls[0].arguments == {"topic": "bees"}
    assert len(log.read_eval_log_sample_summaries(path)) == 4


def test_without_rules_arguments_are_as_the_plan_wrote_them(collection: Path, tmp_path: Path) -> None:
    turns = turns_of(collection)
    report = export_collection("trace", ((turn, None) for turn in turns), tmp_path / "t.jsonl")
    assert report.unresolved == 9
    view = view_of(next(turn.log for turn in turns if turn.log.turn == "lib-0-1"), None)
    assert view.plans[0].calls[0].arguments == {"from_step": "${step1}", "n": 1.5}
    assert not view.plans[0].calls[0].resolved


def test_what_cannot_be_read_is_named_and_the_rest_is_written(collection: Path, tmp_path: Path) -> None:
    bad = [Fault(where=f"x:{number}", code="turnlog-malformed", detail="no") for number in range(150)]
    items: list[Turn | Fault] = [*bad, *turns_of(collection)]
    report = export_collection("trace", ((item, None) for item in items), tmp_path / "t.jsonl")
    assert (report.turns, report.unread, len(report.faults)) == (4, 150, 100)
    assert report.faults[0] == {"code": "turnlog-malformed", "where": "x:0", "detail": "no"}


@pytest.mark.parametrize("form", [*(name for name in EXPORTS if name != "parquet"), "nonsense"])
def test_nothing_is_written_over_and_nothing_half(form: str, collection: Path, tmp_path: Path) -> None:
    path = tmp_path / "there"
    path.write_text("mine", "utf-8")
    with pytest.raises(ExportFault) as raised:
        export_collection(form, ((turn, None) for turn in turns_of(collection)), path)
    assert raised.value.code == ("export-form" if form == "nonsense" else "export-target")
    assert path.read_text("utf-8") == "mine"

    def broken() -> Any:
        yield turns_of(collection)[0], None
        raise OSError("the disk is gone")

    if form != "nonsense":
        with pytest.raises(OSError, match="disk"):
            export_collection(form, broken(), tmp_path / "new")
    assert not (tmp_path / "new").exists()
    assert not list(tmp_path.glob(".new*"))
