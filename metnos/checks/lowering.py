"""`from_step` and `from_steps` made plain: a reference in the argument that the contract names, or a lifted step.

Law: lowering follows the consumer's contract (`consumes.into`, one or many, kinds) and the producer's
(`produces.field`). A transform that takes single entries runs once per entry. Where the person named the input in
words, those words are used and the step number is dropped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from metnos.checks.arguments import report_misfit
from metnos.checks.fits import misfit
from metnos.checks.made import Made
from metnos.checks.scope import Reading, Scope, collection_path, listed
from metnos.checks.shapes import ANY, Shape, array_of, union
from metnos.checks.tables import FROM_STEP, FROM_STEPS
from metnos.contracts.kinds import accepts, reader_for
from metnos.plan.references import ItemTarget, Reference, StepTarget
from metnos.values.expressions import Concat, Expression, Ref

if TYPE_CHECKING:
    from metnos.checks.bound import Bound
    from metnos.contracts.model import Consumes, Contract

ITEM = Ref(Reference(ItemTarget()))


class Lowered(msgspec.Struct, frozen=True, eq=False):
    """What became of `from_step` / `from_steps`."""

    value: Expression | None = None
    """What fills `consumes.into`; None: it was dropped, or is at fault."""
    for_each: Expression | None = None
    """Set where the step is lifted."""
    fills: bool = False
    """The argument counts as given, be it at fault or not."""
    kind: str | None = None
    entry: Shape = ANY


DROPPED = Lowered()


def lower(scope: Scope, bound: Bound | None, args: dict[str, Any], where: str) -> Lowered:
    """Lower one step's arguments; faults are reported at `…/from_step`.

    Args:
        scope: The scope, entered for this step.
        bound: The consumer; None: its tool is unknown, so only the numbers are checked.
        args: Arguments as written.
        where: JSON pointer of `args`.
    """
    if FROM_STEP in args:
        return _lower(scope, bound, args, [(args[FROM_STEP], f"{where}/{FROM_STEP}")], f"{where}/{FROM_STEP}")
    steps = args[FROM_STEPS]
    if not isinstance(steps, list) or not steps:
        return Lowered(fills=True)  # a fault of form, reported by the reader
    places: list[tuple[Any, str]] = [(step, f"{where}/{FROM_STEPS}/{index}") for index, step in enumerate(steps)]
    return _lower(scope, bound, args, places, f"{where}/{FROM_STEPS}")


def said_in_words(contract: Contract, args: dict[str, Any]) -> bool:
    """Whether the input that `from_step` would fill was given by another argument."""
    if contract.consumes is None:
        return False
    into = contract.consumes.into
    return into in args or any(into in group and any(name in args for name in group) for group in contract.requires_one_of)


def _lower(scope: Scope, bound: Bound | None, args: dict[str, Any], places: list[tuple[Any, str]], whole: str) -> Lowered:
    numbers: list[tuple[int, str]] = []
    for step, where in places:
        number = scope.position(step, where) if type(step) in (int, str) else None
        if number is not None:
            numbers.append((number, where))
    if bound is None:
        return Lowered(fills=True)
    consumes = bound.contract.consumes
    if consumes is None:
        scope.fault("nothing-consumed", whole, f"`{bound.contract.name}` takes no collection",
                    f"one of its arguments: {listed(bound.args)}", "write a reference into the argument")
        return Lowered(fills=True)
    if said_in_words(bound.contract, args):
        return DROPPED
    sources = [(number, scope.made[number - 1], where) for number, where in numbers]
    good = [_acceptable(scope, consumes, made, where) for _, made, where in sources]
    if not all(good) or len(good) < len(places):
        return Lowered(fills=True)
    wanted = bound.args.get(consumes.into, ANY)
    if whole.endswith(FROM_STEPS):
        return _concatenate(scope, bound, consumes, wanted, sources)
    number, made, where = sources[0]
    return _hand_over(scope, bound, consumes, wanted, number, made, where)


def _acceptable(scope: Scope, consumes: Consumes, made: Made, where: str) -> bool:
    """Whether the step makes something, of a kind that the consumer takes."""
    if not made.known:
        return False
    if made.field is None:
        scope.fault("nothing-produced", where, "a step that makes no collection", "a step that makes one",
                    "refer to a field of its result instead")
        return False
    if made.kind is not None and not accepts(consumes.kinds, made.kind):
        reader = reader_for(made.kind, consumes.kinds)
        hint = f"insert `{reader}` between the two" if reader else ""
        scope.fault("kind-mismatch", where, made.kind, listed(consumes.kinds), hint)
        return False
    return True


def _refer(scope: Scope, number: int, made: Made, where: str) -> Reference:
    reference = Reference(StepTarget(number), collection_path(made) or ())
    scope.read(reference, where)  # the step must run, and this one waits for it
    return reference


def _hand_over(
    scope: Scope, bound: Bound, consumes: Consumes, wanted: Shape, number: int, made: Made, where: str
) -> Lowered:
    reference = _refer(scope, number, made, where)
    lift = made.many and not consumes.many
    given = array_of(made.entry) if made.many and not lift else made.entry
    wrong = misfit(given, wanted, from_lenient=made.lenient, to_lenient=bound.contract.lenient)
    if wrong is not None:
        report_misfit(scope, wrong, where)
        return Lowered(fills=True)
    if lift:
        scope.item = Reading(made.entry, made.lenient)
        return Lowered(ITEM, Ref(reference), True, made.kind, made.entry)
    return Lowered(Ref(reference), None, True, made.kind, made.entry)


def _concatenate(
    scope: Scope, bound: Bound, consumes: Consumes, wanted: Shape, sources: list[tuple[int, Made, str]]
) -> Lowered:
    references: list[Reference] = []
    sound = True
    for number, made, where in sources:
        if not made.many:
            scope.fault("no-collection", where, f"step {number} makes a single {made.kind or 'value'}", "a collection")
            sound = False
            continue
        references.append(_refer(scope, number, made, where))
        given = array_of(made.entry) if consumes.many else made.entry
        wrong = misfit(given, wanted, from_lenient=made.lenient, to_lenient=bound.contract.lenient)
        if wrong is not None:
            report_misfit(scope, wrong, where)
            sound = False
    if not sound:
        return Lowered(fills=True)
    kinds = {made.kind for _, made, _ in sources}
    kind = kinds.pop() if len(kinds) == 1 else None
    entry = union([made.entry for _, made, _ in sources])
    joined = Concat(tuple(references))
    if consumes.many:
        return Lowered(joined, None, True, kind, entry)
    scope.item = Reading(entry, any(made.lenient for _, made, _ in sources))
    return Lowered(ITEM, joined, True, kind, entry)
