"""What a lexicon is once it is read: words, phrases, marks of one language. Pure data.

Law: a word has exactly one canonical form; what it can be in a sentence is its set of roles, and all of them are kept.
`metnos.request.reading` makes these from the data files, `metnos.request.lexicon` hands them out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from metnos.sdk import EffectClass

Role = Literal[
    "verb", "object", "article", "stop", "pronoun", "modal", "question", "preposition", "place", "quantifier", "negation",
    "separator", "content", "past", "polite",
]  # fmt: skip
# Function words: their reason is `stop`. They are explained, and stay in the strict form all the same.
STOP_ROLES = frozenset(("article", "stop", "pronoun", "modal", "question", "preposition", "place", "separator", "past"))


class LexiconFault(ValueError):
    """A data file contradicts itself."""


class Word(msgspec.Struct, frozen=True, kw_only=True):
    """One folded word: its canonical form, the reason that explains it, and what it can be in a sentence."""

    canonical: str
    """May hold spaces (a contraction spelled out)."""
    reason: str
    roles: frozenset[str]
    verb: str = ""
    """Family verb of the vocabulary."""
    effect: EffectClass = "read"
    object: str = ""
    modifiers: tuple[str, ...] = ()


class Phrase(msgspec.Struct, frozen=True):
    """Folded words in a row, and what they mean (a RUNTIME key, or nothing)."""

    words: tuple[str, ...]
    value: str = ""


class Loose(msgspec.Struct, frozen=True, kw_only=True):
    """What the loose grade may leave out; the table is in `metnos.request.loose`."""

    greetings: tuple[Phrase, ...]
    polite: frozenset[str]
    polite_after: frozenset[str]
    articles: frozenset[str]
    article_before: frozenset[str]
    superlatives: frozenset[str]

    @property
    def triggers(self) -> frozenset[str]:
        """Every key at which a rule may drop something."""
        return self.polite | self.articles | {","}


class Lexicon(msgspec.Struct, frozen=True, kw_only=True):
    """A language, ready to look up. Keys are folded words."""

    language: str
    order: int
    words: Mapping[str, Word]
    numbers: Mapping[str, int]
    units: Mapping[str, int]
    thousands: str
    types: Mapping[str, str]
    """Type word → glob; it needs a file noun beside it."""
    plural_types: Mapping[str, str]
    """Type words that say "files of this type" on their own."""
    file_nouns: frozenset[str]
    extension_marks: frozenset[str]
    name_marks: frozenset[str]
    name_before: frozenset[str]
    """Nouns that a name may stand before ("the src folder")."""
    plural_marks: frozenset[str]
    never_names: frozenset[str]
    """Words that name no folder, wherever they stand ("in total", "in the parent folder")."""
    text_marks: frozenset[str]
    """Verbs after which one bare word is the text looked for ("files that contain TODO")."""
    type_after: frozenset[str]
    type_before: frozenset[str]
    """Right behind or in front of these a bare type word says "the file of this type" ("newest pdf")."""
    singular_form: str
    plural_form: str
    """How a type word that needs no noun reads with its noun; `{}` is the slot."""
    towards: frozenset[str]
    """Prepositions before a destination ("to", "into")."""
    inside: frozenset[str]
    """Prepositions before a place, which may be a destination ("in", "on")."""
    means: frozenset[str]
    """Words before the means by which something is done ("with", "via")."""
    names: frozenset[str]
    """File names without an extension, spelled exactly."""
    openings: tuple[Phrase, ...]
    closings: tuple[Phrase, ...]
    periods: Mapping[str, tuple[Phrase, ...]]
    """First word → phrases, longest first."""
    spans: tuple[Phrase, ...]
    """Words before a number of days: together they are a period up to now."""
    days: Mapping[str, int]
    """Units of such a period, in days."""
    triggers: frozenset[str]
    """Words at which a slot may begin; slot rules run nowhere else."""
    loose: Loose
    loose_triggers: frozenset[str]
    known: frozenset[str]
    """Every key that explains a token."""

    def fold_word(self, key: str) -> str | None:
        """The canonical form of a folded word, None if it is unknown."""
        word = self.words.get(key)
        return None if word is None else word.canonical
