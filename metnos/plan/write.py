"""A plan as JSON again, and the canonical plan: one spelling of references, positions for ids.

Law: `to_json` writes what the plan holds and leaves defaults out; `canonical_plan` changes spelling, never meaning.
Two plans that differ in ids, in `$<…>` or in spaces inside references have one canonical form and one digest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from metnos.plan.jsondata import is_list, is_object
from metnos.plan.model import Ask, FinalAnswer, GoesOn, NeedsInputs
from metnos.plan.references import Reference, StepTarget
from metnos.plan.spelling import format_parts, is_plain, parse_string

if TYPE_CHECKING:
    from collections.abc import Mapping

    from metnos.plan.model import Filler, Plan, Step


def to_json(plan: Plan) -> dict[str, Any]:
    """The plan file: `read_plan(to_json(plan)).plan == plan` (with `goes_on` where it has no end). Arguments are shared."""
    steps = [_step(step) for step in plan.steps]
    if not isinstance(plan.terminal, GoesOn):
        steps.append(_terminal(plan.terminal))
    if not plan.fillers:
        return {"steps": steps}
    return {"steps": steps, "fillers": {name: _filler(filler) for name, filler in plan.fillers.items()}}


def _step(step: Step) -> dict[str, Any]:
    written: dict[str, Any] = {"tool": step.tool, "args": step.args}
    if step.id is not None:
        written["id"] = step.id
    if step.for_each is not None:
        written["for_each"] = step.for_each
    if step.when is not None:
        written["when"] = {"nonempty" if step.when.nonempty else "empty": step.when.step}
    if step.on_error != "stop":
        written["on_error"] = step.on_error
    return written


def _terminal(terminal: FinalAnswer | Ask | NeedsInputs) -> dict[str, Any]:
    args: dict[str, Any] = {}
    match terminal:
        case FinalAnswer(text=text, data=data, has_data=has_data):
            if text is not None:
                args["text"] = text
            if has_data:
                args["data"] = data
            return {"tool": "final_answer", "args": args}
        case Ask(question=question, choices=choices):
            args["question"] = question
            if choices:
                args["choices"] = list(choices)
            return {"tool": "ask", "args": args}
        case NeedsInputs(form=form):
            args["form"] = {
                name: {"schema": field.schema, "label": field.label} if field.label else {"schema": field.schema}
                for name, field in form.items()
            }
            return {"tool": "needs_inputs", "args": args}


def _filler(filler: Filler) -> dict[str, Any]:
    written: dict[str, Any] = {"prompt": filler.prompt, "schema": filler.schema}
    if filler.role != "fast":
        written["role"] = filler.role
    return written


def numbers_of(plan: Plan) -> dict[str, int]:
    """Ids of steps → their numbers, from 1."""
    return {step.id: number for number, step in enumerate(plan.steps, start=1) if step.id is not None}


def canonical_plan(plan: Plan) -> Plan:
    """The plan with references in canonical spelling and positions for ids; an unknown id stays as it is.

    Raises:
        ReferenceSyntax: the plan was not read without faults.
    """
    numbers = numbers_of(plan)
    terminal = plan.terminal
    if isinstance(terminal, FinalAnswer):
        text = None if terminal.text is None else _respell(terminal.text, numbers)
        terminal = msgspec.structs.replace(terminal, text=text, data=_respell(terminal.data, numbers))
    steps = tuple(_canonical_step(step, numbers) for step in plan.steps)
    return msgspec.structs.replace(plan, steps=steps, terminal=terminal)


def _canonical_step(step: Step, numbers: Mapping[str, int]) -> Step:
    args: dict[str, Any] = _respell(step.args, numbers)
    when = step.when
    if when is not None and isinstance(when.step, str):
        when = msgspec.structs.replace(when, step=numbers.get(when.step, when.step))
    if "from_step" in args:
        args = {**args, "from_step": _number(args["from_step"], numbers)}
    if is_list(several := args.get("from_steps")):
        args = {**args, "from_steps": [_number(item, numbers) for item in several]}
    return msgspec.structs.replace(step, args=args, id=None, for_each=_respell(step.for_each, numbers), when=when)


def _number(step: Any, numbers: Mapping[str, int]) -> Any:
    return numbers.get(step, step) if isinstance(step, str) else step


def _respell(value: Any, numbers: Mapping[str, int]) -> Any:
    """`value` with every reference in canonical spelling; the very same object where nothing changes."""
    if isinstance(value, str):
        return value if is_plain(value) else respell_string(value, numbers)
    if is_object(value):
        found = {key: _respell(item, numbers) for key, item in value.items()}
        return found if any(found[key] is not item for key, item in value.items()) else value
    if is_list(value):
        items = [_respell(item, numbers) for item in value]
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    return value


def respell_string(text: str, numbers: Mapping[str, int]) -> str:
    """One string in canonical spelling; ids in it become numbers by `numbers`.

    Raises:
        ReferenceSyntax: a reference in it is misspelled.
    """
    parts = [_renumber(part, numbers) if isinstance(part, Reference) else part for part in parse_string(text)]
    spelled = format_parts(tuple(parts))
    return text if spelled == text else spelled


def _renumber(reference: Reference, numbers: Mapping[str, int]) -> Reference:
    target = reference.target
    if isinstance(target, StepTarget) and isinstance(target.step, str) and target.step in numbers:
        return msgspec.structs.replace(reference, target=StepTarget(numbers[target.step]))
    return reference
