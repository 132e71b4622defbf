"""What came to the machine and to its inputs later, so that logs of before stay what they were.

Law: a log is never written anew. So

1. A field that an input or a command (or a struct inside one) gets after release 0.1 has `msgspec.UNSET` for a default: not given is
   not written, a body of before is read as it is and gives its own bytes again, and the machine takes it for what was
   before. It has its line in `ADDED`; a test holds the list of what was there at 0.1 against the code.
2. Where the machine is to *behave* in another way, the new way has a line in `FLAGS`, and only a turn whose `TurnOpened`
   names it goes that way. A turn that names none behaves as ever, record by record.
3. A flag, or a level of it, that this version does not know is refused: nobody can tell what it meant.

    >>> level({"of-another-version": 1}, "of-another-version")
    Traceback (most recent call last):
    KeyError: 'of-another-version'
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import UNSET

if TYPE_CHECKING:
    from collections.abc import Mapping

    from msgspec import UnsetType

ADDED: Final[dict[str, dict[str, int]]] = {
    "TurnOpened": {"logic": 1},
    "PlanProposed": {"unsure": 1, "acts": 1},
    "DialogAnswered": {"by": 1},
    "OpenDialog": {"guess": 1},
}
"""Struct → field that it got after 0.1 → the level of logic at which it came (counted up by one, release by release)."""

GOES_ON: Final = "goes_on"
"""A model's plan may come without an end; when its steps are over, the next one is asked for (`turn.resting`)."""

FLAGS: Final[dict[str, int]] = {
    GOES_ON: 1,
}
"""Flag → the highest level of it that this version knows; a turn without it is at level 0."""


def level(logic: Mapping[str, int] | UnsetType, flag: str) -> int:
    """At which level of `flag` a turn runs; 0: as before there was one.

    Raises:
        KeyError: there is no such flag in this version; a fault of whoever asks.
    """
    known = FLAGS[flag]
    return 0 if logic is UNSET else min(logic.get(flag, 0), known)


def unknown(logic: Mapping[str, int] | UnsetType) -> str:
    """The first flag of a turn that this version does not know, or knows only at lower levels; empty: none."""
    if logic is UNSET:
        return ""
    return next((flag for flag, at in sorted(logic.items()) if not 0 < at <= FLAGS.get(flag, 0)), "")
