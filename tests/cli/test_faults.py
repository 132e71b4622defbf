"""What goes wrong around a command: options, files, encodings, pipes, homes, catalogs. Each has its exit code and its form."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from metnos.cli import exits
from metnos.cli.main import exit_of_code, main
from metnos.plan.codes import CODES
from metnos.turn.facts import OUTCOMES
from tests.support.terminal import COMMAND, TOOLS, Metnos

COUNT = "how many files are here"
BROKEN = Path(__file__).resolve().parents[1] / "checks" / "broken"
EXPECTED: dict[str, Any] = json.loads((BROKEN / "expected.json").read_text(encoding="utf-8"))


# --- exit codes ----------------------------------------------------------------------------------------------------------


def test_every_outcome_has_its_exit_code() -> None:
    assert set(exits.BY_OUTCOME) == {*OUTCOMES, ""}
    assert set(exits.BY_OUTCOME.values()) <= set(exits.MEANINGS)
    assert {outcome for outcome, code in exits.BY_OUTCOME.items() if code != 1} == {
        "success",
        "cancelled",
        "effect_unknown",
        "",
    }


def test_every_code_has_an_exit_code_of_its_family() -> None:
    found = {exit_of_code(code) for code in CODES}
    assert found == {exits.NOT_OK, exits.USAGE, exits.ENVIRONMENT, exits.TRUST}
    assert exit_of_code("turn-missing") == exits.USAGE
    assert exit_of_code("record-altered") == exits.TRUST
    assert exit_of_code("record-store") == exits.ENVIRONMENT
    assert exit_of_code("resume-refused") == exits.ENVIRONMENT
    assert exit_of_code("no-such-code-at-all") == exits.ENVIRONMENT


# --- options --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
def test_options_stand_before_or_after_the_command(metnos: Metnos, folder: Path, tmp_path: Path, before: bool) -> None:
    other = tmp_path / "other"
    (other / "deep").mkdir(parents=True)
    (other / "deep" / "x.txt").write_text("x")
    options = ["--home", str(tmp_path / "elsewhere"), "--root", str(other), "--lang", "it", "--json"]
    sentence = f"conta i file in {other}"
    done = metnos(*options, "ask", sentence) if before else metnos("ask", *options, sentence)
    assert (done.status, done.err) == (0, ""), done.out
    assert done.json["language"] == "it"
    assert done.json["steps"][0]["data"]["count"] == 1
    assert (tmp_path / "elsewhere" / "metnos.db").exists()
    assert not metnos.home.exists()


@pytest.mark.parametrize(
    "arguments",
    [["ask"], ["nothing"], ["--lang", "fr", "ask", "x"], ["run"], ["check"], ["schema"], ["schema", "nothing"], ["resume"],
     ["log", "--limit", "0"], ["log", "--limit", "x"], ["ask", "--nothing", "x"], ["check", "."], ["resume", "last", "--approve"]],
    ids=" ".join,
)  # fmt: skip
def test_usage_faults_are_two_in_both_forms(arguments: list[str], capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    with pytest.raises(SystemExit) as left:
        main(arguments)
    told = capsysbinary.readouterr()
    assert (left.value.code, told.out) == (2, b"")
    assert b"Error: " in told.err
    with pytest.raises(SystemExit) as left:
        main(["--json", *arguments])
    told = capsysbinary.readouterr()
    assert (left.value.code, told.err) == (2, b"")
    assert json.loads(told.out)["error"]["code"] == "usage"


def test_a_usage_fault_as_json_from_a_process(metnos: Metnos) -> None:
    done = metnos("ask", "--json")
    assert (done.status, done.err, done.error["code"]) == (2, "", "usage")
    assert metnos().status == 2


# --- files ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_check_names_every_fault_of_a_broken_plan(name: str, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    """An input that is not declared is no fault of the plan until it is run, unless the inputs are said."""
    inputs = ["--input", "none=1"] if name.endswith("input-missing.json") else []
    with pytest.raises(SystemExit) as left:
        main(["--json", "check", str(BROKEN / name), *inputs])
    told = json.loads(capsysbinary.readouterr().out)
    assert (left.value.code, told["valid"]) == (1, False)
    found = sorted((fault["code"], fault["where"]) for fault in told["diagnostics"])
    assert found == sorted(map(tuple, EXPECTED[name]["faults"]))


def test_check_in_a_process_tells_a_person_the_same(metnos: Metnos) -> None:
    name = next(name for name in EXPECTED if "four" in name)
    done = metnos("check", str(BROKEN / name))
    assert (done.status, done.out) == (1, "")
    for code, where in EXPECTED[name]["faults"]:
        assert f"{where or '/'}: {code}\n" in done.err


def test_a_plan_that_cannot_be_read(metnos: Metnos, folder: Path) -> None:
    for command in ("check", "run"):
        done = metnos("--json", command, "none.json")
        assert (done.status, done.error["code"], done.error["where"]) == (2, "unreadable-plan", "none.json")
    (folder / "noise.json").write_bytes(bytes(range(256)))
    assert metnos("check", "noise.json").status == 1
    assert metnos("--json", "run", "noise.json").json["outcome"] == "plan_rejected"
    empty = metnos("--json", "check", "-", given=b"")
    assert (empty.status, [fault["code"] for fault in empty.json["diagnostics"]]) == (1, ["terminal-missing"])


def test_a_file_name_that_is_not_utf8(metnos: Metnos, folder: Path) -> None:
    name = b"plan-\xff\xfe.json"
    plan = {"steps": [{"tool": "find_files", "args": {}}, {"tool": "final_answer", "args": {"text": "${step1.count}"}}]}
    with open(os.fsencode(folder) + b"/" + name, "wb") as file:
        file.write(json.dumps(plan).encode())
    assert metnos("check", name).status == 0
    ran = metnos("run", name, LC_ALL="C", PYTHONIOENCODING="ascii")
    assert (ran.status, ran.out) == (0, "3\n")
    with open(os.fsencode(folder) + b"/" + name, "wb") as file:
        file.write(b"{")
    told = metnos("check", name)
    assert (told.status, "json-syntax" in told.err, "Traceback" in told.err) == (1, True, False)
    listed = metnos("ask", "list all files here")
    assert (listed.status, "plan-" in listed.out) == (0, True)


def test_words_that_are_not_utf8(metnos: Metnos, folder: Path) -> None:
    (folder / "plan.json").write_text(json.dumps({"steps": [{"tool": "final_answer", "args": {"data": "${INPUT:x}"}}]}))
    for arguments in (["ask", b"how many \xff"], ["plan", b"\xff"], ["run", "plan.json", "--input", b"x=\xff"]):
        done = metnos("--json", *arguments)
        assert (done.status, done.error["code"]) == (2, "not-utf8")
    assert metnos("--json", "log", b"\xff").error["code"] == "turn-missing"


def test_a_terminal_without_unicode_gets_every_answer(metnos: Metnos) -> None:
    done = metnos("ask", "quanti file più grandi di 1 MB ci sono qui?", PYTHONIOENCODING="ascii")
    assert done.status == 0
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["examples"], 0),
        (["--json", "catalog"], 0),
        (["ask", COUNT], 0),
        (["ask", "fold the laundry", "--no-model"], 1),
        (["eval", "empty.jsonl"], 1),
        (["--json", "eval", "empty.jsonl"], 1),
        (["--json", "eval", "none.jsonl"], 2),
    ],
)
def test_a_reader_that_goes_away_is_no_fault_and_no_success(metnos: Metnos, arguments: list[str], status: int) -> None:
    (metnos.folder / "empty.jsonl").touch()
    gone, end = os.pipe()
    os.close(gone)
    process = subprocess.Popen(
        [*COMMAND, *arguments], cwd=metnos.folder, env=metnos.environment, stdin=subprocess.DEVNULL, stdout=end,
        stderr=subprocess.PIPE,
    )  # fmt: skip
    os.close(end)
    _, err = process.communicate(timeout=30)
    assert (process.returncode, b"Traceback" in err, b"BrokenPipe" in err) == (status, False, False)


# --- homes ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("home", ["/proc/nothing", "/dev/null/home", "file"])
def test_a_home_that_cannot_be_written(metnos: Metnos, folder: Path, home: str) -> None:
    (folder / "file").write_text("")
    for arguments in (["ask", COUNT], ["log"], ["init"]):
        done = metnos("--json", *arguments, METNOS_HOME=home)
        assert done.status in (2, 3), done.out
        assert home.split("/")[1 if home.startswith("/") else 0] in done.error["where"] + done.error["message"]
        plain = metnos(*arguments, METNOS_HOME=home)
        assert (plain.status, plain.out, "Traceback" in plain.err) == (done.status, "", False)


def test_a_database_that_is_none(metnos: Metnos) -> None:
    metnos("init")
    (metnos.home / "metnos.db").write_bytes(b"this is no database, whatever it says " * 200)
    done = metnos("--json", "ask", COUNT)
    assert (done.status, done.error["code"]) == (3, "record-store")


@pytest.mark.parametrize(
    ("variable", "value"), [("METNOS_ZONE", "Mars/Olympus"), ("METNOS_LANG", "fr"), ("METNOS_LANG", "EN")]
)
def test_a_setting_that_is_wrong(metnos: Metnos, variable: str, value: str) -> None:
    done = metnos("--json", "ask", COUNT, **{variable: value})
    assert (done.status, done.error["code"]) == (2, "bad-settings")
    assert value in done.error["message"]
    assert done.error["hint"]


def test_a_folder_that_was_deleted(metnos: Metnos, folder: Path) -> None:
    script = f"cd {folder} && rmdir_later=1 && rm -r {folder} && exec {' '.join(COMMAND)} --json ask '{COUNT}'"
    done = subprocess.run(
        ["/bin/sh", "-c", script], env=metnos.environment, capture_output=True, timeout=30, check=False
    )
    assert done.returncode in (2, 3)
    assert json.loads(done.stdout)["error"]["code"]


# --- catalogs --------------------------------------------------------------------------------------------------------------


def test_no_catalog_at_all(metnos: Metnos, tmp_path: Path) -> None:
    none = {"METNOS_CATALOG": str(tmp_path / "nowhere")}
    listed = metnos("catalog", **none)
    assert (listed.status, listed.out) == (4, "")
    assert "refused: trust.json: catalog-missing" in listed.err
    assert [one["diagnostic"]["code"] for one in metnos("--json", "catalog", **none).json["refused"]] == [
        "catalog-missing"
    ]
    asked = metnos("ask", COUNT, **none)
    assert asked.status == 1
    assert "catalog-missing" in asked.err
    assert metnos("examples", **none).status == 1
    assert metnos("doctor", **none).status == 3


def damage(path: Path, *, append: bytes = b"\n# changed\n") -> None:
    path.write_bytes(path.read_bytes() + append)


def test_a_code_file_that_was_changed_is_refused_by_name(metnos: Metnos, catalog: Path) -> None:
    damage(catalog / "executors" / "find_files" / "executor.py")
    changed = {"METNOS_CATALOG": str(catalog)}
    listed = metnos("catalog", **changed)
    assert listed.status == 4
    assert "find_files" not in listed.out
    assert len(listed.out.splitlines()) == len(TOOLS) - 1
    assert re.search(r"refused: find_files: file-(length|digest) ", listed.err)
    told = metnos("--json", "catalog", **changed).json
    assert [one["name"] for one in told["refused"]] == ["find_files"]
    assert len(told["tools"]) == len(TOOLS) - 1
    asked = metnos("ask", COUNT, **changed)
    assert asked.status == 1
    assert "refused: find_files" in asked.err
    read = metnos("ask", "read a.txt", **changed)
    assert (read.status, read.out) == (0, "alpha\n\n")
    assert metnos("doctor", **changed).status == 3


def test_a_manifest_that_was_changed_is_refused_by_name(metnos: Metnos, catalog: Path) -> None:
    path = catalog / "manifests" / "write_files.dsse.json"
    envelope = json.loads(path.read_bytes())
    import base64

    payload = json.loads(base64.b64decode(envelope["payload"]))
    payload["effect"] = [{"class": "read"}]
    envelope["payload"] = base64.b64encode(json.dumps(payload).encode()).decode()
    path.write_text(json.dumps(envelope))
    listed = metnos("catalog", METNOS_CATALOG=str(catalog))
    assert listed.status == 4
    assert "refused: write_files: signature-invalid" in listed.err


def test_a_trust_root_that_was_exchanged_admits_nothing(metnos: Metnos, catalog: Path) -> None:
    from metnos.contracts.build import Signer, trust_root
    from metnos.contracts.trust import write_trust
    from tests.support.signing import key

    (catalog / "trust.json").write_bytes(write_trust(trust_root(Signer(key=key(9), development=True))))
    listed = metnos("--json", "catalog", METNOS_CATALOG=str(catalog))
    assert (listed.status, listed.json["tools"]) == (4, [])
    assert {one["diagnostic"]["code"] for one in listed.json["refused"]} <= {"key-unknown", "signature-invalid"}


# --- faults of this program -------------------------------------------------------------------------------------------------


def test_a_bug_is_told_as_json_too(monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    def broken(*_args: Any, **_more: Any) -> Any:
        raise ZeroDivisionError("of all things")

    monkeypatch.setattr("metnos.engine.Engine.open", broken)
    with pytest.raises(SystemExit) as left:
        main(["--json", "log"])
    told = capsysbinary.readouterr()
    assert left.value.code == 1
    assert json.loads(told.out)["error"]["code"] == "bug"
    assert b"of all things" in told.err
    with pytest.raises(SystemExit):
        main(["log"])
    told = capsysbinary.readouterr()
    assert told.out == b""
    assert b"Traceback" in told.err


def test_every_command_in_the_table_is_one() -> None:
    import click

    from metnos.cli.lazy import LazyGroup
    from metnos.cli.main import cli

    groups: list[click.Command] = [cli]
    for group in groups:
        assert isinstance(group, LazyGroup)
        for name, (_, line) in group.table.items():
            command = group.get_command(click.Context(group), name)
            assert command is not None
            assert command.help
            assert line.endswith(".")
            groups += [command] if isinstance(command, LazyGroup) else []
    assert len(groups) > 1


def test_a_fault_without_a_hint_of_its_own_has_that_of_its_code(metnos: Metnos) -> None:
    assert metnos("ask", COUNT).status == 0
    done = metnos("--json", "resume", "last")
    assert done.json["error"]["code"] == "turn-closed"
    assert done.json["error"]["hint"] == CODES["turn-closed"].hint
