"""Closure: what the tools that were picked need beside them to be fed.

Law: derived from kinds alone (`metnos.contracts.kinds`). A tool that consumes a kind brings a few that make it and only
read; where what is made has to be read into another kind first, its declared reader comes too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from metnos.contracts.kinds import KINDS, accepts
from metnos.propose.routing.model import PRODUCERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from metnos.contracts.model import Contract

MOST_MAKERS: Final = 64
"""Of one kind; in a catalog that has more, words must bring the others."""


class Closure:
    """Producers of each kind in one catalog."""

    def __init__(self, contracts: Sequence[Contract]) -> None:
        """Over all contracts, in order."""
        self._contracts = contracts
        self._number = {contract.name: number for number, contract in enumerate(contracts)}
        self._sources = [
            number
            for number, contract in enumerate(contracts)
            if contract.produces is not None and contract.produces.rule != "same" and _may_read(contract)
        ]
        self._shapers = [
            number
            for number, contract in enumerate(contracts)
            if contract.consumes is not None and contract.resources == () and _may_read(contract)
        ][:MOST_MAKERS]
        self._makers: dict[tuple[str, ...], dict[int, None]] = {}

    def makers(self, wanted: tuple[str, ...]) -> dict[int, None]:
        """Everything that makes what a consumer of `wanted` takes: what needs no input itself first."""
        known = self._makers.get(wanted)
        if known is None:
            found = [number for number in self._sources if accepts(wanted, self._kind(number))]
            found.sort(key=lambda number: (self._contracts[number].consumes is not None, number))
            known = dict.fromkeys(found[:MOST_MAKERS])
            self._makers[wanted] = known
        return known

    def shaping(self, picked: Iterable[int]) -> list[int]:
        """What takes the results of `picked` and touches nothing (sorting, counting, drawing a table), in order."""
        kinds = {self._kind(number) for number in picked} - {""}
        return [
            number
            for number in self._shapers
            if (consumes := self._contracts[number].consumes) and any(accepts(consumes.kinds, kind) for kind in kinds)
        ]

    def needed(self, picked: Iterable[int], ranked: Iterable[int]) -> list[int]:
        """What `picked` brings with it, nearest first; what it needs itself comes too. `ranked` are preferred."""
        found = dict.fromkeys(picked)
        given = len(found)
        preferred = dict.fromkeys(ranked)
        for number in list(found):
            found.update(dict.fromkeys(self._feeding(number, found, preferred)))
        for number in list(found)[given:]:  # "write" needs text, text needs files, files are found
            found.update(dict.fromkeys(self._feeding(number, found, preferred)))
        return list(found)[given:]

    def _feeding(self, number: int, there: dict[int, None], preferred: Iterable[int]) -> list[int]:
        consumes = self._contracts[number].consumes
        if consumes is None:
            return []
        makers = self.makers(consumes.kinds)
        missing = PRODUCERS - sum(maker in makers for maker in there)
        likely = [maker for maker in preferred if maker in makers]
        fresh = [maker for maker in dict.fromkeys((*likely, *makers)) if maker != number and maker not in there]
        return [*fresh[: max(0, missing)], *self._readers(there, consumes.kinds)]

    def _readers(self, there: Iterable[int], wanted: tuple[str, ...]) -> list[int]:
        """Readers of what is there into what is wanted."""
        names: dict[str, None] = {}
        for number in there:
            kind = self._kind(number)
            if kind in KINDS and not accepts(wanted, kind):
                names.update({n: None for made, n in KINDS[kind].readers.items() if accepts(wanted, made)})
        return [self._number[name] for name in names if name in self._number]

    def _kind(self, number: int) -> str:
        produces = self._contracts[number].produces
        return produces.kind if produces is not None else ""


def _may_read(contract: Contract) -> bool:
    return any(rule.effect == "read" for rule in contract.effects)
