"""`metnos catalog import|imports|remove`, in processes of their own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.service import Service
from tests.support.terminal import Metnos


@pytest.fixture
def metnos(tmp_path: Path) -> Metnos:
    folder = tmp_path / "work"
    folder.mkdir()
    return Metnos(folder, tmp_path / "home")


@pytest.fixture
def told(tmp_path: Path) -> Path:
    file = tmp_path / "told.json"
    schema = {"type": "object", "properties": {"text": {"type": "string"}}}
    tools = [{"name": name, "description": f"It can {name}.", "inputSchema": schema} for name in ("say", "write")]
    results = {"say": {"content": [{"type": "text", "text": "hello from outside"}]}}
    file.write_text(json.dumps({"tools": tools, "results": results}))
    return file


def test_a_server_is_imported_used_listed_and_forgotten(metnos: Metnos, raw: Any, told: Path, tmp_path: Path) -> None:
    done = metnos("catalog", "import", "mcp", "files", "--effect", "say=read", "--", *raw(told))
    assert (done.status, done.out) == (0, "files.say    read     It can say.\nfiles.write  execute  It can write.\n")
    assert "--effect TOOL=read" in done.err
    assert "files.say" in metnos("catalog").out
    assert metnos("catalog", "files.say").out.startswith("files.say@1.0.0  read")
    plan = tmp_path / "plan.json"
    steps = [{"tool": "files.say", "args": {"text": "x"}}, {"tool": "final_answer", "args": {"text": "${step1.text}"}}]
    plan.write_text(json.dumps({"steps": steps}))
    assert metnos("run", str(plan)).out == "hello from outside\n"
    steps[0]["tool"] = "files.write"
    plan.write_text(json.dumps({"steps": steps}))
    assert metnos("run", str(plan)).status == 1
    assert metnos("catalog", "imports").out.startswith("files  mcp  ")
    shown = json.loads(metnos("catalog", "--json", "imports", "files").out)
    assert [tool["effect"] for tool in shown["tools"]] == ["read", "execute"]
    assert metnos("catalog", "remove", "files").status == 0
    gone = metnos("catalog", "remove", "files", "--json")
    assert (gone.status, json.loads(gone.out)["error"]["code"]) == (2, "import-unknown")


def test_faults_are_sentences_with_exit_codes(metnos: Metnos, raw: Any, told: Path) -> None:
    done = metnos("catalog", "import", "mcp", "files", "--effect", "say=look", "--", *raw(told))
    assert (done.status, "no effect class" in done.err) == (2, True)
    done = metnos("catalog", "import", "mcp", "files", "--", "no-such-program")
    assert (done.status, "cannot be started" in done.err) == (3, True)
    done = metnos("catalog", "import", "mcp", "files")
    assert (done.status, "either a command or a URL" in done.err) == (2, True)
    service = Service()
    try:
        done = metnos("catalog", "import", "openapi", "api", f"{service.url}/openapi.json", "--allow", "getItem")
        assert (done.status, "--allow-host 127.0.0.1" in done.err) == (2, True)
        done = metnos(
            "catalog", "import", "openapi", "api", f"{service.url}/openapi.json", "--allow", "getItem", "--allow-host",
            "127.0.0.1",
        )  # fmt: skip
        assert (done.status, done.out) == (0, "api.getItem  execute  One item.\n")
    finally:
        service.close()


def test_help_loads_neither_package(metnos: Metnos) -> None:
    done = metnos("catalog", "import", "mcp", "--help")
    assert done.status == 0
    assert "--allow-host" in done.out
