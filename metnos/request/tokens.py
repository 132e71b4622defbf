"""Tokenisation, specified: text in, tokens with offsets out; the tokens tile the text.

Law: language is not known here, nothing is dropped and nothing is guessed. The rules, in this order:

1. white space is one `space` token a run;
2. text between matching quotes (`"…"`, `“…”`, `«…»`, backticks; `'…'` only where a word cannot go on) is `quoted`;
3. what is left falls into chunks without white space. From a chunk, leading `(` and trailing `. , ; : ! ? )`
   are peeled as `punct`; the core is then, by the first rule that fits: letters (`word`), an Italian elision
   (`dell'` + the rest), a URL, a mail address, a number with an optional unit (`1.5MB` gives two tokens), an ISO
   date, a `glob` (`*` or `?` inside), a `path` (`/`, `~`, `..`, or a name with an extension), an extension
   (`.txt`: `ext`), a single dot (`dot`), a word with hyphens, digits or an English contraction, or `odd`.

`key` is the token's folded text: NFKC, case folded, typographic apostrophes made plain. Values of slots are taken
from the text itself, never from the key. Every pattern here runs in linear time; a chunk is classified once and
remembered (the memo is bounded).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, NamedTuple
from unicodedata import normalize

TokenKind = Literal[
    "space", "quoted", "word", "number", "date", "path", "glob", "ext", "dot", "url", "address", "punct", "odd"
]

_SCAN = re.compile(
    r"\s+"
    r'|"[^"]*"'
    r"|“[^“”]*”"
    r"|«[^«»]*»"
    r"|`[^`]*`"
    r"|(?<!\S)'[^'\n]*'(?!\w)"
    r'|[^\s"“”«»`]+'
    r"|."
)
_NUMBER = re.compile(r"([0-9]+(?:[.,][0-9]+)*)([^\W\d_]*)")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_QUOTES = frozenset("\"“«`'")
_TRAILING = frozenset(".,;:!?)…")
_APOSTROPHES = str.maketrans("’ʼ‘", "'''")
# Closed list: what may stand before an apostrophe as a word of its own.
_ELISIONS = frozenset((
    "l", "un", "dell", "nell", "all", "dall", "sull", "coll", "d", "c", "cos", "dov", "com", "qual", "quest", "quell",
    "quant", "quand", "tutt", "bell", "n", "s", "t", "m", "v",
))  # fmt: skip
_CONTRACTIONS = ("n't", "'s", "'re", "'ve", "'ll", "'d", "'m")
_ONLY_DOTS = frozenset("./~")
_FORBIDDEN_IN_NAMES = frozenset("<>|;{}$\\\"'`")


class Token(NamedTuple):
    """`text[start:end]`, its kind and its folded key."""

    start: int
    end: int
    kind: TokenKind
    key: str


class _Piece(NamedTuple):
    """A token of a chunk, by offset in the chunk."""

    start: int
    end: int
    kind: TokenKind
    key: str


def fold(text: str) -> str:
    """NFKC, case folded, one apostrophe. White space that folding brings in is made visible."""
    if text.isascii():
        return text.lower()
    folded = normalize("NFKC", normalize("NFKC", text).casefold()).translate(_APOSTROPHES)
    return "␣".join(folded.split()) if not folded.isalnum() else folded


def tokenise(text: str) -> list[Token]:
    """All tokens of `text`; `"".join(text[t.start:t.end])` is `text`."""
    tokens: list[Token] = []
    add = tokens.append
    for found in _SCAN.finditer(text):
        start = found.start()
        chunk = found[0]
        first = chunk[0]
        if first.isspace():
            add(Token(start, found.end(), "space", " "))
        elif first in _QUOTES and len(chunk) > 1 and chunk[-1] in "\"”»`'" and _is_quoted(chunk):
            add(Token(start, found.end(), "quoted", chunk[1:-1]))
        elif len(chunk) > 256:
            tokens.extend(_placed(start, _split(chunk)))
        else:
            tokens.extend(_placed(start, _remembered(chunk)))
    return tokens


def _is_quoted(chunk: str) -> bool:
    return "\"“«`'".index(chunk[0]) == "\"”»`'".index(chunk[-1])


def _placed(start: int, pieces: tuple[_Piece, ...]) -> list[Token]:
    return [Token(start + p[0], start + p[1], p[2], p[3]) for p in pieces]


def _split(chunk: str) -> tuple[_Piece, ...]:
    """A chunk without white space, in pieces that tile it."""
    if chunk.isalpha():
        return (_Piece(0, len(chunk), "word", fold(chunk)),)
    start, end = 0, len(chunk)
    pieces: list[_Piece] = []
    if _ONLY_DOTS.issuperset(chunk) and chunk != "...":
        return (_Piece(0, end, "dot" if chunk == "." else "path", chunk),)
    while start < end and chunk[start] == "(":
        pieces.append(_Piece(start, start + 1, "punct", "("))
        start += 1
    while end > start and chunk[end - 1] in _TRAILING and not _belongs(chunk, start, end):
        end -= 1
    if end > start:
        pieces.extend(_core(chunk[start:end], start))
    pieces.extend(_Piece(i, i + 1, "punct", chunk[i]) for i in range(end, len(chunk)))
    return tuple(pieces)


_remembered = lru_cache(maxsize=8192)(_split)


def _belongs(chunk: str, start: int, end: int) -> bool:
    """The last character of `chunk[start:end]` is part of the core: `src/..`, `report(1)`."""
    last = chunk[end - 1]
    if last == ")":
        return "(" in chunk[start:end]
    return last == "." and chunk[max(start, end - 3) : end] == "/.."


def _core(core: str, start: int) -> list[_Piece]:
    end = start + len(core)
    if core.isalpha():
        return [_Piece(start, end, "word", fold(core))]
    plain = core.translate(_APOSTROPHES)
    head, apostrophe, rest = plain.partition("'")
    if apostrophe and rest and fold(head) in _ELISIONS and not plain.lower().endswith(_CONTRACTIONS):
        middle = start + len(head) + 1
        return [_Piece(start, middle, "word", fold(head) + "'"), *_core(core[len(head) + 1 :], middle)]
    wide = core if core.isascii() else normalize("NFKC", core)
    if len(wide) != len(core):
        wide = core
    number = _NUMBER.fullmatch(wide) if wide[0] in "0123456789" else None
    if number is not None:
        middle = start + number.end(1)
        unit = [_Piece(middle, end, "word", fold(number[2]))] if number[2] else []
        return [_Piece(start, middle, "number", number[1]), *unit]
    return [_Piece(start, end, _classify(core), fold(core))]


def _classify(core: str) -> TokenKind:
    """The kind of a core that is neither letters, nor an elision, nor a number."""
    if "://" in core:
        return "url"
    if _DATE.fullmatch(core):
        return "date"
    if not core.isprintable() or not _FORBIDDEN_IN_NAMES.isdisjoint(core):
        return "word" if _is_wordlike(core) else "odd"
    if "*" in core or "?" in core:
        return "glob"
    if core[0] == "~" or "/" in core:
        return _slashed(core)
    stem, dot, extension = core.rpartition(".")
    if "@" in core:
        return "address" if dot and core.count("@") == 1 and core[0] != "@" else "odd"
    if dot and extension.isalnum() and not extension.isdigit() and len(extension) <= 10:
        return "path" if stem else "ext"
    return "word" if _is_wordlike(core) else "odd"


def _slashed(core: str) -> TokenKind:
    if core[0] == "~" and core != "~" and not core.startswith("~/"):
        return "odd"
    return "odd" if all(c in "0123456789/" for c in core) and core[0] != "/" else "path"


def _is_wordlike(core: str) -> bool:
    """Letters, digits, combining marks, hyphens, underscores and apostrophes, at least one letter."""
    return any(c.isalpha() for c in core) and all(
        c.isalnum() or c in "-_'’ʼ" or "\u0300" <= c <= "\u036f" for c in core
    )
