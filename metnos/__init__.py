"""Metnos: a model proposes one finite, typed plan; from there on everything is code.

Law: this is the one door. What is not in `__all__` is private; each name is imported when first touched, so
`import metnos` costs almost nothing.

    from metnos import Engine

    with Engine.open() as engine:
        turn = engine.run_sync("the five largest files here")
        print(turn.answer)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from metnos.contracts.functions import executor
    from metnos.contracts.model import Consumes, EffectRule, Limits, Produces, Resource
    from metnos.drivers.events import (
        NeedEvent,
        PlanAcceptedEvent,
        PlanRejectedEvent,
        StepFailedEvent,
        StepFinishedEvent,
        StepSkippedEvent,
        StepStartedEvent,
        StepStoppedEvent,
        TurnBrokenEvent,
        TurnEndedEvent,
        TurnEvent,
        TurnOpenedEvent,
        TurnResumedEvent,
    )
    from metnos.drivers.results import NeedsInputs, Planned, Refused, TurnResult
    from metnos.drivers.streams import SyncStream, TurnStream
    from metnos.engine import Engine
    from metnos.plan.diagnostics import Diagnostic
    from metnos.propose.candidates import Candidates
    from metnos.propose.model import Declined, PlanRequest, Proposal
    from metnos.propose.reply import Reply, read_reply
    from metnos.sdk import Context, Effect, Failure, Result

__version__ = "0.1.0"

__all__ = [
    "Candidates",
    "Consumes",
    "Context",
    "Declined",
    "Diagnostic",
    "Effect",
    "EffectRule",
    "Engine",
    "Failure",
    "Limits",
    "NeedEvent",
    "NeedsInputs",
    "PlanAcceptedEvent",
    "PlanRejectedEvent",
    "PlanRequest",
    "Planned",
    "Produces",
    "Proposal",
    "Refused",
    "Reply",
    "Resource",
    "Result",
    "StepFailedEvent",
    "StepFinishedEvent",
    "StepSkippedEvent",
    "StepStartedEvent",
    "StepStoppedEvent",
    "SyncStream",
    "TurnBrokenEvent",
    "TurnEndedEvent",
    "TurnEvent",
    "TurnOpenedEvent",
    "TurnResult",
    "TurnResumedEvent",
    "TurnStream",
    "__version__",
    "executor",
    "read_reply",
]

_ROOMS = {
    "Candidates": "metnos.propose.candidates",
    "Consumes": "metnos.contracts.model",
    "Context": "metnos.sdk",
    "Declined": "metnos.propose.model",
    "Diagnostic": "metnos.plan.diagnostics",
    "Effect": "metnos.sdk",
    "EffectRule": "metnos.contracts.model",
    "Engine": "metnos.engine",
    "Failure": "metnos.sdk",
    "Limits": "metnos.contracts.model",
    "NeedEvent": "metnos.drivers.events",
    "NeedsInputs": "metnos.drivers.results",
    "PlanAcceptedEvent": "metnos.drivers.events",
    "PlanRejectedEvent": "metnos.drivers.events",
    "PlanRequest": "metnos.propose.model",
    "Planned": "metnos.drivers.results",
    "Produces": "metnos.contracts.model",
    "Proposal": "metnos.propose.model",
    "Refused": "metnos.drivers.results",
    "Reply": "metnos.propose.reply",
    "Resource": "metnos.contracts.model",
    "Result": "metnos.sdk",
    "StepFailedEvent": "metnos.drivers.events",
    "StepFinishedEvent": "metnos.drivers.events",
    "StepSkippedEvent": "metnos.drivers.events",
    "StepStartedEvent": "metnos.drivers.events",
    "StepStoppedEvent": "metnos.drivers.events",
    "SyncStream": "metnos.drivers.streams",
    "TurnBrokenEvent": "metnos.drivers.events",
    "TurnEndedEvent": "metnos.drivers.events",
    "TurnEvent": "metnos.drivers.events",
    "TurnOpenedEvent": "metnos.drivers.events",
    "TurnResult": "metnos.drivers.results",
    "TurnResumedEvent": "metnos.drivers.events",
    "TurnStream": "metnos.drivers.streams",
    "executor": "metnos.contracts.functions",
    "read_reply": "metnos.propose.reply",
}


def __getattr__(name: str) -> Any:
    """Open the room that owns `name` and keep what was found (PEP 562)."""
    room = _ROOMS.get(name)
    if room is None:
        raise AttributeError(f"module 'metnos' has no attribute {name!r}")
    from importlib import import_module

    found = getattr(import_module(room), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_ROOMS})
