"""Cues: words and values of a part that point to a family, as data (`cues.toml`).

Law: no word of a language stands in code. A cue only adds candidates; in order of how many cues point there.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metnos.contracts.model import Intent
from metnos.propose.routing.words import stem

if TYPE_CHECKING:
    from metnos.propose.routing.parts import Part

_FILE = Path(__file__).with_name("cues.toml")


@cache
def _data() -> dict[str, dict[str, Any]]:
    return tomllib.loads(_FILE.read_text("utf-8"))


@cache
def _words(language: str) -> dict[str, tuple[tuple[tuple[str, ...], Intent], ...]]:
    """First word → (words side by side, family); words as the index knows them: number and gender do not matter."""
    table: dict[str, tuple[tuple[tuple[str, ...], Intent], ...]] = {}
    if language == "slots":
        return table
    for family, cues in _data().get(language, {}).items():
        for cue in cues.split():
            words = tuple(map(stem, cue.split("_")))
            table[words[0]] = (*table.get(words[0], ()), (words, Intent(*family.split())))
    return table


@cache
def _slots() -> dict[str, tuple[Intent, ...]]:
    return {
        kind: tuple(Intent(*family.split()) for family in families.split(", "))
        for kind, families in _data()["slots"].items()
    }


def families_of(part: Part, language: str) -> list[Intent]:
    """The families that the words and values of a part point to, those with most cues first."""
    counted: dict[Intent, int] = {}
    table = _words(language)
    keys = tuple(map(stem, part.keys))
    for at, key in enumerate(keys):
        for words, family in table.get(key, ()):
            if keys[at : at + len(words)] == words:
                counted[family] = counted.get(family, 0) + 1
    for slot in part.slots:
        for family in _slots().get(slot.kind, ()):
            counted[family] = counted.get(family, 0) + 1
    return sorted(counted, key=lambda family: (-counted[family], family.verb, family.object))


def cue_words(part: Part, language: str) -> frozenset[str]:
    """Words of the part that are a cue, or the first word of one, as the index knows them."""
    return frozenset(_words(language).keys() & set(map(stem, part.keys)))
