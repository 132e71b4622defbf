"""A length of time that is a number of a table: "more than 35 hours", where a table that is named has a column `hours`.

Law: only where the header says so. Then the number is said, and the unit is a word like any other, which names the column.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import msgspec

from metnos.propose.decode.endings import is_table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from metnos.propose.decode.heads import Heads
    from metnos.request.model import Slot

_COUNTED: Final = re.compile(r"(\d{1,15})\s+(\w+)")


def of_columns(slots: Iterable[Slot], heads: Heads | None) -> dict[int, Slot]:
    """Where a length of time begins → the number in it, for those whose unit is a column."""
    slots = tuple(slots)
    tables = [slot.value for slot in slots if slot.kind in ("path", "name", "quoted") and is_table(slot.value)]
    found: dict[int, Slot] = {}
    if heads is None or not tables:
        return found
    for slot in slots:
        parts = _COUNTED.fullmatch(slot.text) if slot.kind == "duration" else None
        if parts is not None and any(heads.columns(str(table), (parts[2],)) for table in tables):
            end = slot.start + len(parts[1])
            found[slot.start] = msgspec.structs.replace(
                slot, kind="integer", end=end, text=parts[1], value=int(parts[1])
            )
    return found
