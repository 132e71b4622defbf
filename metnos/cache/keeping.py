"""Writing: what a success admits is kept, what waits is held, what was bad is struck out and remembered as bad.

Law: `admission` decides, this writes. Taking back goes before adding: who strikes an entry out strikes out all that
would give the same plan to the same request. A second proposal that disagrees with an `l1` entry makes it wait anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from metnos.cache.admission import Decision, Lesson, decide, general_of, l1_entry
from metnos.cache.entries import key as keying
from metnos.cache.entries.entry import SHARED, Against, Entry, Held, Mark, Shape, Sighting
from metnos.cache.entries.front import Front, Known
from metnos.cache.entries.store import StoreFault
from metnos.cache.entries.validity import DAY, first_difference
from metnos.cache.generalise.agree import agree
from metnos.cache.generalise.privacy import belongs_to_nobody
from metnos.cache.generalise.uses import General
from metnos.cache.looking import Looking, l0_key_of, shape_key_of
from metnos.cache.model import Learned, Match

if TYPE_CHECKING:
    from metnos.cache.entries.entry import Evidence, Grade, Kept
    from metnos.cache.entries.validity import World

MAX_HELD = 4
"""Successes of one form that are kept to be compared with the next."""
MAX_PATTERNS = 16
"""Ways in which slots of one form may stay."""


class Keeping:
    """Writes through one front for one world."""

    def __init__(self, front: Front, world: World, looking: Looking) -> None:
        self._front = front
        self._world = world
        self._looking = looking

    # --- learning ------------------------------------------------------------------------------------------------

    def learn(self, lesson: Lesson) -> Learned:
        """Keep what this success allows."""
        try:
            decision = decide(lesson, self._world)
            admitted, held = self._l0(lesson, decision)
            if decision.general is not None:
                more, why = self._l1(lesson, decision, decision.general)
                admitted, held = (*admitted, *more), (*held, *why)
        except StoreFault:
            return Learned(held=("store-unusable",))
        return Learned(admitted=admitted, held=tuple(dict.fromkeys((*decision.held, *held))))

    def _l0(self, lesson: Lesson, decision: Decision) -> tuple[tuple[str, ...], tuple[str, ...]]:
        entry = decision.l0
        if entry is None:
            return (), ()
        if self._is_against(lesson, lesson.plan):
            return (), ("negative-feedback",)
        reference = self._front.write(entry)
        for grade in keying.GRADES:
            other = l0_key_of(entry.scope, lesson.request, grade)
            if grade != entry.grade and self._looking.read(other, lesson.asking) is not None:
                self._front.drop(other)  # a mark, or what was learned under another reading of the plan
        return (reference,), ()

    def _l1(self, lesson: Lesson, decision: Decision, general: General) -> tuple[tuple[str, ...], tuple[str, ...]]:
        evidence: Evidence = lesson.evidence
        turns = (lesson.turn,)
        key = keying.key_of(l1_entry(lesson, general, self._world, decision.placed, evidence, turns))
        known = self._looking.read(key, lesson.asking)
        before = known.kept if isinstance(known, Known) else None
        if isinstance(before, Entry) and first_difference(before, self._world, lesson.asking) is None:
            refined = agree(general_of(before), (lesson.request, lesson.plan), self._world.catalog)
            if not isinstance(refined, General):
                self._front.write(_mark(before, key, lesson, "demoted", "disagreed"))
                return (), ("disagreed",)
            if refined == general_of(before) and lesson.asking.now - before.admitted_at < DAY:
                return (), ()  # nothing new, and not worth making every process look again
            general, turns = refined, (*before.turns, lesson.turn)[-MAX_HELD:]
        elif not decision.admits or (isinstance(before, Mark) and before.detail == "disagreed"):
            agreed = self._second(lesson, general)
            if isinstance(agreed, str):
                return (), (agreed,)
            general, turns, evidence = agreed[0], (agreed[1], lesson.turn), "agreement"
        entry = l1_entry(lesson, general, self._world, decision.placed, evidence, turns)
        if self._is_against(lesson, entry.plan):
            return (), ("negative-feedback",)
        admitted = [self._add(lesson, entry, general)]
        if self._is_nobodys(lesson, entry, general):
            admitted.append(self._add(lesson, msgspec.structs.replace(entry, scope=SHARED, turns=()), general))
        return tuple(admitted), ()

    def _add(self, lesson: Lesson, entry: Entry, general: General) -> str:
        reference = self._front.write(entry)
        self._index(lesson, entry, tuple(sorted(general.fixed)))
        return reference

    def _is_nobodys(self, lesson: Lesson, entry: Entry, general: General) -> bool:
        """Whether others may be served it too: the operator says so, it names no place, and nothing of an owner is left.

        What a registered function does is known to this host alone, so a plan that calls one is never shared.
        """
        catalog = self._world.catalog
        if not self._world.share or entry.depends.place or any(map(catalog.function, entry.depends.executors)):
            return False
        return not belongs_to_nobody(general, lesson.request, entry.form, catalog)

    def _second(self, lesson: Lesson, general: General) -> tuple[General, str] | str:
        """The plan that this success and an earlier one agree on, and the earlier turn; or why there is none yet."""
        request, world = lesson.request, self._world
        grade: Grade = "loose" if general.read_only else "strict"
        form, kinds = keying.form_of(request, grade), keying.kinds_of(request)
        key = keying.held_key(lesson.asking.owner, request.language, grade, form, kinds)
        known = self._looking.read(key, lesson.asking)
        kept = known.kept if isinstance(known, Known) else None
        seen = kept.seen if isinstance(kept, Held) and kept.rules == world.rules else ()
        held = "second-needed"
        for sighting in reversed(seen):
            earlier = world.normalise(sighting.text, request.language)
            found = agree((earlier, sighting.plan), (request, lesson.plan), world.catalog)
            if isinstance(found, General):
                self._front.drop(key)
                return found, sighting.turn
            held = held if found.reason == "same-values" else "disagreed"
        now = Sighting(text=request.text, plan=lesson.plan, turn=lesson.turn)
        seen = (*(one for one in seen if one.text != request.text), now)[-MAX_HELD:]
        self._front.write(Held(key=key, scope=lesson.asking.owner, rules=world.rules, seen=seen))
        return held

    def _index(self, lesson: Lesson, entry: Entry, pattern: tuple[int, ...]) -> None:
        """Let the form lead to the entry."""
        key = shape_key_of(entry.scope, lesson.request, entry.grade)
        known = self._looking.read(key, lesson.asking)
        kept = known.kept if isinstance(known, Known) else None
        patterns = kept.patterns if isinstance(kept, Shape) else ()
        if pattern not in patterns:
            self._front.write(Shape(key=key, scope=entry.scope, patterns=(*patterns, pattern)[-MAX_PATTERNS:]))

    # --- taking back ---------------------------------------------------------------------------------------------

    def strike(self, lesson: Lesson, why: Any, detail: str) -> tuple[str, ...]:
        """Put a mark in the place of each entry that gives this plan to this request; their references."""
        struck: list[str] = []
        try:
            for tried in tuple(self._looking.tries(lesson.request, lesson.asking)):
                match, known = tried.result, self._looking.read(tried.key, lesson.asking)
                same = isinstance(match, Match) and keying.same_json(match.plan, lesson.plan)
                if same and isinstance(known, Known) and isinstance(known.kept, Entry):
                    self._front.write(_mark(known.kept, tried.key, lesson, why, detail, known.reference))
                    struck.append(known.reference)
        except StoreFault:
            pass  # what cannot be written cannot be served from there either, or will fail again
        return tuple(struck)

    def blame(self, lesson: Lesson) -> Learned:
        """A person said that this plan was bad for this request."""
        struck = self.strike(lesson, "negative-feedback", "")
        scope = lesson.asking.owner
        kept: list[Kept] = [
            Mark(key=key, scope=scope, why="negative-feedback", turn=lesson.turn, at=lesson.asking.now)
            for key in (l0_key_of(scope, lesson.request, grade) for grade in keying.GRADES)
        ]
        plans = [lesson.plan]
        decision = decide(msgspec.structs.replace(lesson, evidence="feedback"), self._world)
        if decision.general is not None:
            plans.append(decision.general.plan)
        kept += [
            Against(key=_anti(lesson, plan), scope=scope, turn=lesson.turn, at=lesson.asking.now) for plan in plans
        ]
        try:
            for one in kept:
                self._front.write(one)
        except StoreFault:
            return Learned(held=("store-unusable",))
        return Learned(admitted=(), held=("negative-feedback", *struck))

    def praise(self, lesson: Lesson) -> Learned:
        """A person said that this plan was good for this request."""
        try:
            self._front.drop(_anti(lesson, lesson.plan))
            decision = decide(lesson, self._world)
            if decision.general is not None:
                self._front.drop(_anti(lesson, decision.general.plan))
        except StoreFault:
            return Learned(held=("store-unusable",))
        return self.learn(lesson)

    def _is_against(self, lesson: Lesson, plan: dict[str, Any]) -> bool:
        """Whether a person has said that this plan was bad here."""
        found = self._looking.read(_anti(lesson, plan), lesson.asking)
        return isinstance(found, Known) and isinstance(found.kept, Against)


def _anti(lesson: Lesson, plan: dict[str, Any]) -> str:
    """The key of the anti-entry: this plan, for requests of this form."""
    request = lesson.request
    form, kinds = keying.form_of(request, "loose"), keying.kinds_of(request)
    return keying.anti_key(keying.shape_key(lesson.asking.owner, request.language, "loose", form, kinds), plan)


def _mark(entry: Entry, key: str, lesson: Lesson, why: Any, detail: str, reference: str = "") -> Mark:
    return Mark(
        key=key,
        scope=entry.scope,
        why=why,
        detail=detail,
        turn=lesson.turn,
        at=lesson.asking.now,
        entry=reference.partition("@")[2],
    )
