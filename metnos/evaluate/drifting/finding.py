"""Drift of one turn, and of any number of them.

    gathered = Gathering()
    for log in logs:
        gathered.add(*drift_of(log, now))
    gathered.drift().groups[0].what        # "find_files /entries/*/size (integer)"

Law: pure, one log in memory at a time; whatever a log holds, nothing is raised and nothing is run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from metnos.evaluate.drifting.contracts import changes, declared
from metnos.evaluate.drifting.model import Finding
from metnos.evaluate.drifting.recorded import Recorded, Result
from metnos.evaluate.drifting.refold import refold
from metnos.evaluate.drifting.results import Misfit, misfits
from metnos.record.verify import verify_log

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metnos.evaluate.drifting.today import Today
    from metnos.record.model import TurnLog


def drift_of(log: TurnLog, now: Today) -> tuple[tuple[Finding, ...], int]:
    """Everything that is not as it was, each place once; and how many results were looked at."""
    held = verify_log(log)
    if not held.ok:
        return (Finding(kind="log-broken", turn=log.turn, step=str(held.seq or ""), code=held.code),), 0
    recorded = Recorded(log)
    found: dict[tuple[str, str, str], Finding] = {}
    try:
        for one in _all(log, recorded, now):
            found.setdefault((one.kind, one.step, one.field), one)
    except Exception as fault:  # noqa: BLE001 - whatever today's rules raise on what a log holds is said of this log
        broken = Finding(kind="log-broken", turn=log.turn, code="record-malformed", now=type(fault).__name__)
        found.setdefault((broken.kind, broken.step, broken.field), broken)
    return tuple(found.values()), len(recorded.results)


def _all(log: TurnLog, recorded: Recorded, now: Today) -> Iterator[Finding]:
    """From what is nearest to the cause to what only follows from it."""
    yield from _of_contracts(log.turn, recorded, now)
    for result in recorded.results:
        yield from _of_result(log.turn, recorded, result, now)
    yield from refold(log, recorded, now)


def _of_contracts(turn: str, recorded: Recorded, now: Today) -> Iterator[Finding]:
    for number, accepted in recorded.plans.items():
        for reference, digest in accepted.executors.items():
            name = reference.rpartition("@")[0]
            contract = now.catalog.get(name)
            step = recorded.first_step(number, name)
            for misfit in changes(reference, digest, contract, now.before.get(reference)):
                candidates = tuple(now.like(name)) if misfit.kind == "tool-gone" else misfit.candidates
                yield _finding(turn, step, name, misfit._replace(candidates=candidates))


def _of_result(turn: str, recorded: Recorded, result: Result, now: Today) -> Iterator[Finding]:
    tool = recorded.tool(result.step)
    contract = now.catalog.get(tool)
    if contract is None:
        return
    for misfit in misfits(contract.result, result.data):
        yield _finding(turn, result.step, tool, misfit)
    classes = declared(contract)
    for made in dict.fromkeys(result.effects):
        if made not in classes:
            yield Finding(
                kind="effect-changed",
                turn=turn,
                step=result.step,
                tool=tool,
                recorded=made,
                now=", ".join(dict.fromkeys(rule.effect for rule in contract.effects)),
            )


def _finding(turn: str, step: str, tool: str, misfit: Misfit) -> Finding:
    return Finding(
        kind=misfit.kind,
        turn=turn,
        step=step,
        tool=tool,
        field=misfit.field,
        recorded=misfit.recorded,
        now=misfit.now,
        candidates=misfit.candidates,
        count=misfit.times,
    )
