"""The JSON Schema of plan files, which `metnos schema plan` prints and an editor uses by `$schema`.

Law: it says what `plan.parse` says, as far as a schema can; the reader is the judge. What a schema cannot say is
listed in `BEYOND_SCHEMA`, and a test holds the two to one verdict on a corpus of good and bad plans.
"""

from __future__ import annotations

from typing import Any

from metnos.plan.parse import MAX_ITEMS, MAX_STEPS, ROLES
from metnos.plan.terminals import TERMINALS

SCHEMA_ID = "https://metnos.invalid/schema/plan-1.json"
BEYOND_SCHEMA: tuple[str, ...] = (
    "reference-syntax",
    "duplicate-id",
    "terminal-not-last",
    "unknown-filler",
    "unused-filler",
    "duplicate-key",
    "integer-range",
    "too-large",
    "too-deep",
    "not-utf8",
    "json-syntax",
    "lone-surrogate",
    "not-a-number",
)
"""Codes of the reader that no schema can give."""

_RESERVED = r"^(?:(?:[Ss][Tt][Ee][Pp]|[Pp][Ll][Aa][Nn])_?[0-9]+|[Ii][Tt][Ee][Mm]|[Rr][Uu][Nn][Tt][Ii][Mm][Ee]|[Ff][Ii][Ll][Ll][Ee][Rr]|[Ii][Nn][Pp][Uu][Tt]|[Ss][Ll][Oo][Tt])$"
_ID = r"^[A-Za-z_][A-Za-z0-9_-]{0,63}$"
_INSIDE = r'(?:[^$"]|"(?:[^"\\]|\\.)*")*'
"""What a reference holds: no `$` but in a quoted name."""
_ONE_REFERENCE = rf"^\$(?:\{{{_INSIDE}\}}|<{_INSIDE}>)$"
_NO_REFERENCE = {"type": "string", "not": {"pattern": r"\$[{<]"}}


def plan_schema() -> dict[str, Any]:
    """JSON Schema 2020-12 of a plan file."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA_ID,
        "title": "Metnos plan (Framework v1)",
        "type": "object",
        "required": ["steps"],
        "additionalProperties": False,
        "properties": {
            "$schema": {"type": "string"},
            "steps": {
                "type": "array",
                "maxItems": MAX_STEPS + 1,
                "items": {"if": _is_terminal(), "then": {"$ref": "#/$defs/terminal"}, "else": {"$ref": "#/$defs/step"}},
                "contains": _is_terminal(),
                "minContains": 1,
                "maxContains": 1,
            },
            "fillers": {
                "type": "object",
                "propertyNames": {"pattern": _ID},
                "additionalProperties": {"$ref": "#/$defs/filler"},
            },
        },
        "$defs": {
            "step": _step(),
            "terminal": _terminal(),
            "filler": _record(
                {"prompt": _NO_REFERENCE, "schema": {"type": "object"}, "role": {"enum": list(ROLES)}}, 2
            ),
            "stepId": {"type": "string", "pattern": _ID, "not": {"pattern": _RESERVED}},
            "stepReference": {"anyOf": [{"type": "integer", "minimum": 1}, {"$ref": "#/$defs/stepId"}]},
        },
    }


def _is_terminal() -> dict[str, Any]:
    return {"type": "object", "required": ["tool"], "properties": {"tool": {"enum": list(TERMINALS)}}}


def _record(properties: dict[str, Any], required: int) -> dict[str, Any]:
    """An object of these properties, of which the first `required` must be there."""
    return {
        "type": "object",
        "required": list(properties)[:required],
        "additionalProperties": False,
        "properties": properties,
    }


def _step() -> dict[str, Any]:
    reference = {"$ref": "#/$defs/stepReference"}
    args = {
        "type": "object",
        "properties": {"from_step": reference, "from_steps": {"type": "array", "minItems": 1, "items": reference}},
        "not": {"required": ["from_step", "from_steps"]},
    }
    when = {**_record({"nonempty": reference, "empty": reference}, 0), "minProperties": 1, "maxProperties": 1}
    for_each = {"anyOf": [{"type": "string", "pattern": _ONE_REFERENCE}, {"type": "array", "maxItems": MAX_ITEMS}]}
    return _record(
        {
            "tool": {"type": "string", "pattern": r"^[A-Za-z0-9._-]{1,128}$"},
            "args": args,
            "id": {"$ref": "#/$defs/stepId"},
            "for_each": for_each,
            "when": when,
            "on_error": {"enum": ["stop", "continue"]},
        },
        2,
    )


def _terminal() -> dict[str, Any]:
    field = _record({"schema": {"type": "object"}, "label": _NO_REFERENCE}, 1)
    form = {
        "type": "object",
        "minProperties": 1,
        "propertyNames": {"pattern": _ID},
        "additionalProperties": field,
    }
    args = {
        "final_answer": _record({"text": {"type": "string"}, "data": True}, 0),
        "ask": _record({"question": _NO_REFERENCE, "choices": {"type": "array", "items": _NO_REFERENCE}}, 1),
        "needs_inputs": _record({"form": form}, 1),
    }
    return {"oneOf": [_record({"tool": {"const": tool}, "args": args[tool]}, 2) for tool in TERMINALS]}
