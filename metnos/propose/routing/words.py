"""Words as the index knows them: split at case and underscores, folded, without accents, singular and plural alike.

Law: total, pure, and the same for requests and for tools. Folding is crude on purpose, as the index counts; nothing is
served on the strength of it.

    list(words_of("getURLs_v2", "en"))      # ["get", "url"]
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Final
from unicodedata import combining, normalize

from metnos.request.lexicon import lexicons
from metnos.request.tokens import fold
from metnos.request.words import STOP_ROLES

_PIECE = re.compile(r"[^\W\d_]+")
_CAMEL = re.compile(r"[A-Z]{2,}s(?![a-z])|[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")
_SILENT: Final = STOP_ROLES | {"negation", "polite"}
_HISSING: Final = ("sses", "shes", "ches", "xes", "zes")
_NO_PLURAL: Final = ("ss", "us", "is")
_LEAST: Final = 5
"""Letters of a word that may lose its last vowel: number and gender in Italian."""
_LONGEST: Final = 40


@cache
def silent(language: str) -> frozenset[str]:
    """Words of a language that say nothing about which tool is meant; none for an unknown language."""
    for lexicon in lexicons():
        if lexicon.language == language:
            return frozenset(key for key, word in lexicon.words.items() if word.roles <= _SILENT)
    return frozenset()


def words_of(text: str, language: str = "en") -> list[str]:
    """The words of `text`, in order, without those that are silent in `language`."""
    skipped = silent(language)
    found: list[str] = []
    for piece in _PIECE.findall(text):
        parts = _CAMEL.findall(piece) if piece.isascii() and not piece.islower() else (piece,)
        for part in parts:
            key = part.lower() if part.isascii() else fold(part)
            if key not in skipped and 1 < len(key) <= _LONGEST:
                found.append(stem(key))
    return found


@lru_cache(maxsize=32_768)
def stem(word: str) -> str:
    """A folded word without accents, plural and final vowel."""
    if not word.isascii():
        word = "".join(mark for mark in normalize("NFKD", word) if not combining(mark))
    if len(word) > 4 and word.endswith("ies"):
        word = word[:-3] + "y"
    elif len(word) > 4 and word.endswith(_HISSING):
        word = word[:-2]
    elif len(word) > 3 and word.endswith("s") and not word.endswith(_NO_PLURAL):
        word = word[:-1]
    return word[:-1] if len(word) >= _LEAST and word[-1] in "aeio" else word
