"""Near matches: a request that is not one of the learned forms, and yet may be served by one of their plans.

Law: off unless the operator wants it, for plans that only read, and never by similarity alone. Two unlike retrievers
must name one plan; then the words decide, by the table. Whatever differs and is no word of the language might be a
value that nobody bound: it is confirmed by someone who reads both requests, or not served. What differs in nothing
but its table may be served without asking once the plan's outcomes prove its error to be below the operator's bound.

| may differ | if |
|---|---|
| verbs that ask to be shown something ("list", "give") | proven, or confirmed |
| words that the lexicon lacks, but for the next three rows | confirmed |
| articles, of one number ("i" is no "il") | confirmed |
| a word beside a number: it may be its unit ("5 euro", "5 dollari") | never |
| a word for another form of it: number, tense, an accent ("light", "lights"; "papa", "papà") | never |
| the order of slots and of words that the lexicon lacks ("ring bob instead of ada") | never |
| everything else (negations, quantifiers, prepositions, question words, pronouns, conditions, nouns, adjectives, other verbs, words that only link ("are", "were"), marks) | never |
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any, Literal, NamedTuple, TypeAlias, get_args
from unicodedata import normalize

import msgspec

from metnos.cache.generalise.binding import Binder
from metnos.cache.generalise.uses import General
from metnos.cache.near.retrieval import Embed, Embeddings, Letters, Retriever, Words
from metnos.cache.near.thresholds import Thresholds
from metnos.cache.templates.template import Bound, Refusal
from metnos.request.lexicon import lexicon_for
from metnos.request.model import Request
from metnos.request.words import Word

Confirm = Callable[[str, str], bool]
"""(what was said, what was learned) → whether both want the same, but for the values that are bound anew."""

DiffersReason = Literal[
    "off",  # no bound and nobody to confirm
    "effects",  # the request asks for more than reading, or the plan does
    "no-candidate",  # nothing is near
    "retrievers",  # two retrievers name two plans
    "slots",  # other kinds of slots, or in another order
    "order",  # the same slots and unknown words, in another order
    "unit",  # a word beside a number
    "form",  # another form of one word
    "words",  # a word that may not differ
    "verbs",  # verbs of two families
    "values",  # a value that the plan cannot take
    "unconfirmed",  # words that nobody knows, and nobody to ask
    "refused",  # who was asked said no
    "confirm-failed",  # who was asked raised something instead of an answer
    "unproven",  # the plan's outcomes do not prove its error to be below the bound
]
DIFFERS_REASONS: tuple[DiffersReason, ...] = get_args(DiffersReason)
FAR = 0.35
"""Below this score nobody is asked: it would be a question about two unlike requests."""
LookUp: TypeAlias = Callable[[str], Word | None]
_MOST_TOLD = 200
"""Characters of a fault that are told."""
_ARTICLE = frozenset(("article",))
_NUMBER = {"a": 1, "an": 1, "il": 1, "lo": 1, "la": 1, "l'": 1, "un": 1, "uno": 1, "una": 1, "un'": 1} | dict.fromkeys(
    ("i", "gli", "le"), 2
)
"""Article → 1 of the singular, 2 of the plural; "the" is of both."""
_COUNTS = frozenset(("{integer}", "{number}"))
_STEM, _ENDING = 3, 3
"""Words that begin with so many equal letters and end in at most so many others may be forms of one word."""
_VERB = frozenset(("verb",))
_SHOWING = "find"
"""The family whose verbs mean "let me have": others ("count", "sum") compute this or that."""


class NearEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A learned plan as near matching sees it."""

    entry: str
    """Digest of the entry."""
    plan: str
    """What outcomes are pooled by: a digest of the general plan."""
    text: str
    """What was said when it was learned."""
    form: str
    """Its loose form."""
    general: General


class Candidate(msgspec.Struct, frozen=True):
    """An entry that is near, and how near: the lower of the two scores."""

    entry: NearEntry
    score: float


class Agrees(msgspec.Struct, frozen=True):
    """The words allow it; `differing` are those that someone has to confirm."""

    bound: Bound
    differing: tuple[str, ...] = ()


class Differs(msgspec.Struct, frozen=True):
    reason: DiffersReason
    detail: str = ""


class NearMatch(msgspec.Struct, frozen=True, kw_only=True):
    """A plan to be served, by which entry, how near, and whether someone confirmed it."""

    bound: Bound
    candidate: Candidate
    confirmed: bool


class Near:
    """Near matching over some entries. Immutable but for `thresholds`, which its owner locks."""

    def __init__(
        self,
        entries: Iterable[NearEntry],
        *,
        bound: float = 0.0,
        confirm: Confirm | None = None,
        embed: Embed | None = None,
        thresholds: Thresholds | None = None,
    ) -> None:
        """Index the entries that only read.

        Args:
            entries: All learned plans; those with effects are left out.
            bound: Share of wrong plans that the operator accepts, from 0 (none: only what is confirmed is served).
            confirm: Asked before anything is served that is not proven.
            embed: A model of sentences for the second retriever; None: it looks at words.
            thresholds: Outcomes so far.
        """
        self._entries: dict[str, list[NearEntry]] = {}
        for entry in entries:
            if entry.general.read_only:
                self._entries.setdefault(entry.general.language, []).append(entry)
        self._retrievers: dict[str, tuple[Retriever, Retriever]] = {}
        for language, known in self._entries.items():
            forms = [entry.form for entry in known]
            second = Words(forms) if embed is None else Embeddings(forms, embed)
            self._retrievers[language] = (Letters(forms), second)
        self._bound = bound
        self._confirm = confirm
        self.thresholds = thresholds if thresholds is not None else Thresholds()

    def candidates(self, request: Request, count: int = 5) -> tuple[Candidate, ...]:
        """Entries that both retrievers find among their best, nearest first."""
        if request.language not in self._retrievers:
            return ()
        known = self._entries[request.language]
        first, second = (dict(r.nearest(request.loose_form, count)) for r in self._retrievers[request.language])
        found = [Candidate(known[number], min(first[number], second[number])) for number in first if number in second]
        return tuple(sorted(found, key=lambda candidate: -candidate.score))

    def serve(self, request: Request) -> NearMatch | Differs:
        """The plan for a request that no layer before had, or why there is none."""
        if not self._bound and self._confirm is None:
            return Differs("off")
        if any(intent.effect != "read" for intent in request.intents):
            return Differs("effects")
        candidate = self._agreed(request)
        if isinstance(candidate, Differs):
            return candidate
        found = gate(request, candidate)
        if isinstance(found, Differs):
            return found
        if not found.differing and self._is_proven(candidate):
            return NearMatch(bound=found.bound, candidate=candidate, confirmed=False)
        if self._confirm is None:
            return Differs("unconfirmed", ", ".join(found.differing)) if found.differing else Differs("unproven")
        try:
            answer: Any = self._confirm(request.text, candidate.entry.text)
        except Exception as fault:  # noqa: BLE001 - the host's code: whatever it raises confirms nothing
            return Differs("confirm-failed", _told(fault))
        if answer is not True:  # what is only true-like (a coroutine nobody awaits, "no") has confirmed nothing
            if answer is not False:
                return Differs("refused", candidate.entry.text)
            self.thresholds.record(candidate.entry.plan, candidate.score, right=False)
            return Differs("refused", candidate.entry.text)
        self.thresholds.record(candidate.entry.plan, candidate.score, right=True)
        return NearMatch(bound=found.bound, candidate=candidate, confirmed=True)

    def _agreed(self, request: Request) -> Candidate | Differs:
        """The nearest candidate, if the best of both retrievers is one plan."""
        if request.language not in self._retrievers:
            return Differs("no-candidate")
        known = self._entries[request.language]
        best = [retriever.nearest(request.loose_form, 1) for retriever in self._retrievers[request.language]]
        if not all(best):
            return Differs("no-candidate")
        first, second = (known[found[0][0]] for found in best)
        if first.plan != second.plan:
            return Differs("retrievers", f"{first.text} | {second.text}")
        score = min(found[0][1] for found in best)
        return Candidate(first, score) if score >= FAR else Differs("no-candidate", f"{score:.2f}")

    def _is_proven(self, candidate: Candidate) -> bool:
        if not self._bound:
            return False
        least = self.thresholds.threshold(candidate.entry.plan, self._bound)
        return least is not None and candidate.score >= least


def gate(request: Request, candidate: Candidate) -> Agrees | Differs:
    """Whether the words of the request allow a candidate's plan, by the table above."""
    entry = candidate.entry
    if not entry.general.read_only or any(intent.effect != "read" for intent in request.intents):
        return Differs("effects")
    ours, theirs = request.loose_form.split(" "), entry.form.split(" ")
    if [token for token in ours if _is_slot(token)] != [token for token in theirs if _is_slot(token)]:
        return Differs("slots", f"{request.loose_form} ≠ {entry.form}")
    words = lexicon_for(entry.general.language).words
    unknown = _unknown(ours, theirs, words.get)
    moved = _moved(ours, theirs, unknown)
    if moved is not None:
        return moved
    differing: list[str] = []
    for block in _blocks(ours, theirs):
        found = _differing(block, words.get)
        if isinstance(found, Differs):
            return found
        differing += found
    unlike = _unlike(ours, theirs, unknown)
    if unlike is not None:
        return unlike
    bound = Binder(entry.general).bind(request.slots)
    return Differs("values", bound.detail) if isinstance(bound, Refusal) else Agrees(bound, tuple(differing))


def _told(fault: Exception) -> str:
    """A fault in a line; what it says of itself is foreign code too, and may be no text that can be recorded."""
    from traceback import format_exception_only

    line = " ".join("".join(format_exception_only(fault)).split())
    return line.encode("utf-8", "replace").decode()[:_MOST_TOLD]


def _is_slot(token: str) -> bool:
    return token.startswith("{") and not token.startswith("{{")


class _Block(NamedTuple):
    """A stretch in which the two forms differ."""

    at_start: bool
    """Of both."""
    left: Sequence[str]
    right: Sequence[str]


def _blocks(ours: Sequence[str], theirs: Sequence[str]) -> Iterator[_Block]:
    for tag, a, b, c, d in SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes():
        if tag != "equal":
            yield _Block(a == c == 0, ours[a:b], theirs[c:d])


def _differing(block: _Block, look_up: LookUp) -> list[str] | Differs:
    """The words of a block that someone has to confirm; or that it may not be."""
    showing = [_showing(tokens, look_up, at_start=block.at_start) for tokens in (block.left, block.right)]
    said = f"{' '.join(block.left)} ≠ {' '.join(block.right)}"
    if len(showing[0]) != len(showing[1]):
        return Differs("verbs", said)
    differing: list[str] = []
    for token in (*block.left, *block.right):
        word = look_up(token)
        if word is None and not token.isalpha():
            return Differs("words", token)
        if word is None or word.roles == _ARTICLE:
            differing.append(token)
        elif token not in {*showing[0], *showing[1]}:
            return Differs("words", token)
    numbers = [{_NUMBER[token] for token in side if token in _NUMBER} for side in (block.left, block.right)]
    return Differs("form", said) if all(numbers) and numbers[0] != numbers[1] else differing


class _Unknown(NamedTuple):
    """What nobody knows in two forms."""

    ours: list[str]
    theirs: list[str]
    both: frozenset[str]


def _unknown(ours: Sequence[str], theirs: Sequence[str], look_up: LookUp) -> _Unknown:
    left, right = (
        [token for token in form if not _is_slot(token) and look_up(token) is None] for form in (ours, theirs)
    )
    return _Unknown(left, right, frozenset(left).intersection(right))


def _moved(ours: Sequence[str], theirs: Sequence[str], unknown: _Unknown) -> Differs | None:
    """Who does it to whom is said by the order, whatever the words are."""
    left, right = ([token for token in form if token in unknown.both or _is_slot(token)] for form in (ours, theirs))
    return None if left == right else Differs("order", f"{' '.join(left)} ≠ {' '.join(right)}")


def _unlike(ours: Sequence[str], theirs: Sequence[str], unknown: _Unknown) -> Differs | None:
    """What unknown words say by their place or their form: a unit, or how many and when."""
    left, right = ([token for token in said if token not in unknown.both] for said in unknown[:2])
    for form, tokens in ((ours, left), (theirs, right)):
        for at, token in enumerate(form):
            if token in tokens and not _COUNTS.isdisjoint((*form[max(0, at - 1) : at], *form[at + 1 : at + 2])):
                return Differs("unit", token)
    for one in left:
        for other in right:
            if is_one_word(one, other):
                return Differs("form", f"{one} ≠ {other}")
    return None


def is_one_word(left: str, right: str) -> bool:
    """Whether two words may be forms of one: singular and plural, two tenses, with an accent and without."""
    one, other = (normalize("NFD", word.casefold()) for word in (left, right))
    one, other = ("".join(filter(str.isalpha, word)) for word in (one, other))
    if one == other:
        return True
    same = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return same >= _STEM and max(len(one), len(other)) - same <= _ENDING


def _showing(tokens: Sequence[str], look_up: LookUp, *, at_start: bool) -> list[str]:
    """The verbs among `tokens` that ask to be shown something; what may be a noun, too, is one at the start only."""
    found: list[str] = []
    for number, token in enumerate(tokens):
        word = look_up(token)
        if word is None or word.verb != _SHOWING or word.effect != "read":
            continue
        if word.roles == _VERB or (at_start and number == 0):
            found.append(token)
    return found
