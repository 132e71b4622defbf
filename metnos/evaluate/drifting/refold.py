"""A recorded turn folded once more under today's contracts: which plan is refused, which reference finds nothing.

Law: the machine itself judges, resolves and decides; what it says now is held against what is recorded. Nothing is run:
inputs come from the record, and commands are looked at and dropped. Where the machine takes another way than the
recorded one, the walk ends: what would come after was not recorded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from metnos.evaluate.drifting.fields import likely, properties, type_of
from metnos.evaluate.drifting.model import Finding, Kind
from metnos.plan.jsondata import canonical
from metnos.record.codec import FACT_KINDS, INPUT_KINDS, decode_fact, decode_input, fetch_from
from metnos.record.faults import RecordFault
from metnos.turn.facts import AnyFact, PlanAccepted, PlanRejected, PolicyDecided
from metnos.turn.inputs import StepStarted, TurnResumed
from metnos.turn.turn import Machine

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metnos.contracts.model import Contract
    from metnos.evaluate.drifting.recorded import Recorded
    from metnos.evaluate.drifting.today import Today
    from metnos.plan.diagnostics import Diagnostic
    from metnos.record.model import TurnLog
    from metnos.turn.inputs import AnyInput
    from metnos.turn.rules import Reaction

BY_CODE: Final[dict[str, Kind]] = {
    "unknown-tool": "tool-gone",
    "unknown-argument": "argument-gone",
    "missing-argument": "argument-required",
    "missing-one-of": "argument-required",
    "type-mismatch": "argument-type",
    "wrong-type": "argument-type",
    "bad-value": "argument-value",
    "invalid-value": "argument-value",
    "unknown-field": "reference-broken",
    "fallback-needed": "reference-broken",
    "nothing-produced": "reference-broken",
    "no-collection": "reference-broken",
    "kind-mismatch": "reference-broken",
}
"""Code of a diagnostic → what has changed; any other is `plan-refused`."""


def refold(log: TurnLog, recorded: Recorded, today: Today) -> list[Finding]:
    """What the machine says of a recorded turn today; the log was verified."""
    folded = _Refolded(log, recorded, today)
    folded.walk()
    return folded.findings


class _Refolded:
    """One walk over the records of a log."""

    def __init__(self, log: TurnLog, recorded: Recorded, today: Today) -> None:
        self._turn = log.turn
        self._log = log
        self._recorded = recorded
        self._today = today
        self._machine = Machine(today.rules)
        self.findings: list[Finding] = []

    def walk(self) -> None:
        """Feed the inputs in their order until the machine goes another way."""
        records = self._log.records
        fetch = fetch_from(self._log.blobs)
        position = 0
        while position < len(records):
            record = records[position]
            end = position + 1
            while end < len(records) and records[end].kind in FACT_KINDS:
                end += 1
            if record.kind not in INPUT_KINDS:
                return  # a log that begins with a fact: said by the verification
            try:
                item = decode_input(record.body, fetch)
                facts = [decode_fact(one.body) for one in records[position + 1 : end]]
            except RecordFault as fault:
                self._say("log-broken", step=str(record.seq), code=fault.code)
                return
            if not self._one(item, facts):
                return
            position = end

    def _one(self, item: AnyInput, facts: list[AnyFact]) -> bool:
        """Take one input in; False: the recorded way ends here."""
        if isinstance(item, TurnResumed):
            item = TurnResumed(at=item.at, fence=item.fence)  # the versions of then: they are what is looked for
        try:
            reaction = self._machine.receive(item)
        except Exception:  # noqa: BLE001 - whatever the rules raise is that the recorded way is closed
            if isinstance(item, StepStarted):
                self._not_asked(item.step)
            return False
        return self._compare(facts, reaction)

    def _compare(self, facts: list[AnyFact], reaction: Reaction) -> bool:
        then, now = _plans(facts), _plans(reaction.facts)
        for number, accepted in then.items():
            judged = now.get(number)
            if isinstance(accepted, PlanAccepted) and isinstance(judged, PlanRejected):
                self._refused(judged)
            elif isinstance(accepted, PlanAccepted) and isinstance(judged, PlanAccepted):
                self._accepted(accepted, judged)
        self._policy(facts, reaction.facts)
        return not any(isinstance(now.get(number), PlanRejected) != isinstance(was, PlanRejected) for number, was in then.items())  # fmt: skip

    def _accepted(self, then: PlanAccepted, now: PlanAccepted) -> None:
        if then.digest != now.digest:
            self._say("plan-differs", step=str(then.plan), recorded=then.digest[:19], now=now.digest[:19])

    def _policy(self, facts: list[AnyFact], computed: tuple[AnyFact, ...]) -> None:
        then, now = _verdicts(facts), _verdicts(computed)
        for key in dict.fromkeys((*then, *now)):
            was, found = then.get(key), now.get(key)
            tool = self._recorded.tool(key[0])
            if was is None or found is None:
                if key[1]:  # a forecast is recorded only where it is no plain yes
                    self._say("verdict-changed", step=key[0], tool=tool, recorded=_said(was), now=_said(found))
                continue
            if was.verdict != found.verdict:
                self._say("verdict-changed", step=key[0], tool=tool, recorded=_said(was), now=_said(found))
            if was.digest != found.digest:
                self._say("arguments-differ", step=key[0], tool=tool)

    # --- a plan that is refused -----------------------------------------------------------------------------------

    def _refused(self, rejected: PlanRejected) -> None:
        accepted = self._recorded.plans.get(rejected.plan)
        steps = [] if accepted is None else accepted.steps
        for fault in rejected.diagnostics:
            self.findings.extend(self._of_diagnostic(rejected, steps, fault))

    def _of_diagnostic(
        self, rejected: PlanRejected, steps: list[dict[str, Any]], fault: Diagnostic
    ) -> Iterator[Finding]:
        kind = BY_CODE.get(fault.code, "plan-refused")
        parts = fault.where.split("/")
        number = int(parts[2]) + 1 if len(parts) > 2 and parts[1] == "steps" and parts[2].isdecimal() else 0
        step: dict[str, Any] = steps[number - 1] if 0 < number <= len(steps) else {}
        tool = str(step.get("tool", ""))
        field = "/" + "/".join(parts[4:]) if len(parts) > 4 and parts[3] == "args" else ""
        name, now, candidates = fault.found, fault.expected, ()
        contract = self._today.catalog.get(tool)
        if kind == "argument-required" and fault.code == "missing-argument":
            field, name, now = f"{field}/{fault.expected.partition(':')[0]}", "", "required"
        elif kind == "argument-gone" and contract is not None:
            candidates, name, now = _arguments_like(parts[-1], step, contract), type_of(_argument(step, parts[-1])), ""
        elif kind == "tool-gone":
            name, now, candidates = "", "", tuple(self._today.like(tool))
        elif kind == "plan-refused":
            name, now = "" if rejected.by == "validator" else f"by {rejected.by}", ""
        yield Finding(
            kind=kind,
            turn=self._turn,
            step=f"{rejected.plan}.{number}" if number else str(rejected.plan),
            tool=tool,
            field=field,
            recorded=name,
            now=now,
            candidates=candidates,
            code=fault.code,
        )

    # --- a step that is not asked for -----------------------------------------------------------------------------

    def _not_asked(self, key: str) -> None:
        """A step that was started then: why the machine does not start it now."""
        run = self._machine.state.find(".".join(key.split(".")[:2]))
        error = None if run is None else run.error
        if run is not None and error is None:
            error = next((call.error for call in run.calls if call.error is not None), None)
        if error is not None:
            self._say(
                "reference-broken",
                step=key,
                tool=self._recorded.tool(key),
                field=error.where,
                now=error.message,
                code=error.code,
            )

    def _say(self, kind: Kind, **told: Any) -> None:
        self.findings.append(Finding(kind=kind, turn=self._turn, **told))


def _plans(facts: Any) -> dict[int, PlanAccepted | PlanRejected]:
    return {one.plan: one for one in facts if isinstance(one, PlanAccepted | PlanRejected)}


def _verdicts(facts: Any) -> dict[tuple[str, bool], PolicyDecided]:
    return {(one.step, one.forecast): one for one in facts if isinstance(one, PolicyDecided)}


def _said(fact: PolicyDecided | None) -> str:
    return "allow" if fact is None else str(fact.verdict.__struct_config__.tag)


def _argument(step: dict[str, Any], name: str) -> Any:
    return step.get("args", {}).get(name.replace("~1", "/").replace("~0", "~"))


def _arguments_like(name: str, step: dict[str, Any], contract: Contract) -> tuple[str, ...]:
    """Arguments of today that the plan does not give, and that could be meant."""
    given = step.get("args", {})
    others = {other: held for other, held in properties(contract.args).items() if other not in given}
    value = _argument(step, name)
    refers = b"${" in canonical(value)
    return likely(name, others, value, known=not refers, wanted=contract.args.get("required", ()))
