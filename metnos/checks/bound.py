"""A contract made ready for checking: shapes of its arguments and result, once per contract and never again.

Law: derived from the contract alone, so it may be shared by every plan that names it.
"""

from __future__ import annotations

from typing import Any

import msgspec

from metnos.checks.made import Made, made_by
from metnos.checks.shapes import Shape, is_object
from metnos.checks.shaping import compile_shape
from metnos.checks.tables import FROM_STEP, FROM_STEPS
from metnos.contracts.model import Contract
from metnos.plan.jsondata import pointer
from metnos.sdk import EFFECT_CLASSES, EffectClass


class Bound(msgspec.Struct, frozen=True, eq=False):
    """`contract`, compiled."""

    contract: Contract
    args: dict[str, Shape]
    required: tuple[str, ...]
    extra: Shape | None
    """Shape of arguments that are not listed, where the schema declares them; None: there are none."""
    defaults: dict[str, Any]
    result: Shape
    made: Made
    tokens: dict[str, str]
    """Argument → its token of a JSON pointer, `/name`."""
    words: frozenset[str]
    """Arguments that name the input in words, so that `from_step` is dropped."""
    roles: dict[str, str]
    """Which argument plays which part in what is made (`produces.roles`)."""
    effect: EffectClass | None
    """The one effect class, where no rule depends on an argument."""
    free: frozenset[str]
    """Arguments whose value is held against its own schema and decides nothing else (its JSON type may)."""


def bind(contract: Contract) -> Bound:
    """Compile a contract (its schemas were judged at admission)."""
    shape = compile_shape(contract.args)
    objects = shape.only("object")
    args = dict(objects[0].fields) if objects else {}
    declared = objects[0].extra_declared if objects else False
    result = compile_shape(contract.result)
    properties: dict[str, Any] = contract.args.get("properties", {})
    return Bound(
        contract=contract,
        args=args,
        required=tuple(contract.args.get("required", ())),
        extra=objects[0].extra if declared else None,
        defaults={name: each["default"] for name, each in properties.items() if is_object(each) and "default" in each},
        result=result,
        made=made_by(contract, result),
        words=frozenset(input_words(contract)),
        roles={} if contract.produces is None else contract.produces.roles,
        tokens={name: pointer("", name) for name in args},
        effect=contract.effects[0].effect if contract.effects[0].when is None else None,
        free=frozenset(args).difference(_deciding(contract)),
    )


def _deciding(contract: Contract) -> set[str]:
    """The arguments whose value says something of other arguments, of the effect, or of what is made."""
    found = {FROM_STEP, FROM_STEPS, *contract.field_of_input}
    if contract.missing_arg is not None:
        found.add(contract.missing_arg)
    if contract.produces is not None:
        found.update(contract.produces.roles.values(), contract.produces.outer)
    return found.union(*(rule.when or {} for rule in contract.effects))


def input_words(contract: Contract) -> set[str]:
    """The arguments by which a person names what `from_step` would hand over."""
    if contract.consumes is None:
        return set()
    into = contract.consumes.into
    return {into}.union(*(group for group in contract.requires_one_of if into in group))


def rank(effect: EffectClass) -> int:
    """0 for `read` … 5 for `execute`."""
    return EFFECT_CLASSES.index(effect)


def worst_effect(bound: Bound, args: dict[str, Any], open_args: frozenset[str] | set[str]) -> EffectClass:
    """The worst effect class still possible before the references are resolved.

    Args:
        bound: The contract.
        args: Arguments as written.
        open_args: Those that hold a reference, or are filled by `from_step`.
    """
    if bound.effect is not None:
        return bound.effect
    worst: EffectClass = "read"
    for rule in bound.contract.effects:
        certain = _holds(rule.when or {}, bound, args, open_args)
        if certain is False:
            continue
        worst = max(worst, rule.effect, key=rank)
        if certain:
            break
    return worst


def _holds(
    when: dict[str, Any], bound: Bound, args: dict[str, Any], open_args: frozenset[str] | set[str]
) -> bool | None:
    """Whether a rule's condition holds: True, False, or None where a reference decides."""
    certain: bool | None = True
    for name, wanted in when.items():
        if name in open_args:
            certain = None
        elif not _same(args.get(name, bound.defaults.get(name)), wanted):
            return False
    return certain


def _same(one: Any, other: Any) -> bool:
    return isinstance(one, bool) == isinstance(other, bool) and one == other
