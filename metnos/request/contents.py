"""What a file is to hold, as it is said without quotes: "that says: apples and pears", "con scritto dentro: a domani".

Law: only where something is written or added to a file. A content is a passage of the request, letter for letter: from what
announces it (`contents.toml`) to the end of its clause, over commas and "and", for a new clause has a verb of its own. What
is polite at its end, a full stop and, where no file was named before it, the file that it goes into are no part of it. What
stands in it is said by the content: no name, no number, no condition.

| the content begins | example |
|---|---|
| behind words that say so, and a colon if there is one | a file that says hello |
| behind the name of a file and "containing" | notes.txt containing hello |
| behind a colon, if a noun of text, "namely" or the file is before it | add the line: hello |
| behind the verb that adds it and a noun of text | aggiungi la riga pane alla fine di lista.txt |
| in quotes right behind the verb | put "hello" into notes.txt |
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from metnos.request.explained import lexicon_of
from metnos.request.model import Slot
from metnos.request.tokens import tokenise

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metnos.request.model import Clause, Request

_WRITING: Final = frozenset({"write", "append"})
_TABLES: Final = frozenset({"csv", "tsv", "json", "jsonl"})
"""Endings of files that hold rows: a colon behind one tells which columns are meant."""
_SMALL: Final = frozenset({"article", "stop", "quantifier"})
"""Roles of words between a verb or a preposition and its noun."""
_RELATED: Final = frozenset({"preposition", "place", "separator", "negation", "question"})
"""Roles of a word that no content behind a verb and a noun begins with ("the lines with …")."""


class Content(NamedTuple):
    start: int
    """Where what announces it begins."""
    slot: Slot
    """What is to be written, as quoted text."""


@cache
def _table() -> dict[str, dict[str, tuple[tuple[str, ...], ...]]]:
    """Name → language → cues as words, the longest first."""
    read = tomllib.loads(Path(__file__).with_name("contents.toml").read_text(encoding="utf-8"))

    def cues(said: list[str]) -> tuple[tuple[str, ...], ...]:
        split = (tuple(token.key for token in tokenise(cue) if token.kind != "space") for cue in said)
        return tuple(sorted(split, key=len, reverse=True))

    return {name: {language: cues(said) for language, said in each.items()} for name, each in read.items()}


def contents_said(request: Request) -> tuple[Content, ...]:
    """The contents of one request, in order; none where nothing is written."""
    if not any(intent.verb in _WRITING and intent.effect != "read" for intent in request.intents):
        return ()
    found: list[Content] = []
    for clause in request.clauses:
        found += _Words(request, clause).contents()
    return tuple(found)


class _Words:
    """The words of one clause."""

    def __init__(self, request: Request, clause: Clause) -> None:
        self.text = request.text
        self.request = request
        self.lexicon = lexicon_of(request)
        tokens = [token for token in tokenise(request.text) if token.kind != "space"]
        self.tokens = [token for token in tokens if clause.start <= token.start < clause.end]
        self.writes = any(intent.verb in _WRITING and intent.effect != "read" for intent in clause.intents)

    def contents(self) -> Iterator[Content]:
        """The first one, which goes to the end; behind one in quotes there may be another."""
        at = 0
        while at < len(self.tokens):
            behind = self._behind(at)
            if behind is None and self._is_put(at):
                behind = at
            made = None if behind is None else self._made(at, behind)
            if made is not None:
                yield made
                at = next((n for n, token in enumerate(self.tokens) if token.start >= made.slot.end), len(self.tokens))
            else:
                at += 1

    def _is_put(self, at: int) -> bool:
        """Quoted text right behind a verb, where some file is named."""
        if self.tokens[at].kind != "quoted" or at == 0 or not self.writes:
            return False
        named = any(slot.kind in ("path", "paths") and "." in str(slot.value) for slot in self.request.slots)
        known = self.lexicon.words.get(self.tokens[at - 1].key)
        name = "." in self.tokens[at].key or (
            at + 1 < len(self.tokens) and self.tokens[at + 1].key in self.lexicon.name_before
        )
        return named and not name and known is not None and "verb" in known.roles

    def _behind(self, at: int) -> int | None:
        """Where the content begins that is announced at `at`; None: nothing is."""
        end = self._cue("says", at)
        if end is None and at and self._is_file(at - 1):
            end = self._cue("holds", at)
        if end is None and self.writes and self._is_piece(at):
            found = at + 1 < len(self.tokens) and (self.tokens[at + 1].key,) in self._cues("found")
            end = None if found else at + 1
        if end is not None:
            of = end < len(self.tokens) and self.tokens[end].key in self.lexicon.genitive  # "with the text of a.md"
            return None if of else self._over_colon(end)
        return at + 1 if self._is_colon(at) and self._announces(at) else None

    def _over_colon(self, at: int) -> int:
        return at + 1 if at < len(self.tokens) and self._is_colon(at) else at

    def _is_colon(self, at: int) -> bool:
        return self.tokens[at].kind == "punct" and self.tokens[at].key == ":"

    def _announces(self, colon: int) -> bool:
        """Whether what stands before a colon says that a content follows: a noun of text, "namely", the only file."""
        if colon == 0:
            return False
        key = self.tokens[colon - 1].key
        if any((key,) in self._cues(name) for name in ("piece", "announces")):
            return True
        alone = sum(map(self._is_file, range(colon))) == 1 and self._is_file(colon - 1)
        return self.writes and alone and self.tokens[colon - 1].key.rpartition(".")[2] not in _TABLES

    def _is_piece(self, at: int) -> bool:
        """A noun of text behind the verb of the clause, or behind a file and before quotes, with the words themselves behind it."""
        if (self.tokens[at].key,) not in self._cues("piece") or at + 1 >= len(self.tokens):
            return False
        before = at - 1
        while before > 0 and self._roles(before) & _SMALL:
            before -= 1
        behind = self.tokens[at + 1]
        if behind.kind == "quoted" and before >= 0 and self.tokens[before].kind == "path":
            return True
        known = self.lexicon.words.get(self.tokens[before].key) if before >= 0 else None
        if known is None or "verb" not in known.roles:
            return False
        cue = self._cue("says", at + 1) or self._cue("holds", at + 1)
        strange = self._roles(at + 1) & _RELATED or cue or behind.key in self.lexicon.text_marks
        return behind.kind in ("word", "number", "quoted") and not strange

    def _made(self, start: int, first: int) -> Content | None:
        last = self._last(first, any(map(self._is_file, range(start))))
        tokens = self.tokens[first : last + 1]
        if not tokens:
            return None
        if tokens[0].kind == "quoted":
            inner = next((slot for slot in self.request.slots if slot.start == tokens[0].start), None)
            return None if inner is None else Content(self.tokens[start].start, inner)
        begin, end = tokens[0].start, tokens[-1].end
        said = self.text[begin:end]
        return Content(self.tokens[start].start, Slot(kind="quoted", start=begin, end=end, text=said, value=said))

    def _last(self, first: int, named: bool) -> int:
        """The last token of the content."""
        last = len(self.tokens) - 1
        if not named:
            places = (at for at in range(first + 1, last + 1) if self._is_file(at) and self._goes_into(at) > first)
            place = next(places, None)
            if place is not None:
                return self._goes_into(place) - 1
        polite = [span for span in self.request.spans if span.reason == "polite"]
        while last > first and (
            any(span.start <= self.tokens[last].start < span.end for span in polite) or self._is_mark(last)
        ):
            last -= 1
        return last

    def _is_mark(self, at: int) -> bool:
        return self.tokens[at].kind == "punct" and self.tokens[at].key in (".", ",", ";")

    def _goes_into(self, at: int) -> int:
        """Where the words begin that say that something goes into the file at `at`; -1: it does not."""
        towards, inside = self.lexicon.towards, self.lexicon.inside
        here, found = at - 1, -1
        while here > 0:
            key, roles = self.tokens[here].key, self._roles(here)
            if key in towards | inside or key in self.lexicon.genitive:
                found = here
            elif not (roles & _SMALL or key in self.lexicon.name_marks or (key,) in self._cues("announces")):
                break
            here -= 1
        return found if found >= 0 and self.tokens[found].key in towards | inside else -1

    def _is_file(self, at: int) -> bool:
        token = self.tokens[at]
        return token.kind == "path" and "." in token.key.rsplit("/", 1)[-1].strip(".")

    def _cue(self, name: str, at: int) -> int | None:
        for cue in self._cues(name):
            if tuple(token.key for token in self.tokens[at : at + len(cue)]) == cue:
                return at + len(cue)
        return None

    def _cues(self, name: str) -> tuple[tuple[str, ...], ...]:
        return _table()[name].get(self.request.language, ())

    def _roles(self, at: int) -> frozenset[str]:
        known = self.lexicon.words.get(self.tokens[at].key)
        return frozenset() if known is None else known.roles


def with_contents(slots: tuple[Slot, ...], contents: tuple[Content, ...]) -> tuple[Slot, ...]:
    """The slots, with contents in place of what stands in them."""
    told = [content.slot for content in contents]
    kept = [slot for slot in slots if not any(one.start < slot.end and slot.start < one.end for one in told)]
    return tuple(sorted((*kept, *told), key=lambda slot: slot.start))
