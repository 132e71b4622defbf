"""Turns as OpenTelemetry GenAI spans in OTLP JSON; names: `metnos.evaluate.genai`.

| of the turn | becomes |
|---|---|
| the turn | `invoke_agent metnos`, the root; request and answer as its messages |
| a plan | `plan metnos` below it |
| the call of a model that wrote it | `chat MODEL`, the child of that plan: what is new for it, and what it said and called |
| a call of a tool | `execute_tool NAME` below the root, beside the plan |
| a person's answer | the input message of the next `chat` |
| a failure | `error.type` (its code), status `ERROR` with its message |
| labels | `metnos.label.NAME` |

Ids follow from the turn's id, so the same turn is the same trace. Content is written: who exports decides that.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import msgspec

from metnos.evaluate import genai

if TYPE_CHECKING:
    from metnos.evaluate.exporting.view import CallView, PlanView, RunView

AGENT = "metnos"
Message = dict[str, Any]


def export(run: RunView) -> dict[str, Any]:
    """One export with the spans of one turn."""
    from metnos import __version__

    scope = {"name": AGENT, "version": __version__}
    resource = {"attributes": [_attribute("service.name", AGENT), _attribute("service.version", __version__)]}
    scoped = {"scope": scope, "spans": spans_of(run), "schemaUrl": genai.SCHEMA_URL}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [scoped], "schemaUrl": genai.SCHEMA_URL}]}


def encode(run: RunView) -> bytes:
    """One line, without its end."""
    return msgspec.json.encode(export(run))


def spans_of(run: RunView) -> list[dict[str, Any]]:
    """The spans of a turn, root first, in the order of the log."""
    made = _Spans(run)
    heard = [_said("user", run.request)]
    for plan in run.plans:
        made.plan(plan, heard)
        for call in plan.calls:
            made.call(call)
        heard = [_said("user", _words(plan.answers))] if plan.answers is not None else []
    return made.all()


class _Spans:
    def __init__(self, run: RunView) -> None:
        self.run = run
        self.trace = hashlib.sha256(f"metnos.otel/1 {run.turn}".encode()).hexdigest()[:32]
        self.spans: list[dict[str, Any]] = []
        self.root = self._id("root")

    def _id(self, path: str) -> str:
        return hashlib.sha256(f"{self.trace} {path}".encode()).hexdigest()[:16]

    def _add(
        self,
        path: str,
        name: str,
        parent: str,
        times: tuple[int, int],
        attributes: dict[str, Any],
        *,
        kind: int = genai.INTERNAL,
        error: str = "",
    ) -> None:
        """One span; attributes that are empty are left out."""
        started, ended = times
        span: dict[str, Any] = {
            "traceId": self.trace,
            "spanId": self._id(path),
            "name": name,
            "kind": kind,
            "startTimeUnixNano": str(started * 1_000),
            "endTimeUnixNano": str(max(started, ended) * 1_000),
            "attributes": [_attribute(key, value) for key, value in attributes.items() if value not in ("", None, [])],
        }
        if parent:
            span["parentSpanId"] = parent
        if error:
            span["status"] = {"code": genai.STATUS_ERROR, "message": error}
        self.spans.append(span)

    def plan(self, plan: PlanView, heard: list[Message]) -> None:
        """A plan, and the call of the model that wrote it."""
        path, times = f"plan {plan.number}", (plan.asked or plan.at, plan.at)
        attributes = {
            genai.OPERATION: genai.PLAN,
            genai.PROVIDER: AGENT,
            genai.AGENT_NAME: AGENT,
            genai.PLAN_NUMBER: plan.number,
            genai.PLAN_SOURCE: plan.source,
            genai.PLAN_DIGEST: plan.digest,
            genai.PLAN_REJECTED: plan.rejected_by,
            genai.ERROR_TYPE: plan.diagnostics[0].get("code", "") if plan.diagnostics else "",
        }
        error = f"rejected by {plan.rejected_by}" if plan.rejected_by else ""
        self._add(path, f"{genai.PLAN} {AGENT}", self.root, times, attributes, error=error)
        if plan.source == "model":
            self._chat(plan, path, times, heard)

    def _chat(self, plan: PlanView, path: str, times: tuple[int, int], heard: list[Message]) -> None:
        attributes = {
            genai.OPERATION: genai.CHAT,
            genai.PROVIDER: AGENT,
            genai.REQUEST_MODEL: plan.model,
            genai.INPUT_TOKENS: plan.usage.get("tokens_in"),
            genai.OUTPUT_TOKENS: plan.usage.get("tokens_out"),
            genai.INPUT_MESSAGES: _text(heard),
            genai.OUTPUT_MESSAGES: _text([self._output(plan)] if plan.accepted else []),
        }
        name = f"{genai.CHAT} {plan.model}".strip()
        self._add(f"{path} chat", name, self._id(path), times, attributes, kind=genai.CLIENT)

    def _output(self, plan: PlanView) -> Message:
        said = plan.question if not plan.calls else plan.said
        if not said and not plan.calls and plan is self.run.plans[-1]:
            said = self.run.answer
        parts: list[dict[str, Any]] = [{"type": "text", "content": said}] if said else []
        parts += [
            {"type": "tool_call", "id": call.step, "name": call.tool, "arguments": call.arguments}
            for call in plan.calls
        ]
        return {"role": "assistant", "parts": parts, "finish_reason": "tool_call" if plan.calls else "stop"}

    def call(self, call: CallView) -> None:
        """A call of a tool."""
        error: dict[str, Any] = call.error or {}
        code: str = error.get("code", "") or ("" if call.state == "done" else call.state)
        message: str = error.get("message", "")
        attributes = {
            genai.OPERATION: genai.EXECUTE_TOOL,
            genai.TOOL_NAME: call.tool,
            genai.TOOL_TYPE: "function",
            genai.TOOL_CALL_ID: call.step,
            genai.TOOL_ARGUMENTS: msgspec.json.encode(call.arguments).decode(),
            genai.TOOL_RESULT: msgspec.json.encode(call.data).decode() if call.state == "done" else "",
            genai.ERROR_TYPE: code,
            genai.MESSAGE: message,
        }
        name = f"{genai.EXECUTE_TOOL} {call.tool}"
        self._add(call.step, name, self.root, (call.started, call.ended), attributes, error=message or code)

    def all(self) -> list[dict[str, Any]]:
        """Every span, the root first."""
        run, found = self.run, self.spans
        self.spans = []
        bad = run.outcome not in ("success", "")
        attributes = {
            genai.OPERATION: genai.INVOKE_AGENT,
            genai.PROVIDER: AGENT,
            genai.AGENT_NAME: AGENT,
            genai.AGENT_VERSION: run.versions.get("metnos", ""),
            genai.CONVERSATION: run.conversation or run.turn,
            genai.INPUT_MESSAGES: _text([_said("user", run.request)]),
            genai.OUTPUT_MESSAGES: _text([_said("assistant", run.answer)] if run.answer else []),
            genai.TURN: run.turn,
            genai.OUTCOME: run.outcome,
            genai.CODE: run.code,
            genai.ERROR_TYPE: (run.code or run.outcome) if bad else "",
            **{f"{genai.LABEL}{name}": value for name, value in run.labels.items()},
        }
        error = f"{run.outcome}: {run.code}" if bad else ""
        name = f"{genai.INVOKE_AGENT} {AGENT}"
        self._add("root", name, "", (run.opened, run.closed), attributes, error=error)
        return [*self.spans, *found]


def _said(role: str, text: str) -> Message:
    return {"role": role, "parts": [{"type": "text", "content": text}]}


def _words(answers: dict[str, Any]) -> str:
    values = list(answers.values())
    said = values[0] if len(values) == 1 else answers
    return said if isinstance(said, str) else msgspec.json.encode(said).decode()


def _text(messages: list[Message]) -> str:
    return msgspec.json.encode(messages).decode() if messages else ""


def _attribute(key: str, value: Any) -> dict[str, Any]:
    return {"key": key, "value": _value(value)}


def _value(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, str):
        return {"stringValue": value}
    return {"stringValue": msgspec.json.encode(value).decode()}
