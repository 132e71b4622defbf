"""What a plan owes the superlatives of a request, and the last ones: in which order, and how many are taken of which end.

Law: each superlative is met by a sort in its order and, where it says how many, by taking the first of that; "the last
ones" by taking from the end what stands as it was read. Met by families and roles, never by a tool's name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from metnos.plan.jsondata import is_object, spell
from metnos.propose.decode.choices import Argument, Choice, Fork, Form, OneOf, Part, Value
from metnos.propose.decode.state import is_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from metnos.checks.bound import Bound
    from metnos.propose.decode.called import Called
    from metnos.propose.decode.state import Sofar
    from metnos.propose.decode.superlatives import Most

COUNT: Final = "count"
ORDER: Final = ("asc", "desc")
END: Final = "end"
"""The end of what is handed, where some of it is taken."""
PLACES: Final = frozenset({"file", "dir"})
"""Kinds of what is looked for below a folder."""


class Ranking:
    """The superlatives of one request."""

    def __init__(self, called: Called, can: Callable[[str, str], bool]) -> None:
        """Of the cues of a request; `can` tells whether a tool of a family may be named."""
        self.called = called
        self.can = can

    def owed(self, sofar: Sofar) -> list[str]:
        """Verbs of the families that are still to come, in order."""
        found: list[str] = []
        for most in self.unmet(sofar):
            taken = ["take"] if is_limited(most) else []
            found += taken if self.sorted_at(most, sofar) else ["sort", *taken]
        return found if self.has_end(sofar) else [*found, "take"]

    def may_be_handed(self, bound: Bound, sofar: Sofar, number: int) -> bool:
        """Of the most of all, the first ones are taken of what was sorted; rows are sorted as they were read; and what the
        last ones are taken of stays as it is.
        """
        called = self.called
        behind = {step.number for step in sofar.behind(number)}
        if called.mosts and is_for(bound, "take", "entries"):
            unmet = self.unmet(sofar) or list(called.mosts)
            return not behind.isdisjoint(at for most in unmet[:1] for at in self.sorted_at(most, sofar))
        if not is_for(bound, "sort", "entries"):
            return True
        if called.rows.mosts:
            return behind.isdisjoint(steps_of(sofar, "sort"))
        last = called.rows.end is not None and not called.mosts and not called.sorts
        return not last or sofar.made[number - 1].kind in PLACES

    def may_again(self, bound: Bound, sofar: Sofar) -> bool:
        """Whether a tool may be handed the same twice: where two superlatives are said of the same rows."""
        several = len(self.called.rows.mosts) > 1
        return several and is_for(bound, "sort", "entries") and bool(self.unmet(sofar))

    def unmet(self, sofar: Sofar) -> list[Most]:
        """The superlatives that nothing answers yet."""
        if not self.can("sort", "entries"):
            return []
        return [most for most in self.called.mosts if not self._is_met(most, sofar)]

    def _is_met(self, most: Most, sofar: Sofar) -> bool:
        sorted_at = self.sorted_at(most, sofar)
        if not sorted_at or not is_limited(most) or not self.can("take", "entries"):
            return bool(sorted_at)
        return any(set(sorted_at) & {step.number for step in sofar.behind(at)} for at in steps_of(sofar, "take"))

    def sorted_at(self, most: Most, sofar: Sofar) -> list[int]:
        """The steps that put things in the order of a superlative: any that do, where there is only one."""
        found = steps_of(sofar, "sort")
        if len(self.called.mosts) < 2:
            return found
        args = {at: sofar.steps[at - 1]["args"] for at in found}
        return [
            at
            for at in found
            if (args[at].get("order", ORDER[0]) == ORDER[1]) == most.down
            and str(args[at].get("by")).split(": ")[0] in (most.fields or ())
        ]

    def following(self, sofar: Sofar) -> str:
        """`take`, right behind the sort that it takes the first ones of; else nothing."""
        unmet = self.unmet(sofar)
        return "take" if self.called.rows.mosts and unmet and self.sorted_at(unmet[0], sofar) else ""

    # --- values

    def shaped(self, form: Form, bound: Bound, sofar: Sofar) -> tuple[Form, set[Choice]]:
        """The form of what sorts or takes, and its choices that are closed."""
        if is_for(bound, "take", "entries"):
            return self._taken(form, bound, sofar)
        unmet = self.unmet(sofar) or list(self.called.mosts)
        if not unmet or not is_for(bound, "sort", "entries"):
            return form, set()
        away = ORDER[0] if unmet[0].down else ORDER[1]
        return form, {Choice(form.tool, "order", spell(away)), *_others(form, unmet[0].fields or frozenset())}

    def _taken(self, form: Form, bound: Bound, sofar: Sofar) -> tuple[Form, set[Choice]]:
        """The form of what takes some, with the end that is meant; and counts that are not."""
        end, rows = self.called.rows.end, self.called.rows.mosts
        count = end or None
        if rows:
            unmet = (self.unmet(sofar) or list(rows))[0]
            count = 1 if unmet.one else unmet.number
        elif end is not None and self._may_be_last(form, sofar):
            parts = (*form.parts, *(Argument(name, OneOf((Value(END),))) for name in _ends(bound)))
            form = msgspec.structs.replace(form, parts=parts)
        elif self.called.mosts:
            said = any(slot.kind == "integer" for slot in self.called.offers.slots)
            return form, {Choice(form.tool, COUNT, spell(1))} if said and not self._says_one() else set()
        else:
            return form, set()
        return form, _others(form, frozenset({count}) if count else frozenset())

    def _may_be_last(self, form: Form, sofar: Sofar) -> bool:
        """Whether "the last ones" means the end of what is handed: rows or lines as they stand, no files and nothing in order."""
        behind = {step.number for source in form.sources for step in sofar.behind(source)}
        kinds = {sofar.made[at - 1].kind for at in form.sources}
        return bool(kinds) and kinds.isdisjoint(PLACES) and behind.isdisjoint(steps_of(sofar, "sort"))

    def has_end(self, sofar: Sofar) -> bool:
        rows = self.called.rows
        if not rows.reads or rows.end is None or not self.can("take", "entries"):
            return True
        return any(END in sofar.steps[at - 1]["args"].values() for at in steps_of(sofar, "take"))

    def _says_one(self) -> bool:
        return any(slot.kind == "integer" and slot.value == 1 for slot in self.called.offers.slots)


def is_limited(most: Most) -> bool:
    """Whether a superlative says how many are meant."""
    return most.one or most.number is not None


def _ends(bound: Bound) -> list[str]:
    """Arguments that say from which end."""
    properties: dict[str, Any] = bound.contract.args.get("properties", {})
    return [name for name, schema in properties.items() if is_object(schema) and END in schema.get("enum", ())]


def _others(form: Form, wanted: frozenset[Any]) -> set[Choice]:
    """The values of arguments that offer one of these, but for them."""
    found: set[Choice] = set()
    for part in _flat(form.parts):
        if isinstance(part.node, OneOf) and any(value.data in wanted for value in part.node.values):
            found |= {
                Choice(form.tool, part.name, value.json) for value in part.node.values if value.data not in wanted
            }
    return found


def _flat(parts: Iterable[Part]) -> Iterable[Argument]:
    for part in parts:
        if isinstance(part, Argument):
            yield part
        else:
            for way in part.ways if isinstance(part, Fork) else (part.arguments,):
                yield from _flat(way)


def steps_of(sofar: Sofar, verb: str) -> list[int]:
    """Numbers of the steps of a family's verb."""
    return [step.number for step in sofar.checked.steps if any(f.verb == verb for f in step.contract.families)]
