"""Whether a text that a model wrote says anything that the record does not hold.

Law: pure, and doubt is a no: what is refused costs a nicer sentence, what is let through is believed. Checked are numbers
(digits and words), claims of an effect with their count and target, negations, names of places, and the form. A text
without any of these can still be wrong in its other words; that is why the facts always stand below it.

| it says | it holds if |
|---|---|
| a number | the record or the request has it; in a text about an effect: it is the count of these effects |
| that something was done | an effect of that class is on record |
| "not", "none", "empty" | the facts have the same word, and the text is about no effect |
| a path, an address, something in quotes | the record or the request has it; in a text about an effect: it is a target |
| "about", "most", "twice" | never |

    >>> held = Held(facts="Deleted a.txt", effects={"delete": ("a.txt",)})
    >>> unheld("I removed a.txt.", held), unheld("I removed 3 files.", held), unheld("I sent a.txt.", held)
    ('', 'count: 3', 'effect: sent')
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import msgspec

from metnos.sdk import EffectClass

LONGEST: Final = 1_200
"""Characters."""
ARTICLES: Final = frozenset({"un", "uno"})
"""They may mean one, and nothing."""
_ROMAN: Final = re.compile(r"\b[IVXLCDM]{2,}\b")
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_DIGITS: Final = re.compile(r"(?<![^\W_])[-−]?\d(?:[\d.,'’ ]*\d)?|\d+")
_QUOTED: Final = re.compile(r"“([^”]*)”|\"([^\"]*)\"|«([^»]*)»|`([^`]*)`|‘([^’]*)’|(?<!\w)'([^']*)'(?!\w)")
_EDGES: Final = ".,;:!?()[]{}\"'“”«»‘’`*_…"
_DRAWING: Final = re.compile(r"[<>|]|\]\(|```|^\s*#|https?:", re.MULTILINE)
_PLACE: Final = re.compile(r"[/\\@~]|://|[^\W_]\.[^\W\d_][\w]*$|^\.\w")


_STAMP = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?", re.ASCII)
"""A day or an instant: said whole or not at all, its parts (the minute 03) count nothing."""


class Held(msgspec.Struct, frozen=True, kw_only=True):
    """What is on record."""

    facts: str
    """The composed answer."""
    request: str = ""
    numbers: frozenset[Decimal] = frozenset()
    """Counts that no text shows."""
    effects: dict[EffectClass, tuple[str, ...]] = {}
    """Class → its targets, one for each effect."""


class _Words(msgspec.Struct, frozen=True):
    verbs: tuple[tuple[tuple[EffectClass, ...], re.Pattern[str]], ...]
    negations: re.Pattern[str]
    vague: re.Pattern[str]
    quantifiers: re.Pattern[str]
    numbers: dict[str, int]


def unheld(text: str, held: Held) -> str:
    """The first thing that the record does not hold, `kind: word`; empty: it holds all."""
    folded = unicodedata.normalize("NFKC", text)
    wrong = _form(text, folded, held)
    if wrong:
        return wrong
    places, rest = _places(folded)
    rest = _STAMP.sub(lambda stamp: " " if stamp[0] in held.facts else stamp[0], rest)
    words = [word.casefold().replace("’", "'") for word in _WORD.findall(rest)]
    claims = _claims(words)
    for verb, classes in claims:
        if not any(held.effects.get(cls) for cls in classes):
            return f"effect: {verb}"
    return (
        _wrong_place(places, held, [target for cls in _named(claims) for target in held.effects.get(cls, ())])
        or _wrong_words(words, held, about_effect=bool(claims))
        or _wrong_number(rest, words, _allowed(held, claims), "count" if claims else "number")
    )


def _form(text: str, folded: str, held: Held) -> str:
    if not text.strip() or len(text) > LONGEST:
        return "form: length"
    odd = next((char for char in folded if unicodedata.category(char)[0] == "C" and char != "\n"), "")
    drawn = _DRAWING.search(folded)
    if odd or drawn:
        return f"form: {odd or (drawn[0] if drawn else '')!a}"
    said = _folded(held.facts) + "\n" + _folded(held.request)
    for word in _WORD.findall(folded):
        if not all(unicodedata.name(char, "").startswith("LATIN") for char in word if char not in "'’") and (
            word.casefold() not in said
        ):
            return f"form: {word}"
    return ""


def _claims(words: list[str]) -> list[tuple[str, tuple[EffectClass, ...]]]:
    """Each verb of an effect, and the classes of which one must be on record."""
    return [(word, classes) for word in words for classes, pattern in _lexicon().verbs if pattern.fullmatch(word)]


def _named(claims: list[tuple[str, tuple[EffectClass, ...]]]) -> set[EffectClass]:
    return {cls for _, classes in claims for cls in classes}


def _allowed(held: Held, claims: list[tuple[str, tuple[EffectClass, ...]]]) -> set[Decimal]:
    """The numbers that may be said: of a text about effects only their count, and none where its verbs differ in it."""
    if not claims:
        return _numbers(f"{_STAMP.sub(' ', held.facts)}\n{held.request}") | held.numbers
    counts = {sum(len(held.effects.get(cls, ())) for cls in classes) for _, classes in claims}
    return {Decimal(count) for count in counts} if len(counts) == 1 else set()


# --- places and quotes ---------------------------------------------------------------------------------------------------


def _places(text: str) -> tuple[list[str], str]:
    """Paths, addresses and quoted texts, and the text without the paths."""
    quoted = [match[0][1:-1] for match in _QUOTED.finditer(text)]
    tokens = [token.strip(_EDGES) for token in text.split()]
    paths = [token for token in tokens if _PLACE.search(token) and any(char.isalpha() for char in token)]
    rest = text
    for path in paths:
        rest = rest.replace(path, " ")
    return [*quoted, *paths], rest


def _wrong_place(places: list[str], held: Held, targets: list[str]) -> str:
    said = f"{held.facts}\n{held.request}"
    for place in places:
        if not place.strip():
            continue
        whole = re.compile(rf"(?<![\w.]){re.escape(place)}(?![\w])")
        if not whole.search(unicodedata.normalize("NFKC", said)):
            return f"place: {place}"
        if targets and not any(whole.search(unicodedata.normalize("NFKC", target)) for target in targets):
            return f"target: {place}"
    return ""


# --- words ---------------------------------------------------------------------------------------------------------------


def _wrong_words(words: list[str], held: Held, *, about_effect: bool) -> str:
    lexicon = _lexicon()
    facts = {word.replace("’", "'") for word in _WORD.findall(_folded(held.facts))}
    for word in words:
        if lexicon.vague.fullmatch(word):
            return f"vague: {word}"
        if lexicon.negations.fullmatch(word) and (about_effect or word not in facts):
            return f"negation: {word}"
        if about_effect and lexicon.quantifiers.fullmatch(word):
            return f"count: {word}"
    return ""


# --- numbers -------------------------------------------------------------------------------------------------------------


def _wrong_number(rest: str, words: list[str], allowed: set[Decimal], kind: str) -> str:
    for found in _DIGITS.findall(rest):
        if not _readings(found) & allowed:
            return f"{kind}: {found}"
    for number, said in _spelled(words):
        if Decimal(number) not in allowed and said not in ARTICLES:
            return f"{kind}: {said}"
    odd = next((char for char in rest if unicodedata.category(char) in ("Nl", "No")), "") or _ROMAN.search(rest)
    return f"{kind}: {odd if isinstance(odd, str) else odd[0]}" if odd else ""


def _numbers(text: str) -> set[Decimal]:
    """Every reading of every number in a text of the record."""
    folded = unicodedata.normalize("NFKC", text)
    found = {reading for digits in _DIGITS.findall(folded) for reading in _readings(digits)}
    return found | {Decimal(number) for number, _ in _spelled([word.casefold() for word in _WORD.findall(folded)])}


def _readings(digits: str) -> set[Decimal]:
    """What a run of digits may mean: its marks group, or the last one is the decimal mark."""
    sign = "-" if digits[0] in "-−" else ""
    plain = "".join(char if char in ".,'’ " else str(unicodedata.digit(char)) for char in digits.lstrip("-−"))
    parts = re.split(r"[.,'’ ]", plain)
    if not all(parts):
        return set()
    readings: set[Decimal] = set()
    if len(parts) == 1 or all(len(part) == 3 for part in parts[1:]):
        readings.add(Decimal(sign + "".join(parts)))
    if len(parts) > 1 and plain[-len(parts[-1]) - 1] in ".,":
        readings.add(Decimal(f"{sign}{''.join(parts[:-1])}.{parts[-1]}"))
    return readings


def _spelled(words: list[str]) -> list[tuple[int, str]]:
    """Numbers in words, as they stand together."""
    found: list[tuple[int, str]] = []
    run: list[int] = []
    said: list[str] = []
    for word in [*words, ""]:
        parts = _parts(word)
        if parts:
            run += parts
            said.append(word)
        elif run and word != "and":
            found.append((_sum(run), " ".join(said)))
            run, said = [], []
    return found


def _parts(word: str) -> list[int]:
    """The values of the names that make up a word; empty: it is none."""
    numbers = _lexicon().numbers
    if word in numbers:
        return [numbers[word]]
    for end in range(len(word) - 1, 1, -1):
        head = numbers.get(word[:end])
        if head is not None and (tail := _parts(word[end:])):
            return [head, *tail]
    return []


def _sum(values: list[int]) -> int:
    total = current = 0
    for value in values:
        if value == 100:
            current = max(1, current) * 100
        elif value >= 1_000:
            total += max(1, current) * value
            current = 0
        else:
            current += value
    return total + current


# --- the lexicon ---------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _lexicon() -> _Words:
    read: dict[str, Any] = tomllib.loads((Path(__file__).parent / "claims.toml").read_text(encoding="utf-8"))
    words: dict[str, list[str]] = read["words"]
    return _Words(
        verbs=tuple((tuple(verb["classes"]), _pattern(verb["words"])) for verb in read["verb"]),
        negations=_pattern(words["negations"]),
        vague=_pattern(words["vague"]),
        quantifiers=_pattern(words["quantifiers"]),
        numbers=read["numbers"],
    )


def _pattern(words: list[str]) -> re.Pattern[str]:
    return re.compile("|".join(re.escape(w[:-1]) if w.endswith("$") else re.escape(w) + r"[\w']*" for w in words))


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()
