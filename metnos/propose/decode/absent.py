"""Bare words behind a preposition that are no place: "how many did we use in October", "around here".

Law: only where somebody may look, and nothing of that name is there; what has a slash, an ending or quotes, what a noun of
folders stands beside, and what a clause with an effect says are names whatever is there. A request that only reads and
that speaks of files "in music", and names nothing else that is there, means a folder: it is told that there is none.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from metnos.propose.decode.endings import is_ending
from metnos.request.explained import lexicon_of
from metnos.request.tokens import Token, tokenise

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from metnos.request.model import Request, Slot
    from metnos.request.words import Role

_BARE = re.compile(r"[^\W\d_][\w-]*")
_OWNER: Final = re.compile(r"['’]s$")
_HARMLESS: Final = frozenset({"write", "append"})
"""Verbs of effects that act on nothing that a reading has found, so that a wider reading deletes and moves no more."""
_ARTICLE: Final[frozenset[Role]] = frozenset(("article",))
_FOLLOWS: Final = frozenset({"separator", "preposition", "place", "question"})
DIRS: Final = "dirs"


class Absent:
    """Of one request."""

    def __init__(self, request: Request, slots: Iterable[Slot], there: Callable[[str], bool] | None) -> None:
        """`slots`: its names, as they are read. Nothing is absent where nobody may look."""
        self.request = request
        self.there = there
        self.lexicon = lexicon_of(request)
        self.tokens = [token for token in tokenise(request.text) if token.kind != "space"]
        self.slots = tuple(slots)
        effects = [
            (clause, intent) for clause in request.clauses for intent in clause.intents if intent.effect != "read"
        ]
        self._wide = any(intent.verb not in _HARMLESS for _, intent in effects)
        self._acting = [(clause.start, clause.end) for clause, _ in effects]
        self._known: dict[int, bool] = {}

    def has(self, text: str, start: int) -> bool:
        """Whether the word `text` at `start` is no name."""
        if start not in self._known:
            self._known[start] = self._is_absent(text, start)
        return self._known[start]

    def says(self, text: str) -> bool:
        """The same of a word, wherever it stands."""
        starts = [token.start for token in self.tokens if self.request.text[token.start : token.end] == text]
        return bool(starts) and all(self.has(text, start) for start in starts)

    def _is_absent(self, text: str, start: int) -> bool:
        if self.there is None or self.there(text):
            return False
        if _OWNER.search(text) is not None and self._names_another_than(text):
            return True  # "the club's rides.json"
        if _BARE.fullmatch(text) is None:
            return False
        at = next((at for at, token in enumerate(self.tokens) if token.start == start), None)
        if at is None:
            return False
        if is_ending(text) and self._key(at - 1) in self.lexicon.plural_marks:
            return True  # "nei log": a kind of files, which narrows
        if self._wide or any(begin <= start < end for begin, end in self._acting):
            return False
        if self._key(at - 1) in self.lexicon.file_nouns and self._names_another(self.tokens[at]):
            return True  # "the biggest file sitting in docs"
        return not (self._has_noun(at) or self._is_where(at))

    def _has_noun(self, at: int) -> bool:
        """Whether a noun says that a name stands here: of folders; of files, where nothing of its clause follows."""
        lexicon, before, behind = self.lexicon, self._key(at - 1), self._key(at + 1)
        if behind in lexicon.name_before or before in lexicon.named:
            return True
        if before in lexicon.name_marks - lexicon.file_nouns:
            return True
        return before in lexicon.file_nouns and self._closes(at + 1)

    def _closes(self, at: int) -> bool:
        if at >= len(self.tokens) or self.tokens[at].kind != "word":
            return True
        word = self.lexicon.words.get(self.tokens[at].key)
        return word is not None and not word.roles.isdisjoint(_FOLLOWS)

    def _is_where(self, at: int) -> bool:
        """Whether a word of place stands before it, files or folders are spoken of, and no other name is there."""
        before = at - 1
        while before > 0 and (known := self.lexicon.words.get(self._key(before))) and known.roles == _ARTICLE:
            before -= 1
        word = self.lexicon.words.get(self._key(before))
        if word is None or "place" not in word.roles or not self._closes(at + 1):
            return False
        return self._speaks_of_files() and not self._names_another(self.tokens[at])

    def _speaks_of_files(self) -> bool:
        if any(slot.kind == "glob" for slot in self.slots):
            return True
        known = (self.lexicon.words.get(token.key) for token in self.tokens)
        return any(word is not None and word.object in ("files", DIRS) for word in known)

    def _names_another(self, token: Token) -> bool:
        return self._names_another_than(self.request.text[token.start : token.end])

    def _names_another_than(self, text: str) -> bool:
        names = (slot for slot in self.slots if slot.kind in ("path", "name") and slot.text != text)
        return self.there is not None and any(self.there(str(slot.value)) for slot in names)

    def _key(self, at: int) -> str:
        return self.tokens[at].key if 0 <= at < len(self.tokens) else ""
