"""What a slot rule may look at: the tokens of a request as one lexicon sees them.

Law: a `Seen` belongs to a chunk of text and to a lexicon, never to a request, so it is made once and remembered; where
it stands in the text is worked out only when somebody asks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias, get_args

import msgspec

from metnos.request.model import SlotKind
from metnos.request.tokens import TokenKind
from metnos.request.words import Fold, Lexicon, Said, Word

_MARKS: dict[SlotKind, str] = {kind: f"{{{kind}}}" for kind in get_args(SlotKind)}


class Found(NamedTuple):
    """`length` tokens from here on are one slot."""

    kind: SlotKind
    value: Any
    length: int = 1
    form: str = ""
    """How the slot reads in the normal form where it is more than `{kind}`."""
    items: tuple[tuple[int, Found], ...] = ()
    """Of a list: each item with the token at which it begins, counted from the list's first."""

    @property
    def reads(self) -> str:
        """How the slot reads in the normal form."""
        mark = _MARKS[self.kind]
        return self.form.replace("{}", mark) if self.form else mark

    @property
    def reason(self) -> str:
        """Why its tokens are there."""
        return f"slot({self.kind})"

    @property
    def word(self) -> None:
        """A slot is no word."""


Run: TypeAlias = Found | Fold
"""Some tokens that are one thing: a slot, or a phrase that stands for another."""


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """A token of a chunk, and what a lexicon says of it."""

    start: int
    end: int
    """In the chunk."""
    kind: TokenKind
    key: str
    raw: str
    """As written."""
    said: str
    """The key of a word, "" for anything else."""
    word: Word | None
    form: str
    reason: str
    plain: bool
    """A word that is no slot, is never left out and negates nothing: `form` is all there is to it."""
    rule: Rule | None
    bare: bool
    """A word that may be a name: unknown, or with a capital."""
    quotes: bool
    """What follows is meant as it is written ("containing")."""
    announces: bool
    """A name may follow ("in", "file", "called")."""
    may_go: bool
    """The table of the loose grade names it."""
    negates: bool
    turns: bool
    """A synonym that does not hold everywhere, or a word that mentions words (`metnos.request.holding`)."""


class Sight:
    """The tokens of a request, without white space, and the language."""

    __slots__ = ("count", "lexicon", "tokens")

    def __init__(self, tokens: Sequence[Seen], lexicon: Lexicon) -> None:
        self.tokens = tokens
        self.lexicon = lexicon
        self.count = len(tokens)

    def word(self, index: int) -> Word | None:
        """The lexicon's word at `index`, None beside the text or if it is unknown."""
        return self.tokens[index].word if 0 <= index < self.count else None

    def key(self, index: int) -> str:
        """The folded word at `index`, "" beside the text and for tokens that are no words."""
        return self.tokens[index].said if 0 <= index < self.count else ""

    def mark(self, index: int) -> str:
        """The folded text of any token, "" beside the text."""
        return self.tokens[index].key if 0 <= index < self.count else ""

    def raw(self, index: int) -> str:
        """The token as written."""
        return self.tokens[index].raw

    def says(self, at: int, phrase: Said) -> bool:
        """Whether the words of `phrase` stand at `at`."""
        return all(self.key(at + i) == word for i, word in enumerate(phrase.words))


Rule: TypeAlias = Callable[[Sight, int], "Found | None"]
