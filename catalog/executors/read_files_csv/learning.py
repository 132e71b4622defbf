"""Which columns of text are numbers: nobody who asks about a table has to know it.

Law: pure. A column becomes numbers only where each of its cells that is not empty is one, and where the text could be
written back from the number: nothing that tells two cells apart may be lost by it. What could be read in two ways stays
text. An empty cell of such a column is null.

| stays text | why |
|---|---|
| `007`, `+39`, `-0` | a code, a telephone number; a zero has no sign |
| `1e5` | as often a code as a number |
| `1.9`, `1.10` | decimals of different lengths with a zero at an end count: editions, not amounts |
| `1,50` in a file cut by commas | as often a list |
| `1,234` and no other lengths | may be grouped; so may `1.234` in a file cut by semicolons, where a comma marks decimals |
| `1.234,50`, `1 234` | grouped digits, in no one way |
| more than 15 digits with decimals, 2^53 | beyond what JSON numbers hold |
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

PLAIN = re.compile(r"-?(0|[1-9]\d*)(?:([.,])(\d+))?", re.ASCII)
LARGEST = 2**53 - 1
MOST_DIGITS = 15
"""As many as every double keeps."""
GROUP = 3
"""Digits of a group."""


def learn(rows: list[dict[str, Any]], delimiters: Iterable[str], decimal: str | None) -> None:
    """Make the columns that are numbers so, in place.

    Args:
        rows: Of all files together: a column is one thing in all of them. Cells are text, or None where a row had none.
        delimiters: What the files were cut by.
        decimal: The only decimal mark that counts; None: whatever the files make sure.
    """
    cut = frozenset(delimiters)
    columns: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        for name in row:
            columns.setdefault(name, []).append(row)
    for name, holders in columns.items():
        column = _Column(cut, decimal)
        if all(column.takes(row[name]) for row in holders) and column.are_numbers:
            for row in holders:
                row[name] = _number(row[name])


class _Column:
    """What the cells of one column have in common."""

    def __init__(self, cut: frozenset[str], decimal: str | None) -> None:
        self.cut = cut
        self.decimal = decimal
        self.found = False
        self.mark = ""
        self.lengths: set[int] = set()
        """Digits behind the mark."""
        self.zero = False
        """A cell ends in a zero behind its mark."""
        self.grouped = True
        """Each cell with a mark might hold grouped digits instead."""

    def takes(self, cell: str | None) -> bool:
        """Whether the column may still be numbers with this cell in it."""
        text = cell.strip() if cell is not None else ""
        if not text:
            return True
        found = PLAIN.fullmatch(text)
        if found is None or (text[0] == "-" and not text.strip("-0.,")):
            return False
        self.found = True
        whole, mark, decimals = found.groups()
        if mark is None:
            return len(whole) <= len(str(LARGEST)) and int(whole) <= LARGEST
        self.mark = self.mark or mark
        self.lengths.add(len(decimals))
        self.zero = self.zero or decimals.endswith("0")
        self.grouped = self.grouped and len(decimals) == GROUP and len(whole) <= GROUP and whole != "0"
        return mark == self.mark and len(whole) + len(decimals) <= MOST_DIGITS and self._may_mark(mark)

    def _may_mark(self, mark: str) -> bool:
        if self.decimal is not None:
            return mark == self.decimal
        return mark == "." or "," not in self.cut

    @property
    def are_numbers(self) -> bool:
        """Whether they are, now that all cells were seen."""
        if not self.found or (self.zero and len(self.lengths) > 1):
            return False
        unsure = self.mark == "," or (self.mark == "." and ";" in self.cut)
        return not (unsure and self.grouped and self.decimal is None)


def _number(cell: str | None) -> int | float | None:
    text = cell.strip().replace(",", ".") if cell is not None else ""
    if not text:
        return None
    return float(text) if "." in text else int(text)
