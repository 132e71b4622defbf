"""A recorded turn gone on with otherwise from one step on, offline.

    forked = fork(log, 2, parts, args={"by": "modified"})
    forked.unobserved          # "1.3": what comes of it was not recorded

Law: nothing is run. The steps before the fork are those of the recorded plan; their calls, and every later one that was
recorded with the same arguments, are answered from the record. A consent counts for the call that it was given for, before
the fork; a call behind it that asks is not answered.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from metnos.evaluate.running.driving import Drive, Driven
from metnos.evaluate.running.lookups import Nothing
from metnos.evaluate.running.recorded import Recorded
from metnos.plan.diagnostics import Diagnostic
from metnos.plan.jsondata import canonical
from metnos.record.codec import decode_fact, decode_tolerant
from metnos.record.faults import RecordFault
from metnos.record.reading import steps_of
from metnos.turn.facts import PlanRejected, PolicyDecided
from metnos.turn.inputs import ApprovalGiven

if TYPE_CHECKING:
    from collections.abc import Iterable

    from metnos.evaluate.running.parts import RunParts
    from metnos.record.model import TurnLog
    from metnos.turn.state import Call, StepRun

TERMINALS: Final = frozenset({"final_answer", "ask", "needs_inputs"})
Plan = dict[str, Any]


class ForkedStep(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One step of the fork."""

    step: str
    tool: str
    state: str
    """`done`, `failed`, `skipped`, …; `unobserved`: it was asked for and not recorded; `waiting`: for one of these."""
    before: bool = False
    """It stands before the fork."""
    code: str = ""


class Forked(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a fork went."""

    turn: str
    at: int
    """Number of the step."""
    outcome: str = ""
    """Empty: it did not come to its end."""
    unobserved: str = ""
    """First step whose call was not recorded."""
    unanswered: str = ""
    """First question that nobody answered."""
    steps: tuple[ForkedStep, ...] = ()
    rejected_by: str = ""
    diagnostics: tuple[Diagnostic, ...] = ()
    plan: Plan | None = None
    recorded_plan: Plan | None = None
    differs_at: int = 0
    """First step that is another one than the recorded; 0: none is."""
    effects: tuple[dict[str, str], ...] = ()
    """That the record tells of the calls which were made again; none of them was made now."""


def fork(
    log: TurnLog, at: int, parts: RunParts, *, args: dict[str, Any] | None = None, plan: Plan | None = None
) -> Forked:
    """Go on otherwise from step `at` of the last accepted plan.

    Args:
        log: Of the turn.
        at: Number of the step, from 1.
        parts: Rules, catalog and, where neither `args` nor `plan` is given, who proposes.
        args: Of this step, in place of those that it has; one that is null is left out.
        plan: The whole plan in place of the recorded one; its steps before `at` must be the same.

    Raises:
        RecordFault: `fork-impossible`; or what the log is broken by.
    """
    try:
        return _Fork(log, at, parts, args, plan).forked()
    except RecordFault:
        raise
    except Exception as fault:
        message = f"turn {log.turn} cannot be driven: {type(fault).__name__}: {fault}"
        raise RecordFault("record-malformed", message, turn=log.turn) from fault


class _Fork:
    """One fork, driven until no consent is left that was given for the same call."""

    def __init__(self, log: TurnLog, at: int, parts: RunParts, args: dict[str, Any] | None, plan: Plan | None) -> None:
        self._log, self._at, self._parts = log, at, parts
        recorded = self._read()
        if recorded.plan is None:
            raise RecordFault("fork-impossible", f"no plan of turn {log.turn} was accepted", turn=log.turn)
        self._recorded_plan = recorded.plan
        self._plan = self._other(args, plan)
        self._number, self._digests = _last_plan(log)

    def _read(self) -> Recorded:
        recorded = Recorded(self._log, self._parts.base)
        if recorded.replayed.status == "broken":
            raise RecordFault(recorded.replayed.kind, recorded.replayed.detail, turn=self._log.turn)
        return recorded

    def _other(self, args: dict[str, Any] | None, plan: Plan | None) -> Plan | None:
        """The plan of the fork; None: it is proposed."""
        steps = steps_of(self._recorded_plan)
        calls = [one for one in steps if one["tool"] not in TERMINALS]
        if not 0 < self._at <= len(calls):
            raise RecordFault("fork-impossible", f"the plan has {len(calls)} steps, no step {self._at}")
        if plan is not None:
            first = _difference(self._recorded_plan, plan)
            if 0 < first < self._at:
                raise RecordFault("fork-impossible", f"the plan differs at step {first} already")
            return plan
        if args is None:
            return None
        changed = {
            name: held for name, held in {**steps[self._at - 1].get("args", {}), **args}.items() if held is not None
        }
        made = {**steps[self._at - 1], "args": changed}
        return {**self._recorded_plan, "steps": [*steps[: self._at - 1], made, *steps[self._at :]]}

    def forked(self) -> Forked:
        """Drive it, as often as a consent can be carried over."""
        consents: dict[str, str] = {}
        while True:
            recorded, driven = self._drive(consents)
            more = {name: digest for name, digest in self._carried(recorded, driven) if name not in consents}
            if not more:
                return self._told(driven)
            consents |= more

    def _drive(self, consents: dict[str, str]) -> tuple[Recorded, Driven]:
        recorded = self._read()
        if self._plan is not None:
            recorded.opened = msgspec.structs.replace(recorded.opened, mode="run", plan=self._plan, source="author")
        for name, digest in consents.items():
            given = recorded.approvals[self._then(name)]
            recorded.approvals[name] = given._replace(
                item=msgspec.structs.replace(given.item, approval=name, digest=digest)
            )
        known = Nothing() if self._plan is None else self._parts.known
        return recorded, Drive(self._parts.rules, recorded, known, self._parts.proposing).run()

    def _carried(self, recorded: Recorded, driven: Driven) -> Iterable[tuple[str, str]]:
        """Consents that are asked for again and were given for the same call, before the fork: id → digest to answer."""
        for name, asked in driven.spy.machine.state.approvals.items():
            given = recorded.approvals.get(self._then(name))
            if given is None or not isinstance(given.item, ApprovalGiven):
                continue
            if all(call.run.number < self._at and self._is_same(call) for call in asked.calls):
                yield name, asked.command.digest

    def _then(self, name: str) -> str:
        """A step or approval of this fork as the record calls it: its plan may have had another number."""
        turn = f"{self._log.turn}."
        plan, _, rest = name.removeprefix(turn).partition(".")
        same = f"{self._number}.{rest}" if plan.isdecimal() else f"{plan}.{rest}"
        return f"{turn}{same}" if name.startswith(turn) else same

    def _is_same(self, call: Call) -> bool:
        return self._digests.get(self._then(call.key)) == call.digest

    # --- telling --------------------------------------------------------------------------------------------------

    def _told(self, driven: Driven) -> Forked:
        state = driven.spy.machine.state
        plan = state.plans[-1].body if state.plans else None
        rejected = None if plan is not None else _rejection(driven)
        return Forked(
            turn=self._log.turn,
            at=self._at,
            outcome="" if driven.spy.close is None else driven.spy.close.outcome,
            unobserved=driven.unobserved,
            unanswered=driven.unanswered,
            steps=tuple(self._step(run, driven) for run in (state.plans[-1].runs if state.plans else ())),
            rejected_by="" if rejected is None else rejected.by,
            diagnostics=() if rejected is None else rejected.diagnostics,
            plan=plan,
            recorded_plan=self._recorded_plan,
            differs_at=0 if plan is None else _difference(self._recorded_plan, plan),
            effects=tuple({"class": one.cls, "target": one.target} for one in state.effects),
        )

    def _step(self, run: StepRun, driven: Driven) -> ForkedStep:
        waits = driven.spy.close is None and run.state in ("started", "ready", "waiting", "asking")
        state: str = run.state
        if waits:
            state = "unobserved" if run.state == "started" else "waiting"
        error = run.error or next((call.error for call in run.calls if call.error is not None), None)
        return ForkedStep(
            step=run.key,
            tool=run.step.contract.name,
            state=state,
            before=run.number < self._at,
            code=run.reason if error is None else error.code,
        )


def _last_plan(log: TurnLog) -> tuple[int, dict[str, str]]:
    """Number of the last accepted plan; step or item → digest of the arguments that policy decided about."""
    number, digests = 1, dict[str, str]()
    for record in log.records:
        if record.kind == "plan_accepted":
            number = int(decode_tolerant(record.body).get("plan", 1))
        elif record.kind == "policy_decided":
            fact = decode_fact(record.body)
            if isinstance(fact, PolicyDecided) and fact.digest:
                digests[fact.step] = fact.digest
    return number, digests


def _rejection(driven: Driven) -> PlanRejected | None:
    found = [decode_fact(record.body) for record in driven.log.records if record.kind == "plan_rejected"]
    last = found[-1] if found else None
    return last if isinstance(last, PlanRejected) else None


def _difference(recorded: Plan, now: Plan) -> int:
    """Number of the first step that is not the same; 0: all are."""
    then, new = recorded.get("steps", []), now.get("steps", [])
    for number in range(1, max(len(then), len(new)) + 1):
        if canonical(then[number - 1 : number]) != canonical(new[number - 1 : number]):
            return number
    return 0
