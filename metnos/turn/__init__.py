"""The sans-I/O turn machine: inputs in, facts and commands out; scheduling.

Law: a pure fold. No clock, disk, network, model or asyncio; ids, times and results arrive inside inputs.

For a loop of one's own (`Engine.open_machine`): `__all__` is promised as `metnos.__all__` is, and so is that of
`commands`, `inputs` and `facts`. Names open when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from metnos.turn import commands, facts, inputs
    from metnos.turn.commands import AnyCommand
    from metnos.turn.facts import AnyFact
    from metnos.turn.inputs import AnyInput
    from metnos.turn.rules import Reaction, Rules
    from metnos.turn.table import ProtocolError, ResumeRefused
    from metnos.turn.turn import Machine

__all__ = [
    "AnyCommand",
    "AnyFact",
    "AnyInput",
    "Machine",
    "ProtocolError",
    "Reaction",
    "ResumeRefused",
    "Rules",
    "commands",
    "facts",
    "inputs",
]

_HOMES = {
    "AnyCommand": "metnos.turn.commands",
    "AnyFact": "metnos.turn.facts",
    "AnyInput": "metnos.turn.inputs",
    "Machine": "metnos.turn.turn",
    "ProtocolError": "metnos.turn.table",
    "Reaction": "metnos.turn.rules",
    "ResumeRefused": "metnos.turn.table",
    "Rules": "metnos.turn.rules",
}


def __getattr__(name: str) -> Any:
    """Open the module that owns `name` and keep what was found (PEP 562)."""
    from importlib import import_module

    if name in ("commands", "facts", "inputs"):
        return import_module(f"metnos.turn.{name}")
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'metnos.turn' has no attribute {name!r}")
    found = getattr(import_module(home), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
