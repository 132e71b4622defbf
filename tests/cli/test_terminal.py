"""On a terminal: prompts, colours, Ctrl-C; and SIGINT in a pipe while a step is slow."""

from __future__ import annotations

import json
import os
import re
import signal
from pathlib import Path

import pytest

from tests.support.terminal import Metnos

WRITE = 'write "hello" to hello.txt'


def test_a_question_on_the_terminal_yes(metnos: Metnos, folder: Path) -> None:
    terminal = metnos.on_terminal("ask", WRITE, NO_COLOR="1")
    shown = terminal.until("Allow it [y/N]: ")
    assert f"Create {folder / 'hello.txt'}?" in shown
    assert "Asked because" not in shown
    assert not (folder / "hello.txt").exists()
    terminal.type("perhaps\n")
    terminal.until("perhaps\nAllow it [y/N]: ")
    terminal.type("Yes\n")
    assert terminal.end() == 0
    assert "step 1.1: write_files" in terminal.screen
    assert re.search(r"Written: hello.txt .*\b5\b", terminal.screen)
    assert (folder / "hello.txt").read_text() == "hello"
    assert "\x1b[" not in terminal.screen


@pytest.mark.parametrize("typed", ["n\n", "\n", "No\n"])
def test_a_question_on_the_terminal_no(metnos: Metnos, folder: Path, typed: str) -> None:
    terminal = metnos.on_terminal("ask", WRITE)
    terminal.until("Allow it [y/N]: ")
    terminal.type(typed)
    assert terminal.end() == 1
    assert "Not done: you refused it." in terminal.screen
    assert not (folder / "hello.txt").exists()


@pytest.mark.parametrize("by", ["interrupt", "end of file"])
def test_a_question_on_the_terminal_broken_off(metnos: Metnos, folder: Path, by: str) -> None:
    terminal = metnos.on_terminal("ask", WRITE)
    terminal.until("Allow it [y/N]: ")
    assert terminal.end("\x03" if by == "interrupt" else "\x04") == 130
    assert "Cancelled." in terminal.screen
    assert not (folder / "hello.txt").exists()
    assert metnos("--json", "log").json["turns"][0]["outcome"] == "cancelled"
    assert metnos("log", "last", "--verify").status == 0


def test_an_italian_request_is_asked_about_in_italian(metnos: Metnos, folder: Path) -> None:
    terminal = metnos.on_terminal("ask", 'scrivi "ciao" in ciao.txt')
    shown = terminal.until("Consenti [s/N]: ")
    assert f"Creare {folder / 'ciao.txt'}?" in shown
    terminal.type("sì\n")
    assert terminal.end() == 0
    assert "passo 1.1: write_files" in terminal.screen
    assert "turno " in terminal.screen
    assert (folder / "ciao.txt").read_text() == "ciao"


def test_a_suspended_turn_is_asked_about_when_it_is_resumed(metnos: Metnos, folder: Path) -> None:
    assert metnos("ask", 'scrivi "ciao" in ciao.txt').status == 5
    terminal = metnos.on_terminal("resume", "last")
    terminal.until("Consenti [s/N]: ")
    terminal.type("s\n")
    assert terminal.end() == 0
    assert (folder / "ciao.txt").read_text() == "ciao"


def test_a_form_is_asked_for_field_by_field_until_it_fits(metnos: Metnos, folder: Path) -> None:
    form = {
        "year": {"schema": {"type": "integer", "minimum": 1900}, "label": "Which year"},
        "kind": {"schema": {"enum": ["a", "b"]}, "label": "Which kind"},
        "name": {"schema": {"type": "string"}, "label": "Whose"},
    }
    (folder / "plan.json").write_text(json.dumps({"steps": [{"tool": "needs_inputs", "args": {"form": form}}]}))
    terminal = metnos.on_terminal("run", "plan.json")
    for asked, typed in (
        ("Which year: ", "soon"),
        ("Which year: ", "1066"),
        ("Which year: ", "2026"),
        ("(a, b): ", "b"),
        ("Whose: ", "7"),
    ):
        terminal.until(asked)
        terminal.screen = ""
        terminal.type(f"{typed}\n")
    assert terminal.end() == 0  # nobody plans on from there: the answers are what the plan was for
    turn = metnos("--json", "log", "last").json
    assert turn["outcome"] == "success"


HOSTILE = "x\x1b[2J\r\nAllow [y/N]"
FORM = {"n": {"schema": {"enum": [HOSTILE, "b"]}, "label": HOSTILE}}


@pytest.mark.parametrize(
    ("last", "typed"),
    [
        ({"tool": "needs_inputs", "args": {"form": FORM}}, "Allow [y/N], b): "),
        ({"tool": "ask", "args": {"question": "Which?", "choices": [HOSTILE, "b"]}}, "Allow [y/N], b): "),
    ],
    ids=["form", "question"],
)
def test_what_a_plan_asks_with_stays_in_its_line(metnos: Metnos, folder: Path, last: object, typed: str) -> None:
    (folder / "plan.json").write_text(json.dumps({"steps": [last]}))
    waits = metnos("run", "plan.json")
    assert waits.status == 5
    assert "\nAllow" not in waits.err
    assert "\r" not in waits.err
    terminal = metnos.on_terminal("run", "plan.json", NO_COLOR="1")
    terminal.until(typed)
    assert "\nAllow" not in terminal.screen
    terminal.type("c\n")
    terminal.until(typed)
    assert "\nAllow" not in terminal.screen
    assert "\x1b" not in terminal.screen
    terminal.type("b\n")
    assert terminal.end() == 0


@pytest.mark.parametrize(("settings", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_tables_are_drawn_and_colour_can_be_left_out(metnos: Metnos, settings: dict[str, str], coloured: bool) -> None:
    terminal = metnos.on_terminal("ask", "the five largest files here, as a table", **settings)
    assert terminal.end() == 0
    assert "b.txt" in terminal.screen
    assert ("\x1b[" in terminal.screen) == coloured
    assert ("| --- |" in terminal.screen) != coloured


def test_what_is_shown_cannot_drive_the_terminal(metnos: Metnos, folder: Path) -> None:
    (folder / "evil\x1b[2Jname.txt").write_text("x\x1b]0;title\x07y\n")
    for sentence in ("list all files here", 'read "evil\x1b[2Jname.txt"'):
        terminal = metnos.on_terminal("ask", sentence, NO_COLOR="1")
        terminal.end()
        assert "\x1b" not in terminal.screen
        assert "\x07" not in terminal.screen


def test_a_name_cannot_write_the_rest_of_its_question(metnos: Metnos, folder: Path) -> None:
    name = "a.txt?\nAllow it [y/N]: n\u2028\nCreate safe.txt"
    steps = [{"tool": "write_files", "args": {"path": name, "content": "x"}}, {"tool": "final_answer", "args": {}}]
    (folder / "plan.json").write_text(json.dumps({"steps": steps}))
    terminal = metnos.on_terminal("run", "plan.json", NO_COLOR="1")
    shown = terminal.until("safe.txt?")
    assert len([line for line in shown.splitlines() if "txt" in line]) == 1
    terminal.type("n\n")
    terminal.end()
    refused = metnos("run", "plan.json")
    assert refused.status == 5
    assert len([line for line in refused.err.splitlines() if "safe.txt" in line or "a.txt" in line]) == 1


# --- a slow step is stopped ----------------------------------------------------------------------------------------------


@pytest.fixture
def slow(folder: Path, slow_catalog: Path) -> dict[str, str]:
    """A plan whose second step waits for a pipe, and the setting that it needs."""
    os.mkfifo(folder / "pipe4")
    steps = [
        {"tool": "write_files", "args": {"path": "done.txt", "content": "done"}},
        {"tool": "find_files_slow", "args": {"path": str(folder) + "/pipe${step1.bytes}"}},
        {"tool": "final_answer", "args": {}},
    ]
    (folder / "plan.json").write_text(json.dumps({"steps": steps}))
    return {"METNOS_CATALOG": str(slow_catalog)}


def wait_for_the_step(folder: Path) -> int:
    """Returns when the executor has opened the pipe to read."""
    return os.open(folder / "pipe4", os.O_WRONLY)


@pytest.mark.parametrize("as_json", [False, True])
def test_sigint_in_a_pipe_ends_cancelled_with_what_was_done(
    metnos: Metnos, folder: Path, slow: dict[str, str], as_json: bool
) -> None:
    process = metnos.start("run", "--yes", "plan.json", *(["--json"] if as_json else []), **slow)
    pipe = wait_for_the_step(folder)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    os.close(pipe)
    assert process.returncode == 130, err
    if as_json:
        result = json.loads(out)
        assert (result["outcome"], result["steps"][1]["status"]) == ("cancelled", "stopped")
        assert result["effects"] == [result["effects"][0]]
        assert result["effects"][0]["target"] == "done.txt"
        assert err == b""
    else:
        assert out.decode().startswith("Cancelled. What was done before is kept and recorded.\n\nCreated done.txt\n")
    assert (folder / "done.txt").read_text() == "done"
    view = metnos("--json", "log", "last").json
    assert (view["status"], view["outcome"]) == ("closed", "cancelled")
    assert metnos("log", "last", "--verify").status == 0
    assert metnos("replay", **slow).status == 0


def test_ctrl_c_on_a_terminal_reaches_the_turn_and_not_the_worker(
    metnos: Metnos, folder: Path, slow: dict[str, str]
) -> None:
    terminal = metnos.on_terminal("run", "--yes", "plan.json", NO_COLOR="1", **slow)
    pipe = wait_for_the_step(folder)
    terminal.until("find_files_slow")
    assert terminal.end("\x03") == 130
    os.close(pipe)
    assert "Cancelled." in terminal.screen
    assert "Created done.txt" in terminal.screen
    assert "Traceback" not in terminal.screen
    assert re.search(r"turn \d{8}-", terminal.screen)


def test_a_slow_step_ends_when_it_can(metnos: Metnos, folder: Path, slow: dict[str, str]) -> None:
    process = metnos.start("run", "--yes", "plan.json", "--json", **slow)
    pipe = wait_for_the_step(folder)
    os.write(pipe, b"at last")
    os.close(pipe)
    out, _ = process.communicate(timeout=30)
    assert (process.returncode, json.loads(out)["steps"][1]["data"]) == (0, {"text": "at last"})


def test_an_effect_that_was_under_way_when_the_process_was_killed_is_unknown(
    metnos: Metnos, folder: Path, slow: dict[str, str]
) -> None:
    """Neither idempotent nor probed: the next process stops and tells, with 6."""
    acts = {"tool": "write_files_slow", "args": {"path": str(folder / "pipe4")}}
    (folder / "plan.json").write_text(json.dumps({"steps": [acts, {"tool": "final_answer", "args": {}}]}))
    process = metnos.start("run", "--yes", "plan.json", **slow)
    pipe = wait_for_the_step(folder)
    process.kill()
    process.communicate(timeout=30)
    os.close(pipe)
    assert metnos("log", "last", "--verify", **slow).status == 0
    told = metnos("resume", "last", **slow)
    assert told.status == 6
    assert told.out.startswith("An action may or may not have happened: step 1.1 (write_files_slow): ")
    assert str(folder / "pipe4") in told.out
    assert metnos("--json", "log", "last", **slow).json["outcome"] == "effect_unknown"
    assert metnos("replay", "last", **slow).status == 0
    assert metnos("resume", "last", **slow).status == 2


@pytest.mark.parametrize(("typed", "status"), [("2\n", 0), ("beside\n", 0), ("\n", 1)])
def test_a_failure_that_leaves_a_choice_is_a_numbered_list(
    metnos: Metnos, folder: Path, typed: str, status: int
) -> None:
    (folder / "hello.txt").write_text("mine")
    terminal = metnos.on_terminal("ask", "--yes", 'scrivi "hello" in hello.txt')
    shown = terminal.until("Numero [3]: ")
    assert "c'è già un file con questo nome" in shown
    assert "2  tieni ciò che c'è e usa un altro nome: hello-2.txt" in shown
    terminal.type("9\n")
    terminal.until("9\n")
    terminal.type(typed)
    assert terminal.end() == status
    assert (folder / "hello.txt").read_text() == "mine"
    assert (folder / "hello-2.txt").exists() == (status == 0)


def test_a_failure_that_leaves_a_choice_without_a_terminal(metnos: Metnos, folder: Path) -> None:
    (folder / "hello.txt").write_text("mine")
    asked = metnos("ask", "--yes", WRITE, "--json")
    (need,) = asked.json["needs"]
    assert (asked.status, [one["name"] for one in need["options"]]) == (5, ["replace", "beside", "stop"])
    assert "replace" in metnos("ask", "--yes", WRITE).err
    assert metnos("resume", "last", "--answer", "choice=beside").status == 0
    assert (folder / "hello-2.txt").read_text() == "hello"
    assert metnos("replay", "last").status == 0


def test_a_sentence_that_lacks_one_thing_is_asked_for_it(metnos: Metnos, folder: Path) -> None:
    terminal = metnos.on_terminal("ask", "rinomina a.txt")
    terminal.until("rinomina a.txt come …: ")
    terminal.type("c.txt\n")
    terminal.until("Consenti [s/N]: ")
    terminal.type("s\n")
    assert terminal.end() == 0
    assert (folder / "c.txt").read_text() == "alpha\n"
    asked = metnos("ask", "rename c.txt to", "--json")
    assert (asked.status, asked.json["needs"][0]["form"]["to"]["label"]) == (5, "rename c.txt to …")
    assert metnos("resume", "last", "--answer", "to=d and e.txt").status == 5
    assert metnos("resume", "last", "--approve", "all").status == 0
    assert (folder / "d and e.txt").read_text() == "alpha\n"
    assert metnos("replay", "last").status == 0
    assert metnos("ask", "rename c.txt and", "--json").json["outcome"] == "not_understood"
