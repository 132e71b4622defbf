"""Which names of a request an argument may be given that names a file or a folder.

Law: what is acted on is not where something goes, and the other way round. Where something is still to be put is no file
yet: neither read nor acted on. Of two names that nothing marks ("rename a.txt b.txt"), the one that is there is acted on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from metnos.checks.guards.asked import ANSWERS, Action, verbs_of
from metnos.checks.guards.grounding import is_what_is_acted_on, normalised
from metnos.checks.providers import provider_of
from metnos.propose.decode.endings import ending_of, is_file_name
from metnos.propose.decode.formats import reads
from metnos.propose.decode.offers import HERE

if TYPE_CHECKING:
    from metnos.contracts.model import Contract
    from metnos.propose.decode.choices import Value
    from metnos.propose.decode.offers import Offers
    from metnos.propose.decode.state import Sofar

_NAMED_ANEW = frozenset({"move", "rename"})
"""Verbs of tools that take a name to another one."""


class Targets:
    """Of one tool, in one state."""

    def __init__(self, contract: Contract, offers: Offers, sofar: Sofar, formats: frozenset[str]) -> None:
        """Of `contract`; `formats` are endings of files that have a tool of this family for themselves."""
        self.acts = any(rule.effect != "read" for rule in contract.effects)
        self.contract = contract
        self.formats = formats
        self.offers = offers
        self.properties = cast("dict[str, Any]", contract.args.get("properties", {}))
        self.provider = provider_of(contract)
        self.sofar = sofar

    def of(self, name: str, default: Any, words: tuple[Value, ...]) -> list[Value]:
        """Names for a target: of folders where it takes one; for a reading those of files, if there are such; then `words`."""
        below = frozenset(self.offers.below)  # those are found first, and handed on
        named = (value for value in (*self._named(name, default), *words) if str(value.data) not in below)
        return [value for value in named if self._is_at_hand(value)]

    def takes_all(self, names: Value) -> bool:
        """Whether each name of a list may be given to a reading: none is of another format's file."""
        if any(str(name) in self.offers.below for name in names.data):
            return False
        return self.acts or all(self._is_of_format(str(name)) for name in names.data)

    def _named(self, name: str, default: Any) -> tuple[Value, ...]:
        names = self.offers.names
        if default == HERE:
            return self._looked_in()
        files = tuple(value for value in names if is_file_name(str(value.data)))
        if not self.acts:
            if any("*" in str(part.get("default", "")) for part in self.properties.values()):
                return (*files, *self.offers.folders)  # what has a pattern for the names in it may be a folder
            return files or names
        if is_what_is_acted_on(name, self.contract):
            places = self.offers.read_places
            at_hand = tuple(value for value in names if self._is_put(value) and value.json not in places)
            return self._there(
                tuple(value for value in at_hand if normalised(str(value.data)) not in self.offers.only_places)
            )
        return names if self.contract.consumes is None else self._arriving(names)

    def _looked_in(self) -> tuple[Value, ...]:
        """Folders to look in: quoted text only where it is one; where none is said, bare words that are there."""
        offers = self.offers
        if self.acts or offers.there is None:
            return offers.folders
        quoted = {value.json for value in offers.quoted}
        found = tuple(v for v in offers.folders if v.json not in quoted or offers.is_there(str(v.data)))
        there = tuple(v for v in found if offers.is_there(str(v.data)) or self._is_below(str(v.data)))
        if there or offers.below:  # what else was taken for a folder is none
            return there
        return found or (() if offers.files_there else offers.unexplained_there)

    def _is_below(self, name: str) -> bool:
        """A folder below that this tool can look in by a pattern."""
        patterns = any(str(part.get("default", "")) == "*" for part in self.properties.values())
        return patterns and name in self.offers.below_folders

    def _there(self, names: tuple[Value, ...]) -> tuple[Value, ...]:
        """Of two names for a tool that takes one to the other, the only one that is there."""
        there = self.offers.there
        if there is None or len(names) != 2 or verbs_of(self.contract).isdisjoint(_NAMED_ANEW):
            return names
        found = tuple(value for value in names if there(str(value.data)))
        return found if len(found) == 1 and not self.sofar.steps else names

    def _arriving(self, names: tuple[Value, ...]) -> tuple[Value, ...]:
        """Of names for where something goes, those that were said so for what this tool is still to do, if any were."""
        mine = {name for name, actions in self.offers.arrivals.items() if any(map(self._may_do, actions))}
        return tuple(value for value in names if value.json in mine) or names

    def _may_do(self, action: Action) -> bool:
        wanted = ANSWERS.get(action.intent.verb, frozenset({action.intent.verb}))
        return action in self.sofar.missing and not verbs_of(self.contract).isdisjoint(wanted)

    def _is_put(self, name: Value) -> bool:
        """Whether nothing is still to be put at a name."""
        return self.offers.arrivals.get(name.json, frozenset()).isdisjoint(self.sofar.missing)

    def _is_at_hand(self, name: Value) -> bool:
        """Whether a reading may be given a name: not where something is still to be put, nor another format's file."""
        if self.acts:
            return True
        if not self._is_put(name):
            return False
        return self._is_of_format(str(name.data))

    def _is_of_format(self, name: str) -> bool:
        return not self.formats or reads(self.provider, self.formats, [ending_of(name)], self.offers)
