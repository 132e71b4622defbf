"""`metnos log`: recorded turns, and everything that is done with them where they lie.

Law: the table below is the whole group; what is none of its commands is a turn, and is shown.
"""

from __future__ import annotations

import click

from metnos.cli.lazy import DefaultGroup, Table

LOG_COMMANDS: Table = {
    "show": ("metnos.cli.turns", "List recorded turns, or show and verify one; meant where no command is named."),
    "import": ("metnos.cli.datasets", "Make a collection of turns from data sets and logs of others."),
    "export": ("metnos.cli.datasets", "Write recorded turns in the forms of others."),
    "label": ("metnos.cli.cases", "Say something of a recorded turn, beside its log."),
    "case": ("metnos.cli.cases", "Make a test case from a recorded turn, or try cases."),
    "fork": ("metnos.cli.cases", "Go on otherwise with a recorded turn from one step on, offline."),
    "drift": ("metnos.cli.drift", "Say what has changed in tools, results and verdicts since turns were recorded."),
    "report": ("metnos.cli.report", "Show what recorded turns came to: a table, JSON, or a page of HTML."),
    "seal": ("metnos.cli.sealing", "Write closed turns into Parquet files, verified, to be queried and replayed."),
}
"""Command → (module, help line)."""


@click.command(cls=DefaultGroup, table=LOG_COMMANDS, default="show")
def log_command() -> None:
    """List recorded turns, newest first; or show one: `metnos log TURN`; or work with them, by the commands below."""
