"""Slots by rule: which run of tokens is a value, of which kind, and what it is worth.

Law: a rule looks at a token and its neighbours, never at a template. A slot's value comes from the text as
written (a path keeps its case); a rule that is not sure makes no slot, and the words are then explained as words
or not at all. Rules run only where a trigger stands.

| kind | rule |
|---|---|
| `path` | a token of kind `path`; `.` after a preposition; a well-known name (`README`); a name or quoted text after "file", "folder"; digits beside one "folder"; a name or quoted text after a preposition of place, or before "folder"; never a word that is declared to name no folder |
| `glob` | a token of kind `glob`; a type word or extension beside "file(s)" or after "extension"; a plural type ("PDFs"), or a type after a superlative ("newest pdf"): these two read as if their noun stood there |
| `integer`, `number` | digits or number words (`numbers.py`) |
| `size` | a number and a unit, whole bytes only; signs as written ("MB", not "Mb"); "over a megabyte" |
| `duration` | numbers and units of time, "an hour"; worth what it lasts (`numbers.py`) |
| `time` | a time of day: "5 pm", "17:30", "noon", "alle 17" at the end or before a day |
| `date` | a day of the calendar, or one that counts from today (`times.py`) |
| `period` | a declared phrase ("last week") with its RUNTIME key; "in the last 7 days" with two keys, `day-7..day` |
| `quoted` | as tokenised; one bare word after "containing" |
| `name` | after "called", "named": one unknown word, digits, or several words with capitals |
| `url`, `address` | as tokenised |
| none | digits and words right behind a word of `quoting`, but for names: "containing five" is not "containing 5" |
| `paths`, `globs`, `addresses`, `urls`, `texts` | two or more of one kind, the last behind "and", commas between the others |
"""

from __future__ import annotations

from metnos.request.model import LIST_OF, SlotKind
from metnos.request.numbers import clock, count, duration, hour, one_unit
from metnos.request.sight import Found, Rule, Sight
from metnos.request.times import date_at, iso_date, said_at, slashed_date
from metnos.request.tokens import TokenKind
from metnos.request.words import Lexicon, Word

_NAMING = frozenset(("object", "content", "verb"))
_NOUNS = frozenset(("object", "verb", "article"))
_AFTER = frozenset(("preposition", "place"))
_BEFORE_A_NOUN = frozenset(("article", "quantifier", "verb", "content", "preposition", "place"))
_WORDED: frozenset[TokenKind] = frozenset(("word", "number", "clock", "date", "odd"))
_ONLY_VERB = frozenset(("verb",))
_GOES_OVER = frozenset(("preposition", "place", "separator"))
_LONGEST_NAME = 6


def _dot(sight: Sight, at: int) -> Found | None:
    before = sight.word(at - 1)
    return Found("path", ".") if before is not None and before.roles & _AFTER else None


def _beside_files(sight: Sight, at: int) -> bool:
    lexicon = sight.lexicon
    before = sight.key(at - 1)
    if before in lexicon.file_nouns or before in lexicon.extension_marks:
        return True
    if sight.key(at + 1) not in lexicon.file_nouns:
        return False
    return sight.key(at) not in lexicon.verb_types or _noun_follows(sight, at - 1)


def _noun_follows(sight: Sight, at: int) -> bool:
    """The word at `at` has a noun behind it, and no verb: "the zip files", "list zip files", not "and zip files"."""
    word = sight.word(at)
    return word is not None and not word.roles.isdisjoint(_BEFORE_A_NOUN) and sight.key(at) not in sight.lexicon.towards


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


def _as_written(kind: SlotKind) -> Rule:
    def rule(sight: Sight, at: int) -> Found | None:
        return Found(kind, sight.raw(at))

    return rule


def _number(sight: Sight, at: int) -> Found | None:
    return _numbered(sight, at) or date_at(sight, at) or _hour(sight, at) or count(sight, at)


def _numbered(sight: Sight, at: int) -> Found | None:
    """A folder whose name is a number: "the 2027 folder", "nella cartella 2027"; "5 folders", "a 5 folder limit" are none."""
    raw, lexicon = sight.raw(at), sight.lexicon
    if not raw.isdigit():
        return None
    if sight.key(at - 1) in lexicon.name_marks and sight.key(at - 1) not in lexicon.file_nouns:
        return Found("path", raw) if _goes_over(sight, at + 1) else None
    before = sight.word(at - 1)
    named = before is not None and "article" in before.roles and sight.key(at + 1) in lexicon.name_before
    return Found("path", raw) if named and _goes_over(sight, at + 2) else None


def _goes_over(sight: Sight, at: int) -> bool:
    """What is at `at` can belong to no noun before it: a mark, a preposition, a word that joins, a verb and nothing else."""
    if at >= sight.count or sight.tokens[at].kind == "punct":
        return True
    word = sight.word(at)
    return word is not None and (not word.roles.isdisjoint(_GOES_OVER) or word.roles <= _ONLY_VERB)


def _hour(sight: Sight, at: int) -> Found | None:
    """The hour that closes a sentence or has a day behind it; "alle 17 persone" has none."""
    found, behind = hour(sight, at), at + 1
    if found is None or behind >= sight.count or sight.tokens[behind].kind == "punct":
        return found
    return found if said_at(sight, behind) is not None or said_at(sight, behind + 1) is not None else None


def _trigger(sight: Sight, at: int) -> Found | None:
    """A phrase, a date, a number word, a unit of time with its article, or a type word."""
    lexicon, key = sight.lexicon, sight.key(at)
    found = said_at(sight, at) or (date_at(sight, at) if key not in lexicon.types else None)
    if found is None and key in lexicon.times.duration_articles:
        found = duration(sight, at) or one_unit(sight, at)
    if found is None and (key in lexicon.numbers or key in lexicon.one):
        found = count(sight, at)
    return found or _type(sight, at)


def _type(sight: Sight, at: int) -> Found | None:
    lexicon, key = sight.lexicon, sight.key(at)
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
    return before is not None and "place" in before.roles and closes(sight, at + 1)


def _name(sight: Sight, at: int, word: Word | None) -> Found | None:
    """A file or folder by its bare name: an unknown word, or a noun written like a name ("Documents")."""
    raw = sight.raw(at)
    if sight.key(at) in sight.lexicon.never_names:
        return None
    if sight.key(at - 1) in sight.lexicon.named:
        return _called(sight, at)
    bare = word is None or raw in sight.lexicon.names or (len(raw) > 1 and raw.isupper())
    if bare and sight.key(at - 1) in sight.lexicon.text_marks and closes(sight, at + 1):
        return Found("quoted", raw)
    if raw in sight.lexicon.names:
        return Found("path", raw)
    if word is not None and not (word.roles <= _NAMING and raw[0].isupper() and raw[1:].islower()):
        return None
    if raw.endswith(("'", "’")):
        return None
    lexicon = sight.lexicon
    # "i file gialli" are many files and an adjective, "il file gialli" is one and its name.
    marked = sight.key(at - 1) in lexicon.name_marks and sight.key(at - 2) not in lexicon.plural_marks
    if marked or sight.key(at + 1) in lexicon.name_before:
        return Found("path", raw)
    measure = sight.key(at) in lexicon.unit_names or sight.key(at) in lexicon.types
    return Found("path", raw) if _names_a_place(sight, at) and not measure else None


def closes(sight: Sight, at: int) -> bool:
    """No noun goes on at `at`: the sentence ends, or a mark or another known word follows."""
    if at >= sight.count or sight.tokens[at].kind in {"punct", "dot"}:
        return True
    word = sight.word(at)
    return word is not None and not word.roles & _NOUNS


def _called(sight: Sight, at: int) -> Found | None:
    """What is named after "called": one unknown word, or the words written with capitals."""
    behind = at
    while behind < min(sight.count, at + _LONGEST_NAME) and sight.key(behind) and sight.raw(behind)[0].isupper():
        behind += 1
    if behind == at and sight.word(at) is None:
        behind += 1
    if behind == at or not closes(sight, behind):
        return None
    return Found("name", " ".join(sight.raw(index) for index in range(at, behind)), behind - at)


_RULES: dict[TokenKind, Rule] = {
    "number": _number,
    "clock": clock,
    "date": iso_date,
    "odd": slashed_date,
    "dot": _dot,
    "ext": _extension,
    "quoted": _quoted,
    "path": _as_written("path"),
    "glob": _as_written("glob"),
    "url": _as_written("url"),
    "address": _as_written("address"),
}


def rule_of(kind: TokenKind, key: str, lexicon: Lexicon) -> Rule | None:
    """The rule that may find a slot at such a token; None: none but that of bare names."""
    return _trigger if kind == "word" and key in lexicon.triggers else _RULES.get(kind)


def is_naming(key: str, word: Word | None, lexicon: Lexicon) -> bool:
    """Whether a bare name may follow this word."""
    marks = key in lexicon.name_marks or key in lexicon.text_marks or key in lexicon.named
    return marks or (word is not None and "place" in word.roles)


def slot_at(sight: Sight, at: int) -> Found | None:
    """The slot that begins at token `at`, a list if it goes on, or None."""
    found = _single(sight, at)
    if found is None or found.kind not in LIST_OF or at + found.length >= sight.count:
        return found
    return _list(sight, at, found) or found


def _single(sight: Sight, at: int) -> Found | None:
    token = sight.tokens[at]
    found = None if token.rule is None else token.rule(sight, at)
    if found is not None and at and sight.tokens[at - 1].quotes and token.kind in _WORDED:
        found = None if is_quoted(sight, at, found.length) else found
    if found is None and at and sight.key(at - 1) in sight.lexicon.named and token.raw.isdigit():
        return Found("name", token.raw) if closes(sight, at + 1) else None
    if found is None and token.said and (token.word is None or not token.raw[0].islower()):
        return _name(sight, at, token.word)
    return found


def is_quoted(sight: Sight, at: int, length: int) -> bool:
    """Whether what is at `at` is meant as it is written; behind "write" only where it is all that is written."""
    if at == 0 or not sight.tokens[at - 1].quotes:
        return False
    behind, lexicon = at + length, sight.lexicon
    if sight.key(at - 1) not in lexicon.writing or behind >= sight.count:
        return True
    return sight.key(behind) in lexicon.towards or sight.key(behind) in lexicon.inside


def _list(sight: Sight, at: int, first: Found) -> Found | None:
    """More of the same kind: commas between them, a joining word before the last."""
    items, behind, joined = [(0, first)], at + first.length, False
    while not joined:
        here = behind + (sight.mark(behind) == ",")
        joined = sight.key(here) in sight.lexicon.joins
        here += joined
        found = _single(sight, here) if behind < here < sight.count else None
        if found is None or found.kind != first.kind or found.form != first.form:
            return None
        items.append((here - at, found))
        behind = here + found.length
    values = [found.value for _, found in items]
    return Found(LIST_OF[first.kind], values, behind - at, first.form, tuple(items))
