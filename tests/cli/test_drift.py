"""`metnos log drift` on a real home and a signed catalog in which one field of a result is called otherwise."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from metnos import Engine
from metnos.cli.main import main
from metnos.contracts.build import Signer, build
from tests.support.caching import plan, step
from tests.support.signing import key
from tests.support.terminal import ROOT, Metnos

SAYING = "the five largest files here, as a table"
LEARNED = plan(step("find_files", path=".", pattern="a.txt"), text="${step1.count}")


@pytest.fixture
def renamed(tmp_path: Path) -> Path:
    """The shipped tools, `size` of a file called `bytes`; signed with a development key of the test's own."""
    source = tmp_path / "source"
    shutil.copytree(ROOT / "manifests", source / "manifests")
    shutil.copytree(ROOT / "catalog" / "executors", source / "catalog" / "executors")
    manifest = source / "manifests" / "find_files.toml"
    text = manifest.read_text().replace('"ext", "size"', '"ext", "bytes"').replace("\nsize = {", "\nbytes = {")
    manifest.write_text(text)
    build(source, tmp_path / "renamed", Signer(key=key(7), development=True))
    return tmp_path / "renamed"


def test_which_turns_steps_fields_and_learned_plans_depend_on_a_field_that_was_renamed(
    tmp_path: Path, folder: Path, renamed: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path / "home"
    monkeypatch.chdir(folder)
    with Engine.open(home, folder=folder, zone="UTC", proposer=lambda *_: LEARNED) as engine:
        turns = [engine.run_sync(SAYING).turn, engine.run_sync("count the zorch a.txt").turn]

    def says(*words: str) -> tuple[int, str]:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main(["--home", str(home), "log", "drift", *words])
        return int(ended.value.code or 0), capsys.readouterr().out

    status, out = says("--json")
    assert (status, json.loads(out)["turns"], json.loads(out)["groups"], json.loads(out)["cache"]) == (0, 2, [], [])
    status, out = says("--json", "--catalog", str(renamed))
    drift = json.loads(out)
    groups: dict[str, Any] = {one["kind"]: one for one in drift["groups"]}
    assert (status, drift["turns"], drift["drifted"]) == (1, 2, 2)
    gone = groups["field-gone"]
    assert (gone["tool"], gone["field"], gone["candidates"]) == ("find_files", "/entries/*/size", ["bytes"])
    assert sorted(turn for turn, _ in gone["places"]) == sorted(turns)
    assert (groups["reference-broken"]["tool"], groups["reference-broken"]["turns"]) == ("sort_entries", 1)
    learned = [one for one in drift["cache"] if one["layer"] != "template"]
    assert {(one["state"], tuple(one["tools"]), tuple(one["turns"])) for one in learned} == {
        ("executor-changed", ("find_files",), (turns[1],))
    }
    assert "largest-files" in {one["entry"].partition("@")[0] for one in drift["cache"] if one["layer"] == "template"}
    status, out = says(turns[1][:-2], "--catalog", str(renamed), "--before", str(ROOT / "build" / "catalog"))
    assert status == 1
    assert "1 of 1 turns" in out
    assert f"perhaps now: bytes\n  in 1 turns, 1 steps, 1 places: {turns[1]} 1.1\n" in out
    assert "executor-changed  find_files" in out
    assert says(str(home))[0] == 0
    status, out = says("--json", "--catalog", str(folder))
    assert (status, json.loads(out)["error"]["code"]) == (4, "catalog-missing")
    with Engine.open(home, folder=folder) as engine:
        assert {one.state for one in engine.cache.entries()} == {"valid"}


@pytest.mark.parametrize("words", [("replay",), ("log", "drift"), ("log", "report"), ("eval",)])
@pytest.mark.parametrize("place", ["./empty.jsonl", "-"])
def test_of_no_turns_nothing_good_is_said(metnos: Metnos, words: tuple[str, ...], place: str) -> None:
    (metnos.folder / "empty.jsonl").touch()
    done = metnos(*words, place, given=b"")
    assert (done.status, "no turn was there" in done.out + done.err) == (1, True)
    assert metnos("--json", *words, place, given=b"").status == 1
