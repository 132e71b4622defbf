"""What a request says of the files that it is about is said where they are looked for, in one step.

Law: a kind of file, a size, an age, a day, the one folder to look in belong to the search where one clause says them all,
and no clause before it looks for anything: "delete the log files older than two months" is one search. Where files are
counted first and some are shown then, the words belong to what comes then, and the search is left alone. A value that the
search cannot say waits for a step that can. A file that is named without its folder, and is not here but somewhere
below, is looked for by its name alone; what was found so is that file, and no list to be put in order.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Final

from metnos.propose.decode.enough import still_to_find
from metnos.propose.decode.placed import Must, saying
from metnos.propose.decode.said import plain
from metnos.propose.decode.state import is_for

if TYPE_CHECKING:
    from metnos.checks.bound import Bound
    from metnos.propose.decode.called import Called
    from metnos.propose.decode.choices import Form
    from metnos.propose.decode.placed import Told, Values
    from metnos.propose.decode.state import Sofar

KINDS: Final = frozenset({"glob", "size", "date", "period", "duration"})
ZERO: Final = "zero"
"""What a request speaks of that speaks of nothing being in something (`mentions.toml`)."""
_READS: Final = "read"


class Searching:
    """The first search for files of one request."""

    def __init__(self, called: Called, values: Values) -> None:
        self._called = called
        self._values = values

    def forms(self, form: Form, bound: Bound, sofar: Sofar) -> list[Form]:
        """The ways to write a step that say all that the search can; the step itself, where nothing has to be said."""
        if form.sources or not is_for(bound, "find", "files") or sofar.context.earlier_steps:
            return [form]
        if left := still_to_find(self._called.offers, sofar):
            return [said for name in left for said in saying(form, Must(frozenset({plain(name).json})))]
        if not self._musts:
            return [form]
        if any(step["tool"] == form.tool for step in sofar.steps):
            return [form]
        found = [form]
        for must in self._musts:
            found = [said for each in found for said in saying(each, must)] or found
        return found

    @cached_property
    def _musts(self) -> tuple[Must, ...]:
        offers = self._called.offers
        where = [each for each in offers.folders if each.json not in offers.arrivals]
        told = [each for each in self._values.all if each.kind in KINDS]
        told += [
            each for each in self._values.all if len(where) == 1 and each.kind == "path" and where[0].json in each.forms
        ]
        clauses = self._called.offers.request.clauses
        spots = [self._clause(each) for each in told]
        if len(set(spots)) != 1 or spots[0] is None:
            return ()
        before = (intent for clause in clauses[: spots[0]] for intent in clause.intents)
        return () if any(intent.effect == _READS for intent in before) else tuple(Must(each.forms) for each in told)

    def _clause(self, told: Told) -> int | None:
        """The clause that a value stands in; None: that is not plain."""
        offers = self._called.offers
        if told.text:
            text = re.finditer(rf"(?<!\w){re.escape(told.text)}", offers.request.text, re.IGNORECASE)
            found = [match.start() for match in text]
        elif told.kind == "glob":  # a word for a kind of files
            found = [start for start, pattern in offers.families.items() if plain(pattern).json in told.forms]
        else:  # nothing in it
            found = [word.start for word in offers.words if word.free and offers.speaks(word, ZERO)]
        clauses = self._called.offers.request.clauses
        at = [number for number, one in enumerate(clauses) for start in found if one.start <= start < one.end]
        return at[0] if len(at) == 1 else None
