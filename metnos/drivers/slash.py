"""Slash commands: `/word` is looked up in a table; it is never understood, never guessed at and never proposed.

Law: a sentence whose first word is `/` and letters, and nothing else, is a command (`/etc/passwd`, `/tmp/` are paths); a
word that the table lacks is refused, with the nearest ones. A word that *does* something is a plan: its turn finds the
plan here before any cache, and plan, policy, consent and log are those of every turn. A word that only *tells* something
of Metnos is answered without a turn.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable

SOURCE: Final = "command"
"""Of a plan that a word stands for; also the layer that served it."""


class Word(msgspec.Struct, frozen=True):
    """A row of the table; `slash.NAME` in the text tables says what it does."""

    name: str
    kind: Literal["plan", "tells"]
    also: dict[str, str]
    """Language → the word in it."""
    argument: str = ""
    """What may stand behind it, one word; empty: nothing may."""


ROWS: Final = (
    Word("help", "tells", {"it": "aiuto"}),
    Word("examples", "tells", {"it": "esempi"}, "WORD"),
    Word("tools", "tells", {"it": "strumenti"}),
    Word("last", "tells", {"it": "ultimo"}),
    Word("cache", "tells", {"it": "memoria"}),
    Word("good", "tells", {"it": "bene"}, "TURN"),
    Word("bad", "tells", {"it": "male"}, "TURN"),
    Word("undo", "plan", {"it": "annulla"}, "TURN"),
    Word("now", "plan", {"it": "adesso"}),
)
WORDS: Final[dict[str, Word]] = {word.name: word for word in ROWS}
_SPELLED: Final = {spelled: word for word in ROWS for spelled in (word.name, *word.also.values())}
_MOST_SHOWN: Final = 40
"""Letters of an unknown word that are said back."""
_COMMAND: Final = re.compile(r"/([^\W\d_]+)(?:\s+(.*))?", re.DOTALL)
EXECUTOR: Final = "undo_effects"
ACTIONS: Final = "actions"
"""What the names of its lists of actions begin with."""
ARGUMENTS: Final = ("do", "path", "from", "digest", "over")
"""Of one action."""
_NOW: Final[dict[str, Any]] = {
    "steps": [
        {"tool": "get_now", "args": {}},
        {"tool": "final_answer", "args": {"text": "${step1.date}, ${step1.time} (${step1.zone})"}},
    ]
}


class CommandFault(Exception):
    """A word that cannot be obeyed.

    Attributes:
        code: `unknown-command` or `command-misused`.
        where: The word.
    """

    def __init__(self, code: str, where: str, message: str, hint: str) -> None:
        super().__init__(message)
        self.code = code
        self.where = where
        self.message = message
        self.hint = hint


class Command(msgspec.Struct, frozen=True):
    """A word of the table, as it was typed."""

    word: Word
    argument: str
    language: str | None
    """That the word is of; None: of none in particular."""


def command_of(text: str) -> Command | None:
    """The command that a sentence is; None: it is none.

    Raises:
        CommandFault: It begins as one, and the table has no such word, or not with what stands behind it.
    """
    found = _COMMAND.fullmatch(text.strip())
    if found is None:
        return None
    typed, rest = found[1], (found[2] or "").strip()
    word = _SPELLED.get(typed.casefold())
    if word is None:
        shown = typed if len(typed) <= _MOST_SHOWN else f"{typed[:_MOST_SHOWN]}…"
        raise CommandFault("unknown-command", f"/{shown}", f"no command is called /{shown}", _nearest(typed))
    if len(rest.split()) > bool(word.argument):
        usage = f"/{word.name} [{word.argument}]" if word.argument else f"/{word.name}"
        raise CommandFault("command-misused", f"/{typed}", f"what stands behind /{typed} is too much", f"say {usage}")
    language = next((language for language, also in word.also.items() if also == typed.casefold()), None)
    return Command(word, rest, language)


def may_be_command(text: str) -> bool:
    """Whether a sentence is worth being looked at; most are not."""
    return text.lstrip()[:1] == "/"


def _nearest(typed: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(typed[:_MOST_SHOWN].casefold(), list(_SPELLED), n=3, cutoff=0.6)
    said = " or ".join(f"`/{one}`" for one in near)
    return f"did you mean {said}?" if near else "`/help` lists them; a path ends in a slash, or has a second one"


def plan_of(text: str, inputs: Iterable[str]) -> tuple[dict[str, Any], str] | None:
    """The plan of a word over the inputs that its turn was opened with, and its name; None: the text is no command."""
    command = command_of(text)
    if command is None:
        return None
    if command.word.name == "undo":
        return undo_over(inputs), "/undo"
    return _NOW, f"/{command.word.name}"


def undo_over(inputs: Iterable[str]) -> dict[str, Any]:
    """The plan that undoes, over the names of `undoing.inputs_for`."""
    arguments = {name: f"${{item.{name}}}" for name in ARGUMENTS}
    lists = [name for name in inputs if name.startswith(ACTIONS)]
    steps: list[Any] = [{"tool": EXECUTOR, "for_each": f"${{INPUT:{name}}}", "args": arguments} for name in lists]
    return {"steps": [*steps, {"tool": "final_answer", "args": {}}]}
