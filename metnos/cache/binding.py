"""Binding: a general plan, made ready once, and filled for as many requests as come.

Law: a value is what every reading gives; where two differ, or one gives nothing, the request is refused. The plan is
kept as JSON text with holes, so filling it is joining and reading it: no walk, and what comes out is always JSON.

    binder = Binder(general)
    binder.bind(request.slots)
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, cast

import msgspec

from metnos.cache.conversions import convert
from metnos.cache.shape import shape_of
from metnos.cache.template import Bound, Refusal, escape
from metnos.cache.uses import General, Reading, SlotUse
from metnos.plan.jsondata import canonical, spell
from metnos.plan.spelling import is_plain
from metnos.request.model import Slot

_SLOT = re.compile(r"\$\{SLOT:s([0-9]+)\}")
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode
_COPIED: frozenset[Reading] = frozenset((("", "value", ""), ("", "number", ""), ("", "text", "")))


class Binder:
    """One general plan. Immutable once made; safe between threads."""

    def __init__(self, general: General) -> None:
        self.general = general
        self._pieces, self._holes = _holes(general)
        copied = {place for use in general.uses if _COPIED.issuperset(use.readings) for place in use.places}
        self._origins = dict.fromkeys(sorted(copied), "user")

    def bind(self, slots: Sequence[Slot]) -> Bound | Refusal:
        """The plan for these slots, in the order of the form, or why there is none.

        The refusal's `slot` is the number of the slot in the request, from 0. The origin of what is a value of the
        request and nothing else is `user`; of the rest, whoever wrote the plan.
        """
        refusal = self._refuse(slots)
        if refusal is not None:
            return refusal
        general = self.general
        seen: dict[tuple[int, str], Any] = {}
        spelled: list[str] = []
        for use in general.uses:
            value = _render(use, slots[use.index], general.language, seen)
            if isinstance(value, Refusal):
                return value
            text = _encode(value).decode()
            spelled.append(text if use.mode == "typed" else text[1:-1])
        pieces = self._pieces.copy()
        for at, number in self._holes:
            pieces[at] = spelled[number]
        values = {f"s{number}": slots[use.index].value for number, use in enumerate(general.uses)}
        return Bound(_decode("".join(pieces)), self._origins.copy(), values)

    def _refuse(self, slots: Sequence[Slot]) -> Refusal | None:
        """What can be said before anything is converted."""
        general = self.general
        if tuple([slot.kind for slot in slots]) != general.kinds:
            return Refusal("", f"{' '.join(slot.kind for slot in slots)} ≠ {' '.join(general.kinds)}")
        for index, value in general.fixed.items():
            said = general.fixed_texts.get(index)
            if not same_data(slots[index].value, value) or (said is not None and said != said_of(slots[index])):
                return Refusal(str(index), f"{slots[index].text} ≠ {said or value}")
        for index, shapes in general.shapes.items():
            shape = shape_of(slots[index], general.apart, effects=not general.read_only)
            if shape not in shapes:
                return Refusal(str(index), f"{slots[index].text}: {shape} ≠ {' | '.join(shapes)}")
        return None


def _holes(general: General) -> tuple[list[str], list[tuple[int, int]]]:
    """The plan's JSON in pieces, and (piece, number of the use) of those that are filled."""
    text = _encode(general.plan).decode()
    pieces: list[str] = []
    holes: list[tuple[int, int]] = []
    at = 0
    for found in _SLOT.finditer(text):
        number = int(found[1])
        # A number takes the place of the whole string, quotes included.
        quotes = 1 if general.uses[number].mode == "typed" else 0
        pieces += [text[at : found.start() - quotes], ""]
        holes.append((len(pieces) - 1, number))
        at = found.end() + quotes
    return [*pieces, text[at:]], holes


def said_of(slot: Slot) -> str:
    """The words of a slot, spaces aside."""
    return " ".join(slot.text.split())


def same_data(left: Any, right: Any) -> bool:
    """Equal as JSON: a list from a stored entry is a tuple no more, true is not 1."""
    if type(left) is str and type(right) is str:
        return left == right
    return canonical(_plain(left)) == canonical(_plain(right))


def _plain(value: Any) -> Any:
    return list(cast("tuple[Any, ...]", value)) if isinstance(value, tuple) else value


def render(use: SlotUse, slot: Slot, language: str) -> Any:
    """The one literal that all readings give, spelled as its place asks; or a refusal."""
    return _render(use, slot, language, {})


def _render(use: SlotUse, slot: Slot, language: str, seen: dict[tuple[int, str], Any]) -> Any:
    found: Any = None
    for number, reading in enumerate(use.readings):
        value = _read(use, reading, slot, language, seen)
        if value is None or (number and not same_data(value, found)):
            return Refusal(str(use.index), f"{slot.text}: {' | '.join('+'.join(r[1::2]) for r in use.readings)}")
        found = value
    return _bounded(use, found, slot) or _spelled(use, found, slot)


def _read(use: SlotUse, reading: Reading, slot: Slot, language: str, seen: dict[tuple[int, str], Any]) -> Any:
    """What one reading gives, None if it gives nothing."""
    pieces = list(reading)
    for at in range(1, len(reading), 2):
        key = (use.index, reading[at])
        if key in seen:
            literal = seen[key]
        else:
            literal = seen[key] = convert(reading[at], slot, language)
        if use.mode == "typed":
            return literal
        if not isinstance(literal, str):
            return None
        pieces[at] = literal
    return "".join(pieces)


def _bounded(use: SlotUse, value: Any, slot: Slot) -> Refusal | None:
    if use.least is None and use.most is None:
        return None
    size: float = len(cast("str", value)) if isinstance(value, str | list) else value
    if use.least is not None and size < use.least:
        return Refusal(str(use.index), f"{slot.text} < {use.least}")
    if use.most is not None and size > use.most:
        return Refusal(str(use.index), f"{slot.text} > {use.most}")
    return None


def _spelled(use: SlotUse, value: Any, slot: Slot) -> Any:
    if use.mode == "text":
        return escape(value)
    if use.mode == "json":
        return spell(value)[1:-1]
    if use.mode == "plain" and not is_plain(value):
        return Refusal(str(use.index), f"{slot.text}: $")
    return value
