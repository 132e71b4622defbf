"""Calls written down once and played back, of chats and of sessions; what a file that is none is told."""

from __future__ import annotations

import json
import stat
from typing import TYPE_CHECKING, Any

import pytest

from metnos.propose.models.config import read_models
from metnos.propose.models.ports import Decoded, Message, ModelFault, Stop, Usage
from metnos.propose.models.recorded import RecordedModel, recorded
from metnos.propose.models.registry import Registry, decodes
from metnos.propose.models.scripted import ScriptedModel

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

ASKED = [Message("system", "s"), Message("user", "u")]


class Echo(ScriptedModel):
    """A model that decodes: it writes how long what came before is, and remembers what it was told to do."""

    def __init__(self) -> None:
        super().__init__("echo")
        self.sessions: list[EchoSession] = []

    def session(self, prefix: Sequence[Message], *, stop: Stop) -> Any:
        self.sessions.append(EchoSession())
        return self.sessions[-1]


class EchoSession:
    def __init__(self) -> None:
        self.text = ""
        self.done: list[str] = []
        self.usage = Usage()

    def ask(self, text: str) -> None:
        self._add("ask", f"<{text}>")

    def feed(self, text: str) -> None:
        self._add("feed", text)

    def _add(self, what: str, text: str) -> None:
        self.done.append(what)
        self.text += text
        self.usage += Usage(tokens_in=len(text))

    def mark(self) -> int:
        return len(self.text)

    def rewind(self, mark: int) -> None:
        self.done.append("rewind")
        self.text = self.text[:mark]

    def choose(self, texts: Sequence[str]) -> tuple[float, ...]:
        self.done.append("choose")
        return tuple(-float(len(self.text + one)) for one in texts)

    def decode(self, grammar: str, *, most_tokens: int) -> Decoded:
        self.done.append("decode")
        written = f"{grammar}{len(self.text)};"
        self.text += written
        self.usage += Usage(calls=1, tokens_out=1)
        return Decoded(text=written, tokens=1, surprise=0.5)

    def close(self) -> None:
        self.done.append("close")


def complete(model: RecordedModel, text: str = "u", most: int = 5, schema: Any = None) -> str:
    asked = [Message("system", "s"), Message("user", text)]
    return model.complete(asked, most_tokens=most, stop=Stop(), schema=schema).text


def test_what_was_asked_once_is_played_back(tmp_path: Path) -> None:
    path = tmp_path / "tape.jsonl"
    inner = ScriptedModel("inner", "one", "two three", ModelFault("model-limited", "no"), "four")
    tape = recorded("tape", path, of=inner)
    assert [complete(tape), complete(tape, "other"), complete(tape)] == ["one", "two three", "one"]
    assert len(inner.calls) == 2
    with pytest.raises(ModelFault, match="no"):  # a fault is not written down
        complete(tape, "third")
    assert complete(tape, "third") == "four"
    again = recorded("tape", path)
    said = again.complete(ASKED, most_tokens=5, stop=Stop())
    assert (said.text, said.model, said.usage) == ("one", "inner", Usage(calls=1, tokens_in=2, tokens_out=1))
    assert complete(again, "third") == "four"
    assert again.name == "tape"
    assert not decodes(again)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("other", [{"text": "U"}, {"most": 4}, {"schema": {"type": "object"}}])
def test_another_call_is_another_call(tmp_path: Path, other: dict[str, Any]) -> None:
    complete(recorded("tape", tmp_path / "t", of=ScriptedModel("inner", "one")))
    again = recorded("tape", tmp_path / "t")
    assert complete(again) == "one"
    with pytest.raises(ModelFault, match="holds no such call") as caught:
        complete(again, **other)
    assert (caught.value.code, caught.value.retryable) == ("model-unrecorded", False)


def write(session: Any) -> list[Any]:
    session.ask("go")
    start = session.mark()
    found: list[Any] = [session.decode("a", most_tokens=3).text]
    session.feed("x")
    found += [session.choose(["y", "no"]), session.decode("b", most_tokens=3).text]
    session.rewind(start)
    found += [session.decode("c", most_tokens=3).text, session.usage]
    session.close()
    return found


def test_a_session_is_played_back_without_the_model(tmp_path: Path) -> None:
    direct = write(EchoSession())
    echo = Echo()
    tape = recorded("tape", tmp_path / "t", of=echo)
    assert decodes(tape)
    assert write(tape.session(ASKED, stop=Stop())) == direct
    assert write(tape.session(ASKED, stop=Stop())) == direct
    [one] = echo.sessions  # the second time nobody was asked
    assert one.done == ["ask", "decode", "feed", "choose", "decode", "rewind", "decode", "close"]
    again = recorded("tape", tmp_path / "t")
    assert decodes(again)
    assert write(again.session(ASKED, stop=Stop())) == direct
    with pytest.raises(ModelFault) as caught:
        write(again.session(ASKED[:1], stop=Stop()))
    assert caught.value.code == "model-unrecorded"


def test_a_session_that_leaves_the_recording_goes_on_from_there(tmp_path: Path) -> None:
    write(recorded("tape", tmp_path / "t", of=Echo()).session(ASKED, stop=Stop()))
    echo = Echo()
    session: Any = recorded("tape", tmp_path / "t", of=echo).session(ASKED, stop=Stop())
    session.ask("go")
    assert session.decode("a", most_tokens=3).text == "a4;"
    assert echo.sessions == []
    assert session.decode("z", most_tokens=3).text == "z7;"
    assert echo.sessions[0].done == ["ask", "feed", "decode"]


def test_a_call_that_is_over_is_not_played(tmp_path: Path) -> None:
    tape = recorded("tape", tmp_path / "t", of=Echo())
    stop = Stop()
    session: Any = tape.session(ASKED, stop=stop)
    stop.cancel()
    with pytest.raises(ModelFault, match="cancelled"):
        session.choose(["a"])
    with pytest.raises(ModelFault, match="cancelled"):
        tape.complete(ASKED, most_tokens=1, stop=stop)


def test_half_a_line_is_cut_off_by_the_next_writer(tmp_path: Path) -> None:
    path = tmp_path / "t"
    complete(recorded("tape", path, of=ScriptedModel("inner", "one")))
    with path.open("ab") as file:
        file.write(b'{"key": "sha')
    assert complete(recorded("tape", path)) == "one"
    tape = recorded("tape", path, of=ScriptedModel("inner", "two"))
    assert complete(tape, "other") == "two"
    assert [complete(recorded("t", path)), complete(recorded("t", path), "other")] == ["one", "two"]


def test_two_that_record_at_once(tmp_path: Path) -> None:
    one = recorded("a", tmp_path / "t", of=ScriptedModel("inner", "one"))
    two = recorded("b", tmp_path / "t", of=ScriptedModel("inner", "two"))
    assert (complete(one), complete(two)) == ("one", "two")
    assert complete(recorded("c", tmp_path / "t")) == "one"  # the first that was written


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "line 1"),
        ("{}\n", "line 1"),
        ('{"format": "metnos.recording/9"}\n', "recording/9"),
        ('{"format": "metnos.recording/1"}\n3\n', "line 2"),
        ('{"format": "metnos.recording/1"}\n{"key": "k", "said": 1}\n', "line 2"),
        ('{"format": "metnos.recording/1"}\n\xff\n', "line 2"),
    ],
)
def test_a_file_that_is_no_recording(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "t").write_bytes(text.encode("latin-1"))
    with pytest.raises(ModelFault, match=said) as caught:
        recorded("tape", tmp_path / "t")
    assert caught.value.code == "model-missing"


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(ModelFault, match="No such file"):
        recorded("tape", tmp_path / "t")
    with pytest.raises(ModelFault, match="No such file"):
        recorded("tape", tmp_path / "none" / "t", of=ScriptedModel("inner"))


def test_by_configuration(tmp_path: Path) -> None:
    (tmp_path / "said.json").write_text(json.dumps(["one"]))
    (tmp_path / "models.toml").write_text(
        "[models.real]\nadapter='scripted'\nfile='said.json'\n"
        "[models.tape]\nadapter='recorded'\nfile='tape.jsonl'\nof='real'\n"
        "[models.played]\nadapter='recorded'\nfile='tape.jsonl'\n"
    )
    with Registry(read_models(tmp_path), tmp_path) as registry:
        for name in ("tape", "tape", "played"):
            said = registry.model(name).complete(ASKED, most_tokens=5, stop=Stop())
            assert said.text == "one"
