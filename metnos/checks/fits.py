"""One shape against another: does every value that a producer may give have the type that a consumer takes?

Law: sound for types, fields and elements; blind for value constraints; the undeclared fits.
"""

from __future__ import annotations

import msgspec

from metnos.checks.remembering import remembered
from metnos.checks.shapes import SCALARS, Alternative, Shape


class Misfit(msgspec.Struct, frozen=True):
    """Why one shape does not fit another: where inside it (`[*].size`), what is there, what is wanted."""

    at: str
    found: str
    expected: str


def misfit(made: Shape, wanted: Shape, *, from_lenient: bool = False, to_lenient: bool = False) -> Misfit | None:
    """Whether every value of the shape `made` has the shape `wanted`; None if so.

    Args:
        made: What a producer gives.
        wanted: What a consumer takes.
        from_lenient: The producer is foreign: its fields count as there, and one common type is enough.
        to_lenient: The consumer is foreign: scalars join.
    """
    if made.is_any or wanted.is_any or made is wanted:
        return None
    return _misfit(made, wanted, from_lenient, to_lenient)


@remembered
def _misfit(made: Shape, wanted: Shape, from_lenient: bool, to_lenient: bool) -> Misfit | None:
    first: Misfit | None = None
    fitting = 0
    for each in made.of:
        wrong = _misfit_one(each, wanted, from_lenient, to_lenient)
        if wrong is None:
            fitting += 1
        elif first is None:
            first = wrong
    if first is None or (from_lenient and fitting):
        return None
    return first if first.at else Misfit("", made.describe(), wanted.describe())


def _misfit_one(made: Alternative, wanted: Shape, from_lenient: bool, to_lenient: bool) -> Misfit | None:
    first: Misfit | None = None
    for each in wanted.of:
        wrong = _misfit_pair(made, each, from_lenient, to_lenient)
        if wrong is None:
            return None
        if first is None or (wrong.at and not first.at):
            first = wrong
    return first or Misfit("", made.kind, "nothing")


def _misfit_pair(made: Alternative, wanted: Alternative, from_lenient: bool, to_lenient: bool) -> Misfit | None:
    if made.kind != wanted.kind:
        scalars = to_lenient and made.kind in SCALARS and wanted.kind in SCALARS
        widened = made.kind == "integer" and wanted.kind == "number"
        return None if scalars or widened else Misfit("", made.kind, wanted.kind)
    if made.kind == "array":
        return _misfit_arrays(made, wanted, from_lenient, to_lenient)
    if made.kind == "object" and (made.listed or made.extra_declared):
        return _misfit_objects(made, wanted, from_lenient, to_lenient)
    return None


def _inside(at: str, wrong: Misfit | None) -> Misfit | None:
    return None if wrong is None else Misfit(at + wrong.at, wrong.found, wrong.expected)


def _misfit_arrays(made: Alternative, wanted: Alternative, from_lenient: bool, to_lenient: bool) -> Misfit | None:
    for position in range(max(len(made.prefix), len(wanted.prefix)) + 1):
        mine = made.prefix[position] if position < len(made.prefix) else made.items
        other = wanted.prefix[position] if position < len(wanted.prefix) else wanted.items
        if mine is None or other is None or not mine.of:
            continue
        last = position >= len(made.prefix) and position >= len(wanted.prefix)
        at = "[*]" if last else f"[{position}]"
        wrong = _inside(at, misfit(mine, other, from_lenient=from_lenient, to_lenient=to_lenient))
        if wrong is not None:
            return wrong
    return None


def _misfit_objects(made: Alternative, wanted: Alternative, from_lenient: bool, to_lenient: bool) -> Misfit | None:
    for name in sorted(wanted.required):
        there = name in made.fields and (from_lenient or name in made.required)
        if not there:
            found = "a field that may be missing" if name in made.fields else "no such field"
            return Misfit(f".{name}", found, "a field that is always there")
    for name, shape in made.fields.items():
        other = wanted.fields.get(name, wanted.extra)
        if other is None:
            return Misfit(f".{name}", "a field", f"only {', '.join(wanted.fields) or 'an empty object'}")
        wrong = _inside(f".{name}", misfit(shape, other, from_lenient=from_lenient, to_lenient=to_lenient))
        if wrong is not None:
            return wrong
    return None if made.extra is None else _misfit_further(made, made.extra, wanted, from_lenient, to_lenient)


def _misfit_further(
    made: Alternative, extra: Shape, wanted: Alternative, from_lenient: bool, to_lenient: bool
) -> Misfit | None:
    """Fields that come with the data, under any name: also one that the consumer declares and the producer does not."""
    if wanted.extra is None and not from_lenient:
        return Misfit("", "an object with further fields", f"only {', '.join(wanted.fields) or 'an empty object'}")
    places = [(f".{name}", shape) for name, shape in sorted(wanted.fields.items()) if name not in made.fields]
    for at, other in places if made.extra_declared else ():
        wrong = _inside(at, misfit(extra, other, from_lenient=from_lenient, to_lenient=to_lenient))
        if wrong is not None:
            return wrong
    if wanted.extra is None:
        return None
    return _inside(".*", misfit(extra, wanted.extra, from_lenient=from_lenient, to_lenient=to_lenient))
