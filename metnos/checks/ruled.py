"""What the entries of a transform look like: picked, grouped, joined. From its arguments and from what goes in.

Law: `produces.rule` says how, `produces.roles` which argument plays which part; nothing is known here of any executor.
Only arguments written in the plan say anything: where a reference decides the names of fields, nothing is known but
what the contract declares. A field is certain here only if every run that succeeds makes it.

| rule | roles | an entry made |
|---|---|---|
| pick | `fields`, `rename` | those fields of the entry, under their new names |
| group | `fields`, `measure`, `members` | the fields that a group shares, what the contract requires, figures of the measure, the members |
| join | `fields`, `second`, `second_fields`, `prefix` | the entry, with the fields of the second's that has the same key |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from metnos.checks.made import LIFTED_FIELD, list_of
from metnos.checks.shapes import ANY, Alternative, Shape, is_list, is_object, record, simple, union
from metnos.checks.walk import walk
from metnos.plan.references import Key
from metnos.values.expressions import Expression, Literal_

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from metnos.checks.bound import Bound

UNDECIDED = object()
"""An argument whose value a reference brings."""
NULL = simple("null")
OPEN = Alternative("object", extra=ANY, extra_declared=True)
"""An object of which nothing is certain."""


class Call:
    """One call of a transform: its arguments as far as the plan says them, and what goes in."""

    def __init__(self, bound: Bound, values: Mapping[str, Expression], entry: Shape, second: Shape) -> None:
        """`second`: an entry of the second collection; `ANY` where there is none."""
        assert bound.contract.produces is not None
        self.bound = bound
        self.values = values
        self.entry = entry
        self.second = second
        self.roles = bound.contract.produces.roles
        self.outer = bound.contract.produces.outer

    def said(self, argument: str | None) -> Any:
        """What an argument is: a literal, its default, None, or `UNDECIDED`."""
        if argument is None:
            return None
        value = self.values.get(argument)
        if value is None:
            return self.bound.defaults.get(argument)
        return value.data if isinstance(value, Literal_) else UNDECIDED

    def names(self, role: str) -> list[str] | None:
        """Names of fields, where the plan writes them all."""
        said = self.said(self.roles.get(role))
        found: list[Any] = [said] if isinstance(said, str) else said if is_list(said) else []
        return found if found and all(isinstance(name, str) for name in found) else None

    def value(self, name: str) -> Shape:
        """The value of a field that every entry made has: null where its absence is passed on as null."""
        walked = walk(self.entry, (Key(name),), False)
        certain = walked.lost is None and not walked.gaps
        if certain or self.missing in ("error", "drop"):
            return walked.shape
        return union([walked.shape, NULL])

    @property
    def missing(self) -> Any:
        """What is done about an absent field."""
        argument = self.bound.contract.missing_arg
        return "error" if argument is None else self.said(argument)


def shape_made(call: Call, declared: Shape) -> Shape | None:
    """The shape of an entry that is made.

    Args:
        call: The call.
        declared: What the contract's result schema says of it.

    Returns:
        The shape, or None where no more is known than what is declared.
    """
    produces = call.bound.contract.produces
    rule = None if produces is None or not produces.roles else RULES.get(produces.rule)
    return None if rule is None else rule(call, declared)


def _picked(call: Call, _declared: Shape) -> Shape | None:
    names = call.names("fields")
    rename: Any = call.said(call.roles.get("rename"))
    rename = {} if rename is None else rename
    if names is None or not is_object(rename):
        return None
    return record({str(rename.get(name, name)): call.value(name) for name in names})


def _grouped(call: Call, declared: Shape) -> Shape | None:
    names = call.names("fields")
    objects = declared.only("object")
    if names is None or len(objects) != 1:
        return None
    fields = dict(objects[0].fields)
    required = set(objects[0].required)
    members = call.said(call.roles.get("members"))
    fields.pop(LIFTED_FIELD, None)
    figures = fields.keys() - required
    if call.said(call.roles.get("measure")) is None:
        for name in figures:
            del fields[name]
    elif call.missing in ("error", "drop") and call.said(call.roles.get("measure")) is not UNDECIDED:
        required |= figures
    if members:
        fields[LIFTED_FIELD] = list_of(call.entry)
        required |= {LIFTED_FIELD} if members is not UNDECIDED else set[str]()
    fields |= {name: call.value(name) for name in names}
    return Shape((Alternative("object", fields=fields, required=frozenset(required.union(names)), listed=True),))


def _joined(call: Call, _declared: Shape) -> Shape | None:
    keys = call.names("second_fields") or call.names("fields")
    prefix = call.said(call.roles.get("prefix"))
    left = _only_object(call.entry)
    if keys is None or not isinstance(prefix, str) or call.said(call.roles.get("second_fields")) is UNDECIDED:
        keys, right = [], OPEN
    else:
        right = _only_object(call.second)
    outer = any(call.said(name) in (value, UNDECIDED) for name, value in call.outer.items())
    fields = dict(left.fields)
    required = set(left.required)
    for name, shape in right.fields.items():
        if name in keys:
            continue
        given = union([shape, NULL]) if outer else shape
        certain = name in right.required and not outer
        theirs = left.fields.get(name, left.extra)
        if name not in left.required:
            _add(fields, name, given if theirs is None else union([theirs, given]))
        if theirs is not None:
            _add(fields, f"{prefix}{name}", given)
        if certain and (theirs is None or name in left.required):
            required.add(name if theirs is None else f"{prefix}{name}")
    if right.extra is None and left.extra is None:
        return Shape((Alternative("object", fields=fields, required=frozenset(required), listed=True),))
    if right.extra is not None:  # any field that is not certain may be one of the second's
        fields = {name: shape if name in required else ANY for name, shape in fields.items()}
    declared = left.extra_declared or right.extra_declared or not (left.listed and right.listed)
    made = Alternative(
        "object", fields=fields, required=frozenset(required), extra=ANY, listed=True, extra_declared=declared
    )
    return Shape((made,))


def _add(fields: dict[str, Shape], name: str, shape: Shape) -> None:
    """One more shape that a field may have."""
    fields[name] = union([fields[name], shape]) if name in fields else shape


def _only_object(shape: Shape) -> Alternative:
    return shape.of[0] if len(shape.of) == 1 and shape.of[0].kind == "object" else OPEN


RULES: dict[str, Callable[[Call, Shape], Shape | None]] = {"pick": _picked, "group": _grouped, "join": _joined}
