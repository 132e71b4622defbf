"""Asking a person at the terminal: approvals and dialogs. Everything goes over stderr; stdout stays the answer's.

Law: it shows what the machine asked for and reports what was said; it grants nothing by itself.
"""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click
from msgspec import UNSET

from metnos.cli.output import on_one_line, printable, tell
from metnos.text import DEFAULT_LANGUAGE, message

if TYPE_CHECKING:
    from collections.abc import Generator

    from metnos.cli.output import Output
    from metnos.turn.commands import AskApproval, Guess, OpenDialog

SHOWN_TARGETS = 20


class TerminalConsent:
    """`approve` and `answer` ports on a terminal."""

    def __init__(self, output: Output) -> None:
        self._output = output

    def approve(self, asked: AskApproval) -> bool | None:
        """Show the action with its targets, and take yes or no; no is the default, Ctrl-C cancels the turn."""
        language = self._output.language
        targets = ", ".join(map(on_one_line, asked.targets[:SHOWN_TARGETS]))
        action = message(f"action.{asked.action}", language)
        tell(message("ask.approve", language, action=action, targets=targets))
        if asked.count > 1:
            tell(message("ask.count", language, count=asked.count))
        told = asked.reason.partition("; ")[2]
        if told:  # beside the rule itself, which the action has said already: what comes from outside
            tell(message("ask.reason", language, reason=told))
        try:
            with _prompting():
                return _yes_or_no(message("ask.yes_no", language), language)
        except (click.Abort, KeyboardInterrupt):
            _pass_on_interrupt()
            return None

    def answer(self, opened: OpenDialog) -> dict[str, Any] | None:
        """Ask the question, or each field of the form; Ctrl-C cancels the turn."""
        try:
            with _prompting():
                if opened.offers:
                    return _choose(opened, self._output)
                if opened.guess is not UNSET:
                    return _confirm(opened.guess, self._output.language or DEFAULT_LANGUAGE)
                if opened.form:
                    return {name: _field(name, field) for name, field in opened.form.items()}
                choices = click.Choice(list(opened.choices)) if opened.choices else None
                said = f" ({', '.join(map(_quoted, opened.choices))})" if choices else ""
                shown = printable(opened.question) + said
                return {"answer": click.prompt(shown, type=choices, show_choices=False, err=True)}
        except (click.Abort, KeyboardInterrupt):
            _pass_on_interrupt()
            return None


@contextmanager
def _prompting() -> Generator[None]:
    """While a prompt waits, Ctrl-C must end it at once instead of only being noted."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _pass_on_interrupt() -> None:
    """What ended the prompt is meant for the turn."""
    click.echo("", err=True)
    os.kill(os.getpid(), signal.SIGINT)


def _confirm(guess: Guess, language: str) -> dict[str, Any]:
    """Show what would be done, and ask whether to go on."""
    from metnos.drivers.guessing import guess_lines
    from metnos.turn.guess import GO_ON, NO, YES

    for line in guess_lines(guess, language):
        tell(line)
    return {GO_ON: YES if _yes_or_no(message("guess.question", language), language) else NO}


def _yes_or_no(asked: str, language: str | None) -> bool:
    """In the words of the language; nothing typed is a no, anything else is asked again."""
    yes, no = (message(f"ask.{word}_words", language).split() for word in ("yes", "no"))
    question = f"{asked} [{yes[0]}/{no[0].upper()}]"
    while True:
        typed = click.prompt(question, default="", show_default=False, err=True).strip().casefold()
        if typed in yes or typed in no or not typed:
            return typed in yes


def _choose(opened: OpenDialog, output: Output) -> dict[str, Any]:
    """Numbered choices; the number or the name is typed, and nothing typed is the last: stop."""
    from metnos.drivers.views import need_of

    need = need_of(opened, output.language or DEFAULT_LANGUAGE)
    tell(printable(need.question))
    answers: dict[str, str] = {}
    for number, option in enumerate(need.options, 1):
        tell(f"  {number}  {_quoted(option.label)}")
        answers |= {str(number): option.name, option.name: option.name}
    last = str(len(need.options))

    def known(text: str) -> str:
        if text.strip() not in answers:
            raise click.UsageError(message("choice.again", output.language, last=last))
        return answers[text.strip()]

    asked = message("choice.which", output.language)
    return {name: click.prompt(asked, default=last, value_proc=known, err=True) for name in need.form}


def _field(name: str, field: dict[str, Any]) -> Any:
    """One field of a form, asked again until it fits its schema."""
    from metnos.drivers.asked import Misfit, Typed, fit

    def fitting(text: str) -> Any:
        try:
            return fit(name, field.get("schema", {}), Typed(text))
        except Misfit as fault:
            raise click.UsageError(_quoted(fault.message)) from fault

    label = field.get("label") or name
    choices = field.get("schema", {}).get("enum")
    shown = f"{label} ({', '.join(map(str, choices))})" if choices else label
    return click.prompt(_quoted(shown), value_proc=fitting, err=True)


def _quoted(text: str) -> str:
    """What a plan says inside a question of ours: on one line, and driving nothing."""
    return printable(on_one_line(text))
