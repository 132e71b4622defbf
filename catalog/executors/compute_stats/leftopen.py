"""A column that nobody named: the one that holds numbers, or a choice among those that do.

Law: nothing is guessed. Where several columns could be meant the call fails, and leaves them to a person. The same file
lies beside every executor that takes `*` for a column; a test holds them equal.
"""

from __future__ import annotations

from typing import Any

from metnos.sdk import Option, Result

OPEN = "*"
"""Instead of a column's name; a column that is really called so is meant itself."""
MOST = 20
"""Columns that are offered."""


def is_open(name: str | None, entries: list[dict[str, Any]]) -> bool:
    """Whether a column is left open."""
    return name == OPEN and not any(OPEN in entry for entry in entries)


def number_column(entries: list[dict[str, Any]], argument: str) -> str | Result:
    """The only column whose values are numbers; or the failure that leaves a choice.

    Args:
        entries: All of them: a column with one value of another type is none.
        argument: That names the column.
    """
    names = list(dict.fromkeys(name for entry in entries for name in entry))
    found = [name for name in names if _is_numbers([entry.get(name) for entry in entries])]
    if len(found) == 1 or not names:
        return found[0] if found else OPEN
    said = f"these columns hold numbers: {', '.join(found[:MOST])}" if found else "no column holds numbers only"
    hint = f"name one of {', '.join((found or names)[:MOST])}"
    options = tuple(Option(key="column", args={argument: name}) for name in found[:MOST])
    return Result.failed("data", "column-open", f"which column is not said; {said}", hint=hint, options=options)


def _is_numbers(values: list[Any]) -> bool:
    given = [value for value in values if value is not None]
    return bool(given) and all(isinstance(value, int | float) and not isinstance(value, bool) for value in given)
