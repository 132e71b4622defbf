"""What the request offers to be copied into a plan: its typed values, and its words.

Law: nothing here that the request does not say, but for a table of small numbers. Forms are those of the conversions
of the cache, so that a plan that was written here can be generalised there. What people say is data: a `${` in it is
escaped.
"""

from __future__ import annotations

import json
import mimetypes
import re
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Final

from metnos.cache.generalise.conversions import CONVERSIONS, REFERENCES, convert
from metnos.checks.guards.asked import Action, actions_of
from metnos.checks.guards.destination import PLACING, destination_of
from metnos.checks.guards.grounding import places_said
from metnos.plan.spelling import format_parts
from metnos.propose.decode.choices import Value, unique
from metnos.propose.decode.columns import Columns
from metnos.propose.decode.said import NAMED, SAYING, Said, Spoken, plain
from metnos.request.named import names_said
from metnos.request.words import Role
from metnos.values.runtime import PERIODS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metnos.request.model import Slot

NAMING: Final = frozenset({"path", "name", "quoted", "address", "url"})
"""Kinds of slots that name one thing."""
LISTS: Final = frozenset({"paths", "addresses", "urls", "texts"})
TYPED: Final = frozenset({"glob", "size", "duration", "period", "date", "integer", "number"})
"""Kinds of slots that say which ones, or how many."""
HERE: Final = "."
"""The folder that is meant where none is named."""
KIND_FORMS: Final = ("*.{}", ".{}", "{}")
"""How a kind of files may be written."""
UNITS: Final = ("weeks", "days", "hours", "minutes", "seconds")
"""In which a length of time may be a whole number."""
_MONTHS = re.compile(r"P(?:(\d+)Y)?(?:(\d+)M)?")
MORE_ENDINGS: Final = frozenset({"log", "tmp", "bak", "cfg", "ini", "yaml", "yml", "toml", "sql", "iso"})
"""Endings of files that no media type has."""
NOUN: Final[frozenset[Role]] = frozenset({"object"})
WHERE: Final = frozenset({"of", "from", "under", "di", "da", "sotto"})
"""Words of both languages behind which a bare noun names a folder, beside those of place."""
IN: Final = "in"
"""The word of both languages that a bare folder stands right behind."""
FILES: Final = frozenset({"file", "files"})
"""Nouns that never name a folder."""
DIRS: Final = "dirs"
"""What nouns of folders mean: "in the subfolders" says how far, and names none."""
_EXTENSION = re.compile(r"[A-Za-z0-9]{1,5}")
_PLAIN_WORD = re.compile(r"[\w.+@&'-]+")


class Offers(Said):
    """The values of one request. Made once; each list when it is first asked for."""

    @cached_property
    def columns(self) -> Columns:
        """Those of tables that nobody has seen yet."""
        return Columns(self)

    @cached_property
    def names(self) -> tuple[Value, ...]:
        """What is named: paths, names, quoted text, addresses, URLs; as a target may be written."""
        slots = [slot.value for slot in self.of(NAMING) if isinstance(slot.value, str) and slot.value]
        return unique(plain(name) for name in (*slots, *filter(self._is_name, names_said(self.request))))

    @cached_property
    def only_places(self) -> frozenset[str]:
        """Of these, those that only say where, as grounding knows them; normalised."""
        return places_said(self.request)

    def _is_part(self, word: Spoken) -> bool:
        """Whether a word only stands for a part of a name: of one with blanks, or the folder that one is made in."""
        paths = [slot for slot in self.slots if slot.kind == "path" and slot.text != word.text]
        around = (*paths, *(inner.place for inner in self.nested))
        return any(slot.start <= word.start and word.end <= slot.end for slot in around)

    def _is_name(self, name: str) -> bool:
        """A word that is a value of another kind or a part of a name, or tells what the files are like, names none."""
        if not any(word.text == name and not self._is_part(word) for word in self.words):
            return False
        if any(name in slot.text.split() and slot.kind not in NAMING for slot in self.request.slots):
            return False
        lexicon = self.lexicon
        if name.casefold() in lexicon.file_nouns or is_ending(name):
            return False
        if any(word.text == name and word.free and self.speaks(word, NAMED) for word in self.words):
            return False  # "in the name"
        for before, word in zip(self.words, self.words[1:], strict=False):
            if word.text == name and before.key in lexicon.file_nouns:
                known = lexicon.words.get(word.key)
                return known is None or "content" not in known.roles
        return True

    @cached_property
    def lists(self) -> tuple[Value, ...]:
        """Lists of names that were said as lists."""
        found = [slot for slot in self.request.slots if slot.kind in LISTS and len(slot.items) > 1]
        found = [slot for slot in found if all(item in self.slots for item in slot.items)]
        return unique(Value([format_parts((str(item.value),)) for item in slot.items]) for slot in found)

    @cached_property
    def listed(self) -> frozenset[str]:
        """JSON of the names that stand in a list."""
        return frozenset(plain(str(item.value)).json for slot in self.request.slots for item in slot.items)

    @cached_property
    def globs(self) -> tuple[Value, ...]:
        """Patterns of file names: `*.ext` from kinds of files, `*text*` from what was quoted; of other words, if of names."""
        found = [slot.value for slot in self.of({"glob"})]
        found += [slot.value for slot in self.of({"path"}) if "/" not in slot.value and "." in slot.value.strip(".")]
        said = [slot.value for slot in self.of(SAYING) if isinstance(slot.value, str)]
        names = {value.data for value in (*self.names, *self.places)}
        # What opens a sentence is a verb, known or not; where something is to be put is no pattern.
        found += [f"*.{word.lower()}" for word in self.kinds]
        words = [w.text for w in self.words[1:] if w.free and w.meant and not w.known and self._is_of_names(w)]
        words = [word for word in words if word not in names and not is_ending(word)]
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
    def kinds(self) -> tuple[str, ...]:
        """Words that nothing explains and that are endings of files, or stand for one beside "files"."""
        words = [word.text for word in self.words[1:] if word.free and word.meant and not word.known]
        beside = self._kinds_of_files
        return tuple(
            word for word in words if is_ending(word) or (word in beside and _EXTENSION.fullmatch(word) is not None)
        )

    @cached_property
    def _kinds_of_files(self) -> frozenset[str]:
        """Words beside one that means files ("log files", "file log")."""
        nouns = self.lexicon.file_nouns
        pairs = list(zip(self.words, self.words[1:], strict=False))
        before = [first.text for first, second in pairs if second.key in nouns]
        return frozenset((*before, *(second.text for first, second in pairs if first.key in nouns)))

    @cached_property
    def folders(self) -> tuple[Value, ...]:
        """Names that may be those of folders: without an extension, behind a word of place if nothing explains them."""
        nouns = self.lexicon.file_nouns
        pairs = zip(self.words, self.words[1:], strict=False)
        kinds = {plain(second.text) for first, second in pairs if first.key in nouns and second.key not in nouns}
        kinds = {kind for kind in kinds if _EXTENSION.fullmatch(str(kind.data))}
        there = [plain(word.text) for word in self.words if word.free and word.meant and self._is_place(word)]
        found = unique((*self.names, *there))
        return tuple(value for value in found if value not in kinds and not is_file_name(str(value.data)))

    @cached_property
    def places(self) -> tuple[Value, ...]:
        """Names, and bare words right behind "in" or "files of": what surely says where, so that a plan may not leave it out."""
        lexicon = self.lexicon
        nouns = lexicon.file_nouns
        pairs = zip(self.words, self.words[1:], strict=False)
        direct = {plain(first.text) for first, second in pairs if second.key in lexicon.name_before}
        for before, mark, word in zip(
            ("", *(word.key for word in self.words)), self.words, self.words[1:], strict=False
        ):
            if mark.key == IN or (mark.key in WHERE and before in nouns):
                direct.add(plain(word.text))
        return tuple(value for value in self.folders if value in self.names or value in direct)

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
        found = (slot for slot in self.of({"integer", "number"}) if slot.start not in compared)
        return unique(Value(slot.value) for slot in found if isinstance(slot.value, int))

    @cached_property
    def numbers(self) -> tuple[Value, ...]:
        """All numbers that were said; a size in bytes."""
        return unique(Value(slot.value) for slot in self.of({"integer", "number", "size"}))

    @cached_property
    def sizes(self) -> tuple[Value, ...]:
        """Sizes in bytes. A bare number is none: "three files" says nothing of theirs."""
        return unique(Value(slot.value) for slot in self.of({"size"}))

    @cached_property
    def durations(self) -> tuple[Value, ...]:
        """Lengths of time as whole numbers of weeks, days, hours, minutes and seconds."""
        found = [convert(unit, slot, self.request.language) for slot in self.of({"duration"}) for unit in UNITS]
        return unique(Value(each) for each in found if isinstance(each, int))

    @cached_property
    def times(self) -> tuple[Value, ...]:
        """Instants and days: ends of the periods that were said, dates; an age is the day so long ago."""
        return unique(Value(each) for slot in self.slots for each in self._times(slot))

    def _times(self, slot: Slot) -> Iterator[Any]:
        language = self.request.language
        if slot.kind == "period":
            names = ("first.start", "last.end", "first.end", "last.start")
        elif slot.kind == "date":
            names = ("as-date", "value", "next-day", "midnight", "next-midnight")
        elif slot.kind == "duration":
            days = convert("days", slot, language) or _long_days(str(slot.value))
            if isinstance(days, int) and days <= PERIODS["day"]:
                yield f"${{RUNTIME:day-{days}.start}}"
            return
        else:
            return
        made = {name: convert(name, slot, language) for name in names if name in REFERENCES or name in CONVERSIONS}
        yield from (made["as-date"],) if made.get("as-date") else (each for each in made.values() if _is_time(each))

    @cached_property
    def spells(self) -> tuple[tuple[Value, Value], ...]:
        """First instant and end of each period and day that was said, unless the request only says before or since it."""
        found: list[tuple[Value, Value]] = []
        for slot in self.slots:
            names = ("first.start", "last.end") if slot.kind == "period" else ("value", "next-day")
            if slot.kind in ("period", "date"):
                start, end = (convert(name, slot, self.request.language) for name in names)
                if _is_time(start) and _is_time(end):
                    found.append((Value(start), Value(end)))
        return tuple(found)

    @cached_property
    def one_sided(self) -> tuple[bool, bool]:
        """Whether a time may stand alone as a beginning, and as an end: as it is said; an age as one of the two at least."""
        if any(slot.kind == "duration" for slot in self.slots):
            older, younger = self.mentions("older"), self.mentions("younger")
            return (True, True) if older == younger else (younger, older)
        bare = bool(self.times) and not self.spells
        return bare or self.mentions("since"), bare or self.mentions("before")

    def bounds(self, name: str) -> bool:
        """Whether a least (`min…`) or a greatest (`max…`) may be meant: not where only the other was said."""
        least, greatest = self.mentions("above"), self.mentions("below") or self.mentions("zero")
        if least == greatest or self.mentions("reversed"):
            return True
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
            if said or places or empty or kind:
                typed = (frozenset(value.json for value in self._forms(slot)) for slot in said)
                kinds = (
                    frozenset(plain(form.format(word.text.lower())).json for form in KIND_FORMS)
                    for word in self.words
                    if clause.start <= word.start < clause.end and word.free and word.text in self.kinds
                )
                named = (
                    frozenset(plain(form.format(word.text)).json for form in ("{}", "*{}*", "*.{}")) for word in places
                )
                return (*typed, *named, *kinds, *([frozenset({Value(0).json})] if empty else []))
        return ()

    def _is_where(self, word: Spoken) -> bool:
        """Whether a word says where something is, and not where it goes."""
        name = plain(word.text)
        slot = any(slot.text == word.text and slot.kind in ("path", "name") for slot in self.slots)
        return (slot or (word.free and word.meant and self._is_place(word))) and name.json not in self.arrivals

    def forms(self, slot: Slot) -> frozenset[str]:
        """JSON of all that stands for a value in a plan; none for what nothing can take, or what is the default anyway."""
        if slot.kind not in TYPED | NAMING or slot.value == HERE:
            return frozenset()
        units = (convert(unit, slot, self.request.language) for unit in UNITS) if slot.kind == "duration" else ()
        lengths = (Value(each) for each in units if isinstance(each, int))
        found = {value.json for value in (*self._forms(slot), *lengths)}
        if slot.kind in NAMING:
            found |= {plain(str(slot.value)).json, plain(f"*{slot.value}*").json}
        return frozenset(found)

    def _forms(self, slot: Slot) -> Iterator[Value]:
        for name in ("value", "number", "dotted", "extension"):
            made = convert(name, slot, self.request.language) if slot.kind in CONVERSIONS[name].kinds else None
            if made is not None:
                yield Value(made)
        yield from (Value(each) for each in self._times(slot) if each is not None)

    @cached_property
    def arrivals(self) -> dict[str, frozenset[Action]]:
        """JSON of a name → the actions that put something there."""
        found: dict[str, set[Action]] = {}
        lexicon = self.lexicon
        for action in actions_of(self.request):
            slot = destination_of(self.request, action) if action.effectful else None
            name = slot.value if slot is not None else None
            if name is None and action.effectful and action.intent.verb in PLACING:
                clause = self.request.clauses[action.clause]
                marks = [(word, self.mark(word)) for word in self.words if clause.start <= word.start < clause.end]
                said = [(word, mark) for word, mark in marks if plain(word.text) in self.names]
                behind = [word.text for word, mark in said if mark in lexicon.towards]
                behind = behind or [word.text for word, mark in said if mark in lexicon.inside]
                name = behind[-1] if behind else None
            if isinstance(name, str):
                found.setdefault(plain(name).json, set()).add(action)
        return {name: frozenset(actions) for name, actions in found.items()}

    @cached_property
    def written_as(self) -> frozenset[str]:
        """What the files that are to be made hold, by their endings: "csv"; "md" is markdown, "txt" may be anything."""
        names = [json.loads(name) for name in self.arrivals if is_file_name(json.loads(name))]
        kinds = [mimetypes.guess_type(name)[0] or "" for name in names]
        kinds = [kind.partition("/")[2] for kind in kinds]
        return frozenset((*(name.rsplit(".", 1)[-1].casefold() for name in names), *kinds))

    def _is_place(self, word: Spoken) -> bool:
        """A word that nothing explains behind a word of place; or a noun where a name stands.

        That is behind one without an article ("in documents"), or before "folder" ("in my documents folder").
        """
        lexicon = self.lexicon
        if word.key in lexicon.never_names:
            return False
        if not word.known:
            return bool(self.mark(word))
        known = lexicon.words.get(word.key)
        before = [other for other in self.words if other.end <= word.start][-1:]
        noun = known is not None and known.roles == NOUN and known.canonical not in FILES
        noun = noun and word.key not in lexicon.name_marks and known is not None and known.object != DIRS
        after = [other for other in self.words if other.start >= word.end][:1]
        if noun and after and after[0].key in lexicon.name_before:
            return True
        return noun and bool(before) and before[0].key in lexicon.inside | WHERE

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


@cache
def _endings() -> frozenset[str]:
    return frozenset(ending.removeprefix(".") for ending in mimetypes.MimeTypes().types_map[True]) | MORE_ENDINGS


def is_ending(word: str) -> bool:
    """Whether a word is the ending of a common kind of files ("png", "log")."""
    return word.casefold() in _endings()


def is_file_name(name: str) -> bool:
    """Whether a name has an extension, and is no pattern of folders."""
    last = name.rstrip().rsplit("/", 1)[-1]
    return "." in last.strip(".") and "://" not in name


def _long_days(duration: str) -> int:
    """Days of months and years, of which each is taken for 30 and 365; 0: it is no such duration."""
    found = _MONTHS.fullmatch(duration)
    return 365 * int(found[1] or 0) + 30 * int(found[2] or 0) if found else 0


def _is_time(value: Any) -> bool:
    return isinstance(value, str) and bool(re.match(r"\d{4}-\d\d-\d\d|\$\{RUNTIME:", value))
