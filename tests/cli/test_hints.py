"""A hint can be typed as it stands: by the program that was called, about the home that it was called for."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from metnos.cli.calling import as_typed, beginning
from metnos.plan.codes import CODES
from tests.support.terminal import Metnos

BACKTICKS = re.compile(r"`([^`]+)`")


def sh(metnos: Metnos, command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/sh", "-c", command],
        cwd=metnos.folder,
        env={**metnos.environment, "METNOS_HOME": "/nowhere"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_waiting_turn_goes_on_by_the_command_that_it_shows(metnos: Metnos, tmp_path: Path) -> None:
    home = str(tmp_path / "an other home")
    asked = metnos("--home", home, "ask", "delete b.txt")
    assert asked.status == 5
    command, *_ = BACKTICKS.findall(asked.err)
    done = sh(metnos, command)
    assert (done.returncode, (metnos.folder / "b.txt").exists()) == (0, False), (command, done.stderr)


def test_what_is_not_understood_and_a_turn_that_is_not_there_point_to_commands(metnos: Metnos, tmp_path: Path) -> None:
    home = str(tmp_path / "an other home")
    lost = metnos("--home", home, "ask", "fly me to the moon")
    missing = metnos("--home", home, "--json", "log", "nosuch")
    for said in (lost.out, missing.error["hint"]):
        command, *_ = [one for one in BACKTICKS.findall(said) if " pull " not in one and "pip install" not in one]
        assert shlex.split(command)[-3:-1] == ["--home", home]
        assert sh(metnos, command).returncode == 0, command


def test_a_program_beside_the_path_is_called_by_its_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (script := tmp_path / "a bin" / "metnos").parent.mkdir()
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    monkeypatch.setattr(sys, "argv", [str(script)])
    monkeypatch.setenv("PATH", os.defpath)
    assert beginning(None) == shlex.quote(str(script))
    monkeypatch.setenv("PATH", str(script.parent))
    assert (beginning(None), beginning("x y")) == ("metnos", "metnos --home 'x y'")


def test_only_a_command_is_begun_anew() -> None:
    assert as_typed("`metnos log` lists; install 'metnos[mcp]' or metnos itself", "m -h x") == (
        "`m -h x log` lists; install 'metnos[mcp]' or metnos itself"
    )
    for code, row in CODES.items():  # so that none escapes: a command in a hint stands in backticks
        assert "metnos " not in re.sub(r"`[^`]*`", "", row.hint), code


def test_a_fault_of_a_plan_has_the_hint_of_its_code(metnos: Metnos) -> None:
    (metnos.folder / "w.json").write_text('{"steps": [')
    assert CODES["json-syntax"].hint in metnos("check", "w.json").err
    assert CODES["unreadable-plan"].hint in metnos("run", "nosuch.plan").err
