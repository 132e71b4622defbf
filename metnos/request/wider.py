"""Names that go on over words that join: "Rossi e figli/offer.txt", "notes and plans.txt"; and names that are to be made.

Law: like `spaced`, this offers passages letter for letter and changes no slot and no form. A reading over a word that
joins, a comma or a preposition is never sure: it counts only where it is there, or the folder of it is. A name that is to
be made is there for nobody, so the place in its clause makes it sure: it stands right behind the word of destination, or
behind a noun of folders, and the clause ends with it.

| reading | begins | ends |
|---|---|---|
| a file that is there | up to eight words before a name with an ending, not with a word of grammar | at the ending |
| a folder that is there | at a path without an ending, or behind a word that announces a name | up to five words on |
| a file that is to be made | behind "to", "in", "as", "called" of a clause that puts something somewhere | with the clause |
| a folder that is to be made | behind "folder" of a clause that makes one | where its clause goes on with a preposition, or ends |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from metnos.request.explained import Explained
from metnos.request.marked import marked_names
from metnos.request.relations import PLACES, relation_of
from metnos.request.spaced import NEVER, PLACED, Reading, Spaced, has_ending, spaced_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from metnos.request.model import Clause, Request
    from metnos.request.words import Role

_LEFT: Final = 8
_RIGHT: Final = 5
_NEW: Final = 6
"""Words of a name that is to be made, before the last one."""
_DOING: Final[frozenset[Role]] = frozenset(("verb", "doing", "modal", "negation"))
_CONTENT: Final[frozenset[Role]] = frozenset(("content", "object"))
_PUTTING: Final = frozenset({"write", "append", "copy", "move", "rename"})


def names_with_blanks(request: Request) -> tuple[Spaced, ...]:
    """Every reading of all modules."""
    return (*spaced_names(request), *wider_names(request))


def wider_names(request: Request) -> tuple[Spaced, ...]:
    """The readings of this module and of `marked` that `spaced` has not; names that are to be made are sure."""
    explained = request.explanation
    if not isinstance(explained, Explained):
        return ()
    known = {(one.start, one.end) for one in spaced_names(request)}
    words = _Wider(request.text, explained)
    made = [one for clause in request.clauses for one in words.to_be_made(clause)]
    made += marked_names(request.text, explained)
    known |= {(one.start, one.end) for one in made}
    return (*made, *(one for one in words.joined() if (one.start, one.end) not in known))


class _Wider(Reading):
    # --- what may be there

    def joined(self) -> Iterator[Spaced]:
        for at, token in enumerate(self.tokens):
            if token.kind == "path" and has_ending(token.raw):
                yield from self._before(at)
            elif (token.kind == "path" and "/" in token.raw) or (token.kind == "word" and self.mark(at)):
                yield from self._behind(at)

    def _before(self, last: int) -> Iterator[Spaced]:
        firsts = range(last - 1, max(-1, last - 1 - _LEFT), -1)
        for first in firsts:
            if not self._is_run(first):
                return
            if self._may_begin(first):
                yield self.made(first, last, sure=False)

    def _behind(self, first: int) -> Iterator[Spaced]:
        for last in range(first + 1, min(len(self.tokens), first + 1 + _RIGHT)):
            if not self._is_run(last - 1) or has_ending(self.tokens[last].raw):
                return
            if self._is_word(last) or self.tokens[last].kind == "path":
                yield self.made(first, last, sure=False)

    def _is_run(self, at: int) -> bool:
        """Whether a name may go on over a token and what follows it: words, paths, a comma, all on one line."""
        token = self.tokens[at]
        if token.kind not in ("word", "number", "path") and token.key != ",":
            return False
        word = token.word
        if word is not None and word.roles & _DOING and not word.roles & _CONTENT:
            return False
        between = self.text[self.spots[at][1] : self.spots[at + 1][0]]
        return "\n" not in between

    def _may_begin(self, at: int) -> bool:
        """No verb; an unknown word that may be one begins a name where that is there."""
        token = self.tokens[at]
        return (token.kind == "path" or self._is_word(at)) and (token.word is None or not self.begins(at))

    def _is_word(self, at: int) -> bool:
        """No word of grammar."""
        token = self.tokens[at]
        if token.kind == "number":
            return True
        word = token.word
        return token.kind == "word" and (word is None or not word.roles & (NEVER | PLACED))

    # --- what is to be made

    def to_be_made(self, clause: Clause) -> Iterable[Spaced]:
        verbs = {intent.verb for intent in clause.intents if intent.effect != "read"}
        inside = [at for at, (start, end) in enumerate(self.spots) if clause.start <= start and end <= clause.end]
        while inside and self.tokens[inside[-1]].kind == "punct":
            inside.pop()
        if not inside:
            return
        if verbs & _PUTTING and has_ending(self.tokens[inside[-1]].raw):
            yield from self._new_file(inside)
        if any(intent.verb == "write" and intent.object == "dirs" for intent in clause.intents):
            for at in inside[1:]:
                yield from self._new_folder(at, inside[-1])

    def _new_file(self, inside: list[int]) -> Iterator[Spaced]:
        last = inside[-1]
        for first in range(last - 1, max(inside[0], last - 1 - _NEW), -1):
            if not self.is_joined(first) or self.tokens[first].kind == "path":
                return
            placed = relation_of(self.tokens[first - 1].said, self.lexicon) in PLACES
            if self.is_word_of_name(first) and placed:
                yield self.made(first, last, sure=True, new=True)
                return
            if not (self.is_word_of_name(first) or self.tokens[first].said in self.lexicon.genitive):
                return

    def _new_folder(self, first: int, last: int) -> Iterator[Spaced]:
        """Behind a noun of folders: words of a name, at least two."""
        before = self.tokens[first - 1].said
        if before not in self.lexicon.name_marks - self.lexicon.file_nouns or not self.is_word_of_name(first):
            return
        if self.tokens[first].said in self.lexicon.phrasal.new:
            return
        at = first
        while at < last and self.is_joined(at) and self.is_word_of_name(at + 1):
            at += 1
        if at > first and self.ends(at + 1):
            yield self.made(first, at, sure=True, new=True)
