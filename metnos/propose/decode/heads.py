"""Whether a passage of the request is a column of a table that it names (ADR 0026).

Law: pure. A passage and a column are the same by their normal form: case, composed accents, `_`, `-`, blanks and humps
between words do not count, nor whether a word is singular or plural, in English and Italian. Words that are a part of one
column only mean that one ("hours" of `weekly_hours`). The column comes back as it is written in the header; nothing else
of the header does.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final, Protocol, runtime_checkable
from unicodedata import normalize

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_APART: Final = re.compile(r"[\W_]+")
SHORTEST: Final = 4
"""Letters of a word whose ending may say its number."""
MOST_WORDS: Final = 4
"""Of a passage that is asked about."""


@runtime_checkable
class Heads(Protocol):
    """Who may look whether a file is there, and into the header of a table."""

    def __call__(self, name: str, /) -> bool:
        """Whether a file or folder of that name is there."""
        ...

    def columns(self, file: str, passages: Sequence[str]) -> Mapping[str, str] | None:
        """Passage → the column that it is, for those that are one; None: no header can be read."""
        ...

    def numbers(self, file: str, columns: Sequence[str]) -> frozenset[str]:
        """Of columns that were confirmed, those that hold numbers."""
        ...


@runtime_checkable
class Below(Protocol):
    """Who may look for a file by its bare name."""

    def below(self, name: str, /) -> bool:
        """Whether a bare name is that of one file somewhere below, and of nothing here."""
        ...

    def below_folder(self, name: str, /) -> bool:
        """The same of a folder."""
        ...

    def forget(self) -> None:
        """A request begins: what is there may have changed."""
        ...


def matching(header: Iterable[str], passages: Iterable[str]) -> dict[str, str]:
    """Passage → the column of the header that it means."""
    columns = [(name, words_of(name)) for name in dict.fromkeys(header)]
    found: dict[str, str] = {}
    for passage in passages:
        words = words_of(passage)
        exact = [name for name, _ in columns if name == passage]
        same = exact or [name for name, own in columns if len(own) == len(words) and all(map(alike, own, words))]
        part = same or [name for name, own in columns if words and all(any(alike(w, o) for o in own) for w in words)]
        if len(part) == 1:
            found[passage] = part[0]
        elif same:
            found[passage] = same[0]
    return found


@cache
def words_of(text: str) -> tuple[str, ...]:
    """The words of a name, without case and marks."""
    return tuple(word.casefold() for word in _APART.split(_HUMP.sub(" ", normalize("NFC", text))) if word)


def alike(one: str, other: str) -> bool:
    """Whether two words differ by their number at most."""
    return one == other or not _stems(one).isdisjoint(_stems(other))


@cache
def _stems(word: str) -> frozenset[str]:
    """The word without what tells one from many: `-s`, `-es`, `-ies`; Italian vowels, and the `h` that keeps a sound hard."""
    found = {word}
    if len(word) >= SHORTEST:
        found |= {word[: -len(end)] + new for end, new in (("ies", "y"), ("es", ""), ("s", "")) if word.endswith(end)}
        if word[-1] in "aeio":
            stem = word[:-1].removesuffix("i") if word[-2] == "i" else word[:-1]
            found.add(stem[:-1] if stem.endswith(("ch", "gh")) else stem)
    return frozenset(found)
