"""OpenTelemetry GenAI spans of other people's instrumentation, and ExecutionTrace."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from metnos.evaluate import genai
from tests.support.trajectories import calls_of, imported, lines, views_of


def value(held: Any) -> dict[str, Any]:
    if isinstance(held, bool):
        return {"boolValue": held}
    if isinstance(held, int):
        return {"intValue": str(held)}
    if isinstance(held, dict):
        return {"kvlistValue": {"values": [{"key": key, "value": value(one)} for key, one in held.items()]}}
    if isinstance(held, list):
        return {"arrayValue": {"values": [value(one) for one in held]}}
    return {"stringValue": held}


def span(name: str, at: int, took: int, **told: Any) -> dict[str, Any]:
    attributes = told.pop("attributes")
    return {
        "traceId": "0af7651916cd43dd8448eb211c80319c",
        "spanId": f"{at:016x}",
        "name": name,
        "kind": 1,
        "startTimeUnixNano": str(at * 1_000_000),
        "endTimeUnixNano": str((at + took) * 1_000_000),
        "attributes": [{"key": key, "value": value(held)} for key, held in attributes.items()],
        **told,
    }


def export(*spans: dict[str, Any]) -> dict[str, Any]:
    return {
        "resourceSpans": [
            {"resource": {"attributes": []}, "scopeSpans": [{"scope": {"name": "s"}, "spans": list(spans)}]}
        ]
    }


def message(role: str, *parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "parts": list(parts)}


def text(content: str) -> dict[str, Any]:
    return {"type": "text", "content": content}


ASK = message("user", text("Weather in Paris?"))
CALL = message("assistant", {"type": "tool_call", "id": "c1", "name": "get_weather", "arguments": {"city": "Paris"}})
CAME = message("tool", {"type": "tool_call_response", "id": "c1", "response": "rainy"})
SAID = message("assistant", text("It rains."))


def chat(at: int, given: list[Any], made: list[Any], **more: Any) -> dict[str, Any]:
    attributes = {
        genai.OPERATION: "chat", genai.PROVIDER: "openai", genai.REQUEST_MODEL: "gpt-4", genai.RESPONSE_MODEL: "gpt-4-x",
        genai.INPUT_TOKENS: 10, genai.OUTPUT_TOKENS: 4, genai.INPUT_MESSAGES: given, genai.OUTPUT_MESSAGES: made, **more,
    }  # fmt: skip
    return span("chat gpt-4", at, 5, attributes=attributes)


def tool(at: int, call: str | None, **more: Any) -> dict[str, Any]:
    attributes = {genai.OPERATION: "execute_tool", genai.TOOL_NAME: "get_weather", **more}
    return span("execute_tool get_weather", at, 3, attributes=attributes | ({genai.TOOL_CALL_ID: call} if call else {}))


@pytest.mark.parametrize("spelt", [json.dumps, lambda held: held], ids=["text", "structured"])
def test_model_calls_that_tell_the_whole_conversation_each_time(tmp_path: Path, spelt: Any) -> None:
    spans = [
        span("GET /", 1, 50, attributes={"http.route": "/"}),
        chat(10, spelt([ASK]), spelt([CALL])),
        tool(20, "c1", **{genai.TOOL_RESULT: spelt("rainy")}),
        chat(30, spelt([ASK, CALL, CAME]), spelt([SAID])),
    ]
    (tmp_path / "spans.json").write_text(json.dumps(export(*reversed(spans))), "utf-8")
    report = imported("otel", tmp_path / "spans.json", tmp_path / "out")
    (view,) = views_of(tmp_path / "out").values()
    assert [(tool, args, state) for tool, args, state, _ in calls_of(view)] == [
        ("get_weather", {"city": "Paris"}, "done")
    ]
    assert (view.request, view.answer, view.outcome) == ("Weather in Paris?", "It rains.", "success")
    assert view.plans[0].usage == {"planning_calls": 1, "tokens_in": 10, "tokens_out": 4}
    assert view.plans[0].model == "gpt-4-x"
    assert (view.plans[0].calls[0].started, view.plans[0].calls[0].ended) == (20_000, 23_000)
    assert report.dropped == {"span that is none of GenAI": 1}


def test_tools_alone_where_nobody_recorded_what_was_said(tmp_path: Path) -> None:
    """Content is opt-in in the conventions: names, ids and errors are what remains."""
    failed = tool(30, "b", **{genai.ERROR_TYPE: "TimeoutError"}) | {"status": {"code": 2, "message": "took too long"}}
    bare = {genai.OPERATION: "chat", genai.REQUEST_MODEL: "m"}
    spans = [
        span("chat m", 10, 5, attributes=bare),
        tool(20, "a", **{genai.TOOL_ARGUMENTS: '{"city": "Rome"}', genai.TOOL_RESULT: '{"sky": "blue"}'}),
        failed,
        span("chat m", 40, 5, attributes=bare),
        tool(50, None),
    ]
    lines(tmp_path / "spans.jsonl", *(export(one) for one in spans))
    report = imported("otel", tmp_path / "spans.jsonl", tmp_path / "out")
    (view,) = views_of(tmp_path / "out").values()
    assert [[call.state for call in plan.calls] for plan in view.plans] == [["done", "failed"], ["failed"]]
    assert calls_of(view)[0] == ("get_weather", {"city": "Rome"}, "done", {"sky": "blue"})
    errors = [call.error for plan in view.plans for call in plan.calls if call.error]
    assert [error["message"] for error in errors] == ["took too long", "the log has no result of this call"]
    assert report.dropped["request that was not recorded (content is opt-in)"] == 1


def test_a_trace_without_models_and_tools_is_counted(tmp_path: Path) -> None:
    lines(
        tmp_path / "a.jsonl",
        export(span("GET /", 1, 5, attributes={})),
        export(chat(10, [ASK], [SAID]) | {"traceId": "ab"}),
    )
    report = imported("otel", tmp_path / "a.jsonl", tmp_path / "out")
    assert (report.turns, report.dropped) == (1, {"trace without a call of a model or a tool": 1})


def test_the_names_are_those_of_the_conventions() -> None:
    """Checked against the published tables by hand; whoever changes one changes it here, too."""
    assert (genai.OPERATION, genai.TOOL_NAME, genai.TOOL_CALL_ID) == (
        "gen_ai.operation.name", "gen_ai.tool.name", "gen_ai.tool.call.id",
    )  # fmt: skip
    assert (genai.INPUT_MESSAGES, genai.OUTPUT_MESSAGES) == ("gen_ai.input.messages", "gen_ai.output.messages")
    assert (genai.TOOL_ARGUMENTS, genai.TOOL_RESULT) == ("gen_ai.tool.call.arguments", "gen_ai.tool.call.result")
    assert (genai.INPUT_TOKENS, genai.OUTPUT_TOKENS) == ("gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens")
    assert (genai.PLAN, genai.CHAT, genai.EXECUTE_TOOL, genai.INVOKE_AGENT) == (
        "plan", "chat", "execute_tool", "invoke_agent",
    )  # fmt: skip


def test_an_execution_trace_of_a_turn_that_waits_is_of_a_run_that_was_cut_off(tmp_path: Path) -> None:
    waits = {"form": "metnos.trace/1", "turn": "t", "message": "Copy it", "outcome": "suspended"}
    thought = {"kind": "thought", "plan": 1, "source": "template"}
    verdict = {"kind": "critic", "plan": 1, "by": "policy", "verdict": "ask", "step": "1.1"}
    lines(tmp_path / "t.jsonl", {**waits, "steps": [thought, verdict]})
    report = imported("trace", tmp_path / "t.jsonl", tmp_path / "out")
    assert (report.outcomes, report.causes) == ({"error": 1}, {"not-recorded": 1})


def test_an_execution_trace_that_somebody_else_wrote(tmp_path: Path) -> None:
    lines(
        tmp_path / "t.jsonl",
        {
            "form": "metnos.trace/1", "turn": "x y/1", "message": "Sum it up", "session": "s", "outcome": "success",
            "answer": "7", "labels": {"reward": 1},
            "steps": [
                {"kind": "thought", "plan": 1, "text": "guess", "usage": {"tokens_in": 1}},
                {"kind": "critic", "plan": 1, "by": "validator", "verdict": "rejected"},
                {"kind": "thought", "plan": 2, "text": "add", "model": "m"},
                {"kind": "action", "plan": 2, "step": "2.1", "tool": "add", "arguments": {"a": 3, "b": 4}, "state": "done",
                 "result": 7},
                {"kind": "ask", "plan": 2, "question": "Fine?", "answers": {"answer": "yes"}},
            ],
        },
    )  # fmt: skip
    report = imported("trace", tmp_path / "t.jsonl", tmp_path / "out")
    (view,) = views_of(tmp_path / "out").values()
    assert view.turn.startswith("x-y-1-")
    assert calls_of(view) == [("add", {"a": 3, "b": 4}, "done", 7)]
    assert view.plans[0].said == "add"
    assert view.plans[0].answers == {"answer": "yes"}
    assert view.answer == "7"
    assert report.dropped == {"plan that was rejected": 1}
    assert view.labels == {"recorded_outcome": "success", "session": "s", "reward": 1}
