"""Whole runs: rows as they come, in one process or more, stopped and gone on with, bounded, and with parts swapped."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from metnos import Engine
from metnos.evaluate.collections.opening import open_collection
from metnos.evaluate.running import evaluating
from metnos.evaluate.running.evaluating import Evaluation
from metnos.evaluate.running.rows import Rows, RowsFault, read_rows, rows_path
from metnos.evaluate.running.runfile import RunFault, run_from
from metnos.settings import load_settings
from metnos.testing.proposer import ScriptedProposer
from tests.support.turnfiles import record, write_turns


def evaluation(folder: Path, text: str = "", **more: Any) -> Evaluation:
    turns = "" if "[turns]" in text else '[turns]\npath = "turns.jsonl"\n'
    path = folder / "RUN.toml"
    path.write_text(f'form = "metnos.run/1"\n{turns}{text}')
    run = run_from(path.read_bytes(), path)
    collection = open_collection(run.path(run.file.turns.path))
    return Evaluation(run, load_settings(home=str(folder / "home")), collection, **more)


def evaluated(folder: Path, text: str = "", name: str = "now", **more: Any):
    return evaluation(folder, text, **more).evaluate(folder / f"{name}.json")


def rows(folder: Path, name: str = "now"):
    return list(read_rows(folder / f"{name}.rows.jsonl"))


def timeless(result):
    return msgspec.json.encode(
        msgspec.structs.replace(result, meta=msgspec.structs.replace(result.meta, seconds=0.0, rows=""))
    )


def test_rows_and_figures_of_a_run_in_which_nothing_is_swapped(recorded, folder):
    result = evaluated(folder)
    assert (result.now.turns, result.recorded.turns, result.matched.diverged) == (8, 8, {})
    assert result.now.totals | {"latency_us": 0} == result.recorded.totals | {"latency_us": 0}
    assert result.now.counted("outcome") == {"success": 6, "error": 1, "not_understood": 1}
    assert (result.matched.hits, result.matched.false_hits, result.matched.answers_same) == (6, 0, 8)
    assert (result.now.total("model_calls"), result.now.total("tokens_in"), result.now.total("unpriced")) == (2, 200, 2)
    assert result.now.counted("guards") == {"validator": 1}
    assert [row.turn for row in rows(folder)] == [row.now.turn for row in rows(folder)]
    assert result.success.low < 6 / 8 < result.success.high


def test_processes_change_nothing(recorded, folder, monkeypatch):
    monkeypatch.setattr("metnos.evaluate.collections.jsonl.PART_BYTES", 4000)
    one, two = evaluated(folder, name="one"), evaluated(folder, name="two", workers=2)
    assert len(list(open_collection(recorded).shards())) > 3
    assert timeless(one) == timeless(two)
    assert rows_path(folder / "one.json").read_bytes() == rows_path(folder / "two.json").read_bytes()


def counting(monkeypatch) -> list[str]:
    seen: list[str] = []
    real = evaluating.evaluate_turn

    def counted(parts: Any, turn: Any, *more: Any) -> Any:
        seen.append(turn.log.turn)
        return real(parts, turn, *more)

    monkeypatch.setattr(evaluating, "evaluate_turn", counted)
    return seen


@pytest.mark.parametrize("torn", [b"", b'{"turn": "half a li'])
def test_a_run_that_was_cut_off_goes_on_behind_its_last_row(recorded, folder, monkeypatch, torn):
    whole = evaluated(folder, name="whole")
    text = rows_path(folder / "whole.json").read_bytes()
    lines = text.splitlines(keepends=True)
    rows_path(folder / "now.json").write_bytes(b"".join(lines[:4]) + torn)
    seen = counting(monkeypatch)
    assert timeless(evaluated(folder)) == timeless(whole)
    assert len(seen) == 8 - 3
    assert rows_path(folder / "now.json").read_bytes() == text


KILLED = """
import os, signal, sys
from pathlib import Path
from tests.evaluate.running.test_evaluating import evaluation
if __name__ == "__main__":
    def progress(told):
        if told.done == 3:
            os.kill(os.getpid(), signal.SIGKILL)
    evaluation(Path(sys.argv[1]), progress=progress).evaluate(Path(sys.argv[1]) / "now.json")
"""


def test_a_run_that_was_killed_has_its_rows_and_goes_on(recorded, folder, root, monkeypatch):
    script = folder / "killed.py"
    script.write_text(KILLED)
    environment = {"PYTHONPATH": str(root), "HOME": str(folder), "PATH": "/usr/bin:/bin", "TZ": "UTC"}
    done = subprocess.run([sys.executable, script, folder], env=environment, capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert len(rows(folder)) == 3
    seen = counting(monkeypatch)
    assert evaluated(folder).now.turns == 8
    assert len(seen) == 5
    assert len(rows(folder)) == 8


def test_a_changed_run_is_not_gone_on_with(recorded, folder):
    evaluated(folder)
    with pytest.raises(RowsFault) as caught:
        evaluated(folder, '[parts.cache]\nmode = "off"\n')
    assert caught.value.code == "rows-of-another-run"
    assert "--fresh" in caught.value.hint
    evaluated(folder, "[budget]\nseconds = 99.0\n")
    assert evaluated(folder, '[parts.cache]\nmode = "off"\n', fresh=True).matched.hits == 0


@pytest.mark.parametrize("bound", ["", "[budget]\nseconds = 1e-9\n"])
def test_a_changed_run_replaces_one_that_came_to_its_end_and_no_other(recorded, folder, bound):
    result = evaluated(folder, bound)
    (folder / "now.json").write_bytes(msgspec.json.encode(result))
    other = '[parts.cache]\nmode = "off"\n'
    if bound:
        with pytest.raises(RowsFault, match="another run"):
            evaluated(folder, other)
    else:
        assert (evaluated(folder, other).matched.hits, len(rows(folder))) == (0, 8)


def test_turns_that_lie_elsewhere_now_are_the_same_turns(recorded, folder, monkeypatch):
    evaluated(folder, '[turns]\npath = "turns.jsonl"\n[budget]\nseconds = 1e-9\n')
    recorded.rename(folder / "moved.jsonl")
    seen = counting(monkeypatch)
    assert evaluated(folder, '[turns]\npath = "moved.jsonl"\n').now.turns == 8
    assert len(seen) == 7


def test_changed_turns_are_not_gone_on_with(recorded, folder):
    evaluated(folder)
    recorded.write_bytes(b"".join(reversed(recorded.read_bytes().splitlines(keepends=True))))
    with pytest.raises(RowsFault, match="in its place"):
        evaluated(folder)


def test_rows_that_are_none(folder, recorded):
    rows_path(folder / "now.json").write_bytes(b"{}\n")
    with pytest.raises(RowsFault) as caught:
        evaluated(folder)
    assert caught.value.code == "rows-malformed"


@pytest.mark.parametrize(
    ("bound", "why", "turns"),
    [
        ("seconds = 1e-9", "seconds", 1),
        ("tokens = 1", "tokens", 8),
        ("early.failures = 1", "early", 1),
        ("early = {after = 3, width = 0.99}", "early", 3),
    ],
)
def test_a_bound_ends_a_run_and_says_which(recorded, folder, bound, why, turns):
    parts = '[parts.cache]\nmode = "off"\n[parts.proposer]\nkind = "none"\n' if "failures" in bound else ""
    result = evaluated(folder, f"{parts}[budget]\n{bound}\n")
    assert (result.meta.stopped, result.now.turns) == (why, turns)


def test_a_run_that_was_stopped_goes_on_with_a_larger_bound(recorded, folder):
    assert evaluated(folder, "[budget]\nseconds = 1e-9\n").meta.stopped == "seconds"
    assert evaluated(folder).now.turns == 8


@pytest.mark.parametrize(
    ("chosen", "turns"),
    [
        ("limit = 3", 3),
        ('request = "FILES HERE"', 2),
        ('outcome = ["error"]', 1),
        ('source = ["model"]', 1),
        ('tool = ["delete_files", "write_files"]', 2),
        ('group = ["nobody"]', 0),
        ("sample = 2", 2),
        ('sample = 5\ntool = ["delete_files", "write_files"]', 2),
    ],
)
def test_turns_are_chosen_by_what_they_are(recorded, folder, chosen, turns):
    assert evaluated(folder, f'[turns]\npath = "turns.jsonl"\n{chosen}\n').now.turns == turns


def test_a_sample_is_the_same_in_any_order_and_another_with_another_seed(recorded, folder):
    text = '[turns]\npath = "turns.jsonl"\nsample = 3\nseed = {}\n'
    evaluated(folder, text.format(1), "first")
    recorded.write_bytes(b"".join(reversed(recorded.read_bytes().splitlines(keepends=True))))
    evaluated(folder, text.format(1), "again")
    first, again = ({row.turn for row in rows(folder, name)} for name in ("first", "again"))
    assert first == again
    assert any(
        {row.turn for row in evaluated_rows(folder, text.format(seed), f"seed{seed}")} != first for seed in (2, 3, 4)
    )


def evaluated_rows(folder, text, name):
    evaluated(folder, text, name)
    return rows(folder, name)


def test_what_cannot_be_read_is_counted_and_what_does_not_hold_is_a_row_with_its_fault(recorded, folder):
    lines = recorded.read_bytes().splitlines(keepends=True)
    lines[2] = lines[2].replace(b"f2.txt", b"f3.txt")
    recorded.write_bytes(b"".join([lines[0], b"no turn\n", *lines[1:]]))
    result = evaluated(folder)
    assert (result.meta.faults, result.now.turns, result.matched.faults) == ({"turnlog-malformed": 1}, 8, 1)
    bad = rows(folder)[2]
    assert (bad.fault, bad.now.known, result.now.unknown) == ("record-altered", False, 1)


def test_rows_that_lie_among_the_turns_are_no_turns(recorded, folder):
    turns = '[turns]\npath = "."\n'
    first = evaluated(folder, turns)
    again = evaluated(folder, turns)
    assert (folder / "now.rows.jsonl").exists()
    assert (first.meta.faults, again.meta.faults, again.now.turns) == ({}, {}, first.now.turns)
    (folder / "other.rows.jsonl").write_bytes(recorded.read_bytes())
    more = evaluated(folder, turns, "more")  # these are turns, each of them a second time
    assert (more.now.turns, more.meta.faults) == (first.now.turns, {"turn-exists": first.now.turns})


def plan_of(*calls):
    return {"steps": [{"tool": tool, "args": args} for tool, args in (*calls, ("final_answer", {}))]}


def test_a_cache_that_learns_serves_what_was_asked_before_and_a_false_hit_is_counted(folder):
    here, all_of_it = plan_of(("find_files", {"path": "."})), plan_of(("find_files", {"path": ".", "pattern": "*.txt"}))
    proposer = ScriptedProposer(here, here, all_of_it)
    with Engine.open(home=str(folder / "home"), proposer=proposer) as engine:
        logs = record(engine, *["show me oddly the files here"] * 3, cache="off")
    write_turns(folder / "turns.jsonl", logs)
    result = evaluated(folder, '[parts.cache]\nmode = "learn"\n')
    assert result.now.counted("plan_source") == {"model": 1, "cache": 2}
    found = rows(folder)
    assert [row.diverged for row in found] == ["", "served cache", "served cache"]
    assert [row.false_hit for row in found] == [False, False, True]
    assert (result.matched.hits, result.matched.hits_judged, result.matched.false_hits) == (2, 2, 1)
    assert [row.answer for row in found] == ["same", "same", "unobserved"]
    assert result.now.total("model_calls") == 1


def test_a_script_proposes(recorded, folder):
    plan = msgspec.json.encode(plan_of(("find_files", {"path": "."}))).decode()
    (folder / "plans.jsonl").write_text(f'{{"request": "do something odd", "plan": {plan}, "tokens_in": 7}}\n')
    result = evaluated(folder, '[parts.proposer]\nkind = "scripted"\nfile = "plans.jsonl"\n')
    odd = next(row for row in rows(folder) if row.now.request == "do something odd")
    assert (odd.now.models, odd.now.tokens_in, odd.refused_by or odd.unobserved or odd.now.outcome) != ((), 0, "")
    assert result.meta.parts == {"proposer": "scripted plans.jsonl"}


def test_a_model_of_a_home_proposes_and_routing_hands_it_as_many_tools_as_are_wanted(recorded, folder):
    home = folder / "models"
    home.mkdir()
    (home / "models.toml").write_text(
        '[models.tiny]\nadapter = "scripted"\nfile = "said.json"\n[roles]\nmiddle = ["tiny"]\n'
    )
    plan = msgspec.json.encode(plan_of(("find_files", {"path": "."}))).decode()
    (home / "said.json").write_bytes(msgspec.json.encode([plan, {"fault": "model-limited", "message": "no more"}]))
    text = (
        '[turns]\npath = "turns.jsonl"\nrequest = "how many files"\n[parts.cache]\nmode = "off"\n'
        '[parts.proposer]\nkind = "model"\nmodel = "tiny"\nhome = "models"\ncandidates = 2\n'
    )
    result = evaluated(folder, text, workers=2)
    (row,) = rows(folder)
    assert (row.now.models, row.now.plan_source, row.now.plans) == (("tiny",), "model", 1)
    assert row.now.tokens_in > 0
    assert result.meta.parts["proposer"] == "model tiny"
    with pytest.raises(RunFault, match="no model is called"):
        evaluated(folder, text.replace('model = "tiny"', 'model = "none"'), "other")


def test_guards_policy_and_catalog_are_told_as_swapped(recorded, folder):
    result = evaluated(folder, '[parts.guards]\noff = ["grounding"]\n[parts.policy.table.delete]\ncatalog = "deny"\n')
    assert result.meta.parts == {"guards": "without grounding", "policy": "delete.catalog = deny"}
    assert result.matched.diverged == {"policy": 1}
    assert result.now.counted("verdicts")["deny"] == 1
    assert result.now.counted("outcome")["policy_denied"] == 1


def test_ray_changes_nothing(recorded, folder, monkeypatch):
    pytest.importorskip("ray", reason="the extra `ray` is not installed")
    monkeypatch.setattr("metnos.evaluate.collections.jsonl.PART_BYTES", 4000)
    one, two = evaluated(folder, name="one"), evaluated(folder, name="two", workers=2, backend="ray")
    assert timeless(one) == timeless(two)
    assert rows_path(folder / "one.json").read_bytes() == rows_path(folder / "two.json").read_bytes()


def test_progress_is_told_with_the_time_that_is_left(recorded, folder):
    told: list[Any] = []
    evaluated(folder, '[turns]\npath = "turns.jsonl"\nlimit = 4\n', progress=told.append)
    assert [one.done for one in told] == [1, 2, 3, 4][: len(told)]
    assert told[1].share == 0.5
    assert told[1].left == pytest.approx(told[1].seconds)


def test_a_second_run_at_once_says_so_and_changes_nothing(recorded, folder):
    evaluated(folder)
    path = folder / "now.rows.jsonl"
    for fresh in (False, True):
        with Rows(path, "sha256:other", fresh=True):
            there = path.read_bytes()
            with pytest.raises(RowsFault) as found:
                Rows(path, "sha256:other", fresh=fresh)
            assert (found.value.code, path.read_bytes()) == ("rows-busy", there)
    with Rows(path, "sha256:other"):  # it was given up
        pass
