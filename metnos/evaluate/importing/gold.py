"""A gold plan of NESTFUL becomes a plan of the Framework, call by call, nothing left out and nothing mended.

Law: a plan that is defective stays so, for the validator to say. Call N becomes step N, its label the step's `id`;
`var_result` becomes `final_answer` with `data`. What the Framework cannot even spell (a broken reference, a call that
is no object) is a fault of its own, with the place it would have in the plan.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec

from metnos.contracts.aliases import alias
from metnos.evaluate.importing.notation import Broken, Found, Notation
from metnos.plan.diagnostics import Diagnostic
from metnos.plan.jsondata import is_list, is_object, pointer
from metnos.plan.references import Parts, Reference, StepTarget
from metnos.plan.spelling import format_parts, is_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

LAST = "var_result"
"""Not a tool: it maps what is asked back."""


class Converted(msgspec.Struct, frozen=True, kw_only=True):
    """A gold plan as a plan file, and what could not be converted."""

    plan: dict[str, Any]
    faults: tuple[Diagnostic, ...]


def convert(record: Any, fields: Iterable[str] = ()) -> Converted:
    """Convert one record.

    Args:
        record: `{"input": …, "output": [{"name", "arguments", "label"}, …]}`, or anything else.
        fields: Names of result fields; see `Notation`.
    """
    calls = calls_of(record)
    if calls is None:
        fault = Diagnostic(code="wrong-type", where="/steps", found=_type(record), expected="`output`: a list of calls")
        return Converted(plan={"steps": []}, faults=(fault,))
    return _Converter(calls, fields).convert()


def calls_of(record: Any) -> list[Any] | None:
    """The calls of a record, in order; some data sets write them as one JSON text."""
    found: Any = record.get("output") if is_object(record) else None
    if isinstance(found, str):
        try:
            found = json.loads(found)
        except ValueError:
            return None
    return found if is_list(found) else None


def label_of(call: Any) -> str:
    """The label of a call, `""` if it has none; a leading dollar is no part of it."""
    label = call.get("label") if is_object(call) else None
    return label.removeprefix("$") if isinstance(label, str) else ""


def arguments_of(call: dict[str, Any]) -> Any:
    """The arguments of a call; left out or null, there are none."""
    found = call.get("arguments")
    return {} if found is None else found


def with_texts(value: Any, where: str, text: Callable[[str, str], str]) -> Any:
    """JSON data with each text in it replaced by what `text` makes of it and its pointer."""
    if isinstance(value, str):
        return text(value, where)
    if is_object(value):
        return {name: with_texts(item, pointer(where, name), text) for name, item in value.items()}
    if is_list(value):
        return [with_texts(item, pointer(where, index), text) for index, item in enumerate(value)]
    return value


def gold_pointer(where: str, plan: dict[str, Any]) -> str:
    """From a place in the converted plan to the same place in the record."""
    parts = where.split("/")
    if parts[:2] != ["", "steps"]:
        return where
    parts[1] = "output"
    if len(parts) > 3:
        parts[3] = {"args": "arguments", "tool": "name", "id": "label"}.get(parts[3], parts[3])
        step: Any = plan["steps"][int(parts[2])] if parts[2].isdecimal() else None
        if parts[4:5] == ["data"] and is_object(step) and step.get("tool") == "final_answer":
            del parts[4]
    return "/".join(parts)


class _Converter:
    def __init__(self, calls: list[Any], fields: Iterable[str]) -> None:
        self.calls = calls
        self.faults: list[Diagnostic] = []
        self.steps: dict[str, int] = {}
        """Label → number of the first call that has it."""
        for number, call in enumerate(calls, start=1):
            if label_of(call) and not _is_last(call):
                self.steps.setdefault(label_of(call), number)
        self.notation = Notation(self.steps, fields)

    def convert(self) -> Converted:
        steps = [self.step(call, f"/steps/{index}") for index, call in enumerate(self.calls)]
        if not any(map(_is_last, self.calls)):
            steps.append({"tool": "final_answer", "args": {}})
        return Converted(plan={"steps": steps}, faults=tuple(self.faults))

    def step(self, call: Any, where: str) -> Any:
        if not is_object(call):
            return call
        arguments = arguments_of(call)
        if _is_last(call):
            return {"tool": "final_answer", "args": {"data": with_texts(arguments, f"{where}/args/data", self.text)}}
        step: dict[str, Any] = {"args": with_texts(arguments, f"{where}/args", self.text)}
        name = call.get("name")
        if name is not None:
            step["tool"] = alias(name) if isinstance(name, str) and name else name
        label = label_of(call)
        if is_id(label):
            step["id"] = label
        elif label and self.calls[self.steps[label] - 1] is not call:
            self.fault("duplicate-id", f"{where}/id", label, f"a label that call {self.steps[label]} has not")
        return step

    def text(self, text: str, where: str) -> str:
        try:
            found = self.notation.parse(text)
        except Broken as fault:
            self.fault("reference-syntax", where, fault.found, fault.expected)
            return ""
        parts: Parts = tuple(self.reference(part) if isinstance(part, Found) else part for part in found)
        return format_parts(parts)

    def reference(self, found: Found) -> Reference:
        number = self.steps.get(found.label)
        if number is None:
            return Reference(
                StepTarget(found.label if is_id(found.label) else f"no_label_{found.label}"[:64]), found.path
            )
        return Reference(StepTarget(found.label if is_id(found.label) else number), found.path)

    def fault(self, code: str, where: str, found: str, expected: str) -> None:
        self.faults.append(Diagnostic(code=code, where=where, found=found, expected=expected))


def _is_last(call: Any) -> bool:
    return is_object(call) and call.get("name") == LAST


def _type(record: Any) -> str:
    return f"`output`: {type(record.get('output')).__name__}" if is_object(record) else type(record).__name__
