"""A proposer that is not sure: its plan is seen first, by a host, by a later process, or by one behind a killed one."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING, Any

import pytest

from metnos.drivers.events import NeedEvent, PlanAcceptedEvent
from metnos.drivers.results import Planned
from metnos.drivers.turns import NoSuchAnswer
from metnos.propose.model import Proposal
from metnos.record.connection import load_driver
from metnos.record.replay import fold
from metnos.testing import ScriptedProposer
from metnos.turn.inputs import DialogAnswered, PlanProposed
from tests.support.hosted import plan, step

if TYPE_CHECKING:
    from pathlib import Path

    from metnos import Engine
    from tests.engine.conftest import Opens

SAYING = "fold the laundry 7 times"
GUESSED = Proposal(plan(step("add_one", n=7), data="${step1.n}"), model="small", unsure=True)
YES, NO = {"go_on": "yes"}, {"go_on": "no"}


def test_yes_runs_it_and_it_is_learned_and_no_question_is_asked_again(opens: Opens) -> None:
    asked: list[Any] = []

    def answer(dialog: Any) -> dict[str, str]:
        asked.append(dialog)
        return YES

    engine = opens(proposer=ScriptedProposer(GUESSED), answer=answer)
    result = engine.run_sync(SAYING)
    assert (result.outcome, result.data, len(asked), asked[0].guess.steps[0].tool) == ("success", 8, 1, "add_one")
    again = engine.run_sync(SAYING)
    assert (again.outcome, again.source, len(asked)) == ("success", "cache", 1)
    assert engine.replay(result.turn).status == "identical"
    assert [one.unsure for one in engine.read_turn(result.turn).proposals] == [True]
    told = {type(item): item for item in fold(engine.parts.journal.load(result.turn))}
    assert (told[PlanProposed].unsure, told[DialogAnswered].by) == (True, "local")


def test_no_ends_it_in_words_and_teaches_nothing(opens: Opens) -> None:
    engine = opens(proposer=ScriptedProposer(GUESSED, GUESSED), answer=lambda _dialog: NO)
    result = engine.run_sync(SAYING)
    assert (result.outcome, result.code, result.error_class) == ("not_understood", "plan-declined", "missing-input")
    assert result.answer.startswith("Not what you meant, you said: nothing of that plan was run.")
    assert [one.status for one in result.steps] == ["waiting"]
    assert engine.run_sync(SAYING).source == "model"
    assert engine.replay(result.turn).status == "identical"


def waiting(engine: Engine) -> str:
    """A turn that nobody could be asked about."""
    result = engine.run_sync(SAYING)
    assert (result.status, result.outcome, [one.status for one in result.steps]) == ("suspended", "", ["waiting"])
    (need,) = result.needs
    assert need.question.splitlines() == [
        "I am not sure that I understood you. This is what I would do:",
        "  1. Adds one (add_one): n 7",
        "  2. Tell you: what step 1 gives (n)",
        "Shall I go on?",
    ]
    assert ([one.name for one in need.options], need.plan) == (["yes", "no"], 1)
    assert need.digest.startswith("sha256:")
    return result.turn


@pytest.mark.parametrize("settings", [{}, {"channel": "api"}, {"channel": "scheduled"}])
def test_where_nobody_can_be_asked_it_waits_and_is_answered_by_a_later_process(
    opens: Opens, settings: dict[str, Any]
) -> None:
    first = opens(proposer=ScriptedProposer(GUESSED), **settings)
    turn = waiting(first)
    first.close()
    later = opens(**settings)
    assert later.resume_sync(turn).status == "suspended"
    for given, code in (({"go_on": "perhaps"}, "answer-misfit"), ({"answer": "yes"}, "answer-misfit")):
        with pytest.raises(NoSuchAnswer) as raised:
            later.resume_sync(turn, answers=given)
        assert raised.value.code == code
    assert later.read_turn(turn).waiting == [f"{turn}.dialog1"]
    assert later.resume_sync(turn, answers=YES).data == 8
    assert later.replay(turn).status == "identical"
    with pytest.raises(Exception, match=r"turn-closed|is closed"):
        later.resume_sync(turn, answers=NO)


def test_to_allow_effects_beforehand_is_no_answer_and_an_answer_allows_no_effect(opens: Opens, folder: Path) -> None:
    made = folder / "new.txt"
    said = 'kindly put "x" where new.txt is to write it'
    written = Proposal(plan(step("write_files", path="new.txt", content="x")), unsure=True)
    engine = opens(proposer=ScriptedProposer(written))
    result = engine.run_sync(said, assume_yes=True, cache="off")
    assert [(need.kind, made.exists()) for need in result.needs] == [("dialog", False)]
    assert "this makes something new" in result.needs[0].question
    assert engine.resume_sync(result.turn, answers=YES).outcome == "success"
    made.unlink()
    result = opens(proposer=ScriptedProposer(written), answer=lambda _dialog: YES).run_sync(said, cache="off")
    assert [(need.kind, made.exists()) for need in result.needs] == [("approval", False)]


def test_a_stranger_answers_nothing(opens: Opens, home: Path) -> None:
    turn = waiting(opens(proposer=ScriptedProposer(GUESSED)))
    stranger = opens(owner="eve", answer=lambda _dialog: YES, approve=lambda _asked: True)
    with pytest.raises(NoSuchAnswer) as raised:
        stranger.resume_sync(turn, answers=YES)
    assert raised.value.code == "approval-stranger"
    assert stranger.resume_sync(turn).status == "suspended"
    connection = load_driver().connect(str(home / "metnos.db"))
    assert connection.execute("SELECT state FROM dialog WHERE turn = ?", (turn,)).fetchall() == [("asked",)]
    connection.close()
    assert opens().resume_sync(turn, answers=NO).outcome == "not_understood"


KILLED = """
    import os, signal, sys
    from metnos import Engine
    from metnos.propose.model import Proposal
    from tests.support import hosted
    made = Proposal(hosted.plan(hosted.step("add_one", n=7), data="${step1.n}"), unsure=True)
    def answer(dialog):
        os.kill(os.getpid(), signal.SIGKILL)
    with Engine.open(home=sys.argv[1], folder=sys.argv[2], executors=hosted.ALL, zone="UTC",
                     proposer=lambda *_asked: made, answer=answer) as engine:
        engine.run_sync("fold the laundry 7 times")
"""


@pytest.mark.kill
@pytest.mark.parametrize("said", ["yes", "no"])
def test_killed_between_the_question_and_the_answer(opens: Opens, home: Path, folder: Path, said: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(KILLED), str(home), str(folder)], check=False, timeout=50
    )
    assert done.returncode == -9
    engine = opens(answer=lambda _dialog: {"go_on": said})
    (turn,) = [one.turn for one in engine.turns(5)]
    result = engine.resume_sync(turn)
    assert result.outcome == ("success" if said == "yes" else "not_understood")
    assert [item.step for item in fold(engine.parts.journal.load(turn)) if type(item).__name__ == "StepStarted"] == (
        ["1.1"] if said == "yes" else []
    )
    assert (engine.replay(turn).status, engine.verify(turn).ok) == ("identical", True)


# --- the twins ----------------------------------------------------------------------------------------------------------


def test_a_stream_tells_it_and_waits(opens: Opens) -> None:
    engine = opens(proposer=ScriptedProposer(GUESSED))
    events = list(engine.stream_sync(SAYING))
    assert [one.unsure for one in events if isinstance(one, PlanAcceptedEvent)] == [True]
    (need,) = [one.need for one in events if isinstance(one, NeedEvent)]
    assert need.plan == 1
    turn = events[-1].turn
    more = list(engine.stream_resume_sync(turn, answers=YES))
    assert more[-1].result.data == 8  # type: ignore[union-attr]


def test_an_answer_may_be_awaited_and_so_may_the_turn(opens: Opens) -> None:
    async def answer(_dialog: Any) -> dict[str, str]:
        await asyncio.sleep(0)
        return YES

    engine = opens(proposer=ScriptedProposer(GUESSED), answer=answer, memory=True)
    assert asyncio.run(engine.run(SAYING)).data == 8


def test_one_that_is_only_planned_says_that_it_is_not_sure_and_is_run_by_who_has_seen_it(opens: Opens) -> None:
    engine = opens(proposer=ScriptedProposer(GUESSED), memory=True)
    planned = engine.plan_sync(SAYING)
    assert isinstance(planned, Planned)
    assert planned.unsure
    assert engine.run_sync(planned).data == 8


@pytest.mark.parametrize("given", [1, None, "yes"])
def test_whether_it_is_sure_is_true_or_false(given: Any) -> None:
    with pytest.raises(TypeError, match="unsure"):
        Proposal({}, unsure=given)


def test_text_that_could_be_read_is_shown_too_and_what_could_not_is_repaired(opens: Opens) -> None:
    lines = '1 add_one n=7\nend data="${step1.n}"\n'
    proposer = ScriptedProposer(Proposal("no plan at all", unsure=True), Proposal(lines, unsure=True))
    result = opens(proposer=proposer, memory=True).run_sync(SAYING)
    assert (result.status, [need.plan for need in result.needs]) == ("suspended", [2])
    assert json.loads(json.dumps(result.plan))["steps"][0]["tool"] == "add_one"


def test_what_a_model_read_is_asked_about_recorded_told_and_not_learned(opens: Opens, folder: Path) -> None:
    said = Proposal(plan(step("copy_files", path="a.txt", to="second.txt")), acts=("copy",))
    asked: list[Any] = []

    def approve(question: Any) -> bool:
        asked.append(question)
        return True

    engine = opens(proposer=ScriptedProposer(said, said, said), approve=approve)
    wish = "a.txt ought to be there a second time, as second.txt"
    result = engine.run_sync(wish, assume_yes=True)
    assert (result.outcome, result.source, len(asked)) == ("success", "model", 1)
    assert (folder / "second.txt").read_text(encoding="utf-8") == "alpha\n"
    assert engine.replay(result.turn).status == "identical"
    assert [one.acts for one in engine.read_turn(result.turn).proposals] == [("copy",)]
    for said_good in (False, True):
        (folder / "second.txt").unlink()
        if said_good:
            engine.cache.feedback(result.turn, "good")
        assert (engine.run_sync(wish).source, (folder / "second.txt").exists()) == ("model", True)
