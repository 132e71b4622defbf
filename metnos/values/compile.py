"""Arguments to `Expression`: literals with their source, references parsed once.

Law: nothing is resolved and nothing judged here; a string stays the string that it was. Literals that no `origins`
entry tells apart stay one `Literal_`, however large, so that resolving them costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from metnos.plan.jsondata import is_object
from metnos.plan.jsondata import pointer as extend
from metnos.plan.references import Parts, Reference, StepTarget
from metnos.plan.spelling import parse_string
from metnos.values.expressions import Concat, DictOf, Expression, ListOf, Literal_, Ref, Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_NO_ORIGINS: dict[str, str] = {}
_NO_IDS: dict[str, int] = {}


def compile_args(
    obj: Any,
    *,
    pointer: str = "",
    source: str = "author",
    origins: Mapping[str, str] = _NO_ORIGINS,
    rename: Mapping[str, int] = _NO_IDS,
) -> Expression:
    """Compile JSON data in which strings may hold references.

    Args:
        obj: the arguments of a step (then the result is a `DictOf`, one item an argument), or any JSON data.
        pointer: JSON pointer of `obj` in the plan file; `origins` is looked up by it.
        source: who wrote the literals that `origins` does not name.
        origins: JSON pointer → source; an entry for an object or list holds for all below it that has none.
        rename: id of a step → its number; an id that is not in it stays.

    Raises:
        ReferenceSyntax: a string in `obj` is misspelled (`plan.parse` reports the same, with its place).
    """
    compiling = _Compiling(origins, rename)
    if is_object(obj):
        source = origins.get(pointer, source) if origins else source
        return DictOf(
            tuple(
                (key, compiling.expression(value, extend(pointer, key) if origins else "", source))
                for key, value in obj.items()
            )
        )
    return compiling.expression(obj, pointer, source)


class _Compiling:
    __slots__ = ("origins", "rename")

    def __init__(self, origins: Mapping[str, str], rename: Mapping[str, int]) -> None:
        self.origins = origins
        self.rename = rename

    def expression(self, value: Any, where: str, source: str) -> Expression:
        if self.origins:
            source = self.origins.get(where, source)
        kind = value.__class__
        if kind is str:
            return self.string(value, source) if "$" in value else Literal_(value, source)
        if kind is dict:
            return self.dict(value, where, source)
        if kind is list or kind is tuple:
            return self.list(value, where, source)
        return Literal_(value, source)

    def string(self, text: str, source: str) -> Expression:
        parts = parse_string(text)
        if len(parts) == 1:
            only = parts[0]
            return Literal_(only, source) if isinstance(only, str) else Ref(self.renamed(only), source)
        return Text(self.renamed_parts(parts), source)

    def dict(self, value: dict[str, Any], where: str, source: str) -> Expression:
        items = tuple((key, self.expression(item, self.below(where, key), source)) for key, item in value.items())
        literals = {key: item.data for key, item in items if isinstance(item, Literal_) and item.source == source}
        return Literal_(literals, source) if len(literals) == len(items) else DictOf(items)

    def list(self, value: Iterable[Any], where: str, source: str) -> Expression:
        items = tuple(self.expression(item, self.below(where, index), source) for index, item in enumerate(value))
        literals = [item.data for item in items if isinstance(item, Literal_) and item.source == source]
        return Literal_(literals, source) if len(literals) == len(items) else ListOf(items)

    def below(self, where: str, key: str | int) -> str:
        return extend(where, key) if self.origins else ""

    def renamed_parts(self, parts: Parts) -> Parts:
        if not self.rename:
            return parts
        return tuple(part if isinstance(part, str) else self.renamed(part) for part in parts)

    def renamed(self, reference: Reference) -> Reference:
        target = reference.target
        if type(target) is StepTarget and type(target.step) is str and target.step in self.rename:
            return msgspec.structs.replace(reference, target=StepTarget(self.rename[target.step]))
        return reference


def references_of(expression: Expression) -> tuple[Reference, ...]:
    """All references in an expression, in order, doubles included."""
    found: list[Reference] = []
    stack: list[Expression] = [expression]
    while stack:
        match stack.pop():
            case Ref(reference=reference):
                found.append(reference)
            case Text(parts=parts):
                found.extend(part for part in parts if isinstance(part, Reference))
            case ListOf(items=items):
                stack.extend(reversed(items))
            case DictOf(items=pairs):
                stack.extend(item for _, item in reversed(pairs))
            case Concat(items=references):
                found.extend(references)
            case Literal_():
                pass
    return tuple(found)
