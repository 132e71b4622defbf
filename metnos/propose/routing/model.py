"""What routing says: names, effects, and what each part of the request has. Frozen values, and the numbers of the rule.

Law: the numbers were chosen on `benchmarks/routing.py`; a change of one is measured there.
"""

from __future__ import annotations

from typing import Final

import msgspec

from metnos.sdk import EffectClass

DEFAULT_CAP: Final = 24
"""Tools that a plan may name, unless the signal is weak."""
SMALL_CATALOG: Final = 40
"""A catalog of so many tools is nameable as a whole where the signal is weak."""
WIDER: Final = 2
"""In a larger one the cap is widened by so much then."""
LEXICAL: Final = 8
"""Tools of a part that its words alone bring."""
PRODUCERS: Final = 3
"""Tools that are brought to feed one consumer."""
SERVED: Final = 0.34
"""Share of a part's words that tools must know, lest it counts as unserved."""
STRANGE: Final = 0.5
"""The same of a part that begins with a word which nobody knows, most likely its verb."""
SURE: Final = 0.6
"""Share from which the words alone are a strong signal."""


class RoutedClause(msgspec.Struct, frozen=True, kw_only=True):
    """A part of the request: a clause, or a sentence of it."""

    text: str
    start: int
    end: int
    names: tuple[str, ...]
    """Its own tools, best first, before the cap."""
    weak: bool
    """Neither a family nor enough words point to a tool."""
    score: float
    """From 0 to 1: the share of its words that tools, or the families that it asks for, know."""
    served: bool
    """Some tool may do it. Where not, a refusal should name `text`."""
    plain: bool = False
    """Served, and tools or families know each of its words; of its values, only where files are named or meant."""


class Routed(msgspec.Struct, frozen=True, kw_only=True):
    """The tools that a plan may name, and how sure that is."""

    names: tuple[str, ...]
    """Best first, at most the cap."""
    effects: frozenset[EffectClass]
    """What the plan's steps may do: `read`, and what is asked for. With a negation, `read` alone."""
    clauses: tuple[RoutedClause, ...]
    """In the order said."""
    weak: bool
    """The signal of a part is weak; `names` is wider then."""
    unserved: tuple[str, ...]
    """Parts of the request that no tool serves, as they were written."""

    plain: bool = False
    """Nothing in the request is left to judge: each part is plain; or it only reads, each part is served, begins with
    no verb that nobody knows, and a table is named, whose columns and values the other words may be.
    """
