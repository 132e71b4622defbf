"""Periods and dates: what is known by the calendar, and what stays symbolic until the runtime knows the day.

Law: no clock is read. A date with its year is ISO 8601; one without is `--MM-DD`; what counts from today stays as a
word of a closed list ("tomorrow", "next monday"). A period has the keys of the runtime. A day that no calendar has, or
that two customs read differently (03/04/2026 in English), is no date.
"""

from __future__ import annotations

import re
from datetime import date

from metnos.request.numbers import number_at, number_words
from metnos.request.sight import Found, Sight

_MOST_DAYS = 3660  # what `RUNTIME:day-N` reaches
_SLASHED = re.compile(r"([0-9]{1,2})([/.])([0-9]{1,2})\2([0-9]{4})")
_LEAP = 2000  # a day without its year may be the 29th of February
_WORDS_OF_DOUBT = frozenset(("modal", "verb"))
_BEFORE_A_DATE = frozenset(("preposition", "place"))


def iso_date(sight: Sight, at: int) -> Found | None:
    """2026-11-30."""
    return _dated(sight.raw(at), 1)


def _dated(text: str, length: int) -> Found | None:
    try:
        return Found("date", date.fromisoformat(text).isoformat(), length)
    except ValueError:
        return None


def slashed_date(sight: Sight, at: int) -> Found | None:
    """30/11/2026, where one reading alone is possible or the language has one custom."""
    found = _SLASHED.fullmatch(sight.raw(at))
    if found is None:
        return None
    first, second, year = int(found[1]), int(found[3]), found[4]
    day_first = sight.lexicon.times.day_first or (first > 12 and second <= 12)
    month_first = not sight.lexicon.times.day_first and second > 12 and first <= 12
    if first == second or day_first:
        return _dated(f"{year}-{second:02}-{first:02}", 1)
    return _dated(f"{year}-{first:02}-{second:02}", 1) if month_first else None


def said_at(sight: Sight, at: int) -> Found | None:
    """A phrase that is a slot ("last week"), or a number of days up to now ("in the last 7 days")."""
    lexicon = sight.lexicon
    for phrase in lexicon.said.get(sight.key(at), ()):
        if sight.says(at, phrase):
            return Found(phrase.kind, phrase.value, len(phrase.words), phrase.form)
    for words in lexicon.spans.get(sight.key(at), ()):
        behind = at + len(words)
        if all(sight.key(at + i) == word for i, word in enumerate(words)):
            number = number_at(sight, behind)
            unit = lexicon.days.get(sight.key(behind + number[2]), 0) if number is not None else 0
            if number is not None and unit and not number[1] and 0 < int(number[0]) * unit <= _MOST_DAYS:
                return Found("period", f"day-{int(number[0]) * unit}..day", len(words) + number[2] + 1)
    return None


def date_at(sight: Sight, at: int) -> Found | None:
    """Day and month, in either order, with or without the year: "5 March 2026", "March 5th", "5th of March"."""
    months = sight.lexicon.times.months
    month = months.get(sight.key(at))
    if month is not None:
        word, before = sight.word(at), sight.word(at - 1)
        if word is not None and word.roles & _WORDS_OF_DOUBT and not (before and before.roles & _BEFORE_A_DATE):
            return None  # "may 5 people come"
        day, length = day_at(sight, at + 1)
        return _whole(sight, at, month, day, 1 + length) if length else None
    day, length = day_at(sight, at)
    if not length:
        return None
    length += sight.key(at + length) in sight.lexicon.times.month_joins
    month = months.get(sight.key(at + length))
    return None if month is None else _whole(sight, at, month, day, length + 1)


def _whole(sight: Sight, at: int, month: int, day: int, length: int) -> Found | None:
    """With the year behind it, if there is one."""
    comma = sight.mark(at + length) == ","
    year = sight.mark(at + length + comma)
    if len(year) == 4 and year.isdecimal() and year[0] in "12":
        return _dated(f"{year}-{month:02}-{day:02}", length + comma + 1)
    return Found("date", f"--{month:02}-{day:02}", length) if _dated(f"{_LEAP}-{month:02}-{day:02}", 1) else None


def day_at(sight: Sight, at: int) -> tuple[int, int]:
    """(day of a month, tokens); no tokens if there is none."""
    times = sight.lexicon.times
    if sight.key(at) in times.ordinals:
        return times.ordinals[sight.key(at)], 1
    if at < sight.count and sight.tokens[at].kind == "number":
        text = sight.tokens[at].key
        if not (text.isdecimal() and len(text) <= 2 and 1 <= int(text) <= 31):
            return 0, 0
        return int(text), 1 + (sight.key(at + 1) in times.ordinal_marks)
    day, length = number_words(sight, at)
    unit = times.ordinals.get(sight.key(at + length), 0) if length and day in {20, 30} else 0
    if 0 < unit < 10:
        day, length = day + unit, length + 1
    return (day, length) if 1 <= day <= 31 else (0, 0)
