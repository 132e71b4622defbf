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
    "separator", "content", "past", "polite", "doing",
]  # fmt: skip
Holding = Literal["always", "known", "leading", "thing", "files"]
"""Where a synonym stands for its canonical form; the table is in `metnos.request.holding`."""
# Function words: their reason is `stop`. They are explained, and stay in the strict form all the same.
STOP_ROLES = frozenset(
    ("article", "stop", "pronoun", "modal", "question", "preposition", "place", "separator", "past", "doing")
)


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
    holds: Holding = "always"
    """Of a synonym: where it is one."""


class Phrase(msgspec.Struct, frozen=True):
    """Folded words in a row, and what the data file says they mean, if anything."""

    words: tuple[str, ...]
    value: str = ""


class Said(msgspec.Struct, frozen=True):
    """A phrase that is a slot as it stands ("last week", "tomorrow's", "half an hour")."""

    words: tuple[str, ...]
    kind: Literal["period", "date", "duration", "time"]
    value: str
    form: str = ""
    """How it reads in the normal form where that is more than `{kind}`."""


class Fold(msgspec.Struct, frozen=True):
    """A phrase that stands for another ("switch off" for "turn off")."""

    words: tuple[str, ...]
    form: str
    word: Word | None
    """What the form is, if it is one word."""

    @property
    def length(self) -> int:
        """Tokens that it takes."""
        return len(self.words)

    @property
    def reads(self) -> str:
        """How it reads in the normal form."""
        return self.form

    @property
    def reason(self) -> str:
        """Why its tokens are there."""
        return f"synonym({self.form})"


class Ask(msgspec.Struct, frozen=True, kw_only=True):
    """A pattern of `metnos.request.patterns`: its parts, each one or more words or classes."""

    verb: str
    leads: bool
    """It asks only where a verb stands."""
    parts: tuple[tuple[str, ...], ...]


class Phrasal(msgspec.Struct, frozen=True, kw_only=True):
    """What asks for something without being one verb; the rules are in `metnos.request.phrasal`."""

    verbs: Mapping[str, tuple[Phrase, ...]]
    """First word → phrases that are one verb, longest first, each with the verb; `*`: other words may stand there."""
    placed: frozenset[str]
    """Participles of writing ("saved")."""
    indefinite: frozenset[str]
    new: frozenset[str]
    lists: frozenset[str]
    """Nouns of what is written down ("list")."""
    asks: Mapping[str, tuple[Ask, ...]]
    """First word → patterns, in the order of the file."""
    pointing: frozenset[str]
    """Words that point at things ("my", "these")."""
    pronouns: frozenset[str]
    """Words that stand for what was spoken of ("it", "them")."""
    leading: frozenset[str]
    """Words right behind which a verb stands ("to")."""
    told: frozenset[str]
    """Pronouns that stand before the verb of a request ("mi")."""
    unwanted: Mapping[str, tuple[Phrase, ...]]
    """First word → ways to say that something is not wanted ("I don't want")."""
    reasons: tuple[tuple[frozenset[str], ...], ...]
    """What gives the reason behind a request, word by word ("I don't need it any more"); "" where a word may be missing."""
    because: frozenset[str]
    """Words that such a reason may begin with ("as")."""
    objects: tuple[str, ...]
    """Pronouns of what is acted on that are written onto a verb ("cancellali")."""
    wishes: frozenset[str]
    """Words behind which "di" stands before a verb ("ho bisogno di")."""


class Times(msgspec.Struct, frozen=True, kw_only=True):
    """Words of durations, dates and times of day."""

    durations: Mapping[str, str]
    """Unit → its letter, `S M H D W`, and `m`, `y` for months and years."""
    duration_articles: frozenset[str]
    """Words that are one before a unit of time ("an hour")."""
    homographs: frozenset[str]
    """Units that such a word does not count ("a second file")."""
    months: Mapping[str, int]
    ordinals: Mapping[str, int]
    ordinal_marks: frozenset[str]
    """What is written onto a day ("5th")."""
    month_joins: frozenset[str]
    """Words between day and month ("5th of March")."""
    hour_marks: frozenset[tuple[str, ...]]
    """Words behind which a number from 13 to 23 is an hour ("alle 17")."""
    meridiems: Mapping[str, int]
    """`am`, `pm` → hours to add."""
    day_first: bool
    """30/11/2026 is a date; else only where the month can be but one of the two."""


class Loose(msgspec.Struct, frozen=True, kw_only=True):
    """What the loose grade may leave out; the table is in `metnos.request.loose`."""

    greetings: Mapping[str, tuple[Phrase, ...]]
    """First word → greetings, longest first."""
    telling: Mapping[str, tuple[Phrase, ...]]
    """First word → words that only ask to be told, longest first; dropped before a word of `asked`."""
    asked: frozenset[str]
    asking: Mapping[str, tuple[Phrase, ...]]
    """First word → ways to ask, longest first, each with the way that it is read as."""
    conditions: frozenset[str]
    """Words that a greeting without its comma does not stand before."""
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
    digest: str = ""
    """`sha256:…` of the files of an operator that were added to this lexicon."""
    numbers: Mapping[str, int]
    units: Mapping[str, int]
    """Names of units, in any case → bytes."""
    unit_signs: Mapping[str, int]
    """Signs of units, exactly as they are written ("MB") → bytes; "Mb" is another unit, and none of these."""
    unit_names: frozenset[str]
    """Every name and sign, folded: none of them names a folder."""
    counted_units: frozenset[str]
    """Names that an article before them counts ("over a megabyte")."""
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
    calling: frozenset[tuple[str, ...]]
    """Words right behind which the name of what is made stands ("called", "call it")."""
    plural_marks: frozenset[str]
    never_names: frozenset[str]
    """Words that name no folder, wherever they stand ("in total", "in the parent folder")."""
    text_marks: frozenset[str]
    """Verbs after which one bare word is the text looked for ("files that contain TODO")."""
    verb_types: frozenset[str]
    """Types that are verbs too ("zip files in src"): a file type only behind a word that a noun follows."""
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
    origin: frozenset[str]
    """Prepositions before where something comes from, or whose it is ("from", "of")."""
    place_clitics: tuple[str, ...]
    """Pronouns of a place that are written onto a verb ("mettici")."""
    dropped: tuple[str, ...]
    """Ends of verbs that a pronoun takes the place of ("mettere", "metterci")."""
    there: Mapping[str, tuple[Phrase, ...]]
    """First word → ways to speak of a folder that was named before ("into it")."""
    genitive: frozenset[str]
    """Prepositions that a name may hold ("lista della spesa")."""
    means: frozenset[str]
    """Words before the means by which something is done ("with", "via")."""
    names: frozenset[str]
    """File names without an extension, spelled exactly."""
    openings: Mapping[str, tuple[Phrase, ...]]
    """First word → polite openings, longest first."""
    closings: Mapping[str, tuple[Phrase, ...]]
    """Last word → polite closings, longest first."""
    quoting: frozenset[str]
    """Words right behind which a word is meant as it is written ("files containing five", "the word big")."""
    writing: frozenset[str]
    """The same, but only where nothing but a place follows what is written ("write five to a.txt")."""
    mentioning: frozenset[str]
    """Words of a request that speaks about words ("what does big mean"): each of its words stands for itself."""
    mentioning_asked: frozenset[str]
    """Of these, the ones that do so only behind a modal and no article: "does big mean", not "can you find the mean"."""
    saying: frozenset[str]
    """Words behind which a closing may be what is said or meant ("say thanks", "what does please mean")."""
    folds: Mapping[str, tuple[Fold, ...]]
    """First word → phrases that stand for others, longest first; none are shipped."""
    said: Mapping[str, tuple[Said, ...]]
    """First word → phrases that are a slot, longest first."""
    times: Times
    multipliers: Mapping[str, int]
    """Number words that multiply what stands before them."""
    one: frozenset[str]
    """Words that are the number one before a unit or a multiplier."""
    named: frozenset[str]
    """What a bare name may follow ("called")."""
    joins: frozenset[str]
    """Words before the last item of a list."""
    spans: Mapping[str, tuple[tuple[str, ...], ...]]
    """First word → words before a number of days: together they are a period up to now."""
    days: Mapping[str, int]
    """Units of such a period, in days."""
    triggers: frozenset[str]
    """Words at which a slot may begin; slot rules run nowhere else."""
    phrasal: Phrasal
    loose: Loose
    loose_triggers: frozenset[str]
    known: frozenset[str]
    """Every key that explains a token."""

    def fold_word(self, key: str) -> str | None:
        """The canonical form of a folded word, None if it is unknown."""
        word = self.words.get(key)
        return None if word is None else word.canonical
