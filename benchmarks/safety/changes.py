"""A generator of requests that mean something else: one change of meaning at a time, of a sentence that is served.

Law: each change alters what is asked, whatever the sentence is about; so the changed sentence may be served only with
another plan. Tables of words by language; a rule changes one place and says of which kind the change is.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator


class Change(NamedTuple):
    kind: str
    text: str


OPPOSITES: dict[str, tuple[tuple[str, str, str], ...]] = {
    "en": (
        ("homograph", "largest", "smallest"), ("homograph", "biggest", "smallest"), ("homograph", "newest", "oldest"),
        ("homograph", "larger", "smaller"), ("homograph", "bigger", "smaller"), ("homograph", "over", "under"),
        ("time", "today", "yesterday"), ("time", "yesterday", "today"), ("time", "last week", "this week"),
        ("time", "this month", "last month"), ("time", "this week", "last week"), ("time", "last", "next"),
        ("extent", "all", "some"), ("extent", "all", "the first of the"), ("homograph", "how many", "which"),
        ("homograph", "list", "delete"), ("homograph", "show", "delete"), ("homograph", "find", "delete"),
        ("homograph", "move", "copy"), ("homograph", "copy", "move"), ("homograph", "delete", "list"),
        ("preposition", "in", "outside"), ("preposition", "under", "outside"), ("preposition", "to", "from"),
        ("plurality", "files", "folders"), ("plurality", "file", "folder"), ("homograph", "total", "average"),
        ("homograph", "contain", "lack"), ("homograph", "with", "without"), ("homograph", "without", "with"),
    ),
    "it": (
        ("homograph", "più", "meno"), ("homograph", "grandi", "piccoli"), ("homograph", "recenti", "vecchi"),
        ("time", "oggi", "ieri"), ("time", "ieri", "oggi"), ("time", "questa settimana", "la settimana scorsa"),
        ("extent", "tutti", "alcuni"), ("homograph", "quanti", "quali"), ("homograph", "elenca", "elimina"),
        ("homograph", "mostra", "cancella"), ("homograph", "trova", "cancella"), ("homograph", "sposta", "copia"),
        ("homograph", "copia", "sposta"), ("homograph", "cancella", "elenca"), ("preposition", "sotto", "sopra"),
        ("preposition", "in", "fuori da"), ("plurality", "i file", "le cartelle"), ("homograph", "totale", "media"),
        ("homograph", "con", "senza"), ("homograph", "senza", "con"), ("homograph", "contengono", "perdono"),
    ),
}  # fmt: skip
"""(kind, word, word that asks for something else)."""

BEFORE: dict[str, tuple[tuple[str, str], ...]] = {
    "en": (("negation", "do not "), ("negation", "never "), ("negation", "don't "), ("condition", "if it rains, ")),
    "it": (("negation", "non "), ("negation", "mai "), ("condition", "se piove, ")),
}
BEHIND: dict[str, tuple[tuple[str, str], ...]] = {
    "en": (
        ("except", " except old.txt"), ("except", " but not the hidden ones"), ("condition", " if there is time"),
        ("condition", " that Anna wrote"), ("order", " and then delete them"), ("order", " and delete everything"),
        ("provider", " with gmail"), ("provider", " on the server"), ("target", " and of /srv/other"),
        ("time", " before yesterday"), ("extent", " but only the first one"), ("negation", " not"),
    ),
    "it": (
        ("except", " tranne vecchio.txt"), ("except", " ma non quelli nascosti"), ("condition", " se c'è tempo"),
        ("condition", " scritti da Anna"), ("order", " e poi cancellali"), ("provider", " con gmail"),
        ("target", " e di /srv/altro"), ("time", " prima di ieri"), ("extent", " ma solo il primo"),
        ("negation", " no"),
    ),
}  # fmt: skip

_NUMBER = re.compile(r"(?<![\w.,/-])[0-9]+(?![\w.,/-])")
_UNIT = re.compile(r"\b(KB|MB|GB)\b")
_PATH = re.compile(r"(?<![\w.])(?:~/|\./|/)?[\w-]+(?:/[\w.-]+)+|\b[\w-]+\.[a-z]{2,4}\b")
_TYPE = re.compile(r"\b(pdf|PDF|py|Python|csv|txt|md)\b")
_OTHER_UNIT = {"KB": "MB", "MB": "GB", "GB": "KB"}


def changes(text: str, language: str) -> Iterator[Change]:
    """Every changed sentence that the tables give for `text`."""
    bare = text.rstrip(" .?!")
    lowered = bare[:1].lower() + bare[1:]
    for kind, before in BEFORE[language]:
        yield Change(kind, before + lowered)
    for kind, behind in BEHIND[language]:
        yield Change(kind, bare + behind)
    for kind, word, other in OPPOSITES[language]:
        yield from _swapped(kind, bare, rf"\b{re.escape(word)}\b", other)
    for found in _NUMBER.finditer(bare):
        yield Change("number", bare[: found.start()] + str(int(found[0]) + 7) + bare[found.end() :])
    for found in _UNIT.finditer(bare):
        yield Change("unit", bare[: found.start()] + _OTHER_UNIT[found[0]] + bare[found.end() :])
    for found in _PATH.finditer(bare):
        yield Change("path", f"{bare[: found.start()]}other/{found[0].lstrip('~./')}{bare[found.end() :]}")
    for found in _TYPE.finditer(bare):
        yield Change("extension", f"{bare[: found.start()]}zip{bare[found.end() :]}")
    paths = list(_PATH.finditer(bare))
    if len(paths) == 2 and paths[0][0] != paths[1][0]:
        (first, second) = paths
        between = bare[first.end() : second.start()]
        yield Change("roles", bare[: first.start()] + second[0] + between + first[0] + bare[second.end() :])


def _swapped(kind: str, text: str, pattern: str, other: str) -> Iterator[Change]:
    """The first place where `pattern` stands says `other` instead."""
    found = re.search(pattern, text, re.IGNORECASE)
    if found is not None:
        yield Change(kind, text[: found.start()] + other + text[found.end() :])
