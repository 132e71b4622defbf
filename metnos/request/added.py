"""Lexicons that an operator adds to the shipped ones: the words of a domain (a bank, a house), one file a language.

Law: a file only adds. It cannot change what a shipped word stands for, fold away a word that turns a request's meaning
(polarity, number, person, question), or touch a word that is a value; each of these is a fault that names the file and
the word. Synonyms are declared, never learned. The digest of what was added is part of the lexicon.

    language = "en"
    synonyms = "forecast|outlook turn_off|switch_off"   # `_` stands for a space; the first of a group is its form
    content = "weather"       # words that are explained and stand for themselves
    named = "labelled"        # a bare name may follow
    polite = "alexa"          # may be left out in the loose grade, where "please" may
    opening = "hey siri, ok google"   # phrases that open a request and say nothing
    definite = "lights music"   # nouns before which the loose grade may leave out the article
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from metnos import plainfile
from metnos.request.building import phrases
from metnos.request.reading import by_first
from metnos.request.tokens import tokenise
from metnos.request.words import Fold, Lexicon, LexiconFault, Role, Word

MOST_BYTES = 1_048_576
_TURNING: frozenset[Role] = frozenset(("negation", "quantifier", "question", "modal", "pronoun", "past"))
"""Roles of words that no phrase may fold away: they turn what a request means."""


_NAMING: frozenset[Role] = frozenset(("content", "object", "verb"))


class Source(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The file as written."""

    language: str
    synonyms: str = ""
    content: str = ""
    named: str = ""
    polite: str = ""
    opening: str = ""
    definite: str = ""


def with_file(lexicons: Sequence[Lexicon], path: Path) -> tuple[Lexicon, ...]:
    """`lexicons` with the words of one file added to the one of its language.

    Raises:
        LexiconFault: it cannot be read, or says something that the law forbids; file and word are named.
    """
    try:
        data = plainfile.read(path, MOST_BYTES)
        source = msgspec.convert(tomllib.loads(data.decode()), Source)
    except (OSError, ValueError, RecursionError) as fault:
        raise LexiconFault(f"{path}: {fault}") from fault
    languages = [lexicon.language for lexicon in lexicons]
    if source.language not in languages:
        raise LexiconFault(f"{path}: no lexicon of language {source.language!r}; there is: {', '.join(languages)}")
    at = languages.index(source.language)
    adding = _Adding(lexicons[at], str(path))
    extended = adding.extended(source, data.replace(b"\r\n", b"\n"))
    return (*lexicons[:at], extended, *lexicons[at + 1 :])


class _Adding:
    """One file being added to one lexicon."""

    def __init__(self, base: Lexicon, file: str) -> None:
        self.base = base
        self.file = file
        self.words = dict(base.words)
        self.folds = {fold.words: fold for found in base.folds.values() for fold in found}
        times, said = base.times, {p.words[0] for found in base.said.values() for p in found if len(p.words) == 1}
        tables = (
            base.numbers,
            base.multipliers,
            base.types,
            base.plural_types,
            base.days,
            times.durations,
            times.months,
        )
        self.values = frozenset(base.units).union(said, times.meridiems, *tables)

    def fault(self, word: str, why: str) -> LexiconFault:
        return LexiconFault(f"{self.file}: {word!r} {why}")

    def extended(self, source: Source, data: bytes) -> Lexicon:
        """The lexicon with all of it."""
        for word in (*source.content.split(), *source.named.split()):
            self.stand(self.one(word), "content")
        for word in source.polite.split():
            self.stand(self.one(word), "polite")
        for group in source.synonyms.split():
            self.group(group)
        base, loose = self.base, self.base.loose
        opening = phrases(source.opening)
        for phrase in opening:
            self.refuse_turning(" ".join(phrase.words), phrase.words)
        polite = loose.polite | {self.one(word) for word in source.polite.split()}
        folds = sorted(self.folds.values(), key=lambda fold: -len(fold.words))
        openings = sorted(
            (*(p for found in base.openings.values() for p in found), *opening), key=lambda p: -len(p.words)
        )
        more = {word for phrase in opening for word in phrase.words} | {w for fold in folds for w in fold.words}
        definite = {self.words[word].canonical for word in map(self.noun, source.definite.split())}
        loose = msgspec.structs.replace(loose, polite=polite, article_before=loose.article_before | definite)
        return msgspec.structs.replace(
            base,
            words=self.words,
            folds=_by_first_word(folds),
            openings=by_first(openings),
            named=base.named | {self.one(word) for word in source.named.split()},
            loose=loose,
            loose_triggers=loose.triggers,
            known=base.known.union(self.words, more),
            digest=f"sha256:{hashlib.sha256(f'{base.digest} '.encode() + data).hexdigest()}",
        )

    def one(self, text: str) -> str:
        """`text` as one folded word."""
        words = self.spelled(text)
        if len(words) != 1:
            raise self.fault(text, "is more than one word")
        return words[0]

    def noun(self, text: str) -> str:
        """`text` as a word that names a thing, and nothing that turns, counts or relates."""
        word = self.one(text)
        known = self.words.get(word)
        if known is None:
            self.stand(word, "content")
        elif not known.roles <= _NAMING:
            raise self.fault(word, "names no thing")
        return word

    def spelled(self, text: str) -> tuple[str, ...]:
        """The folded words of an item; `_` is a space."""
        tokens = [token for token in tokenise(text.replace("_", " ")) if token.kind != "space"]
        odd = next((token.key for token in tokens if token.kind != "word"), "" if tokens else text)
        if odd or not tokens:
            raise self.fault(text, "is no word")
        return tuple(token.key for token in tokens)

    def stand(self, word: str, role: Role) -> None:
        """`word` is explained and stands for itself, unless it is known already."""
        if word in self.values:
            raise self.fault(word, "is a value of its own")
        known = self.words.get(word)
        if known is None:
            reason = "polite" if role == "polite" else f"keyword({word})"
            self.words[word] = Word(canonical=word, reason=reason, roles=frozenset((role,)))
        elif known.canonical != word:
            raise self.fault(word, f"stands for {known.canonical!r} already")

    def group(self, group: str) -> None:
        """`a|b|c`: the others stand for the first."""
        first, *others = (self.spelled(item) for item in group.split("|"))
        for words in (first, *others):
            if len(words) > 1:
                self.refuse_turning(group, words)
        if len(first) == 1:
            self.stand(first[0], "content")
        form = " ".join(first)
        for words in others:
            if len(words) == 1:
                self.synonym(words[0], first)
            else:
                self.fold(words, form, self.words.get(form))

    def synonym(self, word: str, first: tuple[str, ...]) -> None:
        form = " ".join(first)
        if word in self.values:
            raise self.fault(word, "is a value of its own")
        known = self.words.get(word)
        if known is not None and known.canonical != form:
            raise self.fault(word, f"stands for {known.canonical!r} and for {form!r}")
        same = self.words[form] if len(first) == 1 else Word(canonical=form, reason="", roles=frozenset(("content",)))
        if word != form:
            self.words[word] = msgspec.structs.replace(same, reason=f"synonym({form})")

    def fold(self, words: tuple[str, ...], form: str, word: Word | None) -> None:
        known = self.folds.get(words)
        if known is not None and known.form != form:
            raise self.fault(" ".join(words), f"stands for {known.form!r} and for {form!r}")
        self.folds[words] = Fold(words, form, word)

    def refuse_turning(self, said: str, words: Iterable[str]) -> None:
        """No word that turns the meaning is folded away with others."""
        for key in words:
            word = self.words.get(key)
            if word is not None and not word.roles.isdisjoint(_TURNING):
                raise self.fault(said, f"folds away {key!r}, which turns what a request means")
            if key in self.values:
                raise self.fault(said, f"holds {key!r}, which is a value of its own")


def _by_first_word(folds: Iterable[Fold]) -> dict[str, tuple[Fold, ...]]:
    table: dict[str, tuple[Fold, ...]] = {}
    for fold in folds:
        table[fold.words[0]] = (*table.get(fold.words[0], ()), fold)
    return table
