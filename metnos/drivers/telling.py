"""Slash commands before a turn is opened: what a word tells is told, what it does is given its inputs.

Law: what tells opens no turn and runs nothing; feedback goes to the cache by the door that `metnos feedback` uses. What
does something is handed on to be a turn (`slash`). Who says a word is told of, and acts on, no turn of another owner.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

from metnos.drivers import offline, undoing
from metnos.drivers.cachedoor import CacheDoor, feedback_lines
from metnos.drivers.results import TurnResult
from metnos.drivers.slash import ROWS, SOURCE, Command, CommandFault, command_of
from metnos.text import LANGUAGES, message

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from metnos.drivers.parts import Parts
    from metnos.plan.jsondata import JSON
    from metnos.turn.inputs import VirtualInput


class Begun(msgspec.Struct, frozen=True):
    """What the turn of a word is opened with."""

    inputs: dict[str, VirtualInput]
    language: str | None


def begun(
    parts: Parts,
    text: str,
    mode: Literal["run", "plan"],
    inputs: Mapping[str, JSON] | None,
    language: str | None,
) -> Begun | Told | None:
    """What a sentence comes to before its turn is opened; None: it is no command.

    Raises:
        CommandFault: No such word; or it is to be planned or given inputs, and cannot be.
        RecordFault: It is about a turn that there is not, or whose log does not hold.
        NothingToUndo: It is to undo a turn that did nothing which can be undone.
    """
    command = command_of(text)
    if command is None:
        return None
    word, language = command.word, language or parts.context.language or command.language
    if inputs:
        raise CommandFault("command-misused", f"/{word.name}", f"/{word.name} takes no inputs", "say it alone")
    if mode == "plan" and word.name != "now":
        hint = f"`metnos ask /{word.name}`"
        raise CommandFault("command-misused", f"/{word.name}", f"/{word.name} is no plan to look at", hint)
    if word.kind == "tells":
        return Told(command, language or LANGUAGES[0])
    return Begun(_undone(parts, command) if word.name == "undo" else {}, language)


def _undone(parts: Parts, command: Command) -> dict[str, VirtualInput]:
    turn = _own_turn(parts, command.argument)
    return undoing.inputs_for(parts, undoing.trusted_view(parts, turn))


def _own_turn(parts: Parts, said: str = "") -> str:
    """The turn that is meant, if it is of who says so: a home may hold the turns of several."""
    return offline.find_turn(parts, said or "last", parts.context.owner)


class Told(msgspec.Struct, frozen=True):
    """A word that opens no turn."""

    command: Command
    language: str

    def result(self, parts: Parts) -> TurnResult:
        """What it tells.

        Raises:
            RecordFault: It is about a turn that there is not, or whose log does not hold.
            NoFeedback: Nothing can be said about that turn.
        """
        answer, data = _TELLS[self.command.word.name](parts, self.command.argument, self.language)
        return TurnResult(
            turn="",
            status="closed",
            outcome="success",
            answer=answer,
            data=msgspec.to_builtins(data),
            source=SOURCE,
            entry=f"/{self.command.word.name}",
            language=self.language,
        )


_Told = tuple[str, Any]


def _help(_parts: Parts, _argument: str, language: str) -> _Told:
    said = {
        " ".join(filter(None, (f"/{word.also.get(language, word.name)}", word.argument and f"[{word.argument}]"))): (
            message(f"slash.{word.name}", language)
        )
        for word in ROWS
    }
    return _columns(said), {"commands": said}


def _examples(parts: Parts, argument: str, language: str) -> _Told:
    found = parts.library.examples(argument, language)
    return "\n".join(one.text for one in found) or message("slash.none", language), {"examples": found}


def _tools(parts: Parts, _argument: str, language: str) -> _Told:
    known = parts.catalog.contracts()
    said = {
        one.name: one.descriptions.get(language) or one.descriptions.get("en", "")
        for one in sorted(known.values(), key=lambda one: one.name)
    }
    return _columns(said), {"tools": said}


def _last(parts: Parts, _argument: str, language: str) -> _Told:
    view = undoing.trusted_view(parts, _own_turn(parts))
    head = f"{view.turn}  {view.outcome or view.status}  {view.request or view.mode}"
    answer = view.answer or _answer(parts, view.turn, language)
    return "\n\n".join(filter(None, (head, answer))), {
        "turn": view.turn,
        "outcome": view.outcome,
        "status": view.status,
        "request": view.request,
        "answer": answer,
    }


def _answer(parts: Parts, turn: str, language: str) -> str:
    """Of a turn whose answer was the plan's own: the log holds what it was made of."""
    from metnos.drivers.showing import show_data
    from metnos.record.replay import fold
    from metnos.turn.turn import Machine

    if offline.replay(parts, turn).status != "identical":  # other rules than then
        return ""
    machine = Machine(parts.rules)
    for item in fold(parts.journal.load(turn)):
        machine.receive(item)
    state = machine.state
    return state.answer or ("" if state.data is None else show_data(state.data, language))


def _cache(parts: Parts, _argument: str, language: str) -> _Told:
    found = parts.plan_cache.tending.stats()
    said = [message("cache.stats", language, rows=found.rows, bytes=found.bytes, uses=found.uses)]
    said += [f"{kind}: {count}" for kind, count in sorted(found.kinds.items())]
    if found.alarms:
        said.append(message("cache.alarms", language, count=found.alarms))
    return "\n".join(said), found


def _feedback(verdict: Literal["good", "bad"]) -> Callable[[Parts, str, str], _Told]:
    def give(parts: Parts, argument: str, language: str) -> _Told:
        turn = _own_turn(parts, argument)
        learned = CacheDoor(parts).feedback(turn, verdict)
        said = "\n".join(feedback_lines(learned, verdict, language))
        return said, {"turn": turn, "verdict": verdict, "admitted": learned.admitted, "held": learned.held}

    return give


def _columns(said: Mapping[str, str]) -> str:
    width = max(map(len, said), default=0)
    return "\n".join(f"{name:{width}}  {line}" for name, line in said.items())


_TELLS: Final[dict[str, Callable[[Parts, str, str], _Told]]] = {
    "help": _help,
    "examples": _examples,
    "tools": _tools,
    "last": _last,
    "cache": _cache,
    "good": _feedback("good"),
    "bad": _feedback("bad"),
}
