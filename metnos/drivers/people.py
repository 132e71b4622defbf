"""Commands that ask a person: approvals and dialogs. They are on disk before anybody is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metnos.drivers.asked import ask_host, is_open

if TYPE_CHECKING:
    from metnos.drivers.state import TurnUnderWay
    from metnos.turn import commands as c


def ask(turn: TurnUnderWay, command: c.AskApproval) -> None:
    """Ask for consent; without anybody to ask the turn will suspend."""
    turn.ports.boundary("approval-committed")
    approve = turn.ports.approve
    if approve is not None and is_open(turn, command):
        ask_host(turn, command, lambda: approve(command))


def open_dialog(turn: TurnUnderWay, command: c.OpenDialog) -> None:
    """Ask a question or show a form."""
    answer = turn.ports.answer
    if answer is not None and is_open(turn, command):
        ask_host(turn, command, lambda: answer(command))
