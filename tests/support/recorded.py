"""Recorded turns of a made-up catalog, without a disk: contracts, a plan, what each tool answers → a `TurnLog`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from metnos.contracts.catalog import Catalog
from metnos.contracts.model import Contract, EffectRule
from metnos.drivers.rules import make_rules
from metnos.plan.jsondata import digest
from metnos.record.chain import as_records
from metnos.record.model import Head, TurnLog
from metnos.record.recorder import Recorder
from metnos.sdk import Effect, EffectClass, Failure
from metnos.testing.simulation import Script, Simulation
from metnos.turn import commands as c
from metnos.turn import inputs as i

NOW = "2026-11-30T12:00:00+01:00"


def contract(
    name: str,
    args: dict[str, Any],
    result: dict[str, Any] | None = None,
    *,
    required: Iterable[str] = (),
    effect: EffectClass = "read",
    version: str = "1.0.0",
    **more: Any,
) -> Contract:
    """A closed contract; its digest is that of what it says."""
    schema = {"type": "object", "properties": args, "required": list(required), "additionalProperties": False}
    more.setdefault("resources", ())
    made = Contract(
        name=name, version=version, args=schema, result=result or {}, effects=(EffectRule(effect=effect),), **more
    )
    return msgspec.structs.replace(made, digest=digest(["made", msgspec.to_builtins(made)]))


def changed(known: Contract, **fields: Any) -> Contract:
    """The contract with other fields, and another digest."""
    made = msgspec.structs.replace(known, **fields)
    return msgspec.structs.replace(made, digest=digest(["made", msgspec.to_builtins(made)]))


def rows_of(**fields: dict[str, Any]) -> dict[str, Any]:
    """A result schema: `entries` of closed objects that have all of these fields."""
    item = {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}
    return {
        "type": "object",
        "properties": {"entries": {"type": "array", "items": item}},
        "required": ["entries"],
        "additionalProperties": False,
    }


class Answers:
    """What tools come back with, by name: data, or a `Failure`."""

    def __init__(self, results: dict[str, Any], effects: dict[str, EffectClass]) -> None:
        self._results = results
        self._effects = effects

    def perform(self, start: c.StartStep) -> i.StepFinished | i.StepFailed:
        name = start.executor.partition("@")[0]
        found = self._results.get(name, {})
        if isinstance(found, Failure):
            return i.StepFailed(step=start.step, error=found)
        made = (Effect(cls=self._effects[name], target="x"),) if name in self._effects else ()
        return i.StepFinished(step=start.step, data=found, digest=digest(found), effects=made)

    def probe(self, command: c.ProbeEffect) -> i.EffectProbed:
        return i.EffectProbed(step=command.step, found="unknown")


def recorded(
    contracts: Iterable[Contract],
    plan: dict[str, Any],
    results: dict[str, Any] | None = None,
    *,
    turn: str = "t1",
    request: str | None = None,
    effects: dict[str, EffectClass] | None = None,
    script: Script | None = None,
    rules: Any = None,
    **opened: Any,
) -> TurnLog:
    """A turn of this plan: the caller's own, or proposed where there is a `request`."""
    used = rules or make_rules(Catalog().with_contracts(contracts))
    if request is None:
        first = i.TurnOpened(turn=turn, now=NOW, mode="run", plan=plan, versions={"rules": used.digest}, **opened)
    else:
        first = i.TurnOpened(turn=turn, now=NOW, request=request, versions={"rules": used.digest}, **opened)
        script = script or Script(proposals=(plan,))
    run = Simulation(used, first, Answers(results or {}, effects or {}), script=script).run()
    recorder = Recorder(turn)
    for item, reaction in run.log:
        recorder.add(item, reaction)
    status = "suspended" if run.close is None else "closed"
    return TurnLog(
        turn=turn,
        status=status,
        seq=recorder.seq,
        records=as_records(tuple(recorder.rows)),
        head=Head(turn=turn, seq=recorder.seq, hash=recorder.hash, status=status),
        blobs=dict(recorder.blobs),
        signed=False,
    )
