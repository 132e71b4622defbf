"""The walk over what was learned: key after key, and of each what stands there and whether it may be served.

Law: reads only. Every key that this request has is looked at, the nearest first: L0 before L1, the strict grade before
the loose one, the owner before what is shared. What is found is compared with the world and, in L1, bound to the
request's own slots; one result for each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import orjson

from metnos.cache.entries import key as keying
from metnos.cache.entries.entry import Entry, Mark, Shape
from metnos.cache.entries.front import Bad, Front, Known
from metnos.cache.entries.validity import first_difference
from metnos.cache.model import Asking, Match, Miss, Tried

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metnos.cache.entries.entry import Grade, Layer
    from metnos.cache.entries.validity import World
    from metnos.request.model import Request


class Looking:
    """Reads one front for one world."""

    def __init__(self, front: Front, world: World) -> None:
        self._front = front
        self._world = world

    def scopes(self, asking: Asking) -> tuple[str, ...]:
        """Whose entries may be served."""
        return (asking.owner, "shared") if self._world.share and asking.owner != "shared" else (asking.owner,)

    def tries(self, request: Request, asking: Asking) -> Iterator[Tried]:
        """Each key of this request with what it gives; None where nothing stands.

        Raises:
            StoreFault: the disk failed.
        """
        scopes = self.scopes(asking)
        both: list[tuple[str, Grade]] = [(scope, grade) for scope in scopes for grade in keying.GRADES]
        forms, kinds, language = (
            keying.forms_of(request),
            keying.kinds_of(request),
            request.language,
        )
        keys = [keying.l0_key(s, language, g, forms[g], kinds, keying.said(request, g)) for s, g in both]
        for (_, grade), key, known in zip(both, keys, self._front.read_all(keys, scopes, asking.now), strict=True):
            yield self._tried("l0", grade, key, known, request, asking)
        if not request.slots:
            return
        keys = [keying.shape_key(scope, language, grade, forms[grade], kinds) for scope, grade in both]
        for (scope, grade), index in zip(both, self._front.read_all(keys, scopes, asking.now), strict=True):
            for pattern in index.kept.patterns if isinstance(index, Known) and isinstance(index.kept, Shape) else ():
                fixed = keying.fixed_of(request.slots, pattern)
                key = keying.l1_key(scope, language, grade, forms[grade], kinds, fixed)
                yield self._tried("l1", grade, key, self.read(key, asking), request, asking)

    def read(self, key: str, asking: Asking) -> Known | Bad | None:
        """What stands under a key, if it may be believed."""
        return self._front.read(key, self.scopes(asking), asking.now)

    def _tried(
        self, layer: Layer, grade: Grade, key: str, known: Known | Bad | None, request: Request, asking: Asking
    ) -> Tried:
        if known is None:
            return Tried(layer=layer, grade=grade, key=key)
        if isinstance(known, Bad):
            return Tried(layer=layer, grade=grade, key=key, result=Miss(reason=known.reason, detail=known.detail))
        result = self.serve(known, request, asking)
        return Tried(layer=layer, grade=grade, key=key, entry=known.reference, result=result)

    def serve(self, known: Known, request: Request, asking: Asking) -> Match | Miss:
        """The plan of a row that is believed, if the world is still the one that it was learned in."""
        kept = known.kept
        if isinstance(kept, Mark):
            return Miss(reason=kept.why, detail=kept.detail)
        if not isinstance(kept, Entry):
            return Miss(reason="malformed-row", detail="no entry")
        differs = first_difference(kept, self._world, asking)
        if differs is not None:
            return Miss(reason=differs[0], detail=differs[1])
        if kept.layer == "l0":
            plan: dict[str, Any] = orjson.loads(known.plan)
            return Match(plan=plan, entry=known.reference, origins={}, language=kept.language, layer="l0")
        return _bound(kept, known, request)


def _bound(entry: Entry, known: Known, request: Request) -> Match | Miss:
    """The plan of an `l1` entry with the request's own slots."""
    from metnos.cache.admission import general_of
    from metnos.cache.generalise.binding import Binder
    from metnos.cache.templates.template import Refusal

    if not known.ready:
        try:
            known.ready.append(Binder(general_of(entry)))
        except msgspec.ValidationError as fault:
            return Miss(reason="malformed-row", detail=str(fault))
    bound = known.ready[0].bind(request.slots)
    if isinstance(bound, Refusal):
        return Miss(reason="unbound-slot", detail=bound.detail)
    return Match(
        plan=bound.plan, entry=known.reference, origins={}, language=entry.language, slots=bound.values, layer="l1"
    )


def l0_key_of(scope: str, request: Request, grade: Grade) -> str:
    """The key of this very request."""
    form = keying.form_of(request, grade)
    return keying.l0_key(scope, request.language, grade, form, keying.kinds_of(request), keying.said(request, grade))


def shape_key_of(scope: str, request: Request, grade: Grade) -> str:
    """The key of the index over this form's `l1` entries."""
    return keying.shape_key(scope, request.language, grade, keying.form_of(request, grade), keying.kinds_of(request))
