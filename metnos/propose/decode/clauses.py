"""What is said of one thing that is asked for, and what only of another that is asked for afterwards.

Law: a place binds to its own clause. "Delete the logs and show what is in documents" deletes nothing in documents: what
stands only behind the next thing that is asked for neither narrows what comes before it, nor is acted on by it. The guard
`clause-place` holds every plan to that; here it closes the ways to write one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from metnos.checks.guards.afterwards import next_asked
from metnos.propose.decode.choices import unique
from metnos.propose.decode.naming import NAMING
from metnos.propose.decode.offers import TYPED
from metnos.propose.decode.said import plain

if TYPE_CHECKING:
    from metnos.checks.guards.asked import Action
    from metnos.propose.decode.choices import Value
    from metnos.propose.decode.offers import Offers


class Afterwards:
    """Of one request; each action is looked at once."""

    def __init__(self, offers: Offers) -> None:
        self.offers = offers
        self._later: dict[Action, frozenset[str]] = {}
        self._names: dict[Action, frozenset[str]] = {}

    def later(self, action: Action) -> frozenset[str]:
        """JSON of all forms of what is only said afterwards."""
        if action not in self._later:
            start, slots = next_asked(self.offers.request, action), self.offers.slots
            sooner = {form for slot in slots if slot.start < start for form in self.offers.forms(slot)}
            behind = {form for slot in self.offers.of(TYPED) if slot.start >= start for form in self.offers.forms(slot)}
            self._later[action] = frozenset(behind - sooner) | self.names(action)
        return self._later[action]

    def names(self, action: Action) -> frozenset[str]:
        """JSON of the names and places among these."""
        if action not in self._names:
            start = next_asked(self.offers.request, action)
            self._names[action] = frozenset(
                value.json
                for value in unique((*self.offers.names, *self.offers.folders))
                if (said := self._said_at(value)) and min(said) >= start
            )
        return self._names[action]

    def _said_at(self, value: Value) -> list[int]:
        """Where a name stands: as a value, or as a word."""
        offers = self.offers
        slots = [slot.start for slot in offers.of(NAMING) if plain(str(slot.value)).json == value.json]
        return [*slots, *(word.start for word in offers.words if plain(word.text).json == value.json)]
