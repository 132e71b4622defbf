"""One value of a plan against the shape that is wanted there: literals in place, references as typed holes.

Law: the literal parts are held against the schema itself, constraints and all; a hole is held against its
producer's shape, and its constraints are met at resolution. Every fault is reported where it stands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from metnos.checks.fits import Misfit, misfit
from metnos.checks.scope import NOTHING_KNOWN, Reading, Scope, listed
from metnos.checks.shapes import (
    ANY,
    NEVER,
    STRING,
    Alternative,
    Shape,
    array_of,
    infer,
    is_list,
    is_object,
    is_scalar,
    record,
    union,
)
from metnos.checks.tables import MAX_LITERAL
from metnos.contracts.schemas import validator_for
from metnos.plan.faults import did_you_mean
from metnos.plan.jsondata import pointer
from metnos.values.expressions import Concat, DictOf, Expression, ListOf, Literal_, Ref, Text

if TYPE_CHECKING:
    from metnos.plan.references import Reference


def check(scope: Scope, value: Expression, wanted: Shape, where: str, *, lenient: bool = False) -> None:
    """Report every fault of `value`, written at `where`, in a place that takes `wanted`.

    Args:
        scope: What the step may refer to.
        value: The compiled value.
        wanted: What its place takes; `ANY` checks the references alone.
        where: JSON pointer of the value in the plan as written.
        lenient: The consumer is foreign: scalars join.
    """
    if type(value) is Literal_:
        if wanted.exact is None or type(value.data) not in wanted.exact or type(value.data) is str:
            literal(scope, value.data, wanted, where, lenient=lenient)
    elif type(value) is Ref:
        reference(scope, value.reference, wanted, where, lenient)
    elif type(value) is Text:
        for part in value.parts:
            if not isinstance(part, str):
                inside_text(scope, part, where)
        _fit(scope, STRING, False, wanted, where, lenient)
    elif type(value) is ListOf:
        _list(scope, value, wanted, where, lenient)
    elif type(value) is DictOf:
        _dict(scope, value, wanted, where, lenient)


# ------------------------------------------------------------------------------------------ literals


def literal(scope: Scope, data: Any, wanted: Shape, where: str, *, lenient: bool = False, code: str = "") -> None:
    """Report what is wrong with literal data; `code` replaces the codes of a mere mismatch."""
    _size(scope, data, where)
    if wanted.exact is not None and type(data) in wanted.exact:
        return
    if wanted.schema is not None:
        validator = validator_for(wanted.schema)
        if validator.is_valid(data):
            return
        wrong = misfit(infer(data), wanted, to_lenient=lenient)
        if wrong is None:
            for fault in validator(data):
                scope.fault(code or "invalid-value", where + fault.pointer, _shown(data), fault.expected, fault.message)
            return
        _explain(scope, data, wanted, where, code, lenient)
        return
    if not wanted.is_any:
        _fit(scope, infer(data), False, wanted, where, lenient, code)


def _explain(scope: Scope, data: Any, wanted: Shape, where: str, code: str, lenient: bool) -> None:
    """Name the innermost places that are of the wrong type."""
    if is_object(data) and len(objects := wanted.only("object")) == 1:
        _names(scope, list(data), objects[0], where)
        for name, value in data.items():
            inner = objects[0].fields.get(name, objects[0].extra)
            if inner is not None:
                literal(scope, value, inner, pointer(where, name), lenient=lenient, code=code)
        return
    if is_list(data) and len(arrays := wanted.only("array")) == 1:
        for index, value in enumerate(data):
            literal(scope, value, _at(arrays[0], index), pointer(where, index), lenient=lenient, code=code)
        return
    scope.fault(code or "type-mismatch", where, f"{infer(data).describe()}: {_shown(data)}", wanted.describe())


def _size(scope: Scope, data: Any, where: str) -> None:
    if isinstance(data, str):
        if len(data) > MAX_LITERAL:
            scope.fault(
                "literal-too-large",
                where,
                f"{len(data)} characters",
                f"at most {MAX_LITERAL}",
                "hand it in as an input, or read it from a file",
            )
    elif is_object(data):
        for name, value in data.items():
            _size(scope, value, pointer(where, name))
    elif is_list(data):
        for index, value in enumerate(data):
            _size(scope, value, pointer(where, index))


def _shown(data: Any) -> str:
    text = repr(data) if not isinstance(data, str) else f'"{data}"'
    return text if len(text) <= 80 else text[:79] + "…"


# ------------------------------------------------------------------------------------------ holes


def reference(scope: Scope, written: Reference, wanted: Shape, where: str, lenient: bool = False) -> Reading:
    """A string that is one reference: what it gives must fit, and so must its fallback."""
    reading = scope.read(written, where)
    _fit(scope, reading.shape, reading.lenient, wanted, where, lenient)
    if reading.has_fallback:
        literal(scope, reading.fallback, wanted, where, lenient=lenient, code="fallback-mismatch")
    return reading


def inside_text(scope: Scope, written: Reference, where: str) -> None:
    """A reference inside longer text: only scalars can be written there."""
    reading = scope.read(written, where)
    if not is_scalar(reading.shape, lenient=reading.lenient, or_null=reading.has_fallback):
        scope.fault(
            "text-not-scalar",
            where,
            reading.shape.describe(),
            "one string, number or boolean",
            "refer to one of its fields, or give the reference alone",
        )
    elif reading.has_fallback and not is_scalar(infer(reading.fallback)):
        scope.fault("fallback-mismatch", where, _shown(reading.fallback), "one string, number or boolean")


def _fit(
    scope: Scope, made: Shape, from_lenient: bool, wanted: Shape, where: str, lenient: bool, code: str = ""
) -> None:
    wrong = misfit(made, wanted, from_lenient=from_lenient, to_lenient=lenient)
    if wrong is not None:
        report_misfit(scope, wrong, where, code)


def report_misfit(scope: Scope, wrong: Misfit, where: str, code: str = "") -> None:
    """One shape did not fit another."""
    at = f"`{wrong.at}`: " if wrong.at else ""
    scope.fault(code or "type-mismatch", where, at + wrong.found, at + wrong.expected)


# ------------------------------------------------------------------------------------------ lists and objects with holes


def _list(scope: Scope, value: ListOf, wanted: Shape, where: str, lenient: bool) -> None:
    arrays = _ways(scope, value, wanted, "array", where, lenient)
    for index, item in enumerate(value.items):
        inner = ANY if arrays is None else _at(arrays, index)
        check(scope, item, inner, pointer(where, index), lenient=lenient)


def _dict(scope: Scope, value: DictOf, wanted: Shape, where: str, lenient: bool) -> None:
    chosen = _ways(scope, value, wanted, "object", where, lenient)
    if chosen is not None:
        _names(scope, [name for name, _ in value.items], chosen, where)
    for name, item in value.items:
        inner = ANY if chosen is None else chosen.fields.get(name, chosen.extra) or ANY
        check(scope, item, inner, pointer(where, name), lenient=lenient)


def _ways(
    scope: Scope, value: ListOf | DictOf, wanted: Shape, kind: str, where: str, lenient: bool
) -> Alternative | None:
    """The alternative that the value is held against: the first it fits, else the first of its kind."""
    if wanted.is_any:
        return None
    ways = [each for each in wanted.of if each.kind == kind]
    if not ways:
        scope.fault("type-mismatch", where, kind, wanted.describe())
        return None
    if len(ways) > 1:
        mine = shape_of(scope, value)
        ways.sort(key=lambda each: misfit(mine, Shape((each,)), to_lenient=lenient) is not None)
    return ways[0]


def _at(array: Alternative, index: int) -> Shape:
    if index < len(array.prefix):
        return array.prefix[index]
    return ANY if array.items is None else array.items


def _names(scope: Scope, names: list[str], wanted: Alternative, where: str) -> None:
    """The fields of an object that is written in the plan: none missing, none unknown."""
    for name in sorted(wanted.required.difference(names)):
        scope.fault("missing-field", where, expected=name)
    if wanted.extra is None:
        for name in names:
            if name not in wanted.fields:
                scope.fault(
                    "unknown-field",
                    pointer(where, name),
                    name,
                    listed(wanted.fields),
                    did_you_mean(name, wanted.fields),
                )


# ------------------------------------------------------------------------------------------ shapes of values


def shape_of(scope: Scope, value: Expression) -> Shape:
    """The shape of a compiled value, without a word about its faults (`check` reports those)."""
    if isinstance(value, Literal_):
        return infer(value.data)
    if isinstance(value, Text):
        return STRING
    if isinstance(value, DictOf):
        return record({name: shape_of(scope, item) for name, item in value.items})
    if isinstance(value, ListOf):
        return array_of(union([shape_of(scope, item) for item in value.items]) if value.items else NEVER)
    return ANY if isinstance(value, Concat) else silently(scope, value.reference).whole


def silently(scope: Scope, written: Reference) -> Reading:
    """Read a reference whose faults have been, or will be, reported elsewhere."""
    kept = len(scope.faults)
    reading = scope.read(written, "")
    if len(scope.faults) > kept:
        del scope.faults[kept:]
        return NOTHING_KNOWN
    return reading
