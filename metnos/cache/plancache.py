"""The plan cache: a request in, a whole plan out, or the one reason why not; and what is learned from a success.

Law: this room decides what may be served, and nothing else decides it. A look-up writes nothing but a first stamp. The
order is L0, L1, the publisher's templates. What it serves goes through validator, guards and policy like any other plan.
A fault of the store is a miss: a cache may be slow or empty, never in the way.

    cache = PlanCache(store, keys, world, library)
    found = cache.look_up(understand("the five largest files"), Asking(owner="anna", now=at))
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from metnos.cache import key as keying
from metnos.cache.admission import HELD, Lesson, entries_for
from metnos.cache.entry import Against, Entry, Mark
from metnos.cache.front import Bad, Front, Known
from metnos.cache.model import Asking, Learned, Match, Miss
from metnos.cache.store import StoreFault
from metnos.cache.validity import first_difference

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metnos.cache.entry import Grade
    from metnos.cache.model import MissReason
    from metnos.cache.signing import Keys
    from metnos.cache.store import Store
    from metnos.cache.templates import TemplateLibrary
    from metnos.cache.validity import World
    from metnos.request.model import Request

CLOSED: frozenset[str] = frozenset(("attachments", "open-dialog", "unresolved-device"))
"""Turns that no known plan serves, a publisher's neither: what they are about is not in their words."""
NOT_LEARNED: frozenset[str] = CLOSED | {"no-cache"}
"""Turns that nothing is learned from."""


class PlanCache:
    """Learned plans and the publisher's, behind one door. Safe between threads."""

    def __init__(self, store: Store, keys: Keys, world: World, library: TemplateLibrary) -> None:
        self.store = store
        self.world = world
        self.library = library
        self.front = Front(store, keys)

    # --- looking up ----------------------------------------------------------------------------------------------

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
        return Miss(reason=asking.bypass) if asking.bypass else learned or found

    def _learned(self, request: Request, asking: Asking) -> Match | Miss | None:
        """What was learned for it; None: nothing was."""
        first: Miss | None = None
        try:
            for known in self._candidates(request, asking):
                if isinstance(known, Bad):
                    first = first or _miss(known)
                    continue
                found = self._serve(known, asking)
                if isinstance(found, Match):
                    self.front.used(known)
                    return found
                first = first or found
        except StoreFault as fault:
            return Miss(reason="store-unusable", detail=fault.message)
        return first

    def _candidates(self, request: Request, asking: Asking) -> Iterator[Known | Bad]:
        """What stands under the keys of this request, the nearest first."""
        for scope in self._scopes(asking):
            for grade in keying.GRADES:
                found = self.front.read(l0_key_of(scope, request, grade), self._scopes(asking), asking.now)
                if found is not None:
                    yield found

    def _serve(self, known: Known, asking: Asking) -> Match | Miss:
        """The plan of a row that is believed, if the world is still the one that it was learned in."""
        kept = known.kept
        if isinstance(kept, Mark):
            return Miss(reason=kept.why, detail=kept.detail)
        assert isinstance(kept, Entry)
        differs = first_difference(kept, self.world, asking)
        if differs is not None:
            return Miss(reason=differs[0], detail=differs[1])
        plan: dict[str, Any] = orjson.loads(known.plan)
        return Match(plan=plan, entry=known.reference, origins={}, language=kept.language, layer=kept.layer)

    def _scopes(self, asking: Asking) -> tuple[str, ...]:
        return (asking.owner, "shared") if self.world.share and asking.owner != "shared" else (asking.owner,)

    # --- learning ------------------------------------------------------------------------------------------------

    def learn(self, lesson: Lesson) -> Learned:
        """Keep what a success allows to be kept."""
        asking = lesson.asking
        if asking.bypass in NOT_LEARNED:
            return Learned(held=(asking.bypass,))
        entries, held = entries_for(lesson, self.world)
        admitted: list[str] = []
        try:
            for entry in entries:
                key = keying.key_of(entry)
                if self._is_against(key, entry.plan, asking):
                    held = (*held, "negative-feedback")
                    continue
                admitted.append(self.front.write(entry))
        except StoreFault:
            held = (*held, "store-unusable")
        return Learned(admitted=tuple(admitted), held=tuple(dict.fromkeys(held)))

    def _is_against(self, key: str, plan: dict[str, Any], asking: Asking) -> bool:
        """Whether a person has said that this plan was bad here."""
        found = self.front.read(keying.anti_key(key, plan), self._scopes(asking), asking.now)
        return isinstance(found, Known) and isinstance(found.kept, Against)

    def demote(self, reference: str, detail: str, asking: Asking, turn: str = "") -> bool:
        """A turn that an entry was served to failed: nothing is served there until another success.

        Args:
            reference: `KEY@sha256:…`, as it was served.
            detail: Why, in a word: the outcome's code.
            asking: Who asked.
            turn: The turn that failed.

        Returns:
            Whether the entry stood there and does no more.
        """
        return self._mark(reference, "demoted", detail, asking, turn)

    def _mark(self, reference: str, why: Any, detail: str, asking: Asking, turn: str) -> bool:
        key = reference.partition("@")[0]
        try:
            known = self.front.read(key, self._scopes(asking), asking.now)
            if not isinstance(known, Known) or not isinstance(known.kept, Entry) or known.reference != reference:
                return False
            digest = known.reference.partition("@")[2]
            mark = Mark(key=key, scope=known.kept.scope, why=why, detail=detail, turn=turn, at=asking.now, entry=digest)
            self.front.write(mark)
        except StoreFault:
            return False
        return True

    def close(self) -> None:
        """Write down what was counted, and close the store."""
        self.store.close()


def l0_key_of(scope: str, request: Request, grade: Grade) -> str:
    """The key of this very request."""
    form = keying.form_of(request, grade)
    return keying.l0_key(scope, request.language, grade, form, keying.kinds_of(request), keying.said(request, grade))


def _miss(bad: Bad) -> Miss:
    reason: MissReason = bad.reason
    return Miss(reason=reason, detail=bad.detail)


__all__ = ["HELD", "Asking", "Learned", "Lesson", "PlanCache"]
