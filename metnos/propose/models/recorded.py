"""A model's calls on paper: each is written down once, and played back by the digest of what was asked.

    model = recorded("tape", Path("tape.jsonl"), of=real)      # asks `real` for what is not there, and writes it down
    model = recorded("tape", Path("tape.jsonl"))               # plays back; what is not there is `model-unrecorded`

Law: the key of a call is all that its answer depends on: the messages, the limit, the schema; in a session the prefix
and everything said since. The first line says what the file is. A file holds what people said, and is its owner's
alone. A line that a killed writer left half is cut off by the next one; any other line that is none is a fault.
Faults are not recorded. Usage is that of the recording.
"""

from __future__ import annotations

import fcntl
import os
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, TypeGuard, cast

import msgspec

from metnos import plainfile
from metnos.plan.jsondata import digest
from metnos.propose.models.ports import ChatModel, Completion, Decoded, DecodingModel, Message, ModelFault, Stop, Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from pathlib import Path

    from metnos.propose.models.ports import Session

FORMAT: Final = "metnos.recording/1"
MOST_BYTES: Final = 512 * 1024 * 1024
Op = tuple[str, str]
"""`ask`, `feed` or `wrote`, and the text."""


class _Head(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    format: str
    decodes: bool = False


class _Line(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    key: str
    said: Any
    usage: Usage


def recorded(name: str, path: Path, *, of: ChatModel | None = None) -> RecordedModel:
    """The recording in `path`, which decodes if what it was made of does.

    Raises:
        ModelFault: `model-missing`: there is no such file and nothing to record, or it is no recording.
    """
    tape = _Tape(path, decodes=None if of is None else _decodes(of))
    return RecordedDecodingModel(name, tape, of) if tape.decodes else RecordedModel(name, tape, of)


class _Tape:
    """The file. Safe between threads, and between processes that append to it."""

    def __init__(self, path: Path, *, decodes: bool | None) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._held: dict[str, _Line] = {}
        self.decodes = bool(decodes)
        if decodes is not None:
            self._begin(decodes=decodes)
        self._load()

    def find(self, key: str) -> _Line | None:
        with self._lock:
            return self._held.get(key)

    def add(self, line: _Line) -> _Line:
        with self._lock, self._open() as handle:
            os.write(handle, msgspec.json.encode(line) + b"\n")
            return self._held.setdefault(line.key, line)

    def _begin(self, *, decodes: bool) -> None:
        with self._open() as handle:
            size = os.fstat(handle).st_size
            if size == 0:
                os.write(handle, msgspec.json.encode(_Head(format=FORMAT, decodes=decodes)) + b"\n")
            elif os.pread(handle, 1, size - 1) != b"\n":
                whole = plainfile.read(self._path, MOST_BYTES).rfind(b"\n") + 1
                os.ftruncate(handle, whole)

    @contextmanager
    def _open(self) -> Generator[int]:
        """Its descriptor, for this writer alone."""
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        try:
            handle = os.open(self._path, flags, 0o600)
        except OSError as fault:
            raise self._missing(fault.strerror or str(fault), "name a file that can be written") from fault
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield handle
        finally:
            os.close(handle)

    def _load(self) -> None:
        try:
            lines = plainfile.read(self._path, MOST_BYTES).split(b"\n")
        except OSError as fault:
            raise self._missing(
                fault.strerror or str(fault), "record it: `of` names the model that is asked"
            ) from fault
        number = 1
        try:
            head = msgspec.json.decode(lines[0], type=_Head)
            if head.format != FORMAT:
                raise self._missing(f"it is of the format {head.format[:40]!r}", f"this version reads {FORMAT}")
            for text in lines[1:-1]:  # behind the last line end: nothing, or half a line
                number += 1
                line = msgspec.json.decode(text, type=_Line)
                self._held.setdefault(line.key, line)
        except (msgspec.MsgspecError, UnicodeDecodeError) as fault:
            raise self._missing(f"line {number} is no record", "record it anew") from fault
        self.decodes = head.decodes

    def _missing(self, what: str, hint: str) -> ModelFault:
        return ModelFault("model-missing", f"{self._path}: {what}", hint)


class RecordedModel:
    """A `ChatModel`."""

    def __init__(self, name: str, tape: _Tape, of: ChatModel | None) -> None:
        self._name = name
        self.tape = tape
        self.of = of

    @property
    def name(self) -> str:
        """As the configuration calls it."""
        return self._name

    def complete(
        self, messages: Sequence[Message], *, most_tokens: int, stop: Stop, schema: dict[str, Any] | None = None
    ) -> Completion:
        """As it was recorded, or as the model says that it is a recording of.

        Raises:
            ModelFault: `model-unrecorded`, or of that model.
        """
        stop.look()
        asked = {"messages": _plain(messages), "most": most_tokens, "schema": schema}

        def ask() -> tuple[Any, Usage]:
            assert self.of is not None
            said = self.of.complete(messages, most_tokens=most_tokens, stop=stop, schema=schema)
            return {"text": said.text, "model": said.model, "finish": said.finish}, said.usage

        line = self.look_up("complete", asked, ask)
        return msgspec.convert({**line.said, "usage": msgspec.to_builtins(line.usage)}, Completion)

    def look_up(self, call: str, asked: dict[str, Any], ask: Callable[[], tuple[Any, Usage]]) -> _Line:
        """The record of a call, made now if there is somebody to ask."""
        key = digest({"call": call, **asked})
        found = self.tape.find(key)
        if found is not None:
            return found
        if self.of is None:
            hint = "record it: `of` names the model that is asked"
            raise ModelFault("model-unrecorded", f"{self._name} holds no such call ({call}, {key[:19]})", hint)
        said, usage = ask()
        return self.tape.add(_Line(key=key, said=said, usage=usage))

    def close(self) -> None:
        """Nothing: the model that it records is the registry's."""


class RecordedDecodingModel(RecordedModel):
    """A `DecodingModel`."""

    def session(self, prefix: Sequence[Message], *, stop: Stop) -> Session:
        """Begin behind `prefix`; the model itself is asked for a session only when something is not recorded."""
        return _Session(self, tuple(prefix), stop)


class _Session:
    """What was said so far is a list; a state to come back to is a length of it."""

    def __init__(self, model: RecordedModel, prefix: tuple[Message, ...], stop: Stop) -> None:
        self._model = model
        self._prefix = prefix
        self._stop = stop
        self._said: list[Op] = []
        self._usage = Usage()
        self._live: _Live | None = None

    @property
    def usage(self) -> Usage:
        return self._usage

    def ask(self, text: str) -> None:
        self._said.append(("ask", text))

    def feed(self, text: str) -> None:
        self._said.append(("feed", text))

    def mark(self) -> int:
        return len(self._said)

    def rewind(self, mark: int) -> None:
        del self._said[mark:]

    def choose(self, texts: Sequence[str]) -> tuple[float, ...]:
        said = self._call("choose", {"texts": list(texts)}, lambda live: list(live.choose(texts)))
        return msgspec.convert(said, tuple[float, ...])

    def decode(self, grammar: str, *, most_tokens: int) -> Decoded:
        def write(live: Session) -> Any:
            return msgspec.to_builtins(live.decode(grammar, most_tokens=most_tokens))

        said = self._call("decode", {"grammar": grammar, "most": most_tokens}, write)
        decoded = msgspec.convert(said, Decoded)
        self._said.append(("wrote", decoded.text))
        return decoded

    def _call(self, call: str, more: dict[str, Any], work: Callable[[Session], Any]) -> Any:
        self._stop.look()

        def ask() -> tuple[Any, Usage]:
            if self._live is None:
                assert self._model.of is not None
                self._live = _Live(cast("DecodingModel", self._model.of).session(self._prefix, stop=self._stop))
            return self._live.do(self._said, work, writes=call == "decode")

        asked = {"prefix": _plain(self._prefix), "said": [list(one) for one in self._said], **more}
        line = self._model.look_up(call, asked, ask)
        self._usage += line.usage
        return line.said

    def close(self) -> None:
        if self._live is not None:
            self._live.session.close()


class _Live:
    """A session of the real model, brought to where the recorded one is before it is asked."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._said: list[Op] = []
        self._marks = [session.mark()]
        self._told = Usage()

    def do(self, said: list[Op], work: Callable[[Session], Any], *, writes: bool) -> tuple[Any, Usage]:
        self._follow(said)
        found = work(self.session)
        if writes:
            self._note(("wrote", found["text"]))
        usage = self.session.usage
        spent = Usage(**{name: getattr(usage, name) - getattr(self._told, name) for name in Usage.__struct_fields__})
        self._told = usage
        return found, spent

    def _follow(self, said: list[Op]) -> None:
        same = 0
        while same < min(len(said), len(self._said)) and said[same] == self._said[same]:
            same += 1
        if same < len(self._said):
            self.session.rewind(self._marks[same])
            del self._said[same:], self._marks[same + 1 :]
        for op in said[same:]:
            (self.session.ask if op[0] == "ask" else self.session.feed)(op[1])
            self._note(op)

    def _note(self, op: Op) -> None:
        self._said.append(op)
        self._marks.append(self.session.mark())


def _plain(messages: Sequence[Message]) -> list[Any]:
    return [[one.role, one.content] for one in messages]


def _decodes(model: ChatModel) -> TypeGuard[DecodingModel]:
    return hasattr(model, "session")
