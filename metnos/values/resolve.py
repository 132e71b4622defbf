"""Resolution: an `Expression` and an environment in, a `Value` or a `Fault` out.

Law: strict and pure. A missing field is a fault with its path, never another field and never empty text; nothing is
converted. Sources of all that was used are united, literals' included.

- A reference alone keeps its value's type; inside longer text only scalars (`true`, `1.5`, no null, no object).
- `[*]` takes what follows from each element of a list; the result is a list.
- A fallback stands for the whole reference: where the target has no value, where a field or an index is missing
  anywhere along the path, and, inside longer text, where the value is null.
- Data are shared, not copied: an argument may be the very object that a step gave. Only `[]` and `{}` are made new.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from metnos.plan.jsondata import MAX_INTEGER, JSONFault, canonical, is_list, is_object, pointer
from metnos.plan.references import Every, Index, Key
from metnos.plan.spelling import format_reference
from metnos.sdk import ErrorClass
from metnos.values.expressions import Concat, DictOf, Expression, ListOf, Literal_, Ref, Text
from metnos.values.value import Absent, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from metnos.plan.references import Reference, Segment, Target


class Environment(Protocol):
    """What is there to refer to, at the moment of resolution."""

    def lookup(self, target: Target) -> Value | Absent:
        """The whole value of a target, or why there is none. Step targets come by number (ids are compiled away)."""
        ...


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """Why an expression has no value; of error class `data`."""

    code: str
    """A key of `plan.codes.CODES`."""
    where: str = ""
    """JSON pointer into the expression: `/path` is the argument `path`."""
    found: str = ""
    expected: str = ""
    hint: str = ""
    cls: ErrorClass = "data"


class Resolved(msgspec.Struct, frozen=True):
    """Arguments of one call, and the sources of each."""

    data: dict[str, Any]
    sources: dict[str, frozenset[str]]


class _Stop(Exception):
    """Carries a fault up through the expression, which adds its place on the way."""

    def __init__(self, code: str, found: str = "", expected: str = "", hint: str = "") -> None:
        super().__init__(code)
        self.code = code
        self.found = found
        self.expected = expected
        self.hint = hint
        self.where: list[str | int] = []

    def fault(self) -> Fault:
        where = pointer("", *reversed(self.where))
        return Fault(code=self.code, where=where, found=self.found, expected=self.expected, hint=self.hint)


class _Missing(_Stop):
    """A fault that a fallback mends."""


def resolve(expression: Expression, env: Environment) -> Value | Fault:
    """The value of an expression.

    Args:
        expression: compiled arguments, or any part of them.
        env: where references are looked up; each reference asks once.
    """
    sources: set[str] = set()
    try:
        data = _RESOLVERS[type(expression)](expression, env, sources)
    except _Stop as stop:
        return stop.fault()
    return Value(data, frozenset(sources))


def resolve_args(expression: DictOf, env: Environment) -> Resolved | Fault:
    """The arguments of a call, each with its own sources (policy asks for them one by one)."""
    data: dict[str, Any] = {}
    per_argument: dict[str, frozenset[str]] = {}
    key = ""
    try:
        for key, item in expression.items:
            sources: set[str] = set()
            data[key] = _RESOLVERS[type(item)](item, env, sources)
            per_argument[key] = frozenset(sources)
    except _Stop as stop:
        stop.where.append(key)
        return stop.fault()
    return Resolved(data, per_argument)


# --- one function per expression ----------------------------------------------------------------------------


def _literal(expression: Literal_, _: Environment, sources: set[str]) -> Any:
    sources.add(expression.source)
    return expression.data


def _ref(expression: Ref, env: Environment, sources: set[str]) -> Any:
    return _value_of(expression.reference, env, sources, expression.source)


def _text(expression: Text, env: Environment, sources: set[str]) -> str:
    out: list[str] = []
    for part in expression.parts:
        if isinstance(part, str):
            sources.add(expression.source)
            out.append(part)
        else:
            out.append(_scalar_text(part, env, sources, expression.source))
    return "".join(out)


def _list(expression: ListOf, env: Environment, sources: set[str]) -> list[Any]:
    out: list[Any] = []
    try:
        for item in expression.items:
            out.append(_RESOLVERS[type(item)](item, env, sources))  # noqa: PERF401 - the place is len(out)
    except _Stop as stop:
        stop.where.append(len(out))
        raise
    return out


def _dict(expression: DictOf, env: Environment, sources: set[str]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    key = ""
    try:
        for key, item in expression.items:
            out[key] = _RESOLVERS[type(item)](item, env, sources)
    except _Stop as stop:
        stop.where.append(key)
        raise
    return out


def _concat(expression: Concat, env: Environment, sources: set[str]) -> list[Any]:
    out: list[Any] = []
    for reference in expression.items:
        data = _value_of(reference, env, sources, "author")
        if not is_list(data):
            raise _Stop("value-type", _found(reference, data), "a list")
        out.extend(data)
    return out


_RESOLVERS: dict[type, Callable[[Any, Environment, set[str]], Any]] = {
    Literal_: _literal,
    Ref: _ref,
    Text: _text,
    ListOf: _list,
    DictOf: _dict,
    Concat: _concat,
}


# --- one reference ------------------------------------------------------------------------------------------


def _value_of(reference: Reference, env: Environment, sources: set[str], literal_source: str) -> Any:
    found = env.lookup(reference.target)
    if isinstance(found, Absent):
        if reference.has_fallback:
            return _fallback(reference, sources, literal_source)
        raise _Stop("step-absent", f"{format_reference(reference)}: {found.reason}")
    data: Any = found.data
    path = reference.path
    if path:
        try:
            data = _walk(data, path, reference)
        except _Missing:
            if reference.has_fallback:
                return _fallback(reference, sources, literal_source)
            raise
    sources |= found.sources
    if type(data) is int and not -MAX_INTEGER <= data <= MAX_INTEGER:
        raise _Stop("integer-range", f"{format_reference(reference)}: {data}")
    return data


def _fallback(reference: Reference, sources: set[str], literal_source: str) -> Any:
    sources.add(literal_source)
    literal = reference.fallback
    return literal.copy() if is_list(literal) or is_object(literal) else literal


def _walk(data: Any, path: tuple[Segment, ...], reference: Reference) -> Any:
    for position, segment in enumerate(path):
        shape = data.__class__
        if isinstance(segment, Key):
            if shape is not dict or segment.name not in data:
                raise _no_field(data, segment, reference)
            data = data[segment.name]
        elif shape is not list:
            raise _Stop("value-type", _found(reference, data), f"a list, for {_spell(segment)}")
        elif isinstance(segment, Index):
            if segment.number >= len(data):
                found = f"{format_reference(reference)}: {_spell(segment)} of {len(data)} elements"
                raise _Missing("index-range", found)
            data = data[segment.number]
        else:
            rest = path[position + 1 :]
            return [_walk(item, rest, reference) for item in data] if rest else list(data)
    return data


def _no_field(data: Any, segment: Key, reference: Reference) -> _Stop:
    if not is_object(data):
        return _Stop("value-type", _found(reference, data), f"an object with the field {segment.name}")
    from metnos.plan.faults import did_you_mean

    names = list(data)
    found = f"{format_reference(reference)}: no field {segment.name}"
    return _Missing("value-missing", found, ", ".join(names[:20]), did_you_mean(segment.name, names[:200]))


def _spell(segment: Index | Every) -> str:
    return f"[{segment.number}]" if isinstance(segment, Index) else "[*]"


def _found(reference: Reference, data: Any) -> str:
    from metnos.plan.faults import describe

    return f"{format_reference(reference)}: {describe(data)}"


def _scalar_text(reference: Reference, env: Environment, sources: set[str], literal_source: str) -> str:
    data: Any = _value_of(reference, env, sources, literal_source)
    if data is None and reference.has_fallback:
        data = _fallback(reference, sources, literal_source)
    if isinstance(data, str):
        return data
    if data is None:
        raise _Stop("null-in-text", format_reference(reference), "a scalar")
    if not isinstance(data, (bool, int, float)):
        raise _Stop("not-scalar", _found(reference, data), "a string, number or boolean")
    try:
        return canonical(data).decode("ascii")
    except JSONFault as fault:
        raise _Stop(fault.code, format_reference(reference), fault.message) from None
