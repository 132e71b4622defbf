"""`metnos`: the group of commands, each loaded only when it is called, and the one place where faults end.

Law: the table below is the whole command line; `--help` imports no other room.
"""

from __future__ import annotations

import sys
from typing import Any, NoReturn

import click

from metnos.cli import exits
from metnos.cli.lazy import LazyGroup
from metnos.cli.output import Fault, Output

COMMANDS: dict[str, tuple[str, str]] = {
    "ask": ("metnos.cli.ask", "Do what one sentence says, and show the answer."),
    "plan": ("metnos.cli.ask", "Show the plan for a sentence, without running it."),
    "check": ("metnos.cli.plans", "Name every fault of a plan file, in one pass."),
    "run": ("metnos.cli.plans", "Run a plan file."),
    "resume": ("metnos.cli.turns", "Go on with a turn that waits or was cut off."),
    "log": ("metnos.cli.logs", "List recorded turns, show or verify one, work with them."),
    "replay": ("metnos.cli.replays", "Replay recorded turns offline and compare: one, or many."),
    "eval": ("metnos.cli.evaluating", "Evaluate recorded turns with other parts, and compare."),
    "feedback": ("metnos.cli.cache", "Say whether a turn's plan was good or bad."),
    "cache": ("metnos.cli.cache", "Explain, list, verify and prune what was learned."),
    "undo": ("metnos.cli.turns", "Undo what a recorded turn did; asks first."),
    "catalog": ("metnos.cli.catalog", "Show the tools that were admitted, and what was refused."),
    "examples": ("metnos.cli.catalog", "Sentences that work without a model."),
    "model": ("metnos.cli.models", "Fetch, add, list and try the models that propose plans."),
    "schema": ("metnos.cli.catalog", "Print a JSON Schema: plan, manifest, run, case."),
    "doctor": ("metnos.cli.setup", "Check this installation."),
    "init": ("metnos.cli.setup", "Make the home folder, its keys and its settings file."),
}
"""Command → (module, help line); the function is named like the command, with `_command` behind it."""


@click.group(
    cls=LazyGroup,
    table=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: " + "; ".join(f"{code} {meaning}" for code, meaning in exits.MEANINGS.items()) + ".",
)
@click.option("--home", type=click.Path(file_okay=False), help="Folder of logs, keys and settings (METNOS_HOME).")
@click.option(
    "--root",
    "roots",
    multiple=True,
    type=click.Path(file_okay=False),
    help="A folder that may be used beside the current one; repeatable.",
)
@click.option("--lang", "language", type=click.Choice(["en", "it"]), help="Language of request and answer.")
@click.option("--json", "as_json", is_flag=True, help="JSON on stdout, nothing else.")
@click.version_option(package_name="metnos")
@click.pass_context
def cli(ctx: click.Context, home: str | None, roots: tuple[str, ...], language: str | None, as_json: bool) -> None:
    """One sentence becomes a checked plan; the plan runs on code, recorded and replayable."""
    output = ctx.obj or Output(json=as_json, language=language)
    output.home = home
    ctx.obj = {"home": home, "roots": roots, "language": language, "json": as_json, "output": output}


def main(arguments: list[str] | None = None) -> None:
    """The console script."""
    _never_stumble(sys.stdout, sys.stderr)
    output = Output(json="--json" in (sys.argv[1:] if arguments is None else arguments), language=None)
    status: Any = None
    try:
        status = cli.main(args=arguments, prog_name="metnos", standalone_mode=False, obj=output)
    except click.exceptions.Exit as leaving:
        raise SystemExit(leaving.exit_code) from None
    except click.Abort:
        click.echo("", err=True)
        raise SystemExit(exits.CANCELLED) from None
    except click.ClickException as wrong:
        _usage(output, wrong)
    except KeyboardInterrupt:
        raise SystemExit(exits.CANCELLED) from None
    except Fault as fault:
        output.fail(fault)
    except Exception as fault:  # noqa: BLE001 - the one place where a fault that nobody foresaw becomes a sentence
        known = _known(fault)
        if known is None:
            _bug(output, fault)
        output.fail(known)
    raise SystemExit(status if isinstance(status, int) else exits.OK)


def _never_stumble(*streams: Any) -> None:
    """What the terminal's encoding lacks is spelled out instead of ending the command."""
    for stream in streams:
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _usage(output: Output, wrong: click.ClickException) -> None:
    if output.json:
        output.fail(Fault("usage", wrong.format_message(), hint="metnos --help", status=exits.USAGE))
    wrong.show()
    raise SystemExit(exits.USAGE)


def _bug(output: Output, fault: Exception) -> NoReturn:
    """A fault of this program: where it happened goes to stderr; stdout stays JSON where JSON was asked for."""
    import traceback

    traceback.print_exception(fault)
    message = f"{type(fault).__name__}: {fault}"
    output.fail(Fault("bug", message, hint="this is a fault of Metnos: please report it with the lines above"))


def _known(fault: Exception) -> Fault | None:
    """A fault that carries its own code keeps it; None: nobody foresaw it."""
    code = getattr(fault, "code", None)
    if isinstance(code, str):
        message = getattr(fault, "message", "") or str(fault)
        seq = getattr(fault, "seq", 0)
        where, hint = str(getattr(fault, "where", "")), str(getattr(fault, "hint", ""))
        where = where or (f"record {seq}" if seq else "")
        return Fault(code, message, where=where, hint=hint, status=exit_of_code(code))
    if isinstance(fault, OSError):
        return Fault(
            "environment", fault.strerror or str(fault), where=str(fault.filename or ""), status=exits.ENVIRONMENT
        )
    return None


def exit_of_code(code: str) -> int:
    """Exit code for a fault's stable code, by the family the table of codes gives it."""
    from metnos.plan.codes import CODES

    family = CODES[code].family if code in CODES else "environment"
    return {"caller": exits.USAGE, "trust": exits.TRUST, "environment": exits.ENVIRONMENT}.get(family, exits.NOT_OK)
