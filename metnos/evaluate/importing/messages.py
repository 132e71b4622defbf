"""Messages of a chat with tool calls become moments: said, done, heard, in their order.

Law: results are paired by id, within the run. A message that belongs to nothing is counted and left out. How one data set
writes a call or a failure is told by its `Spelling`; nothing here knows a data set.

| a message | becomes |
|---|---|
| system, developer | nothing: it is counted |
| user | `Heard`; the first ones are the request |
| assistant with calls | `Act` with these calls, side by side; what it says beside them is kept |
| assistant without calls | `Act` that only says something |
| tool | the result of the call with that id |
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from metnos.evaluate.importing.model import Act, Call, Ended, Heard, Moment, Notes, ReadFault
from metnos.evaluate.importing.reading import kind
from metnos.plan.jsondata import JSONFault, is_list, is_object, loads_strict

SYSTEM = frozenset({"system", "developer"})


class Spelling(msgspec.Struct, frozen=True, kw_only=True):
    """How a data set writes what OpenAI's form leaves open."""

    call: Callable[[dict[str, Any], str], Call]
    """From one entry of `tool_calls` to a call without a result."""
    failed: Callable[[dict[str, Any], str], str | None] = lambda message, text: None  # noqa: ARG005
    """From a tool's message and its text to what the tool says went wrong; None: nothing did."""


class Chat(msgspec.Struct, frozen=True, kw_only=True):
    """What was read."""

    request: str
    moments: tuple[Moment, ...]
    end: Ended
    after: str = ""
    """What a person said behind the last answer, to which nobody replied."""


def openai_call(raw: dict[str, Any], where: str) -> Call:
    """A call as OpenAI writes it: `{"id", "function": {"name", "arguments": JSON as text}}`."""
    function = raw.get("function")
    if not is_object(function):
        raise ReadFault(f"{where}/function", kind(function), "an object with `name` and `arguments`")
    name = function.get("name")
    if type(name) is not str or not name:
        raise ReadFault(f"{where}/function/name", kind(name), "the name of a tool")
    found = raw.get("id")
    arguments = arguments_of(function.get("arguments"), f"{where}/function/arguments")
    return Call(name=name, arguments=arguments, id=found if type(found) is str else "")


def arguments_of(raw: Any, where: str) -> dict[str, Any]:
    """Arguments, as an object or as JSON text; none where there is nothing.

    Raises:
        ReadFault: They are no object.
    """
    if raw is None or raw == "":
        return {}
    if type(raw) is str:
        try:
            raw = loads_strict(raw)
        except JSONFault as fault:
            raise ReadFault(where, fault.message, "an object as JSON text", code=fault.code) from None
    if not is_object(raw):
        raise ReadFault(where, kind(raw), "an object of arguments")
    return raw


def content_of(raw: Any, where: str, notes: Notes) -> str:
    """The text of a message: a text, or the text parts of a list; other parts are counted."""
    if raw is None:
        return ""
    if type(raw) is str:
        return raw
    if not is_list(raw):
        raise ReadFault(where, kind(raw), "a text or a list of parts")
    texts: list[str] = []
    for part in raw:
        text = (part.get("text") or part.get("content")) if is_object(part) else part
        if type(text) is str:
            texts.append(text)
        else:
            notes.drop("part of a message that is no text")
    return "\n".join(texts)


def read_chat(
    messages: list[Any],
    where: str,
    notes: Notes,
    spelling: Spelling,
    *,
    usage: dict[int, dict[str, int]] | None = None,
) -> Chat:
    """Read the messages of one run.

    Args:
        messages: As the data set holds them.
        where: Place of the list.
        notes: Where is counted what is left out.
        spelling: Of the data set.
        usage: Position of an assistant's message → what it cost, and when.

    Raises:
        ReadFault: A message is not of the form, or nobody ever asked for anything.
    """
    reader = _Reader(where, notes, spelling, usage or {})
    for index, message in enumerate(messages):
        reader.take(message, index)
    return reader.chat()


class _Reader:
    def __init__(self, where: str, notes: Notes, spelling: Spelling, usage: dict[int, dict[str, int]]) -> None:
        self.where = where
        self.notes = notes
        self.spelling = spelling
        self.usage = usage
        self.asked: list[str] = []
        self.moments: list[Moment] = []
        self.open: dict[str, tuple[int, int]] = {}
        """Id of a call without a result → (moment, position in it)."""

    def take(self, message: Any, index: int) -> None:
        where = f"{self.where}/{index}"
        if not is_object(message):
            raise ReadFault(where, kind(message), "a message, an object")
        role = message.get("role")
        if isinstance(role, str) and role in SYSTEM:
            self.notes.drop("message of the system")
        elif role == "user":
            self._user(content_of(message.get("content"), f"{where}/content", self.notes))
        elif role == "assistant":
            self._assistant(message, index, where)
        elif role == "tool":
            self._tool(message, where)
        else:
            raise ReadFault(f"{where}/role", str(role)[:40], "system, user, assistant or tool")

    def _user(self, text: str) -> None:
        if not self.moments:
            self.asked.append(text)
        elif isinstance(self.moments[-1], Heard):
            self.moments[-1] = Heard(text=f"{self.moments[-1].text}\n{text}")
        else:
            self.moments.append(Heard(text=text))

    def _assistant(self, message: dict[str, Any], index: int, where: str) -> None:
        if not self.asked:
            self.notes.drop("message of the assistant before anybody asked")
            return
        text = content_of(message.get("content"), f"{where}/content", self.notes)
        raw: Any = message.get("tool_calls") or []
        if not is_list(raw):
            raise ReadFault(f"{where}/tool_calls", kind(raw), "a list of calls")
        calls: list[Call] = []
        for number, each in enumerate(raw):
            place = f"{where}/tool_calls/{number}"
            if not is_object(each):
                raise ReadFault(place, kind(each), "a call, an object")
            call = self.spelling.call(each, place)
            self.open[call.id] = (len(self.moments), number)
            calls.append(call)
        told = dict(self.usage.get(index, {}))
        at = told.pop("at", 0)
        model = message.get("model")
        act = Act(text=text, calls=tuple(calls), usage=told, at=at, model=model if type(model) is str else "")
        if not calls and self.moments and isinstance(last := self.moments[-1], Act) and not last.calls:
            self.notes.drop("two messages of the assistant joined")
            self.moments[-1] = msgspec.structs.replace(last, text=f"{last.text}\n{text}")
            return
        self.moments.append(act)

    def _tool(self, message: dict[str, Any], where: str) -> None:
        name = message.get("tool_call_id")
        place = self.open.pop(name, None) if type(name) is str else None
        if place is None:
            self.notes.drop("result of a tool that belongs to no call")
            return
        text = content_of(message.get("content"), f"{where}/content", self.notes)
        moment, number = place
        act = self.moments[moment]
        assert isinstance(act, Act)
        calls = list(act.calls)
        wrong = self.spelling.failed(message, text)
        if wrong is None:
            calls[number] = msgspec.structs.replace(calls[number], recorded=True, result=text, is_text=True)
        else:
            calls[number] = msgspec.structs.replace(calls[number], recorded=True, error=wrong)
        self.moments[moment] = msgspec.structs.replace(act, calls=tuple(calls))

    def chat(self) -> Chat:
        if not self.asked:
            raise ReadFault(self.where, "no message of a user", "somebody who asks for something")
        after = ""
        if self.moments and isinstance(last := self.moments[-1], Heard):
            after = last.text
            self.moments.pop()
            self.notes.drop("last word of the user, to which nobody replied (kept in the labels)")
        end: Ended = "cut"
        if self.moments and isinstance(last := self.moments[-1], Act) and not last.calls:
            end = "answered"
        return Chat(request="\n".join(self.asked), moments=tuple(self.moments), end=end, after=after)
