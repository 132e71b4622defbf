"""A home with a plan cache on disk, a catalog of a thousand tools, and the path from a request's text to a plan.

Law: nothing is decided here. Rows are written as `PlanCache.learn` writes them, and `walk` does what a driver and
its turn machine do up to the plan's acceptance: understand, look up, validate, guard, ask policy for its forecast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from metnos import Engine
from metnos.cache.admission import Lesson, l0_entry
from metnos.cache.entries.signing import Keys
from metnos.cache.entries.store import DiskStore
from metnos.cache.entries.validity import World
from metnos.cache.model import Asking, Match, Place
from metnos.cache.plancache import PlanCache
from metnos.cache.standing import judge
from metnos.checks.model import CheckContext
from metnos.contracts.foreign import foreign_contract
from metnos.drivers.tilde import at_home
from metnos.policy.model import Deny
from metnos.turn.consent import forecast
from metnos.turn.inputs import TurnOpened
from metnos.turn.state import TurnState

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from benchmarks.traffic.sentences import Drawn
    from metnos.contracts.model import Contract
    from metnos.request.model import Request

AT = 1_764_500_000_000_000
"""µs since 1970 UTC; the clock of the benchmark stands still."""
CHUNK = 5000
"""Rows of one transaction while a cache is filled."""
FOLDER = "/srv/work"
HOME = "/home/anna"


def foreign_tools(count: int) -> list[Contract]:
    """`count` foreign contracts, as an import of other people's tools leaves them in the catalog."""
    value: dict[str, Any] = {"type": "integer"}
    return [
        foreign_contract(f"foreign_{n}", parameters={"value": value}, outputs={"value": value}, effect="read")
        for n in range(count)
    ]


class Walked(NamedTuple):
    """What came of one request."""

    layer: str
    plan: dict[str, Any]
    normal_form: str


class Missed(Exception):
    """A request was not served, or its plan not accepted."""


class Installation:
    """One home, its catalog, its rules; safe to open in several processes at once."""

    def __init__(self, folder: Path, tools: int) -> None:
        """Open `folder`; `tools` executors in all, the shipped ones among them."""
        shipped = len(Engine.open(folder / "home", memory=True).catalog.contracts())
        self.engine = Engine.open(folder / "home", contracts=foreign_tools(max(0, tools - shipped)), folder=folder)
        self.catalog = self.engine.catalog
        self.rules = self.engine.parts.rules
        self.library = self.engine.parts.library
        self.folder = folder
        self.opened = TurnOpened(turn="t", now="2026-11-30T12:00:00+01:00", mode="plan", folder=FOLDER, home=HOME)
        self.asking = Asking(owner=self.opened.owner, now=AT, place=Place(folder=FOLDER, home=HOME))

    def cache(self, most: int = 1_000_000) -> PlanCache:
        """A plan cache that has read nothing yet, over the rows of this home; it evicts beyond `most`."""
        world = World(self.catalog, rules="benchmark", policy="benchmark", normalise=self.rules.normalise)
        store = DiskStore(self.folder / "home" / "cache")
        return PlanCache(store, Keys(lambda: b"\x07" * 32), world, self.library, most=most)

    def lesson(self, drawn: Drawn, turn: str = "t") -> Lesson:
        """A success with the library's own plan."""
        request = self.rules.normalise(drawn.text, None)
        return Lesson(request=request, plan=drawn.plan, asking=self.asking, turn=turn)

    def fill(self, cache: PlanCache, requests: Iterable[Drawn], count: int) -> Iterator[Drawn]:
        """Write up to `count` signed L0 rows, as learning does; yields what was written."""
        written = 0
        waiting = iter(requests)
        while written < count:
            before = written
            with cache.store.locked():
                for drawn in waiting:
                    lesson = self.lesson(drawn)
                    if judge(lesson.request, lesson.plan, self.catalog, self.asking.place).against:
                        continue
                    cache.front.write(l0_entry(lesson, cache.world, ""))
                    written += 1
                    yield drawn
                    if written % CHUNK == 0 or written == count:
                        break
            if written == before:
                return

    def walk(self, cache: PlanCache, text: str) -> Walked:
        """From a request's text to an accepted plan.

        Raises:
            Missed: Nothing served it, or what did was not accepted.
        """
        request: Request = self.rules.normalise(text, None)
        found = cache.look_up(request, self.asking)
        if not isinstance(found, Match):
            raise Missed(f"{text!r}: {found.reason} {found.detail}")
        plan = at_home(found.plan, found.origins, self.catalog, HOME)
        source = "template" if found.layer == "template" else "cache"
        context = CheckContext(source=source, origins=found.origins, home=HOME, request=request)
        checked = self.rules.validate(plan, context)
        guarded = self.rules.guard(checked, context) if checked.ok else None
        if guarded is None or not guarded.checked.ok or guarded.refusals or guarded.reproposals:
            raise Missed(f"{text!r}: {checked.diagnostics or guarded}")
        turn = TurnState(self.rules)
        turn.opened = self.opened
        for step in guarded.checked.steps:
            if isinstance(forecast(turn, step), Deny):
                raise Missed(f"{text!r}: denied")
        return Walked(found.layer, plan, request.normal_form)
