"""How the command line speaks: JSON only on stdout with `--json`, plain or rich text otherwise, progress on stderr.

Law: one place decides the form; commands hand over values. Errors are `{"error": {code, message, where, hint}}`.
"""

from __future__ import annotations

import os
import sys
import unicodedata
from contextlib import contextmanager
from itertools import groupby
from typing import TYPE_CHECKING, Any, NoReturn, TextIO, cast

import click
import msgspec

from metnos.cli import exits
from metnos.cli.calling import as_typed, beginning

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

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


def hint_of_code(code: str) -> str:
    """What the table of codes says to do about it, where the fault itself knows nothing better."""
    from metnos.plan.codes import CODES

    return CODES[code].hint if code in CODES else ""


def printable(text: str) -> str:
    """`text` with every control character but line ends and tabs spelled out, so that no data can drive a terminal."""
    if text.isprintable():
        return text
    return "".join(_spelled(character) if _drives_a_terminal(character) else character for character in text)


def on_one_line(name: str) -> str:
    """A name as it stands in a question: its line ends are spelled, too, or it could write the rest of the question."""
    return "".join(_spelled(character) if character in LINE_ENDS else character for character in name)


def _drives_a_terminal(character: str) -> bool:
    return character in TURNING or (character not in "\n\t" and unicodedata.category(character) in CONTROL)


def _spelled(character: str) -> str:
    return f"\\u{ord(character):04x}"


def _as_text(value: Any) -> Any:
    """`value` with U+FFFD for every byte of a name that is no text, as `path` shows it."""
    match value:
        case str():
            return "".join("\ufffd" if "\ud800" <= one <= "\udfff" else one for one in value)
        case dict():
            return {_as_text(key): _as_text(part) for key, part in cast("dict[Any, Any]", value).items()}
        case list() | tuple():
            return [_as_text(part) for part in cast("list[Any]", value)]
        case _:
            return value


def _is_row(line: str) -> bool:
    return line.startswith("| ")


CONTROL = frozenset({"Cc", "Cs"})
"""Unicode categories that a terminal acts on instead of showing."""
LINE_ENDS = frozenset("\n\r\t\v\f\x85\u2028\u2029")
TURNING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Marks that turn the direction of text, and can make a name look like another."""


@contextmanager
def heard_or_not(stream: TextIO) -> Generator[None]:
    """Whoever read `stream` may have gone (`| head`): the command goes on to its end, and keeps its own exit code."""
    try:
        yield
    except BrokenPipeError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def echo(text: str, *, nl: bool = True, err: bool = False) -> None:
    """As it is, to stdout or stderr, where anybody reads it."""
    with heard_or_not(sys.stderr if err else sys.stdout):
        click.echo(text, nl=nl, err=err)


def tell(text: str, *, dim: bool = False) -> None:
    """A line for the person on stderr; what it quotes cannot drive the terminal."""
    if sys.stderr.isatty():
        shown = printable(text)
        echo(click.style(shown, dim=True) if dim and not os.environ.get("NO_COLOR") else shown, err=True)
    else:
        echo(text, err=True)


class Output:
    """What the options `--json` and `--lang` decided, carried in click's context."""

    def __init__(self, *, json: bool, language: str | None) -> None:
        self.json = json
        self.language = language
        self.home: str | None = None
        """The folder that `--home` named: a command in a hint names it, too."""

    def typed(self, hint: str) -> str:
        """A hint whose commands can be typed as they stand: by this program, about this home."""
        return as_typed(hint, beginning(self.home))

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
        try:
            encoded = msgspec.json.encode(plain)
        except UnicodeEncodeError:  # the name of a file that is not UTF-8, as this system hands it over
            encoded = msgspec.json.encode(_as_text(plain))
        with heard_or_not(sys.stdout):
            sys.stdout.buffer.write(msgspec.json.format(encoded, indent=2) + b"\n")
            sys.stdout.flush()

    def text(self, text: str) -> None:
        """An answer: as it is in a pipe; on a terminal its tables are drawn and its control characters shown."""
        if not sys.stdout.isatty():
            echo(text)
            return
        for is_table, lines in groupby(text.split("\n"), key=_is_row):
            block = "\n".join(lines)
            if is_table and self.colour:
                from rich.console import Console
                from rich.markdown import Markdown

                Console().print(Markdown(printable(block)))
            else:
                echo(printable(block))

    def line(self, text: str) -> None:
        """A line of plain text on stdout."""
        echo(printable(text) if sys.stdout.isatty() else text)

    def note(self, text: str) -> None:
        """A line for the person, beside the answer; silent with `--json`."""
        if not self.json:
            tell(text, dim=True)

    def diagnostics(self, faults: Iterable[Diagnostic]) -> None:
        """Each fault on stderr: place, code, found, expected, hint."""
        for fault in faults:
            tell(f"{fault.where or '/'}: {fault.code}")
            hint = self.typed(fault.hint or hint_of_code(fault.code))
            for name, said in (("found", fault.found), ("expected", fault.expected), ("hint", hint)):
                if said:
                    tell(f"    {name}: {said}")

    def fail(self, fault: Fault) -> NoReturn:
        """Print the fault in the form asked for and leave with its code."""
        hint = self.typed(fault.hint or hint_of_code(fault.code))
        body = {"code": fault.code, "message": fault.message, "where": fault.where, "hint": hint}
        if self.json:
            self.data({"error": body})
        else:
            place = f" ({fault.where})" if fault.where else ""
            tell(f"metnos: {fault.code}: {fault.message}{place}")
            if hint:
                tell(f"    hint: {hint}")
        raise SystemExit(fault.status)
