"""`metnos model`: added, listed, pulled, asked, removed; what is said where there is none."""

from __future__ import annotations

import json
import stat
import sys
from typing import TYPE_CHECKING, Any, get_args

import pytest

from metnos.cli.models import ADAPTERS, ROLES
from metnos.propose.models import config, ports
from metnos.testing import ModelServer
from tests.support.fileserver import FileServer

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.terminal import Metnos

NEW = "compose a sonnet about lighthouses"


def scripted(folder: Path, *answers: Any) -> Path:
    path = folder / "said.json"
    path.write_text(json.dumps(answers))
    return path


def test_the_tables_of_the_command_line_are_those_of_the_room() -> None:
    assert ROLES == ports.ROLES
    assert get_args(config.Adapter) == ADAPTERS


def test_a_server_is_added_listed_asked_and_removed(metnos: Metnos) -> None:
    with ModelServer("ready", key="hunter2") as server:
        added = metnos(
            *("model", "add", "near", "--url", server.url, "--model", "stand-in", "--key-env", "NEAR_KEY"),
            *("--price", "1,2,EUR", "--option", "seed=7", "--idle", "5"),
        )
        assert (added.status, added.out) == (0, "Added near; roles: middle\n"), added.err
        path = metnos.home / "models.toml"
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert "hunter2" not in path.read_text()
        listed = metnos("--json", "model", "list")
        [row] = listed.json["models"]
        assert (row["name"], row["adapter"], row["roles"], row["there"]) == ("near", "openai", ["middle"], True)
        assert listed.json["roles"]["wise"] == ["near"]
        assert listed.json["roles"]["frontier"] == []
        assert "near  openai  middle" in metnos("model", "list").out

        done = metnos("model", "test", "near", NEAR_KEY="hunter2")
        assert (done.status, done.out) == (0, "ready\n"), done.err
        assert "1 written" in done.err
        assert server.seen[0].body["seed"] == 7
        server.enqueue("ready")
        by_role = metnos("--json", "model", "test", "fast", NEAR_KEY="hunter2")
        assert by_role.json["model"] == "near"
        assert by_role.json["usage"]["cost"] > 0

        unset = metnos("--json", "model", "test", "near")
        assert (unset.status, unset.error["code"]) == (3, "model-refused")
        assert "NEAR_KEY" in unset.error["message"]
        wrong = metnos("model", "test", "near", NEAR_KEY="hunter3")
        assert wrong.status == 3
        assert "hunter" not in wrong.err + wrong.out

        told = {one["name"]: one for one in metnos("--json", "doctor", NEAR_KEY="x").json["findings"]}
        assert told["models"]["ok"]
        assert "model near" not in told
        told = {one["name"]: one for one in metnos("--json", "doctor").json["findings"]}
        assert told["model near"]["hint"] == "export NEAR_KEY=…"

    assert metnos("--json", "model", "remove", "near").json == {"removed": "near", "deleted": ""}
    assert "[models" not in path.read_text()
    assert metnos("model", "remove", "near").status == 2


def test_roles_and_their_order(metnos: Metnos, folder: Path) -> None:
    file = str(scripted(folder, "hello"))
    for name, roles in (("a", ()), ("b", ()), ("c", ("--role", "middle", "--role", "frontier"))):
        assert metnos("model", "add", name, "--adapter", "scripted", "--file", file, *roles).status == 0
    assert "--role middle" in metnos("model", "add", "b", "--adapter", "scripted", "--file", file).out
    listed = metnos("--json", "model", "list").json
    assert listed["roles"]["middle"] == ["c", "a"]
    assert [row["roles"] for row in listed["models"]] == [["middle"], [], ["middle", "frontier"]]
    assert metnos("model", "test", "b").out == "hello\n"


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("add", "B!", "--file", "f"), "bad-models", "small letters"),
        (("add", "x"), "bad-models", "path"),
        (("add", "x", "--url", "http://h/v1", "--model", "m", "--key-env", "K"), "bad-models", "TLS"),
        (("add", "x", "--file", "f", "--price", "cheap"), "usage", "IN,OUT"),
        (("add", "x", "--file", "f", "--threads", "0"), "bad-models", "1024"),
        (("pull", "gpt"), "usage", "known"),
        (("test", "x"), "model-missing", "'x'"),
        (("test", "frontier"), "model-missing", "frontier"),
        (("remove", "x"), "usage", "'x'"),
    ],
)
def test_what_cannot_be_done_is_said(metnos: Metnos, arguments: tuple[str, ...], code: str, said: str) -> None:
    done = metnos("--json", "model", *arguments)
    assert done.error["code"] == code
    assert said in done.error["message"]
    assert done.status == (3 if code == "model-missing" else 2)
    assert not (metnos.home / "models.toml").exists()


SITE = """
import json, pathlib, sys
from metnos.propose.models import known, pull
pull.SPARE_BYTES = 0
table = json.loads(pathlib.Path({table!r}).read_text())
known.known = lambda: {{name: known.msgspec.convert(one, known.Known) for name, one in table.items()}}
from metnos.cli.main import main
main(sys.argv[1:])
"""


def test_a_known_model_is_pulled_added_and_taken_away(metnos: Metnos, folder: Path, tmp_path: Path) -> None:
    import hashlib
    import subprocess

    data = b"weights" * 1000
    with FileServer(data) as server:
        one = {
            "name": "tiny", "title": "Tiny-1", "by": "nobody", "licence": "Free-1.0", "file": "tiny.gguf",
            "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest(), "context": 512,
            "roles": ["fast", "wise"], "urls": [server.url],
        }  # fmt: skip
        (tmp_path / "table.json").write_text(json.dumps({"tiny": one}))
        program = tmp_path / "program.py"
        program.write_text(SITE.format(table=str(tmp_path / "table.json")))
        metnos("model", "add", "other", "--adapter", "scripted", "--file", "f", "--role", "wise")

        def run(*arguments: str) -> subprocess.CompletedProcess[str]:
            return subprocess.run(
                [sys.executable, program, *arguments], env=metnos.environment, cwd=folder, capture_output=True,
                text=True, check=False,
            )  # fmt: skip

        done = run("model", "pull", "tiny")
        assert (done.returncode, done.stdout) == (0, "Added tiny; roles: fast\n"), (
            done.stderr
        )  # somebody else has `wise`
        assert "Free-1.0, nobody" in done.stderr
        assert (metnos.home / "models" / "tiny.gguf").read_bytes() == data
        assert 'file = "models/tiny.gguf"' in (metnos.home / "models.toml").read_text()
        again = json.loads(run("--json", "model", "pull", "tiny", "--role", "middle").stdout)
        assert again["roles"] == ["fast", "middle"]
        assert len(server.asked) == 1
        gone = metnos("--json", "model", "remove", "tiny", "--delete").json
        assert gone["deleted"].endswith("tiny.gguf")
        assert not list((metnos.home / "models").iterdir())
        server.status = 404
        failed = run("--json", "model", "pull", "tiny")
        assert (failed.returncode, json.loads(failed.stdout)["error"]["code"]) == (3, "model-download")


def test_without_a_model_one_line_says_how_to_get_one(metnos: Metnos) -> None:
    done = metnos("ask", NEW)
    assert done.status == 1
    assert "model pull qwen2.5-coder-1.5b`" in done.out
    assert "un modello" in metnos("--lang", "it", "ask", NEW).out.lower()
    assert "model pull qwen2.5-coder-1.5b`" in metnos("model", "list").out


def test_a_broken_file_of_models_is_told_by_place(metnos: Metnos) -> None:
    metnos.home.mkdir(mode=0o700)
    (metnos.home / "models.toml").write_text("[models.x]\nadapter = 'llama'\nfile = 3\n")
    bad = metnos("--json", "model", "list")
    assert (bad.status, bad.error["code"]) == (2, "bad-models")
    assert bad.error["where"].endswith("models.toml/models/x/file")
    told = {one["name"]: one for one in metnos("--json", "doctor").json["findings"]}
    assert not told["models"]["ok"]
