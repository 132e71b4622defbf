"""The ending of a file tells its reader: a table is read as one, and as text only where its text is asked for.

Law: a reader is of a format by its provider (`read_files_csv`), and siblings share its family; one whose provider is no
format ("gmail") is not told by a name. What an ending means for the way to read (`.jsonl` has a value on each line) is
the reader's own business.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from metnos.checks.guards.effects import mildest
from metnos.checks.providers import provider_of
from metnos.propose.decode.endings import endings_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from metnos.checks.bound import Bound
    from metnos.propose.decode.said import Said

AS_TEXT: Final = "as_text"
CONTENT: Final = "content"
"""What a request speaks of (`mentions.toml`)."""


def endings_of_siblings(bounds: Iterable[Bound]) -> dict[str, frozenset[str]]:
    """Tool that reads → the endings for which its family has readers, its own among them."""
    bounds = [bound for bound in bounds if mildest(bound.contract) == "read"]
    found: dict[str, frozenset[str]] = {}
    for bound in bounds:
        mine = set(bound.contract.families)
        family = {provider_of(each.contract) for each in bounds if mine & set(each.contract.families)}
        if len(family) > 1:
            found[bound.contract.name] = frozenset(ending for each in family for ending in endings_of(each))
    return found


def reads(provider: str, siblings: frozenset[str], endings: Iterable[str], offers: Said) -> bool:
    """Whether a reader is the one of files with these endings.

    Args:
        provider: Of the reader; empty: it reads text.
        siblings: The endings for which its family has readers.
        endings: Folded.
        offers: Of the request: it may ask for the text of a table, or say what a file is that has another ending.
    """
    own, there = endings_of(provider), frozenset(endings)
    if own:
        return not own.isdisjoint(there) or (siblings.isdisjoint(there) and says_format(own, offers))
    return bool(provider) or siblings.isdisjoint(there) or wants_text(offers)


def says_format(own: frozenset[str], offers: Said) -> bool:
    """Whether a format is said beside the names."""
    return any(word.free and word.key in own for word in offers.words)


def wants_text(offers: Said) -> bool:
    """Whether the text of a file is asked for, its lines or words, or that its content goes elsewhere as it is."""
    moved = any(intent.effect != "read" for intent in offers.request.intents)
    return offers.mentions(AS_TEXT) or (moved and offers.mentions(CONTENT))
