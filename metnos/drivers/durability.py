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
    from collections.abc import Callable, Container

QUESTIONS: Final[frozenset[type[c.Command]]] = frozenset({c.AskApproval, c.OpenDialog})
"""Commands that ask a person."""
CLOSING: Final[frozenset[type[c.Command]]] = frozenset({c.Compose, c.Close, c.Learn})
"""Commands after which nothing is left to run."""
OUTCOMES: Final = (i.StepFinished, i.StepFailed, i.StepStopped, i.EffectProbed)
"""Inputs that say what came of a step."""


def is_intent(item: i.AnyInput, effects: Container[str]) -> bool:
    """Whether `item` is the durable intent of an effect: committed and anchored before the runner hears of it.

    Args:
        item: The input that was taken.
        effects: Steps that were asked for and have an effect.
    """
    return type(item) is i.StepStarted and item.step in effects


def must_commit(
    item: i.AnyInput,
    commands: tuple[c.AnyCommand, ...],
    effects: Container[str],
    others_run: Callable[[str], bool],
) -> bool:
    """Whether `item` and its facts must be on disk before any of `commands` is carried out.

    Args:
        item: The input that was taken.
        commands: What the machine asks for now.
        effects: Steps that were asked for and have an effect.
        others_run: Whether a step other than the one named is under way.
    """
    if isinstance(item, OUTCOMES) and item.step in effects:
        return others_run(item.step) or not commands or not CLOSING.issuperset(map(type, commands))
    return asks(commands)


def asks(commands: tuple[c.AnyCommand, ...]) -> bool:
    """Whether any of `commands` asks a person."""
    return bool(commands) and not QUESTIONS.isdisjoint(map(type, commands))
