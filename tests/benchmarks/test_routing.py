"""The routing benchmark on a small data set of our own, and on its own requests."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from benchmarks import routing

THINGS = ("book", "river", "planet", "engine", "violin", "market", "bridge", "forest", "doctor", "island")
DEEDS = ("find", "measure", "describe", "compare")


def write(folder: Path) -> Path:
    tools = [
        {
            "api_name": f"{deed}{thing.title()}",
            "api_description": f"{deed} a {thing}",
            "parameters": {"name": {"type": "str", "description": f"name of the {thing}"}},
            "responses": {},
        }
        for deed in DEEDS
        for thing in THINGS
    ]
    asked = [
        {"query": f"Please {one} the {thing}. Then {other} it.", "calling": [{"api": f"{one}{thing.title()}"}]}
        for thing in THINGS
        for one, other in (("measure", "tidy"), ("describe", "sell"))
    ]
    (folder / "tool.jsonl").write_text("".join(json.dumps(row) + "\n" for row in tools), encoding="utf-8")
    (folder / "dev.jsonl").write_text("".join(json.dumps(row) + "\n" for row in asked), encoding="utf-8")
    return folder


def test_the_figures_are_the_last_line(tmp_path: Path, root: Path) -> None:
    nothing = tmp_path / "nothing"
    nothing.mkdir()
    (nothing / "none.jsonl").write_text('{"request": "turn on the lights"}\n{"request": "read a.txt"}\n')
    command = [sys.executable, str(root / "benchmarks" / "routing.py"), "--data", str(write(tmp_path))]
    command += ["--sizes", "10,40,60", "--unserved", str(nothing / "none.jsonl"), "--list"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    *lines, last = map(json.loads, done.stdout.splitlines())
    seal = last["seal_tools"]
    assert list(seal) == ["10", "40", "60"]
    assert seal["10"]["catalogs"] == 4
    assert seal["40"]["catalogs"] == seal["60"]["catalogs"] == 1
    for figures in seal.values():
        assert figures["recall_1"] == figures["single"]["recall_1"] == 1
        assert figures["bm25"]["recall_10"] <= 1
        assert figures["ms_p50"] > 0
    assert last["unserved"] == {"none": {"requests": 2, "unserved_found": 0.5, "weak": 0.5}}
    assert last["index_mb"]["60"] > 0
    own = last["own"]
    assert own["first"]["recall"] >= 0.97
    assert own["last"]["recall"] >= 0.97
    assert own["last"]["false_unserved"] == 0
    assert own["first"]["bm25_recall"] < own["first"]["recall"]
    assert own["unserved_last"]["unserved_found"] >= 0.8
    assert all("request" in line for line in lines)


def test_the_own_requests_are_in_both_languages_and_none_is_there_twice() -> None:
    data: dict[str, dict[str, list[Any]]] = tomllib.loads(routing.OWN.read_text("utf-8"))
    texts = [
        row if isinstance(row, str) else row[0] for part in data.values() for rows in part.values() for row in rows
    ]
    assert len(texts) == len(set(texts)) >= 140
    assert all(set(part) == {"en", "it"} for part in data.values())


def test_the_tools_that_are_needed_are_shipped(root: Path) -> None:
    data = tomllib.loads(routing.OWN.read_text("utf-8"))
    shipped = {path.stem for path in (root / "manifests").glob("*.toml")}
    needs = [row[1] for part in ("first", "later", "last") for rows in data[part].values() for row in rows]
    assert {name for need in needs for name in need.replace("|", " ").split()} <= shipped


def test_a_folder_that_cannot_be_used(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert routing.main(["--data", str(tmp_path)]) == 2
    assert "tool.jsonl" in capsys.readouterr().err
