"""A column that nobody named: the one that holds numbers, or a choice among those that do.

Law: nothing is guessed. Where several columns could be meant the call fails, and leaves them to a person; beginnings of
words may say what such columns are called (`*: price, cost`), and if only one is called so it is meant. The same file lies
beside every executor that takes `*` for a column; a test holds them equal.
"""

from __future__ import annotations

import itertools
import re
from typing import Any

from metnos.sdk import Option, Result

OPEN = "*"
"""Instead of a column's name; a column that is really called so is meant itself."""
CALLED = "*: "
"""Before beginnings of words, apart by commas, that a column may be called by."""
MOST = 20
"""Columns that are offered."""
FEWEST = 3
"""Rows of which can be told that a column only numbers them."""


def is_open(name: str | None, entries: list[dict[str, Any]]) -> bool:
    """Whether a column is left open."""
    return (
        name is not None and (name == OPEN or name.startswith(CALLED)) and not any(name in entry for entry in entries)
    )


def number_column(entries: list[dict[str, Any]], argument: str, name: str = OPEN) -> str | Result:
    """The only column whose values are numbers; or the failure that leaves a choice.

    Of several, one that only numbers the rows, each one more than the one before, is not meant.

    Args:
        entries: All of them: a column with one value of another type is none.
        argument: That names the column.
        name: How it was left open.
    """
    names = list(dict.fromkeys(each for entry in entries for each in entry))
    found = [each for each in names if _is_numbers([entry.get(each) for entry in entries])]
    found = [each for each in found if not _counts_on([entry.get(each) for entry in entries])] or found
    called = [each for each in found if _is_called(each, name.removeprefix(CALLED).split(", "))]
    found = called if len(called) == 1 else found
    if len(found) == 1 or not names:
        return found[0] if found else OPEN
    said = f"these columns hold numbers: {', '.join(found[:MOST])}" if found else "no column holds numbers only"
    hint = f"name one of {', '.join((found or names)[:MOST])}"
    options = tuple(Option(key="column", args={argument: each}) for each in found[:MOST])
    return Result.failed("data", "column-open", f"which column is not said; {said}", hint=hint, options=options)


def _is_called(column: str, beginnings: list[str]) -> bool:
    """Whether a word of a column's name begins so."""
    words = re.split(r"[\W_]+", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", column).casefold())
    return any(word.startswith(each) for word in words for each in beginnings)


def _counts_on(values: list[Any]) -> bool:
    """Whether whole numbers only count the rows."""
    if len(values) < FEWEST or not all(isinstance(value, int) for value in values):
        return False
    return all(after - before == 1 for before, after in itertools.pairwise(values))


def _is_numbers(values: list[Any]) -> bool:
    given = [value for value in values if value is not None]
    return bool(given) and all(isinstance(value, int | float) and not isinstance(value, bool) for value in given)
