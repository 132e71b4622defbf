"""Asking a person at the terminal: approvals and dialogs. Everything goes over stderr; stdout stays the answer's.

Law: it shows what the machine asked for and reports what was said; it grants nothing by itself.
"""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from metnos.cli.output import printable, tell
from metnos.text import message

if TYPE_CHECKING:
    from collections.abc import Generator

    from metnos.turn.commands import AskApproval, OpenDialog

SHOWN_TARGETS = 20


class TerminalConsent:
    """`approve` and `answer` ports on a terminal."""

    def __init__(self, language: str | None) -> None:
        self._language = language

    def approve(self, asked: AskApproval) -> bool | None:
        """Show the action with its targets, and take yes or no; no is the default, Ctrl-C cancels the turn."""
        language = self._language
        targets = ", ".join(asked.targets[:SHOWN_TARGETS])
        action = message(f"action.{asked.action}", language)
        tell(message("ask.approve", language, action=action, targets=targets))
        if asked.count > 1:
            tell(message("ask.count", language, count=asked.count))
        if asked.reason:
            tell(message("ask.reason", language, reason=asked.reason))
        try:
            with _prompting():
                return click.confirm(message("ask.yes_no", language), default=False, err=True)
        except (click.Abort, KeyboardInterrupt):
            _pass_on_interrupt()
            return None

    def answer(self, opened: OpenDialog) -> dict[str, Any] | None:
        """Ask the question, or each field of the form; Ctrl-C cancels the turn."""
        try:
            with _prompting():
                if opened.form:
                    return {name: _field(name, field) for name, field in opened.form.items()}
                choices = click.Choice(list(opened.choices)) if opened.choices else None
                return {"answer": click.prompt(printable(opened.question), type=choices, err=True)}
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


def _field(name: str, field: dict[str, Any]) -> Any:
    kinds: dict[str, Any] = {"integer": int, "number": float, "boolean": bool}
    schema = field.get("schema", {})
    wanted = click.Choice(schema["enum"]) if "enum" in schema else kinds.get(str(schema.get("type")), str)
    return click.prompt(printable(field.get("label") or name), type=wanted, err=True)
