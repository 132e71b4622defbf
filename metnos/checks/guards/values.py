"""What is written in the arguments of a step, as far as the plan alone says it.

Law: a text counts if it is a literal, the literal beginning of a longer text, or comes from a list of literals that the
step runs over. What a reference will give is not guessed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from metnos.checks.shapes import is_list, is_object
from metnos.plan.references import InputTarget, ItemTarget, Key, Reference
from metnos.values.expressions import DictOf, Expression, ListOf, Literal_, Ref, Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from metnos.checks.model import CheckedStep


def texts_of(step: CheckedStep, names: Iterable[str] | None = None) -> list[tuple[str, bool]]:
    """The texts in a step's arguments; with each, whether it is only the beginning of a longer one.

    Args:
        step: The step.
        names: Of the arguments that are looked at; None: all of them.
    """
    values: dict[str, Expression] = dict(step.args.items) if isinstance(step.args, DictOf) else {}
    wanted = values if names is None else [name for name in names if name in values]
    return [text for name in wanted for text in _texts(values[name], step)]


def comes_from_input(step: CheckedStep, names: Iterable[str]) -> bool:
    """Whether one of the arguments is what the person answers or has handed in."""
    values: dict[str, Expression] = dict(step.args.items) if isinstance(step.args, DictOf) else {}
    return any(
        isinstance(value, Ref) and isinstance(value.reference.target, InputTarget) for value in map(values.get, names)
    )


def _texts(value: Expression, step: CheckedStep) -> Iterator[tuple[str, bool]]:
    if isinstance(value, Literal_):
        yield from ((text, False) for text in _strings(value.data))
    elif isinstance(value, Text):
        if isinstance(value.parts[0], str):
            yield value.parts[0], True
        elif len(value.parts) > 1 and isinstance(value.parts[0].target, ItemTarget):
            yield from ((text, True) for text, _ in _item(value.parts[0], step))
    elif isinstance(value, Ref):
        if isinstance(value.reference.target, ItemTarget):
            yield from _item(value.reference, step)
    elif isinstance(value, DictOf):
        for _, inner in value.items:
            yield from _texts(inner, step)
    elif isinstance(value, ListOf):
        for inner in value.items:
            yield from _texts(inner, step)


def _item(reference: Reference, step: CheckedStep) -> Iterator[tuple[str, bool]]:
    """`${item}` or `${item.field}` over a list of literals."""
    if not isinstance(step.for_each, Literal_) or not is_list(step.for_each.data):
        return
    for entry in step.for_each.data:
        found: Any = entry
        for segment in reference.path:
            found = found.get(segment.name) if isinstance(segment, Key) and is_object(found) else None
        yield from ((text, False) for text in _strings(found))


def _strings(data: Any) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif is_list(data):
        for value in data:
            yield from _strings(value)
    elif is_object(data):
        for value in data.values():
            yield from _strings(value)
