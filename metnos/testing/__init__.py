"""Fakes as products: what tests of Metnos, and of anything built on it, need in place of the world.

Law: needs nothing but what Metnos itself needs to run (no pytest). `__all__` is promised as `metnos.__all__` is; names
open when they are first used. How each is used: docs/testing.md. The simulation of the turn machine
(`metnos.testing.simulation`) is for work on Metnos itself, and stays outside the promise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from metnos.testing.clock import FakeClock
    from metnos.testing.deciding import RandomSession
    from metnos.testing.disk import BadDisk, FullDisk
    from metnos.testing.journals import DurableJournalSuite, JournalSuite
    from metnos.testing.modelserver import ModelReply, ModelServer
    from metnos.testing.proposer import Asked, ScriptedProposer
    from metnos.testing.standins import Call, StandIns
    from metnos.testing.suite import StoreBroken, check_store

__all__ = [
    "Asked",
    "BadDisk",
    "Call",
    "DurableJournalSuite",
    "FakeClock",
    "FullDisk",
    "JournalSuite",
    "ModelReply",
    "ModelServer",
    "RandomSession",
    "ScriptedProposer",
    "StandIns",
    "StoreBroken",
    "check_store",
]

_HOMES = {
    "Asked": "metnos.testing.proposer",
    "BadDisk": "metnos.testing.disk",
    "Call": "metnos.testing.standins",
    "DurableJournalSuite": "metnos.testing.journals",
    "FakeClock": "metnos.testing.clock",
    "FullDisk": "metnos.testing.disk",
    "JournalSuite": "metnos.testing.journals",
    "ModelReply": "metnos.testing.modelserver",
    "ModelServer": "metnos.testing.modelserver",
    "RandomSession": "metnos.testing.deciding",
    "ScriptedProposer": "metnos.testing.proposer",
    "StandIns": "metnos.testing.standins",
    "StoreBroken": "metnos.testing.suite",
    "check_store": "metnos.testing.suite",
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
