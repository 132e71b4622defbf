"""What the request offers to be copied into a plan: its typed values, and its words.

Law: nothing here that the request does not say, but for a table of small numbers. Forms are those of the conversions
of the cache, so that a plan that was written here can be generalised there. What people say is data: a `${` in it is
escaped. Names are in `naming`, times in `moments`.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Final

from metnos.cache.generalise.conversions import CONVERSIONS, convert
from metnos.propose.decode.choices import Value, unique
from metnos.propose.decode.endings import is_ending
from metnos.propose.decode.families import families_of
from metnos.propose.decode.moments import UNITS, Times
from metnos.propose.decode.naming import NAMING
from metnos.propose.decode.rows import Rows
from metnos.propose.decode.said import NAMED, SAYING, Spoken, plain
from metnos.propose.decode.seeking import sought_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from metnos.checks.guards.asked import Action
    from metnos.request.model import Slot

TYPED: Final = frozenset({"glob", "size", "duration", "period", "date", "integer", "number"})
"""Kinds of slots that say which ones, or how many."""
HERE: Final = "."
"""The folder that is meant where none is named."""
TELLING: Final = frozenset({"write", "append"})
"""Verbs of what puts into a file what was found: of which files it was found changes nothing of theirs."""
KIND_FORMS: Final = ("*.{}", ".{}", "{}")
"""How a kind of files may be written."""
_PLAIN_WORD = re.compile(r"[\w.+@&'-]+")


class Offers(Times):
    """The values of one request. Made once; each list when it is first asked for."""

    @cached_property
    def rows(self) -> Rows:
        """What is asked of the rows of a table."""
        return Rows(self)

    @cached_property
    def sought(self) -> tuple[str, ...]:
        """What is looked for inside of files; empty: the words do not tell."""
        return sought_in(self)

    @cached_property
    def families(self) -> Mapping[int, str]:
        """Where a word for a kind of files begins → the pattern of its endings."""
        return families_of(self)

    @cached_property
    def globs(self) -> tuple[Value, ...]:
        """Patterns of file names: `*.ext` from kinds of files, `*text*` from what was quoted; of other words, if of names."""
        found = [slot.value for slot in self.of({"glob"}) if slot.start not in self.families]
        found += [slot.value for slot in self.of({"path"}) if "/" not in slot.value and "." in slot.value.strip(".")]
        said = [slot.value for slot in self.of(SAYING) if isinstance(slot.value, str)]
        there = (value for value in self.folders if self.is_there(str(value.data)))
        names = {value.data for value in (*self.names, *self.places, *there)}
        # What opens a sentence is a verb, known or not; where something is to be put is no pattern.
        found += [f"*.{word.lower()}" for word in self.kinds]
        found += self.families.values()
        words = [w.text for w in self.words[1:] if w.free and w.meant and not w.known and self._is_of_names(w)]
        words = [word for word in words if word not in names and not is_ending(word) and not self.is_held(word)]
        found += [f"*{word}*" for word in (*said, *words) if _PLAIN_WORD.fullmatch(word)]
        patterns = unique(plain(pattern) for pattern in found if isinstance(pattern, str))
        return tuple(pattern for pattern in patterns if pattern.json not in self.arrivals)

    def _is_of_names(self, word: Spoken) -> bool:
        """Whether the clause of a word speaks of names."""
        clauses = [each for each in self.request.clauses if each.start <= word.start < each.end]
        start, end = (clauses[0].start, clauses[0].end) if clauses else (0, len(self.request.text))
        return any(start <= at < end for at in self._naming)

    @cached_property
    def _naming(self) -> tuple[int, ...]:
        """Where words that speak of names begin."""
        return tuple(word.start for word in self.words if word.free and self.speaks(word, NAMED))

    @cached_property
    def extensions(self) -> tuple[Value, ...]:
        """`.pdf` and `pdf`, of kinds of files."""
        found = [
            convert(name, slot, self.request.language) for slot in self.of({"glob"}) for name in ("dotted", "extension")
        ]
        found += [form.format(word.lower()) for word in self.kinds for form in (".{}", "{}")]
        return unique(plain(each) for each in found if isinstance(each, str))

    @cached_property
    def integers(self) -> tuple[Value, ...]:
        """Whole numbers that were said."""
        return unique(Value(slot.value) for slot in self.of({"integer", "number"}) if isinstance(slot.value, int))

    @cached_property
    def counts(self) -> tuple[Value, ...]:
        """Of these, those that may say how many: not what something is compared with ("over 30")."""
        compared = self.columns.limits
        slots = self.of({"integer", "number"})
        found = (slot for slot in slots if slot.start not in compared and not self.held.covers(slot.start))
        return unique(Value(slot.value) for slot in found if isinstance(slot.value, int))

    @cached_property
    def numbers(self) -> tuple[Value, ...]:
        """All numbers that were said; a size in bytes."""
        return unique(Value(slot.value) for slot in self.of({"integer", "number", "size"}))

    @cached_property
    def sizes(self) -> tuple[Value, ...]:
        """Sizes in bytes. A bare number is none: "three files" says nothing of theirs."""
        return unique(Value(slot.value) for slot in self.of({"size"}))

    def bounds(self, name: str) -> bool:
        """Whether a least (`min…`) or a greatest (`max…`) may be meant: not where only the other was said.

        Where neither was, nothing is done to what lies on a side that is only supposed.
        """
        empty = self.mentions("zero") or any(size.data == 0 for size in self.sizes)
        least, greatest = self.mentions("above"), self.mentions("below") or empty
        if least == greatest or self.mentions("reversed"):
            return least or greatest or not self.acts
        return not name.startswith("max" if least else "min")

    def conditions(self, action: Action) -> tuple[frozenset[str], ...]:
        """What an action's clause says of its object: for each value, JSON of all its forms.

        A clause that says nothing of it ("and delete them") goes on with what the ones before have said.
        """
        for number in range(action.clause, -1, -1):
            clause = self.request.clauses[number]
            said = [slot for slot in self.slots if clause.start <= slot.start < clause.end and slot.kind in TYPED]
            places = [word for word in self.words if clause.start <= word.start < clause.end and self._is_where(word)]
            empty = any(self.speaks(word, "zero") for word in self.words if clause.start <= word.start < clause.end)
            kind = any(clause.start <= word.start < clause.end and word.text in self.kinds for word in self.words)
            family = [plain(self.families[at]).json for at in self.families if clause.start <= at < clause.end]
            if said or places or empty or kind or family:
                typed = (frozenset(value.json for value in self._forms(slot)) for slot in said)
                kinds = (
                    frozenset(plain(form.format(word.text.lower())).json for form in KIND_FORMS)
                    for word in self.words
                    if clause.start <= word.start < clause.end and word.free and word.text in self.kinds
                )
                named = (
                    frozenset(plain(form.format(word.text)).json for form in ("{}", "*{}*", "*.{}")) for word in places
                )
                families = (frozenset({each}) for each in family)
                of = () if action.intent.verb in TELLING else (*kinds, *families)
                return (*typed, *named, *of, *([frozenset({Value(0).json})] if empty else []))
        return ()

    def forms(self, slot: Slot) -> frozenset[str]:
        """JSON of all that stands for a value in a plan; none for what nothing can take, or what is the default anyway."""
        if slot.kind not in TYPED | NAMING or slot.value == HERE:
            return frozenset()
        units = (convert(unit, slot, self.request.language) for unit in UNITS) if slot.kind == "duration" else ()
        lengths = (Value(each) for each in units if isinstance(each, int))
        found = {value.json for value in (*self._forms(slot), *lengths)}
        if slot.kind == "integer":  # a number that is looked for in a text
            found.add(plain(slot.text).json)
        if slot.kind in NAMING:
            found |= {plain(str(slot.value)).json, plain(f"*{slot.value}*").json}
        return frozenset(found)

    def _forms(self, slot: Slot) -> Iterator[Value]:
        if slot.start in self.families:
            yield plain(self.families[slot.start])
            return
        for name in ("value", "number", "dotted", "extension"):
            made = convert(name, slot, self.request.language) if slot.kind in CONVERSIONS[name].kinds else None
            if made is not None:
                yield Value(made)
        yield from (Value(each) for each in self.times_of(slot) if each is not None)

    @cached_property
    def narrows(self) -> bool:
        """Whether the request says which ones: by a value, by a word that nothing explains, or by one that describes."""
        return bool(self.names) or self.describes

    @cached_property
    def describes(self) -> bool:
        """The same, not by a name."""
        words = self.lexicon.words
        described = (words.get(word.key) for word in self.words if word.free and word.meant)
        return any(slot.kind not in NAMING for slot in self.slots) or any(
            word is None or not word.roles & {"verb", "object", "quantifier", "pronoun"} for word in described
        )
