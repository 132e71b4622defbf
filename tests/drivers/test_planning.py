"""What a person says at a path means what a shell would mean; what they want written stays as it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from metnos import Engine
from metnos.contracts.catalog import Admitted, Catalog
from metnos.contracts.model import Contract, Resource
from metnos.drivers.tilde import as_said, at_home, said_at_home
from metnos.request.understand import understand

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


REQUEST = understand('tally the PDF files under ~/Papers, and "~/My Docs", "~" and ~/x.txt', "en")


@pytest.mark.parametrize(
    ("path", "meant"),
    [("~/Papers", "/home/ada/Papers"), ("~/My Docs", "/home/ada/My Docs"), ("~/x.txt", "/home/ada/x.txt")],
)
def test_what_a_model_repeats_from_the_request_is_written_out_and_put_back(path: str, meant: str) -> None:
    before = plan(path, path)
    after = said_at_home(before, REQUEST, CATALOG, "/home/ada")
    assert after["steps"][0]["args"] == {"path": meant, "content": path}
    assert as_said(after, REQUEST, CATALOG, "/home/ada") == before == plan(path, path)


@pytest.mark.parametrize("path", ["~/Other", "Papers", 5, None, "/home/ada/Other"])
def test_what_nobody_said_is_nobodys_home(path: Any) -> None:
    before = plan(path)
    for change in (said_at_home, as_said):
        assert change(before, REQUEST, CATALOG, "/home/ada") is before
        assert change(plan("~/Papers"), None, CATALOG, "/home/ada") == plan("~/Papers")
        assert change(plan("~/Papers"), REQUEST, CATALOG, "") == plan("~/Papers")


@pytest.mark.parametrize("broken", [{}, {"steps": ["x", {"tool": 5, "args": {"path": "~/Papers"}}, {"tool": "write"}]}])
def test_what_is_no_plan_passes_through(broken: Any) -> None:
    assert said_at_home(broken, REQUEST, CATALOG, "/home/ada") is broken


def test_a_proposed_plan_reaches_the_home_folder_and_is_learned_for_every_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def proposer(request: Any, _candidates: Any) -> dict[str, Any]:
        asked.append(request.text)
        find = {"tool": "find_files", "args": {"path": "~/Papers", "pattern": "*.pdf"}}
        return {"steps": [find, {"tool": "final_answer", "args": {"data": "${step1.count}"}}]}

    for name, count in (("one", 1), ("two", 2)):
        (papers := tmp_path / name / "Papers").mkdir(parents=True)
        for number in range(count):
            (papers / f"{number}.pdf").write_bytes(b"%PDF")
    (here := tmp_path / "here").mkdir()
    for name, source, count in (("one", "model", 1), ("one", "cache", 1), ("two", "cache", 2)):
        monkeypatch.setenv("HOME", str(tmp_path / name))
        with Engine.open(
            tmp_path / "metnos", folder=here, roots=tmp_path / name / "Papers", proposer=proposer
        ) as engine:
            result = engine.run_sync("tally the PDF files under ~/Papers")
        assert (result.outcome, result.data, result.source) == ("success", count, source), result
    assert len(asked) == 1
