"""The words of a language, gathered role by role, and the small notations of the data files.

Law: a word has one canonical form; a second, different one is a fault that names the word. Nothing is learned.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast, get_args

from metnos.request.tokens import fold, tokenise
from metnos.request.words import STOP_ROLES, Holding, LexiconFault, Phrase, Role, Word
from metnos.sdk import EFFECT_CLASSES, EffectClass

_POLITE = frozenset(("polite",))


def pairs(text: str) -> Iterator[tuple[str, str]]:
    """(name, value) of `name=value` items."""
    for item in text.split():
        name, _, value = item.partition("=")
        yield name, value


def groups(text: str) -> Iterator[tuple[str, str]]:
    """(word, canonical) of `a|b|c` groups."""
    for item in text.split():
        canonical, *synonyms = item.split("|")
        yield canonical, canonical
        for word in synonyms:
            yield word, canonical


def phrases(text: str) -> list[Phrase]:
    """Phrases between commas, each with what it means behind `=`; longest first."""
    found: list[Phrase] = []
    for item in text.replace("\n", " ").split(","):
        words, _, value = item.strip().partition("=")
        if words:
            found.append(Phrase(tuple(t.key for t in tokenise(words) if t.kind != "space"), value))
    return sorted(found, key=lambda phrase: -len(phrase.words))


class Builder:
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

    def freeze(self, holding: Mapping[str, Holding]) -> dict[str, Word]:
        """The words; a synonym that `holding` does not name needs a request that is known as a whole."""
        words: dict[str, Word] = {}
        for word in holding.keys() - {w for w, entry in self.found.items() if w != entry["canonical"]}:
            raise LexiconFault(f"{self.language}: {word!r} is no synonym")
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
                holds="always" if word == canonical else holding.get(word, "known"),
            )
        return words


def build_words(data: Mapping[str, Any], language: str) -> dict[str, Word]:
    builder = Builder(language)
    verbs = [(effect, family, text) for effect, families in data["verbs"].items() for family, text in families.items()]
    for effect, family, text in verbs:
        for word, canonical in groups(text):
            builder.add(word, canonical, "verb", verb=family, effect=effect)
    for thing, text in data["objects"].items():
        for word, canonical in groups(text):
            builder.add(word, canonical, "object", object=thing)
    for role, text in data["words"].items():
        for word, canonical in groups(text):
            builder.add(word, canonical, role)
    greetings = [word for phrase in phrases(data["loose"]["greeting"]) for word in phrase.words]
    for word in (*data["loose"]["polite"].split(), *greetings):
        builder.add(word, word, "polite")
    for modifier, text in data["modifiers"].items():
        for word in text.split():
            builder.modify(word, modifier)
    for word, value in pairs(data["expand"]["words"]):
        builder.expand(word, value.replace("_", " "))
    _join(builder, verbs, data["clitics"], {month for month, _ in pairs(data["times"]["months"])})
    return builder.freeze(_holding(data))


def _holding(data: Mapping[str, Any]) -> dict[str, Holding]:
    """Synonym → where it holds; contractions hold everywhere."""
    found: dict[str, Holding] = {fold(word): "always" for word, _ in pairs(data["expand"]["words"])}
    for holds in get_args(Holding):
        found |= {fold(word): holds for word in data["holding"].get(holds, "").split()}
    return found


def _join(builder: Builder, verbs: list[tuple[str, str, str]], clitics: Mapping[str, str], taken: set[str]) -> None:
    """Add each verb with a pronoun written onto it, where no other word is spelled like that."""
    for effect, family, text in verbs:
        for verb, _ in groups(text):
            for word in _joined(verb, clitics):
                if word not in builder.found and word not in taken:
                    builder.add(word, word, "verb", verb=family, effect=effect)


def _joined(verb: str, clitics: Mapping[str, str]) -> Iterator[str]:
    """The verb with a pronoun written onto it ("copiali", "copiarli"): a word of its own, which asks for the same."""
    endings = clitics["endings"].split()
    stem = next((verb[: -len(last)] for last in clitics["dropped"].split() if verb.endswith(f"r{last}")), verb)
    yield from (stem + ending for ending in endings)
