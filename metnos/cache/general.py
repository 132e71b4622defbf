"""Generalising: from one (request, plan) the plan of every request of that form, and back.

Law: bound with the request's own slots it is the plan, byte for byte; this is tested each time before it is given out.
Bound with other values it is what every conversion agrees on, or a refusal: a value whose shape was not seen, on which
two readings differ, or which the contract would refuse. Whatever is not located stays in the key. Booleans, names of
tools and fields, and step numbers are never slots.

    found = generalise(request, plan, catalog)
    if isinstance(found, General):
        bind_general(found, another.slots)
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Any, cast

from metnos.cache.conversions import convert
from metnos.cache.leaves import Leaf, leaves
from metnos.cache.locate import locate
from metnos.cache.moments import moments
from metnos.cache.shape import apart_words, shape_of
from metnos.cache.template import Bound, Refusal, escape
from metnos.cache.uses import General, NotGeneral, Reading, SlotUse
from metnos.contracts.catalog import Catalog
from metnos.plan.jsondata import canonical, is_list, is_object, pointer, spell
from metnos.plan.parse import read_plan
from metnos.plan.references import InputTarget, Reference, SlotTarget, StepTarget
from metnos.plan.spelling import is_plain, parse_string
from metnos.plan.terminals import TERMINALS
from metnos.request.model import Request, Slot
from metnos.values.sealed import has_handle

_SLOT = re.compile(r"\$\{SLOT:(s[0-9]+)\}")


def generalise(
    request: Request, plan: dict[str, Any], catalog: Catalog, *, closed: Collection[int] = ()
) -> General | NotGeneral:
    """The plan with every slot open that can be located without doubt.

    Args:
        request: What was said.
        plan: The plan that served it, as JSON; it is not changed.
        catalog: The contracts of its tools.
        closed: Slots, by number, that stay in the key whatever is found.

    Returns:
        The general plan; or why no cache may hold this plan, not even for the same words (`unfit`).
    """
    reason = _unfit(plan, catalog)
    if reason is not None:
        return reason
    located = locate(request.slots, list(leaves(plan, catalog)), request.language, closed)
    held = {use.index for use in located.uses} | located.symbolic
    moment = next(moments(request, located.texts, held), None)
    if moment is not None:
        return NotGeneral("moment", moment)
    apart = apart_words(plan, catalog)
    read_only = is_read_only(plan, catalog)
    general = General(
        plan=_replaced(plan, located.put),
        language=request.language,
        kinds=tuple(slot.kind for slot in request.slots),
        uses=located.uses,
        fixed={index: request.slots[index].value for index in sorted(located.fixed)},
        fixed_texts={index: said_of(request.slots[index]) for index in sorted(located.fixed) if located.free},
        shapes={
            index: (shape_of(request.slots[index], apart, effects=not read_only),)
            for index in sorted({use.index for use in located.uses})
        },
        apart=apart,
        free_literals=located.free,
        read_only=read_only,
    )
    bound = bind_general(general, request.slots)
    if isinstance(bound, Refusal):
        return NotGeneral("unfaithful", bound.detail)
    return general if canonical(bound.plan) == canonical(plan) else NotGeneral("unfaithful")


def bind_general(general: General, slots: Sequence[Slot]) -> Bound | Refusal:
    """The plan for these slots, in the order of the form, or why there is none.

    The refusal's `slot` is the number of the slot in the request, from 0.
    """
    if tuple(slot.kind for slot in slots) != general.kinds:
        return Refusal("", f"{' '.join(slot.kind for slot in slots)} ≠ {' '.join(general.kinds)}")
    for index, value in general.fixed.items():
        said = general.fixed_texts.get(index)
        if not same_data(slots[index].value, value) or (said is not None and said != said_of(slots[index])):
            return Refusal(str(index), f"{slots[index].text} ≠ {said or value}")
    for index, shapes in general.shapes.items():
        shape = shape_of(slots[index], general.apart, effects=not general.read_only)
        if shape not in shapes:
            return Refusal(str(index), f"{slots[index].text}: {shape} ≠ {' | '.join(shapes)}")
    values: dict[str, Any] = {}
    for number, use in enumerate(general.uses):
        value = render(use, slots[use.index], general.language)
        if isinstance(value, Refusal):
            return value
        values[f"s{number}"] = value
    plan = _filled(general.plan, values)
    whole = {place for use in general.uses if _is_value(use) for place in use.places}
    return Bound(
        plan,
        dict.fromkeys(sorted(whole), "user"),
        {name: slots[general.uses[int(name[1:])].index].value for name in values},
    )


def unfit(request: Request, plan: dict[str, Any], catalog: Catalog) -> NotGeneral | None:
    """Why no cache may hold this plan at all, not even for the very same words; None if one may."""
    found = generalise(request, plan, catalog)
    return found if isinstance(found, NotGeneral) else None


def is_read_only(plan: dict[str, Any], catalog: Catalog) -> bool:
    """Whether no step of the plan could have an effect, whatever its arguments turn out to be."""
    for step in plan["steps"]:
        contract = catalog.get(step["tool"])
        if step["tool"] not in TERMINALS and (
            contract is None or any(rule.effect != "read" for rule in contract.effects)
        ):
            return False
    return True


# --- what no cache may hold -----------------------------------------------------------------------------------


def _unfit(plan: dict[str, Any], catalog: Catalog) -> NotGeneral | None:
    read = read_plan(plan)
    if not read.ok:
        return NotGeneral("bad-plan", read.diagnostics[0].code)
    if has_handle(plan):
        return NotGeneral("sealed")
    for step in plan["steps"]:
        if step["tool"] not in TERMINALS and catalog.get(step["tool"]) is None:
            return NotGeneral("unknown-tool", step["tool"])
        if step["tool"] in {"ask", "needs_inputs"}:
            return NotGeneral("asks")
    for leaf in leaves(plan, catalog):
        reason = _unfit_leaf(leaf) or _unfit_sensitive(leaf, plan, catalog)
        if reason is not None:
            return NotGeneral(reason, leaf.place)
    return None


def _unfit_leaf(leaf: Leaf) -> Any:
    if not isinstance(leaf.value, str):
        return None
    if "${SLOT:" in leaf.value:
        return "open-slot"
    if leaf.role == "data" and not is_plain(leaf.value):
        for part in parse_string(leaf.value):
            if isinstance(part, Reference):
                target = part.target
                if isinstance(target, InputTarget) or (isinstance(target, StepTarget) and target.plan is not None):
                    return "answered"
                if isinstance(target, SlotTarget):
                    return "open-slot"
    return None


def _unfit_sensitive(leaf: Leaf, plan: dict[str, Any], catalog: Catalog) -> Any:
    tokens = leaf.place.split("/")
    if leaf.role not in {"data", "list", "word", "key"} or tokens[1:2] != ["steps"] or tokens[3:4] != ["args"]:
        return None
    contract = catalog.get(plan["steps"][int(tokens[2])]["tool"])
    if contract is None or tokens[4] not in contract.sensitive:
        return None
    is_reference = isinstance(leaf.value, str) and not any(isinstance(part, str) for part in parse_string(leaf.value))
    return None if is_reference else "sensitive"


# --- binding --------------------------------------------------------------------------------------------------


def said_of(slot: Slot) -> str:
    """The words of a slot, spaces aside."""
    return " ".join(slot.text.split())


def same_data(left: Any, right: Any) -> bool:
    """Equal as JSON: a list from a stored entry is a tuple no more, true is not 1."""
    if type(left) is str and type(right) is str:
        return left == right
    return canonical(_plain(left)) == canonical(_plain(right))


def _plain(value: Any) -> Any:
    return list(cast("tuple[Any, ...]", value)) if isinstance(value, tuple) else value


def _is_value(use: SlotUse) -> bool:
    """Whether the argument is the slot's value and nothing besides it."""
    return use.mode in {"typed", "text"} and all(
        reading in {("", "value", ""), ("", "number", ""), ("", "text", "")} for reading in use.readings
    )


def render(use: SlotUse, slot: Slot, language: str) -> Any:
    """The one literal that all readings give, spelled as its place asks; or a refusal."""
    found: Any = None
    for number, reading in enumerate(use.readings):
        value = _read(reading, slot, language, typed=use.mode == "typed")
        if value is None or (number and not same_data(value, found)):
            return Refusal(str(use.index), f"{slot.text}: {' | '.join('+'.join(r[1::2]) for r in use.readings)}")
        found = value
    return _bounded(use, found, slot) or _spelled(use, found, slot)


def _read(reading: Reading, slot: Slot, language: str, *, typed: bool) -> Any:
    if typed:
        return convert(reading[1], slot, language)
    pieces = list(reading)
    for at in range(1, len(pieces), 2):
        literal = convert(pieces[at], slot, language)
        if not isinstance(literal, str):
            return None
        pieces[at] = literal
    return "".join(pieces)


def _bounded(use: SlotUse, value: Any, slot: Slot) -> Refusal | None:
    size: float = len(cast("str", value)) if isinstance(value, str | list) else value
    if use.least is not None and size < use.least:
        return Refusal(str(use.index), f"{slot.text} < {use.least}")
    if use.most is not None and size > use.most:
        return Refusal(str(use.index), f"{slot.text} > {use.most}")
    return None


def _spelled(use: SlotUse, value: Any, slot: Slot) -> Any:
    if use.mode == "text":
        return escape(value)
    if use.mode == "json":
        return spell(value)[1:-1]
    if use.mode == "plain" and not is_plain(value):
        return Refusal(str(use.index), f"{slot.text}: $")
    return value


def _filled(data: Any, values: dict[str, Any]) -> Any:
    if isinstance(data, str):
        if "${SLOT:" not in data:
            return data
        whole = _SLOT.fullmatch(data)
        return values[whole[1]] if whole else _SLOT.sub(lambda found: str(values[found[1]]), data)
    if isinstance(data, dict):
        return {key: _filled(value, values) for key, value in cast("dict[str, Any]", data).items()}
    if isinstance(data, list):
        return [_filled(value, values) for value in cast("list[Any]", data)]
    return data


def _replaced(data: Any, put: dict[str, Any], where: str = "") -> Any:
    if where in put:
        return put[where]
    if is_object(data):
        return {key: _replaced(value, put, pointer(where, key)) for key, value in data.items()}
    if is_list(data):
        return [_replaced(value, put, pointer(where, index)) for index, value in enumerate(data)]
    return data
