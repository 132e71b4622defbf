"""The common case of resolution, decided beforehand: arguments that are literals, or fields of steps that are done.

Law: it never says no. What it gives is what `values.resolve` gives, the same data and the same sources; whatever is
not plainly there it leaves to `values.resolve`, which says why. Most steps of most plans are of this form, and for
them one loop over a flat table costs a third of a walk over the tree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from metnos.plan.jsondata import MAX_INTEGER
from metnos.plan.references import ItemTarget, Key, StepTarget
from metnos.values.expressions import DictOf, Literal_, Ref

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metnos.plan.references import Reference
    from metnos.values.expressions import Expression
    from metnos.values.value import Value

LITERAL = -2
ITEM = -1


class Slot(NamedTuple):
    """One argument."""

    key: str
    origin: int
    """Position of a step, from 0; `ITEM` or `LITERAL`."""
    path: tuple[str, ...]
    """Fields to go down."""
    literal: Any


class Quick(NamedTuple):
    """Arguments in order, and the sources of the literals among them."""

    slots: tuple[Slot, ...]
    sources: frozenset[str]


class Holder(Protocol):
    """A step as far as its value goes."""

    value: Value | None


def quick_of(expression: Expression) -> Quick | None:
    """The table of compiled arguments; None if they are not of the simple form."""
    if not isinstance(expression, DictOf):
        return None
    slots: list[Slot] = []
    sources: set[str] = set()
    for key, item in expression.items:
        if isinstance(item, Literal_):
            slots.append(Slot(key, LITERAL, (), item.data))
            sources.add(item.source)
        elif isinstance(item, Ref) and (slot := _slot_of(key, item.reference)) is not None:
            slots.append(slot)
        else:
            return None
    return Quick(tuple(slots), frozenset(sources))


def _slot_of(key: str, reference: Reference) -> Slot | None:
    target = reference.target
    names = tuple(segment.name for segment in reference.path if isinstance(segment, Key))
    if reference.has_fallback or len(names) != len(reference.path):
        return None
    if isinstance(target, StepTarget) and target.plan is None and isinstance(target.step, int) and target.step > 0:
        return Slot(key, target.step - 1, names, None)
    return Slot(key, ITEM, names, None) if isinstance(target, ItemTarget) else None


def take(quick: Quick, steps: Sequence[Holder], item: Value | None) -> tuple[dict[str, Any], frozenset[str]] | None:
    """The arguments and their sources; None: ask `resolve`.

    Args:
        quick: The table.
        steps: Every step of the plan, in order.
        item: What `${item}` is; None where there is none.
    """
    data: dict[str, Any] = {}
    slots, sources = quick
    for key, origin, path, literal in slots:
        if origin == LITERAL:
            data[key] = literal
            continue
        held = item if origin == ITEM else steps[origin].value
        if held is None:
            return None
        found = held.data
        for name in path:
            if found.__class__ is not dict or name not in found:
                return None
            found = found[name]
        if found.__class__ is int and not -MAX_INTEGER <= found <= MAX_INTEGER:
            return None
        data[key] = found
        if sources is not held.sources:
            sources = sources | held.sources if sources else held.sources
    return data, sources
