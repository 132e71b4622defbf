"""The plan cache of Metnos, filled by a stand-in proposer: a request in, and what served it out.

Law: nothing is decided here. The box learns as a driver does after a success, and asks as a driver does; every layer is
the shipped one. In `eager` mode a person says `good` to everything, so that effects reach L1 too: the most dangerous
way to use it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from metnos.cache.admission import Lesson
from metnos.cache.entries.memory import MemoryStore
from metnos.cache.entries.signing import Keys
from metnos.cache.entries.validity import World
from metnos.cache.model import Asking, Match
from metnos.cache.plancache import PlanCache
from metnos.cache.templates.library import TemplateLibrary
from metnos.request.lexicon import lexicons_with
from metnos.request.understand import Normaliser, understand

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from metnos.cache.near.gates import Confirm
    from metnos.contracts.catalog import Catalog

AT = 1_764_500_000_000_000
"""µs since 1970; the clock of the benchmark stands still."""


class Served(NamedTuple):
    plan: dict[str, Any]
    key: str
    """The entry that served it: two requests with one key have shared a plan."""
    layer: str


class Box:
    """One cache in memory over one catalog."""

    def __init__(
        self, catalog: Catalog, *, eager: bool = True, lexicons: Sequence[Path] = (), confirm: Confirm | None = None
    ) -> None:
        """An empty cache.

        Args:
            catalog: The tools that plans name.
            eager: A person says `good` to everything that is learned.
            lexicons: Lexicon files of an operator.
            confirm: Asked before a near match is served; None: near matches are off.
        """
        self.understand = Normaliser(lexicons_with(lexicons)) if lexicons else understand
        self.world = World(catalog, rules="benchmark", policy="benchmark", normalise=self.understand)
        keys = Keys(lambda: b"\x07" * 32)
        self.cache = PlanCache(MemoryStore(), keys, self.world, TemplateLibrary(), confirm=confirm)
        self.eager = eager
        self.turns = 0

    def serve(self, text: str, language: str | None = None) -> Served | None:
        """What the cache has for this request."""
        found = self.cache.look_up(self.understand(text, language), Asking(owner="anna", now=AT))
        return Served(found.plan, found.entry, found.layer) if isinstance(found, Match) else None

    def learn(self, text: str, plan: dict[str, Any], language: str | None = None) -> tuple[str, ...]:
        """A turn with this plan succeeded; the references of what was admitted."""
        self.turns += 1
        request = self.understand(text, language)
        lesson = Lesson(request=request, plan=plan, asking=Asking(owner="anna", now=AT), turn=f"t{self.turns}")
        admitted = self.cache.learn(lesson).admitted
        return (*admitted, *self.cache.feedback(lesson, good=True).admitted) if self.eager else admitted
