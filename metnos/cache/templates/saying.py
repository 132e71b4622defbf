"""What a bound slot is worth, and how it is said in a sentence of the answer.

Law: nothing is said that was not asked for, and whatever narrows an answer is said in it. The parts of `${SLOT:name…}`:

| part | is |
|---|---|
| none | the value |
| `.text` | the user's own words, else the default's |
| `.said` | the rule's phrase around the value's name (" pdf", ", hidden ones included"), else the default's words |
| `.exact` | a size: the user's words, and the bytes where they say something else |
| `.format` | of a file's name: how a table is written there |
| `.start`, `.end` | of a period: references to the runtime; of a duration: `.start` is the first instant of the day so many days ago |
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from metnos.request.model import Slot
from metnos.values.runtime import PERIODS

_ISO_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DAYS = re.compile(r"P([1-9][0-9]{0,3})D")


class SlotRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a slot takes: kind (or kinds), the default where it may be left out, and bounds of a number."""

    kind: str | tuple[str, ...]
    default: Any = None
    given: Any = True
    """What a flag is worth where its way was taken; otherwise it is worth the default."""
    text: dict[str, str] = {}
    """How the default reads, by language."""
    phrase: dict[str, str] = {}
    """How a value reads in a sentence, by language; `{}` is its name."""
    min: int | None = None
    max: int | None = None
    names: Literal["any", "file", "bare"] = "any"
    """Which paths: `file` has no slash at its end, `bare` has none at all; another one is refused."""
    formats: dict[str, str] = {}
    """End of the file's name → format of a table; a name with another end is refused."""

    @property
    def kinds(self) -> tuple[str, ...]:
        return (self.kind,) if isinstance(self.kind, str) else self.kind

    def takes(self, path: str) -> bool:
        """Whether this path is one of those that `names` means."""
        return self.names == "any" or not (path.endswith("/") if self.names == "file" else "/" in path)

    def counts(self, slot: Slot) -> bool:
        """Whether a date is one of the calendar, and a duration whole days that the runtime can count back."""
        if slot.kind == "date":
            return _ISO_DATE.fullmatch(slot.value) is not None
        return slot.kind != "duration" or _days(slot) > 0

    def format_of(self, path: str) -> str:
        """How a table is written to a file of this name, "" if that is not known."""
        name = path.rpartition("/")[2]
        _, dot, ending = name.lstrip(".").rpartition(".")
        return self.formats.get(f".{ending.casefold()}" if dot else "", "")


class Saying:
    """The values of one request, by slot name."""

    def __init__(
        self, rules: Mapping[str, SlotRule], given: Mapping[str, Slot], flags: frozenset[str], language: str
    ) -> None:
        self._rules = rules
        self._given = given
        self._flags = flags
        self._language = language

    def is_given(self, name: str) -> bool:
        """Whether the request says something of this slot."""
        return name in self._given or name in self._flags

    def is_period(self, name: str) -> bool:
        """Whether the value is a period or counts back from today, which the runtime resolves."""
        return name in self._given and self._given[name].kind in ("period", "duration")

    def value(self, name: str) -> Any:
        """The value, with the default where nothing was said."""
        if name in self._given:
            return self._given[name].value
        return self._rules[name].given if name in self._flags else self._rules[name].default

    def part(self, name: str, part: str | None) -> Any:
        """One part; see the table above."""
        rule, slot = self._rules[name], self._given.get(name)
        if part == "said":
            return self._said(name, rule, slot)
        if part == "format":
            return rule.format_of(str(self.value(name)))
        if part == "text":
            return slot.text if slot is not None else rule.text.get(self._language, rule.default)
        if slot is None:
            return self.value(name)
        if part == "exact":
            return _exact(slot, rule.phrase.get(self._language, "{}"))
        if slot.kind == "duration":
            return f"${{RUNTIME:day-{_days(slot)}.start}}" if part == "start" else slot.value
        if slot.kind == "period":
            start, _, end = slot.value.partition("..")
            key = (end or start) if part == "end" else start
            return f"${{RUNTIME:{key}{'.' + part if part else ''}}}"
        return slot.value

    def _said(self, name: str, rule: SlotRule, slot: Slot | None) -> str:
        if not self.is_given(name):
            return rule.text.get(self._language, "")
        known_as = "" if slot is None else _name(slot)
        return rule.phrase.get(self._language, "{}").replace("{}", known_as)


def _days(slot: Slot) -> int:
    """A duration in days, 0 if it is not whole days or too many."""
    found = _DAYS.fullmatch(slot.value)
    return int(found[1]) if found and int(found[1]) <= PERIODS["day"] else 0


def _name(slot: Slot) -> str:
    """`*.pdf` is called pdf; everything else as it was written."""
    if slot.kind != "glob":
        return slot.text
    kind = slot.value.removeprefix("*.")
    return kind if kind.isalnum() and slot.value == f"*.{kind}" else slot.value


def _exact(slot: Slot, phrase: str) -> str:
    """`1 MB (1000000 bytes)`, but `4096 bytes` as it is."""
    digits = "".join(character for character in slot.text if character.isdigit())
    return slot.text if digits == str(slot.value) else f"{slot.text} ({phrase.replace('{}', str(slot.value))})"
