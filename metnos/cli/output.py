"""How the command line speaks: JSON only on stdout with `--json`, plain or rich text otherwise, progress on stderr.

Law: one place decides the form; commands hand over values. Errors are `{"error": {code, message, where, hint}}`.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, NoReturn

import click
import msgspec

from metnos.cli import exits

if TYPE_CHECKING:
    from collections.abc import Iterable

    from metnos.plan.diagnostics import Diagnostic


class Fault(Exception):
    """Anything that ends a command early: printed once, by `main`, with its exit code."""

    def __init__(self, code: str, message: str, *, where: str = "", hint: str = "", status: int = exits.NOT_OK) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.where = where
        self.hint = hint
        self.status = status


class Output:
    """What the options `--json` and `--lang` decided, carried in click's context."""

    def __init__(self, *, json: bool, language: str | None) -> None:
        self.json = json
        self.language = language

    @property
    def interactive(self) -> bool:
        """Whether a person can be asked: a terminal on both sides, and no `--json`."""
        return not self.json and sys.stdin.isatty() and sys.stderr.isatty()

    @property
    def colour(self) -> bool:
        """Whether stdout is a terminal that wants colour."""
        return sys.stdout.isatty() and not os.environ.get("NO_COLOR")

    def data(self, value: Any) -> None:
        """One JSON document on stdout."""
        plain = msgspec.to_builtins(value, enc_hook=str)
        sys.stdout.buffer.write(msgspec.json.format(msgspec.json.encode(plain), indent=2) + b"\n")
        sys.stdout.flush()

    def text(self, text: str) -> None:
        """Markdown for a person: rendered on a terminal, left as it is in a pipe."""
        if self.colour:
            from rich.console import Console
            from rich.markdown import Markdown

            Console().print(Markdown(text))
        else:
            click.echo(text)

    def line(self, text: str) -> None:
        """A line of plain text on stdout."""
        click.echo(text)

    def note(self, text: str) -> None:
        """A line for the person, beside the answer; silent with `--json`."""
        if not self.json:
            click.echo(
                click.style(text, dim=True) if sys.stderr.isatty() and not os.environ.get("NO_COLOR") else text,
                err=True,
            )

    def diagnostics(self, faults: Iterable[Diagnostic]) -> None:
        """Each fault on stderr: place, code, found, expected, hint."""
        for fault in faults:
            click.echo(f"{fault.where or '/'}: {fault.code}", err=True)
            for name in ("found", "expected", "hint"):
                said = getattr(fault, name)
                if said:
                    click.echo(f"    {name}: {said}", err=True)

    def fail(self, fault: Fault) -> NoReturn:
        """Print the fault in the form asked for and leave with its code."""
        body = {"code": fault.code, "message": fault.message, "where": fault.where, "hint": fault.hint}
        if self.json:
            self.data({"error": body})
        else:
            place = f" ({fault.where})" if fault.where else ""
            click.echo(f"metnos: {fault.code}: {fault.message}{place}", err=True)
            if fault.hint:
                click.echo(f"    hint: {fault.hint}", err=True)
        raise SystemExit(fault.status)
