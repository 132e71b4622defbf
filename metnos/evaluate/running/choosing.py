"""Which turns of a collection a run is about.

Law: decided by the turn itself, so it is the same whoever reads it and in whichever order. A sample takes the turns whose
ids have the smallest digests with the seed; it needs a pass of its own over the ids, and what it chose is named by id.
"""

from __future__ import annotations

import hashlib
from heapq import heappushpop
from typing import TYPE_CHECKING

from metnos.evaluate.measures.figures import Labels, TurnFigures, figures_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from metnos.evaluate.collections.model import Item, Turn
    from metnos.evaluate.measures.prices import Prices
    from metnos.evaluate.running.runfile import Turns


def chooses(turns: Turns) -> bool:
    """Whether figures are needed to choose."""
    return bool(turns.request or turns.outcome or turns.source or turns.tool or turns.group or turns.label)


def is_chosen(turns: Turns, figures: TurnFigures, labels: Mapping[str, str | int | float | bool]) -> bool:
    """Whether a turn is one of those that are wanted."""
    if any(name not in labels or labels[name] != value for name, value in turns.label.items()):
        return False
    if turns.request and turns.request.casefold() not in figures.request.casefold():
        return False
    if turns.tool and not set(turns.tool) & set(figures.tools):
        return False
    pairs = ((turns.outcome, figures.outcome), (turns.source, figures.plan_source), (turns.group, figures.group))
    return all(not wanted or value in wanted for wanted, value in pairs)


def sample(items: Iterable[Item], turns: Turns, prices: Prices) -> frozenset[str]:
    """Ids of the turns that are drawn."""
    from metnos.evaluate.collections.model import Turn

    most = turns.sample or 0
    held: list[tuple[int, str]] = []
    for item in items:
        if not isinstance(item, Turn) or (chooses(turns) and not is_chosen(turns, _figures(item, prices), item.labels)):
            continue
        drawn = (-_draw(turns.seed, item.log.turn), item.log.turn)
        if len(held) < most:
            held.append(drawn)
            if len(held) == most:
                from heapq import heapify

                heapify(held)
        else:
            heappushpop(held, drawn)
    return frozenset(turn for _, turn in held)


def _figures(turn: Turn, prices: Prices) -> TurnFigures:
    return figures_of(turn.log, Labels.of(turn.labels), prices)


def _draw(seed: int, turn: str) -> int:
    return int.from_bytes(hashlib.sha256(f"metnos.sample/1 {seed} {turn}".encode()).digest()[:8], "big")
