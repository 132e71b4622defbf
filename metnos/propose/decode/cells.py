"""Whether a passage of the request stands in the cells of a table that it names (ADR 0029).

Law: pure. A passage is a cell if the two are equal as the filters compare: case and composed accents do not count. It is
a part of one if it stands in it as whole words, or is a month or a year in a column of days (`dated.py`). Of a column that the request does not name only its number comes back,
so that two passages of one column can be told from two of different ones; nothing of a cell does.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, runtime_checkable
from unicodedata import normalize

from metnos.propose.decode.dated import DAY, PART

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

SHORTEST: Final = 4
"""Letters of a word that may be meant in another of its forms."""
_ENDINGS: Final = (
    (("a", "e", "i", "o"), ("a", "e", "i", "o")),
    (("che", "chi"), ("ca", "co")),
    (("ghe", "ghi"), ("ga", "go")),
    (("ca", "co"), ("che", "chi")),
    (("ga", "go"), ("ghe", "ghi")),
    (("ies",), ("y",)),
    (("es", "s"), ("",)),
    (("y",), ("ies",)),
)
"""What an ending may stand instead of: number and gender of Italian words, number of English ones."""


class Found(NamedTuple):
    """What a table holds of some passages."""

    whole: Mapping[str, frozenset[int]]
    """Passage → numbers of the columns in which it is a cell."""
    parts: Mapping[str, frozenset[int]]
    """The same, of those that are a part of a longer cell."""
    columns: Mapping[str, int]
    """Column that was asked about → its number."""
    flags: frozenset[str] = frozenset()
    """Of those, the ones that hold nothing but `true` and `false` of JSON."""


@runtime_checkable
class Cells(Protocol):
    """Who may look through the cells of a table."""

    def cells(self, file: str, passages: Sequence[str], columns: Sequence[str]) -> Found | None:
        """Which passages stand in a table, and where; None: nobody can tell."""
        ...


def folded(text: str) -> str:
    """Text without what filters do not tell apart."""
    return text.lower() if text.isascii() else normalize("NFC", normalize("NFC", text).casefold())


def found_in(texts: Mapping[str, Sequence[str | bool]], passages: Sequence[str], columns: Sequence[str]) -> Found:
    """What the columns of a table hold of passages.

    Args:
        texts: Column → its cells, as far as they are text or truth values.
        passages: Of the request.
        columns: That may be told.
    """
    asked = {passage: folded(passage) for passage in passages}
    patterns = {passage: re.compile(rf"(?<!\w){re.escape(text)}(?!\w)") for passage, text in asked.items()}
    whole: dict[str, set[int]] = {}
    parts: dict[str, set[int]] = {}
    other: set[str] = set()
    for number, cells in enumerate(texts.values()):
        held = {folded(cell) for cell in cells if isinstance(cell, str)}
        everything = "\n".join(held)
        days = all(DAY.fullmatch(cell) for cell in held if cell)
        for passage, text in asked.items():
            if text in held:
                whole.setdefault(passage, set()).add(number)
            elif text in everything and (patterns[passage].search(everything) or PART.fullmatch(text)):
                parts.setdefault(passage, set()).add(number)
                other |= set() if days else {passage}
    parts = {passage: each for passage, each in parts.items() if not (passage in other and PART.fullmatch(passage))}
    numbers = {name: number for number, name in enumerate(texts) if name in columns}
    return Found(
        {passage: frozenset(each) for passage, each in whole.items()},
        {passage: frozenset(each) for passage, each in parts.items()},
        numbers,
        frozenset(name for name in numbers if texts[name] and all(isinstance(cell, bool) for cell in texts[name])),
    )


def forms_of(word: str) -> Iterator[str]:
    """The other forms of a word, as far as endings tell: made of the word, whatever stands in a table."""
    if len(word) < SHORTEST or not word.isalpha():
        return
    for old, new in _ENDINGS:
        for end in old:
            if word.casefold().endswith(end) and len(word) - len(end) >= SHORTEST - 1:
                yield from (word[: -len(end)] + other for other in new if other != end)
    if word[-1].casefold() not in "aeiosy":
        yield f"{word}s"
