"""`from_step` and `from_steps` made plain: a reference in the argument that the contract names, or a lifted step.

Law: lowering follows the consumer's contract (`consumes.into`, one or many, kinds) and the producer's
(`produces.field`). A transform that takes single entries runs once per entry. Where the person named the input in
words, those words are used and the step number is dropped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from metnos.checks.arguments import report_misfit
from metnos.checks.fits import Misfit, misfit
from metnos.checks.made import Made, collection_reference, list_of
from metnos.checks.remembering import remembered
from metnos.checks.scope import Reading, Scope, listed
from metnos.checks.shapes import ANY, Shape, is_list, union
from metnos.checks.tables import FROM_STEP, FROM_STEPS
from metnos.contracts.kinds import accepts, reader_for
from metnos.plan.references import ItemTarget, Reference
from metnos.values.expressions import Concat, Expression, Ref

if TYPE_CHECKING:
    from metnos.checks.bound import Bound
    from metnos.contracts.model import Consumes

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
        number = args[FROM_STEP]
        place = f"{where}/{FROM_STEP}"
        if bound is not None and scope.is_earlier(number) and bound.words.isdisjoint(args) and FROM_STEPS not in args:
            made = scope.made[number - 1]
            if made.known and (lowered := _handed(bound, made, number)) is not None:
                return _taken(scope, made, lowered, number, place)
        return _lower(scope, bound, args, [(number, place)], place)
    steps = args[FROM_STEPS]
    if not is_list(steps) or not steps:
        return Lowered(fills=True)  # a fault of form, reported by the reader
    places: list[tuple[Any, str]] = [(step, f"{where}/{FROM_STEPS}/{index}") for index, step in enumerate(steps)]
    return _lower(scope, bound, args, places, f"{where}/{FROM_STEPS}")


@remembered
def _handed(bound: Bound, made: Made, number: int) -> Lowered | None:
    """The collection (or value) of step `number` handed to a consumer that takes it; None: it does not fit."""
    consumes = bound.contract.consumes
    if consumes is None or made.field is None or (made.kind is not None and not accepts(consumes.kinds, made.kind)):
        return None
    if _misfit(bound, consumes, made) is not None:
        return None
    given = Ref(collection_reference(number, made.field))
    if made.many and not consumes.many:
        return Lowered(ITEM, given, True, made.kind, made.entry)
    return Lowered(given, None, True, made.kind, made.entry)


def takes(bound: Bound, made: Made) -> bool:
    """Whether a step of `bound` may be handed by `from_step` what another step makes."""
    return made.known and _handed(bound, made, 1) is not None


def _misfit(bound: Bound, consumes: Consumes, made: Made) -> Misfit | None:
    wanted = bound.args.get(consumes.into, ANY)
    given = list_of(made.entry) if made.many and consumes.many else made.entry
    return misfit(given, wanted, from_lenient=made.lenient, to_lenient=bound.contract.lenient)


def _lower(
    scope: Scope, bound: Bound | None, args: dict[str, Any], places: list[tuple[Any, str]], whole: str
) -> Lowered:
    numbers: list[tuple[int, str]] = []
    for step, where in places:
        number = scope.position(step, where) if type(step) in (int, str) else None
        if number is not None:
            numbers.append((number, where))
    if bound is None:
        return Lowered(fills=True)
    consumes = bound.contract.consumes
    if consumes is None:
        scope.fault(
            "nothing-consumed",
            whole,
            f"`{bound.contract.name}` takes no collection",
            f"one of its arguments: {listed(bound.args)}",
            "write a reference into the argument",
        )
        return Lowered(fills=True)
    if not bound.words.isdisjoint(args):
        return DROPPED
    sources = [
        (number, scope.made[number - 1], where)
        for number, where in numbers
        if _acceptable(scope, consumes, scope.made[number - 1], where)
    ]
    if whole.endswith(FROM_STEPS):
        return _concatenate(scope, bound, consumes, sources, len(places))
    return _hand_over(scope, bound, consumes, *sources[0]) if sources else Lowered(fills=True)


def _acceptable(scope: Scope, consumes: Consumes, made: Made, where: str) -> bool:
    """Whether the step makes something, of a kind that the consumer takes."""
    if not made.known:
        return False
    if made.field is None:
        scope.fault(
            "nothing-produced",
            where,
            "a step that makes no collection",
            "a step that makes one",
            "refer to a field of its result instead",
        )
        return False
    if made.kind is not None and not accepts(consumes.kinds, made.kind):
        reader = reader_for(made.kind, consumes.kinds)
        hint = f"insert `{reader}` between the two" if reader else ""
        scope.fault("kind-mismatch", where, made.kind, listed(consumes.kinds), hint)
        return False
    return True


def _hand_over(scope: Scope, bound: Bound, consumes: Consumes, number: int, made: Made, where: str) -> Lowered:
    lowered = _handed(bound, made, number)
    if lowered is None:
        wrong = _misfit(bound, consumes, made)
        if wrong is not None:
            report_misfit(scope, wrong, where)
        return Lowered(fills=True)
    return _taken(scope, made, lowered, number, where)


def _taken(scope: Scope, made: Made, lowered: Lowered, number: int, where: str) -> Lowered:
    scope.wait_for(number, where)
    if lowered.for_each is not None:
        scope.item = Reading(made.entry, made.lenient)
    return lowered


def _concatenate(
    scope: Scope, bound: Bound, consumes: Consumes, sources: list[tuple[int, Made, str]], wanted: int
) -> Lowered:
    references: list[Reference] = []
    for number, made, where in sources:
        wrong = _misfit(bound, consumes, made)
        if not made.many:
            scope.fault("no-collection", where, f"step {number} makes a single {made.kind or 'value'}", "a collection")
        elif wrong is not None:
            report_misfit(scope, wrong, where)
        else:
            scope.wait_for(number, where)
            references.append(collection_reference(number, made.field or ""))
    if len(references) < wanted:
        return Lowered(fills=True)
    kinds = {made.kind for _, made, _ in sources}
    kind = kinds.pop() if len(kinds) == 1 else None
    entry = union([made.entry for _, made, _ in sources])
    joined = Concat(tuple(references))
    if consumes.many:
        return Lowered(joined, None, True, kind, entry)
    scope.item = Reading(entry, any(made.lenient for _, made, _ in sources))
    return Lowered(ITEM, joined, True, kind, entry)
