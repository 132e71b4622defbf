"""Numbers in digits and words, and what a unit behind them makes of them: sizes, durations, times of day.

Law: a number is what one way of reading gives; a lone group of three digits that two languages read differently is none, nor
are digits of which the value would lose some and that may be a name: "0123", "3.10" (with a unit, "1.50 MB",
or a sign of money they are).
Words add up as they are said ("two hundred twenty five"); "and" joins nothing, for it also stands between two numbers.
Durations are worth what they last: "two weeks" is `P14D`, "90 minutes" is `PT1H30M`; days are no hours, months no days.
"""

from __future__ import annotations

from collections.abc import Mapping

from metnos.request.sight import Found, Sight
from metnos.request.tokens import MONEY

LARGEST = 2**53 - 1
_SECONDS = {"S": 1, "M": 60, "H": 3600}
_DAYS = {"D": 1, "W": 7}
_MONTHS = {"m": 1, "y": 12}
_RANKS = "SMHDWmy"
_RELATING = frozenset(("preposition", "place"))


def parse_number(text: str, thousands: str) -> tuple[str, str] | None:
    """(whole digits, fraction digits) of `1,234.5` in a language that groups by `thousands`; None if ambiguous."""
    marks = [c for c in text if c in ".,"]
    if len(text) > 24 or (text[:1] == "0" and text[1:2].isdigit()):
        return None
    if not marks:
        return text, ""
    decimal = "." if thousands == "," else ","
    last = marks[-1]
    *groups, tail = text.replace(",", ".").split(".")
    if len(set(marks)) == 1 and len(marks) == 1 and (len(tail) != 3 or groups == ["0"]):
        return groups[0], tail
    if len(set(marks)) == 1:
        # A lone group of three counts only if the sign is this language's own.
        ours = len(marks) > 1 or last == thousands
        return ("".join((*groups, tail)), "") if ours and _grouped((*groups, tail)) else None
    if last != decimal or marks.count(last) != 1 or not _grouped(tuple(groups)):
        return None
    return "".join(groups), tail


def _grouped(groups: tuple[str, ...]) -> bool:
    return 1 <= len(groups[0]) <= 3 and groups[0][0] != "0" and all(len(group) == 3 for group in groups[1:])


def number_at(sight: Sight, at: int) -> tuple[str, str, int] | None:
    """(whole digits, fraction digits, tokens) of the number that begins at `at`; None if there is none."""
    if not 0 <= at < sight.count:
        return None
    lexicon = sight.lexicon
    if sight.tokens[at].kind == "number":
        parts = parse_number(sight.tokens[at].key, lexicon.thousands)
        factor = lexicon.multipliers.get(sight.key(at + 1), 0)
        if parts is None:
            return None
        return (str(int(parts[0]) * factor), "", 2) if factor and not parts[1] else (*parts, 1)
    total, length = number_words(sight, at)
    return (str(total), "", length) if length else None


def number_words(sight: Sight, at: int) -> tuple[int, int]:
    """(value, tokens) of the number words at `at`; no tokens if there are none."""
    lexicon = sight.lexicon
    total = group = 0
    room = 1000  # what is added next must be smaller
    start = at
    while value := value_of(sight, at):
        if value >= 1000 and (group or at == start):
            total, group, room = total + (group or 1) * value, 0, 1000
        elif value == 100 and 0 < group < 10:
            group, room = group * 100, 100
        elif value < room and (value < 100 or at == start):
            group, room = group + value, _room(value)
        else:
            break
        at += 1
    if at == start and sight.key(at) in lexicon.numbers:
        return 0, 1  # "zero"
    return total + group, at - start


def value_of(sight: Sight, at: int) -> int:
    """What one word counts, 0 for other words; "one" only before what it counts."""
    lexicon, key = sight.lexicon, sight.key(at)
    value = lexicon.numbers.get(key) or lexicon.multipliers.get(key, 0)
    if value or key not in lexicon.one:
        return value
    after, before = sight.key(at + 1), lexicon.numbers.get(sight.key(at - 1), 0)
    counts = after in lexicon.multipliers or lexicon.numbers.get(after) == 100
    counts = counts or unit_at(sight, at + 1) is not None or after in lexicon.times.durations
    return int(counts or before in range(20, 101, 10))


def _room(value: int) -> int:
    """What may follow: units behind tens, anything below a hundred behind a hundred."""
    if value == 100:
        return 100
    return 10 if value in range(20, 100, 10) else 0


def count(sight: Sight, at: int) -> Found | None:
    """The number at `at`, with the unit behind it if there is one."""
    parts = number_at(sight, at)
    if parts is None:
        return None
    whole, fraction, length = parts
    after = sight.key(at + length)
    unit = unit_at(sight, at + length)
    if unit is not None:
        scaled, rest = divmod(int(whole + fraction) * unit, 10 ** len(fraction))
        return Found("size", scaled, length + 1) if not rest and scaled <= LARGEST else None
    times = sight.lexicon.times
    if after in times.durations:
        lasting = duration(sight, at)
        if lasting is not None:
            return lasting
    found = time_of_day(sight, at, whole, fraction, length)
    if found is not None:
        return found
    if fraction.endswith("0") and sight.key(at - 1) not in MONEY:
        return None
    if fraction:
        return Found("number", float(f"{whole}.{fraction}"), length)
    value = int(whole)
    return Found("integer", value, length) if value <= LARGEST and not _is_glued(sight, at + length) else None


def _is_glued(sight: Sight, at: int) -> bool:
    """Whether a letter is written onto what stands before it: "3A" is no number."""
    if at >= sight.count or sight.tokens[at].kind != "word":
        return False
    before, letter = sight.tokens[at - 1], sight.tokens[at]
    return 0 < letter.start == before.end and letter.end - letter.start == 1 and letter.raw.isalpha()


def unit_at(sight: Sight, at: int) -> int | None:
    """Bytes of the unit at `at`: a name in any case, or a sign exactly as the table writes it."""
    key = sight.key(at)
    if key not in sight.lexicon.unit_names:
        return None
    return sight.lexicon.units.get(key) or sight.lexicon.unit_signs.get(sight.raw(at))


def one_unit(sight: Sight, at: int) -> Found | None:
    """An article that counts the unit behind it, behind a preposition: "over a megabyte", "più di un giga"."""
    before = sight.word(at - 1)
    if sight.key(at + 1) not in sight.lexicon.counted_units or before is None or before.roles.isdisjoint(_RELATING):
        return None
    return Found("size", sight.lexicon.units[sight.key(at + 1)], 2)


def hour(sight: Sight, at: int) -> Found | None:
    """An hour of 24 without its minutes, where nothing but an hour can stand: "alle 17"; "alle 5" may be either."""
    text = sight.tokens[at].key
    if len(text) != 2 or not text.isdecimal() or not 13 <= int(text) <= 23:
        return None
    marks = sight.lexicon.times.hour_marks
    if (sight.key(at - 1),) not in marks and (sight.key(at - 2), sight.key(at - 1)) not in marks:
        return None
    return Found("time", f"{text}:00")


def time_of_day(sight: Sight, at: int, whole: str, fraction: str, length: int) -> Found | None:
    """An hour of twelve with what says which half of the day it is in: "5 pm", "five thirty pm"."""
    if fraction or len(whole) > 2 or not 1 <= int(whole) <= 12:
        return None
    minutes, behind = 0, at + length
    if sight.key(behind) not in sight.lexicon.times.meridiems:
        more, said = number_words(sight, behind)
        if not said or not 10 <= more < 60:
            return None
        minutes, behind = more, behind + said
    return _halved(sight, at, int(whole), minutes, behind)


def clock(sight: Sight, at: int) -> Found | None:
    """A time in digits ("17:30", "5:30 pm"); without its half it is as it was written."""
    hour, _, minutes = sight.tokens[at].key.partition(":")
    halved = _halved(sight, at, int(hour), int(minutes), at + 1) if 1 <= int(hour) <= 12 else None
    return halved or Found("time", f"{int(hour):02}:{minutes}")


def _halved(sight: Sight, at: int, hour: int, minutes: int, behind: int) -> Found | None:
    key = sight.key(behind)
    half = sight.lexicon.times.meridiems.get(key)
    if half is None:
        return None
    behind += 1
    if "." in key and sight.mark(behind) == ".":
        behind += 1  # the last dot of "p.m."
    return Found("time", f"{hour % 12 + half:02}:{minutes:02}", behind - at)


def duration(sight: Sight, at: int) -> Found | None:
    """Parts from the larger unit to the smaller one, added up: "2 hours and 30 minutes"."""
    units, joins = sight.lexicon.times.durations, sight.lexicon.joins
    parts = {"m": 0, "D": 0, "S": 0}
    rank, here, behind = len(_RANKS), at, at
    while (number := number_at(sight, here) or _article(sight, here)) is not None:
        letter = units.get(sight.key(here + number[2]), "")
        amount = _scaled(number[0], number[1], letter) if letter and _RANKS.index(letter) < rank else None
        if amount is None:
            break
        rank = _RANKS.index(letter)
        parts["S" if letter in _SECONDS else "D" if letter in _DAYS else "m"] += amount
        behind = here + number[2] + 1
        here = behind + (sight.key(behind) in joins)
    if behind == at or max(parts.values()) > LARGEST:
        return None
    return Found("duration", iso_duration(parts), behind - at)


def _article(sight: Sight, at: int) -> tuple[str, str, int] | None:
    times, after = sight.lexicon.times, sight.key(at + 1)
    counts = sight.key(at) in times.duration_articles and after in times.durations and after not in times.homographs
    return ("1", "", 1) if counts else None


def _scaled(whole: str, fraction: str, letter: str) -> int | None:
    """In seconds, days or months; None if that is no whole number."""
    unit = (_SECONDS | _DAYS | _MONTHS)[letter]
    scaled, rest = divmod(int(whole + fraction) * unit, 10 ** len(fraction))
    return None if rest else scaled


def iso_duration(parts: Mapping[str, int]) -> str:
    """ISO 8601, one spelling for one value."""
    years, months = divmod(parts["m"], 12)
    minutes, seconds = divmod(parts["S"], 60)
    hours, minutes = divmod(minutes, 60)
    day = "".join(f"{n}{letter}" for n, letter in ((years, "Y"), (months, "M"), (parts["D"], "D")) if n)
    time = "".join(f"{n}{letter}" for n, letter in ((hours, "H"), (minutes, "M"), (seconds, "S")) if n)
    return f"P{day}{'T' + time if time else ''}" if day or time else "PT0S"
