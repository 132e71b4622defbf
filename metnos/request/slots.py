"""Slots by rule: which run of tokens is a value, of which kind, and what it is worth.

Law: a rule looks at a token and its two neighbours, never at a template. A slot's value comes from the text as
written (a path keeps its case); a rule that is not sure makes no slot, and the words are then explained as words
or not at all. Rules run only where a trigger stands.

| kind | rule |
|---|---|
| `path` | a token of kind `path`; `.` after a preposition; a well-known name (`README`); a name or quoted text after "file", "folder"; a name or quoted text after a preposition of place, or before "folder"; never a word that is declared to name no folder |
| `glob` | a token of kind `glob`; a type word or extension beside "file(s)" or after "extension"; a plural type ("PDFs"), or a type after a superlative ("newest pdf"): these two read as if their noun stood there |
| `integer`, `number` | digits or a number word; a lone group of three digits that two languages read differently is no number |
| `size` | a number and a unit, whole bytes only |
| `date`, `period` | an ISO date; a declared phrase ("last week") with its RUNTIME key; "in the last 7 days" with two keys, `day-7..day` |
| `quoted` | as tokenised; one bare word after "containing" |
| `url`, `address` | as tokenised |
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from typing import Any, NamedTuple

from metnos.request.lexicon import Lexicon, Phrase, Word
from metnos.request.model import SlotKind
from metnos.request.tokens import Token

LARGEST = 2**53 - 1
_MOST_DAYS = 3660  # what `RUNTIME:day-N` reaches
_NAMING = frozenset(("object", "content", "verb"))
_NOUNS = frozenset(("object", "verb", "article"))
_AFTER = frozenset(("preposition", "place"))


class Found(NamedTuple):
    """`length` tokens from here on are one slot."""

    kind: SlotKind
    value: Any
    length: int = 1
    form: str = ""
    """How the slot reads in the normal form where it is more than `{kind}`."""


class Sight(NamedTuple):
    """What a rule may look at: the tokens without white space, and the language."""

    text: str
    tokens: Sequence[Token]
    lexicon: Lexicon

    def word(self, index: int) -> Word | None:
        """The lexicon's word at `index`, None beside the text or if it is unknown."""
        if not 0 <= index < len(self.tokens) or self.tokens[index].kind != "word":
            return None
        return self.lexicon.words.get(self.tokens[index].key)

    def key(self, index: int) -> str:
        """The folded word at `index`, "" beside the text and for tokens that are no words."""
        if not 0 <= index < len(self.tokens) or self.tokens[index].kind != "word":
            return ""
        return self.tokens[index].key

    def raw(self, index: int) -> str:
        """The token as written."""
        token = self.tokens[index]
        return self.text[token.start : token.end]


def parse_number(text: str, thousands: str) -> tuple[str, str] | None:
    """(whole digits, fraction digits) of `1,234.5` in a language that groups by `thousands`; None if ambiguous."""
    marks = [c for c in text if c in ".,"]
    if len(text) > 24:
        return None
    if not marks:
        return text, ""
    decimal = "." if thousands == "," else ","
    last = marks[-1]
    *groups, tail = text.replace(",", ".").split(".")
    if len(set(marks)) == 1 and len(marks) == 1 and (len(tail) != 3 or groups == ["0"]):
        return groups[0], tail
    if len(set(marks)) == 1:
        # A lone group of three counts only if the sign is this language's own.
        ours = len(marks) > 1 or last == thousands
        return ("".join((*groups, tail)), "") if ours and _grouped((*groups, tail)) else None
    if last != decimal or marks.count(last) != 1 or not _grouped(tuple(groups)):
        return None
    return "".join(groups), tail


def _grouped(groups: tuple[str, ...]) -> bool:
    return 1 <= len(groups[0]) <= 3 and groups[0][0] != "0" and all(len(group) == 3 for group in groups[1:])


def _count(sight: Sight, at: int, whole: str, fraction: str) -> Found | None:
    """A number, with the unit after it if there is one."""
    unit = sight.lexicon.units.get(sight.key(at + 1))
    if unit is not None:
        scaled, rest = divmod(int(whole + fraction) * unit, 10 ** len(fraction))
        return Found("size", scaled, 2) if not rest and scaled <= LARGEST else None
    if fraction:
        return Found("number", float(f"{whole}.{fraction}"))
    value = int(whole)
    return Found("integer", value) if value <= LARGEST else None


def _number(sight: Sight, at: int) -> Found | None:
    parts = parse_number(sight.tokens[at].key, sight.lexicon.thousands)
    return None if parts is None else _count(sight, at, *parts)


def _date(sight: Sight, at: int) -> Found | None:
    try:
        return Found("date", date.fromisoformat(sight.raw(at)).isoformat())
    except ValueError:
        return None


def _dot(sight: Sight, at: int) -> Found | None:
    before = sight.word(at - 1)
    return Found("path", ".") if before is not None and before.roles & _AFTER else None


def _beside_files(sight: Sight, at: int) -> bool:
    lexicon = sight.lexicon
    before = sight.key(at - 1)
    return before in lexicon.file_nouns or before in lexicon.extension_marks or sight.key(at + 1) in lexicon.file_nouns


def _extension(sight: Sight, at: int) -> Found | None:
    raw = sight.raw(at)
    if raw[1:].lower() in sight.lexicon.types or _beside_files(sight, at):
        return Found("glob", f"*{raw.lower()}")
    return Found("path", raw)


def _quoted(sight: Sight, at: int) -> Found | None:
    inner = sight.raw(at)[1:-1]
    before, lexicon = sight.word(at - 1), sight.lexicon
    placed = before is not None and ("place" in before.roles or sight.key(at - 1) in lexicon.inside)
    placed = placed or sight.key(at + 1) in lexicon.name_before
    if (placed or sight.key(at - 1) in lexicon.name_marks) and inner and inner.isprintable():
        return Found("path", inner)
    return Found("quoted", inner)


def _as_written(kind: SlotKind) -> Callable[[Sight, int], Found | None]:
    def rule(sight: Sight, at: int) -> Found | None:
        return Found(kind, sight.raw(at))

    return rule


def _trigger(sight: Sight, at: int) -> Found | None:
    """A period, a number word or a type word."""
    lexicon, key = sight.lexicon, sight.tokens[at].key
    found = _period(sight, at)
    if found is None and key in lexicon.numbers:
        return _count(sight, at, str(lexicon.numbers[key]), "")
    return found or _type(sight, at)


def _period(sight: Sight, at: int) -> Found | None:
    lexicon = sight.lexicon
    for phrase in lexicon.periods.get(sight.tokens[at].key, ()):
        if _says(sight, at, phrase):
            return Found("period", phrase.value, len(phrase.words))
    for phrase in lexicon.spans:
        behind = at + len(phrase.words)
        unit = lexicon.days.get(sight.key(behind + 1), 0)
        number = _bare_number(sight, behind) if unit and _says(sight, at, phrase) else 0
        if 0 < number * unit <= _MOST_DAYS:
            return Found("period", f"day-{number * unit}..day", len(phrase.words) + 2)
    return None


def _says(sight: Sight, at: int, phrase: Phrase) -> bool:
    return all(sight.key(at + i) == word for i, word in enumerate(phrase.words))


def _bare_number(sight: Sight, at: int) -> int:
    """A small whole number in digits or as a word, 0 if there is none."""
    token = sight.tokens[at]
    if token.kind == "number":
        return int(token.key) if token.key.isdecimal() and len(token.key) <= 4 else 0
    return sight.lexicon.numbers.get(sight.key(at), 0)


def _type(sight: Sight, at: int) -> Found | None:
    lexicon, key = sight.lexicon, sight.tokens[at].key
    glob = lexicon.types.get(key)
    if glob is not None:
        if _beside_files(sight, at):
            return Found("glob", glob)
        if sight.key(at - 1) in lexicon.plural_marks:
            return Found("glob", glob, form=lexicon.plural_form)
        if sight.key(at - 1) in lexicon.type_after or sight.key(at + 1) in lexicon.type_before:
            return Found("glob", glob, form=lexicon.singular_form)
    elif key in lexicon.plural_types:
        if _names_a_place(sight, at):
            return Found("path", sight.raw(at))  # "in docs" is a folder, "the docs in x" are files
        if not _beside_files(sight, at):
            return Found("glob", lexicon.plural_types[key], form=lexicon.plural_form)
        return Found("glob", lexicon.plural_types[key])
    return None


def _names_a_place(sight: Sight, at: int) -> bool:
    """A preposition of place stands before it, and no noun goes on behind it."""
    before = sight.word(at - 1)
    return before is not None and "place" in before.roles and _closes(sight, at + 1)


def _name(sight: Sight, at: int, word: Word | None) -> Found | None:
    """A file or folder by its bare name: an unknown word, or a noun written like a name ("Documents")."""
    raw = sight.raw(at)
    if sight.key(at) in sight.lexicon.never_names:
        return None
    bare = word is None or raw in sight.lexicon.names or (len(raw) > 1 and raw.isupper())
    if bare and sight.key(at - 1) in sight.lexicon.text_marks and _closes(sight, at + 1):
        return Found("quoted", raw)
    if raw in sight.lexicon.names:
        return Found("path", raw)
    if word is not None and not (word.roles <= _NAMING and raw[0].isupper() and raw[1:].islower()):
        return None
    if raw.endswith(("'", "’")):
        return None
    lexicon = sight.lexicon
    if sight.key(at - 1) in lexicon.name_marks or sight.key(at + 1) in lexicon.name_before:
        return Found("path", raw)
    measure = sight.key(at) in lexicon.units or sight.key(at) in lexicon.types
    return Found("path", raw) if _names_a_place(sight, at) and not measure else None


def _closes(sight: Sight, at: int) -> bool:
    """No noun goes on at `at`: the sentence ends, or a mark or another known word follows."""
    if at >= len(sight.tokens) or sight.tokens[at].kind in {"punct", "dot"}:
        return True
    word = sight.word(at)
    return word is not None and not word.roles & _NOUNS


_RULES: dict[str, Callable[[Sight, int], Found | None]] = {
    "number": _number,
    "date": _date,
    "dot": _dot,
    "ext": _extension,
    "quoted": _quoted,
    "path": _as_written("path"),
    "glob": _as_written("glob"),
    "url": _as_written("url"),
    "address": _as_written("address"),
}


def slot_at(sight: Sight, at: int, word: Word | None) -> Found | None:
    """The slot that begins at token `at`, or None. `word` is what the lexicon says of that token."""
    token = sight.tokens[at]
    if token.kind != "word":
        rule = _RULES.get(token.kind)
        return None if rule is None else rule(sight, at)
    found = _trigger(sight, at) if token.key in sight.lexicon.triggers else None
    if found is None and (word is None or not sight.raw(at)[0].islower()):
        return _name(sight, at, word)
    return found
