"""What a caller hands in, brought into the form a turn takes: plans, virtual inputs, and which inputs a plan wants.

Law: nothing here judges what a plan means; what is no plan at all is said in diagnostics, what is no JSON is the
caller's fault and raises.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from metnos.drivers.asked import as_json
from metnos.execute.strict import NotJSON
from metnos.plan.jsondata import JSONFault
from metnos.plan.reading import as_object, read_text
from metnos.turn.inputs import VirtualInput
from metnos.values.sealed import has_handle

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from metnos.plan.diagnostics import Diagnostic
    from metnos.plan.jsondata import JSON

Body = dict[str, Any]


def plan_body(plan: JSON | bytes) -> tuple[Body | None, tuple[Diagnostic, ...]]:
    """A plan as an object; bytes and text may be JSON or line notation. Only what is no object at all is refused."""
    if isinstance(plan, bytes | str):
        return read_text(plan)
    from metnos.plan.diagnostics import Diagnostic

    try:
        return as_object(as_json(plan))
    except (JSONFault, NotJSON) as fault:
        return None, (Diagnostic(code=fault.code, where=fault.where, found=fault.message),)


def virtual_inputs(inputs: Mapping[str, JSON] | None) -> dict[str, VirtualInput]:
    """`${INPUT:name}` by name, as plain JSON: what is recorded is what the turn runs on.

    Raises:
        TypeError: A name is no text, or a value is no JSON value.
        ValueError: A value holds a handle of a sealed secret: only a result of a turn may carry one.
    """
    found: dict[str, VirtualInput] = {}
    for name, value in (inputs or {}).items():
        if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"the name of an input is text, not {name!r}")
        try:
            data = as_json(value)
            if has_handle(data):
                raise ValueError(f"the input {name!r} names a sealed secret; only a result of the turn may carry one")
            found[as_json(name)] = VirtualInput(data=data, schema=_type_of(data))
        except (NotJSON, JSONFault) as fault:
            raise TypeError(
                f"the input {name!r} is no JSON value: {fault.message} (at {fault.where or '/'})"
            ) from fault
    return found


def _type_of(data: Any) -> dict[str, Any]:
    """The JSON type of a value as a schema: it is known before step 1, so a wrong one is told before step 1."""
    names: dict[type[Any], str] = {
        bool: "boolean",
        int: "integer",
        float: "number",
        str: "string",
        list: "array",
        dict: "object",
    }
    return {"type": names.get(cast("type[Any]", type(data)), "null")}


def inputs_wanted(body: Body) -> dict[str, str]:
    """Names of the virtual inputs that a plan refers to → where it does so first, in the order of the plan."""
    from metnos.plan.references import InputTarget, Reference
    from metnos.plan.spelling import ReferenceSyntax, is_plain, parse_string

    found: dict[str, str] = {}
    for text, where in _texts(body, ""):
        if is_plain(text):
            continue
        try:
            parts = parse_string(text)
        except ReferenceSyntax:
            continue
        for part in parts:
            if isinstance(part, Reference) and isinstance(part.target, InputTarget):
                found.setdefault(part.target.name, where)
    return found


def _texts(value: Any, where: str) -> Iterator[tuple[str, str]]:
    from metnos.plan.jsondata import pointer

    if isinstance(value, str):
        yield value, where
    elif isinstance(value, dict):
        for name, item in cast("Body", value).items():
            yield from _texts(item, pointer(where, name))
    elif isinstance(value, list):
        for number, item in enumerate(cast("list[Any]", value)):
            yield from _texts(item, pointer(where, number))
