"""Undoing a turn: its receipts, newest first, as the plan of a new turn. It is checked, asked about and recorded as any.

Law: what undoes an effect stands in its receipt (`Effect.undo`), written by the executor that made it; nothing is
guessed here. Whether a file has changed since is looked at when the action is run, by digest, and not before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from metnos.drivers.opening import open_turn
from metnos.drivers.slash import ACTIONS, ARGUMENTS, undo_over
from metnos.turn.inputs import TurnOpened, VirtualInput

if TYPE_CHECKING:
    from metnos.drivers.parts import Parts
    from metnos.record.reading import TurnView

MOST = 1_000
"""Actions of one step."""
LOOKED_AT = 20
"""So many of the latest turns are looked at for one that can be undone, where the one that was named cannot."""
_PLACE: dict[str, Any] = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "path_bytes": {"type": "string"}},
    "required": ["path"],
    "additionalProperties": False,
}
_ACTION: dict[str, Any] = {
    "type": "object",
    "properties": {
        "do": {"type": "string", "enum": ["trash", "move", "restore", "remove_dir", "make_dir"]},
        "path": _PLACE,
        "from": {"anyOf": [_PLACE, {"type": "null"}]},
        "digest": {"type": ["string", "null"]},
        "over": {"type": ["string", "null"]},
    },
    "required": ["do", "path", "from", "digest", "over"],
    "additionalProperties": False,
}


class NothingToUndo(Exception):
    """The turn cannot be undone.

    Attributes:
        code: `turn-open` or `nothing-to-undo`.
        where: The turn.
    """

    def __init__(self, code: str, turn: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.where = turn
        self.message = message
        self.hint = hint


def trusted_view(parts: Parts, turn: str) -> TurnView:
    """A recorded turn of the engine's owner whose chain, head and anchor hold: receipts are acted on.

    Raises:
        RecordFault: No such turn, or its log does not hold. Another owner's is as good as missing.
    """
    from metnos.record.faults import RecordFault
    from metnos.record.reading import view

    held = parts.journal.verify(turn)
    if not held.ok:
        raise RecordFault(held.code, held.detail, seq=held.seq)
    found = view(parts.journal.load(turn))
    if found.owner != parts.context.owner:
        raise RecordFault("turn-missing", f"there is no turn {turn}", turn=turn)
    return found


def actions_of(view: TurnView) -> list[dict[str, Any]]:
    """What undoes the effects of a turn, in the order in which it must be done.

    Raises:
        NothingToUndo: It is not closed, it had no effect, or none that can be undone.
    """
    if view.status != "closed":
        hint = f"`metnos resume {view.turn}` goes on with it"
        raise NothingToUndo("turn-open", view.turn, "the turn is not closed", hint)
    actions = [
        {name: action.get(name) for name in ARGUMENTS}
        for effect in reversed(view.effects)
        for action in _actions(effect)
    ]
    if not actions:
        message = "nothing that it did can be undone" if view.effects else "it changed nothing"
        raise NothingToUndo("nothing-to-undo", view.turn, message)
    return actions


def _actions(effect: dict[str, Any]) -> list[dict[str, Any]]:
    receipt: dict[str, Any] = effect.get("undo") or {}
    return receipt.get("actions", [])


def _another(parts: Parts, turn: str) -> str:
    """The latest turn that can be undone, as a hint: `last` is often the question that was asked after it."""
    from metnos.record.faults import RecordFault
    from metnos.record.reading import view

    for one in parts.journal.turns(LOOKED_AT):
        if one.turn == turn or one.status != "closed" or one.owner != parts.context.owner:
            continue
        try:
            effects = view(parts.journal.load(one.turn)).effects
        except RecordFault:
            continue
        if any(map(_actions, effects)):
            return f"`metnos undo {one.turn}` undoes the latest that can be"
    return ""


def inputs_for(parts: Parts, view: TurnView) -> dict[str, VirtualInput]:
    """What undoes a turn, as inputs: its actions in lists of at most `MOST`, and the turn itself.

    Raises:
        NothingToUndo: As for `actions_of`; the hint names a turn that can be undone.
    """
    try:
        actions = actions_of(view)
    except NothingToUndo as fault:
        if not fault.hint:
            fault.hint = _another(parts, view.turn)
        raise
    lists = {f"{ACTIONS}{at // MOST + 1}": actions[at : at + MOST] for at in range(0, len(actions), MOST)}
    schema = {"type": "array", "items": _ACTION}
    inputs = {name: VirtualInput(data=value, schema=schema) for name, value in lists.items()}
    return inputs | {"undoes": VirtualInput(data=view.turn)}


def opened_for(parts: Parts, view: TurnView) -> TurnOpened:
    """The first input of the turn that undoes another one."""
    inputs = inputs_for(parts, view)
    opened = open_turn(parts, None, mode="run", plan=undo_over(inputs))
    assert isinstance(opened, TurnOpened)
    return msgspec.structs.replace(opened, inputs=inputs)
