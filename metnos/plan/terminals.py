"""Terminals: the three ways a plan can end, read from their arguments.

Law: a terminal comes last, once, and has no number; it starts nothing. Only `final_answer` may hold references.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from metnos.plan.jsondata import is_list, is_object, pointer
from metnos.plan.model import Ask, Field, FinalAnswer, NeedsInputs, Terminal
from metnos.plan.spelling import ID, is_plain

if TYPE_CHECKING:
    from metnos.plan.faults import Faults

TERMINALS: dict[str, tuple[str, ...]] = {
    "final_answer": ("text", "data"),
    "ask": ("question", "choices"),
    "needs_inputs": ("form",),
}
"""Name → its arguments."""
FORM_FIELDS = ("schema", "label")


def read_terminal(tool: str, args: dict[str, Any], where: str, faults: Faults) -> Terminal:
    """The terminal `tool`; `where` points at its `args`. References in it are looked at by the caller."""
    faults.unknown_fields(where, args, TERMINALS[tool])
    if tool == "final_answer":
        text = faults.string(where, args, "text") if "text" in args else None
        return FinalAnswer(text=text, data=args.get("data"), has_data="data" in args)
    if tool == "ask":
        question = plain_string(where, args, "question", faults)
        return Ask(question=question, choices=_choices(args.get("choices", []), pointer(where, "choices"), faults))
    return NeedsInputs(form=_form(args, where, faults))


def plain_string(where: str, record: dict[str, Any], name: str, faults: Faults, default: str | None = None) -> str:
    """A string field in which a reference would be shown as it is, and is therefore a fault."""
    text = faults.string(where, record, name, default=default)
    if not is_plain(text):
        faults.add("reference-not-allowed", pointer(where, name), found=text)
    return text


def _choices(value: Any, where: str, faults: Faults) -> tuple[str, ...]:
    if not is_list(value):
        faults.wrong_type(where, value, "a list of strings")
        return ()
    found: dict[str, Any] = {str(index): item for index, item in enumerate(value)}
    return tuple(plain_string(where, found, index, faults) for index in found)


def _form(args: dict[str, Any], where: str, faults: Faults) -> dict[str, Field]:
    form = args.get("form")
    if "form" not in args:
        faults.add("missing-field", where, expected="form: an object of name → {schema, label}")
    elif not is_object(form):
        faults.wrong_type(pointer(where, "form"), form, "an object of name → {schema, label}")
    elif not form:
        faults.add("bad-value", pointer(where, "form"), found="an empty object", expected="at least one field")
    if not is_object(form):
        return {}
    fields: dict[str, Field] = {}
    for name, raw in form.items():
        here = pointer(where, "form", name)
        read_name(name, here, faults)
        if not is_object(raw):
            faults.wrong_type(here, raw, "an object with `schema` and `label`")
            continue
        faults.unknown_fields(here, raw, FORM_FIELDS)
        fields[name] = Field(schema=read_schema(raw, here, faults), label=plain_string(here, raw, "label", faults, ""))
    return fields


def read_name(name: str, where: str, faults: Faults) -> None:
    """Check a name that references will spell, `${FILLER:name}` or `${INPUT:name}`."""
    if ID.fullmatch(name) is None:
        faults.add(
            "bad-name", where, found=name, expected="letters, digits, `_` and `-`, first a letter or `_`, at most 64"
        )


def read_schema(record: dict[str, Any], where: str, faults: Faults) -> dict[str, Any]:
    """The required field `schema`, a JSON Schema object (whether it is a good one, `checks/` says)."""
    schema = record.get("schema")
    if "schema" not in record:
        faults.add("missing-field", where, expected="schema: a JSON Schema, an object")
    elif not is_object(schema):
        faults.wrong_type(pointer(where, "schema"), schema, "a JSON Schema, an object")
    return schema if is_object(schema) else {}
