"""Moments: what in a plan was true when it was made, and is another thing tomorrow.

Law: a plan that holds one is never kept, in no layer. A moment is a date or an instant that the person did not say
(so the clock did), in any of the forms of the table; and where the person named a day that counts from today, every
text of the plan that could hold that day worked out. What the request says itself may be kept.

| form | such as |
|---|---|
| ISO, slashed, dotted, run together | `2026-11-30`, `30/11/2026`, `30.11.26`, `20261130` |
| a year alone | `2026` |
| seconds or milliseconds of the epoch | `1796000000` |
| day and month in words | `30 November`, `Nov. 30` |
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from functools import lru_cache

from metnos.request.lexicon import lexicon_for
from metnos.request.model import Request, Slot

_DIGITS = re.compile(
    r"(?<![0-9])(?:"
    r"[0-9]{4}-[0-9]{2}(?:-[0-9]{2})?"
    r"|[0-9]{1,4}([/.])[0-9]{1,2}\1[0-9]{2,4}"
    r"|(?:19|20)[0-9]{2}(?:[01][0-9][0-3][0-9])?"
    r"|1[5-9][0-9]{8}(?:[0-9]{3})?"
    r")(?![0-9])"
)


def moments(request: Request, texts: Sequence[tuple[str, str]], held: Container[int]) -> Iterator[str]:
    """Pointers of the texts that hold a moment.

    Args:
        request: What was said.
        texts: (pointer, text) of what is no slot's in the plan.
        held: Slots that the plan holds as they were said, or as a reference to the runtime.
    """
    said = " ".join((request.text, *(str(slot.value) for slot in request.slots)))
    known = {found[0] for found in _found(said, request.language)}
    adrift = any(_is_relative(slot) and index not in held for index, slot in enumerate(request.slots))
    for place, text in texts:
        if adrift or any(found[0] not in known for found in _found(text, request.language)):
            yield place


def _is_relative(slot: Slot) -> bool:
    """Whether the slot means another day tomorrow."""
    return slot.kind == "period" or (slot.kind == "date" and not slot.value[:1].isdigit())


def _found(text: str, language: str) -> Iterator[re.Match[str]]:
    yield from _DIGITS.finditer(text)
    yield from _days(language).finditer(text.casefold())


@lru_cache(maxsize=8)
def _days(language: str) -> re.Pattern[str]:
    """A day beside the name of a month, in either order."""
    months = "|".join(sorted(map(re.escape, lexicon_for(language).times.months), key=lambda name: -len(name)))
    return re.compile(rf"\b[0-9]{{1,2}}\w*\.?\s+(?:\w+\s+)?(?:{months})\b|\b(?:{months})\.?\s+[0-9]{{1,2}}(?![0-9])")
