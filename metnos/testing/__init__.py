"""Fakes as products: what tests of Metnos, and of anything built on it, need in place of the world.

Law: needs nothing but what Metnos itself needs to run (no pytest). `__all__` is promised as `metnos.__all__` is; names
open when they are first used. How each is used: docs/testing.md. The simulation of the turn machine
(`metnos.testing.simulation`) is for work on Metnos itself, and stays outside the promise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from metnos.testing.clock import FakeClock
    from metnos.testing.proposer import Asked, ScriptedProposer
    from metnos.testing.standins import Call, StandIns

__all__ = [
    "Asked",
    "Call",
    "FakeClock",
    "ScriptedProposer",
    "StandIns",
]

_HOMES = {
    "Asked": "metnos.testing.proposer",
    "Call": "metnos.testing.standins",
    "FakeClock": "metnos.testing.clock",
    "ScriptedProposer": "metnos.testing.proposer",
    "StandIns": "metnos.testing.standins",
}


def __getattr__(name: str) -> Any:
    """Open the module that owns `name` and keep what was found (PEP 562)."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'metnos.testing' has no attribute {name!r}")
    from importlib import import_module

    found = getattr(import_module(home), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
