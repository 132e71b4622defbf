"""Logs of chat completions with tool calls, in OpenAI's form.

Three ways in which they are kept, one value a line (or a list in one file), mixed as one likes:

    {"messages": […], "tools": […]}                      a whole conversation, as it is kept for training
    {"request": {"messages", "tools", "model"}, "response": {"choices", "usage", "created"}}     one call of a model
    {"custom_id", "response": {"status_code", "body": {…}}}       a line of a batch; its request stands under `request`/`body`

| of the form | becomes |
|---|---|
| a conversation | one turn |
| calls whose messages go on from those of an earlier one | one turn together, cost and time of each call with its plan |
| `tools` | contracts (`contracts.foreign`), widened by what was called |
| `usage` | `tokens_in`, `tokens_out` of that plan |
| `model` | the proposer |
| `created` (seconds) | the time of that plan |
| `id`, `custom_id`, `metadata` | labels |
| a call that the service refused | counted |
| `function_call` of before tools | a call, its result the next `role: function` |
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from metnos.evaluate.importing.messages import Spelling, openai_call, read_chat
from metnos.evaluate.importing.model import Notes, ReadFault, Recorded
from metnos.evaluate.importing.reading import each, files, kind, list_of, object_of, rows
from metnos.plan.jsondata import canonical, is_list, is_object

SUFFIXES = (".jsonl", ".json")
MAX_OPEN = 10_000
"""Conversations that may still go on, at a time; the oldest is then taken as it is."""
SPELLING = Spelling(call=openai_call)
OK = 200


class _Talk(msgspec.Struct):
    """A conversation as far as it is known."""

    where: str
    messages: list[Any]
    costs: dict[int, dict[str, int]] = msgspec.field(default_factory=dict[int, "dict[str, int]"])
    """Position of an assistant's message → usage, and its time under `at`."""
    models: dict[int, str] = msgspec.field(default_factory=dict[int, str])
    """Position of an assistant's message → the model, which is not in it when it is sent again."""
    labels: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])
    key: str = ""


def read(source: Path, notes: Notes) -> Iterator[Recorded]:
    """The conversations of a file or folder."""
    for path in files(source, SUFFIXES):
        talks = _Talks()
        for value in each(rows(path, notes), notes, lambda record, where: _entry(record, where, notes)):
            if value is not None:
                talks.add(value)
                yield from _made(talks.over(), path, notes)
        yield from _made(talks.rest(), path, notes)


def _made(talks: list[_Talk], path: Path, notes: Notes) -> Iterator[Recorded]:
    for talk in talks:
        messages = [_by(talk.models.get(index, ""), message) for index, message in enumerate(talk.messages)]
        try:
            chat = read_chat(messages, f"{talk.where}/messages", notes, SPELLING, usage=talk.costs)
        except ReadFault as fault:
            notes.fault(fault)
            continue
        first = min((cost["at"] for cost in talk.costs.values() if cost.get("at")), default=0)
        place = talk.where.removeprefix(f"{path}").strip(":#/")
        labels = {**talk.labels, "after": chat.after} if chat.after else talk.labels
        yield Recorded(
            key=talk.key or f"{path.stem}-{place}",
            request=chat.request,
            moments=chat.moments,
            end=chat.end,
            at=first,
            labels=labels,
        )


def _by(model: str, message: Any) -> Any:
    return {**message, "model": model} if model and is_object(message) else message


class _Talks:
    """Conversations that may go on, found by what was said so far."""

    def __init__(self) -> None:
        self.open: dict[bytes, list[_Talk]] = {}
        """What was said in all → the conversations that said it."""
        self.count = 0

    def add(self, talk: _Talk) -> None:
        """A conversation, or one that an earlier one is the beginning of."""
        marks = _marks(talk.messages)
        for mark in reversed(marks[:-1]) if talk.costs else ():
            before = self.open.get(mark)
            if before and before[0].costs:
                _join(talk, self._pop(mark))
                break
        self.open.setdefault(marks[-1], []).append(talk)
        self.count += 1

    def _pop(self, mark: bytes) -> _Talk:
        known = self.open[mark]
        found = known.pop(0)
        if not known:
            del self.open[mark]
        self.count -= 1
        return found

    def over(self) -> list[_Talk]:
        """Those that are taken as they are, because too many are open."""
        found: list[_Talk] = []
        while self.count > MAX_OPEN:
            found.append(self._pop(next(iter(self.open))))
        return found

    def rest(self) -> list[_Talk]:
        """All that are left, in the order in which they ended."""
        return [talk for talks in self.open.values() for talk in talks]


def _join(talk: _Talk, before: _Talk) -> None:
    talk.costs = {**before.costs, **talk.costs}
    talk.models = {**before.models, **talk.models}
    talk.labels = {**talk.labels, **before.labels}
    talk.key, talk.where = before.key, before.where


def _marks(messages: list[Any]) -> list[bytes]:
    """Of each beginning of a conversation what another that says the same has too: roles, texts, calls."""
    total = hashlib.sha256()
    marks: list[bytes] = [total.digest()]
    for message in messages:
        said: Any = message
        if is_object(message):
            told = message.get("tool_calls")
            calls = [_called_as(call) for call in told] if is_list(told) else []
            said = [message.get("role"), message.get("content") or "", calls, message.get("tool_call_id") or ""]
        total.update(canonical(said))
        marks.append(total.digest())
    return marks


def _called_as(call: Any) -> Any:
    return [call.get("id"), call.get("function")] if is_object(call) else call


def _entry(record: dict[str, Any], where: str, notes: Notes) -> _Talk | None:
    if "messages" in record:
        for described in list_of(record, "tools", where, missing=True):
            notes.describe(described)
        messages = _with_tools(list_of(record, "messages", where))
        return _Talk(where, messages, labels=_labels(record), key=_key(record))
    if "request" not in record and "body" not in record:
        raise ReadFault(where, "neither `messages` nor `request`", "a conversation, or a request with its response")
    request = object_of(record, "request", where) if "request" in record else record
    request = object_of(request, "body", f"{where}/request") if "body" in request else request
    response = object_of(record, "response", where, missing=True)
    if response.get("status_code", OK) != OK or record.get("error"):
        notes.drop("call of a model that the service refused")
        return None
    answer = object_of(response, "body", f"{where}/response") if "body" in response else response
    return _called(record, request, answer, where, notes)


def _called(
    record: dict[str, Any], request: dict[str, Any], answer: dict[str, Any], where: str, notes: Notes
) -> _Talk | None:
    for described in list_of(request, "tools", f"{where}/request", missing=True):
        notes.describe(described)
    messages = _with_tools(list_of(request, "messages", f"{where}/request"))
    choices = list_of(answer, "choices", f"{where}/response")
    if len(choices) > 1:
        notes.drop("further choice of one answer", len(choices) - 1)
    if not choices:
        notes.drop("answer of a model without a choice")
        return None
    choice: Any = choices[0]
    message = choice.get("message") if is_object(choice) else None
    if not is_object(message):
        raise ReadFault(f"{where}/response/choices/0/message", kind(message), "a message, an object")
    model = answer.get("model") or request.get("model") or ""
    said = {"role": "assistant", **message}
    cost = _cost(object_of(answer, "usage", f"{where}/response", missing=True), answer.get("created"))
    return _Talk(
        where,
        [*messages, *_with_tools([said])],
        costs={len(messages): cost},
        models={len(messages): model if isinstance(model, str) else ""},
        labels=_labels(record),
        key=_key(record),
    )


def _cost(usage: dict[str, Any], created: Any) -> dict[str, int]:
    cost: dict[str, int] = {}
    for name, word in (("tokens_in", "prompt_tokens"), ("tokens_out", "completion_tokens")):
        number = usage.get(word)
        if type(number) is int and number >= 0:
            cost[name] = number
    if type(created) in (int, float) and created > 0:
        cost["at"] = int(created * 1_000_000)
    return cost


def _with_tools(messages: list[Any]) -> list[Any]:
    """Messages with the calls of before tools (`function_call`, `role: function`) written as calls of tools."""
    found: list[Any] = []
    open_id = ""
    for index, message in enumerate(messages):
        called = message.get("function_call") if is_object(message) else None
        if is_object(called):
            open_id = f"function-{index}"
            call = {"id": open_id, "type": "function", "function": called}
            message = {**{k: v for k, v in message.items() if k != "function_call"}, "tool_calls": [call]}
        elif is_object(message) and message.get("role") == "function":
            message = {**message, "role": "tool", "tool_call_id": open_id}
        found.append(message)
    return found


def _labels(record: dict[str, Any]) -> dict[str, Any]:
    told = record.get("metadata")
    labels: dict[str, Any] = dict(told) if is_object(told) else {}
    for name in ("id", "custom_id", "group", "trial", "reward"):
        value = record.get(name)
        if isinstance(value, str | int | float) and value != "":
            labels[name] = value
    if is_list(record.get("tags")):
        labels["tags"] = record["tags"]
    return labels


def _key(record: dict[str, Any]) -> str:
    found = record.get("id") or record.get("custom_id")
    return found if isinstance(found, str) else ""
