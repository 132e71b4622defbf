"""Months and years by which a request says which rows of a table: "the expenses of September", "orders in 2025".

Law: they are looked for only where a column holds nothing but days (ISO 8601), as the beginning or a part of one, so that the
plan holds what the request says in that spelling: `2026-09-`, `-09-`, `2025-`. "Before", "since" and the like are none; two
months are a span that nobody can write so, and then there is none.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from metnos.propose.decode.said import Said, Spoken

DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ].*)?")
"""A cell of a column of days."""
PART: Final = re.compile(r"(?:[0-9]{4}-|-)(?:[0-9]{2}-)?")
"""What may be looked for in such cells."""
DURING: Final = "during"
"""Words that a month or a year stands behind (`mentions.toml`)."""
BEGINS: Final = "starts_with"
HOLDS: Final = "contains"
YEARS: Final = range(1900, 2100)


class Dated(NamedTuple):
    """A month or a year of the request."""

    start: int
    end: int
    text: str
    """The part of a day that it is."""
    op: str


def dated(said: Said, words: Sequence[Spoken]) -> tuple[Dated, ...]:
    """What the request says: one month or year, or none."""
    found = tuple(_dated(said, words))
    return found if len({each.text for each in found}) == 1 else ()


def _dated(said: Said, words: Sequence[Spoken]) -> Iterator[Dated]:
    months = said.lexicon.times.months
    years = {slot.start: slot for slot in said.slots if slot.kind == "integer" and slot.value in YEARS}
    last = -1
    for before, word, after in zip(words, words[1:], [*words[2:], None], strict=False):
        if not (before.free and said.speaks(before, DURING)) and not _is_named(said, before, word):
            continue
        name = next((slot for slot in said.slots if slot.kind in ("path", "name") and slot.start == word.start), None)
        year = years.get(after.start) if after is not None and word.free else None
        if word.free and word.key in months:
            last = year.end if year is not None else word.end
            yield _month(word.start, last, months[word.key], "" if year is None else str(year.value))
        elif word.start in years and word.start > last:
            yield Dated(word.start, word.end, f"{word.text}-", BEGINS)
        elif name is not None and word.text.casefold() in months and _is_no_name(said, name.text):
            last = name.end
            yield _month(name.start, last, months[word.text.casefold()], "".join(name.text.split()[1:]))


def _month(start: int, end: int, month: int, year: str) -> Dated:
    return Dated(start, end, f"{year}-{month:02}-", BEGINS if year else HOLDS)


def _is_no_name(said: Said, text: str) -> bool:
    """Whether what was read as a name is a month, with its year or without, and nothing of that name is there."""
    rest = text.split()[1:]
    year = not rest or (len(rest) == 1 and rest[0].isdecimal() and int(rest[0]) in YEARS)
    return year and said.there is not None and not said.there(text)


def _is_named(said: Said, before: Spoken, word: Spoken) -> bool:
    """Whether a word that is nothing but a month stands behind an article."""
    known, article = said.lexicon.words.get(word.key), said.lexicon.words.get(before.key)
    return word.free and known is None and before.free and article is not None and "article" in article.roles
