"""Pages of docs/ read as scripts: blocks, the files that they name, and the commands with what they print.

A fenced block after a line that ends in `` `NAME`: `` is the content of the file NAME. A `console` block is typed line by
line; what follows a command is what it prints, `…` stands for anything, and `# exit N` behind a command is its exit code.
The word TURN in a command is the id of the turn that was told last.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

FENCE = re.compile(r"^```([a-z]*)\n(.*?)^```\n?", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"`([^`\n]+)`(?: \([^)\n]*\))?:\n\n\Z")
TOLD = re.compile(r"^turn (\S+)$", re.MULTILINE)
EXIT = re.compile(r"\s+# exit (\d+)$")


class Block(NamedTuple):
    language: str
    text: str
    file: str | None
    """The file that it is the content of."""
    after: str
    """The paragraph that follows."""


class Typed(NamedTuple):
    command: str
    printed: str
    status: int


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    for found in FENCE.finditer(text):
        named = NAMED.search(text[: found.start()])
        after = text[found.end() :].lstrip("\n").partition("\n\n")[0]
        yield Block(found[1], found[2], named and named[1], after)


def typed(block: Block) -> Iterator[Typed]:
    command, printed = "", []
    for line in [*block.text.splitlines(), "$ "]:
        if line.startswith("$ "):
            if command:
                ends = EXIT.search(command)
                yield Typed(EXIT.sub("", command), "\n".join(printed), int(ends[1]) if ends else 0)
            command, printed = line[2:], []
        elif command.endswith("\\"):
            command = f"{command[:-1]} {line.strip()}"
        else:
            printed.append(line)


def shell(folder: Path, home: Path) -> dict[str, str]:
    """An environment in which `metnos` and `python` are this checkout's, and the home folder is `home`."""
    programs = home.parent / "bin"
    programs.mkdir(exist_ok=True)
    for name, what in (("metnos", "-m metnos"), ("python", "")):
        (programs / name).write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {what} "$@"\n')
        (programs / name).chmod(0o755)
    root = Path(__file__).parents[2]
    return {
        "PATH": f"{programs}:/usr/bin:/bin",
        "HOME": str(home),
        "METNOS_HOME": str(home / "metnos"),
        "METNOS_LANG": "en",
        "PYTHONPATH": str(root),
        "LC_ALL": "C.UTF-8",
    }


def play(page: Path, folder: Path, home: Path) -> int:
    """Write the files of a page and type its commands, in order; the number of commands.

    Raises:
        AssertionError: A command ends or prints otherwise than the page says.
    """
    environment = shell(folder, home)
    count, turn = 0, ""
    for block in blocks(page):
        if block.file is not None:
            (folder / block.file).parent.mkdir(parents=True, exist_ok=True)
            (folder / block.file).write_text(block.text, encoding="utf-8")
        for each in typed(block) if block.language == "console" else ():
            done = subprocess.run(
                ["/bin/bash", "-c", re.sub(r"\bTURN\b", turn, each.command)],
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
            assert done.returncode == each.status, f"$ {each.command}\nexit {done.returncode}\n{done.stdout}"
            shown = done.stdout.replace(f"{sys.executable} -m metnos ", "metnos ")  # so `metnos` is called here
            assert fits(shown, each.printed), f"$ {each.command}\n{shown}\n--- the page says ---\n{each.printed}"
            turn = (TOLD.findall(done.stdout) or [turn])[-1]
            count += 1
    return count


def fits(printed: str, shown: str) -> bool:
    """Whether what was printed is what is shown; `…` is anything, alone in a line any number of lines, space is space."""
    parts = [re.escape(part) for part in re.split(r"\s*…\s*", _spaced(shown))]
    return re.fullmatch(r"\s*.*?\s*".join(parts), _spaced(printed), re.DOTALL) is not None


def _spaced(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()
