"""The plan cache: a request in, a whole plan out, or the one reason why not; and what is learned from a success.

Law: this room decides what may be served, and nothing else decides it. A look-up writes nothing but a first stamp. The
order is L0, L1, the publisher's templates, and what is near (off by default); `looking.tries` is the one walk over what
was learned, for serving and for explaining.
What is served goes through validator, guards and policy like any other plan. A fault of the store is a miss: a cache may
be slow or empty, never in the way.

    cache = PlanCache(store, keys, world, library)
    found = cache.look_up(understand("the five largest files"), Asking(owner="anna", now=at))
"""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING

from metnos.cache.entries.front import Front
from metnos.cache.entries.store import StoreFault
from metnos.cache.looking import Looking
from metnos.cache.model import Asking, Explanation, Learned, Match, Miss

if TYPE_CHECKING:
    from metnos.cache.admission import Lesson
    from metnos.cache.entries.signing import Keys
    from metnos.cache.entries.store import Store
    from metnos.cache.entries.validity import World
    from metnos.cache.keeping import Keeping
    from metnos.cache.model import Tried
    from metnos.cache.near.gates import Confirm
    from metnos.cache.near.serving import Nearby
    from metnos.cache.templates.library import TemplateLibrary
    from metnos.cache.tending import Tending
    from metnos.request.model import Request

CLOSED: frozenset[str] = frozenset(("attachments", "open-dialog", "unresolved-device"))
"""Turns that no known plan serves, a publisher's neither: what they are about is not in their words."""
NOT_LEARNED: frozenset[str] = CLOSED | {"no-cache"}
"""Turns that nothing is learned from."""


class PlanCache:
    """Learned plans and the publisher's, behind one door. Safe between threads."""

    def __init__(
        self,
        store: Store,
        keys: Keys,
        world: World,
        library: TemplateLibrary,
        *,
        most: int = 100_000,
        confirm: Confirm | None = None,
    ) -> None:
        """Over a store.

        Args:
            store: Where rows are.
            keys: What they are signed with.
            world: What plans are served under.
            library: The publisher's templates.
            most: So many entries before those that earn least go.
            confirm: Asked before a near match is served; None: nobody can be.
        """
        self.store = store
        self.world = world
        self.library = library
        self.front = Front(store, keys)
        self.looking = Looking(self.front, world)
        self._most = most
        self._confirm = confirm

    @cached_property
    def nearby(self) -> Nearby:
        """What is near; loaded where the operator wants it."""
        from metnos.cache.near.serving import Nearby

        return Nearby(self.front, self.looking, self.world, self._confirm)

    @cached_property
    def keeping(self) -> Keeping:
        """What writes; a turn that is served loads none of it."""
        from metnos.cache.keeping import Keeping

        return Keeping(self.front, self.world, self.looking)

    @cached_property
    def tending(self) -> Tending:
        """What looks after the store."""
        from metnos.cache.tending import Tending

        return Tending(self.front, self.world, self._most)

    def look_up(self, request: Request, asking: Asking) -> Match | Miss:
        """The plan for `request`, or why there is none."""
        if asking.bypass in CLOSED:
            return Miss(reason=asking.bypass)  # pyright: ignore[reportArgumentType]  # every bypass is a reason
        learned: Match | Miss | None = None
        if not asking.bypass and request.normal_form:
            learned = self._learned(request, asking)
            if isinstance(learned, Match) or (learned is not None and learned.reason == "negative-feedback"):
                return learned
        found = self.library.match(request)
        if isinstance(found, Match):
            return found
        if asking.bypass:
            return Miss(reason=asking.bypass)
        return self._near(request, asking) or learned or found

    def _near(self, request: Request, asking: Asking) -> Match | Miss | None:
        """What is near, off unless the operator wants it; a miss where nobody's answer could be had."""
        if not request.normal_form or not (self.world.near_error or self._confirm):
            return None
        with suppress(StoreFault):
            found = self.nearby.serve(request, asking)
            if isinstance(found, Match):
                return found
            if found.reason == "confirm-failed":
                return Miss(reason="confirm-failed", detail=found.detail)
        return None

    def _learned(self, request: Request, asking: Asking) -> Match | Miss | None:
        """What was learned for it; None: nothing was."""
        first: Miss | None = None
        try:
            for tried in self.looking.tries(request, asking):
                found = tried.result
                if isinstance(found, Match):
                    self.front.used(tried.key)
                    return found
                if found is not None and found.reason == "negative-feedback":
                    return found
                first = first or found
        except StoreFault as fault:
            return Miss(reason="store-unusable", detail=fault.message)
        return first

    def explain(self, request: Request, asking: Asking) -> Explanation:
        """Everything that a look-up looks at, and what it comes to."""
        tried: tuple[Tried, ...] = ()
        with suppress(StoreFault):  # the result says so
            tried = tuple(self.looking.tries(request, asking)) if request.normal_form else ()
        result = self.look_up(request, asking)
        return Explanation(request=request, tried=tried, result=result)

    def learn(self, lesson: Lesson) -> Learned:
        """Keep what a success allows to be kept."""
        bypass = lesson.asking.bypass
        if bypass in NOT_LEARNED:
            return Learned(held=(bypass,))
        learned = self.keeping.learn(lesson)
        with suppress(StoreFault):
            self.tending.grown(len(learned.admitted))
        return learned

    def demote(self, lesson: Lesson, detail: str) -> tuple[str, ...]:
        """A turn that a learned plan was served to failed by the plan's fault: it is not served until it succeeds anew.

        Args:
            lesson: The turn: request, plan, who asked.
            detail: Why, in a word: the outcome's code.

        Returns:
            References of the entries that gave this plan and do no more.
        """
        return self.keeping.strike(lesson, "demoted", detail)

    def feedback(self, lesson: Lesson, *, good: bool) -> Learned:
        """What a person says of a turn's plan.

        `good` admits what waits for a person. `bad`: nothing gives this plan to this request any more, and it is not
        learned for it again.
        """
        return self.keeping.praise(lesson) if good else self.keeping.blame(lesson)

    def close(self) -> None:
        """Write down what was counted, and close the store."""
        if self.front.served:
            with suppress(StoreFault):
                self.tending.flush()
        self.front.close()
