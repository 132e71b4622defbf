"""The words of a request: what each is there for, runs of them, and whether they speak of something.

Law: nothing here that the request does not say. What people say is data: a `${` in it is escaped.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache, cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from metnos.checks.guards.nested import nested_names
from metnos.plan.spelling import format_parts
from metnos.propose.decode.absent import Absent
from metnos.propose.decode.choices import Value, unique
from metnos.propose.decode.heads import Below, Heads
from metnos.propose.decode.units import of_columns
from metnos.request.contents import contents_said, with_contents
from metnos.request.explained import Explained, lexicon_of
from metnos.request.spaced import chosen, with_names
from metnos.request.tokens import tokenise
from metnos.request.wider import names_with_blanks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from metnos.request.model import Request, Slot
    from metnos.request.words import Lexicon

SAYING: Final = frozenset({"quoted", "name"})
"""Kinds of slots whose text may be anything."""
NAMED: Final = "named"
"""What a request speaks of that speaks of names (`mentions.toml`)."""
THINGS: Final = frozenset({"object", "content"})
"""Roles of nouns of files and of what is in them: what is looked for is no such noun ("the lines with ERROR")."""
NEVER_COMPARED: Final = frozenset({"verb", "quantifier", "pronoun", "preposition", "place", "article", "separator",
                                   "negation", "question", "stop"})  # fmt: skip
"""Roles of words that are no value, unless they stand where only a value can ("status is open")."""
LONGEST_SPAN: Final = 8
"""Words of a span that does not go to the end of the request."""
MOST_SPANS: Final = 160
ADDING: Final = "append"
"""Verb of what is added to a file."""
JOINING: Final = frozenset({"preposition", "place"})
"""Roles of the words around the end of a file."""
SHORTEST: Final = 4
"""Letters of a part of an option's name that counts as a mention of it."""


class Spoken(NamedTuple):
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


def _lengths(count: int) -> Iterator[int]:
    """Of pieces of so many words: all of them, then from `LONGEST_SPAN` down; every length would be cubic in bytes."""
    if count > LONGEST_SPAN:
        yield count
    yield from range(min(count, LONGEST_SPAN), 0, -1)


def plain(text: str) -> Value:
    """Text that stands for itself."""
    return Value(format_parts((text,)))


def _anywhere(there: Callable[[str], bool], looker: Below) -> Callable[[str], bool]:
    return lambda name: there(name) or looker.below_folder(name)


class Said:
    """The words of one request."""

    def __init__(self, request: Request, there: Callable[[str], bool] | None = None) -> None:
        """Prepare.

        Args:
            request: What was said.
            there: Whether a file or folder of that name is there; None: nobody may look. Asked of passages of the
                request alone, so that what is there is never told.
        """
        self.request = request
        self.heads = there if isinstance(there, Heads) else None
        """Who may look into the headers of tables that the request names."""
        given = tuple(item for slot in request.slots for item in slot.items or (slot,))
        blank = tuple(name for name in names_with_blanks(request) if name.start not in self.ends)
        asked: object = there
        looker = asked if isinstance(asked, Below) else None
        anywhere = there if looker is None or there is None else _anywhere(there, looker)
        slots = with_names(given, chosen(blank, anywhere, given))
        self.there = there
        self.nested = nested_names(request, slots)
        """Folders that are to be made in others, and new names of files that stay where they are."""
        for inner in self.nested:
            path = msgspec.structs.replace(inner.name, kind="path", value=inner.text)
            dropped = () if inner.stays else (inner.place,)
            slots = tuple(path if slot is inner.name else slot for slot in slots if slot not in dropped)
        self._numbers = of_columns(slots, self.heads)
        slots = tuple(self._numbers.get(slot.start, slot) for slot in slots)
        self.told = contents_said(request)
        """What files are to hold."""
        slots = with_contents(slots, self.told)
        self.absent = Absent(request, slots, there)
        """Bare words that are no place."""
        self.slots: tuple[Slot, ...] = tuple(slot for slot in slots if self._is_kept(slot))
        """With names that have blanks as they are meant, and folders to be made inside others as one path."""
        names = [str(slot.value) for slot in self.slots if slot.kind in ("path", "name", "quoted")]
        self.below = tuple(dict.fromkeys(each for each in names if looker is not None and looker.below(each)))
        """Bare names of files that are not here, but somewhere below: a step has to find them."""
        self.below_folders = frozenset(each for each in names if looker is not None and looker.below_folder(each))
        """The same of folders."""

    def _is_kept(self, slot: Slot) -> bool:
        if slot.start in self.ends or (slot.start in self._numbers and slot.kind == "duration"):
            return False
        return slot.kind != "path" or not self.absent.has(slot.text, slot.start)

    @cached_property
    def lexicon(self) -> Lexicon:
        """Of the request's language."""
        return lexicon_of(self.request)

    @cached_property
    def ends(self) -> frozenset[int]:
        """Where words stand that say the end of a file that is added to ("at the bottom of x", "in coda a x")."""
        if all(intent.verb != ADDING for intent in self.request.intents):
            return frozenset()
        known, tokens = self.lexicon.words, [token for token in tokenise(self.request.text) if token.kind != "space"]
        roles = [known[token.key].roles if token.key in known else frozenset[str]() for token in tokens]
        ways = mentions()["ends"].get(self.request.language, [])
        found: list[int] = []
        for at, token in enumerate(tokens[:-1]):
            before = at - 2 if at > 1 and "article" in roles[at - 1] else at - 1
            between = before >= 0 and not any(roles[side].isdisjoint(JOINING) for side in (before, at + 1))
            found += [token.start] if between and token.key in ways else []
        return frozenset(found)

    @cached_property
    def acts(self) -> bool:
        """Whether more is asked for than to read."""
        return any(intent.effect != "read" for intent in self.request.intents)

    def of(self, kinds: Iterable[str]) -> Iterator[Slot]:
        wanted = frozenset(kinds)
        return (slot for slot in self.slots if slot.kind in wanted)

    @cached_property
    def _said(self) -> tuple[frozenset[str], str]:
        """The words of the request, and all its letters and digits in a row."""
        keys = frozenset(word.key for word in self.words if word.free)
        return keys, "".join(filter(str.isalnum, self.request.text.casefold()))

    def mentions(self, name: str) -> bool:
        """Whether the request speaks of an option."""
        table = mentions().get(name, {}).get(self.request.language, [])
        stems = (*table, *(part for part in re.split(r"[\W_]+", name.casefold()) if len(part) >= SHORTEST))
        exact = {stem[:-1] for stem in stems if stem.endswith("$")}
        return any(key in exact or key.startswith(stem) for key in self._said[0] for stem in stems)

    def speaks(self, word: Spoken, name: str) -> bool:
        """Whether one word is of those that speak of an option."""
        stems = mentions().get(name, {}).get(self.request.language, [])
        return any(word.key == stem[:-1] if stem.endswith("$") else word.key.startswith(stem) for stem in stems)

    def says(self, value: str) -> bool:
        """Whether a value stands in the request, whatever its case and its marks ("SHA-256")."""
        wanted = "".join(filter(str.isalnum, value.casefold()))
        return bool(wanted) and wanted in self._said[1]

    @cached_property
    def contents(self) -> tuple[Value, ...]:
        """What files are to hold, as it was said; none: it was not said so."""
        return unique(plain(str(content.slot.value)) for content in self.told)

    def is_told(self, start: int) -> bool:
        """Whether a word stands in a content, or in what announces one."""
        return any(content.start <= start < content.slot.end for content in self.told)

    @cached_property
    def quoted(self) -> tuple[Value, ...]:
        """Quoted text and names."""
        return unique(plain(slot.value) for slot in self.of(SAYING) if isinstance(slot.value, str) and slot.value)

    @cached_property
    def _idle(self) -> frozenset[str]:
        return frozenset(mentions()["idle"].get(self.request.language, ()))

    @cached_property
    def words(self) -> tuple[Spoken, ...]:
        request = self.request
        asking = request.explanation.asking if isinstance(request.explanation, Explained) else ()
        reasons = [(start, end, "asks") for start, end in asking]
        reasons += [(span.start, span.end, span.reason) for span in request.spans]
        slots = [slot for slot in (*self.slots, *request.slots) if self._is_kept(slot)]
        found: list[Spoken] = []
        for token in tokenise(request.text):
            if token.kind == "space":
                continue
            reason = next((why for start, end, why in reasons if start <= token.start < end), "unknown")
            idle = reason == "unknown" and token.key in self._idle
            reason = "stop" if idle or token.start in self.ends or self.is_told(token.start) else reason
            meant = reason not in ("stop", "polite") and token.kind != "punct"
            slot = next((slot for slot in slots if slot.start <= token.start < slot.end), None)
            if slot is not None and token.start > slot.start and found and found[-1].end >= token.start:
                found[-1] = found[-1]._replace(end=token.end, text=request.text[found[-1].start : token.end])
                continue
            found.append(
                Spoken(
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
        runs = self._runs(lambda word: word.free and word.meant and not word.known)
        return unique(map(plain, islice(runs, MOST_SPANS)))

    @cached_property
    def unexplained_there(self) -> tuple[Value, ...]:
        """Of these, those that are there, if somebody may look."""
        there = self.there
        return tuple(value for value in self.unexplained if there is None or there(str(value.data)))

    @cached_property
    def content(self) -> tuple[Value, ...]:
        """The words that carry meaning, each by itself, as written."""
        return unique(plain(word.text) for word in self.words if word.free and word.meant)

    @cached_property
    def compared(self) -> tuple[Value, ...]:
        """Words that something may be compared with: nouns, and whatever stands behind "is", "equal to"."""
        lexicon = self.lexicon
        found: list[str] = []
        before: Spoken | None = None
        for word in self.words:
            known = lexicon.words.get(word.key)
            nominal = known is None or (known.roles.isdisjoint(NEVER_COMPARED) and not known.roles <= THINGS)
            if word.free and word.meant and (nominal or (before is not None and self.speaks(before, "equals"))):
                found.append(word.text)
            if known is None or not known.roles <= NEVER_COMPARED - {"verb"} or self.speaks(word, "equals"):
                before = word
        return unique(map(plain, found))

    def _runs(self, wanted: Callable[[Spoken], bool]) -> Iterator[str]:
        words, text = self.words, self.request.text
        at = 0
        while at < len(words):
            end = at
            while end < len(words) and wanted(words[end]):
                end += 1
            for length in _lengths(end - at):
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
        words, text = self.words, self.request.text
        found: list[str] = []
        for length in range(min(len(words), LONGEST_SPAN + MOST_SPANS), 0, -1):
            for first in range(len(words) - length if length > LONGEST_SPAN else 0, len(words) - length + 1):
                last = first + length - 1
                if words[last].meant and (words[first].meant or length > 1) and words[first].text[0].isalnum():
                    found.append(text[words[first].start : words[last].end])
        return unique((*self.quoted, *(plain(span) for span in found[-MOST_SPANS:])))

    def mark(self, name: Spoken) -> str:
        """The preposition or word of place that a word stands behind, but for articles and nouns of files; or nothing."""
        lexicon = self.lexicon
        for word in reversed([word for word in self.words if word.end <= name.start]):
            known = lexicon.words.get(word.key)
            if known is None:
                return ""
            if known.roles & {"preposition", "place"} or word.key in lexicon.towards | lexicon.inside:
                return word.key
            if not (known.roles <= {"article"} or word.key in lexicon.name_marks | lexicon.file_nouns):
                return ""
        return ""
