"""What recordings are held against: contracts and rules of today, and those of then where somebody has them."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

import msgspec

from metnos.contracts.catalog import Catalog
from metnos.contracts.model import Contract
from metnos.turn.rules import Rules

if TYPE_CHECKING:
    from collections.abc import Iterable


class Today(msgspec.Struct, frozen=True, kw_only=True):
    """One for a whole collection."""

    catalog: Catalog
    rules: Rules
    """Over that catalog."""
    before: dict[str, Contract] = {}
    """`name@version` → contract of then."""

    def like(self, tool: str) -> list[str]:
        """Names of today that a tool which is gone could have now."""
        return get_close_matches(tool, self.catalog.names(), n=3)


def today(catalog: Catalog, before: Iterable[Contract] = ()) -> Today:
    """Contracts of today under the shipped rules.

    Args:
        catalog: Of today.
        before: Contracts that the turns were recorded under.
    """
    from metnos.drivers.rules import make_rules

    return Today(catalog=catalog, rules=make_rules(catalog), before={one.reference: one for one in before})
