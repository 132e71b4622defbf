"""A path into a shape: what `.entries[0].path` is, and why it might not be there.

Law: three answers. It is there for certain; it may be absent (then a `?? literal` mends it); it can never be there,
or what is there may be of a kind that has no fields or no elements (then nothing does).
"""

from __future__ import annotations

from typing import Literal

import msgspec

from metnos.checks.remembering import remembered
from metnos.checks.shapes import ANY, NEVER, Alternative, Shape, array_of, union
from metnos.plan.references import Index, Key, Segment

GapKind = Literal["field", "index"]


class Gap(msgspec.Struct, frozen=True):
    """A segment that may find nothing: which one (position in the path), and how."""

    kind: GapKind
    position: int


class Lost(msgspec.Struct, frozen=True):
    """A segment that cannot be followed."""

    position: int
    found: str
    names: tuple[str, ...] = ()
    """The fields that exist, where a field was not found."""
    wrong_kind: bool = False


class Walked(msgspec.Struct, frozen=True, eq=False):
    """The shape at the end of a path, and the gaps on the way."""

    shape: Shape
    gaps: tuple[Gap, ...] = ()
    lost: Lost | None = None
    spread: bool = False
    """There was an `[*]`: the result is a list, made of what each element gives."""


@remembered
def walk(shape: Shape, path: tuple[Segment, ...], lenient: bool) -> Walked:
    """Follow `path`. A lenient producer's fields count as there; an index into its lists may fail at run time."""
    gaps: list[Gap] = []
    depth = 0
    for position, segment in enumerate(path):
        if isinstance(segment, Key):
            found = _field(shape, segment.name, lenient)
        elif isinstance(segment, Index):
            found = _element(shape, segment.number, lenient)
        else:
            found = _every(shape, lenient)
            depth += 1
        if isinstance(found, Lost):
            lost = msgspec.structs.replace(found, position=position)
            return Walked(ANY, tuple(gaps), lost, depth > 0)
        shape, sure = found
        if not sure:
            gaps.append(Gap("field" if isinstance(segment, Key) else "index", position))
    for _ in range(depth):
        shape = array_of(shape)
    return Walked(shape, tuple(gaps), None, depth > 0)


def field_names(shape: Shape) -> tuple[str, ...]:
    """The fields that are declared, in the order of the schema."""
    names: dict[str, None] = {}
    for each in shape.of:
        names.update(dict.fromkeys(each.fields))
    return tuple(names)


def _field(shape: Shape, name: str, lenient: bool) -> tuple[Shape, bool] | Lost:
    if shape.is_any:
        return ANY, lenient
    found: list[Shape] = []
    sure = True
    for each in shape.of:
        if each.kind != "object":
            if not lenient:
                return Lost(0, shape.describe(), wrong_kind=True)
            continue
        got = _own_field(each, name, lenient)
        if got is None:
            sure = False
            continue
        found.append(got[0])
        sure = sure and got[1]
    if found:
        return union(found), sure
    objects = bool(shape.only("object"))
    return Lost(0, name if objects else shape.describe(), field_names(shape), wrong_kind=not objects)


def _own_field(each: Alternative, name: str, lenient: bool) -> tuple[Shape, bool] | None:
    shape = each.fields.get(name)
    if shape is not None:
        return shape, lenient or name in each.required
    if each.extra is not None and (each.extra_declared or not each.listed):
        return each.extra, lenient or name in each.required
    return None


def _element(shape: Shape, number: int, lenient: bool) -> tuple[Shape, bool] | Lost:
    if shape.is_any:
        return ANY, lenient
    found: list[Shape] = []
    sure = True
    for each in shape.of:
        if each.kind != "array":
            if not lenient:
                return Lost(0, shape.describe(), wrong_kind=True)
            continue
        found.append(each.prefix[number] if number < len(each.prefix) else ANY if each.items is None else each.items)
        sure = sure and (lenient or number < each.min_items)
    if not found:
        return Lost(0, shape.describe(), wrong_kind=True)
    return union(found), sure


def _every(shape: Shape, lenient: bool) -> tuple[Shape, bool] | Lost:
    if shape.is_any:
        # Nothing says that it is a list: with a lenient producer the data decide, else the reference is too bold.
        return (ANY, True) if lenient else Lost(0, shape.describe(), wrong_kind=True)
    arrays = shape.only("array")
    if not arrays or (len(arrays) < len(shape.of) and not lenient):
        return Lost(0, shape.describe(), wrong_kind=True)
    parts = [part for each in arrays for part in (*each.prefix, ANY if each.items is None else each.items)]
    return union(parts) if parts else NEVER, True
