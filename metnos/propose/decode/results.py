"""What earlier steps have made that an argument may be given: figures, single values, collections.

Law: read from the shapes of results; what a step with an effect says, or one that may not run, is never offered. A
figure is text only where the request asks for a number: else what was found is rendered.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from metnos.checks.fits import misfit
from metnos.checks.shapes import Shape, is_scalar
from metnos.checks.walk import field_names, walk
from metnos.plan.notation import is_plain_name
from metnos.plan.references import Key
from metnos.propose.decode.choices import Value
from metnos.propose.decode.entry import TEXT

if TYPE_CHECKING:
    from metnos.propose.decode.offers import Offers
    from metnos.propose.decode.state import Sofar

GROUPS: Final = "group"
STATS: Final = "stats"
FIGURE: Final = "figure"
"""What a request speaks of that asks for a number (`mentions.toml`)."""


def figures(sofar: Sofar, offers: Offers) -> tuple[Value, ...]:
    """Single values of earlier readings, as a line of text."""
    # Where there are figures of groups, how many groups or rows there are in all says nothing of them.
    wanted = offers.mentions(FIGURE) and all(made.kind != GROUPS for made in sofar.made)
    found: list[Value] = []
    for number, name, shape, sure in scalars(sofar):
        asked = wanted and (sofar.made[number - 1].kind == STATS or offers.mentions(name))
        if shape.kinds == TEXT and sure:
            found.append(Value(f"${{step{number}.{name}}}"))
        elif shape.kinds <= {"integer", "number"} and asked:
            found.append(Value(f"${{step{number}.{name}{'' if sure else ' ?? 0'}}}\n"))
    return tuple(found)


def results(sofar: Sofar, kind: str) -> tuple[Value, ...]:
    """Single values of earlier steps, of one kind of JSON."""
    return tuple(
        Value(f"${{step{number}.{name}}}")
        for number, name, shape, sure in scalars(sofar)
        if sure and (kind in shape.kinds or shape.is_any)
    )


def scalars(sofar: Sofar) -> list[tuple[int, str, Shape, bool]]:
    """Step, field, shape, and whether it is always there."""
    found: list[tuple[int, str, Shape, bool]] = []
    for number, made in enumerate(sofar.made, start=1):
        if not made.known or sofar.effect(number) != "read" or made.runs_if:
            continue
        for name in field_names(made.data):
            walked = walk(made.data, (Key(name),), made.lenient)
            if walked.lost is None and is_scalar(walked.shape) and is_plain_name(name) and name != made.field:
                found.append((number, name, walked.shape, not walked.gaps))
    return found


def collections(sofar: Sofar, wanted: Shape) -> tuple[Value, ...]:
    """References to the collections that fit."""
    if wanted.is_any or not wanted.only("array"):
        return ()
    found: list[Value] = []
    for number, made in enumerate(sofar.made, start=1):
        if made.known and made.many and made.field and not made.runs_if:
            walked = walk(made.data, (Key(made.field),), made.lenient)
            if walked.lost is None and not walked.gaps and misfit(walked.shape, wanted) is None:
                found.append(Value(f"${{step{number}.{made.field}}}"))
    return tuple(found)
