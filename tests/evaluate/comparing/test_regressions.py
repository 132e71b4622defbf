"""The three regressions of issue 6, put into really recorded turns: each is found, and named with its turns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from metnos import Engine
from metnos.evaluate.collections.contracts import encode_contracts
from metnos.evaluate.collections.opening import open_collection
from metnos.evaluate.comparing.baseline import compare
from metnos.evaluate.measures.result import EvalResult, Regression
from metnos.evaluate.running.evaluating import Evaluation
from metnos.evaluate.running.rows import rows_path
from metnos.evaluate.running.runfile import Run, run_from
from metnos.evaluate.running.telling import lines_of
from metnos.settings import load_settings
from metnos.testing.proposer import ScriptedProposer
from tests.support.turnfiles import record, write_turns


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for number in range(4):
        (tmp_path / "here").mkdir(exist_ok=True)
        (tmp_path / "here" / f"f{number}.txt").write_text("x" * number * 1000)
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path


def run(folder: Path, parts: str, name: str) -> Run:
    path = folder / f"{name}.toml"
    path.write_text(f'form = "metnos.run/1"\n[turns]\npath = "turns.jsonl"\n{parts}')
    return run_from(path.read_bytes(), path)


def evaluated(folder: Path, parts: str, name: str) -> tuple[EvalResult, Path]:
    this = run(folder, parts, name)
    collection = open_collection(this.path(this.file.turns.path))
    out = folder / f"{name}.json"
    result = Evaluation(this, load_settings(home=str(folder / "home")), collection).evaluate(out)
    out.write_bytes(msgspec.json.encode(result))
    return result, out


def compared(folder: Path, before: str, after: str) -> tuple[EvalResult, dict[str, Regression]]:
    _, base = evaluated(folder, before, "base")
    result, out = evaluated(folder, after, "now")
    found = compare(result, rows_path(out), base, run(folder, after, "now").file.compare)
    return found, {one.kind: one for one in found.regressions if one.kind != "measure"}


def plan(*calls: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    return {"steps": [{"tool": tool, "args": args} for tool, args in (*calls, ("final_answer", {}))]}


def test_nothing_was_changed_and_nothing_is_worse(folder):
    with Engine.open(home=str(folder / "home")) as engine:
        asked = ("the five largest files here as a table", "read f2.txt", "delete f1.txt", "do something odd")
        write_turns(folder / "turns.jsonl", record(engine, *asked, approve=lambda _: True))
    found, regressions = compared(folder, "", "")
    assert (found.passed, regressions, found.matched.diverged) == (True, {}, {})
    assert (found.matched.answers_same, found.matched.exact, found.now.turns) == (4, 3, 4)
    assert all(one.judgement == "same" for one in found.differences)


def test_turns_that_cannot_be_read_any_more_are_worse(folder):
    with Engine.open(home=str(folder / "home")) as engine:
        path = write_turns(folder / "turns.jsonl", record(engine, "how many files are here", "read f2.txt"))
    _, base = evaluated(folder, "", "base")
    path.write_bytes(path.read_bytes()[:-100])
    result, out = evaluated(folder, "", "now")
    found = compare(result, rows_path(out), base, run(folder, "", "now").file.compare)
    assert [(one.kind, one.what, one.count) for one in found.regressions] == [("fault", "turnlog-malformed", 1)]
    assert not found.passed
    assert compare(result, rows_path(out), out, run(folder, "", "now").file.compare).passed  # it was so before


def test_turns_of_the_baseline_that_are_gone_are_worse_unless_that_is_ignored(folder):
    with Engine.open(home=str(folder / "home")) as engine:
        logs = record(engine, "how many files are here", "read f2.txt", "read f3.txt")
    write_turns(folder / "turns.jsonl", logs)
    _, base = evaluated(folder, "", "base")
    write_turns(folder / "turns.jsonl", logs[:1])
    result, out = evaluated(folder, "", "now")
    found = compare(result, rows_path(out), base, run(folder, "", "now").file.compare)
    gone = (logs[1].turn, logs[2].turn)
    assert [(one.kind, one.what, one.count, one.turns) for one in found.regressions] == [
        ("missing-turns", "turns", 2, gone)
    ]
    assert not found.passed
    assert "2 turns of the baseline are not here" in "\n".join(lines_of(found, "en"))
    told = run(folder, '[compare]\nignore = ["missing-turns"]\n', "now").file.compare
    assert compare(result, rows_path(out), base, told).passed
    stopped = msgspec.structs.replace(result, meta=msgspec.structs.replace(result.meta, stopped="seconds"))
    assert compare(stopped, rows_path(out), base, run(folder, "", "now").file.compare).passed


def test_a_guard_switched_off_is_named_with_the_turns_that_pass_a_refused_plan(folder):
    wrong = plan(("delete_files", {"path": "f1.txt"}))
    proposer = ScriptedProposer(wrong, wrong, plan(("read_files", {"path": "f2.txt"})))
    with Engine.open(home=str(folder / "home"), proposer=proposer) as engine:
        logs = record(engine, "ponder deeply about f1.txt", "show me gently what f2.txt says")
    write_turns(folder / "turns.jsonl", logs)
    found, regressions = compared(folder, "", '[parts.guards]\noff = ["requested-effects"]\n')
    accepted = regressions["newly-accepted"]
    assert (accepted.what, accepted.turns, accepted.count) == ("requested-effects", (logs[0].turn,), 1)
    assert accepted.detail == "unrequested-effect"
    assert accepted.requests == ("ponder deeply about f1.txt",)
    assert set(regressions) == {"newly-accepted"}
    assert not found.passed
    assert found.meta.parts == {"guards": "without requested-effects"}
    # and what it would have done was not done: the file is there, and nobody was asked
    assert Path("f1.txt").exists()
    assert found.matched.diverged == {"accepted requested-effects": 1}


def test_a_broken_synonym_is_named_with_the_requests_that_are_not_served(folder):
    good, broken = folder / "good.toml", folder / "broken.toml"
    good.write_text('language = "en"\nsynonyms = "largest|heftiest"\n')
    broken.write_text('language = "en"\nsynonyms = "largest|heftyest"\n')
    (folder / "home").mkdir()
    (folder / "home" / "settings.toml").write_text(f'lexicon = ["{good}"]\n')
    with Engine.open(home=str(folder / "home")) as engine:
        logs = record(
            engine, "the five heftiest files here", "the five largest files here", "the three heftiest files here"
        )
    assert all(b"plan_found" in log.records[1].kind.encode() for log in logs)
    write_turns(folder / "turns.jsonl", logs)
    cache = '[parts.cache]\nmode = "templates"\n'
    found, regressions = compared(
        folder, f'[parts]\nlexicon = ["good.toml"]\n{cache}', f'[parts]\nlexicon = ["broken.toml"]\n{cache}'
    )
    lost = regressions["not-served"]
    assert (lost.what, lost.count, lost.turns) == ("unknown-words", 2, (logs[0].turn, logs[2].turn))
    assert lost.requests == ("the five heftiest files here", "the three heftiest files here")
    assert set(regressions) == {"not-served"}
    assert not found.passed


def test_a_broken_synonym_costs_what_was_learned_under_it(folder):
    (folder / "good.toml").write_text('language = "en"\nsynonyms = "oddly|queerly"\ncontent = "oddly"\n')
    (folder / "broken.toml").write_text('language = "en"\ncontent = "oddly queerly"\n')
    (folder / "home").mkdir()
    (folder / "home" / "settings.toml").write_text(f'lexicon = ["{folder / "good.toml"}"]\n')
    here = plan(("find_files", {"path": "."}))
    with Engine.open(home=str(folder / "home"), proposer=ScriptedProposer(here)) as engine:
        logs = record(engine, "show me oddly the files here", "show me queerly the files here")
    assert logs[1].records[1].kind == "plan_found"
    write_turns(folder / "turns.jsonl", logs)
    cache = '[parts.cache]\nmode = "learn"\n'
    found, regressions = compared(
        folder, f'[parts]\nlexicon = ["good.toml"]\n{cache}', f'[parts]\nlexicon = ["broken.toml"]\n{cache}'
    )
    lost = regressions["not-served"]
    assert (lost.turns, lost.requests) == ((logs[1].turn,), ("show me queerly the files here",))
    assert lost.detail.startswith("l0:")
    assert not found.passed


def test_a_renamed_field_of_a_result_is_named_with_turn_step_and_field(folder):
    with Engine.open(home=str(folder / "home")) as engine:
        logs = record(engine, "the five largest files here as a table", "read f2.txt")
        contracts = dict(engine.parts.catalog.contracts())
    write_turns(folder / "turns.jsonl", logs, contracts.values())
    known = contracts["find_files"]
    text = msgspec.json.encode(known.result).replace(b'"size"', b'"bytes"')
    contracts["find_files"] = msgspec.structs.replace(known, result=msgspec.json.decode(text), digest="sha256:other")
    (folder / "copy").mkdir()
    (folder / "copy" / "contracts.json").write_bytes(encode_contracts(contracts.values()))
    found, regressions = compared(folder, "", '[parts]\ncatalog = "copy/contracts.json"\n')
    drift = regressions["drift"]
    assert (drift.what, drift.field) == ("field-gone find_files /entries/*/size", "/entries/*/size")
    assert (drift.turns, drift.step, drift.detail) == ((logs[0].turn,), "1.1", "bytes")
    assert not found.passed
    assert logs[1].turn not in drift.turns
