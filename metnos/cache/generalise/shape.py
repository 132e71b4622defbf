"""Shapes of values: what of a value may decide which tool or which argument a plan has.

Law: two values of one shape are exchangeable in a plan; for two of different shapes that must have been seen. A file's
ending is in its shape ("report.csv" is read by another executor than "report.txt"), so is a name that tells sibling
executors apart. What no plan could depend on is left out, or nothing would ever be served.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from metnos.contracts.catalog import Catalog
from metnos.request.model import Slot

if TYPE_CHECKING:
    from collections.abc import Collection

_WORDS = re.compile(r"[^\W_]+")
_ENDING = re.compile(r"(?<=[^/.])\.[^\W_]{1,10}\Z")
_SIMPLE = re.compile(r"\*\.[^\W_]+")


def words_of(text: str) -> tuple[str, ...]:
    """Runs of letters and digits, case folded."""
    return tuple(_WORDS.findall(text.casefold()))


def apart_words(plan: dict[str, Any], catalog: Catalog) -> tuple[str, ...]:
    """Words in the names of all executors that do what the plan's steps do."""
    found: set[str] = set()
    for step in plan["steps"]:
        contract = catalog.get(step["tool"])
        if contract is not None:
            siblings = [other.name for family in contract.families for other in catalog.in_family(family)]
            found.update(word for name in siblings for word in words_of(name))
    return tuple(sorted(found))


def shape_of(slot: Slot, apart: Collection[str], *, effects: bool) -> str:
    """The shape of a slot's value; equal shapes are exchangeable.

    Args:
        slot: The slot.
        apart: What `apart_words` says of the plan.
        effects: Whether the plan has effects: then it counts too whether a path goes through folders.
    """
    value = slot.value
    if slot.items:
        return f"{len(slot.items)}: " + ", ".join(shape_of(item, apart, effects=effects) for item in slot.items)
    if slot.kind == "date":
        # A date of the calendar, one of every year, one that counts from today: another argument for each.
        mark = "iso" if value[:1].isdigit() else "yearly" if value[:1] == "-" else "relative"
    elif slot.kind == "address":
        mark = "plain"  # Whose it is decides nothing; ".com" is no ending of a file.
    elif slot.kind == "url":
        mark = _text_marks(value.partition("://")[2].partition("/")[2], effects=False)
    elif isinstance(value, str):
        mark = _glob_marks(value) if slot.kind == "glob" else _text_marks(value, effects=effects)
    else:
        # "1 file" and "0 files" are other questions than "7 files".
        mark = str(value) if value in {0, 1} else "n"
        if slot.kind == "size" and "".join(filter(str.isdigit, slot.text)) == str(value):
            mark = "bytes"  # The number that was said is the value: which of them the plan took shows elsewhere.
    if not apart:
        return mark
    both = slot.text if value == slot.text else f"{value} {slot.text}"  # nothing is said twice by saying it again
    named = {word for word in words_of(both) if word in apart}
    return " ".join([mark, *sorted(named)]) if named else mark


def _glob_marks(glob: str) -> str:
    if _SIMPLE.fullmatch(glob):
        return "simple"
    return "path" if "/" in glob else "name"


def _text_marks(text: str, *, effects: bool) -> str:
    marks = "plain"
    if "." in text:
        ending = _ENDING.search(text)
        marks = ending[0].casefold() if ending else marks
        if any(part.startswith(".") and part.strip(".") for part in text.split("/")):
            marks += " hidden"
    if effects and "/" in text:
        marks += " folder/" if text.endswith("/") else " folder"
    return marks
