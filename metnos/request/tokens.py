"""Tokenisation, specified: text in, tokens with offsets out; the tokens tile the text.

Law: language is not known here, nothing is dropped and nothing is guessed. The rules, in this order:

1. white space is one `space` token a run;
2. text between matching quotes (`"…"`, `“…”`, `«…»`, backticks; `'…'` only where a word cannot go on, and over
   apostrophes inside of words) is `quoted`;
3. what is left falls into chunks without white space. From a chunk, leading `(` and trailing `. , ; : ! ? )`
   are peeled as `punct`; the core is then, by the first rule that fits: letters (`word`), an Italian elision
   (`dell'` + the rest), a number with an optional sign of money before it and an optional unit behind it (`1.5MB`,
   `€5` and `20%` give two tokens), a time of day (`clock`, with an optional unit: `5:30pm`), a URL, an ISO date, a
   `glob` (`*` or `?` inside), a `path` (`/`, `~`, `..`, or a name with an extension), an extension (`.txt`: `ext`), a
   mail address, a single dot (`dot`), a word with hyphens, digits or an English contraction, a declared abbreviation
   with dots (`p.m`), or `odd`.

`key` is the token's folded text: NFKC, case folded, typographic apostrophes made plain; a raised digit stays apart. Values of slots are taken
from the text itself, never from the key. Every pattern here runs in linear time; a chunk is classified once and
remembered (the memo is bounded).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple
from unicodedata import normalize

TokenKind = Literal[
    "space", "quoted", "word", "number", "date", "clock", "path", "glob", "ext", "dot", "url", "address", "punct", "odd"
]

_SCAN = re.compile(
    r"\s+"
    r'|"[^"]*"'
    r"|“[^“”]*”"
    r"|«[^«»]*»"
    r"|`[^`]*`"
    r"|(?<!\S)'(?:[^'\n]|(?<=\w)'(?=\w))*'(?!\w)"
    r'|[^\s"“”«»`]+'
    r"|."
)
_MAY_QUOTE = re.compile(r"[\"“”«»`]|(?<!\S)'")
_NUMBER = re.compile(r"([0-9]+(?:[.,][0-9]+)*)([^\W\d_]*|%)")
_CLOCK = re.compile(r"((?:[01]?[0-9]|2[0-3]):[0-5][0-9])([^\W\d_]*)")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_QUOTES = frozenset("\"“«`'")
_TRAILING = frozenset(".,;:!?)…")
MONEY = frozenset("$€£¥")
_APOSTROPHES = str.maketrans("’ʼ‘", "'''")
_RAISED = re.compile("[²³¹⁰⁴-⁹₀-₉①-⑨]+")
"""Digits that are no digits of the number or the word before them: 10² is not 102."""
# Closed list: what may stand before an apostrophe as a word of its own.
_ELISIONS = frozenset((
    "l", "un", "dell", "nell", "all", "dall", "sull", "coll", "d", "c", "cos", "dov", "com", "qual", "quest", "quell",
    "quant", "quand", "tutt", "bell", "n", "s", "t", "m", "v", "mezz",
))  # fmt: skip
_CONTRACTIONS = ("n't", "'s", "'re", "'ve", "'ll", "'d", "'m")
_LONGEST_CONTRACTION = max(map(len, _CONTRACTIONS))
_ABBREVIATIONS = frozenset(("a.m", "p.m", "e.g", "i.e"))
_ONLY_DOTS = frozenset("./~")
_FORBIDDEN_IN_NAMES = frozenset("<>|;{}$\\\"'`")
LONGEST_REMEMBERED = 256
"""Characters of a chunk; longer ones are classified anew each time."""


class Token(NamedTuple):
    """`text[start:end]`, its kind and its folded key."""

    start: int
    end: int
    kind: TokenKind
    key: str


class Piece(NamedTuple):
    """A token of a chunk, by offset in the chunk."""

    start: int
    end: int
    kind: TokenKind
    key: str


def fold(text: str) -> str:
    """NFKC, case folded, one apostrophe. White space that folding brings in is made visible."""
    if text.isascii():
        return text.lower()
    text = _RAISED.sub(r"^\g<0>", text)
    folded = normalize("NFKC", normalize("NFKC", text).casefold()).translate(_APOSTROPHES)
    return "␣".join(folded.split()) if not folded.isalnum() else folded


def chunks_of(text: str) -> list[str]:
    """Quoted text and runs without white space, in order; only white space lies between them."""
    if _MAY_QUOTE.search(text) is None:
        return text.split()
    return [chunk for chunk in _SCAN.findall(text) if not chunk.isspace()]


def places(text: str, chunks: Sequence[str]) -> Iterator[int]:
    """Where each chunk begins."""
    at = 0
    for chunk in chunks:
        at = text.index(chunk, at)
        yield at
        at += len(chunk)


def pieces_of(chunk: str) -> tuple[Piece, ...]:
    """The tokens of a chunk; they tile it."""
    return _remembered(chunk) if len(chunk) <= LONGEST_REMEMBERED else _split(chunk)


def tokenise(text: str) -> list[Token]:
    """All tokens of `text`; `"".join(text[t.start:t.end])` is `text`."""
    tokens: list[Token] = []
    chunks = chunks_of(text)
    end = 0
    for start, chunk in zip(places(text, chunks), chunks, strict=True):
        if start > end:
            tokens.append(Token(end, start, "space", " "))
        tokens.extend([Token(start + p[0], start + p[1], p[2], p[3]) for p in pieces_of(chunk)])
        end = start + len(chunk)
    if end < len(text):
        tokens.append(Token(end, len(text), "space", " "))
    return tokens


def _is_quoted(chunk: str) -> bool:
    if len(chunk) < 2 or chunk[-1] not in "\"”»`'":
        return False
    return "\"“«`'".index(chunk[0]) == "\"”»`'".index(chunk[-1])


def _split(chunk: str) -> tuple[Piece, ...]:
    """A chunk in pieces that tile it."""
    if chunk.isalpha():
        return (Piece(0, len(chunk), "word", fold(chunk)),)
    if chunk[0] in _QUOTES and _is_quoted(chunk):
        return (Piece(0, len(chunk), "quoted", chunk[1:-1]),)
    start, end = 0, len(chunk)
    pieces: list[Piece] = []
    if _ONLY_DOTS.issuperset(chunk) and chunk != "...":
        return (Piece(0, end, "dot" if chunk == "." else "path", chunk),)
    while start < end and chunk[start] == "(":
        pieces.append(Piece(start, start + 1, "punct", "("))
        start += 1
    while end > start and chunk[end - 1] in _TRAILING and not _belongs(chunk, start, end):
        end -= 1
    if end > start:
        pieces.extend(_core(chunk[start:end], start))
    pieces.extend(Piece(i, i + 1, "punct", chunk[i]) for i in range(end, len(chunk)))
    return tuple(pieces)


_remembered = lru_cache(maxsize=8192)(_split)


def _belongs(chunk: str, start: int, end: int) -> bool:
    """The last character of `chunk[start:end]` is part of the core: `src/..`, `report(1)`."""
    last = chunk[end - 1]
    if last == ")":
        return "(" in chunk[start:end]
    return last == "." and chunk[max(start, end - 3) : end] == "/.."


def _core(core: str, start: int) -> list[Piece]:
    """The pieces of a chunk between its brackets and its last marks; one loop, for a chunk may be of elisions alone."""
    plain = core.translate(_APOSTROPHES)
    odd = next((at for at in reversed(range(len(core))) if not core[at].isalpha()), -1)
    elided: list[Piece] = []
    at = 0
    while at <= odd and (mark := plain.find("'", at)) >= 0:  # one of the apostrophes is a letter, too
        if mark + 1 == len(plain) or fold(plain[at:mark]) not in _ELISIONS or _is_contracted(plain, at):
            break
        elided.append(Piece(start + at, start + mark + 1, "word", fold(plain[at:mark]) + "'"))
        at = mark + 1
    rest, start = core[at:], start + at
    if at > odd:
        return [*elided, Piece(start, start + len(rest), "word", fold(rest))]
    last = _measured(rest, start) or [Piece(start, start + len(rest), _classify(rest), fold(rest))]
    return [*elided, *last]


def _is_contracted(plain: str, at: int) -> bool:
    return plain[max(at, len(plain) - _LONGEST_CONTRACTION) :].lower().endswith(_CONTRACTIONS)


def _measured(core: str, start: int) -> list[Piece]:
    """A number or a time of day, with what is written onto it; nothing for another core."""
    wide = core if core.isascii() else normalize("NFKC", core)
    if len(wide) != len(core) or not (core.isascii() or _RAISED.search(core) is None):
        wide = core
    money = [Piece(start, start + 1, "word", wide[0])] if wide[0] in MONEY and len(wide) > 1 else []
    first = len(money)
    if wide[first] not in "0123456789":
        return []
    number = _NUMBER.fullmatch(wide, first)
    found = number or (None if money else _CLOCK.fullmatch(wide))
    if found is None:
        return []
    middle = start + found.end(1)
    unit = [Piece(middle, start + len(core), "word", fold(found[2]))] if found[2] else []
    return [*money, Piece(start + first, middle, "number" if found is number else "clock", found[1]), *unit]


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
    if dot and core.lower() in _ABBREVIATIONS:
        return "word"
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
