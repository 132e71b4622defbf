"""The times of a request: lengths, days, instants, spells, and which side of them is meant.

Law: nothing here that the request does not say, in the forms of the conversions of the cache.
"""

from __future__ import annotations

import re
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from metnos.cache.generalise.conversions import CONVERSIONS, REFERENCES, convert
from metnos.propose.decode.choices import Value, unique
from metnos.propose.decode.dated import DURING, YEARS
from metnos.propose.decode.endings import is_ending, is_table
from metnos.propose.decode.naming import Names
from metnos.values.runtime import PERIODS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metnos.request.model import Slot

CHANGED: Final = "changed"
"""Words that speak of when a file was changed (`mentions.toml`)."""
UNITS: Final = ("weeks", "days", "hours", "minutes", "seconds")
"""In which a length of time may be a whole number."""
_MONTHS = re.compile(r"P(?:(\d+)Y)?(?:(\d+)M)?")


class Times(Names):
    """The times of one request."""

    @cached_property
    def durations(self) -> tuple[Value, ...]:
        """Lengths of time as whole numbers of weeks, days, hours, minutes and seconds."""
        found = [convert(unit, slot, self.request.language) for slot in self.of({"duration"}) for unit in UNITS]
        return unique(Value(each) for each in found if isinstance(each, int))

    @cached_property
    def times(self) -> tuple[Value, ...]:
        """Instants and days: ends of the periods that were said, dates; an age is the day so long ago."""
        return unique(Value(each) for slot in self.slots for each in self.times_of(slot))

    def times_of(self, slot: Slot) -> Iterator[Any]:
        language = self.request.language
        if slot.kind == "period":
            names = ("first.start", "last.end", "first.end", "last.start")
        elif slot.kind == "date":
            names = ("as-date", "value", "next-day", "midnight", "next-midnight")
        elif slot.kind == "duration":
            days = convert("days", slot, language) or _long_days(str(slot.value))
            if isinstance(days, int) and days <= PERIODS["day"]:
                yield f"${{RUNTIME:day-{days}.start}}"
            return
        elif slot.start in self._years:
            yield from self._years[slot.start]
            return
        else:
            return
        made = {name: convert(name, slot, language) for name in names if name in REFERENCES or name in CONVERSIONS}
        yield from (made["as-date"],) if made.get("as-date") else (each for each in made.values() if _is_time(each))

    @cached_property
    def spells(self) -> tuple[tuple[Value, Value], ...]:
        """First instant and end of each period and day that was said, unless the request only says before or since it."""
        found: list[tuple[Value, Value]] = []
        for slot in self.slots:
            names = ("first.start", "last.end") if slot.kind == "period" else ("value", "next-day")
            if slot.kind in ("period", "date"):
                start, end = (convert(name, slot, self.request.language) for name in names)
                if _is_time(start) and _is_time(end):
                    found.append((Value(start), Value(end)))
        return (*found, *((Value(start), Value(end)) for start, end in self._years.values()))

    @cached_property
    def _years(self) -> dict[int, tuple[str, str]]:
        """Where a year stands that says when files were changed → its first day and that of the next: behind a word of time or
        place, in a request that speaks of files and names no table.
        """
        files = any(word.key in self.lexicon.file_nouns or is_ending(word.text) for word in self.words)
        files = files or any(self.of({"glob"}))
        if not files or any(is_table(slot.value) for slot in self.of({"path", "name"})):
            return {}
        before = {after.start: word for word, after in pairwise(self.words)}
        return {
            slot.start: (f"{slot.value}-01-01", f"{slot.value + 1}-01-01")
            for slot in self.of({"integer"})
            if slot.value in YEARS
            and (word := before.get(slot.start)) is not None
            and any(self.speaks(word, name) for name in (DURING, "since", "before", "until"))
            and any(self.speaks(each, CHANGED) for each in self.words)
        }

    @cached_property
    def sides(self) -> tuple[tuple[Value, ...], tuple[Value, ...]] | None:
        """What may stand alone as a beginning and as an end, where one period or day was said: "since" it begins with it, "after"
        it at its end; "before" it ends where it begins, "until" it with it; what was "not" done since then was done before.
        None: the words do not make it sure.
        """
        if len(self.spells) != 1 or len(self.times) > len(set(self.spells[0])):
            return None
        ((start, end),) = self.spells
        since, before = self.mentions("since"), self.mentions("before")
        if self.mentions("reversed"):
            return ((), (start,)) if since else None
        if since == before:
            return None
        if since:
            return (end if self.mentions("after") else start,), ()
        return (), (end if self.mentions("until") else start,)

    @cached_property
    def one_sided(self) -> tuple[bool, bool]:
        """Whether a time may stand alone as a beginning, and as an end: as it is said; an age as one of the two at least.

        Where neither side of an age was said, nothing is done to what lies on one of them.
        """
        if any(slot.kind == "duration" for slot in self.slots):
            older, younger = self.mentions("older"), self.mentions("younger")
            if self.mentions("ago") and self.mentions("longer") != self.mentions("shorter"):
                return self.mentions("shorter"), self.mentions("longer")
            if older == younger:
                known = older or not self.acts
                return known, known
            return younger, older
        bare = bool(self.times) and not self.spells
        return bare or self.mentions("since"), bare or self.mentions("before")


def _long_days(duration: str) -> int:
    """Days of months and years, of which each is taken for 30 and 365; 0: it is no such duration."""
    found = _MONTHS.fullmatch(duration)
    return 365 * int(found[1] or 0) + 30 * int(found[2] or 0) if found else 0


def _is_time(value: Any) -> bool:
    return isinstance(value, str) and bool(re.match(r"\d{4}-\d\d-\d\d|\$\{RUNTIME:", value))
