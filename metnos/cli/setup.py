"""`metnos init` and `metnos doctor`: an installation, made and checked."""

from __future__ import annotations

from metnos.cli import exits
from metnos.cli.options import Desk, command
from metnos.text import message


@command()
def init_command(desk: Desk) -> int:
    """Make the home folder, its keys and its settings file. Safe to repeat: nothing is overwritten."""
    with desk.engine() as engine:
        made = engine.initialise()
    output = desk.output
    if output.json:
        output.data(made)
    else:
        output.line(message("init.done", desk.language, home=made["home"]))
        output.line(message("init.settings", desk.language, path=made["settings"]))
        output.line(message("init.next", desk.language))
    return exits.OK


@command()
def doctor_command(desk: Desk) -> int:
    """Check this installation: what it found, what it expects, how to mend it."""
    with desk.engine() as engine:
        findings = engine.doctor()
    output = desk.output
    if output.json:
        output.data({"findings": findings})
    else:
        for finding in findings:
            mark = message("doctor.ok" if finding.ok else "doctor.bad", desk.language)
            output.line(f"{mark:12} {finding.name}: {finding.found}")
            if not finding.ok and finding.hint:
                output.line(f"{'':12} hint: {finding.hint}")
    return exits.OK if all(finding.ok for finding in findings) else exits.ENVIRONMENT
