"""Names with blanks that brackets make sure, or the words before them: "quote 2026 (copy).txt", "a file to do.txt".

Law: like `spaced`, this offers passages letter for letter and changes no slot and no form. A bracket that opens before a
name and closes in it is a part of it, and a name begins with no bracket alone where a word of a name stands before it.
What stands between "called" or "a file" and an ending, all of it words of a name, is one name.

| reading | begins | sure |
|---|---|---|
| a name with a bracket | at a path before it, else up to five words before it | from a path on, over one word |
| a name that the words announce | behind "called", "a file", "a new file" | always |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from metnos.request.explained import lexicon_of
from metnos.request.spaced import Reading, Spaced, has_ending
from metnos.request.tokens import tokenise

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metnos.request.explained import Explained
    from metnos.request.model import Request, Slot

_LEFT: Final = 5
"""Words before a bracket, or between what announces a name and its ending."""
_INSIDE: Final = 4
"""Tokens of a bracket."""
_NOUN: Final = 3
"""Words from "a" to "file", at most."""
CALLING: Final = 3
"""Words of what says that a name follows, at most."""


def is_called(request: Request, slot: Slot) -> bool:
    """Whether the words right before a slot say that it is a name ("called a.txt", "col nome a.txt")."""
    lexicon = lexicon_of(request)
    before = [token.key for token in tokenise(request.text[: slot.start]) if token.kind != "space"]
    return any(tuple(before[-len(said) :]) == said for said in lexicon.calling)


def marked_names(text: str, explained: Explained) -> tuple[Spaced, ...]:
    """The readings of the table."""
    words = _Marked(text, explained)
    endings = [at for at, token in enumerate(words.tokens) if token.kind == "path" and has_ending(token.raw)]
    return tuple(found for at in endings for found in (*words.bracketed(at), *words.announced(at)))


class _Marked(Reading):
    def bracketed(self, last: int) -> Iterator[Spaced]:
        raw = self.tokens[last].raw
        if raw.count(")") <= raw.count("("):
            return
        opening = next((at for at in range(last - 1, max(-1, last - 1 - _INSIDE), -1) if self._opens(at)), None)
        if opening is None:
            return
        firsts: list[tuple[int, bool]] = []
        at = opening - 1
        while at >= max(0, opening - _LEFT) and self.is_joined(at):
            token = self.tokens[at]
            if token.kind == "path":
                firsts += [] if has_ending(token.raw) or token.raw.endswith("/") else [(at, True)]
                break
            if not self.is_word_of_name(at) or self.begins(at):
                break
            firsts.append((at, not firsts))
            at -= 1
        if not firsts:
            yield self.made(opening, last, sure=True)
        for first, sure in reversed(firsts):
            yield self.made(first, last, sure)

    def _opens(self, at: int) -> bool:
        return self.tokens[at].kind == "punct" and self.tokens[at].key == "("

    def announced(self, last: int) -> Iterator[Spaced]:
        for first in range(last - 1, max(0, last - 1 - _LEFT), -1):
            if not self.is_joined(first) or not self.is_word_of_name(first) or self.tokens[first].quotes:
                return
            if self.calls(first) or self._is_a_file(first - 1):
                yield self.made(first, last, sure=True, new=self.calls(first))
                return

    def calls(self, at: int) -> bool:
        """Whether the words before a token say that a name follows ("call it")."""
        before = tuple(token.said for token in self.tokens[max(0, at - CALLING) : at])
        return any(before[-len(said) :] == said for said in self.lexicon.calling)

    def _is_a_file(self, at: int) -> bool:
        """Whether "a file" ends at a token: "a text file", "a new file", "un file nuovo"."""
        phrasal = self.lexicon.phrasal
        at -= self.tokens[at].said in phrasal.new
        if at < 1 or self.tokens[at].said not in self.lexicon.file_nouns:
            return False
        return any(self.tokens[before].said in phrasal.indefinite for before in range(max(0, at - _NOUN), at))
