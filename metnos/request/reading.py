"""From the bytes of a data file to a `Lexicon`.

Law: a file that contradicts itself is a fault, never a choice. Nothing is learned.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from metnos.request.tokens import fold, tokenise
from metnos.request.words import STOP_ROLES, Lexicon, LexiconFault, Loose, Phrase, Role, Word
from metnos.sdk import EFFECT_CLASSES, EffectClass

_POLITE = frozenset(("polite",))


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
            elif roles == _POLITE:
                reason = "polite"
            else:
                reason = "stop" if roles <= STOP_ROLES else f"keyword({canonical})"
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
    verbs = [(effect, family, text) for effect, families in data["verbs"].items() for family, text in families.items()]
    for effect, family, text in verbs:
        for word, canonical in _groups(text):
            builder.add(word, canonical, "verb", verb=family, effect=effect)
    for thing, text in data["objects"].items():
        for word, canonical in _groups(text):
            builder.add(word, canonical, "object", object=thing)
    for role, text in data["words"].items():
        for word, canonical in _groups(text):
            builder.add(word, canonical, role)
    greetings = [word for phrase in _phrases(data["loose"]["greeting"]) for word in phrase.words]
    for word in (*data["loose"]["polite"].split(), *greetings):
        builder.add(word, word, "polite")
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
    loose = _loose(data["loose"])
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
        loose=loose,
        loose_triggers=loose.triggers,
        known=frozenset(known),
    )


def _loose(data: Mapping[str, str]) -> Loose:
    return Loose(
        greetings=tuple(_phrases(data["greeting"])),
        polite=frozenset(data["polite"].split()),
        polite_after=frozenset(data["polite_after"].split()),
        articles=frozenset(data["article"].split()),
        article_before=frozenset(f"{data['article_before']} {data['superlatives']}".split()),
        superlatives=frozenset(data["superlatives"].split()),
    )
