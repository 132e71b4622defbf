"""What a person says at a path means what a shell would mean; what they want written stays as it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from metnos import Engine
from metnos.contracts.catalog import Admitted, Catalog
from metnos.contracts.model import Contract, Resource
from metnos.drivers.planning import at_home

WRITES = Contract(name="write", version="1.0.0", resources=(Resource(kind="root", arg="path"),))
CATALOG = Catalog([Admitted(contract=WRITES)])
SAID = {"/steps/0/args/path": "user", "/steps/0/args/content": "user"}


def plan(path: Any, content: str = "") -> dict[str, Any]:
    return {"steps": [{"tool": "write", "args": {"path": path, "content": content}}]}


@pytest.mark.parametrize(("said", "meant"), [("~", ""), ("~/x.txt", "/x.txt"), ("~/a/~", "/a/~")])
def test_the_home_folder_is_written_out(said: str, meant: str) -> None:
    before = plan(said, "~/stays")
    after = at_home(before, SAID, CATALOG, "/home/ada")
    assert after["steps"][0]["args"] == {"path": f"/home/ada{meant}", "content": "~/stays"}
    assert before == plan(said, "~/stays")


@pytest.mark.parametrize("path", ["x", "./~", "~x/y", "a/~/b", 5, "${step1.path}"])
def test_everything_else_stays(path: Any) -> None:
    before = plan(path)
    assert at_home(before, SAID, CATALOG, "/home/ada") is before


def test_a_literal_that_nobody_said_stays() -> None:
    before = plan("~/x")
    assert at_home(before, {"/steps/0/args/path": "author"}, CATALOG, "/home/ada") is before


def test_a_sentence_about_the_home_folder_reaches_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (house := tmp_path / "house" / "Papers").mkdir(parents=True)
    (house / "a.pdf").write_bytes(b"%PDF")
    (here := tmp_path / "here").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "house"))
    with Engine.open(tmp_path / "metnos", folder=here, roots=house) as engine:
        result = engine.run_sync("how many PDF files are there under ~/Papers?")
        assert (result.outcome, result.steps[0].data["count"]) == ("success", 1)
    with Engine.open(tmp_path / "metnos", folder=here) as engine:
        asked = engine.run_sync('write "x" to ~/x.txt')
        assert (asked.outcome, asked.needs, asked.code) == ("error", (), "outside-roots")
    assert not list(here.iterdir())
