"""`metnos check FILE` and `metnos run FILE`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from metnos import plainfile
from metnos.cli import exits
from metnos.cli.catalog import tell_withheld
from metnos.cli.options import Desk, command, format_option, read_values, show_drawing
from metnos.cli.output import Fault
from metnos.cli.turnview import finish, progress_lines
from metnos.text import message


def read_plan_file(path: str) -> bytes:
    """The bytes of a plan file; `-` is stdin. A file in line notation (not starting with `{`) is text.

    Raises:
        Fault: it cannot be read.
    """
    from metnos.plan.jsondata import MAX_PLAN_BYTES

    most = 4 * MAX_PLAN_BYTES + 1  # the reader counts characters, of at most four bytes: it is the one to refuse
    try:
        data = sys.stdin.buffer.read(most) if path == "-" else plainfile.read_given(Path(path), most)
    except OSError as fault:
        raise Fault("unreadable-plan", fault.strerror or str(fault), where=path, status=exits.USAGE) from fault
    return data


@command()
@click.argument("file", type=click.Path(dir_okay=False, allow_dash=True))
@click.option("--input", "pairs", multiple=True, metavar="NAME=VALUE", help="Check with these inputs and no others.")
@format_option
def check_command(desk: Desk, file: str, pairs: tuple[str, ...], form: str) -> int:
    """Name every fault of a plan file (JSON or line notation), in one pass. `-` reads stdin.

    Inputs (`${INPUT:name}`) are given when the plan is run: they are listed, and taken to be given.
    """
    data = read_plan_file(file)
    inputs = read_values(pairs) if pairs else None
    with desk.engine() as engine:
        checked = engine.check(data, inputs=inputs)
        wanted = engine.inputs_wanted(data)
        drawing = engine.draw(data) if form == "mermaid" else ""
        tell_withheld(desk, engine, checked.diagnostics)
    output = desk.output
    if drawing:
        show_drawing(output, drawing)
    if drawing and (checked.ok or output.json):
        pass  # a drawing alone: so it can be piped on
    elif output.json:
        output.data(
            {
                "valid": checked.ok,
                "digest": checked.digest,
                "inputs": list(wanted),
                "diagnostics": checked.diagnostics,
            }
        )
    elif checked.ok:
        output.line(message("check.ok", desk.language, steps=len(checked.steps), digest=checked.digest))
        if wanted:
            output.line(message("check.inputs", desk.language, names=", ".join(wanted)))
    else:
        output.diagnostics(checked.diagnostics)
        output.note(message("check.faults", desk.language, count=len(checked.diagnostics), file=file))
    return exits.OK if checked.ok else exits.NOT_OK


@command()
@click.argument("file", type=click.Path(dir_okay=False, allow_dash=True))
@click.option("--input", "pairs", multiple=True, metavar="NAME=VALUE", help="A value for ${INPUT:NAME}; JSON or text.")
@click.option("--yes", is_flag=True, help="Allow what only creates; changing and deleting still ask.")
def run_command(desk: Desk, file: str, pairs: tuple[str, ...], yes: bool) -> int:
    """Run a plan file (JSON or line notation). `-` reads stdin. Inputs that it lacks are asked for."""
    from metnos.cli.consent import TerminalConsent

    data = read_plan_file(file)
    inputs = read_values(pairs)
    output = desk.output
    consent = TerminalConsent(output) if output.interactive and file != "-" else None
    with (
        desk.engine(
            approve=consent and consent.approve, answer=consent and consent.answer, progress=progress_lines(output)
        ) as engine,
        engine.interruptible(),
    ):
        result = engine.run_sync(plan=data, inputs=inputs, assume_yes=yes)
        tell_withheld(desk, engine, result.diagnostics)
        return finish(output, result)
