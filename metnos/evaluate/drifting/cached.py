"""Learned plans and templates that depend on tools which have changed: named, with the reason why they serve no more.

Law: the cache itself says what state an entry is in; here it is only asked.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final

from metnos.evaluate.drifting.model import CacheEntry

if TYPE_CHECKING:
    from collections.abc import Collection

    from metnos.contracts.catalog import Catalog
    from metnos.drivers.cachedoor import CacheDoor

TOOL_STATES: Final = frozenset({"executor-changed", "executor-removed", "executor-unavailable", "family-changed"})
"""States of an entry whose tools, or those beside them, are not what they were."""


def depending(door: CacheDoor, tools: Collection[str], catalog: Catalog | None = None) -> list[CacheEntry]:
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
