"""The short way to read references: strings whose references are all of the plainest kind, without the grammar.

Law: what is read here is read as the grammar `reference.lark` reads it (a property test holds the two against each
other); whatever is not of this kind is left to it. Most references are, and the grammar takes 20 times as long for them.

    >>> outlined('In notes: ${step2.text ?? "nothing"}')[1]
    (False, ('step2', '.text', '""'))
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from metnos.plan.jsondata import JSONFault, loads_strict, spell
from metnos.plan.references import Every, Index, ItemTarget, Key, Reference, RuntimeTarget, SlotTarget, StepTarget

if TYPE_CHECKING:
    from metnos.plan.references import Parts, Segment, Target

REMEMBERED = 4096
"""References that are kept."""
_SHORT = 4096
"""Characters of a fallback that is read without the reader of JSON, far below what that refuses."""
_PLAIN = re.compile(
    r"\$\{(step[1-9][0-9]{0,5}|item|RUNTIME:[a-z]+(?:-[0-9]+)?|SLOT:[A-Za-z_][A-Za-z0-9_-]{0,63})"
    r"((?:\.[A-Za-z_][A-Za-z0-9_-]*|\[(?:0|[1-9][0-9]{0,8})\]|\[\*\])*)"
    r"(?: \?\? (\"[^\"\\]*(?:\\.[^\"\\]*)*\"|-?(?:0|[1-9][0-9]*)|true|false|null|\[\]|\{\}))?\}"
)
"""A target, a path, perhaps another value, without a space too many: a part of the grammar's own patterns, each followed by
what must follow it there. Of steps only those with a number, of names in a path only plain words."""
_SEGMENT = re.compile(r"\.([^.\[]+)|\[([0-9]+)\]|\[\*\]")

Outline: TypeAlias = "tuple[bool | tuple[str, str, str | None], ...]"
"""Whether a string is one reference alone; of each reference its target, its path and its fallback, as written."""


def plainest(text: str) -> Parts | None:
    """The pieces of a string whose every dollar opens a reference of the plainest kind; None if the grammar must say."""
    found = outlined(text)
    return None if found is None else found[0]


def outlined(text: str) -> tuple[Parts, Outline | None] | None:
    """The pieces of a string as `plainest` gives them, and the outline of them.

    Two strings of one outline have the same references, texts to use instead aside, and are both one reference alone or
    both longer text. The outline is None where the string is not in canonical spelling.
    """
    pieces = _PLAIN.split(text)
    if "$" in "".join(pieces[::4]):
        return None
    parts: list[str | Reference] = []
    outline: list[tuple[str, str, str | None]] = []
    canonical = True
    for at in range(0, len(pieces) - 1, 4):
        before, target, path, other = pieces[at : at + 4]
        if before:
            parts.append(before)
        reference = _reference(target, path)
        if other is not None:
            try:
                fallback, spelled = _fallback(other)
            except JSONFault:
                return None
            canonical = canonical and spelled
            other = '""' if type(fallback) is str else other
            reference = Reference(reference.target, reference.path, has_fallback=True, fallback=fallback)
        parts.append(reference)
        outline.append((target, path, other))
    if pieces[-1]:
        parts.append(pieces[-1])
    return tuple(parts), (len(parts) == 1, *outline) if canonical else None


def _fallback(text: str) -> tuple[Any, bool]:
    """The value of a fallback, and whether it is in canonical spelling."""
    if text[0] == '"' and "\\" not in text and len(text) <= _SHORT and text.isprintable():
        return text[1:-1], True  # nothing in it is escaped, and nothing need be
    value = loads_strict(text)
    return value, spell(value) == text


@lru_cache(maxsize=REMEMBERED)
def _reference(target: str, path: str) -> Reference:
    """A reference without a fallback."""
    segments = tuple(map(_segment, _SEGMENT.finditer(path)))
    return Reference(_target(target), segments)


def _target(text: str) -> Target:
    kind, _, name = text.partition(":")
    if not name:
        return ItemTarget() if text == "item" else StepTarget(int(text[4:]))
    return RuntimeTarget(name) if kind == "RUNTIME" else SlotTarget(name)


def _segment(found: re.Match[str]) -> Segment:
    name, number = found.groups()
    return Key(name) if name else Index(int(number)) if number else Every()
