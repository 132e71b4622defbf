"""The calls of one Seal-Tools record become one plan of the Framework, nothing left out and nothing mended.

Law: call N becomes step N. Each call says under `responses` how its results are called (`API_call_k`), one name for
each declared response field, in order; an argument that is such a name is a reference to that field of that call. What
the Framework cannot spell (such a name inside longer text, a call that is no object) is a fault of its own, with the
place it would have in the plan.

| written | read |
|---|---|
| `API_call_3`, a name of an earlier call's `responses` | that field of that call's result |
| `API_call_3`, a name of the same or a later call | a reference that looks ahead, for the validator to say |
| `API_call_9`, a name that no call gives | a reference to no step, for the validator to say |
| `API_call_0 response` | broken: the notation has no reference inside text |
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from metnos.contracts.aliases import alias
from metnos.evaluate.importing.gold import Converted, with_texts
from metnos.plan.diagnostics import Diagnostic
from metnos.plan.jsondata import is_list, is_object
from metnos.plan.references import Key, Reference, StepTarget
from metnos.plan.spelling import format_parts, format_reference

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_NAME = re.compile(r"API_call_[0-9]+")
_PLACES = {"tool": "api", "args": "parameters"}


def convert(record: Any, fields: Mapping[str, Sequence[str]]) -> Converted:
    """Convert one record.

    Args:
        record: `{"calling": [{"api", "parameters", "responses"}, …]}`, or anything else.
        fields: Tool → the names of its response fields, in declared order.
    """
    calls: Any = record.get("calling") if is_object(record) else None
    if not is_list(calls):
        fault = Diagnostic(code="wrong-type", where="/steps", found=type(calls).__name__, expected="`calling`: a list")
        return Converted(plan={"steps": []}, faults=(fault,))
    return _Converter(calls, fields).convert()


def seal_pointer(where: str) -> str:
    """From a place in the converted plan to the same place in the record."""
    parts = where.split("/")
    if parts[:2] != ["", "steps"]:
        return where
    parts[1] = "calling"
    if len(parts) > 3:
        parts[3] = _PLACES.get(parts[3], parts[3])
    return "/".join(parts)


class _Converter:
    def __init__(self, calls: list[Any], fields: Mapping[str, Sequence[str]]) -> None:
        self.calls = calls
        self.faults: list[Diagnostic] = []
        self.given: dict[str, Reference] = {}
        """Name of a response → what it refers to."""
        for index, call in enumerate(calls):
            if is_object(call):
                self.name_responses(index, call, fields)

    def name_responses(self, index: int, call: dict[str, Any], fields: Mapping[str, Sequence[str]]) -> None:
        names: Any = call.get("responses") or []
        known = fields.get(call["api"], ()) if isinstance(call.get("api"), str) else ()
        for position, name in enumerate(names if is_list(names) else []):
            if not isinstance(name, str):
                continue
            if name in self.given:
                expected = "a name that no other response has"
                self.fault("duplicate-id", f"/steps/{index}/responses/{position}", name, expected)
                continue
            # One more name than fields: no field has it, and the validator says so where it is used.
            field = known[position] if position < len(known) else name
            self.given[name] = Reference(StepTarget(index + 1), (Key(field),))

    def convert(self) -> Converted:
        steps = [self.step(call, f"/steps/{index}") for index, call in enumerate(self.calls)]
        steps.append({"tool": "final_answer", "args": {}})
        return Converted(plan={"steps": steps}, faults=tuple(self.faults))

    def step(self, call: Any, where: str) -> Any:
        if not is_object(call):
            return call
        arguments = call.get("parameters")
        step: dict[str, Any] = {"args": with_texts({} if arguments is None else arguments, f"{where}/args", self.text)}
        name = call.get("api")
        if name is not None:
            step["tool"] = alias(name) if isinstance(name, str) and name else name
        return step

    def text(self, text: str, where: str) -> str:
        found = self.given.get(text)
        if found is not None:
            return format_reference(found)
        if _NAME.fullmatch(text):
            return format_reference(Reference(StepTarget(f"no_call_gives_{text}"[:64])))
        if _NAME.search(text):
            self.fault("reference-syntax", where, text, "the name of a response alone, or text without one")
            return ""
        return format_parts((text,))

    def fault(self, code: str, where: str, found: str, expected: str) -> None:
        self.faults.append(Diagnostic(code=code, where=where, found=found, expected=expected))
