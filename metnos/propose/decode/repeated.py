"""What a plan owes who asks for what is there twice: the things themselves, not how many there are of each.

Law: files are equal by their bytes, so their digests are made first; of what is equal to another all is kept, and
nothing else. Rows of a table are told to be equal by the columns that are named, or by all. Only where nothing is done
to them: which of two equal files is to go is not said. Met by families and choices, never by a tool's name.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import msgspec

from metnos.plan.jsondata import is_object
from metnos.propose.decode.choices import Argument, Form, OneOf, Part, Value
from metnos.propose.decode.ranking import PLACES, steps_of
from metnos.propose.decode.state import is_for

if TYPE_CHECKING:
    from collections.abc import Callable

    from metnos.checks.bound import Bound
    from metnos.propose.decode.called import Called
    from metnos.propose.decode.state import Sofar

REPEATED: Final = "repeated"
"""The choice that keeps what is equal to another."""
DIGEST: Final = "digest"
"""The kind of what tells bytes apart, and its field."""


class Repeated:
    """What is there twice, of one request."""

    def __init__(self, called: Called, can: Callable[[str, str], bool]) -> None:
        """Of the cues of a request; `can` tells whether a tool of a family may be named."""
        self.called = called
        self.can = can

    @cached_property
    def asked(self) -> bool:
        """Whether what is equal to another is asked for."""
        called = self.called
        if called.offers.there is None:  # nobody looks: plans are held to the worked examples, which show the groups
            return False
        if not called.at(REPEATED) or called.at("repeated-not") or called.offers.acts or called.inside:
            return False
        return self.can("dedupe", "entries") and (called.rows.alone or self._of_files)

    @cached_property
    def _of_files(self) -> bool:
        return not self.called.rows.reads and self.can("compute", "files")

    def owed(self, sofar: Sofar) -> list[str]:
        """Verbs of the families that are still to come, in order."""
        if not self.asked or self._is_met(sofar):
            return []
        hashed = not self._of_files or any(made.kind == DIGEST for made in sofar.made)
        return ["dedupe"] if hashed else ["compute", "dedupe"]

    def following(self, sofar: Sofar) -> str:
        """What has to be done with files that were found, or with their digests; nothing: something may come before."""
        owed = self.owed(sofar)
        found = self._of_files and any(made.kind in PLACES for made in sofar.made)
        return owed[0] if owed and (found or any(made.kind == DIGEST for made in sofar.made)) else ""

    def _is_met(self, sofar: Sofar) -> bool:
        return any(REPEATED in sofar.steps[at - 1]["args"].values() for at in steps_of(sofar, "dedupe"))

    def calls(self, bound: Bound) -> bool:
        """Whether a tool is needed for it."""
        needed = [("dedupe", "entries"), *([("compute", "files")] if self._of_files else [])]
        return self.asked and any(is_for(bound, verb, thing) for verb, thing in needed)

    def is_due(self, bound: Bound) -> bool:
        """Whether a tool may stand there: groups say how many there are of each, and not which."""
        if not self.asked:
            return True
        return not is_for(bound, "group", "entries") or self.called.has("each")

    def may_be_handed(self, bound: Bound, sofar: Sofar, number: int) -> bool:
        """Of files, digests are compared."""
        compares = self.asked and self._of_files and is_for(bound, "dedupe", "entries")
        return not compares or sofar.made[number - 1].kind == DIGEST

    def shaped(self, form: Form, bound: Bound) -> Form:
        """The form of what compares, with what is kept; files are compared by their digests."""
        if not self.asked or not is_for(bound, "dedupe", "entries"):
            return form
        properties: dict[str, Any] = bound.contract.args.get("properties", {})
        keeps = [
            name for name, schema in properties.items() if is_object(schema) and REPEATED in schema.get("enum", ())
        ]
        fields = bound.contract.field_of_input if self._of_files else ()
        parts: list[Part] = [
            part for part in form.parts if not (isinstance(part, Argument) and part.name in {*keeps, *fields})
        ]
        compared = [Argument(name, OneOf((Value(DIGEST),))) for name in fields]
        kept = [Argument(name, OneOf((Value(REPEATED),))) for name in keeps]
        return msgspec.structs.replace(form, parts=(*compared, *parts, *kept))
