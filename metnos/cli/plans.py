"""`metnos check FILE` and `metnos run FILE`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from metnos.cli import exits
from metnos.cli.options import Desk, command, read_pairs
from metnos.cli.output import Fault
from metnos.cli.turnview import finish, progress_lines
from metnos.text import message


def read_plan_file(path: str) -> bytes:
    """The bytes of a plan file; `-` is stdin. A file in line notation (not starting with `{`) is text.

    Raises:
        Fault: it cannot be read.
    """
    try:
        data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    except OSError as fault:
        raise Fault("unreadable-plan", fault.strerror or str(fault), where=path, status=exits.USAGE) from fault
    return data


@command()
@click.argument("file", type=click.Path(dir_okay=False, allow_dash=True))
def check_command(desk: Desk, file: str) -> int:
    """Name every fault of a plan file (JSON or line notation), in one pass. `-` reads stdin."""
    data = read_plan_file(file)
    with desk.engine() as engine:
        checked = engine.check(data)
    output = desk.output
    if output.json:
        output.data({"valid": checked.ok, "digest": checked.digest, "diagnostics": checked.diagnostics})
    elif checked.ok:
        output.line(message("check.ok", desk.language, steps=len(checked.steps), digest=checked.digest))
    else:
        output.diagnostics(checked.diagnostics)
        output.note(message("check.faults", desk.language, count=len(checked.diagnostics), file=file))
    return exits.OK if checked.ok else exits.NOT_OK


@command()
@click.argument("file", type=click.Path(dir_okay=False, allow_dash=True))
@click.option("--input", "pairs", multiple=True, metavar="NAME=VALUE", help="A value for ${INPUT:NAME}; JSON or text.")
@click.option("--yes", is_flag=True, help="Allow what only creates; changing and deleting still ask.")
def run_command(desk: Desk, file: str, pairs: tuple[str, ...], yes: bool) -> int:
    """Run a plan file (JSON or line notation). `-` reads stdin."""
    from metnos.cli.consent import TerminalConsent

    data = read_plan_file(file)
    output = desk.output
    consent = TerminalConsent(desk.language) if output.interactive else None
    with (
        desk.engine(
            approve=consent and consent.approve, answer=consent and consent.answer, progress=progress_lines(output)
        ) as engine,
        engine.interruptible(),
    ):
        result = engine.run_sync(plan=data, inputs=read_pairs(pairs), assume_yes=yes)
        return finish(output, result)
