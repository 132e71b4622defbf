"""What a turn finds without a proposer, where caches or templates are swapped.

Law: the plan cache itself decides, as for an engine; here it only gets another world, and a store in memory. What is
learned is learned from the turns of the run in their order, so such a run is one process. No row is written anywhere.

| mode | a look-up finds |
|---|---|
| `recorded` | what it found then |
| `templates` | the publisher's templates, as they are now; nothing that was learned |
| `learn` | the same, and what the turns of this run before it taught |
| `off` | nothing |
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal

from metnos.cache.admission import Lesson
from metnos.cache.entries.memory import MemoryStore
from metnos.cache.entries.signing import Keys
from metnos.cache.entries.validity import DAY, World
from metnos.cache.model import Asking, Bypass, Match, Miss, Place
from metnos.cache.plancache import PlanCache
from metnos.drivers import slash
from metnos.drivers.lessons import PLAN_FAULTS, is_lesson
from metnos.drivers.tilde import as_said, at_home, said_at_home
from metnos.evaluate.running.recorded import Recorded, Timed
from metnos.turn import inputs as i

if TYPE_CHECKING:
    from metnos.cache.templates.library import TemplateLibrary
    from metnos.contracts.catalog import Catalog
    from metnos.request.model import Request
    from metnos.turn.rules import Rules
    from metnos.turn.state import TurnState

Mode = Literal["recorded", "templates", "learn", "off"]


class Swapped:
    """A plan cache of the run's own."""

    def __init__(
        self,
        catalog: Catalog,
        rules: Rules,
        library: TemplateLibrary,
        *,
        mode: Mode,
        lexicon: str = "",
        days: int = 180,
        share: bool = False,
        near_error: float = 0.0,
    ) -> None:
        """Over a catalog and its templates.

        Args:
            catalog: What a plan may name.
            rules: Of the run.
            library: Templates.
            mode: Of the table above; not `recorded`.
            lexicon: Digest of the owner's lexicon files.
            days: A learned plan that was not confirmed for so long is not served.
            share: Whether owners may be served what belongs to nobody.
            near_error: As the setting `cache_near_error`.
        """
        self._catalog = catalog
        self._mode: Mode = mode
        seed = os.urandom(32)  # of rows that die with this process
        world = World(
            catalog,
            rules=rules.digest,
            policy=rules.policy_digest,
            lexicon=lexicon,
            normalise=rules.normalise,
            share=share,
            near_error=near_error,
            max_age=days * DAY,
        )
        self._cache = PlanCache(MemoryStore(), Keys(lambda: seed), world, library)

    def look_up(self, state: TurnState, recorded: Recorded) -> Timed | None:
        """What the cache answers now, in no time; a slash command is one, whatever is swapped."""
        del recorded
        opened, request = state.opened, state.request
        said = opened.request or ""
        command = slash.plan_of(said, opened.inputs) if slash.may_be_command(said) else None
        if command is not None:
            return Timed(i.PlanFound(plan=command[0], source=slash.SOURCE, entry=command[1]), 0)
        assert request is not None
        found = self._cache.look_up(request, self._asking(state, request))
        return Timed(self._told(found, state, request), 0)

    def learn(self, state: TurnState, usage: dict[str, int]) -> tuple[str, ...]:
        """As an engine learns; nothing unless the mode is `learn`."""
        request = state.request
        if self._mode != "learn" or request is None:
            return ()
        if state.plan.source == "cache":
            self._demote(state, request)
            return ()
        if not is_lesson(state):
            return ()
        plan = as_said(state.plan.body, request, self._catalog, state.opened.home)
        asking = self._asking(state, request)
        lesson = Lesson(request=request, plan=plan, asking=asking, turn=state.opened.turn, cost=usage)
        return self._cache.learn(lesson).admitted

    def _demote(self, state: TurnState, request: Request) -> None:
        failed = [run.error for run in state.steps if run.error is not None]
        if not failed or any(error.cls in PLAN_FAULTS for error in failed):
            plan = as_said(state.plan.body, request, self._catalog, state.opened.home)
            asking = self._asking(state, request)
            lesson = Lesson(request=request, plan=plan, asking=asking, turn=state.opened.turn)
            self._cache.demote(lesson, state.code or "error")

    def _told(self, found: Match | Miss, state: TurnState, request: Request) -> i.PlanFound | i.PlanMissed:
        if isinstance(found, Miss):
            hole = found.hole
            wanted = None if hole is None else i.Wanted(name=hole.slot, words=hole.words, forms=hole.forms)
            return i.PlanMissed(reason=found.reason, detail=found.detail, wanted=wanted)
        home = state.opened.home
        if found.layer == "template":
            plan = at_home(found.plan, found.origins, self._catalog, home)
        else:
            plan = said_at_home(found.plan, request, self._catalog, home)
        source = "template" if found.layer == "template" else "cache"
        return i.PlanFound(plan=plan, source=source, entry=found.entry, origins=found.origins)

    def _asking(self, state: TurnState, request: Request) -> Asking:
        opened = state.opened
        bypass: Bypass = "attachments" if opened.inputs else ""
        return Asking(
            owner=opened.owner,
            channel=opened.channel,
            language=request.language,
            now=opened.at,
            bypass=bypass,
            place=Place(folder=opened.folder, home=opened.home, roots=opened.roots),
        )


class Nothing:
    """`off`: nobody has seen anything before."""

    def look_up(self, state: TurnState, recorded: Recorded) -> Timed | None:
        """A miss."""
        del state, recorded
        return Timed(i.PlanMissed(reason="no-cache"), 0)

    def learn(self, state: TurnState, usage: dict[str, int]) -> tuple[str, ...]:
        """Nothing."""
        del state, usage
        return ()
