"""Binding: a general plan, made ready once, and filled for as many requests as come.

Law: a value is what every reading gives; where two differ, or one gives nothing, the request is refused. The plan is
kept as JSON text with holes, so filling it is joining and reading it: no walk, and what comes out is always JSON.

    binder = Binder(general)
    binder.bind(request.slots)
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import msgspec

from metnos.cache.generalise.conversions import converter
from metnos.cache.generalise.shape import shape_of
from metnos.cache.generalise.uses import General, Reading, SlotUse
from metnos.cache.templates.template import Bound, Refusal, escape
from metnos.plan.jsondata import canonical, is_list, spell
from metnos.plan.spelling import is_plain
from metnos.request.model import Slot

_SLOT = re.compile(r"\$\{SLOT:s([0-9]+)\}")
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode
_COPIED: frozenset[Reading] = frozenset((("", "value", ""), ("", "number", ""), ("", "text", "")))


class _Value(NamedTuple):
    """What uses with the same readings share: their readings, with conversions by number."""

    slot: int
    typed: bool
    readings: tuple[tuple[tuple[str, ...], tuple[int, ...]], ...]
    """Of each reading its constant texts, and its conversions."""
    names: str


class Binder:
    """One general plan. Immutable once made; safe between threads."""

    def __init__(self, general: General) -> None:
        self.general = general
        self._pieces, self._holes = _holes(general)
        copied = {place for use in general.uses if _COPIED.issuperset(use.readings) for place in use.places}
        self._apart = frozenset(general.apart)
        self._names = [(f"s{number}", use.index) for number, use in enumerate(general.uses)]
        self._origins = dict.fromkeys(sorted(copied), "user")
        makes: dict[tuple[int, str], int] = {}
        values: dict[_Value, int] = {}
        self._uses = [(use, values.setdefault(_value(use, makes), len(values))) for use in general.uses]
        self._values = tuple(values)
        self._makes = tuple((index, converter(name, general.kinds[index], general.language)) for index, name in makes)

    def bind(self, slots: Sequence[Slot]) -> Bound | Refusal:
        """The plan for these slots, in the order of the form, or why there is none.

        The refusal's `slot` is the number of the slot in the request, from 0. The origin of what is a value of the
        request and nothing else is `user`; of the rest, whoever wrote the plan.
        """
        refusal = self._refuse(slots)
        if refusal is not None:
            return refusal
        literals = [make(slots[index]) for index, make in self._makes]
        values: list[Any] = []
        for value in self._values:
            literal = _agreed(value, literals)
            if literal is None:
                return Refusal(str(value.slot), f"{slots[value.slot].text}: {value.names}")
            values.append(literal)
        spelled: list[str] = []
        for use, number in self._uses:
            text = _spelled(use, values[number], slots[use.index])
            if isinstance(text, Refusal):
                return text
            spelled.append(_encode(text).decode() if use.mode == "typed" else _encode(text)[1:-1].decode())
        pieces = self._pieces.copy()
        for at, number in self._holes:
            pieces[at] = spelled[number]
        named = {name: slots[index].value for name, index in self._names}
        return Bound(_decode("".join(pieces)), self._origins.copy(), named)

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
            shape = shape_of(slots[index], self._apart, effects=not general.read_only)
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
    """The one literal that all readings of one use give, spelled as its place asks; or a refusal."""
    makes: dict[tuple[int, str], int] = {}
    value = _value(use, makes)
    literal = _agreed(value, [converter(name, slot.kind, language)(slot) for _, name in makes])
    return Refusal(str(use.index), f"{slot.text}: {value.names}") if literal is None else _spelled(use, literal, slot)


def _value(use: SlotUse, makes: dict[tuple[int, str], int]) -> _Value:
    """The readings of a use; conversions that are new are added to `makes`."""
    readings = tuple(
        (reading[::2], tuple(makes.setdefault((use.index, name), len(makes)) for name in reading[1::2]))
        for reading in use.readings
    )
    return _Value(use.index, use.mode == "typed", readings, " | ".join("+".join(r[1::2]) for r in use.readings))


def _agreed(value: _Value, literals: list[Any]) -> Any:
    """What all readings give, None if they differ or one gives nothing."""
    found: Any = None
    for constants, conversions in value.readings:
        literal = literals[conversions[0]]
        if not value.typed:
            literal = _joined(constants, [literals[number] for number in conversions])
        if literal is None or (found is not None and not same_data(literal, found)):
            return None
        found = literal
    return found


def _joined(constants: tuple[str, ...], literals: list[Any]) -> str | None:
    text = constants[0]
    for literal, constant in zip(literals, constants[1:], strict=True):
        if not isinstance(literal, str):
            return None
        text = f"{text}{literal}{constant}"
    return text


def _spelled(use: SlotUse, value: Any, slot: Slot) -> Any:
    if use.least is not None or use.most is not None:
        refusal = _bounded(use, value, slot)
        if refusal is not None:
            return refusal
    if use.mode == "text":
        return escape(value)
    if use.mode == "json":
        return spell(value)[1:-1]
    if use.mode == "plain" and not is_plain(value):
        return Refusal(str(use.index), f"{slot.text}: $")
    return value


def _bounded(use: SlotUse, value: Any, slot: Slot) -> Refusal | None:
    """What the contract would refuse: a number, or the length of a text."""
    size: float = value if use.mode == "typed" and not is_list(value) else len(value)
    if use.least is not None and size < use.least:
        return Refusal(str(use.index), f"{slot.text} < {use.least}")
    if use.most is not None and size > use.most:
        return Refusal(str(use.index), f"{slot.text} > {use.most}")
    return None
