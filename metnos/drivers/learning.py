"""What a turn has to do with the plan cache: what it may be served, and what is learned from its end.

Law: the cache decides what is served and what is kept; this says who asks, and which turns are no lesson. A plan is a
lesson if it was proposed for the request alone: not if the turn had inputs, a question or an earlier plan. A learned
plan whose run failed by its own fault is demoted, with the reason.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from metnos.cache.model import Asking, Bypass, Place
from metnos.drivers.lessons import PLAN_FAULTS, is_lesson
from metnos.drivers.tilde import as_said
from metnos.turn.inputs import PlanMissed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from metnos.cache.admission import Lesson
    from metnos.cache.model import Match, Miss
    from metnos.drivers.parts import Parts
    from metnos.drivers.state import TurnUnderWay
    from metnos.request.model import Request
    from metnos.turn.inputs import AnyInput, TurnOpened

Caching = Literal["use", "refresh", "off"]
"""`use`; `refresh`: read nothing that was learned, and learn anew; `off`: neither read nor learn."""
_BYPASS: dict[Caching, Bypass] = {"use": "", "refresh": "refresh", "off": "no-cache"}


def caching_of(items: Iterable[AnyInput]) -> Caching:
    """What a recorded turn was begun with."""
    return "off" if any(isinstance(item, PlanMissed) and item.reason == "no-cache" for item in items) else "use"


class Remembering:
    """The plan cache, as one turn sees it."""

    def __init__(self, parts: Parts, opened: TurnOpened, caching: Caching, *, resumed: bool) -> None:
        self._parts = parts
        self._opened = opened
        bypass: Bypass = "attachments" if opened.inputs else _BYPASS[caching]
        self._learning: Bypass = bypass
        self._bypass: Bypass = "resumed" if resumed and not bypass else bypass

    def look_up(self, request: Request) -> Match | Miss:
        """The plan for a request, or why there is none."""
        return self._parts.plan_cache.look_up(request, self._asking(request, self._bypass))

    def learn(self, turn: TurnUnderWay) -> tuple[str, ...]:
        """Keep what this turn taught; the references of the entries that were written."""
        state = turn.machine.state
        request = state.request
        assert request is not None
        if state.plan.source == "cache":
            self.demote(turn, state.code)
            return ()
        if not is_lesson(state):
            return ()
        plan = as_said(state.plan.body, request, turn.catalog, self._opened.home)
        return self._parts.plan_cache.learn(self._lesson(request, plan, turn)).admitted

    def demote(self, turn: TurnUnderWay, code: str) -> None:
        """The plan that was served failed; if that was its own fault it is not served again. Once a turn."""
        state = turn.machine.state
        plan, turn.served = turn.served, {}
        failed = [run.error for run in state.steps if run.error is not None]
        if not plan or (failed and all(error.cls not in PLAN_FAULTS for error in failed)):
            return
        assert state.request is not None
        self._parts.plan_cache.demote(self._lesson(state.request, plan, turn), code or "error")

    def _lesson(self, request: Request, plan: dict[str, Any], turn: TurnUnderWay) -> Lesson:
        from metnos.cache.admission import Lesson

        asking = self._asking(request, self._learning)
        return Lesson(request=request, plan=plan, asking=asking, turn=self._opened.turn, cost=dict(turn.usage))

    def _asking(self, request: Request, bypass: Bypass) -> Asking:
        opened = self._opened
        return Asking(
            owner=opened.owner,
            channel=opened.channel,
            language=request.language,
            now=opened.at,
            bypass=bypass,
            place=Place(folder=opened.folder, home=opened.home, roots=opened.roots),
        )
