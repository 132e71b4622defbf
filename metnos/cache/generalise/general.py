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

from collections.abc import Collection, Sequence
from typing import Any

from metnos.cache.generalise.binding import Binder, said_of
from metnos.cache.generalise.leaves import Leaf, leaves
from metnos.cache.generalise.locate import locate
from metnos.cache.generalise.moments import moments
from metnos.cache.generalise.shape import apart_words, shape_of
from metnos.cache.generalise.uses import General, NotGeneral
from metnos.cache.templates.template import Bound, Refusal
from metnos.contracts.catalog import Catalog
from metnos.plan.jsondata import canonical, is_list, is_object, pointer
from metnos.plan.parse import read_plan
from metnos.plan.references import InputTarget, Reference, SlotTarget, StepTarget
from metnos.plan.spelling import is_plain, parse_string
from metnos.plan.terminals import TERMINALS
from metnos.request.model import Request, Slot
from metnos.values.sealed import has_handle


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
    """The plan for these slots, or why there is none; who binds often keeps a `Binder`."""
    return Binder(general).bind(slots)


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


def _replaced(data: Any, put: dict[str, Any], where: str = "") -> Any:
    if where in put:
        return put[where]
    if is_object(data):
        return {key: _replaced(value, put, pointer(where, key)) for key, value in data.items()}
    if is_list(data):
        return [_replaced(value, put, pointer(where, index)) for index, value in enumerate(data)]
    return data
