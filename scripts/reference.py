"""Writes the generated parts of docs/: pages, drawings, JSON Schemas. `--check` only compares.

Law: every word comes from a table of the product; this script lays it out and adds none. The pages call it (and
`reference_executors.py`, `reference_machine.py`) through cog, so what is written by hand around a table stays; drawings
and schemas are files of their own.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PAGES = ("api.md", "commands.md", "codes.md", "executors.md", "plan-language.md", "settings.md", "turn-machine.md")
ROOT = Path(__file__).resolve().parent.parent
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


def names(module: str) -> Iterator[str]:
    """A directive of Sphinx for each name that a module exports."""
    import inspect
    from importlib import import_module

    door = import_module(module)
    for name in door.__all__:
        found: Any = getattr(door, name)
        options = ("   :members:", "   :undoc-members:")
        if inspect.ismodule(found):
            yield from ("```{eval-rst}", f".. automodule:: {module}.{name}", *options, "```", "")
        elif inspect.isclass(found):
            if found.__name__ == "Engine":  # its floors are its own, those of others are of other libraries
                options = (*options, "   :inherited-members:")
            yield from ("```{eval-rst}", f".. autoclass:: {module}.{name}", *options, "```", "")
        elif callable(found):
            yield from ("```{eval-rst}", f".. autofunction:: {module}.{name}", "```", "")


def drawing(page: str) -> Iterator[str]:
    """The first plan in line notation of a page, drawn."""
    import re

    from metnos.plan.drawing import draw
    from metnos.plan.notation import parse_lines

    shown = re.search(
        r"^```text\n(1 .*?)^```", (ROOT / "docs" / page).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    plan = shown and parse_lines(shown[1]).plan
    if plan is None:
        raise SystemExit(f"{page}: its first plan cannot be read")
    yield from ("```mermaid", *draw(plan).rstrip().splitlines(), "```")


def periods() -> Iterator[str]:
    """Reference to the runtime → its value at one moment."""
    from metnos.values.runtime import DATES, PERIODS, runtime_value

    yield "| reference | value | largest N |"
    yield "|---|---|---|"
    for key in ("now", *DATES, *PERIODS, *(f"{key}-1" for key in PERIODS)):
        value = runtime_value(key, "2026-11-30T12:00:00+01:00", "Europe/Rome")
        most = PERIODS.get(key.removesuffix("-1"), "") if key.endswith("-1") else ""
        yield f"| `${{RUNTIME:{key}}}` | `{json.dumps(value)}` | {most} |"


def grammar() -> Iterator[str]:
    """The rules of a reference, as the reader has them; how characters make its words is left out."""
    text = (ROOT / "metnos" / "plan" / "reference.lark").read_text(encoding="utf-8")
    rules = text[text.index("start:") : text.index("TEXT:")]
    yield from ("```text", *rules.strip().splitlines(), "```")


def limits() -> Iterator[str]:
    """What is the most of each thing."""
    from metnos.checks.tables import MAX_LITERAL
    from metnos.plan import jsondata, parse

    yield "| | at most |"
    yield "|---|---|"
    yield f"| a plan, a manifest, the arguments of one call | {jsondata.MAX_PLAN_BYTES // 1024} KiB, {jsondata.MAX_DEPTH} levels |"
    yield f"| one string of a plan | {MAX_LITERAL // 1024} Ki characters |"
    yield f"| steps of a plan, the terminal not counted | {parse.MAX_STEPS} |"
    yield f"| items of one `for_each` or lifted step | {parse.MAX_ITEMS} |"
    yield f"| a result | {jsondata.MAX_RESULT_BYTES // 1024 // 1024} MiB |"


def files() -> dict[str, str]:
    """Generated files that are no pages: name below docs/ → content."""
    import reference_machine

    from metnos.engine import json_schema
    from metnos.evaluate import trace
    from metnos.evaluate.cases.files import case_schema
    from metnos.evaluate.running.runfile import run_schema

    return {
        "schema/trace-1.json": _spelled(trace.schema()),
        **{f"schema/{what}-1.json": _spelled(json_schema(what)) for what in ("plan", "manifest")},
        "schema/run-1.json": _spelled(run_schema()),
        "schema/case-1.json": _spelled(case_schema()),
        **{f"_static/{name}": drawn for name, drawn in reference_machine.drawings().items()},
    }


def _spelled(schema: Any) -> str:
    """As `metnos schema` prints it."""
    import msgspec

    return msgspec.json.format(msgspec.json.encode(schema), indent=2).decode() + "\n"


def main(arguments: list[str]) -> int:
    """Run cog over the pages; 1 with `--check` if one of them is not what the code says."""
    check = arguments == ["--check"]
    stale = [name for name, text in files().items() if not _is(ROOT / "docs" / name, text)]
    for name in [] if check else stale:
        (ROOT / "docs" / name).parent.mkdir(exist_ok=True)
        (ROOT / "docs" / name).write_text(files()[name], encoding="utf-8")
    pages = [str(ROOT / "docs" / page) for page in PAGES]
    action = ["--check"] if check else ["-r"]
    command = [sys.executable, "-m", "cogapp", "-P", "--verbosity=0", *action, "-I", str(ROOT / "scripts"), *pages]
    status = subprocess.run(command, check=False).returncode
    if check and (status or stale):
        print(f"docs/ says something else than the code: make docs {' '.join(stale)}".rstrip(), file=sys.stderr)
    return 1 if status or (check and stale) else 0


def _is(path: Path, text: str) -> bool:
    return path.is_file() and path.read_text(encoding="utf-8") == text


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
