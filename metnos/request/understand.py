"""From text to a `Request`: tokens, language, slots, both normal forms. One pass, no choice twice.

Law: pure, total on any text, and the same for wordings and for requests. The strict form keeps word order and every
word; it folds case, width, spacing and declared synonyms, abstracts slots as `{kind}`, and drops nothing but a
closed list of polite openings and closings and the marks at the end of a sentence. The loose form is made beside it.

    >>> understand("Show me the five biggest files, please").normal_form
    'show me the {integer} largest files'
    >>> understand("Show me the five biggest files, please").loose_form
    'show me {integer} largest files'

What a lexicon says of a chunk of text is remembered, so most words of a request cost one look-up; slot rules run only
where a trigger stands; spans and intents wait until they are asked for (`explained.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from metnos.request.explained import Explained
from metnos.request.holding import as_itself, as_written, holds, mentions
from metnos.request.lexicon import lexicons as shipped
from metnos.request.loose import is_loose, is_said, opened
from metnos.request.model import Request, Slot
from metnos.request.sight import Found, Run, Seen, Sight
from metnos.request.slots import is_naming, rule_of, slot_at
from metnos.request.tokens import LONGEST_REMEMBERED, Piece, chunks_of, pieces_of
from metnos.request.unwanted import is_unwanted
from metnos.request.words import Lexicon

_END_MARKS = frozenset(".?!…")
_KEPT_MARKS = frozenset(",;:()")
_REMEMBERED = 16_384
"""Chunks that a normaliser keeps; then it begins anew."""


class _Heard(NamedTuple):
    """A chunk as each lexicon sees it."""

    known: tuple[int, ...]
    """How many of its tokens each lexicon explains."""
    seen: tuple[tuple[Seen, ...], ...]


def request_of(text: str, chunks: Sequence[str], seen: Sequence[Seen], lexicon: Lexicon) -> Request:
    """The request that the tokens of `text` are: both forms in one pass, slots, and an explanation that waits."""
    first, last = _trim(seen, lexicon)
    sight = Sight(seen[:last], lexicon)
    behind, read_as = _opened(sight, first)
    forms, runs, dropped, negated, unheld, mentioned = _walk(sight, first, behind)
    if mentioned:
        seen = [as_written(token) for token in seen]
        sight = Sight(seen[:last], lexicon)
        forms, runs, dropped, negated, _, _ = _walk(sight, first, behind)
    elif unheld:
        seen = list(seen)
        for place, at in unheld:
            seen[at] = as_itself(seen[at])
            forms[place] = seen[at].form
    normal = " ".join(forms)
    loose = normal
    if dropped:
        kept = [form for at, form in enumerate(forms) if at not in dropped]
        loose = " ".join([read_as, *kept] if read_as else kept)
    explained = Explained(text, chunks, seen, lexicon, first, last, runs)
    slots: tuple[Slot, ...] = ()
    if runs:
        spots = explained.spots()
        slots = tuple([_slot(text, spots, at, run) for at, run in runs if isinstance(run, Found)])
    if negated and is_unwanted(explained):
        negated = False
    return Request(
        text=text,
        language=lexicon.language,
        normal_form=normal,
        loose_form=loose,
        slots=slots,
        negated=negated,
        explanation=explained,
    )


class Normaliser:
    """Explains requests in the languages of some lexicons. Safe between threads."""

    def __init__(self, lexicons: Sequence[Lexicon] | None = None) -> None:
        """Over `lexicons`, in their order; None: the shipped ones."""
        self.lexicons = tuple(shipped() if lexicons is None else lexicons)
        self._index = {lexicon.language: index for index, lexicon in enumerate(self.lexicons)}
        self._memo: dict[str, _Heard] = {}

    def __call__(self, text: str, language: str | None = None) -> Request:
        """The request that `text` is; see `understand`."""
        chunks = chunks_of(text)
        memo = self._memo
        heard = [memo.get(chunk) or self._hear(chunk) for chunk in chunks]
        index = self._best(heard) if language is None else self._index_of(language)
        return request_of(text, chunks, [token for chunk in heard for token in chunk.seen[index]], self.lexicons[index])

    def _index_of(self, language: str) -> int:
        try:
            return self._index[language]
        except KeyError:
            there = ", ".join(self._index)
            raise ValueError(f"no lexicon for language {language!r}; there is: {there}") from None

    def _best(self, heard: Sequence[_Heard]) -> int:
        """The lexicon that explains more; a tie goes to the first."""
        counts = [sum(column) for column in zip(*[chunk.known for chunk in heard], strict=True)]
        return counts.index(max(counts)) if counts else 0

    def _hear(self, chunk: str) -> _Heard:
        pieces = pieces_of(chunk)
        heard = _Heard(
            tuple(sum(p.kind == "word" and p.key in lexicon.known for p in pieces) for lexicon in self.lexicons),
            tuple(tuple(_see(chunk, piece, lexicon) for piece in pieces) for lexicon in self.lexicons),
        )
        if len(chunk) <= LONGEST_REMEMBERED:
            if len(self._memo) >= _REMEMBERED:
                self._memo.clear()
            self._memo[chunk] = heard
        return heard


def _see(chunk: str, piece: Piece, lexicon: Lexicon) -> Seen:
    start, end, kind, key = piece
    raw = chunk[start:end]
    word = lexicon.words.get(key) if kind == "word" else None
    rule = rule_of(kind, key, lexicon)
    if word is not None:
        form, reason = word.canonical, word.reason
    elif kind == "punct" and key in _KEPT_MARKS:
        form, reason = key, "stop"
    else:
        # Braces are doubled, so no text looks like a slot.
        form, reason = key.replace("{", "{{").replace("}", "}}"), "unknown"
    may_go = key in lexicon.loose_triggers and kind in {"word", "punct"}
    negates = word is not None and "negation" in word.roles
    bare = word is None or not raw[0].islower()
    turns = kind == "word" and (key in lexicon.mentioning or (word is not None and word.holds != "always"))
    return Seen(
        start=start,
        end=end,
        kind=kind,
        key=key,
        raw=raw,
        said=key if kind == "word" else "",
        word=word,
        form=form,
        reason=reason,
        plain=kind == "word" and rule is None and not (may_go or negates or bare or turns or key in lexicon.folds),
        rule=rule,
        bare=kind == "word" and bare,
        announces=kind == "word" and is_naming(key, word, lexicon),
        quotes=key in lexicon.quoting,
        may_go=may_go,
        turns=turns,
        negates=negates,
    )


def _trim(seen: Sequence[Seen], lexicon: Lexicon) -> tuple[int, int]:
    """(first token that is kept, end of what is kept)."""
    first, last = 0, len(seen)
    while (behind := _behind_opening(seen, first, lexicon)) > first:
        first = behind
    last = _without_marks(seen, first, last)
    if last > first:
        for phrase in lexicon.closings.get(seen[last - 1].said, ()):
            start = last - len(phrase.words)
            if start >= first and _at(seen, start, phrase.words):
                if start > first and seen[start - 1].key == ",":
                    start -= 1
                elif is_said(seen, first, start, lexicon):
                    break
                return first, _without_marks(seen, first, start)
    return first, last


def _behind_opening(seen: Sequence[Seen], at: int, lexicon: Lexicon) -> int:
    """The first token behind a polite opening at `at`, with its comma; `at` if there is none."""
    if at < len(seen):
        for phrase in lexicon.openings.get(seen[at].said, ()):
            if _at(seen, at, phrase.words):
                behind = at + len(phrase.words)
                return behind + (behind < len(seen) and seen[behind].key == ",")
    return at


def _at(seen: Sequence[Seen], start: int, words: tuple[str, ...]) -> bool:
    return tuple([token.said for token in seen[start : start + len(words)]]) == words


def _without_marks(seen: Sequence[Seen], first: int, last: int) -> int:
    """Without the marks that end a sentence; the one right behind digits is a factorial's ("what is 5!")."""
    end = last
    while last > first and seen[last - 1].kind == "punct" and seen[last - 1].key in _END_MARKS:
        last -= 1
    if last < end and seen[last].key == "!" and last > first and _is_short(seen[last - 1]):
        return end
    return last


def _is_short(token: Seen) -> bool:
    """A number that is no year."""
    return token.kind == "number" and len(token.key) < 4


def _opened(sight: Sight, first: int) -> tuple[int, str]:
    """What opens the request in the loose grade; nothing does where a slot or a folded phrase begins in it."""
    behind, read_as = opened(sight, first)
    whole = range(first, behind)
    return (first, "") if any(_run_at(sight, at, sight.tokens[at]) for at in whole) else (behind, read_as)


_Walked: TypeAlias = "tuple[list[str], list[tuple[int, Run]], set[int], bool, list[tuple[int, int]], bool]"


def _walk(sight: Sight, first: int, behind: int) -> _Walked:
    """One pass; `behind` is the first token behind what opens the request, and the loose form drops what is before it.

    Returns:
        The strict form; slots and folded phrases by their first token; what the loose form drops, by place in the form;
        whether it is negated; the synonyms that stand for themselves here, by place in the form and token; whether it
        speaks about words.
    """
    tokens, last, at = sight.tokens, sight.count, behind
    forms = [token.form for token in tokens[first:behind]]
    synonyms: list[tuple[int, int]] = []
    unheld: list[tuple[int, int]] = []
    known, mentioned = True, False
    runs: list[tuple[int, Run]] = []
    dropped = set(range(len(forms)))
    negated = any(token.negates for token in tokens[first:behind])
    while at < last:
        token = tokens[at]
        if token.plain:
            forms.append(token.form)
            at += 1
            continue
        if token.turns and not mentioned:
            mentioned = mentions(sight, at)
        run = _run_at(sight, at, token)
        if run is not None:
            runs.append((at, run))
            forms.append(run.reads)
            at += run.length
            continue
        negated = negated or (token.negates and sight.mark(at - 1) != "=")  # "paid = no" says a value
        if token.may_go and is_loose(sight, at):
            dropped.add(len(forms))
        if token.turns and token.reason.startswith("synonym"):
            (synonyms if holds(sight, first, at) else unheld).append((len(forms), at))
        if token.reason == "unknown":
            known = False
        forms.append(token.form)
        at += 1
    return forms, runs, dropped, negated, unheld if known else [*synonyms, *unheld], mentioned


def _run_at(sight: Sight, at: int, token: Seen) -> Run | None:
    """The slot at `at`, else the longest phrase that stands for another."""
    slot = slot_at(sight, at) if _may_be_slot(sight, at, token) else None
    if slot is None:
        for fold in sight.lexicon.folds.get(token.said, ()):
            if all(sight.key(at + i) == word for i, word in enumerate(fold.words)):
                return fold
    return slot


def _may_be_slot(sight: Sight, at: int, token: Seen) -> bool:
    """A rule of its own, or a bare word where a name may stand."""
    if token.rule is not None:
        return True
    if not token.bare:
        return False
    lexicon = sight.lexicon
    announced = at > 0 and sight.tokens[at - 1].announces
    return announced or token.raw in lexicon.names or sight.key(at + 1) in lexicon.name_before


def _slot(text: str, spots: Sequence[tuple[int, int]], at: int, found: Found) -> Slot:
    start, end = spots[at][0], spots[at + found.length - 1][1]
    items = tuple([_slot(text, spots, at + place, item) for place, item in found.items])
    return Slot(kind=found.kind, start=start, end=end, text=text[start:end], value=found.value, items=items)


_SHIPPED: list[Normaliser] = []


def understand(text: str, language: str | None = None) -> Request:
    """Explain `text` token by token, with the shipped lexicons; a `Normaliser` does it with others.

    Args:
        text: What was said, any Unicode.
        language: A shipped language; None: the one whose lexicon explains more, ties by declared order.

    Returns:
        The request; spans tile `text` and each token has one reason.

    Raises:
        ValueError: `language` has no lexicon.
    """
    if not _SHIPPED:
        _SHIPPED.append(Normaliser())
    return _SHIPPED[0](text, language)
