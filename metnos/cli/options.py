"""Options that every command takes, before or after its name, and the engine they open.

Law: a command never reads the environment; `Desk` hands it an engine and an output.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from metnos.cli import exits
from metnos.cli.output import Fault, Output

if TYPE_CHECKING:
    from metnos.engine import Engine

F = TypeVar("F", bound=Callable[..., Any])


class Desk:
    """What one command works with."""

    def __init__(self, *, home: str | None, roots: tuple[str, ...], language: str | None, json: bool) -> None:
        self.home = home
        self.roots = roots
        self.language = language
        self.output = Output(json=json, language=language)

    def engine(self, **more: Any) -> Engine:
        """An engine on this home, these roots and the current folder; close it."""
        from metnos.engine import Engine

        return Engine.open(self.home, roots=self.roots, language=self.language, **more)


def command(**settings: Any) -> Callable[[F], click.Command]:
    """`click.command` whose function gets a `Desk` first; the group's options are taken here too."""

    def wrap(function: F) -> click.Command:
        @click.option("--home", type=click.Path(file_okay=False), hidden=True)
        @click.option("--root", "roots", multiple=True, type=click.Path(file_okay=False), hidden=True)
        @click.option("--lang", "language", type=click.Choice(["en", "it"]), hidden=True)
        @click.option("--json", "as_json", is_flag=True, help="JSON on stdout, nothing else.")
        @click.pass_obj
        @functools.wraps(function)
        def run(
            above: dict[str, Any],
            /,
            *,
            home: str | None,
            roots: tuple[str, ...],
            language: str | None,
            as_json: bool,
            **rest: Any,
        ) -> Any:
            desk = Desk(
                home=home or above["home"],
                roots=(*above["roots"], *roots),
                language=language or above["language"],
                json=as_json or above["output"].json,
            )
            return function(desk, **rest)

        return click.command(**settings)(run)

    return wrap


def read_pairs(pairs: tuple[str, ...]) -> dict[str, Any]:
    """`NAME=VALUE` options as values: JSON where it is JSON, else text.

    Raises:
        Fault: One of them has no `=` or no name.
    """
    values: dict[str, Any] = {}
    for pair in pairs:
        name, found, text = pair.partition("=")
        if not found or not name:
            raise Fault("usage", f"{pair!r} is not NAME=VALUE", status=exits.USAGE)
        try:
            values[name] = json.loads(text)
        except ValueError:
            values[name] = text
    return values
