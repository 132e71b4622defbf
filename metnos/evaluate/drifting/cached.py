"""Learned plans and templates that depend on tools which have changed: named, with the reason why they serve no more.

Law: the cache itself says what state an entry is in; here it is only asked.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final, Protocol

from metnos.evaluate.drifting.model import CacheEntry

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from metnos.cache.tending import EntryView
    from metnos.contracts.catalog import Catalog

TOOL_STATES: Final = frozenset({"executor-changed", "executor-removed", "executor-unavailable", "family-changed"})
"""States of an entry whose tools, or those beside them, are not what they were."""


class Door(Protocol):
    """What an engine's `cache` gives."""

    def entries(self, tool: str = "", catalog: Catalog | None = None) -> Iterable[EntryView]:
        """What was learned."""
        ...

    def templates(self, tool: str = "", catalog: Catalog | None = None) -> Iterable[EntryView]:
        """The publisher's templates."""
        ...


def depending(door: Door, tools: Collection[str], catalog: Catalog | None = None) -> list[CacheEntry]:
    """What was learned with one of `tools`, or serves no more because of a tool; the templates that name one, too.

    Args:
        door: Of the engine whose home it is.
        tools: Names of those that have changed.
        catalog: Tools of today; None: those of the engine.
    """
    found: list[CacheEntry] = []
    for one in chain(door.entries(catalog=catalog), door.templates(catalog=catalog)):
        changed = tuple(name for name in one.tools if name in tools)
        if changed or one.state in TOOL_STATES:
            found.append(
                CacheEntry(
                    entry=one.entry,
                    layer=one.layer,
                    state=one.state,
                    tools=changed or one.tools,
                    form=one.form,
                    turns=one.turns,
                )
            )
    return found
