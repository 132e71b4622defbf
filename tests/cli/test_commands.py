"""Every command in a process of its own: what it prints, what it prints with `--json`, and its exit code."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from metnos.cli.main import COMMANDS
from tests.support.terminal import TOOLS, Metnos

COUNT = "how many files are here"
SUSPENDS = {
    "steps": [{"tool": "write_files", "args": {"path": "o.txt", "content": "x"}}, {"tool": "final_answer", "args": {}}]
}
ENGLISH = re.compile(r"\b(?:the|this|that|there|with|and|not|waiting|file or|is|are|was|of)\b", re.IGNORECASE)


def write(folder: Path, name: str, plan: Any) -> str:
    (folder / name).write_text(json.dumps(plan))
    return name


# --- ask and plan -----------------------------------------------------------------------------------------------------


def test_ask_answers_on_stdout_and_names_the_turn_on_stderr(metnos: Metnos) -> None:
    done = metnos("ask", COUNT)
    assert done.status == 0
    assert re.fullmatch(r".* under this folder, hidden ones left out: 2\b.*\n", done.out)
    assert re.fullmatch(r"turn \d{8}-\d{6}-[0-9a-f]{8}\n", done.err)
    words = metnos("ask", *COUNT.split(), "--plan")
    assert (words.status, words.out) == (0, done.out)
    assert words.err.startswith("1 find_files ")


def test_ask_json_is_the_result(metnos: Metnos) -> None:
    done = metnos("--json", "ask", COUNT)
    assert (done.status, done.err) == (0, "")
    assert done.json["outcome"] == "success"
    assert done.json["steps"][0]["data"]["count"] == 2
    assert done.json["language"] == "en"


def test_ask_in_italian_answers_in_italian(metnos: Metnos) -> None:
    good = metnos("ask", "quanti file ci sono qui")
    assert good.status == 0
    assert re.fullmatch(r".* sotto questa cartella, esclusi i nascosti: 2\b.*\n", good.out)
    assert good.err.startswith("turno ")
    for sentence, status in (
        ("leggi il file nulla.txt", 1), ("cancella tutto in questa cartella", 1), ("piega il bucato", 1),
        ('scrivi "ciao" in ciao.txt', 5), ('scrivi "ciao" in /etc/ciao.txt', 1),
    ):  # fmt: skip
        done = metnos("--lang", "it", "ask", sentence)
        assert done.status == status, done.err
        said = re.sub(r"`[^`]*`|\S*\.txt|metnos resume \S+|--\S+", "", done.out + done.err)
        assert ENGLISH.search(said) is None, said
        assert said.strip()


@pytest.mark.parametrize("sentence", ["", "  ", "\n\t", "?", "…", "-", "${RUNTIME:now}", "x" * 30_000, "what " * 6_000])
def test_ask_says_so_when_it_has_no_plan(metnos: Metnos, sentence: str) -> None:
    done = metnos("--json", "ask", "--", sentence)
    assert (done.status, done.json["outcome"]) == (1, "not_understood")
    assert done.json["answer"].startswith("I have no plan for this request.")
    assert len(done.json["answer"]) < len(sentence) + 1000


def test_ask_without_a_terminal_suspends_and_says_how_to_go_on(metnos: Metnos, folder: Path) -> None:
    done = metnos("ask", 'write "hello" to hello.txt')
    assert (done.status, done.out) == (5, "")
    assert f"Create {folder / 'hello.txt'}" in done.err
    assert not (folder / "hello.txt").exists()
    command = re.search(r" metnos (resume .*?)`", done.err)
    assert command is not None
    resumed = metnos(*command[1].split())
    assert resumed.status == 0
    assert re.fullmatch(r"Written: hello.txt .*\b5\b.*\n", resumed.out)
    assert (folder / "hello.txt").read_text() == "hello"
    again = metnos("--json", *command[1].split())
    assert (again.status, again.error["code"]) == (2, "turn-closed")


def test_yes_allows_what_creates(metnos: Metnos, folder: Path) -> None:
    assert metnos("ask", 'write "hello" to hello.txt', "--yes").status == 0
    assert (folder / "hello.txt").read_text() == "hello"
    change = metnos("ask", "--yes", 'overwrite hello.txt with "new"')
    assert (change.status, (folder / "hello.txt").read_text()) == (5, "hello")


def test_plan_shows_the_plan_and_runs_nothing(metnos: Metnos, folder: Path) -> None:
    done = metnos("plan", 'write "hello" to hello.txt')
    assert done.status == 0
    assert done.out.splitlines()[0] == '1 write_files path="hello.txt" content="hello"'
    assert "step 1.1 asks first: Create" in done.err
    assert not (folder / "hello.txt").exists()
    shown = metnos("plan", "--json", "conta i file qui")
    assert shown.json["planned"]["plan"]["steps"][0]["tool"] == "find_files"
    refused = metnos("--json", "plan", "fold the laundry")
    assert (refused.status, refused.json["refused"]["outcome"]) == (1, "not_understood")
    assert metnos("plan", "fold the laundry").out.startswith("I have no plan for this request.")


# --- check and run ------------------------------------------------------------------------------------------------------


def test_check_names_every_fault_and_run_tells_the_same(metnos: Metnos, folder: Path) -> None:
    wrong = {
        "steps": [
            {"tool": "find_file", "args": {}},
            {"tool": "read_files", "args": {"from_step": 7}},
            {"tool": "final_answer", "args": {}},
        ]
    }
    name = write(folder, "wrong.json", wrong)
    done = metnos("check", name)
    assert (done.status, done.out) == (1, "")
    assert "/steps/0/tool: unknown-tool\n    found: find_file\n" in done.err
    assert "/steps/1/args/from_step: reference-unknown-step" in done.err
    assert done.err.endswith("2 fault(s) in wrong.json\n")
    told = metnos("--json", "check", name)
    assert (told.status, told.json["valid"]) == (1, False)
    assert {fault["code"] for fault in told.json["diagnostics"]} == {"unknown-tool", "reference-unknown-step"}
    ran = metnos("run", name)
    assert (ran.status, ran.out) == (1, "The plan was not accepted.\n")
    assert "/steps/0/tool: unknown-tool" in ran.err


def test_a_sound_plan_is_checked_and_run_in_both_spellings(metnos: Metnos, folder: Path) -> None:
    (folder / "plan.txt").write_text('1 read_files path="a.txt"\nend\n')
    good = metnos("check", "plan.txt")
    assert good.status == 0
    assert good.out.startswith("The plan is valid: 1 step(s), digest sha256:")
    assert metnos("run", "plan.txt").out == "a.txt:\n\nalpha\n"
    lines = (folder / "plan.txt").read_bytes()
    assert metnos("run", "-", given=lines).out == "a.txt:\n\nalpha\n"
    assert metnos("--json", "check", "-", given=lines).json["valid"] is True


INPUT = {
    "steps": [
        {"tool": "read_files", "args": {"path": "${INPUT:which}"}},
        {"tool": "final_answer", "args": {"data": ["${step1.count}", "${INPUT:more}"]}},
    ]
}


def test_a_plan_with_inputs(metnos: Metnos, folder: Path) -> None:
    name = write(folder, "plan.json", INPUT)
    checked = metnos("check", name)
    assert (checked.status, checked.out.splitlines()[1]) == (
        0,
        "It needs when it is run: which, more (`--input NAME=VALUE`).",
    )
    assert metnos("--json", "check", name).json["inputs"] == ["which", "more"]
    closed = metnos("check", name, "--input", "more=1")
    assert (closed.status, "/steps/0/args/path: input-missing\n    found: which" in closed.err) == (1, True)
    missing = metnos("run", name, "--input", "more=1")
    assert (missing.status, missing.out) == (5, "")
    assert "--answer which=" in missing.err
    asked = metnos("run", "--json", name)
    assert (asked.status, list(asked.json["needs"][0]["form"])) == (5, ["which", "more"])
    answered = metnos("--json", "resume", "last", "--answer", "which=a.txt", "--answer", "more=[2]")
    assert (answered.status, answered.json["data"]) == (0, [1, [2]])
    ran = metnos("--json", "run", name, "--input", "which=a.txt", "--input", 'more={"x": [1, null]}')
    assert (ran.status, ran.json["data"]) == (0, [1, {"x": [1, None]}])
    text = metnos("--json", "run", name, "--input", "which=a.txt", "--input", "more=NaN")
    assert text.json["data"] == [1, "NaN"]
    for pair in ("which", "=x", ""):
        wrong = metnos("--json", "run", name, "--input", pair)
        assert (wrong.status, wrong.error["code"]) == (2, "usage")
    twice = metnos("--json", "run", name, "--input", "which=a", "--input", "which=b")
    assert (twice.status, twice.error["where"]) == (2, "which")


def test_a_failed_plan_with_an_answer_of_its_own_says_that_it_failed(metnos: Metnos, folder: Path) -> None:
    reads = [{"tool": "read_files", "args": {"path": path}} for path in ("a.txt", "none.txt")]
    plan = {"steps": [*reads, {"tool": "final_answer", "args": {"text": "Read ${step1.count}."}}]}
    done = metnos("run", write(folder, "plan.json", plan))
    assert (done.status, done.out) == (1, "Read 1.\n")
    assert "none.txt: there is no such file or folder" in done.err


def test_a_question_of_a_plan_is_answered_by_resume(metnos: Metnos, folder: Path) -> None:
    plan = {"steps": [{"tool": "ask", "args": {"question": "Which year?"}}]}
    asked = metnos("run", write(folder, "plan.json", plan))
    assert asked.status == 5
    assert "Which year?" in asked.err
    assert "--answer answer=…" in asked.err
    wrong = metnos("--json", "resume", "last", "--answer", "year=2026")
    assert (wrong.status, wrong.error["code"], wrong.error["where"]) == (2, "answer-misfit", "year")
    answered = metnos("--json", "resume", "last", "--answer", "answer=2026")
    assert (answered.json["data"], answered.status) == ({"answer": "2026"}, 0)  # taken as the text that was asked for


# --- turns --------------------------------------------------------------------------------------------------------------


def test_log_and_replay(metnos: Metnos, folder: Path) -> None:
    assert metnos("log").out == "No turns are recorded here.\n"
    assert metnos("--json", "log").json == {"turns": []}
    nothing = metnos("--json", "log", "last")
    assert (nothing.status, nothing.error["code"]) == (2, "turn-missing")
    first = metnos("--json", "ask", COUNT).json
    second = metnos("--json", "run", write(folder, "plan.json", SUSPENDS)).json
    listed = metnos("--json", "log").json["turns"]
    assert [one["turn"] for one in listed] == [second["turn"], first["turn"]]
    assert [one["status"] for one in listed] == ["suspended", "closed"]
    lines = metnos("log", "--limit", "1").out.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith(f"{second['turn']}  suspended")
    shown = metnos("log", first["turn"])
    assert first["log_head"] in shown.out
    assert shown.out.rstrip().endswith(first["answer"]) or "find_files done" in shown.out
    assert f"waits for    {second['needs'][0]['id']}" in metnos("log", "last").out
    assert metnos("log", "last", "--verify").out.startswith("The log holds: ")
    whole = metnos("--json", "log", first["turn"], "--verify").json
    assert (whole["ok"], whole["head"]["hash"]) == (True, first["log_head"])
    assert metnos("replay", first["turn"]).out == f"Replayed: {whole['records']} records, identical.\n"
    replayed = metnos("--json", "replay")
    assert (replayed.status, replayed.json["status"], replayed.json["turn"]) == (0, "identical", second["turn"])
    ambiguous = metnos("--json", "log", "20")
    assert (ambiguous.status, ambiguous.error["message"]) == (2, "2 turns begin with '20'")
    assert metnos("--json", "replay", "nothing").status == 2
    denied = metnos("resume", "last", "--deny", second["needs"][0]["id"])
    assert (denied.status, denied.out) == (1, "Not done: you refused it.\n")


# --- the installation ----------------------------------------------------------------------------------------------------


def test_catalog_lists_and_shows(metnos: Metnos) -> None:
    listed = metnos("catalog")
    assert (listed.status, listed.err) == (0, "")
    assert [line.split()[0] for line in listed.out.splitlines()] == TOOLS
    assert "write_files      change/create  Writes text" in re.sub(r"(?<=write_files) +", "      ", listed.out)
    assert "Scrive un testo" in metnos("--lang", "it", "catalog").out
    told = metnos("--json", "catalog").json
    assert ([tool["name"] for tool in told["tools"]], told["refused"]) == (TOOLS, [])
    one = metnos("catalog", "write_files")
    assert one.out.startswith("write_files@1.2.0  change/create\n")
    assert "path: string (required)" in one.out
    assert metnos("--json", "catalog", "write_files").json["name"] == "write_files"
    missing = metnos("--json", "catalog", "nothing")
    assert (missing.status, missing.error["code"]) == (2, "unknown-tool")


def test_examples_work(metnos: Metnos) -> None:
    found = metnos("examples")
    assert found.status == 0
    assert "count the files here" in found.out.splitlines()
    about = metnos("--json", "--lang", "it", "examples", "csv").json["examples"]
    assert {one["language"] for one in about} == {"it"}
    assert about
    assert all("csv" in json.dumps(one) for one in about)
    assert "conta i file in questa cartella" in metnos("--lang", "it", "examples").out
    assert metnos("examples", "xyzzy").status == 1


def test_schema_prints_json_schemas(metnos: Metnos) -> None:
    for what in ("plan", "manifest"):
        printed = metnos("schema", what)
        assert (printed.status, printed.json["type"]) == (0, "object")
    assert metnos("--json", "schema", "nothing").error["code"] == "usage"


def test_init_twice_overwrites_nothing(metnos: Metnos) -> None:
    first = metnos("init")
    assert first.status == 0
    assert str(metnos.home) in first.out
    settings = metnos.home / "settings.toml"
    settings.write_text('language = "it"\n')
    assert (metnos.home / "metnos.db").exists()
    keys = {path.name: path.read_bytes() for path in (metnos.home / "keys").iterdir()}
    assert keys
    again = metnos("init")
    assert again.status == 0
    assert settings.read_text() == 'language = "it"\n'
    assert again.out.startswith("Pronto: ")
    assert {path.name: path.read_bytes() for path in (metnos.home / "keys").iterdir()} == keys
    assert set(metnos("--json", "init").json) >= {"home", "settings"}
    assert metnos.home.stat().st_mode & 0o077 == 0
    settings.write_text("colour = 1\n")
    bad = metnos("--json", "ask", COUNT)
    assert (bad.status, bad.error["code"]) == (2, "bad-settings")
    assert str(settings) in bad.error["where"]


def test_doctor_finds_nothing_wrong_here_and_says_what_is_wrong_elsewhere(metnos: Metnos) -> None:
    good = metnos("--json", "doctor")
    assert good.status == 0, good.out
    names = [finding["name"] for finding in good.json["findings"]]
    assert names == [
        "python",
        "sqlite",
        "home",
        "home-writable",
        "roots",
        "catalog",
        "plans",
        "files",
        "workers",
        "models",
    ]
    assert all(finding["ok"] and finding["found"] for finding in good.json["findings"])
    metnos.home.chmod(0o755)
    bad = metnos("doctor", METNOS_CATALOG="/nowhere")
    assert bad.status == 3
    assert re.search(r"to mend +home: .*0755", bad.out)
    assert f"chmod 700 {metnos.home}" in bad.out
    assert re.search(r"to mend +catalog: 0 tools admitted, refused: trust.json: catalog-missing", bad.out)
    metnos.home.chmod(0o700)


def test_help_of_every_command(metnos: Metnos) -> None:
    top = metnos("--help")
    assert (top.status, top.err) == (0, "")
    for command, (_, line) in COMMANDS.items():
        assert re.search(rf"^  {command} +{re.escape(line)}", top.out, re.MULTILINE)
    assert "130 cancelled" in " ".join(top.out.split())


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    from metnos.cli.main import main

    for option in ("--help", "-h"):
        with pytest.raises(SystemExit) as left:
            main([command, option])
        assert left.value.code == 0
        assert capsys.readouterr().out.startswith(f"Usage: metnos {command}")


def test_what_is_no_command_of_the_log_is_a_turn(metnos: Metnos) -> None:
    assert metnos("ask", COUNT).status == 0
    shown = metnos("--json", "log", "last").json
    assert shown["request"] == COUNT
    for words in (
        ("log", "--json", "last"),
        ("log", shown["turn"], "--json"),
        ("log", "show", shown["turn"][:-1], "--json"),
        ("log", "--json", "show", "last"),
        ("log", "--limit", "5", "--json", "last"),
    ):
        assert metnos(*words).json == shown, words
    assert [one["turn"] for one in metnos("log", "--json").json["turns"]] == [shown["turn"]]
    assert metnos("log", "--limit", "5").out.startswith(shown["turn"])
    assert metnos("log", "--json", "nothing-begins-so").error["code"] == "turn-missing"
    assert metnos("log", "last", "--help").out.startswith("Usage: metnos log show")


def test_version(metnos: Metnos) -> None:
    from metnos import __version__

    assert metnos("--version").out.split()[-1] == __version__


# --- drawings -------------------------------------------------------------------------------------------------------------


def test_plans_are_drawn(metnos: Metnos, folder: Path) -> None:
    planned = metnos("plan", "--format", "mermaid", COUNT)
    assert (planned.status, planned.err) == (0, "")
    assert planned.out.startswith('flowchart TD\n    s1["1 ')
    assert "e_read" in planned.out
    assert metnos("--json", "plan", "--format", "mermaid", COUNT).json == {"mermaid": planned.out}
    metnos("ask", COUNT)
    assert metnos("log", "last", "--format", "mermaid").out == planned.out
    broken = metnos(
        "check", "--format", "mermaid", write(folder, "plan.json", {"steps": [{"tool": "nope", "args": {}}]})
    )
    assert (broken.status, broken.out.startswith("flowchart TD\n")) == (1, True)
    assert "unknown-tool" in broken.err


def test_slash_commands_are_asked_for_as_sentences_are(metnos: Metnos, folder: Path) -> None:
    helped = metnos("ask", "/aiuto")
    assert (helped.status, "/annulla [TURN]" in helped.out, helped.err) == (0, True, "")
    wrong = metnos("--json", "ask", "/undoo")
    assert (wrong.status, wrong.error["code"], "`/undo`" in wrong.error["hint"]) == (2, "unknown-command", True)
    long = metnos("--json", "ask", "x" * 40_000)
    assert (long.status, long.error["code"], long.error["where"]) == (2, "request-too-long", "request")
    assert "32768" in long.error["message"]
    assert metnos("ask", "/tmp/none/of/this").status == 1
    assert metnos("ask", "--yes", "create the folder made").status == 0
    undone = metnos("--json", "ask", "/undo")
    assert (undone.status, undone.json["source"], (folder / "made").is_dir()) == (5, "command", True)
