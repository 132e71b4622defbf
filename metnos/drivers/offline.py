"""What an engine does without running anything: a plan checked, a turn found, replayed.

Law: reads only; no turn is opened here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from metnos.drivers.given import inputs_wanted, plan_body, virtual_inputs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from metnos.checks.model import Checked
    from metnos.drivers.parts import Parts
    from metnos.plan.jsondata import JSON
    from metnos.record.replay import ReplayResult

PREFIX_SEARCH = 10_000
"""How many of the latest turns a prefix is looked for in."""


def check(parts: Parts, plan: JSON | bytes, inputs: Mapping[str, JSON] | None) -> Checked:
    """Every fault of a plan, form and meaning, in one pass; without `inputs` every one that it wants is supposed."""
    from metnos.checks.model import CheckContext, Checked
    from metnos.plan.model import Plan

    body, diagnostics = plan_body(plan)
    if body is None:
        return Checked(plan=Plan(steps=()), diagnostics=diagnostics)
    if inputs is None:
        schemas: dict[str, dict[str, Any]] = {name: {} for name in inputs_wanted(body)}
    else:
        schemas = {name: dict(given.schema) for name, given in virtual_inputs(inputs).items()}
    context = CheckContext(source="author", inputs=schemas)
    return parts.rules.validate(body, context)


def wanted(plan: JSON | bytes) -> dict[str, str]:
    """Names of the inputs that a plan refers to → JSON pointer of the first place; empty for what is no plan."""
    body, _ = plan_body(plan)
    return {} if body is None else inputs_wanted(body)


def draw(parts: Parts, plan: JSON | bytes) -> str:
    """A plan as a Mermaid flowchart, each step with the worst effect that it may have; empty for what is no plan."""
    from metnos.plan.drawing import draw as drawn
    from metnos.plan.parse import read_plan
    from metnos.turn.step import worst

    body, _ = plan_body(plan)
    read = None if body is None else read_plan(body).plan
    if read is None:
        return ""
    effects: dict[int, str] = {step.number: step.worst_effect for step in check(parts, body, None).steps}
    for number, step in enumerate(read.steps, 1):
        contract = parts.catalog.get(step.tool)
        if number not in effects and contract is not None:
            effects[number] = worst([rule.effect for rule in contract.effects])
    return drawn(read, effects)


def find_turn(parts: Parts, text: str, owner: str | None = None) -> str:
    """A turn id from an id, an unambiguous prefix, or `last`.

    Args:
        parts: Of the engine.
        text: What was said.
        owner: Only this one's turns are there; None: everybody's.

    Raises:
        RecordFault: `turn-missing`, also if more than one begins so; `log-missing`, it was recorded and is gone.
    """
    from metnos.record.faults import RecordFault

    hint = "`metnos log` lists them"
    latest = parts.journal.turns(1 if text == "last" and owner is None else PREFIX_SEARCH)
    there = [one.turn for one in latest if owner in (None, one.owner)]
    if text == "last":
        if not there:
            raise RecordFault("turn-missing", "no turn is recorded here", hint=hint)
        return there[0]
    found = [turn for turn in there if turn.startswith(text)]
    if text in found or len(found) == 1:
        return text if text in found else found[0]
    if found:
        message = f"{len(found)} turns begin with {text!r}"
        raise RecordFault("turn-missing", message, turn=text, hint=f"say more of it; {hint}")
    return _elsewhere(parts, text, owner, hint)


def _elsewhere(parts: Parts, text: str, owner: str | None, hint: str) -> str:
    """A whole id that is not among the latest: older, or gone."""
    from metnos.record.faults import RecordFault
    from metnos.record.recorder import check_turn_id
    from metnos.record.replay import fold
    from metnos.turn.inputs import TurnOpened

    missing = RecordFault("turn-missing", f"no turn begins with {text!r}", turn=text, hint=hint)
    try:
        check_turn_id(text)
        log = parts.journal.load(text)
        opened = fold(log)[0]
        if owner is not None and not (isinstance(opened, TurnOpened) and opened.owner == owner):
            raise missing
        return log.turn
    except RecordFault as fault:
        if fault.code not in ("turn-missing", "turn-id"):
            raise
        raise missing from (None if fault is missing else fault)


def replay(parts: Parts, turn: str) -> ReplayResult:
    """Feed the recorded inputs to a fresh machine and compare."""
    from metnos.record.replay import replay as replay_log

    return replay_log(parts.journal.load(turn), parts.rules)
