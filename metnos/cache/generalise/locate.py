"""Locating: which slot of the request stands where in the plan.

Law: a slot is located everywhere or nowhere. It is given up, and its value stays in the key, as soon as one place
is doubtful: two slots could have made a literal; the literal is the contract's own default; a part of the value stands
in text or in a name that no conversion explains ("csv" as a format, and in "list.csv"). What is given up is text for
the others, so the search begins again without it, until nothing changes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from metnos.cache.generalise.conversions import REFERENCES, RELATIVE, Form, convert, forms
from metnos.cache.generalise.leaves import Leaf
from metnos.cache.generalise.shape import words_of
from metnos.cache.generalise.tiling import tile
from metnos.cache.generalise.uses import Mode, Reading, SlotUse
from metnos.plan.references import (
    Every,
    FillerTarget,
    Index,
    InputTarget,
    Key,
    Parts,
    Reference,
    RuntimeTarget,
    SlotTarget,
    StepTarget,
)
from metnos.plan.spelling import format_parts, format_reference, parse_string
from metnos.request.lexicon import lexicon_for
from metnos.request.model import Slot

_LONG = 4
"""Letters from which a part of a value counts within a word, too ("report" in "reports2")."""
_NUMBERS_ALIKE = frozenset(("integer", "number", "size", "duration"))


class Located(NamedTuple):
    """What was found in a plan's leaves."""

    put: dict[str, Any]
    """JSON pointer → what stands there now: a string with `${SLOT:sN}`."""
    uses: tuple[SlotUse, ...]
    fixed: frozenset[int]
    free: tuple[str, ...]
    """Pointers of literals that are neither a slot nor a default nor structure."""
    texts: tuple[tuple[str, str], ...]
    """(pointer, text) of every passage or number that is no slot's."""
    symbolic: frozenset[int]
    """Periods and dates to which the plan refers through the runtime, located or not."""


def locate(slots: Sequence[Slot], found: Sequence[Leaf], language: str, closed: Collection[int] = ()) -> Located:
    """Locate every slot in the leaves, or give it up; those in `closed` are given up from the start."""
    fixed = set(closed)
    symbolic: set[int] = set()
    while True:
        search = _Search({index: slot for index, slot in enumerate(slots) if index not in fixed}, language)
        for leaf in found:
            search.look(leaf)
        doubtful = search.doubtful()
        symbolic |= search.symbolic
        if not doubtful:
            located = {use.index for use in search.uses()}
            return Located(
                search.put,
                search.uses(),
                frozenset(set(range(len(slots))) - located),
                tuple(search.free),
                tuple(search.texts),
                frozenset(symbolic),
            )
        fixed |= doubtful


class _Search:
    """One pass over the leaves with the slots that are still open."""

    def __init__(self, slots: Mapping[int, Slot], language: str) -> None:
        self.slots = slots
        self.language = language
        self.put: dict[str, Any] = {}
        self.free: list[str] = []
        self.conflicts: set[int] = set()
        self._uses: dict[tuple[Any, ...], list[str]] = {}
        self.symbolic: set[int] = set()
        self.texts: list[tuple[str, str]] = []
        self._words: set[str] = set()
        self._typed: dict[int, list[int]] = {}
        self._skip = "\0"

    def look(self, leaf: Leaf) -> None:
        """Take one leaf into account."""
        if leaf.place.startswith(self._skip):
            return
        if leaf.role == "list":
            self._list(leaf)
        elif leaf.role in {"word", "key"}:
            self._words.add(str(leaf.value).casefold())
            if leaf.role == "key":
                self.free.append(leaf.place)
        elif leaf.role != "position":
            self._value(leaf)

    def uses(self) -> tuple[SlotUse, ...]:
        """The uses so far, in order of their numbers."""
        return tuple(
            SlotUse(
                index=index, kind=self.slots[index].kind, readings=readings, mode=mode, places=tuple(places),
                least=least, most=most,
            )
            for (index, readings, mode, least, most), places in self._uses.items()
        )  # fmt: skip

    # --- leaves ---------------------------------------------------------------------------------------------

    def _list(self, leaf: Leaf) -> None:
        if self._typed_use(leaf):
            self._skip = f"{leaf.place}/"

    def _value(self, leaf: Leaf) -> None:
        if isinstance(leaf.value, str):
            self._string(leaf)
        elif not self._typed_use(leaf):
            self.texts.append((leaf.place, str(leaf.value)))
            if not leaf.is_default:
                self.free.append(leaf.place)

    def _typed_use(self, leaf: Leaf) -> bool:
        found = self._whole(leaf, leaf.value)
        for index, (order, readings) in found.items():
            self._typed.setdefault(index, []).append(order)
            self._doubt(order, readings, leaf)
            self.put[leaf.place] = self._name(index, readings, "typed", leaf)
        return bool(found)

    def _doubt(self, order: int, readings: tuple[Reading, ...], leaf: Leaf) -> None:
        """What is neither the value nor as it was said may be the model's own, and equal by chance."""
        if order > 1 and ("", "text", "") not in readings and leaf.place not in self.free:
            self.free.append(leaf.place)

    def _whole(self, leaf: Leaf, wanted: Any) -> dict[int, tuple[int, tuple[Reading, ...]]]:
        """Slot → its conversions of the first order that make this literal; a conflict if there is doubt."""
        found: dict[int, tuple[int, tuple[Reading, ...]]] = {}
        for index, slot in self.slots.items():
            fitting: list[Form] = [
                form
                for form in forms(slot, self.language, prose=False, pattern=leaf.pattern)
                if _same(form.literal, wanted)
            ]
            if fitting:
                order = min(form.order for form in fitting)
                found[index] = (order, tuple(("", form.name, "") for form in fitting if form.order == order))
        if len(found) > 1 or leaf.is_default:
            self.conflicts.update(found)
        return found

    def _string(self, leaf: Leaf) -> None:
        text: str = leaf.value
        if leaf.role == "plain":
            pieces = self._prose(text, "plain", leaf)
            self._keep(leaf, _joined(pieces))
            return
        parts = parse_string(text)
        if format_parts(parts) != text:
            # Another spelling of a reference: left as it is, for it could not be given back byte for byte.
            self._constant(text, leaf)
            return
        if len(parts) == 1 and isinstance(parts[0], str):
            whole = self._whole(leaf, parts[0])
            for index, (order, readings) in whole.items():
                self.put[leaf.place] = self._name(index, readings, "text", leaf)
                self._doubt(order, readings, leaf)
            if whole:
                return
        self._parts(parts, leaf)

    def _parts(self, parts: Parts, leaf: Leaf) -> None:
        out: list[str | Reference] = []
        for at, part in enumerate(parts):
            if isinstance(part, str):
                pieces = self._prose(part, "text", leaf)
                if at + 1 < len(parts) and isinstance(pieces[-1], _Named):
                    self.conflicts.add(pieces[-1].slot)  # A dollar at its end would have to be doubled.
                out.extend(_slot(piece) for piece in pieces)
            else:
                out.append(self._reference(part, leaf))
        self._keep(leaf, format_parts(tuple(out)))

    def _keep(self, leaf: Leaf, text: str) -> None:
        if text != leaf.value:
            self.put[leaf.place] = text

    # --- texts ----------------------------------------------------------------------------------------------

    def _prose(self, text: str, mode: Mode, leaf: Leaf) -> list[str | _Named]:
        """The passage in pieces: constant text, and names of uses."""
        found = tile(text, self.slots, self.language)
        self.conflicts |= found.conflicts
        pieces: list[str | _Named] = []
        at = 0
        for region in found.regions:
            if region.start > at:
                pieces.append(text[at : region.start])
            pieces.append(_Named(self._use(region.slot, region.readings, mode, leaf.place), region.slot))
            at = region.end
        if at < len(text) or not pieces:
            pieces.append(text[at:])
        constants = [piece for piece in pieces if isinstance(piece, str)]
        for constant in (*constants, *_within(found.regions)):
            self._constant(constant, leaf)
        return pieces

    def _constant(self, text: str, leaf: Leaf) -> None:
        if not any(character.isalnum() for character in text):
            return
        self.texts.append((leaf.place, text))
        if not leaf.is_default and leaf.place not in self.free:
            self.free.append(leaf.place)

    def _reference(self, reference: Reference, leaf: Leaf) -> Reference:
        target = reference.target
        if isinstance(target, RuntimeTarget):
            return self._runtime_reference(reference, leaf)
        if isinstance(target, StepTarget | FillerTarget | InputTarget | SlotTarget):
            self._words.update(word.casefold() for word in _names_in(target))
        for segment in reference.path:
            if isinstance(segment, Key):
                self._words.add(segment.name.casefold())
            else:
                assert isinstance(segment, Every | Index)
        fallback = reference.fallback
        if isinstance(fallback, str):
            pieces = self._prose(fallback, "json", leaf)
            fallback = _joined(pieces)
        elif fallback not in (None, 0, False, [], {}):
            self._constant(str(fallback), leaf)
        return Reference(target, reference.path, reference.has_fallback, fallback)

    def _runtime_reference(self, reference: Reference, leaf: Leaf) -> Reference:
        spelled = format_reference(reference)
        found = {
            index: readings
            for index, slot in self.slots.items()
            if slot.kind == "period"
            and (
                readings := tuple(
                    ("", name, "") for name in REFERENCES if convert(name, slot, self.language) == spelled
                )
            )
        }
        self.symbolic.update(found)
        if len(found) == 1:
            [(index, readings)] = found.items()
            return Reference(SlotTarget(self._use(index, readings, "reference", leaf.place)))
        self.conflicts.update(found)
        if spelled != "${RUNTIME:now}":
            # "From the start of last week to the start of this one" is last week, and says so in another way; so is the
            # start of the day 30 days ago for "older than 30 days".
            counting = {*RELATIVE, "duration"}
            self.conflicts.update(index for index, slot in self.slots.items() if slot.kind in counting)
        return reference

    # --- uses -----------------------------------------------------------------------------------------------

    def _name(self, index: int, readings: tuple[Reading, ...], mode: Mode, leaf: Leaf) -> str:
        least, most = bounds(leaf, mode)
        return f"${{SLOT:{self._use(index, readings, mode, leaf.place, least, most)}}}"

    def _use(
        self, index: int, readings: tuple[Reading, ...], mode: Mode, place: str, least: float | None = None,
        most: float | None = None,
    ) -> str:  # fmt: skip
        key = (index, readings, mode, least, most)
        places = self._uses.setdefault(key, [])
        if place not in places:
            places.append(place)
        return f"s{list(self._uses).index(key)}"

    # --- doubts ---------------------------------------------------------------------------------------------

    def doubtful(self) -> set[int]:
        """Slots that must be given up."""
        doubtful = set(self.conflicts)
        for index in {key[0] for key in self._uses}:
            slot = self.slots[index]
            orders = self._typed.get(index, [])
            if max(orders, default=1) > 1 and len(orders) > 1:
                doubtful.add(index)  # "1" of "1 MB" may be any 1.
            if slot.kind in _NUMBERS_ALIKE and len(orders) > 1:
                doubtful.add(index)
            if (
                any(name in self._words for name in names_of(slot))
                or self._remains(slot)
                or not self._is_whole(slot, index)
            ):
                doubtful.add(index)
        return doubtful

    def _is_whole(self, slot: Slot, index: int) -> bool:
        """Of a list every item has its place, one by one or with the others."""
        used = {name for key in self._uses if key[0] == index for reading in key[1] for name in reading[1::2]}
        numbers = {int(name.split(":")[1]) for name in used if name.startswith("item:")}
        return not slot.items or not used.isdisjoint(("items", "text")) or len(numbers) == len(slot.items)

    def _remains(self, slot: Slot) -> bool:
        """Whether a part of the value stands in text that no conversion explains."""
        parts = _fragments(slot, self.language)
        for _, text in self.texts:
            words, folded = words_of(text), text.casefold()
            if any(part in words or (len(part) >= _LONG and part in folded) for part in parts):
                return True
        return False


class _Named(NamedTuple):
    """`${SLOT:name}`, of slot `index`."""

    name: str
    slot: int


def _slot(piece: str | _Named) -> str | Reference:
    return piece if isinstance(piece, str) else Reference(SlotTarget(piece.name))


def _joined(pieces: Sequence[str | _Named]) -> str:
    return "".join(piece if isinstance(piece, str) else f"${{SLOT:{piece.name}}}" for piece in pieces)


def _within(regions: Sequence[Any]) -> Iterator[str]:
    """Constant text inside of regions: of each the reading with the least."""
    for region in regions:
        yield min((" ".join(reading[::2]) for reading in region.readings), key=len)


def _names_in(target: StepTarget | FillerTarget | InputTarget | SlotTarget) -> tuple[str, ...]:
    return (str(target.step),) if isinstance(target, StepTarget) else (target.name,)


def _same(literal: Any, value: Any) -> bool:
    """Equal, and of one type of JSON (5 and 5.0 are one number)."""
    if isinstance(literal, bool) or isinstance(value, bool):
        return False
    numbers = isinstance(literal, int | float) and isinstance(value, int | float)
    return bool(literal == value) and (numbers or isinstance(literal, str) == isinstance(value, str))


def bounds(leaf: Leaf, mode: Mode) -> tuple[float | None, float | None]:
    schema = leaf.schema
    names = ("minimum", "maximum") if mode == "typed" else ("minLength", "maxLength")
    least, most = schema.get(names[0]), schema.get(names[1])
    return (least if isinstance(least, int | float) else None, most if isinstance(most, int | float) else None)


def names_of(slot: Slot) -> set[str]:
    """What the slot could be called among names: its value, and the parts of a path."""
    if slot.items:
        return {name for item in slot.items for name in names_of(item)}
    value = str(slot.value).casefold()
    names = {value, slot.text.casefold()}
    if slot.kind in {"path", "glob", "url", "address"}:
        names.update(words_of(value))
    return names


def _fragments(slot: Slot, language: str) -> set[str]:
    """Parts by which the value would be known in other text; words of the language only where they are all of it."""
    if slot.items:
        return {part for item in slot.items for part in _fragments(item, language)}
    words = set(words_of(f"{slot.value} {slot.text}"))
    if slot.kind == "period":
        return {slot.text.casefold()}
    known = lexicon_for(language).words
    telling = {word for word in words if word not in known}
    if slot.kind in {"path", "glob"}:
        telling.update(words_of(str(slot.value))[-1:])
    return telling or words
