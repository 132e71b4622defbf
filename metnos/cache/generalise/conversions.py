"""Conversions: what a slot of a request can look like in a plan, as a table of named functions.

Law: a conversion goes one way, from a slot to the one literal that it stands for, and gives None where it does not
apply; nothing is parsed back and nothing is guessed. Which conversion made a literal is found by trying all of them
on the slots that the request has (`metnos.cache.generalise.locate`). So another row here makes generalising safer, not bolder:
where two rows could have made a literal, a value on which they differ is refused.

`whole` and `prose` say in which order rows are tried on a literal that is one value, and on a passage of a text; of
the first order that fits, every row is kept. 0: never there.

    >>> from metnos.request.understand import understand
    >>> convert("deep", understand("list the pdf files").slots[0], "en")
    '**/*.pdf'
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from functools import lru_cache
from typing import Any, NamedTuple, cast

from metnos.request.lexicon import lexicon_for
from metnos.request.model import LIST_OF, Slot
from metnos.values.runtime import DATES

Make = Callable[[Slot], Any]
_SIMPLE = re.compile(r"\*\.([A-Za-z0-9]+)")
_AMOUNT = re.compile(r"([0-9][0-9.,]*)\s*(\S+)")
_DURATION = re.compile(r"P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?")
_SECONDS = (604_800, 86_400, 3_600, 60, 1)
_LARGEST = 2**53 - 1


class Conversion(NamedTuple):
    """One row."""

    make: Make
    kinds: frozenset[str]
    whole: int
    prose: int
    patterns: bool = False
    """Only where the literal is a pattern."""


class Form(NamedTuple):
    """What a slot looks like by one conversion."""

    name: str
    literal: Any
    order: int


def _kinds(names: str) -> frozenset[str]:
    return frozenset(names.split())


# --- the functions ------------------------------------------------------------------------------------------


def _text_value(slot: Slot) -> str | None:
    return slot.value if isinstance(slot.value, str) else None


def _number_value(slot: Slot) -> int | float | None:
    return slot.value if isinstance(slot.value, int | float) and not isinstance(slot.value, bool) else None


def _digits(slot: Slot) -> str | None:
    number = _number_value(slot)
    return None if number is None else json.dumps(number)


def _cased(change: Callable[[str], str]) -> Make:
    return lambda slot: change(slot.value if slot.kind in _NAMES else slot.text)


def _extension(slot: Slot) -> str | None:
    found = _SIMPLE.fullmatch(slot.value)
    return found[1] if found else None


def _around(before: str, change: Callable[[str], str] = str) -> Make:
    def make(slot: Slot) -> str | None:
        extension = _extension(slot)
        return None if extension is None else before + change(extension)

    return make


def _glob_name(slot: Slot) -> str:
    return _extension(slot) or slot.value


def _path(change: Callable[[str], str]) -> Make:
    """A part of a path; none that is marks alone: the parent of `./docs` is any full stop."""

    def make(slot: Slot) -> str | None:
        part = change(slot.value)
        return part if any(map(str.isalnum, part)) else None

    return make


def _stem(path: str) -> str:
    return posixpath.splitext(posixpath.basename(path))[0]


def _in_units(unit: int) -> Make:
    """A size in whole units."""

    def make(slot: Slot) -> int | None:
        units, rest = divmod(slot.value, unit)
        return units if units and not rest else None

    return make


def _amount(slot: Slot) -> str | None:
    found = _AMOUNT.fullmatch(slot.text)
    return found[1] if found else None


def _amount_number(slot: Slot) -> int | None:
    amount = _amount(slot)
    return int(amount) if amount is not None and amount.isdecimal() and int(amount) <= _LARGEST else None


def _unit(slot: Slot) -> str | None:
    found = _AMOUNT.fullmatch(slot.text)
    return found[2] if found else None


def exactly(slot: Slot, word: str) -> str | None:
    """`1 MB (1000000 bytes)` by the word for bytes; what was said in bytes stays as it was said."""
    digits = "".join(character for character in slot.text if character.isdigit())
    if digits == str(slot.value):
        return slot.text
    return f"{slot.text} ({slot.value} {word})" if word else None


def _day(days: int, end: str = "") -> Make:
    def make(slot: Slot) -> str | None:
        try:
            return (date.fromisoformat(slot.value) + timedelta(days=days)).isoformat() + end
        except (ValueError, OverflowError):
            return None

    return make


def _duration(unit: int) -> Make:
    """A duration in whole units of so many seconds."""

    def make(slot: Slot) -> int | None:
        found = _DURATION.fullmatch(str(slot.value))
        if found is None:
            return None
        seconds = sum(int(count or 0) * size for count, size in zip(found.groups(), _SECONDS, strict=True))
        units, rest = divmod(seconds, unit)
        return units if units and not rest else None

    return make


def _items(slot: Slot) -> list[Any]:
    return list(cast("list[Any]", slot.value))


def _as_said(slot: Slot) -> str:
    return slot.text


def _compact(slot: Slot) -> str:
    return "".join(slot.text.split())


def _escaped_glob(slot: Slot) -> str | None:
    value = _text_value(slot)
    return None if value is None else re.sub(r"([*?\[])", r"[\1]", value)


def _escaped_regex(slot: Slot) -> str | None:
    value = _text_value(slot)
    return None if value is None else re.sub(r"([.^$*+?{}\[\]\\|()])", r"\\\1", value)


def _reference(last: bool, path: str) -> Make:
    """A reference to the runtime: the first or the last key of a period (`day-7..day` has two, others one)."""

    def make(slot: Slot) -> str | None:
        if slot.kind != "period":
            return None
        first, _, end = str(slot.value).partition("..")
        return f"${{RUNTIME:{(end or first) if last else first}{path}}}"

    return make


def _date_reference(slot: Slot) -> str | None:
    key = {"day": "today", "day-1": "yesterday"}.get(slot.value, slot.value)
    return f"${{RUNTIME:{key}}}" if key in DATES else None


# --- the table ----------------------------------------------------------------------------------------------

_TEXTS = _kinds("path glob date time duration address url quoted name")
_NUMBERS = _kinds("integer number size")
_NAMES = _kinds("path quoted name url")
LISTS = frozenset(LIST_OF.values())
_SAID = _NAMES | _NUMBERS | _kinds("period date time duration")
_ALL = _TEXTS | _NUMBERS | LISTS | {"period"}

CONVERSIONS: dict[str, Conversion] = {
    "value": Conversion(_text_value, _TEXTS, 1, 1),
    "number": Conversion(_number_value, _NUMBERS, 1, 0),
    "digits": Conversion(_digits, _NUMBERS, 1, 1),
    "text": Conversion(_as_said, _ALL, 2, 1),
    "said": Conversion(_as_said, _kinds("integer number date time duration glob"), 1, 0),
    "regex": Conversion(_escaped_regex, _NAMES, 1, 0, patterns=True),
    "literal-glob": Conversion(_escaped_glob, _NAMES, 1, 0, patterns=True),
    "lower": Conversion(_cased(str.lower), _SAID, 3, 2),
    "upper": Conversion(_cased(str.upper), _SAID, 3, 2),
    "title": Conversion(_cased(str.title), _SAID, 3, 2),
    "capital": Conversion(_cased(str.capitalize), _SAID, 3, 2),
    "basename": Conversion(_path(posixpath.basename), _kinds("path"), 3, 1),
    "stem": Conversion(_path(_stem), _kinds("path"), 3, 2),
    "parent": Conversion(_path(posixpath.dirname), _kinds("path"), 3, 2),
    "bare": Conversion(_path(lambda path: path.rstrip("/")), _kinds("path"), 3, 2),
    "slashed": Conversion(_path(lambda path: path.rstrip("/") + "/"), _kinds("path"), 3, 2),
    "extension": Conversion(_around(""), _kinds("glob"), 1, 1),
    "dotted": Conversion(_around("."), _kinds("glob"), 1, 1),
    "deep": Conversion(_around("**/*."), _kinds("glob"), 1, 1),
    "EXTENSION": Conversion(_around("", str.upper), _kinds("glob"), 3, 2),
    "glob-name": Conversion(_glob_name, _kinds("glob"), 0, 1),
    **{
        name: Conversion(_in_units(unit), _kinds("size"), 2, 0)
        for name, unit in {
            "kB": 1000, "MB": 10**6, "GB": 10**9, "TB": 10**12,
            "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40,
        }.items()
    },
    "amount": Conversion(_amount_number, _kinds("size"), 2, 0),
    "amount-text": Conversion(_amount, _kinds("size"), 2, 2),
    "unit": Conversion(_unit, _kinds("size"), 2, 2),
    "compact": Conversion(_compact, _kinds("size"), 3, 2),
    "next-day": Conversion(_day(1), _kinds("date"), 1, 1),
    "midnight": Conversion(_day(0, "T00:00:00"), _kinds("date"), 1, 1),
    "next-midnight": Conversion(_day(1, "T00:00:00"), _kinds("date"), 1, 1),
    **{
        name: Conversion(_duration(unit), _kinds("duration"), 1, 0)
        for name, unit in {"weeks": 604_800, "days": 86_400, "hours": 3_600, "minutes": 60, "seconds": 1}.items()
    },
    "items": Conversion(_items, LISTS, 1, 0),
}  # fmt: skip
"""Name → row. Besides these: `word` (a number in the language's words), `exact:WORD` (a size said exactly) and
`item:N:NAME` (an item of a list by one of these)."""


REFERENCES: dict[str, Make] = {
    f"{'last' if last else 'first'}{path}": _reference(last, path)
    for last in (False, True)
    for path in ("", ".start", ".end")
} | {"as-date": _date_reference}
"""Name → what a period (or a date that counts from today) is as a whole reference."""
RELATIVE = frozenset(("period", "date"))


def convert(name: str, slot: Slot, language: str) -> Any:
    """The literal that `slot` stands for by the conversion `name`; None if it has none.

    Raises:
        KeyError: no conversion is called so.
    """
    return converter(name, slot.kind, language)(slot)


def converter(name: str, kind: str, language: str) -> Make:
    """The conversion `name` of slots of `kind`, ready to be called.

    Raises:
        KeyError: no conversion is called so.
    """
    head, _, parameter = name.partition(":")
    if head == "item":
        number, _, inner = parameter.partition(":")
        return _of_item(int(number), inner, language)
    if head == "exact":
        return (lambda slot: exactly(slot, parameter)) if kind == "size" else _nothing
    if head == "word":
        words = _words(language)
        return (lambda slot: words.get(slot.value)) if kind == "integer" else _nothing
    if head in REFERENCES:
        return REFERENCES[head] if kind in RELATIVE else _nothing
    row = CONVERSIONS[name]
    return row.make if kind in row.kinds else _nothing


def _of_item(number: int, name: str, language: str) -> Make:
    def make(slot: Slot) -> Any:
        return convert(name, slot.items[number], language) if number < len(slot.items) else None

    return make


def _nothing(_: Slot) -> None:
    return None


@lru_cache(maxsize=8)
def _words(language: str) -> dict[int, str]:
    """Number → its first word."""
    found: dict[int, str] = {}
    for word, number in lexicon_for(language).numbers.items():
        found.setdefault(number, word)
    return found


def forms(slot: Slot, language: str, *, prose: bool, pattern: bool = False) -> Iterator[Form]:
    """Every form of `slot` in a text (`prose`) or as a literal of its own; of a list, those of its items too."""
    for number, item in enumerate(slot.items):
        for form in forms(item, language, prose=prose, pattern=pattern):
            yield form._replace(name=f"item:{number}:{form.name}")
    for name, row in CONVERSIONS.items():
        order = row.prose if prose else row.whole
        if order and slot.kind in row.kinds and (pattern or not row.patterns):
            literal = row.make(slot)
            if literal is not None and literal != "":
                yield Form(name, literal, order)
    if slot.kind == "integer":
        word = _words(language).get(slot.value)
        if word is not None:
            yield Form("word", word, 2 if prose else 3)
    if slot.kind == "size" and prose and (said := exactly(slot, "")) is not None:
        # Said in bytes: whatever the word for bytes is, it is not needed here. Another size would need it.
        yield Form("exact:", said, 1)


def exact_spans(slot: Slot, text: str) -> Iterator[tuple[int, int, str]]:
    """(start, end, conversion) of every place in `text` where the size is said exactly."""
    opening = re.escape(f"{slot.text} ({slot.value} ")
    for found in re.finditer(rf"{opening}([^\W\d_]+)\)", text):
        yield found.start(), found.end(), f"exact:{found[1]}"
