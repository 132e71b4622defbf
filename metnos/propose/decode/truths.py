"""Columns that say yes or no, and which of the two a request means: "the members who have not paid", "the books returned".

Law: the words of yes and no are a table here, and a column is asked whether it holds them; JSON has values of its own. A word
that is such a column, behind a negation, means no, and behind "is", "has", "already" yes; then it says which rows. Anywhere else
it only names the column.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from metnos.propose.decode.choices import Value
from metnos.propose.decode.said import plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from metnos.propose.decode.columns import Columns
    from metnos.propose.decode.said import Said

PAIRS: Final = (("yes", "no"), ("sì", "no"), ("si", "no"), ("true", "false"), ("vero", "falso"))
WORDS: Final = tuple(dict.fromkeys(word for pair in PAIRS for word in pair))
FLAGS: Final = (True, False)
BEING: Final = "being"
"""Words behind which a word tells what holds (`mentions.toml`)."""
REACH: Final = 4
"""Words between a negation and what it negates."""
_BETWEEN: Final = frozenset({"pronoun", "modal", "stop", "past", "place", "preposition"})


class Truth(NamedTuple):
    """A column that says yes or no."""

    column: Value
    values: tuple[Value, ...]
    """That may be written: the one that is meant, or yes and no."""
    owed: bool
    """It says which rows are meant."""
    start: int


def truths(said: Said, columns: Columns, flags: frozenset[str], holds: Callable[[str, str], bool]) -> tuple[Truth, ...]:
    """Those of a request.

    Args:
        said: The request.
        columns: Its columns.
        flags: Of them, those that hold JSON's own values only.
        holds: Whether a word is a cell of a column.
    """
    found: dict[str, Truth] = {}
    for at, column in (columns.confirmed or {}).items():
        pair = FLAGS if column in flags else _pair(column, holds)
        if pair is None:
            continue
        yes, no = (Value(each) if isinstance(each, bool) else plain(each) for each in pair)
        meant = _meant(said, columns, at)
        values = (yes, no) if meant is None else (yes,) if meant else (no,)
        truth = Truth(plain(column), values, meant is not None, columns.words[at].start)
        if column not in found or (truth.owed and not found[column].owed):
            found[column] = truth
    return tuple(found.values())


def _pair(column: str, holds: Callable[[str, str], bool]) -> tuple[str, str] | None:
    """The words of a column: those of which it holds both, else one of no doubt."""
    both = [pair for pair in PAIRS if all(holds(word, column) for word in pair)]
    some = [pair for pair in PAIRS if any(holds(word, column) for word in pair)]
    return both[0] if both else some[0] if len(some) == 1 else None


def _meant(said: Said, columns: Columns, at: int) -> bool | None:
    """Whether yes is meant, or no; None: neither is said."""
    words, lexicon = columns.words, said.lexicon
    behind = words[at + 1] if at + 1 < len(words) else None
    if behind is not None and "=" in said.request.text[words[at].end : behind.start]:  # "paid = no"
        told = [behind.key == yes for yes, no in PAIRS if behind.key in (yes, no)]
        if told:
            return told[0]
    near = range(max(0, at - 2), at)
    if any(words[number].free and columns.is_cue("naming", number) for number in near):
        return None  # "the column is paid" says which column it is
    for number in range(at - 1, max(-1, at - 2 - REACH), -1):
        word = words[number]
        known = lexicon.words.get(word.key)
        roles = known.roles if known is not None else frozenset[str]()
        if not word.free or word.key == ",":
            break
        if "negation" in roles:
            return False
        if known is not None and not roles & _BETWEEN:
            break
        if known is None and not said.speaks(word, BEING):
            break
    before = words[at - 1] if at else None
    return True if before is not None and before.free and said.speaks(before, BEING) else None
