"""Groups of commands by table: listed without being imported, each loaded only when it is called.

Law: a table is command → (module, help line); the function is named like the command, with `_command` behind it.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, TypeAlias

import click

Table: TypeAlias = "dict[str, tuple[str, str]]"


class LazyGroup(click.Group):
    """Commands by table."""

    def __init__(self, *args: Any, table: Table | None = None, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.table: Table = table or {}

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        if cmd_name not in self.table:
            return None
        module, _ = self.table[cmd_name]
        command: click.Command = getattr(import_module(module), f"{cmd_name}_command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in self.table.items()])


FLAGS = frozenset({"--json"})
"""Options without a value that may stand before the name of a command."""
HELP = frozenset({"-h", "--help"})


class DefaultGroup(LazyGroup):
    """Commands by table, of which one is meant where none is named: `metnos log TURN` is `metnos log show TURN`."""

    def __init__(self, *args: Any, default: str = "", **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.default = default

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put in the name that was left out; `--json` before a name goes behind it."""
        flags = next((at for at, one in enumerate(args) if one not in FLAGS), len(args))
        before, rest = args[:flags], args[flags:]
        if rest and rest[0] in self.table:
            return super().parse_args(ctx, [rest[0], *before, *rest[1:]])
        if args and args[0] in HELP:
            return super().parse_args(ctx, args)
        return super().parse_args(ctx, [self.default, *args])
