"""`metnos cache`, `metnos feedback`, `--no-cache`, `--refresh`, on a home where something was learned."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from metnos import Engine
from metnos.cli.main import main
from metnos.contracts.envelope import key_id
from metnos.text import message
from tests.support.caching import plan, step

SAYING = "read the first line of the file a.txt"
PLAN = plan(step("read_files", path="a.txt"), text="${step1.count}")
Says = Callable[..., tuple[int, str]]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def engine(home: Path, folder: Path) -> Any:
    """An engine whose proposer knows one plan."""
    with Engine.open(home, folder=folder, zone="UTC", proposer=lambda *_: PLAN) as opened:
        yield opened


@pytest.fixture
def says(home: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Says:
    """Type a command; its exit code and what it printed."""
    monkeypatch.chdir(folder)

    def typed(*words: str) -> tuple[int, str]:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main(["--home", str(home), *words])
        return int(ended.value.code or 0), capsys.readouterr().out

    return typed


def test_what_was_learned_is_served_explained_listed_and_shown(engine: Engine, says: Says) -> None:
    status, out = says("cache", "list")
    assert (status, out.startswith(message("cache.empty", "en") + "\n")) == (0, True)
    templates = json.loads(says("cache", "list", "--json", "--tool", "get_now")[1])["entries"]
    assert "time-now" in {one["entry"].partition("@sha256:")[0] for one in templates}
    assert {(one["layer"], one["state"], "get_now" in one["tools"]) for one in templates} == {
        ("template", "valid", True)
    }
    keys = json.loads((engine.settings.catalog / "trust.json").read_text())["keys"]
    assert {one["signer"] for one in templates} <= {key_id(bytes.fromhex(key["public"])) for key in keys.values()}
    assert "time-now  template strict en it  valid" in out
    assert json.loads(says("cache", "show", "time-now")[1])["id"] == "time-now"
    assert says("cache", "stats")[0] == 0
    turn = engine.run_sync(SAYING)
    assert turn.source == "model"
    status, out = says("ask", SAYING, "--json")
    answer = json.loads(out)
    assert (status, answer["source"], answer["answer"], answer["usage"]["planning_calls"]) == (0, "cache", "1", 0)
    status, out = says("cache", "explain", SAYING)
    assert status == 0
    assert "slot(path)" in out
    assert "served" in out
    assert answer["entry"] in out
    status, out = says("--json", "cache", "explain", SAYING)
    told = json.loads(out)
    assert (told["served"], told["plan"], told["reason"]) == ("l0", PLAN, "")
    status, out = says("cache", "explain", "burn the file a.txt", "--lang", "it")
    assert status == 1
    assert "Non servita" in out
    (listed,) = [
        one
        for one in json.loads(says("cache", "list", "--json", "--tool", "read_files")[1])["entries"]
        if one["layer"] == "l0"
    ]
    assert (listed["entry"], listed["state"], listed["turns"]) == (answer["entry"], "valid", [turn.turn])
    assert json.loads(says("cache", "list", "--tool", "no_such", "--json")[1]) == {"entries": []}
    assert "read_files" in says("cache", "list")[1]
    assert json.loads(says("cache", "show", listed["entry"][:12])[1])["plan"] == PLAN
    assert says("cache", "show", "nothing")[0] == 2
    stats = json.loads(says("cache", "stats", "--json")[1])
    assert stats["kinds"]["l0"] == 1
    assert stats["uses"] >= 1
    assert "l0: 1" in says("cache", "stats")[1]


def test_the_cache_is_left_aside_when_told_so(engine: Engine, says: Says) -> None:
    engine.run_sync(SAYING)
    for option in ("--no-cache", "--refresh"):
        assert json.loads(says("ask", SAYING, option, "--json")[1])["outcome"] == "not_understood"
        assert says("plan", SAYING, option)[0] == 1
    assert says("ask", SAYING, "--no-cache", "--refresh")[0] == 2
    assert says("plan", SAYING)[0] == 0


def test_feedback(engine: Engine, says: Says) -> None:
    turn = engine.run_sync(SAYING).turn
    status, out = says("feedback", turn, "good")
    assert (status, out.splitlines()[0][:10]) == (0, "Thank you.")
    assert json.loads(says("feedback", "last", "bad", "--json")[1])["verdict"] == "bad"
    answer = json.loads(says("ask", SAYING, "--json")[1])
    assert answer["outcome"] == "not_understood"
    assert message("miss.negative-feedback", "en") in answer["answer"]
    assert says("feedback", "last", "good")[0] == 2  # that one did not succeed
    assert says("feedback", turn, "bad") == (0, message("feedback.bad", "en") + "\n")
    given = engine.run_sync(plan=PLAN)
    status, out = says("--json", "feedback", given.turn, "good")
    assert (status, json.loads(out)["error"]["code"]) == (2, "no-feedback")


def test_pruning_and_verifying(engine: Engine, says: Says, home: Path) -> None:
    engine.run_sync(SAYING)
    assert json.loads(says("cache", "prune", "--json")[1]) == {"pruned": 0}
    status, out = says("cache", "verify")
    assert (status, out.splitlines()[0].startswith("Rows looked at: ")) == (0, True)
    (key, *_) = engine.parts.plan_cache.store.every_key()
    engine.parts.plan_cache.store.put(str(key), b"rubbish")
    status, out = says("cache", "verify")
    assert status == 4
    assert "malformed-row: 1" in out
    assert json.loads(says("cache", "verify", "--json")[1])["alarms"]
    assert "Alarms: 1" in says("cache", "stats")[1]
    assert "Rows taken away" in says("cache", "prune", "--older", "0")[1]
    assert says("cache", "prune", "--all")[0] == 0
    assert json.loads(says("cache", "stats", "--json")[1])["rows"] == 0
