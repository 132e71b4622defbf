"""The normaliser again, slow and obvious: every rule at every token, nothing remembered, nothing put off.

What is shared with the shipped one is what a slot is worth (`numbers`, `times`, `slots`) and the words (`Lexicon`);
what is written anew is everything that makes that one fast: cutting the text, choosing the language, deciding where a
rule is worth a look, both forms, the places in the text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from metnos.request.holding import as_itself, as_written, holds
from metnos.request.lexicon import lexicons
from metnos.request.loose import is_loose, is_said
from metnos.request.sight import Found, Rule, Seen, Sight
from metnos.request.slots import rule_of, slot_at
from metnos.request.tokens import Piece, pieces_of
from metnos.request.words import Lexicon, Phrase, Word

NOTHING = Word(canonical="", reason="", roles=frozenset())
QUOTES = {'"': '"', "“": "”", "«": "»", "`": "`"}


class Said(NamedTuple):
    """What the reference makes of a text."""

    language: str
    strict: str
    loose: str
    slots: list[tuple[str, int, int, Any]]
    negated: bool


def cut(text: str) -> list[tuple[int, str]]:
    """(place, chunk): quoted text, runs without white space, in order."""
    found: list[tuple[int, str]] = []
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        end = quoted_end(text, at)
        if end < 0:
            end = at + 1
            if text[at] not in '"“”«»`':
                while end < len(text) and not text[end].isspace() and text[end] not in '"“”«»`':
                    end += 1
        found.append((at, text[at:end]))
        at = end
    return found


def quoted_end(text: str, at: int) -> int:
    """Where quoted text that begins at `at` ends, -1 if none begins there."""
    if text[at] in QUOTES:
        closing = text.find(QUOTES[text[at]], at + 1)
        if closing > 0 and text[at] not in text[at + 1 : closing]:
            return closing + 1
    if text[at] == "'" and (at == 0 or text[at - 1].isspace()):
        closing = text.find("'", at + 1)
        ends = closing + 1 == len(text) or not (text[closing + 1].isalnum() or text[closing + 1] == "_")
        if closing > 0 and "\n" not in text[at:closing] and ends:
            return closing + 1
    return -1


def see(chunk: str, piece: Piece, lexicon: Lexicon) -> Seen:
    """A token at which every rule is tried."""
    raw = chunk[piece.start : piece.end]
    is_word = piece.kind == "word"
    word = lexicon.words.get(piece.key) if is_word else None
    rule: Rule | None = rule_of(piece.kind, next(iter(lexicon.triggers)) if is_word else piece.key, lexicon)
    form = piece.key.replace("{", "{{").replace("}", "}}") if word is None else word.canonical
    return Seen(
        start=piece.start, end=piece.end, kind=piece.kind, key=piece.key, raw=raw, said=piece.key if is_word else "",
        word=word, form=form, reason="", plain=False, rule=rule, bare=True, announces=True, may_go=True,
        quotes=is_word and piece.key in lexicon.quoting, turns=True,
        negates=word is not None and "negation" in word.roles,
    )  # fmt: skip


def understood(text: str, language: str | None = None) -> Said:
    """The text explained, one token after the other."""
    pieces = [(start, chunk, piece) for start, chunk in cut(text) for piece in pieces_of(chunk)]
    keys = [piece.key for _, _, piece in pieces if piece.kind == "word"]
    lexicon = max(
        (found for found in lexicons() if language in (None, found.language)),
        key=lambda found: (sum(key in found.known for key in keys), -found.order),
    )
    tokens = [see(chunk, piece, lexicon) for _, chunk, piece in pieces]
    first, last = trimmed(tokens, lexicon)
    tokens = about_words(tokens, first, last, lexicon)
    sight = Sight(tokens[:last], lexicon)
    opening, read_as = behind_opening(sight, first)
    tokens = held(sight, first, opening, tokens)
    strict: list[str] = []
    loose: list[str] = [read_as] if read_as else []
    slots: list[tuple[str, int, int, Any]] = []
    negated = False
    at = first
    while at < last:
        found = slot(sight, at)
        form = tokens[at].form if found is None else reads(found)
        strict.append(form)
        if at >= opening and (found is not None or not may_go(sight, at)):
            loose.append(form)
        if found is None:
            negated = negated or tokens[at].negates
            at += 1
            continue
        begin, end = pieces[at], pieces[at + found.length - 1]
        slots.append((found.kind, begin[0] + begin[2].start, end[0] + end[2].end, found.value))
        at += found.length
    return Said(lexicon.language, " ".join(strict), " ".join(loose), slots, negated)


def slot(sight: Sight, at: int) -> Found | None:
    """The slot that begins at `at`; no word is a name where the request speaks about words."""
    return slot_at(sight, at) if sight.tokens[at].rule is not None or sight.tokens[at].bare else None


def about_words(tokens: list[Seen], first: int, last: int, lexicon: Lexicon) -> list[Seen]:
    """Every word as it is written, if the request speaks about words."""
    sight = Sight(tokens[:last], lexicon)
    behind, _ = behind_opening(sight, first)
    at, speaks = behind, False
    while at < last:
        found = slot(sight, at)
        roles = [(token.word or NOTHING).roles for token in tokens[:at]]
        asked = any("modal" in known for known in roles) and "article" not in roles[-1]
        only_asked = tokens[at].said in lexicon.mentioning_asked
        speaks = speaks or (tokens[at].said in lexicon.mentioning and (asked or not only_asked))
        at += found.length if found else 1
    return [as_written(token) for token in tokens] if speaks else tokens


def held(sight: Sight, first: int, opening: int, tokens: list[Seen]) -> list[Seen]:
    """Synonyms that hold here keep their form, the others stand for themselves."""
    places: list[int] = []
    known, at = True, opening
    while at < sight.count:
        found = slot(sight, at)
        if found is None:
            mark = sight.tokens[at].kind == "punct" and sight.mark(at) in ",;:()"
            known = known and (mark or sight.word(at) is not None)
            places.append(at)
        at += found.length if found else 1
    changed = list(tokens)
    for at in places:
        word = sight.word(at)
        synonym = word is not None and word.holds != "always"
        if synonym and not (known and holds(sight, first, at)):
            changed[at] = as_itself(changed[at])
    return changed


def reads(found: Found) -> str:
    """A slot in the form."""
    mark = "{" + found.kind + "}"
    return found.form.replace("{}", mark) if found.form else mark


def may_go(sight: Sight, at: int) -> bool:
    """Whether the loose grade leaves this token out."""
    return sight.tokens[at].kind in ("word", "punct") and is_loose(sight, at)


def trimmed(tokens: list[Seen], lexicon: Lexicon) -> tuple[int, int]:
    """What is left without polite openings, one polite closing and the marks at the end."""
    said = [token.said for token in tokens]
    first, last = 0, len(tokens)
    openings = [phrase.words for found in lexicon.openings.values() for phrase in found]
    closings = [phrase.words for found in lexicon.closings.values() for phrase in found]
    while polite := max(
        (words for words in openings if tuple(said[first : first + len(words)]) == words), key=len, default=()
    ):
        first += len(polite)
        if first < len(tokens) and tokens[first].key == ",":
            first += 1
    last = without_marks(tokens, first, last)
    fitting = [
        words for words in closings if last - len(words) >= first and tuple(said[last - len(words) : last]) == words
    ]
    behind = last - len(max(fitting, key=len, default=()))
    parted = behind > first and tokens[behind - 1].key == ","
    if fitting and (parted or not is_said(tokens, first, behind, lexicon)):
        last = behind
        if last > first and tokens[last - 1].key == ",":
            last -= 1
        last = without_marks(tokens, first, last)
    return first, last


def without_marks(tokens: list[Seen], first: int, last: int) -> int:
    """Without the marks that end a sentence."""
    marks = 0
    while last - marks > first and tokens[last - marks - 1].kind == "punct" and tokens[last - marks - 1].key in ".?!…":
        marks += 1
    behind = last - marks
    short = behind > first and tokens[behind - 1].kind == "number" and len(tokens[behind - 1].key) < 4
    factorial = marks and tokens[behind].key == "!" and short
    return last if factorial else behind


def behind_opening(sight: Sight, first: int) -> tuple[int, str]:
    """The first token behind what opens the request in the loose form, and what is read in its place."""
    loose = sight.lexicon.loose
    said = [sight.key(at) for at in range(sight.count)]

    def longest(table: Mapping[str, tuple[Phrase, ...]], at: int) -> Phrase | None:
        fitting = [p for found in table.values() for p in found if tuple(said[at : at + len(p.words)]) == p.words]
        return max(fitting, key=lambda phrase: len(phrase.words), default=None)

    at, read_as = first, ""
    greeting = longest(loose.greetings, at)
    if greeting is not None:
        behind = at + len(greeting.words)
        word = sight.word(behind)
        if behind < sight.count and sight.mark(behind) == ",":
            at = behind + 1 if behind + 1 < sight.count else at
        elif sight.key(behind) not in loose.conditions and (
            {"verb", "question", "modal"} & set(word.roles if word else ())
            or longest(loose.telling, behind)
            or longest(loose.asking, behind)
            or sight.key(behind) in loose.polite
        ):
            at = behind
    asks = [p for found in loose.telling.values() for p in found]
    told: list[int] = []
    for words in [p.words for p in asks if tuple(said[at : at + len(p.words)]) == p.words]:
        behind = at + len(words)
        behind += sight.key(behind) in loose.polite
        if sight.key(behind) in loose.asked:
            told.append(behind)
    way = longest(loose.asking, at)
    if told:
        at = max(told)
    elif way is not None and at + len(way.words) < sight.count:
        at, read_as = at + len(way.words), way.value
    if any(slot_at(sight, place) is not None for place in range(first, at)):
        return first, ""
    return at, read_as
