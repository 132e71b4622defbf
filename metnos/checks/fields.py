"""Arguments that name a field of what is consumed: the field must be there, or its absence must be decided.

Law: the entries are known by their shape before anything has run. A field that a closed kind does not declare is a
fault; one that it may lack must be decided by the contract's `missing` argument; an open kind's fields come with
the data, and an executor's default decides.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from metnos.checks.scope import Scope, listed
from metnos.checks.shapes import Shape, is_list, is_object
from metnos.checks.tables import DECIDED_LATER
from metnos.checks.walk import field_names, walk
from metnos.contracts.kinds import is_open
from metnos.plan.faults import did_you_mean
from metnos.plan.jsondata import pointer
from metnos.plan.references import Key
from metnos.values.expressions import Expression, ListOf, Literal_

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metnos.checks.bound import Bound


def check_field_names(
    scope: Scope,
    bound: Bound,
    values: dict[str, Expression],
    kind: str | None,
    entry: Shape,
    where: str,
    arguments: tuple[str, ...] | None = None,
) -> None:
    """Check every `field_of_input` argument, or those given.

    Args:
        scope: Where faults go.
        bound: The consumer.
        values: Argument → compiled value.
        kind: Kind of the entries, if known.
        entry: Shape of one entry.
        where: JSON pointer of the arguments.
        arguments: Those that name fields of `entry`; None: `field_of_input`.
    """
    decided = _is_decided(bound, values)
    for argument in bound.contract.field_of_input if arguments is None else arguments:
        if argument in values:
            value = values[argument]
            if isinstance(value, Literal_) and isinstance(value.data, str) and _is_there(entry, value.data):
                continue
            for name, place in _names(value, pointer(where, argument)):
                _check(scope, name, kind, entry, place, decided, bound.contract.missing_arg)


@lru_cache(maxsize=1024)
def _key(name: str) -> tuple[Key, ...]:
    return (Key(name),)


def _is_there(entry: Shape, name: str) -> bool:
    walked = walk(entry, _key(name), False)
    return walked.lost is None and not walked.gaps


def _is_decided(bound: Bound, values: dict[str, Expression]) -> bool:
    argument = bound.contract.missing_arg
    if argument is None:
        return False
    return argument in values or bound.defaults.get(argument, DECIDED_LATER) != DECIDED_LATER


def _names(value: Expression, where: str) -> Iterator[tuple[str, str]]:
    """Names that are written in the plan; those that a reference brings are met at run time."""
    data: Any = value.data if isinstance(value, Literal_) else None
    if isinstance(data, str):
        yield data, where
    elif is_list(data):
        yield from ((name, pointer(where, index)) for index, name in enumerate(data) if isinstance(name, str))
    elif is_object(data):  # old names → new ones
        yield from ((name, pointer(where, name)) for name in data)
    elif isinstance(value, ListOf):
        for index, item in enumerate(value.items):
            yield from _names(item, pointer(where, index))


def _check(
    scope: Scope, name: str, kind: str | None, entry: Shape, where: str, decided: bool, argument: str | None
) -> None:
    walked = walk(entry, _key(name), False)
    if walked.lost is not None:
        names = field_names(entry)
        scope.fault("unknown-field", where, name, f"fields of the entries: {listed(names)}", did_you_mean(name, names))
        return
    declared = name in field_names(entry)
    if walked.gaps and declared and not decided and not (kind is not None and is_open(kind)):
        way = f'`"{argument}": "null"` or `"drop"`' if argument else "a field that is always there"
        scope.fault("missing-undecided", where, f"entries may lack the field `{name}`", way)
