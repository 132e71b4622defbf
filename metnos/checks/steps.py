"""One step: its condition, its lowered input, its loop, every argument, its effect, and what it makes.

Law: the order of these is the order in which they may refer to one another. A fault in one does not hide another;
what is unknown because of a fault is taken to fit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from metnos.checks.arguments import check, shape_of, silently
from metnos.checks.bound import Bound, worst_effect
from metnos.checks.fields import check_field_names
from metnos.checks.lowering import DROPPED, Lowered, lower
from metnos.checks.made import ALWAYS, PASSED_ON, UNKNOWN, Made, lifted, passed_on
from metnos.checks.model import CheckedStep, Guardrail
from metnos.checks.ruled import Call, shape_made
from metnos.checks.scope import Reading, Scope, listed
from metnos.checks.shapes import ANY, Shape, elements
from metnos.checks.tables import FROM_STEP, FROM_STEPS, MAX_LITERAL
from metnos.plan.faults import did_you_mean
from metnos.plan.jsondata import pointer
from metnos.plan.spelling import ReferenceSyntax
from metnos.values.compile import compile_args
from metnos.values.expressions import DictOf, Expression, Literal_, Ref

if TYPE_CHECKING:
    from metnos.contracts.model import Contract
    from metnos.plan.model import Step

MISSPELLED = Literal_(None)
"""Stands for a value whose reference cannot be read; the reader has reported it."""


def check_step(scope: Scope, step: Step, bound: Bound | None, where: str) -> CheckedStep | None:
    """Check and compile one step; its result type is added to the scope.

    Returns:
        The bound step; None if its tool is unknown.
    """
    args = step.args
    guardrail = None if step.when is None else _when(scope, step, where)
    plain = args
    lowered = DROPPED
    if FROM_STEP in args or FROM_STEPS in args:
        plain = {name: value for name, value in args.items() if name not in (FROM_STEP, FROM_STEPS)}
        lowered = lower(scope, bound, args, f"{where}/args")
    for_each = lowered.for_each
    if step.for_each is not None:
        for_each = _for_each(scope, step, lowered, where)
    compiled = compile_all(scope, plain, f"{where}/args")
    if bound is None:
        for name, value in compiled.items():
            check(scope, value, ANY, pointer(f"{where}/args", name))
        scope.made.append(UNKNOWN)
        return None
    _arguments(scope, bound, compiled, lowered, f"{where}/args")
    effect = _effect(scope, step, bound, compiled, lowered, where)
    kind, entry = _consumed(scope, bound, compiled, lowered)
    if bound.contract.field_of_input and not entry.is_any:
        check_field_names(scope, bound, compiled, kind, entry, f"{where}/args")
    second = _second(scope, bound, compiled, f"{where}/args")
    call = Call(bound, compiled, entry, second) if bound.roles else None
    scope.made.append(_makes(scope, bound, call, kind, entry, lifts=for_each is not None))
    items = tuple(compiled.items())
    if lowered.value is not None and bound.contract.consumes is not None:
        items = (*items, (bound.contract.consumes.into, lowered.value))
    return CheckedStep(
        number=scope.number,
        contract=bound.contract,
        args=DictOf(items),
        for_each=for_each,
        when=guardrail,
        on_error=step.on_error,
        needs=frozenset(scope.needs),
        waits=frozenset(scope.waits),
        worst_effect=effect,
    )


def compile_all(scope: Scope, args: dict[str, Any], where: str) -> dict[str, Expression]:
    """Compile arguments, whose object stands at `where`; what cannot be read is replaced."""
    context = scope.context
    try:
        whole = compile_args(
            args, pointer=where, source=context.source, origins=context.origins, rename=scope.positions
        )
    except ReferenceSyntax:
        if len(args) == 1:
            return dict.fromkeys(args, MISSPELLED)
        return {name: compile_all(scope, {name: value}, where)[name] for name, value in args.items()}
    assert isinstance(whole, DictOf)
    return dict(whole.items)


# ------------------------------------------------------------------------------------------ when, for_each


def _when(scope: Scope, step: Step, where: str) -> Guardrail | None:
    assert step.when is not None
    nonempty = step.when.nonempty
    place = f"{where}/when/{'nonempty' if nonempty else 'empty'}"
    number = scope.position(step.when.step, place)
    if number is None:
        scope.runs_if = None  # unknown: nothing is said of steps that may be skipped
        return None
    made = scope.made[number - 1]
    if made.known and not made.many:
        scope.fault("no-collection", place, f"step {number} makes no collection", "a step that makes one")
    # A skipped step counts as empty: only `nonempty` says that the step has run, under its own conditions.
    inherited = (made.runs_if or ALWAYS) if nonempty else ALWAYS
    scope.runs_if = frozenset({(number, nonempty)}) | inherited
    scope.needs.add(number)
    scope.waits.add(number)
    return Guardrail(step=number, nonempty=nonempty)


def _for_each(scope: Scope, step: Step, lowered: Lowered, where: str) -> Expression | None:
    """What the step runs over; from here on `${item}` is an element of it."""
    place = f"{where}/for_each"
    if lowered.for_each is not None:
        scope.fault(
            "for-each-nested",
            place,
            "the step runs once per entry of `from_step` already",
            "one of the two",
            "hand the collection over by `for_each`, and `${item}` as the argument",
        )
        return lowered.for_each
    value = compile_all(scope, {"for_each": step.for_each}, where)["for_each"]
    if value is MISSPELLED:
        scope.item = Reading(ANY, lenient=True)
        return value
    if isinstance(value, Ref):
        reading = scope.read(value.reference, place)
        whole, lenient = reading.whole, reading.lenient
    else:
        check(scope, value, ANY, place)
        whole, lenient = shape_of(scope, value), False
    element = elements(whole)
    if element is None:
        scope.fault("for-each-not-list", place, whole.describe(), "a list")
    scope.item = Reading(ANY if element is None else element, lenient or element is None)
    return value


# ------------------------------------------------------------------------------------------ arguments


def _arguments(scope: Scope, bound: Bound, compiled: dict[str, Expression], lowered: Lowered, where: str) -> None:
    contract = bound.contract
    shapes = bound.args
    tokens = bound.tokens
    lenient = contract.lenient
    for name, value in compiled.items():
        shape = shapes.get(name)
        if shape is None:
            _unlisted(scope, bound, name, value, where)
            continue
        if type(value) is Literal_:
            data = value.data
            if value is MISSPELLED or (shape.exact is not None and type(data) in shape.exact and _is_small(data)):
                continue
        check(scope, value, shape, where + tokens[name], lenient=lenient)
    into = contract.consumes.into if lowered.fills and contract.consumes is not None else None
    for name in bound.required:
        if name not in compiled and name != into:
            expected = f"{name}: {shapes[name].describe()}" if name in shapes else name
            scope.fault("missing-argument", where, "", expected, _how_to_fill(contract, (name,)))
    for group in contract.requires_one_of:
        if into not in group and not any(name in compiled for name in group):
            scope.fault("missing-one-of", where, "", f"one of {', '.join(group)}", _how_to_fill(contract, group))


def _is_small(data: Any) -> bool:
    return type(data) is not str or len(data) <= MAX_LITERAL


def _unlisted(scope: Scope, bound: Bound, name: str, value: Expression, where: str) -> None:
    """An argument that the contract does not list: a fault, unless its schema declares further ones."""
    place = pointer(where, name)
    if bound.extra is None:
        known = bound.args
        scope.fault(
            "unknown-argument",
            place,
            name,
            f"arguments of `{bound.contract.name}`: {listed(known)}",
            did_you_mean(name, known),
        )
    if value is not MISSPELLED:
        check(scope, value, bound.extra or ANY, place, lenient=bound.contract.lenient)


def _how_to_fill(contract: Contract, names: tuple[str, ...]) -> str:
    if contract.consumes is None or contract.consumes.into not in names:
        return ""
    return "write it, or hand over a step's collection with `from_step`"


def _effect(
    scope: Scope, step: Step, bound: Bound, compiled: dict[str, Expression], lowered: Lowered, where: str
) -> Any:
    if bound.effect is not None:
        effect = bound.effect
    else:
        open_args = {name for name, value in compiled.items() if not isinstance(value, Literal_)}
        if lowered.fills and bound.contract.consumes is not None:
            open_args.add(bound.contract.consumes.into)
        effect = worst_effect(bound, step.args, open_args)
    if step.on_error == "continue" and effect != "read":
        scope.fault(
            "continue-with-effect",
            f"{where}/on_error",
            f"continue, for a step that may {effect}",
            "stop",
            "only a step that reads may fail and be passed over",
        )
    return effect


def _consumed(
    scope: Scope, bound: Bound, compiled: dict[str, Expression], lowered: Lowered
) -> tuple[str | None, Shape]:
    """Kind and shape of the entries that go in, whichever way they were handed over."""
    consumes = bound.contract.consumes
    if consumes is None:
        return None, ANY
    if lowered.fills:
        return lowered.kind, lowered.entry
    return _given(scope, compiled.get(consumes.into), many=consumes.many)


def _given(scope: Scope, value: Expression | None, *, many: bool) -> tuple[str | None, Shape]:
    """Kind and shape of the entries that an argument holds."""
    if value is None or value is MISSPELLED:
        return None, ANY
    if isinstance(value, Ref):
        made = scope.whole_of(value.reference)
        if made is not None:
            return made.kind, made.entry
        whole = silently(scope, value.reference).whole
    else:
        whole = shape_of(scope, value)
    return None, (elements(whole) or ANY) if many else whole


def _second(scope: Scope, bound: Bound, compiled: dict[str, Expression], where: str) -> Shape:
    """An entry of the second collection of a join; the names of its fields are checked."""
    roles = bound.roles
    if "second" not in roles:
        return ANY
    kind, entry = _given(scope, compiled.get(roles["second"]), many=True)
    fields = roles.get("second_fields", "")
    if not entry.is_any:
        argument = fields if fields in compiled else roles["fields"]
        check_field_names(scope, bound, compiled, kind, entry, where, (argument,))
    return entry


# ------------------------------------------------------------------------------------------ results


def _makes(scope: Scope, bound: Bound, call: Call | None, kind: str | None, entry: Shape, *, lifts: bool) -> Made:
    made = bound.made
    produces = bound.contract.produces
    if produces is not None and made.many and not entry.is_any:
        if produces.rule in PASSED_ON:
            made = passed_on(made, produces, kind, entry)
        elif call is not None and (shape := shape_made(call, made.entry)) is not None:
            made = passed_on(made, produces, kind if produces.rule == "join" else None, shape)
    if lifts:
        made = lifted(made)
    if scope.runs_if != ALWAYS:
        made = msgspec.structs.replace(made, runs_if=scope.runs_if)
    return made
