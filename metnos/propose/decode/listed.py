"""What a plan owes who asks for things and for a figure of them in one breath: "list the markdown files and say how many".

Law: the figure alone would answer half of it, so what the figure was made of is shown behind it. A word that asks for a
list asks for none where a figure is what it speaks of ("show me how many"), and where the most of all, or figures of
groups, are asked for there is nothing more to show.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final

from metnos.propose.decode.enough import FIGURES
from metnos.propose.decode.ranking import steps_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from metnos.checks.bound import Bound
    from metnos.propose.decode.called import Called
    from metnos.propose.decode.state import Sofar

SHOWN: Final = "render"
_REACH: Final = 4
"""Words behind one that asks for a list in which a figure is what it speaks of."""


class Listed:
    """The list that one request asks for beside a figure."""

    def __init__(self, called: Called, can: Callable[[str, str], bool]) -> None:
        """Of the cues of a request; `can` tells whether a tool of a family may be named."""
        self._called = called
        self._can = can

    @cached_property
    def asked(self) -> bool:
        """Whether things and a figure of them are asked for."""
        called = self._called
        figure = called.counted is not None or called.amount is not None or called.rows.reckons
        if not figure or called.offers.acts or called.groups_rows or called.inside:
            return False
        if any(most.one for most in called.mosts) or called.rows.mosts:
            return False
        return self._can(SHOWN, "table") and any(map(self._asks, (*called.at("listing"), *self._first)))

    @property
    def _first(self) -> list[int]:
        """Words that ask which, where a clause begins with them: elsewhere they go on with what was said."""
        starts = {clause.start for clause in self._called.offers.request.clauses}
        words = self._called.words
        return [at for at in self._called.at("which") if at == 0 or words[at].start in starts]

    def _asks(self, at: int) -> bool:
        called = self._called
        numbers = {*called.at("number"), *called.at("amount"), *called.at("compute stats")}
        return numbers.isdisjoint(range(at, at + 1 + _REACH))

    def owed(self, sofar: Sofar) -> list[str]:
        """Verbs of the families that are still to come."""
        return [SHOWN] if self.asked and not self._is_met(sofar) else []

    def following(self, sofar: Sofar) -> str:
        """What comes behind the figure; empty: nothing has to."""
        return SHOWN if self.owed(sofar) and self._counted(sofar) else ""

    def may_be_handed(self, bound: Bound, sofar: Sofar, number: int) -> bool:
        """Whether it is what the figure was made of."""
        if not self.following(sofar) or all(family.verb != SHOWN for family in bound.contract.families):
            return True
        return number in self._counted(sofar)

    def _is_met(self, sofar: Sofar) -> bool:
        made = self._counted(sofar)
        return any(made & {*sofar.checked.steps[at - 1].waits} for at in steps_of(sofar, SHOWN))

    def _counted(self, sofar: Sofar) -> set[int]:
        """The steps that figures were made of."""
        figures = (step for step, made in zip(sofar.checked.steps, sofar.made, strict=False) if made.kind == FIGURES)
        return {number for step in figures for number in step.waits}
