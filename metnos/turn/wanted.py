"""What a given plan still needs from a person: a form for the inputs that it refers to and nobody handed in.

Law: only a plan of the caller's is asked for so, and only one that is valid once they are there: nobody fills in a form
for a plan that is refused afterwards. The plan is held as it is; with the answers the same plan is judged again.

A request that lacks one thing at its end is asked for that, too, where nobody else proposes a plan. With the answer the
whole sentence is understood and looked up as if it had been said so; it must have one of the forms that were foreseen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import msgspec

from metnos.turn.answer import ask, close, language_of, suspend
from metnos.turn.commands import LookUpPlan, OpenDialog

if TYPE_CHECKING:
    from metnos.checks.model import CheckContext, Checked
    from metnos.plan.diagnostics import Diagnostic
    from metnos.turn.state import Held, TurnState

MISSING = "input-missing"
_SCALAR: dict[str, Any] = {"type": ["string", "number", "boolean"]}
"""What can stand inside text."""
_TEXT: dict[str, Any] = {"type": "string", "minLength": 1, "maxLength": 4096}


def form_of(
    turn: TurnState, written: dict[str, Any], checked: Checked, context: CheckContext
) -> dict[str, dict[str, Any]]:
    """Name → {schema, label} of the inputs that are missing; empty if the plan has another fault as well."""
    faults = [fault for fault in checked.diagnostics if fault.code == MISSING]
    if not faults:
        return {}
    inputs: dict[str, dict[str, object]] = context.inputs | {fault.found: {} for fault in faults}
    supposed = turn.rules.validate(written, msgspec.structs.replace(context, inputs=inputs))
    missing: dict[str, dict[str, Any]] = {}
    for fault in faults if supposed.ok else ():
        field = _field(supposed, fault)
        known = missing.setdefault(fault.found, field)
        if known["schema"] != field["schema"]:
            known["schema"] = _both(known["schema"], field["schema"])
    return missing


def _both(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """What fits two places; an empty schema asks for nothing."""
    return {"allOf": [one, other]} if one and other else one or other


def _field(supposed: Checked, fault: Diagnostic) -> dict[str, Any]:
    """The field for one place: an argument's own schema where the input is the whole argument."""
    parts = fault.where.split("/")[1:]
    if len(parts) < 4 or parts[0] != "steps" or parts[2] != "args" or int(parts[1]) >= len(supposed.steps):
        return {"schema": {}, "label": ""}
    name = parts[3].replace("~1", "/").replace("~0", "~")
    value = supposed.plan.steps[int(parts[1])].args.get(name)
    whole = isinstance(value, str) and value in (f"${{INPUT:{fault.found}}}", f"$<INPUT:{fault.found}>")
    if len(parts) > 4 or not whole:
        return {"schema": _SCALAR if isinstance(value, str) else {}, "label": ""}
    schema: dict[str, Any] = supposed.steps[int(parts[1])].contract.args.get("properties", {}).get(name, {})
    if _refers(schema):
        schema = {}
    return {
        "schema": {key: value for key, value in schema.items() if key != "description"},
        "label": str(schema.get("description", "")),
    }


def _refers(schema: Any) -> bool:
    """Whether a schema points elsewhere: alone it would mean something else."""
    if isinstance(schema, dict):
        found = cast("dict[str, Any]", schema)
        return "$ref" in found or any(_refers(value) for value in found.values())
    return isinstance(schema, list) and any(map(_refers, cast("list[Any]", schema)))


def hold(turn: TurnState, held: Held, form: dict[str, dict[str, Any]]) -> None:
    """Ask for the inputs, and keep the plan until they are there."""
    turn.held = held
    turn.dialogs += 1
    turn.dialog = OpenDialog(dialog=f"{turn.opened.turn}.dialog{turn.dialogs}", form=form)
    ask(turn, turn.dialog)
    suspend(turn)


# --- what a request lacks ----------------------------------------------------------------------------------------


def may_fill(turn: TurnState) -> bool:
    """Whether a person is asked for what the request lacks."""
    return turn.wanted is not None and turn.opened.choices and turn.opened.mode == "ask" and not turn.plans


def begun(turn: TurnState) -> str:
    """The request as far as it goes, with the words that lead to what is missing."""
    assert turn.wanted is not None
    said = " ".join((turn.opened.request or "").split()).rstrip(" ?!.,:;…")
    return f"{said} {turn.wanted.words}".rstrip()


def ask_to_fill(turn: TurnState) -> None:
    """Open the form for the one thing."""
    assert turn.wanted is not None
    field = {"schema": _TEXT, "label": f"{begun(turn)} …"}
    turn.dialogs += 1
    turn.dialog = OpenDialog(dialog=f"{turn.opened.turn}.dialog{turn.dialogs}", form={turn.wanted.name: field})
    ask(turn, turn.dialog)
    suspend(turn)


def filled(turn: TurnState, answers: dict[str, Any]) -> None:
    """The sentence is whole: look it up; or the answer is none, and nothing was understood."""
    wanted = turn.wanted
    assert wanted is not None
    before = begun(turn)
    turn.wanted = None
    value = str(answers[wanted.name]).strip()
    for said in (value, f'"{value}"'):
        request = turn.rules.normalise(f"{before} {said}", language_of(turn))
        if request.normal_form in wanted.forms:
            turn.request = request
            turn.phase = "looking_up"
            look = LookUpPlan(request=request.text, language=request.language, normal_form=request.normal_form)
            ask(turn, look)
            return
    turn.mark("not_understood", "answer-misfit", value)
    close(turn, "not_understood")
