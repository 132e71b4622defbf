"""Names with blanks that nobody put into quotes: "lista spesa.txt", "the Tax Papers folder", "called Summer 2027".

Law: where such a name begins and ends is not decided by words alone, so this offers the readings: contiguous passages,
letter for letter as written. It changes no slot and no form, so a cache finds what it always found. Who has to choose
looks at what is there (`chosen`), or takes what the words make sure (`Spaced.sure`). A name goes on over words that
nothing explains, words of content and numbers; it ends at a mark, a verb, a word that joins, another path.

| reading | begins | ends |
|---|---|---|
| a file | up to five words before a name with an ending; sure behind a path that has none ("in old/list 2.txt") | at the ending |
| a folder | behind "called", "folder", a word of place or destination; sure behind "called", or with capitals | before "folder", or where the sentence goes on |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from metnos.request.explained import Explained
from metnos.request.model import Slot

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from metnos.request.model import Request
    from metnos.request.sight import Seen
    from metnos.request.words import Lexicon, Role

RENAME: Final = "rename"
"""The verb of what gives another name."""
_LONGEST: Final = 5
"""Words before the last one."""
NEVER: Final[frozenset[Role]] = frozenset(
    (
        "article",
        "pronoun",
        "modal",
        "negation",
        "question",
        "separator",
        "quantifier",
        "stop",
        "doing",
        "past",
        "polite",
    )
)
"""Roles of words that no name goes on over."""
PLACED: Final[frozenset[Role]] = frozenset(("preposition", "place"))
_ARTICLE: Final[frozenset[Role]] = frozenset(("article",))


class Spaced(NamedTuple):
    """One reading of some words as a name."""

    start: int
    end: int
    text: str
    sure: bool
    """The words have no other reading."""
    new: bool = False
    """It is to be made: that a shorter name is there says nothing."""


def spaced_names(request: Request) -> tuple[Spaced, ...]:
    """Every reading, of several from one place on the longest first."""
    explained = request.explanation
    if not isinstance(explained, Explained):
        return ()
    return tuple(Reading(request.text, explained).all())


def chosen(
    readings: Iterable[Spaced], there: Callable[[str], bool] | None, short: Iterable[Slot]
) -> tuple[Spaced, ...]:
    """Of readings that overlap one: the longest that is there, else the longest that is sure.

    Args:
        readings: Of one request.
        there: Whether a file or folder is there; None: nobody may look.
        short: What the rules of slots found: if one of these is there, no longer reading is chosen that is not.
    """
    found: list[Spaced] = []
    names = [slot for slot in short if slot.kind in ("path", "name")]
    for reading in sorted(readings, key=lambda one: (one.start - one.end, not one.sure)):
        if any(one.start < reading.end and reading.start < one.end for one in found):
            continue
        inside = [slot for slot in names if reading.start <= slot.start and slot.end <= reading.end]
        if there is None:
            found += [reading] if reading.sure else []
        elif _is_there(reading, there):
            # A list of files that are all there is a list, whatever else there is.
            found += [] if len(inside) > 1 and all(there(str(slot.value)) for slot in inside) else [reading]
        elif reading.sure and (reading.new or not any(there(str(s.value)) for s in inside if s.end == reading.end)):
            found.append(reading)
    return tuple(found)


def _is_there(reading: Spaced, there: Callable[[str], bool]) -> bool:
    """The name itself, or of a file the folder of it that has blanks."""
    folder = reading.text.rpartition("/")[0] if has_ending(reading.text.split()[-1]) else ""
    return there(reading.text) or (len(folder.split()) > 1 and there(folder))


def with_names(slots: Iterable[Slot], names: Iterable[Spaced]) -> tuple[Slot, ...]:
    """The slots, with names in place of what they cover."""
    names = tuple(names)
    kept = [slot for slot in slots if not any(one.start < slot.end and slot.start < one.end for one in names)]
    made = [Slot(kind="path", start=one.start, end=one.end, text=one.text, value=one.text) for one in names]
    return tuple(sorted((*kept, *made), key=lambda slot: slot.start))


class Reading:
    """The words of one request, and what a name may go on over."""

    def __init__(self, text: str, explained: Explained) -> None:
        self.text = text
        self.tokens: Sequence[Seen] = explained.tokens
        self.spots = explained.spots()
        self.clauses = explained.clauses
        self.lexicon: Lexicon = explained.lexicon
        self.announcing = self.lexicon.name_marks | self.lexicon.towards | self.lexicon.inside
        self.of_verbs = {word for found in self.lexicon.phrasal.verbs.values() for p in found for word in p.words}
        self.verbs = self.of_verbs - self.lexicon.words.keys()

    def all(self) -> Iterator[Spaced]:
        for at, token in enumerate(self.tokens):
            if token.kind == "path" and has_ending(token.raw):
                yield from self._file(at)
            elif token.kind in ("word", "number") and at > 0:
                yield from self._folder(at)

    # --- files

    def _file(self, last: int) -> Iterator[Spaced]:
        firsts: list[int] = []
        sure = False
        at = last - 1
        while at >= max(0, last - _LONGEST) and self.is_joined(at):
            token = self.tokens[at]
            if token.kind == "path":
                sure = not has_ending(token.raw) and not token.raw.endswith("/")
                firsts += [at] if sure else []
                break
            if self.is_word_of_name(at) and not self.begins(at):
                firsts.append(at)
            elif self._is_placed(at) and self._is_due(at - 1):
                firsts.append(at)  # "rename a | da leggere.md"
                break
            else:
                break
            at -= 1
        renamed = bool(firsts) and self._is_renamed(firsts[-1])
        for first in reversed(firsts):
            if renamed and first == firsts[-1]:
                yield self.made(first, last, True, new=True)
            else:
                yield self.made(first, last, sure and self.tokens[first].kind == "path")

    def _is_renamed(self, first: int) -> bool:
        """Whether a new name begins there: right behind "to", in a clause that asks for nothing but another name."""
        start = self.spots[first][0]
        clauses = (each for each in self.clauses if each.start <= start < each.end)
        verbs = {intent.verb for each in clauses for intent in each.intents}
        return verbs == {RENAME} and first > 0 and self.tokens[first - 1].said in self.lexicon.towards

    def _is_due(self, at: int) -> bool:
        """Whether no further preposition can stand behind `at`: a verb or a preposition does."""
        if at < 0:
            return False
        word = self.tokens[at].word
        if self.tokens[at].said in self.verbs:
            return self.tokens[at + 1].said not in self.of_verbs
        return word is not None and (bool(word.roles & PLACED) or (bool(word.verb) and "content" not in word.roles))

    def begins(self, at: int) -> bool:
        """A verb, or an unknown word where one is due: nothing but a mark, or a word that joins or asks, is before it."""
        known = self.tokens[at].word
        if (known is not None and not known.verb) or self.tokens[at].kind == "number":
            return False
        if at == 0 or self.tokens[at - 1].kind == "punct":
            return True
        word = self.tokens[at - 1].word
        return word is not None and bool(word.roles & {"modal", "separator", "polite", "pronoun"})

    # --- folders

    def _folder(self, first: int) -> Iterator[Spaced]:
        mark = self.mark(first)
        before_noun = mark == ""
        if mark is None or not self.is_word_of_name(first):
            return
        lasts: list[int] = []
        at = first + 1
        free = before_noun or mark in self.lexicon.named
        while at < min(len(self.tokens), first + _LONGEST) and self._goes_on(at, free):
            lasts.append(at)
            at += 1
        if before_noun:
            lasts = lasts if at < len(self.tokens) and self.tokens[at].said in self.lexicon.name_before else []
        for last in reversed(lasts):
            whole = last == lasts[-1] and self.ends(last + 1)
            written = all(self._is_written_as_name(each) for each in range(first, last + 1))
            yield self.made(first, last, whole and (mark in self.lexicon.named or written))

    def _goes_on(self, at: int, free: bool) -> bool:
        """Whether a folder's name may go on: over known words only where the words say where it ends, or as a name is written."""
        if not self.is_joined(at - 1) or not self.is_word_of_name(at):
            return False
        return free or self._is_written_as_name(at) or self.tokens[at].said not in self.lexicon.known

    def mark(self, at: int) -> str | None:
        """The word that announces a name here; `""`: an article, before a noun that names stand before; None: nothing."""
        before = at - 1
        article = False
        while before >= 0 and (word := self.tokens[before].word) is not None and word.roles == _ARTICLE:
            article = True
            before -= 1
        said = self.tokens[before].said if before >= 0 else ""
        if said in self.lexicon.named or said in self.announcing:
            return said
        return "" if article else None

    def _is_written_as_name(self, at: int) -> bool:
        token = self.tokens[at]
        return token.kind == "number" or token.raw[0].isupper()

    def ends(self, at: int) -> bool:
        """No noun goes on at `at`."""
        if at >= len(self.tokens) or self.tokens[at].kind != "word":
            return True
        word = self.tokens[at].word
        return word is not None and (bool(word.roles & (NEVER | PLACED)) or self.tokens[at].said in self.announcing)

    # --- words

    def is_word_of_name(self, at: int) -> bool:
        """Whether a name may go on over this token."""
        token = self.tokens[at]
        if token.kind == "number":
            return token.raw.isdigit()
        lexicon, word = self.lexicon, token.word
        if token.kind != "word" or token.said in lexicon.name_marks | lexicon.file_nouns | lexicon.named | self.verbs:
            return False
        if word is None:
            return True
        if word.roles & (NEVER | PLACED) or (word.verb and not word.roles & {"content", "object"}):
            return False
        return word.object not in ("files", "dirs")

    def _is_placed(self, at: int) -> bool:
        """A preposition that says neither where something is nor where it goes."""
        word, said = self.tokens[at].word, self.tokens[at].said
        return (
            word is not None and "preposition" in word.roles and said not in self.lexicon.towards | self.lexicon.inside
        )

    def is_joined(self, at: int) -> bool:
        """Nothing but blanks stands between a token and the next."""
        behind, before = self.spots[at][1], self.spots[at + 1][0]
        return before > behind and "\n" not in self.text[behind:before]

    def made(self, first: int, last: int, sure: bool, new: bool = False) -> Spaced:
        start, end = self.spots[first][0], self.spots[last][1]
        return Spaced(start, end, self.text[start:end], sure, new)


def has_ending(name: str) -> bool:
    return "." in name.rsplit("/", 1)[-1].strip(".")
