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
_WIDTH: dict[str, Any] = {"terminal_width": WIDTH, "max_content_width": WIDTH}


def commands() -> Iterator[str]:
    """The help of every command, those below a group too, as the terminal shows it at `WIDTH` columns."""
    import click

    from metnos.cli.main import cli

    top = click.Context(cli, info_name="metnos", **_WIDTH, **cli.context_settings)
    yield from _shown("metnos --help", cli.get_help(top))
    yield from _below(cli, top, ())


def _below(command: Any, context: Any, path: tuple[str, ...]) -> Iterator[str]:
    """Heading and help of each command of a group, and of what is below it; nothing for a command."""
    import click

    names: list[str] = command.list_commands(context) if hasattr(command, "list_commands") else []
    for name in names:
        each, here = command.get_command(context, name), (*path, name)
        inner = click.Context(each, parent=context, info_name=name, **_WIDTH)
        yield from ("", f"{'#' * (len(here) + 1)} {' '.join(here)}", "")
        yield from _shown(f"metnos {' '.join(here)} --help", each.get_help(inner))
        yield from _below(each, inner, here)


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
    from metnos.plan.classes import BY_CODE, WILLED, class_of
    from metnos.plan.codes import CODES

    lacking = ", ".join(sorted(CODES.keys() - BY_CODE.keys() - WILLED))
    if lacking:
        raise SystemExit(f"give it a class in metnos/plan/classes.py: {lacking}")

    for name, code in sorted(CODES.items()):
        yield f"## `{name}`"
        yield ""
        error_class = class_of(name)
        yield f"{code.title} *({code.family}{', ' if error_class else ''}{error_class})*"
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
