"""Slash commands: a table, no understanding, no proposal; what does something is a turn, what tells something is none."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from metnos.drivers.cachedoor import NoFeedback
from metnos.drivers.slash import WORDS, CommandFault, command_of
from metnos.drivers.undoing import NothingToUndo
from metnos.record.faults import RecordFault
from metnos.text import message
from tests.support.hosted import plan, step

if TYPE_CHECKING:
    from metnos import Engine
    from tests.engine.conftest import Opens

WRITES = plan(step("write_files", path="new.txt", content="x"))
READS = plan(step("read_files", path="a.txt"), text="${step1.count}")


def never(*_asked: Any) -> Any:
    raise AssertionError("a slash command reached the proposer")


def yes(_asked: Any) -> bool:
    return True


@pytest.mark.parametrize(
    "text",
    ["/etc/passwd", "/tmp/x anschauen", "/tmp/", "/", "//", "/ help", "/a.txt", "/help.", "/help/", "/x1", "list /tmp", ""],
)  # fmt: skip
def test_a_path_is_no_command(text: str) -> None:
    assert command_of(text) is None


@pytest.mark.parametrize(
    ("text", "name", "argument", "language"),
    [
        ("/help", "help", "", None),
        ("  /HELP ", "help", "", None),
        ("/aiuto", "help", "", "it"),
        ("/esempi pdf", "examples", "pdf", "it"),
        ("/undo\tabc-1", "undo", "abc-1", None),
        ("/annulla", "undo", "", "it"),
    ],
)
def test_a_word_is_found_in_the_table(text: str, name: str, argument: str, language: str | None) -> None:
    found = command_of(text)
    assert found is not None
    assert (found.word.name, found.argument, found.language) == (name, argument, language)


@pytest.mark.parametrize(
    ("text", "code", "hint"),
    [
        ("/halp", "unknown-command", "`/help`"),
        ("/anulla tutto", "unknown-command", "`/annulla`"),
        ("/tmp", "unknown-command", "a path ends in a slash"),
        ("/help me", "command-misused", "say /help"),
        ("/undo one two", "command-misused", "say /undo [TURN]"),
    ],
)
def test_what_cannot_be_obeyed_is_refused_and_never_proposed(opens: Opens, text: str, code: str, hint: str) -> None:
    engine = opens(proposer=never, memory=True)
    for say in (engine.run_sync, engine.plan_sync, engine.cache.explain, engine.language_of):
        if say != engine.language_of or code == "unknown-command":
            with pytest.raises(CommandFault) as caught:
                say(text)
            assert caught.value.code == code
            assert hint in caught.value.hint
    assert engine.turns() == ()


@pytest.mark.parametrize("language", ["en", "it"])
def test_what_tells_something_is_told_without_a_turn(opens: Opens, language: str) -> None:
    engine = opens(proposer=never, memory=True, language=language)
    told = engine.run_sync("/help")
    assert (told.turn, told.outcome, told.source, told.entry) == ("", "success", "command", "/help")
    for word in WORDS.values():
        assert f"/{word.also.get(language, word.name)}" in told.answer
        assert message(f"slash.{word.name}", language) in told.answer
    assert "pdf" in engine.run_sync("/examples pdf").answer.lower()
    assert engine.run_sync("/examples nothingsaysthis").answer == message("slash.none", language)
    assert "read_files" in engine.run_sync("/tools").data["tools"]
    assert engine.run_sync("/cache").data["rows"] == 0
    assert [event.result.answer for event in engine.stream_sync("/help") if hasattr(event, "result")] == [told.answer]
    assert engine.turns() == ()
    with pytest.raises(ValueError, match="/help opens no turn"):
        engine.open_machine("/help")


def test_a_language_that_there_is_not_is_refused(engine: Engine) -> None:
    with pytest.raises(ValueError, match="no language"):
        engine.run_sync("/help", language="xx")


def test_the_word_names_the_language(opens: Opens) -> None:
    engine = opens(memory=True)
    assert message("slash.undo", "it") in engine.run_sync("/aiuto").answer
    assert message("slash.undo", "en") in engine.run_sync("/help").answer
    assert (engine.language_of("/adesso"), engine.language_of("/now")) == ("it", "en")
    assert engine.run_sync("/adesso").language == "it"


def test_a_plan_is_found_before_the_caches_and_recorded(engine: Engine) -> None:
    found = engine.run_sync("/now")
    assert (found.outcome, found.source, found.entry) == ("success", "command", "/now")
    assert re.match(r"\d{4}-\d\d-\d\d, ", found.answer)
    view = engine.read_turn(found.turn)
    assert (view.plan_source, view.entry, view.request) == ("command", "/now", "/now")
    assert engine.replay(found.turn).status == "identical"
    assert engine.cache.entries() == []
    explained = engine.cache.explain("/now")
    assert (explained.served, explained.entry) == ("command", "/now")
    with pytest.raises(NoFeedback):
        engine.run_sync("/good")
    planned: Any = engine.plan_sync("/now")
    assert (planned.source, engine.run_sync(planned).outcome) == ("command", "success")


def test_an_undo_asks_and_is_recorded_and_undone_itself(opens: Opens, folder: Path) -> None:
    engine = opens(proposer=never)
    assert engine.run_sync(plan=WRITES, approve=yes).outcome == "success"
    asked = engine.run_sync("/undo")
    assert (asked.status, [need.kind for need in asked.needs]) == ("suspended", ["approval"])
    assert (folder / "new.txt").exists()
    done = engine.resume_sync(asked.turn, approve=[asked.needs[0].id])
    assert (done.outcome, done.source, done.entry) == ("success", "command", "/undo")
    assert not (folder / "new.txt").exists()
    assert engine.replay(asked.turn).status == "identical"
    assert engine.run_sync(f"/annulla {asked.turn}", approve=yes).outcome == "success"
    assert (folder / "new.txt").read_text() == "x"
    engine.run_sync("/now")
    with pytest.raises(NothingToUndo):
        engine.run_sync("/undo")


def test_what_does_something_is_not_planned_nor_given_inputs(engine: Engine) -> None:
    for misuse in (lambda: engine.plan_sync("/undo"), lambda: engine.plan_sync("/help"),
                   lambda: engine.run_sync("/now", inputs={"actions1": []})):  # fmt: skip
        with pytest.raises(CommandFault) as caught:
            misuse()
        assert caught.value.code == "command-misused"


def test_a_rejected_plan_of_a_word_is_not_proposed_anew(opens: Opens) -> None:
    engine = opens(proposer=never, memory=True, shipped=False)
    result = engine.run_sync("/now")
    assert (result.outcome, result.code) == ("plan_rejected", "unknown-tool")


def test_feedback_is_about_the_last_turn(opens: Opens) -> None:
    engine = opens(proposer=lambda *_: READS, memory=True)
    turn = engine.run_sync("read the first line of the file a.txt")
    assert turn.source == "model"
    last = engine.run_sync("/last").data
    assert (last["turn"], last["outcome"], last["answer"]) == (turn.turn, "success", turn.answer)
    assert engine.run_sync("/good").data["turn"] == turn.turn
    assert engine.run_sync("/male").answer == message("feedback.bad", "it")
    assert engine.cache.explain("read the first line of the file a.txt").reason == "negative-feedback"
    for verdict in ("Good", "", None):
        with pytest.raises(ValueError, match="no verdict"):
            engine.cache.feedback(turn.turn, verdict)  # type: ignore[arg-type]


def test_a_word_is_of_no_turn_of_another_owner(opens: Opens) -> None:
    anna = opens(proposer=lambda *_: WRITES, approve=yes, owner="anna")
    turn = anna.run_sync("write new.txt")
    assert turn.outcome == "success", turn
    bruno = opens(approve=yes, owner="bruno")
    for word in ("/last", "/good", "/bad", "/undo"):
        for said in (word, f"{word} {turn.turn}", f"{word} {turn.turn[:12]}"):
            with pytest.raises((RecordFault, CommandFault)) as caught:
                bruno.run_sync(said)
            assert caught.value.code in ("turn-missing", "command-misused"), said
    now = bruno.run_sync("/now")
    assert (bruno.run_sync("/last").data["turn"], anna.run_sync("/last").data["turn"]) == (now.turn, turn.turn)
    assert anna.run_sync(f"/undo {turn.turn}").outcome == "success"


def test_feedback_and_undo_are_of_the_engines_own_turns(opens: Opens) -> None:
    anna = opens(proposer=lambda *_: WRITES, approve=yes, owner="anna")
    turn = anna.run_sync("write new.txt").turn
    bruno = opens(approve=yes, owner="bruno")
    for act in (bruno.undo_sync, lambda turn: bruno.cache.feedback(turn, "bad"), bruno.stream_undo_sync):
        said: list[str] = []
        for one in (turn, "20200101-000000-00000000"):
            with pytest.raises(RecordFault) as caught:
                list(act(one))  # type: ignore[call-overload]
            assert caught.value.code == "turn-missing"
            said.append(str(caught.value).replace(one, "…"))
        assert said[0] == said[1]
    now = bruno.run_sync("/now")
    with pytest.raises(NothingToUndo) as nothing:
        bruno.undo_sync(now.turn)
    assert turn not in nothing.value.hint
    assert anna.cache.feedback(turn, "good")
    assert anna.undo_sync(turn).outcome == "success"


def test_an_old_turn_of_another_owner_is_missing_like_one_that_never_was(
    opens: Opens, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn = opens(proposer=lambda *_: WRITES, approve=yes, owner="anna").run_sync("write new.txt").turn
    monkeypatch.setattr("metnos.drivers.offline.PREFIX_SEARCH", 1)
    bruno = opens(owner="bruno")
    bruno.run_sync("/now")
    with pytest.raises(RecordFault) as other:
        bruno.run_sync(f"/good {turn}")
    with pytest.raises(RecordFault) as never_was:
        bruno.run_sync("/good 20200101-000000-00000000")
    assert (other.value.code, never_was.value.code) == ("turn-missing", "turn-missing")
    assert str(other.value).replace(turn, "…") == str(never_was.value).replace("20200101-000000-00000000", "…")
    opens(owner="anna").run_sync(f"/good {turn}")


def test_the_page_has_a_row_for_each_word(root: Path) -> None:
    part = (root / "docs" / "caching.md").read_text("utf-8").partition("## Slash commands")[2].partition("\n## ")[0]
    rows = "\n".join(line for line in part.splitlines() if line.startswith("| `/"))
    named = set(re.findall(r"`/(\w+)", rows))
    assert named == {spelled for word in WORDS.values() for spelled in (word.name, *word.also.values())}
