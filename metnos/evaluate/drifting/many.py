"""The job that holds turns against today, for one process or many.

    mapped = map_shards(Drifts(Ground(contracts), before), open_collection("turns/"), workers=2)
    mapped.partial.drift().groups

Law: as for any job of `mapping`: exact, in whichever order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from metnos.contracts.model import Contract
from metnos.evaluate.drifting.finding import drift_of
from metnos.evaluate.drifting.model import Gathering
from metnos.evaluate.drifting.today import Today
from metnos.evaluate.replaying.ground import Ground

if TYPE_CHECKING:
    from collections.abc import Iterable

    from metnos.evaluate.collections.model import Turn


class Drifts(msgspec.Struct, frozen=True):
    """The job."""

    ground: Ground
    """Contracts and words of today."""
    before: tuple[Contract, ...] = ()
    """Contracts of then, as far as they are at hand."""

    def __call__(self, turns: Iterable[Turn], /) -> Gathering:
        """Each turn, held against today."""
        made, now = Gathering(), None
        for turn in turns:
            now = now or self.today()
            made.add(*drift_of(turn.log, now))
        return made

    def today(self) -> Today:
        """What they are held against."""
        known = {one.reference: one for one in self.before}
        return Today(catalog=self.ground.catalog, rules=self.ground.rules, before=known)
