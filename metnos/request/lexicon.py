"""The words of a language, as data: `lexicon/*.toml`, one file a language, `common.toml` for all.

Law: a new language is a new data file; no word of any language stands in code. Every word has exactly one
canonical form in its language (a second, different one is a fault at load), so folding synonyms never chooses.
Homographs ("list", "copia") carry all their roles. Nothing is learned.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal, cast

import msgspec

from metnos.request.tokens import Token, fold, tokenise
from metnos.sdk import EFFECT_CLASSES, EffectClass

_FOLDER = Path(__file__).parent / "lexicon"
_COMMON = "common.toml"

Role = Literal[
    "verb", "object", "article", "stop", "pronoun", "modal", "question", "preposition", "place", "quantifier", "negation",
    "separator", "content", "past",
]  # fmt: skip
# Function words: their reason is `stop`. They are explained, and stay in the strict form all the same.
_STOP_ROLES = frozenset(
    ("article", "stop", "pronoun", "modal", "question", "preposition", "place", "separator", "past")
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


class Phrase(msgspec.Struct, frozen=True):
    """Folded words in a row, and what they mean (a RUNTIME key, or nothing)."""

    words: tuple[str, ...]
    value: str = ""


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
    known: frozenset[str]
    """Every key that explains a token."""

    def fold_word(self, key: str) -> str | None:
        """The canonical form of a folded word, None if it is unknown."""
        word = self.words.get(key)
        return None if word is None else word.canonical


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    for item in text.split():
        name, _, value = item.partition("=")
        yield name, value


def _groups(text: str) -> Iterator[tuple[str, str]]:
    """(word, canonical) of `a|b|c` groups."""
    for item in text.split():
        canonical, *synonyms = item.split("|")
        yield canonical, canonical
        for word in synonyms:
            yield word, canonical


def _phrases(text: str) -> list[Phrase]:
    found: list[Phrase] = []
    for item in text.replace("\n", " ").split(","):
        words, _, value = item.strip().partition("=")
        if words:
            found.append(Phrase(tuple(t.key for t in tokenise(words) if t.kind != "space"), value))
    return sorted(found, key=lambda phrase: -len(phrase.words))


class _Builder:
    """Gathers the roles of each word before they are frozen."""

    def __init__(self, language: str) -> None:
        self.language = language
        self.found: dict[str, dict[str, Any]] = {}

    def add(self, word: str, canonical: str, role: Role, **more: str) -> None:
        """`word` stands for `canonical`, and can be a `role`."""
        word, canonical = fold(word), fold(canonical)
        entry = self.found.setdefault(word, {"canonical": canonical, "roles": set(), "modifiers": []})
        if entry["canonical"] != canonical:
            if canonical != word:
                raise LexiconFault(f"{self.language}: {word!r} stands for {entry['canonical']!r} and for {canonical!r}")
            canonical = entry["canonical"]
        entry["roles"].add(role)
        for name, value in more.items():
            if name == "effect" and name in entry:
                # A homograph of two verbs asks for the stronger effect.
                value = max(value, entry[name], key=lambda c: EFFECT_CLASSES.index(cast("EffectClass", c)))
            entry[name] = value

    def modify(self, word: str, modifier: str) -> None:
        """A word that changes how something is asked for."""
        if word not in self.found:
            self.add(word, word, "content")
        self.found[word]["modifiers"].append(modifier)

    def expand(self, word: str, spelled: str) -> None:
        """A contraction: it has every role of the words that it stands for."""
        roles = {role for part in spelled.split() for role in self.found.get(part, {}).get("roles", ())}
        self.found[word] = {"canonical": spelled, "roles": roles, "modifiers": []}

    def freeze(self) -> dict[str, Word]:
        words: dict[str, Word] = {}
        for word, entry in self.found.items():
            roles = frozenset(entry["roles"])
            canonical = entry["canonical"]
            if word != canonical:
                reason = f"synonym({canonical})"
            else:
                reason = "stop" if roles <= _STOP_ROLES else f"keyword({canonical})"
            words[word] = Word(
                canonical=canonical,
                reason=reason,
                roles=roles,
                verb=entry.get("verb", ""),
                effect=entry.get("effect", "read"),
                object=entry.get("object", ""),
                modifiers=tuple(entry["modifiers"]),
            )
        return words


def _build_words(data: Mapping[str, Any], language: str) -> dict[str, Word]:
    builder = _Builder(language)
    for effect, families in data["verbs"].items():
        for family, text in families.items():
            for word, canonical in _groups(text):
                builder.add(word, canonical, "verb", verb=family, effect=effect)
    for thing, text in data["objects"].items():
        for word, canonical in _groups(text):
            builder.add(word, canonical, "object", object=thing)
    for role, text in data["words"].items():
        for word, canonical in _groups(text):
            builder.add(word, canonical, role)
    for modifier, text in data["modifiers"].items():
        for word in text.split():
            builder.modify(word, modifier)
    for word, value in _pairs(data["expand"]["words"]):
        builder.expand(word, value.replace("_", " "))
    return builder.freeze()


def read_lexicon(data: Mapping[str, Any], common: Mapping[str, Any]) -> Lexicon:
    """A lexicon from the parsed files.

    Raises:
        LexiconFault: a word has two canonical forms.
    """
    language = data["language"]
    words = _build_words(data, language)
    slots, phrases, marks = data["slots"], data["phrases"], data["marks"]
    numbers = {word: int(value) for word, value in _pairs(data["numbers"]["words"])}
    units = {word: int(value) for word, value in _pairs(common["units"] + data["units"]["words"])}
    types = {word: f"*.{word}" for word in common["types"].split()}
    plural = {word + slots["plural"]: glob for word, glob in types.items()} if slots["plural"] else {}
    types.update(_pairs(slots["types"]))
    periods: dict[str, list[Phrase]] = {}
    for phrase in _phrases(phrases["period"]):
        periods.setdefault(phrase.words[0], []).append(phrase)
    spans, days = _phrases(phrases["span"]), {word: int(value) for word, value in _pairs(phrases["days"])}
    openings, closings = _phrases(phrases["opening"]), _phrases(phrases["closing"])
    known = {word for phrase in (*openings, *closings) for word in phrase.words}
    known.update(words, numbers, units, types, plural, periods, days)
    return Lexicon(
        language=language,
        order=data["order"],
        words=words,
        numbers=numbers,
        units=units,
        thousands=data["numbers"]["thousands"],
        types=types,
        plural_types=plural,
        file_nouns=frozenset(slots["file_nouns"].split()),
        extension_marks=frozenset(slots["extension_marks"].split()),
        name_marks=frozenset(slots["name_marks"].split()),
        name_before=frozenset(slots["name_before"].split()),
        plural_marks=frozenset(slots["plural_marks"].split()),
        never_names=frozenset(fold(word) for word in f"{slots['never_names']} {common['never_names']}".split()),
        text_marks=frozenset(slots["text_marks"].split()),
        type_after=frozenset(slots["type_after"].split()),
        type_before=frozenset(slots["type_before"].split()),
        singular_form=slots["singular_form"],
        plural_form=slots["plural_form"],
        towards=frozenset(marks["towards"].split()),
        inside=frozenset(marks["inside"].split()),
        means=frozenset(marks["means"].split()),
        names=frozenset(common["names"].split()),
        openings=tuple(openings),
        closings=tuple(closings),
        periods={first: tuple(found) for first, found in periods.items()},
        spans=tuple(spans),
        days=days,
        triggers=frozenset({*numbers, *types, *plural, *periods, *(phrase.words[0] for phrase in spans)}),
        known=frozenset(known),
    )


@cache
def _sources() -> dict[str, bytes]:
    """File name → bytes, in name order."""
    return {path.name: path.read_bytes() for path in sorted(_FOLDER.glob("*.toml"))}


@cache
def lexicons() -> tuple[Lexicon, ...]:
    """Every language that is shipped, in declared order."""
    sources = {name: tomllib.loads(data.decode()) for name, data in _sources().items()}
    common = sources.pop(_COMMON)
    return tuple(sorted((read_lexicon(data, common) for data in sources.values()), key=lambda found: found.order))


@cache
def languages() -> tuple[str, ...]:
    """Codes of the shipped languages, in declared order."""
    return tuple(lexicon.language for lexicon in lexicons())


@cache
def lexicon_digest() -> str:
    """`sha256:…` over the data files (names, lengths, bytes; line ends as LF): part of the rules digest."""
    whole = hashlib.sha256()
    for name, data in _sources().items():
        data = data.replace(b"\r\n", b"\n")
        whole.update(f"{name}\n{len(data)}\n".encode() + data)
    return f"sha256:{whole.hexdigest()}"


def lexicon_for(language: str) -> Lexicon:
    """The lexicon of `language`.

    Raises:
        ValueError: no such lexicon is shipped.
    """
    for lexicon in lexicons():
        if lexicon.language == language:
            return lexicon
    raise ValueError(f"no lexicon for language {language!r}; there is: {', '.join(languages())}")


def choose(tokens: list[Token]) -> Lexicon:
    """The language whose lexicon explains more of `tokens`; a tie goes to the declared order."""
    keys = [token.key for token in tokens if token.kind == "word"]
    best, most = lexicons()[0], -1
    for lexicon in lexicons():
        known = lexicon.known
        count = sum([key in known for key in keys])
        if count > most:
            best, most = lexicon, count
    return best
