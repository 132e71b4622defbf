"""What the request offers to be copied into a plan: its typed values, and its words.

Law: nothing here that the request does not say, but for a table of small numbers. Forms are those of the conversions
of the cache, so that a plan that was written here can be generalised there. What people say is data: a `${` in it is
escaped.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from metnos.cache.conversions import CONVERSIONS, REFERENCES, convert
from metnos.checks.guards.asked import Action, actions_of
from metnos.checks.guards.destination import destination_of
from metnos.plan.spelling import format_parts
from metnos.propose.decode.choices import Value, unique
from metnos.request.lexicon import lexicon_for
from metnos.request.named import names_said
from metnos.request.tokens import tokenise
from metnos.values.runtime import PERIODS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from metnos.request.model import Request, Slot

NAMING: Final = frozenset({"path", "name", "quoted", "address", "url"})
"""Kinds of slots that name one thing."""
LISTS: Final = frozenset({"paths", "addresses", "urls", "texts"})
SAYING: Final = frozenset({"quoted", "name"})
"""Kinds of slots whose text may be anything."""
LONGEST_SPAN: Final = 8
"""Words of a span that does not go to the end of the request."""
MOST_SPANS: Final = 160
SHORTEST: Final = 4
"""Letters of a part of an option's name that counts as a mention of it."""
_EXTENSION = re.compile(r"[A-Za-z0-9]{1,5}")
_PLAIN_WORD = re.compile(r"[\w.+@&'-]+")


class _Word(NamedTuple):
    start: int
    end: int
    text: str
    key: str
    meant: bool
    """It carries meaning: no function word, no politeness."""
    known: bool
    """The lexicon explains it."""
    free: bool
    """It stands in no slot."""


@cache
def mentions() -> dict[str, dict[str, list[str]]]:
    """`mentions.toml`."""
    return tomllib.loads(Path(__file__).with_name("mentions.toml").read_text(encoding="utf-8"))


def plain(text: str) -> Value:
    """Text that stands for itself."""
    return Value(format_parts((text,)))


class Offers:
    """The values of one request. Made once; each list when it is first asked for."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.slots: tuple[Slot, ...] = tuple(item for slot in request.slots for item in slot.items or (slot,))

    # --- typed values

    def _of(self, kinds: Iterable[str]) -> Iterator[Slot]:
        wanted = frozenset(kinds)
        return (slot for slot in self.slots if slot.kind in wanted)

    @cached_property
    def names(self) -> tuple[Value, ...]:
        """What is named: paths, names, quoted text, addresses, URLs; as a target may be written."""
        slots = [slot.value for slot in self._of(NAMING) if isinstance(slot.value, str) and slot.value]
        return unique(plain(name) for name in (*slots, *filter(self._is_name, names_said(self.request))))

    def _is_name(self, name: str) -> bool:
        """A word that is a value of another kind, or tells what the files are like ("empty files"), names none."""
        if any(slot.text == name and slot.kind not in NAMING for slot in self.slots):
            return False
        lexicon = lexicon_for(self.request.language)
        for before, word in zip(self._words, self._words[1:], strict=False):
            if word.text == name and before.key in lexicon.file_nouns:
                known = lexicon.words.get(word.key)
                return known is None or "content" not in known.roles
        return True

    @cached_property
    def _said(self) -> tuple[frozenset[str], str]:
        """The words of the request, and all its letters and digits in a row."""
        keys = frozenset(word.key for word in self._words if word.free)
        return keys, "".join(filter(str.isalnum, self.request.text.casefold()))

    def mentions(self, name: str) -> bool:
        """Whether the request speaks of an option."""
        table = mentions().get(name, {}).get(self.request.language, [])
        stems = (*table, *(part for part in re.split(r"[\W_]+", name.casefold()) if len(part) >= SHORTEST))
        exact = {stem[:-1] for stem in stems if stem.endswith("$")}
        return any(key in exact or key.startswith(stem) for key in self._said[0] for stem in stems)

    def says(self, value: str) -> bool:
        """Whether a value stands in the request, whatever its case and its marks ("SHA-256")."""
        wanted = "".join(filter(str.isalnum, value.casefold()))
        return bool(wanted) and wanted in self._said[1]

    @cached_property
    def lists(self) -> tuple[Value, ...]:
        """Lists of names that were said as lists."""
        found = [slot for slot in self.request.slots if slot.kind in LISTS and len(slot.items) > 1]
        return unique(Value([format_parts((str(item.value),)) for item in slot.items]) for slot in found)

    @cached_property
    def listed(self) -> frozenset[str]:
        """JSON of the names that stand in a list."""
        return frozenset(plain(str(item.value)).json for slot in self.request.slots for item in slot.items)

    @cached_property
    def quoted(self) -> tuple[Value, ...]:
        """Quoted text and names."""
        return unique(plain(slot.value) for slot in self._of(SAYING) if isinstance(slot.value, str) and slot.value)

    @cached_property
    def globs(self) -> tuple[Value, ...]:
        """Patterns of file names: `*.ext` from kinds of files, `*word*` from names and words that nothing explains."""
        found = [slot.value for slot in self._of({"glob"})]
        found += [slot.value for slot in self._of({"path"}) if "/" not in slot.value and "." in slot.value.strip(".")]
        said = [slot.value for slot in self._of(SAYING) if isinstance(slot.value, str)]
        names = {value.data for value in self.names}
        words = [w.text for w in self._words if w.free and w.meant and not w.known and w.text not in names]
        found += [f"*.{word}" for word in words if word in self._kinds_of_files and _EXTENSION.fullmatch(word)]
        found += [f"*{word}*" for word in (*said, *words) if _PLAIN_WORD.fullmatch(word)]
        return unique(plain(pattern) for pattern in found if isinstance(pattern, str))

    @cached_property
    def _kinds_of_files(self) -> frozenset[str]:
        """Words beside one that means files ("log files", "file log")."""
        nouns = lexicon_for(self.request.language).file_nouns
        pairs = list(zip(self._words, self._words[1:], strict=False))
        before = [first.text for first, second in pairs if second.key in nouns]
        return frozenset((*before, *(second.text for first, second in pairs if first.key in nouns)))

    @cached_property
    def folders(self) -> tuple[Value, ...]:
        """Names that may be those of folders: without an extension."""
        return tuple(value for value in self.names if not is_file_name(str(value.data)))

    @cached_property
    def extensions(self) -> tuple[Value, ...]:
        """`.pdf` and `pdf`, of kinds of files."""
        found = [
            convert(name, slot, self.request.language)
            for slot in self._of({"glob"})
            for name in ("dotted", "extension")
        ]
        return unique(plain(each) for each in found if isinstance(each, str))

    @cached_property
    def integers(self) -> tuple[Value, ...]:
        """Whole numbers that were said."""
        return unique(Value(slot.value) for slot in self._of({"integer", "number"}) if isinstance(slot.value, int))

    @cached_property
    def numbers(self) -> tuple[Value, ...]:
        """All numbers that were said; a size in bytes."""
        return unique(Value(slot.value) for slot in self._of({"integer", "number", "size"}))

    @cached_property
    def sizes(self) -> tuple[Value, ...]:
        """Sizes in bytes; where none was said, whole numbers."""
        return unique(Value(slot.value) for slot in self._of({"size"})) or self.integers

    @cached_property
    def durations(self) -> tuple[Value, ...]:
        """Lengths of time as whole numbers of weeks, days, hours, minutes and seconds."""
        units = ("weeks", "days", "hours", "minutes", "seconds")
        found = [convert(unit, slot, self.request.language) for slot in self._of({"duration"}) for unit in units]
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
            days = convert("days", slot, language)
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
        """Whether a time may stand alone as a beginning, and as an end: an age always, a period where it is said so."""
        aged = any(slot.kind == "duration" for slot in self.slots)
        bare = bool(self.times) and not self.spells
        return aged or bare or self.mentions("since"), aged or bare or self.mentions("before")

    @cached_property
    def arrivals(self) -> dict[str, frozenset[Action]]:
        """JSON of a name → the actions that put something there."""
        found: dict[str, set[Action]] = {}
        acting = {action for action in actions_of(self.request) if action.effectful}
        for name in filter(self._is_towards, names_said(self.request)):
            found[plain(name).json] = set(acting)
        for action in actions_of(self.request):
            slot = destination_of(self.request, action) if action.effectful else None
            if slot is not None and isinstance(slot.value, str):
                found.setdefault(plain(slot.value).json, set()).add(action)
        return {name: frozenset(actions) for name, actions in found.items()}

    def _is_towards(self, name: str) -> bool:
        """Whether a bare name stands behind "to", "into" and the like."""
        lexicon, words = lexicon_for(self.request.language), self._words
        at = next((at for at, word in enumerate(words) if word.text == name), 0)
        for word in reversed(words[:at]):
            known = lexicon.words.get(word.key)
            if word.key in lexicon.towards:
                return True
            if known is None or not (known.roles <= {"article"} or word.key in lexicon.name_marks | lexicon.file_nouns):
                return False
        return False

    @cached_property
    def narrows(self) -> bool:
        """Whether the request says which ones: by a value, by a word that nothing explains, or by one that describes."""
        return bool(self.names) or self.describes

    @cached_property
    def describes(self) -> bool:
        """The same, not by a name."""
        words = lexicon_for(self.request.language).words
        described = (words.get(word.key) for word in self._words if word.free and word.meant)
        return any(slot.kind not in NAMING for slot in self.slots) or any(
            word is None or not word.roles & {"verb", "object", "quantifier", "pronoun"} for word in described
        )

    # --- words

    @cached_property
    def _words(self) -> tuple[_Word, ...]:
        request = self.request
        reasons = [(span.start, span.end, span.reason) for span in request.spans]
        found: list[_Word] = []
        for token in tokenise(request.text):
            if token.kind == "space":
                continue
            reason = next((why for start, end, why in reasons if start <= token.start < end), "unknown")
            meant = reason not in ("stop", "polite") and token.kind != "punct"
            slot = next((slot for slot in request.slots if slot.start <= token.start < slot.end), None)
            if slot is not None and token.start > slot.start and found and found[-1].end >= token.start:
                found[-1] = found[-1]._replace(end=token.end, text=request.text[found[-1].start : token.end])
                continue
            found.append(
                _Word(
                    token.start,
                    token.end,
                    request.text[token.start : token.end],
                    token.key,
                    meant,
                    reason != "unknown",
                    slot is None,
                )
            )
        return tuple(found)

    @cached_property
    def unexplained(self) -> tuple[Value, ...]:
        """Runs of words that nothing explains, longest first, then each of the words: names that no rule sees."""
        return unique(plain(text) for text in self._runs(lambda word: word.free and word.meant and not word.known))

    @cached_property
    def content(self) -> tuple[Value, ...]:
        """The words that carry meaning, each by itself, as written."""
        return unique(plain(word.text) for word in self._words if word.free and word.meant)

    def _runs(self, wanted: Callable[[_Word], bool]) -> Iterator[str]:
        words, text = self._words, self.request.text
        at = 0
        while at < len(words):
            end = at
            while end < len(words) and wanted(words[end]):
                end += 1
            for length in range(end - at, 0, -1):
                for first in range(at, end - length + 1):
                    yield text[words[first].start : words[first + length - 1].end]
            at = max(end, at + 1)

    @cached_property
    def passages(self) -> tuple[Value, ...]:
        """All that may be text of the person's own, likeliest first."""
        return unique((*self.quoted, *self.unexplained, *self.content, *self.spans))

    @cached_property
    def spans(self) -> tuple[Value, ...]:
        """Passages of the request, whole words, beginning with one that is no punctuation: quoted text first, then the longest."""
        words, text = self._words, self.request.text
        found: list[str] = []
        for length in range(len(words), 0, -1):
            for first in range(len(words) - length + 1):
                last = first + length - 1
                if length > LONGEST_SPAN and last < len(words) - 1:
                    continue
                if words[last].meant and (words[first].meant or length > 1) and words[first].text[0].isalnum():
                    found.append(text[words[first].start : words[last].end])
        return unique((*self.quoted, *(plain(span) for span in found[-MOST_SPANS:])))


def is_file_name(name: str) -> bool:
    """Whether a name has an extension, and is no pattern of folders."""
    last = name.rstrip().rsplit("/", 1)[-1]
    return "." in last.strip(".") and "://" not in name


def _is_time(value: Any) -> bool:
    return isinstance(value, str) and bool(re.match(r"\d{4}-\d\d-\d\d|\$\{RUNTIME:", value))
