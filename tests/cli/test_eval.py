"""`metnos eval` in a process of its own: tables, JSON, exit codes, JUnit and annotations."""

from __future__ import annotations

import json
import os
import pty
import select
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from metnos import Engine
from metnos.evaluate.checking.reports import annotated, junit
from metnos.evaluate.measures.result import Difference, EvalResult, Matched, Meta, Regression
from metnos.evaluate.running.runfile import RunFault, run_from, run_schema
from metnos.evaluate.running.telling import lines_of
from tests.support.terminal import Metnos

TURNS = 'form = "metnos.run/1"\n[turns]\npath = "{home}"\n'


@pytest.fixture(scope="session")
def home_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home in which three things were asked."""
    top = tmp_path_factory.mktemp("asked")
    (here := top / "here").mkdir()
    (here / "a.txt").write_text("alpha")
    with Engine.open(home=str(top / "home"), folder=here) as engine:
        for sentence in ("the five largest files here", "how many files are here", "fold the laundry"):
            engine.run_sync(sentence)
    return top / "home"


@pytest.fixture
def asked(home_once: Path, tmp_path: Path, folder: Path) -> Path:
    """A copy of it; `RUN.toml` in the folder is about it."""
    shutil.copytree(home_once, tmp_path / "home")
    (folder / "RUN.toml").write_text(TURNS.format(home=tmp_path / "home"))
    return folder / "RUN.toml"


def test_a_home_is_evaluated_as_it_is_and_nothing_is_left_behind(metnos: Metnos, asked: Path, tmp_path: Path) -> None:
    before = set(asked.parent.iterdir())
    done = metnos("eval", str(tmp_path / "home"))
    assert (done.status, done.err) == (0, "")
    assert "3 turns evaluated" in done.out
    assert "2/3  66.7%" in done.out
    assert "same 3  other 0  unobserved 0" in done.out
    assert set(asked.parent.iterdir()) == before
    assert "3 turni valutati" in metnos("--lang", "it", "eval", str(tmp_path / "home")).out


def test_a_run_that_is_worse_than_its_baseline_exits_1_and_says_what(metnos: Metnos, asked: Path) -> None:
    good = metnos("eval", "RUN.toml", "--out", "base.json")
    assert good.status == 0
    asked.write_text(asked.read_text() + '[parts.cache]\nmode = "off"\n')
    done = metnos("eval", "RUN.toml", "--baseline", "base.json", "--junit", "junit.xml", "--annotations")
    assert done.status == 1
    assert "WORSE: 2 requests are no longer served: no-cache" in done.out
    assert "“how many files are here”" in done.out
    (said,) = [line for line in done.out.splitlines() if line.startswith("::error ")]
    assert said.startswith("::error file=RUN.toml,line=1,title=not-served%3A no-cache::WORSE: 2 requests")
    suite = ET.parse(asked.parent / "junit.xml").getroot()[0]
    assert suite.attrib["failures"] == "1"
    (asked.parent / "RUN.eval.json").unlink()
    asked.write_text(asked.read_text() + '[compare]\nignore = ["not-served"]\n')
    assert metnos("eval", "RUN.toml", "--baseline", "base.json", "--fresh").status == 0


def test_json_is_the_result_and_nothing_else(metnos: Metnos, asked: Path) -> None:
    done = metnos("--json", "eval", "RUN.toml")
    assert (done.status, done.err, done.json["form"], done.json["now"]["turns"]) == (0, "", "metnos.eval/1", 3)
    assert json.loads((asked.parent / "RUN.eval.json").read_bytes()) == done.json


def test_turns_from_stdin(metnos: Metnos, asked: Path) -> None:
    done = metnos("eval", "-", given=b"no turn\n")
    assert done.status == 1
    assert "could not be read: turnlog-malformed: 1\n  -:1: turnlog-malformed: " in done.out


@pytest.mark.parametrize(
    ("arguments", "code", "status"),
    [
        (("none.toml",), "bad-run", 2),
        (("RUN.toml", "--baseline", "none.json"), "bad-baseline", 2),
        (("RUN.toml", "--baseline", "RUN.toml"), "bad-baseline", 2),
        (("nowhere",), "collection-missing", 2),
    ],
)
def test_what_cannot_be_begun_says_why(metnos: Metnos, asked: Path, arguments, code, status) -> None:
    done = metnos("--json", "eval", *arguments)
    assert (done.json["error"]["code"], done.status) == (code, status)
    assert done.json["error"]["hint"]


def test_a_baseline_is_not_written_over(metnos: Metnos, asked: Path) -> None:
    metnos("eval", "RUN.toml")
    done = metnos("eval", "RUN.toml", "--baseline", "RUN.eval.json")
    assert done.status == 2
    assert "overwritten" in done.err


@pytest.mark.parametrize("option", ["--out", "--junit", "--report"])
@pytest.mark.parametrize("there", ["RUN.toml", "turns.jsonl"])
def test_only_what_an_evaluation_wrote_is_written_over(metnos: Metnos, asked: Path, option: str, there: str) -> None:
    (asked.parent / "turns.jsonl").write_text("somebody's\n")
    before = (asked.parent / there).read_bytes()
    done = metnos("--json", "eval", "RUN.toml", option, there)
    assert (done.status, done.json["error"]["where"].endswith(there)) == (2, True)
    assert (asked.parent / there).read_bytes() == before
    for _ in range(2):
        assert metnos("eval", "RUN.toml", option, "written").status == 0


def test_progress_is_seen_on_a_terminal(metnos: Metnos, asked: Path) -> None:
    asked.write_text(asked.read_text() + "limit = 2\n")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "metnos", "--home", str(asked.parent.parent / "home"), "eval", "RUN.toml"]
    with subprocess.Popen(command, cwd=asked.parent, stdout=subprocess.DEVNULL, stderr=theirs) as process:
        os.close(theirs)
        seen = b""
        while select.select([ours], [], [], 30)[0]:
            try:
                seen += os.read(ours, 4096)
            except OSError:  # the other end is closed
                break
        assert process.wait() == 0
    os.close(ours)
    assert b"s left" in seen


# --- the run file -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "where", "hint"),
    [
        ("form = ", "RUN.toml", "TOML"),
        ('form = "metnos.run/2"\n[turns]\npath = "t"', "RUN.toml: form", "is `metnos.run/1` meant?"),
        ('form = "metnos.run/1"', "RUN.toml", "schema run"),
        ("[parts.gards]\noff = []", "RUN.toml: parts.gards", "is `guards` meant?"),
        ("[parts.guards]\noff = [3]", "RUN.toml: parts.guards.off[0]", "schema run"),
        ('[parts.guards]\noff = ["grunding"]', "RUN.toml: parts.guards.off", "grounding"),
        ('[parts.proposer]\nkind = "scripted"', "RUN.toml: parts.proposer.file", "schema run"),
        ("[measure]\npass_k = [0]", "RUN.toml: measure.pass_k", "at least 1"),
        ("[compare]\nlevel = 1.0", "RUN.toml: compare.level", "0.95"),
        ("[parts.cache]\nnear_error = 0.6", "RUN.toml: parts.cache.near_error", "0.5"),
        ('[compare]\nignore = ["not-srved"]', "RUN.toml: compare.ignore", "is `not-served` meant?"),
        ("[compare]\ntolerance = { sucess = 0.1 }", "RUN.toml: compare.tolerance", "is `success` meant?"),
        ("[compare]\ntolerance = { success = nan }", "RUN.toml: compare.tolerance.success", "0 or more"),
        ("[compare]\ntolerance = { cost = -1.0 }", "RUN.toml: compare.tolerance.cost", "0 or more"),
        ("[compare]\nrounds = 0", "RUN.toml: compare.rounds", "at least 1"),
        ("[budget]\nseconds = nan", "RUN.toml: budget.seconds", "0 is no bound"),
        ("[budget]\ntokens = -1", "RUN.toml: budget.tokens", "0 is no bound"),
        ("[budget]\nearly = { width = nan }", "RUN.toml: budget.early.width", "0 is no bound"),
        ('[parts.proposer]\nkind = "model"\ncandidates = 0', "RUN.toml: parts.proposer.candidates", "at least 1"),
        ('[parts.proposer]\nkind = "model"\nseconds = nan', "RUN.toml: parts.proposer.seconds", "more than 0"),
        ("[parts.cache]\ndays = -1", "RUN.toml: parts.cache.days", "0 or more"),
        ('outcome = ["succes"]', "RUN.toml: turns.outcome", "is `success` meant?"),
        ('[parts.proposer]\nkind = "modl"', "RUN.toml: parts.proposer.kind", "is `model` meant? there are: recorded, "),
        ('[parts.cache]\nmode = "lern"', "RUN.toml: parts.cache.mode", "is `learn` meant? there are: recorded, "),
        ('[parts.cache]\nmode = "xyz"', "RUN.toml: parts.cache.mode", "there are: recorded, templates, learn, off"),
        ("[parts.policy.table]\nsned = {}", "RUN.toml: parts.policy.table", "is `send` meant?"),
        ('[parts.policy.table.read]\nhots = "ask"', "RUN.toml: parts.policy.table[...]", "is `host` meant?"),
        ('[parts.policy.table.read]\nhost = "deyn"', "RUN.toml: parts.policy.table[...][...]", "is `deny` meant?"),
        ("limit = 99999999999999999999", "RUN.toml: turns.limit", "2^53 - 1"),
        ("[budget.early]\nafter = 3\nwitdh = 0.1", "RUN.toml: budget.early.witdh", "is `width` meant?"),
    ],
)
def test_a_run_file_that_does_not_hold_says_where_and_what_to_do(text: str, where: str, hint: str) -> None:
    head = "" if "form" in text else 'form = "metnos.run/1"\n[turns]\npath = "t"\n'
    with pytest.raises(RunFault) as caught:
        run_from((head + text).encode(), Path("RUN.toml"))
    assert caught.value.where == where
    assert hint in caught.value.hint


def test_where_no_turn_is_there_or_chosen_nothing_was_found_good(metnos: Metnos, asked: Path) -> None:
    asked.write_text(asked.read_text() + 'request = "quite another thing"\n')
    done = metnos("eval", "RUN.toml")
    assert (done.status, "no turn was there" in done.out) == (1, True)
    (asked.parent / "none.jsonl").touch()
    assert metnos("eval", "none.jsonl").status == 1


def test_a_turn_that_was_altered_is_told_and_no_success(metnos: Metnos, asked: Path) -> None:
    assert metnos("log", "export", "jsonl", "../home", "--to", "turns.jsonl").status == 0
    turns = asked.parent / "turns.jsonl"
    assert metnos("eval", "turns.jsonl").status == 0
    turns.write_bytes(turns.read_bytes().replace(b"laundry", b"linenry"))
    done = metnos("eval", "turns.jsonl")
    assert (done.status, "could not be evaluated, and are not believed: 1" in done.out) == (1, True)


def test_no_turns_are_none() -> None:
    with pytest.raises(RunFault, match=r"turns\.limit: 0 is out of bounds"):
        run_from(b'form = "metnos.run/1"\n[turns]\npath = "t"\nlimit = 0\n', Path("RUN.toml"))


def test_a_path_that_can_be_none_is_a_fault_of_the_run() -> None:
    run = run_from(b'form = "metnos.run/1"\n[turns]\npath = "a\\u0000b"\n', Path("RUN.toml"))
    with pytest.raises(RunFault, match="NUL"):
        run.path(run.file.turns.path)


def test_the_schema_takes_what_the_reader_takes_and_refuses_what_it_refuses(metnos: Metnos) -> None:
    import jsonschema

    schema = metnos("schema", "run").json
    assert schema == run_schema()
    checker = jsonschema.Draft202012Validator(schema)
    checker.validate(
        {"form": "metnos.run/1", "turns": {"path": "t", "import": "tau"}, "parts": {"guards": {"off": []}}}
    )
    assert not checker.is_valid({"form": "metnos.run/1", "turns": {"path": "t"}, "parts": {"gards": {}}})
    assert not checker.is_valid({"form": "metnos.run/1"})


# --- as a check -------------------------------------------------------------------------------------------------------


def odd() -> EvalResult:
    measure = Difference(measure="success", pairs=9, before=1.0, after=0.0, low=-1.0, high=-0.5, judgement="worse")
    return EvalResult(
        meta=Meta(seconds=1.5),
        baseline="sha256:0",
        differences=(measure,),
        regressions=(
            Regression(kind="failed", what="a\x00,b:c", count=1, turns=("t1",), requests=("50% <off>\r\nnow\x1b",)),
            Regression(kind="measure", what="success", count=9),
            Regression(kind="drift", what="field-gone", count=2, ignored=True),
        ),
    )


def test_junit_holds_what_was_found_however_it_is_spelled() -> None:
    suite = ET.fromstring(junit(odd()))[0]
    assert suite.attrib["tests"] == "3"
    assert (suite.attrib["failures"], suite.attrib["skipped"], suite.attrib["time"]) == ("2", "1", "1.500")
    failed = suite.find("testcase[@classname='metnos eval.failed']")
    assert failed is not None
    assert failed.attrib["name"] == "a\\u0000,b:c"
    assert "50% <off>" in (failed.findtext("failure") or "")


def test_an_annotation_is_one_line_whatever_it_names() -> None:
    lines = list(annotated(odd(), Path("a b/RUN.toml")))
    assert [line.split(" ")[0] for line in lines] == ["::error", "::error", "::warning"]
    assert lines[0].startswith("::error file=a b/RUN.toml,line=1,title=failed%3A a\x00%2Cb%3Ac::")
    assert "50%25 <off>%0D%0Anow" in lines[0]
    assert not any("\n" in line or "\r" in line for line in lines)


def test_where_no_plan_has_a_reference_that_is_said() -> None:
    told = "\n".join(lines_of(EvalResult(matched=Matched(turns=1, compared=1, exact=1)), "en"))
    assert "no plan has one" in told
    assert "F1" not in told
    told = "\n".join(lines_of(EvalResult(matched=Matched(turns=1, compared=1, edges_recorded=2)), "en"))
    assert "P –  R 0.000  F1 0.000" in told


def test_a_file_that_a_run_names_is_a_plain_one(metnos: Metnos, asked: Path) -> None:
    os.mkfifo(asked.parent / "prices.toml")
    asked.write_text(asked.read_text() + '[measure]\nprices = "prices.toml"\n')
    done = metnos("eval", "RUN.toml")
    assert (done.status, "not a plain file" in done.err) == (2, True), done.err
