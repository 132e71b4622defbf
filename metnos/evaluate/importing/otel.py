"""OpenTelemetry GenAI spans as OTLP JSON: one trace is one run.

    {"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId", "spanId", "attributes", …}]}]}]}

in files `*.json` or `*.jsonl` (one export or one span a line). Names: `metnos.evaluate.genai`.

| of the form | becomes |
|---|---|
| a trace, or in it each `metnos.turn.id` | a run |
| model calls (`chat` …), in order of their start | what was said and called; usage, model and time of each |
| `gen_ai.input.messages` that go on from what is known | only what is new of them |
| `execute_tool` | the result of the call with its id, else of the first open call of that tool |
| tools without a model call that asked for them (content is opt-in) | one go for the tools between two model calls |
| `error.type`, a status of error | a failure of the tool |
| `gen_ai.tool.definitions` | contracts |
| attributes `metnos.label.*` | labels; `metnos.turn.outcome` and others of the root too |
| other spans, events of spans | counted |
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from metnos.evaluate import genai
from metnos.evaluate.importing.folding import NOT_RECORDED
from metnos.evaluate.importing.messages import Chat, Spelling, openai_call, read_chat
from metnos.evaluate.importing.model import Act, Call, Ended, Moment, Notes, ReadFault, Recorded
from metnos.evaluate.importing.otlp import Span, spans_in, structured
from metnos.evaluate.importing.reading import each, files, kind, rows
from metnos.plan.jsondata import canonical, is_list, is_object

SUFFIXES = (".json", ".jsonl")
SPELLING = Spelling(call=openai_call)
KEPT = {genai.OUTCOME: "recorded_outcome", genai.CODE: "recorded_code", genai.CONVERSATION: "conversation"}


def read(source: Path, notes: Notes) -> Iterator[Recorded]:
    """The runs of a file or folder; the spans of a trace may lie in several files."""
    traces: dict[str, list[Span]] = {}
    for path in files(source, SUFFIXES):
        for spans in each(rows(path, notes), notes, lambda record, where: list(spans_in(record, where))):
            for span in spans:
                traces.setdefault(span.trace, []).append(span)
    for spans in traces.values():
        spans.sort(key=lambda span: span.started)  # those of one time stay in the order in which they were written
        try:
            run = _run(spans, notes)
        except ReadFault as fault:
            notes.fault(fault)
            continue
        if run is None:
            notes.drop("trace without a call of a model or a tool")
        else:
            yield run


def _run(spans: list[Span], notes: Notes) -> Recorded | None:
    told = [span for span in spans if _does(span) in (*genai.MODEL_CALLS, genai.EXECUTE_TOOL)]
    if not told:
        return None
    for span in spans:
        if span.events:
            notes.drop("event of a span", span.events)
        if not _does(span):
            notes.drop("span that is none of GenAI")
    root = next((span for span in spans if _does(span) == genai.INVOKE_AGENT), spans[0])
    talk = _Talk(notes)
    if genai.INPUT_MESSAGES in root.attributes:
        talk.hear(root)
    for span in told:
        if _does(span) == genai.EXECUTE_TOOL:
            talk.do(span)
        else:
            talk.speak(span)
    chat = talk.chat(root)
    labels = {name: root.attributes[key] for key, name in KEPT.items() if root.attributes.get(key)}
    for name, value in root.attributes.items():
        if name.startswith(genai.LABEL):
            labels[name.removeprefix(genai.LABEL)] = value
    turn = root.attributes.get(genai.TURN)
    return Recorded(
        key=turn if isinstance(turn, str) and turn else f"trace-{root.trace}",
        request=chat.request,
        moments=chat.moments,
        end=_end(chat, root),
        at=spans[0].started,
        labels=labels,
    )


def _does(span: Span) -> str:
    """The operation of a span; empty: it is none of GenAI."""
    name = span.attributes.get(genai.OPERATION)
    return name if isinstance(name, str) else ""


def _end(chat: Chat, root: Span) -> Ended:
    """How the run ended: by an answer only if one was given, and only if the root, where it is of ours, has it too."""
    outcome = root.attributes.get(genai.OUTCOME)
    last = chat.moments[-1] if chat.moments else None
    spoke = isinstance(last, Act) and bool(last.text)
    if not (outcome or root.attributes.get(genai.TURN)):  # of others, of whom nothing more is known
        return "cut" if chat.end == "answered" and not spoke else chat.end
    if not outcome or root.attributes.get(genai.CODE) == NOT_RECORDED:
        return "cut"
    told = outcome == "success" or (spoke and genai.OUTPUT_MESSAGES in root.attributes)
    return "answered" if chat.end == "answered" and told else "ended"


class _Talk:
    """Messages in OpenAI's form, put together from spans."""

    def __init__(self, notes: Notes) -> None:
        self.notes = notes
        self.messages: list[dict[str, Any]] = []
        self.costs: dict[int, dict[str, int]] = {}
        self.tools: dict[str, Span] = {}
        """Id of a call → the span of the tool."""
        self.open: list[dict[str, Any]] = []
        """Calls that no span and no message has answered."""
        self.group = -1
        """Position of the message that holds the tools which no model call asked for."""

    def hear(self, span: Span) -> None:
        """What went into an agent or a model: what is new of it."""
        found = _messages(span, genai.INPUT_MESSAGES, self.notes)
        if found and self.messages and _mark(found[0]) == _mark(self.messages[0]):  # all of it is told again
            found = self._rest(found)
        for message in found:
            if message["role"] == "tool":
                self.open = [call for call in self.open if call["id"] != message.get("tool_call_id")]
            self.messages.append(message)

    def _rest(self, found: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """What is new of a conversation that is told from its beginning."""
        said = sum(message["role"] != "tool" for message in self.messages)
        answered = {message.get("tool_call_id") for message in self.messages if message["role"] == "tool"}
        new: list[dict[str, Any]] = []
        for message in found:
            if message["role"] == "tool":
                new += [message] if message.get("tool_call_id") not in answered else []
            elif said:
                said -= 1
            else:
                new.append(message)
        return new

    def speak(self, span: Span) -> None:
        """A call of a model."""
        attributes = span.attributes
        definitions = structured(attributes.get(genai.TOOL_DEFINITIONS), span.where)
        for described in definitions if is_list(definitions) else []:
            self.notes.describe(described)
        self.hear(span)
        said = _messages(span, genai.OUTPUT_MESSAGES, self.notes)
        if len(said) > 1:
            self.notes.drop("further choice of one answer", len(said) - 1)
        self.group = -1
        for message in said[:1]:
            message["model"] = attributes.get(genai.RESPONSE_MODEL) or attributes.get(genai.REQUEST_MODEL) or ""
            self.costs[len(self.messages)] = _cost(span)
            self.open += message.get("tool_calls", [])
            self.messages.append(message)

    def do(self, span: Span) -> None:
        """A call of a tool."""
        attributes = span.attributes
        name = attributes.get(genai.TOOL_NAME)
        if not isinstance(name, str) or not name:
            raise ReadFault(f"{span.where}/attributes/{genai.TOOL_NAME}", kind(name), "the name of a tool")
        told = _string(attributes.get(genai.TOOL_CALL_ID))
        call = next((one for one in self.open if one["id"] == told), None) or next(
            (one for one in self.open if one["function"]["name"] == name and told is None), None
        )
        if call is not None:
            self.open.remove(call)
            self.tools[call["id"]] = span
        elif told not in self.tools:
            call = _call(told or span.id, name, attributes.get(genai.TOOL_ARGUMENTS))
            self.tools[call["id"]] = span
            if self.group < 0:
                self.group = len(self.messages)
                self.costs[self.group] = {"at": span.started}
                self.messages.append({"role": "assistant", "content": "", "tool_calls": []})
            self.messages[self.group]["tool_calls"].append(call)
        else:
            self.notes.drop("further span of one call")

    def chat(self, root: Span) -> Chat:
        """All of it, with what the spans of the tools tell."""
        messages = self.messages
        if not any(message["role"] == "user" for message in messages):
            self.notes.drop("request that was not recorded (content is opt-in)")
            messages = [{"role": "user", "content": ""}, *messages]
            self.costs = {position + 1: cost for position, cost in self.costs.items()}
        chat = read_chat(messages, f"{root.where}/messages", self.notes, SPELLING, usage=self.costs)
        return msgspec.structs.replace(chat, moments=tuple(map(self._with_results, chat.moments)))

    def _with_results(self, moment: Moment) -> Moment:
        if not isinstance(moment, Act) or not moment.calls:
            return moment
        return msgspec.structs.replace(moment, calls=tuple(map(self._with_result, moment.calls)))

    def _with_result(self, call: Call) -> Call:
        span = self.tools.get(call.id)
        if span is None:
            return call
        told = msgspec.structs.replace(call, started=span.started, ended=span.ended)
        error = span.attributes.get(genai.ERROR_TYPE)
        if error or span.failed:
            message = span.attributes.get(genai.MESSAGE) or span.message or str(error or "the tool failed")
            return msgspec.structs.replace(told, recorded=True, error=str(message), code=_code(error), result=None)
        result = span.attributes.get(genai.TOOL_RESULT)
        if result is None:
            return told
        return msgspec.structs.replace(told, recorded=True, result=result, is_text=isinstance(result, str))


def _code(error: Any) -> str:
    """A code of ours where the span has one, else that of any tool's failure."""
    from metnos.plan.codes import CODES

    return error if isinstance(error, str) and error in CODES else "tool-error"


def _mark(message: dict[str, Any]) -> bytes | None:
    """What is the same in a message that is told twice; a result is known by its call."""
    calls: list[Any] = [[call["id"], call["function"]["name"]] for call in message.get("tool_calls", [])]
    if message["role"] == "tool":
        return canonical(["tool", str(message.get("tool_call_id", ""))])
    return canonical([message["role"], message.get("content", ""), calls])


def _string(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _cost(span: Span) -> dict[str, int]:
    cost = {"at": span.ended or span.started}
    for name, word in (("tokens_in", genai.INPUT_TOKENS), ("tokens_out", genai.OUTPUT_TOKENS)):
        number = span.attributes.get(word)
        if type(number) is int and number >= 0:
            cost[name] = number
    return cost


def _call(name: str, tool: str, arguments: Any) -> dict[str, Any]:
    return {"id": name, "type": "function", "function": {"name": tool, "arguments": arguments}}


# --- messages of the conventions -----------------------------------------------------------------------------------


def _messages(span: Span, name: str, notes: Notes) -> list[dict[str, Any]]:
    """`gen_ai.input.messages` or `.output.messages` in OpenAI's form: `{role, parts: [{type, …}]}`."""
    where = f"{span.where}/attributes/{name}"
    raw = structured(span.attributes.get(name), where)
    found: list[dict[str, Any]] = []
    for index, message in enumerate(raw if is_list(raw) else []):
        if not is_object(message) or not isinstance(message.get("role"), str):
            raise ReadFault(f"{where}/{index}", kind(message), "a message with `role` and `parts`")
        parts = message.get("parts")
        found += _parts(message["role"], parts if is_list(parts) else [], notes, f"{where}/{index}")
    return found


def _parts(role: str, parts: list[Any], notes: Notes, where: str) -> list[dict[str, Any]]:
    texts: list[str] = []
    calls: list[dict[str, Any]] = []
    results: list[dict[str, Any]] = []
    for number, part in enumerate(parts):
        what = part.get("type") if is_object(part) else None
        if not is_object(part):
            raise ReadFault(f"{where}/parts/{number}", kind(part), "a part, an object")
        if what == "text" and isinstance(part.get("content"), str):
            texts.append(part["content"])
        elif what == "tool_call":
            calls.append(
                _call(_string(part.get("id")) or f"{where}/{number}", part.get("name", ""), part.get("arguments"))
            )
        elif what == "tool_call_response":
            held = part.get("response", part.get("result"))
            text = held if isinstance(held, str) else msgspec.json.encode(held).decode()
            results.append({"role": "tool", "tool_call_id": _string(part.get("id")), "content": text})
        else:
            notes.drop("part of a message that is no text")
    if results and not texts and not calls:
        return results
    message: dict[str, Any] = {"role": role, "content": "\n".join(texts)}
    if calls:
        message["tool_calls"] = calls
    return [message, *results]
