"""What is told of a gold plan that was rejected: its faults in the order of their places, and the line of the first.

Law: a fault of the conversion is a fault of the plan, and speaks for its place; the validator's are beside it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metnos.plan.diagnostics import Diagnostic


def all_faults(converting: Sequence[Diagnostic], checking: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Every fault of a plan, in the order of their places.

    Args:
        converting: What could not be converted.
        checking: What the validator found in the rest.
    """
    spoken = {fault.where for fault in converting}
    if "/steps" in spoken:
        return list(converting)  # there was nothing to validate
    return sorted([*converting, *(fault for fault in checking if fault.where not in spoken)], key=_place)


def told(faults: Sequence[Diagnostic], gold: str) -> dict[str, Any]:
    """The line of what was rejected: its first fault, the others under `more`; `gold` is its place in the record."""
    first, *more = faults
    line: dict[str, Any] = {
        "code": first.code,
        "where": first.where,
        "gold": gold,
        "found": first.found,
        "expected": first.expected,
    }
    return {**line, "more": [f"{fault.code} {fault.where}" for fault in more]} if more else line


def _place(fault: Diagnostic) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in fault.where.split("/")]
