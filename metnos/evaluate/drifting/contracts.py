"""Contracts of then and of today: gone, another version, another digest, and field by field where both are at hand.

Law: pure. A log holds the digest of each contract that its plans were accepted under and no more; what differs *in* them
can be said only where the contracts of then lie beside the turns, or are named.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from metnos.evaluate.drifting.fields import Field, Schema, fields_of, likely, schema_at
from metnos.evaluate.drifting.results import Misfit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from metnos.contracts.model import Contract
    from metnos.evaluate.drifting.model import Kind


def changes(reference: str, digest: str, now: Contract | None, before: Contract | None) -> list[Misfit]:
    """What has changed of one tool; nothing if its contract is the recorded one.

    Args:
        reference: `name@version`, as recorded.
        digest: Of its contract then.
        now: Today's; None: the tool is gone.
        before: The recorded one, if anybody has it.
    """
    version = reference.rpartition("@")[2]
    if now is None:
        return [Misfit("tool-gone", "", version, "", (), 1)]
    if now.digest == digest:
        return []
    same = now.version == version
    first = Misfit("contract-changed" if same else "tool-version", "", version, "" if same else now.version, (), 1)
    return [first, *(() if before is None or before.digest != digest else _between(before, now))]


def _between(before: Contract, now: Contract) -> Iterator[Misfit]:
    yield from _schemas(before.args, now.args, gone="argument-gone", typed="argument-type")
    for place, field in fields_of(now.args).items():
        known = fields_of(before.args).get(place)
        if field.required and place.count("/") == 1 and (known is None or not known.required):
            yield Misfit("argument-required", place, "" if known is None else "optional", "required", (), 1)
    yield from _schemas(before.result, now.result, gone="field-gone", typed="field-type")
    then, today = _effects(before), _effects(now)
    if then != today:
        yield Misfit("effect-changed", "", then, today, (), 1)


def _schemas(before: Schema, now: Schema, *, gone: Kind, typed: Kind) -> Iterator[Misfit]:
    old, new = fields_of(before), fields_of(now)
    for place, field in old.items():
        found = new.get(place)
        if found is None:
            yield Misfit(gone, place, field.type, "", _renamed(place, field, old, new, now), 1)
        elif found.type != field.type:
            yield Misfit(typed, place, field.type, found.type, (), 1)


def _renamed(
    place: str, field: Field, old: Mapping[str, Field], new: Mapping[str, Field], now: Schema
) -> tuple[str, ...]:
    above, _, name = place.rpartition("/")
    others = {
        other.rpartition("/")[2]: schema_at(now, other)
        for other, held in new.items()
        if other.rpartition("/")[0] == above and other not in old and held.type in (field.type, "anything")
    }
    return likely(name, others, None, known=False)


def _effects(contract: Contract) -> str:
    """The classes that it may have, in the order of its rules."""
    return ", ".join(dict.fromkeys(rule.effect for rule in contract.effects))


def declared(contract: Contract) -> frozenset[str]:
    """The classes of effect that a contract declares."""
    return frozenset(rule.effect for rule in contract.effects)
