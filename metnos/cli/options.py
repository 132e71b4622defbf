"""Options that every command takes, before or after its name, and the engine they open.

Law: a command never reads the environment; `Desk` hands it an engine and an output.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from metnos.cli import exits
from metnos.cli.output import Fault, Output, echo

if TYPE_CHECKING:
    from metnos.engine import Engine
    from metnos.settings import Settings

F = TypeVar("F", bound=Callable[..., Any])


class Desk:
    """What one command works with."""

    def __init__(self, *, home: str | None, roots: tuple[str, ...], language: str | None, json: bool) -> None:
        self.home = home
        self.roots = roots
        self.language = language
        self.output = Output(json=json, language=language)
        self.output.home = home

    def engine(self, **more: Any) -> Engine:
        """An engine on this home, these roots and the current folder; close it. From here on its language counts."""
        from metnos.engine import Engine

        engine = Engine.open(self.home, roots=self.roots, language=self.language, **more)
        self.speak(engine.settings.language)
        return engine

    def settings(self) -> Settings:
        """What this home and these options decide, where no engine is needed. From here on its language counts."""
        from metnos.settings import load_settings

        settings = load_settings(home=self.home, roots=self.roots, language=self.language)
        self.speak(settings.language)
        return settings

    def speak(self, language: str | None) -> None:
        """Use `language` from here on, unless one was asked for."""
        self.language = self.output.language = self.language or language


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
                json=as_json or above["json"],
            )
            above["output"].home = desk.home
            return function(desk, **rest)

        return click.command(**settings)(run)

    return wrap


def format_option(function: F) -> F:
    """`--format`: as text, or drawn."""
    option = click.option(
        "--format",
        "form",
        type=click.Choice(["text", "mermaid"]),
        default="text",
        show_default=True,
        help="The plan as text, or drawn as a Mermaid flowchart.",
    )
    return option(function)


def show_drawing(output: Output, drawing: str) -> None:
    """A drawing alone on stdout, or as the field `mermaid`."""
    if output.json:
        output.data({"mermaid": drawing})
    else:
        echo(drawing, nl=False)


def cache_options(function: F) -> F:
    """`--no-cache` and `--refresh`, as one argument `cache`."""

    @click.option("--no-cache", is_flag=True, help="Use no plan that was learned, and learn none.")
    @click.option("--refresh", is_flag=True, help="Have a plan proposed anew, and learn it.")
    @functools.wraps(function)
    def run(*args: Any, no_cache: bool, refresh: bool, **rest: Any) -> Any:
        if no_cache and refresh:
            raise Fault("usage", "--no-cache learns nothing, --refresh learns", hint="say one", status=exits.USAGE)
        return function(*args, cache="off" if no_cache else "refresh" if refresh else "use", **rest)

    return run  # pyright: ignore[reportReturnType]  # what click makes of it has one argument for the two options


def model_options(function: F) -> F:
    """`--model` and `--no-model`, as one argument `model`."""

    @click.option("--model", "named", metavar="NAME", help="Plan with this model, if no known plan serves.")
    @click.option("--no-model", is_flag=True, help="Plan with no model: known plans only.")
    @functools.wraps(function)
    def run(*args: Any, named: str | None, no_model: bool, **rest: Any) -> Any:
        if named is not None and no_model:
            raise Fault("usage", "--model names one, --no-model wants none", hint="say one", status=exits.USAGE)
        return function(*args, model=False if no_model else named, **rest)

    return run  # pyright: ignore[reportReturnType]  # what click makes of it has one argument for the two options


def said(text: str) -> str:
    """What was typed, as text.

    Raises:
        Fault: It is not UTF-8.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        hint = "type it in a terminal that is set to UTF-8"
        raise Fault("not-utf8", "what was typed is not UTF-8", hint=hint, status=exits.USAGE) from None
    return text


def read_pairs(pairs: tuple[str, ...]) -> dict[str, str]:
    """`NAME=VALUE` options.

    Raises:
        Fault: One of them has no `=` or no name, or a name is given twice.
    """
    values: dict[str, str] = {}
    for pair in pairs:
        name, found, text = said(pair).partition("=")
        if not found or not name:
            raise Fault(
                "usage", f"{pair!r} is not NAME=VALUE", hint="for example --input year=2026", status=exits.USAGE
            )
        if name in values:
            raise Fault("usage", f"{name!r} is given twice", where=name, status=exits.USAGE)
        values[name] = text
    return values


def read_values(pairs: tuple[str, ...]) -> dict[str, Any]:
    """`NAME=VALUE` where nothing says what is wanted: JSON where it is JSON, else text."""
    from metnos.drivers.asked import typed_value

    return {name: typed_value(text) for name, text in read_pairs(pairs).items()}


def read_answers(pairs: tuple[str, ...]) -> dict[str, Any]:
    """`NAME=VALUE` where a question says what is wanted: text, unless it asks for something else."""
    from metnos.drivers.asked import Typed

    return {name: Typed(text) for name, text in read_pairs(pairs).items()}
