"""What must be on disk, and when: the driver's only rules, as tables.

Law (architecture, section 1, "Durable before it matters"):

- an effect's `StepStarted` is committed and its anchor synced before the runner is called;
- a question to a person is committed before the person is asked;
- an effect's outcome is committed when it arrives, or in one transaction with the close if nothing is left to run;
- everything else is appended and committed with the next of these. A crash may forget reads, never effects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from metnos.turn import commands as c
from metnos.turn import inputs as i

if TYPE_CHECKING:
    from collections.abc import Mapping

QUESTIONS: Final[frozenset[type[c.Command]]] = frozenset({c.AskApproval, c.OpenDialog})
"""Commands that ask a person."""
CLOSING: Final[frozenset[type[c.Command]]] = frozenset({c.Compose, c.Close, c.Learn})
"""Commands after which nothing is left to run."""
OUTCOMES: Final = (i.StepFinished, i.StepFailed, i.StepStopped, i.EffectProbed)
"""Inputs that say what came of a step."""


def is_intent(item: i.AnyInput, started: Mapping[str, c.StartStep]) -> bool:
    """Whether `item` is the durable intent of an effect: committed and anchored before the runner hears of it."""
    return type(item) is i.StepStarted and started[item.step].effect != "read"


def must_commit(
    item: i.AnyInput, commands: tuple[c.AnyCommand, ...], started: Mapping[str, c.StartStep], *, others_run: bool
) -> bool:
    """Whether `item` and its facts must be on disk before any of `commands` is carried out.

    Args:
        item: The input that was taken.
        commands: What the machine asks for now.
        started: Every `StartStep` so far, by step.
        others_run: Whether a step other than the one of `item` is under way.
    """
    if isinstance(item, OUTCOMES):
        start = started.get(item.step)
        if start is not None and start.effect != "read":
            return others_run or not commands or any(type(command) not in CLOSING for command in commands)
    return any(type(command) in QUESTIONS for command in commands)
