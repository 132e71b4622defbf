"""The same real MCP server, over streamable HTTP on loopback."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from metnos.foreign import import_mcp
from metnos.foreign.faults import ImportFault
from tests.foreign.conftest import EFFECTS, MOST, SERVER, World
from tests.support.hosted import lines, step


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, SERVER, str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    until = time.monotonic() + 30
    while time.monotonic() < until:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                break
        assert process.poll() is None
    yield f"http://127.0.0.1:{port}/mcp"
    process.kill()
    process.wait()


def test_it_is_imported_called_and_refused_as_over_stdio(world: World, home: Path, url: str, tmp_path: Path) -> None:
    with pytest.raises(ImportFault) as raised:
        import_mcp(home, "t", url=url)
    assert raised.value.code == "address-refused"
    assert "--allow-host 127.0.0.1" in raised.value.hint
    imported = import_mcp(home, "t", url=url, allow_hosts=["127.0.0.1"], effects=EFFECTS, output_bytes=MOST)
    assert {tool.name for tool in imported.tools} == set(EFFECTS)
    result = world.run(step("t.list_notes", count=2), data={"paths": "${step1.entries[*].path}"})
    assert result.data == {"paths": ["n0.txt", "n1.txt"]}
    assert world.error(step("t.fail")) == ("operational", "tool-error")
    assert world.error(step("t.huge_number")) == ("data", "integer-range")
    target = tmp_path / "out.txt"
    done = world.run(step("t.append_line", path=str(target), text="x"), approve=lambda _: True)
    assert (done.outcome, lines(target)) == ("success", 1)
    assert world.error(step("t.letters", count=400_000))[0] in ("oversize", "unavailable", "operational")
    assert world.run(step("t.add", a=1, b=2), data={"n": "${step1.result}"}).data == {"n": 3}


def test_a_server_that_is_not_there(home: Path) -> None:
    with pytest.raises(ImportFault) as raised:
        import_mcp(home, "t", url="http://127.0.0.1:1/mcp", allow_hosts=["127.0.0.1"])
    assert raised.value.code == "foreign-unreachable"
