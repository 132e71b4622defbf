"""Writes the generated parts of docs/: commands, codes, settings, exit codes. `--check` only compares.

Law: every word comes from a table of the product; this script lays it out and adds none. The pages call it through
cog, so what is written by hand around a table stays.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PAGES = ("commands.md", "codes.md", "settings.md")
WIDTH = 100


def commands() -> Iterator[str]:
    """The help of every command, as the terminal shows it at `WIDTH` columns."""
    import click

    from metnos.cli.main import cli

    width: dict[str, Any] = {"terminal_width": WIDTH, "max_content_width": WIDTH}
    top = click.Context(cli, info_name="metnos", **width, **cli.context_settings)
    yield from _shown("metnos --help", cli.get_help(top))
    for name in cli.list_commands(top):
        command = cli.get_command(top, name)
        if command is not None:
            inner = click.Context(command, parent=top, info_name=name, **width)
            yield ""
            yield f"## {name}"
            yield ""
            yield from _shown(f"metnos {name} --help", command.get_help(inner))
            for below, each in _below(command, inner):
                lowest = click.Context(each, parent=inner, info_name=below, **width)
                yield ""
                yield f"### {name} {below}"
                yield ""
                yield from _shown(f"metnos {name} {below} --help", each.get_help(lowest))


def _below(command: Any, context: Any) -> list[tuple[str, Any]]:
    """The commands of a group; none for a command."""
    names: list[str] = command.list_commands(context) if hasattr(command, "list_commands") else []
    return [(name, command.get_command(context, name)) for name in names]


def _shown(typed: str, printed: str) -> Iterator[str]:
    yield "```text"
    yield f"$ {typed}"
    yield from (line.rstrip() for line in printed.splitlines())
    yield "```"


def exits() -> Iterator[str]:
    """Exit code → meaning."""
    from metnos.cli.exits import MEANINGS

    yield "| exit code | meaning |"
    yield "|---|---|"
    for number, meaning in MEANINGS.items():
        yield f"| {number} | {meaning} |"


def codes() -> Iterator[str]:
    """One heading a code, in the order of the table, families told apart."""
    from metnos.plan.codes import CODES

    for name, code in sorted(CODES.items()):
        yield f"## `{name}`"
        yield ""
        yield f"{code.title} *({code.family})*"
        yield ""
        if code.hint:
            yield f"What helps: {code.hint}"
            yield ""


def settings() -> Iterator[str]:
    """Variable → what it decides."""
    from metnos.settings import VARIABLES

    yield "| variable | decides |"
    yield "|---|---|"
    for name, meaning in VARIABLES.items():
        yield f"| `{name}` | {meaning} |"


def main(arguments: list[str]) -> int:
    """Run cog over the pages; 1 with `--check` if one of them is not what the code says."""
    folder = Path(__file__).resolve().parent
    pages = [str(folder.parent / "docs" / page) for page in PAGES]
    action = ["--check"] if arguments == ["--check"] else ["-r"]
    command = [sys.executable, "-m", "cogapp", "-P", "--verbosity=0", *action, "-I", str(folder), *pages]
    status = subprocess.run(command, check=False).returncode
    if status and action == ["--check"]:
        print("docs/ says something else than the code: make docs", file=sys.stderr)
    return 1 if status else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
