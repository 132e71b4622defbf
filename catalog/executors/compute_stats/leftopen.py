"""A column that nobody named: the one that holds numbers, or a choice among those that do.

Law: nothing is guessed. Where several columns could be meant the call fails, and leaves them to a person. The same file
lies beside every executor that takes `*` for a column; a test holds them equal.
"""

from __future__ import annotations

import itertools
from typing import Any

from metnos.sdk import Option, Result

OPEN = "*"
"""Instead of a column's name; a column that is really called so is meant itself."""
MOST = 20
"""Columns that are offered."""
FEWEST = 3
"""Rows of which can be told that a column only numbers them."""


def is_open(name: str | None, entries: list[dict[str, Any]]) -> bool:
    """Whether a column is left open."""
    return name == OPEN and not any(OPEN in entry for entry in entries)


def number_column(entries: list[dict[str, Any]], argument: str) -> str | Result:
    """The only column whose values are numbers; or the failure that leaves a choice.

    Of several, one that only numbers the rows, each one more than the one before, is not meant.

    Args:
        entries: All of them: a column with one value of another type is none.
        argument: That names the column.
    """
    names = list(dict.fromkeys(name for entry in entries for name in entry))
    found = [name for name in names if _is_numbers([entry.get(name) for entry in entries])]
    found = [name for name in found if not _counts_on([entry.get(name) for entry in entries])] or found
    if len(found) == 1 or not names:
        return found[0] if found else OPEN
    said = f"these columns hold numbers: {', '.join(found[:MOST])}" if found else "no column holds numbers only"
    hint = f"name one of {', '.join((found or names)[:MOST])}"
    options = tuple(Option(key="column", args={argument: name}) for name in found[:MOST])
    return Result.failed("data", "column-open", f"which column is not said; {said}", hint=hint, options=options)


def _counts_on(values: list[Any]) -> bool:
    """Whether whole numbers only count the rows."""
    if len(values) < FEWEST or not all(isinstance(value, int) for value in values):
        return False
    return all(after - before == 1 for before, after in itertools.pairwise(values))


def _is_numbers(values: list[Any]) -> bool:
    given = [value for value in values if value is not None]
    return bool(given) and all(isinstance(value, int | float) and not isinstance(value, bool) for value in given)
