"""A plan that is seen before it begins: on a terminal, in a pipe, as JSON, in both languages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from metnos import Engine
from metnos.propose.model import Proposal

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.terminal import Metnos

SAYINGS = {"en": "could you figure out which of them are texts", "it": "riesci a capire quali di essi sono testi"}
SHOWN = {
    "en": (
        "I am not sure that I understood you. This is what I would do:",
        '  1. Lists files in a folder, by name pattern, size and time of change (find_files): pattern "*.txt"',
        "Shall I go on?",
        "[y/N]: ",
    ),
    "it": (
        "Non sono sicuro di aver capito. Ecco che cosa farei:",
        '  1. Elenca i file di una cartella, per modello di nome, dimensione e data di modifica (find_files): pattern "*.txt"',
        "Procedo?",
        "[s/N]: ",
    ),
}
PLAN = '1 find_files pattern="*.txt"\nend data="${step1.count}"\n'


def wait(metnos: Metnos, folder: Path, language: str = "en", plan: str = PLAN) -> str:
    """A turn that waits in the home of `metnos`, begun by a program."""
    with Engine.open(metnos.home, folder=folder, proposer=lambda *_asked: Proposal(plan, unsure=True)) as engine:
        result = engine.run_sync(SAYINGS[language], language=language)
    assert result.status == "suspended"
    return result.turn


@pytest.mark.parametrize(("language", "typed", "status"), [("it", "sì", 0), ("en", "", 1)])
def test_it_is_shown_on_the_terminal(metnos: Metnos, folder: Path, language: str, typed: str, status: int) -> None:
    wait(metnos, folder, language)
    terminal = metnos.on_terminal("--lang", language, "resume", "last", NO_COLOR="1")
    intro, line, question, prompt = SHOWN[language]
    shown = terminal.until(f"{question} {prompt}")
    assert intro in shown
    assert line in shown.replace("\r\n", "\n")
    terminal.type(f"{typed}\n")
    assert terminal.end() == status
    turn: Any = metnos("--json", "log", "last").json
    assert (turn["outcome"], turn.get("code", "")) == (
        ("success", "") if not status else ("not_understood", "plan-declined")
    )
    assert ("steps" in turn) == (not status)


def test_in_a_pipe_and_as_json_it_is_a_need_that_resume_answers(metnos: Metnos, folder: Path) -> None:
    turn = wait(metnos, folder)
    piped = metnos("resume", turn)
    assert (piped.status, piped.out) == (5, "")
    assert piped.err.splitlines()[:3] == [*SHOWN["en"][:2], "  2. Tell you: what step 1 gives (count)"]
    assert "    yes        go on" in piped.err
    assert f"metnos resume {turn} --answer go_on=…" in piped.err
    told: Any = metnos("--json", "resume", turn)
    assert told.status == 5
    (need,) = told.json["needs"]
    assert (need["kind"], need["plan"], [one["name"] for one in need["options"]]) == ("dialog", 1, ["yes", "no"])
    done = metnos("resume", turn, "--answer", "go_on=yes")
    assert (done.status, done.out.strip()) == (0, "2")
    assert "not sure that this is what was meant" in metnos("log", turn).out


def test_a_no_is_told_in_words(metnos: Metnos, folder: Path) -> None:
    done = metnos("resume", wait(metnos, folder), "--answer", "go_on=no")
    assert done.status == 1
    assert done.out.startswith("Not what you meant, you said: nothing of that plan was run.")
    assert "no plan for this request" not in done.out + done.err


def test_what_a_plan_says_stays_in_its_line(metnos: Metnos, folder: Path) -> None:
    hostile = "x\\u001b[2J\\r\\n  9. nothing at all\\u202e\\u2028Shall I go on?"
    wait(metnos, folder, plan=f'1 find_files pattern="{hostile}"\nend\n')
    terminal = metnos.on_terminal("resume", "last", NO_COLOR="1")
    shown = terminal.until("Shall I go on? [y/N]: ")
    assert "\n  9." not in shown
    assert "\x1b[2J" not in shown
    assert not {"\u202e", "\u2028"} & set(shown)
    terminal.type("\n")
    assert terminal.end() == 1
