"""Near matching over what was learned: an index for each owner and language, and outcomes that outlive the process.

Law: what is near is decided in `near.py` and proven in `thresholds.py`, nothing of either here. An entry is believed and
compared with the world before it is served, near or not. Outcomes are signed rows, so nobody can write a proof; the
index is made anew when the store says that something was added or taken back. Off unless the operator set a bound or
somebody confirms.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from metnos.cache.admission import general_of
from metnos.cache.entries import key as keying
from metnos.cache.entries.disk import Tampered
from metnos.cache.entries.entry import Entry, Outcomes
from metnos.cache.entries.front import Known
from metnos.cache.entries.validity import first_difference
from metnos.cache.generalise.uses import General
from metnos.cache.model import Match, Miss
from metnos.cache.near.gates import Differs, Near, NearEntry
from metnos.cache.near.thresholds import Thresholds
from metnos.plan.jsondata import digest

if TYPE_CHECKING:
    from metnos.cache.entries.front import Front
    from metnos.cache.entries.validity import World
    from metnos.cache.looking import Looking
    from metnos.cache.model import Asking
    from metnos.cache.near.gates import Candidate, Confirm
    from metnos.request.model import Request


class _Index(NamedTuple):
    state: tuple[int, int]
    near: Near


class Nearby:
    """Near matching of one plan cache. Safe between threads: one look at a time."""

    def __init__(self, front: Front, looking: Looking, world: World, confirm: Confirm | None) -> None:
        """Over a front; `confirm`: somebody who reads both requests, None: nobody."""
        self._front = front
        self._looking = looking
        self._world = world
        self._confirm = confirm
        self._indexes: dict[tuple[tuple[str, ...], str], _Index] = {}
        self._thresholds = Thresholds()
        self._stored: dict[str, int] = {}
        """Plan → how many of its outcomes are on disk."""
        self._lock = threading.RLock()

    def serve(self, request: Request, asking: Asking) -> Match | Miss | Differs:
        """The plan of what is near, or why nothing is served.

        Raises:
            StoreFault: the disk failed.
        """
        if not self._world.near_error and self._confirm is None:
            return Differs("off")
        with self._lock:
            return self._serve(request, asking)

    def _serve(self, request: Request, asking: Asking) -> Match | Miss | Differs:
        near = self._near(request.language, asking)
        # What confirmations said before, of what may be asked about now.
        for candidate in near.candidates(request, 1):
            self._recall(candidate.entry.plan, asking)
        found = near.serve(request)
        if isinstance(found, Differs):
            if found.reason == "refused":
                self._store_outcomes(asking)
            return found
        if found.confirmed:
            self._store_outcomes(asking)
        return self._believed(found.candidate, found.bound.plan, asking)

    def _believed(self, candidate: Candidate, plan: dict[str, Any], asking: Asking) -> Match | Miss:
        known = self._looking.read(candidate.entry.entry.partition("@")[0], asking)
        if not isinstance(known, Known) or not isinstance(known.kept, Entry):
            return Miss(reason="malformed-row", detail="no entry")
        differs = first_difference(known.kept, self._world, asking)
        if differs is not None:
            return Miss(reason=differs[0], detail=differs[1])
        return Match(plan=plan, entry=known.reference, origins={}, language=known.kept.language, layer="near")

    # --- the index -----------------------------------------------------------------------------------------------

    def _near(self, language: str, asking: Asking) -> Near:
        scopes = self._looking.scopes(asking)
        state = self._front.store.state()
        index = self._indexes.get((scopes, language))
        if index is None or index.state != state:
            entries = [found for key in self._front.store.every_key() for found in self._entry(key, language, asking)]
            near = Near(entries, bound=self._world.near_error, confirm=self._confirm, thresholds=self._thresholds)
            index = self._indexes[scopes, language] = _Index(state, near)
        return index.near

    def _entry(self, key: str | Tampered, language: str, asking: Asking) -> list[NearEntry]:
        if isinstance(key, Tampered) or key.partition(":")[0] not in {"l0", "l1"}:
            return []
        known = self._looking.read(key, asking)
        kept = known.kept if isinstance(known, Known) else None
        if not isinstance(known, Known) or not isinstance(kept, Entry) or kept.language != language:
            return []
        general = _general(kept)
        if general is None or not general.read_only:
            return []
        plan = digest(msgspec.to_builtins(general, str_keys=True))
        return [NearEntry(entry=known.reference, plan=plan, text=kept.form, form=kept.form, general=general)]

    # --- outcomes --------------------------------------------------------------------------------------------------

    def _recall(self, plan: str, asking: Asking) -> None:
        if plan in self._stored:
            return
        known = self._looking.read(keying.near_key(asking.owner, plan), asking)
        seen = known.kept.seen if isinstance(known, Known) and isinstance(known.kept, Outcomes) else ()
        for score, right in seen:
            self._thresholds.record(plan, score, right=right)
        self._stored[plan] = len(seen)

    def _store_outcomes(self, asking: Asking) -> None:
        for plan, count in list(self._stored.items()):
            seen = self._thresholds.outcomes(plan)
            if len(seen) > count:
                key = keying.near_key(asking.owner, plan)
                self._front.write(Outcomes(key=key, scope=asking.owner, seen=seen))
                self._stored[plan] = len(seen)


def _general(kept: Entry) -> General | None:
    """The general plan of an entry: of one without slots its very plan; None for `l0` entries with slots."""
    if kept.layer == "l1":
        try:
            return general_of(kept)
        except msgspec.ValidationError:
            return None
    if kept.kinds:
        return None
    return General(plan=kept.plan, language=kept.language, kinds=(), read_only=kept.read_only)
