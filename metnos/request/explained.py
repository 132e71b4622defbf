"""The explanation of a request, worked out when somebody asks: spans with their reasons, clauses with their intents.

Law: it says what the pass of `understand.py` decided, and decides nothing itself. Computed at most once; two threads
may compute it twice, to the same end.
"""

from __future__ import annotations

from collections.abc import Sequence

from metnos.request.intents import Element, clauses_of
from metnos.request.lexicon import lexicon_for
from metnos.request.model import Clause, Request, Span
from metnos.request.patterns import Keyed
from metnos.request.phrasal import is_phrase, with_verbs
from metnos.request.sight import Run, Seen
from metnos.request.tokens import places
from metnos.request.words import Lexicon

_END_MARKS = frozenset(".?!…")


class Explained:
    """An `Explanation` of tokens that were already judged."""

    __slots__ = (
        "_asking",
        "_chunks",
        "_clauses",
        "_first",
        "_last",
        "_lexicon",
        "_runs",
        "_seen",
        "_spans",
        "_spots",
        "_text",
        "_unknown",
    )

    def __init__(
        self,
        text: str,
        chunks: Sequence[str],
        seen: Sequence[Seen],
        lexicon: Lexicon,
        first: int,
        last: int,
        runs: Sequence[tuple[int, Run]],
    ) -> None:
        """`seen`: all tokens, of which `first` to `last` are kept; `runs`: slots and folded phrases by their first token."""
        self._text = text
        self._chunks = chunks
        self._seen = seen
        self._lexicon = lexicon
        self._first = first
        self._last = last
        self._runs = runs
        self._spans: tuple[Span, ...] | None = None
        self._clauses: tuple[Clause, ...] | None = None
        self._spots: list[tuple[int, int]] | None = None
        self._unknown: list[int] | None = None
        self._asking: list[tuple[int, int]] | None = None

    @property
    def lexicon(self) -> Lexicon:
        """The lexicon that explains."""
        return self._lexicon

    @property
    def basis(self) -> tuple[str, str]:
        """What it follows from, besides the text and the forms of its request."""
        return self._lexicon.language, self._lexicon.digest

    @property
    def chunks(self) -> Sequence[str]:
        """The text between white space."""
        return self._chunks

    @property
    def tokens(self) -> Sequence[Seen]:
        """Every token, with its place among the others."""
        return self._seen

    @property
    def asking(self) -> Sequence[tuple[int, int]]:
        """Where words stand that are a verb only together with others: (start, end) in the text."""
        if self._asking is None:
            self._asking = [(each.start, each.end) for each in self._elements() if is_phrase(each.word)]
        return self._asking

    @property
    def spans(self) -> tuple[Span, ...]:
        """They tile the text."""
        if self._spans is None:
            self._spans = self._tile()
        return self._spans

    @property
    def clauses(self) -> tuple[Clause, ...]:
        """In the order said."""
        if self._clauses is None:
            self._clauses = clauses_of(self._elements())
        return self._clauses

    def read_as(self, clauses: tuple[Clause, ...]) -> None:
        """Say these clauses from now on; for a copy that nobody else has yet."""
        self._clauses = clauses

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Explained) and (self.spans, self.clauses) == (other.spans, other.clauses)

    def __hash__(self) -> int:
        return hash((self._text, self._lexicon.language))

    def __repr__(self) -> str:
        return f"Explained(spans={self.spans!r}, clauses={self.clauses!r})"

    def has_unknown(self) -> bool:
        """Whether a span is `unknown`."""
        return bool(self.unknown())

    def unknown(self) -> Sequence[int]:
        """Tokens that nothing explains."""
        if self._unknown is None:
            self._unknown = self._unexplained()
        return self._unknown

    def _unexplained(self) -> list[int]:
        kept = self._seen[self._first : self._last]
        found = [at for at, token in enumerate(kept, self._first) if token.reason == "unknown"]
        if not found or not self._runs:
            return found
        inside = {at + step for at, run in self._runs for step in range(run.length)}
        return [at for at in found if at not in inside]

    def spots(self) -> Sequence[tuple[int, int]]:
        """Start and end of every token in the text."""
        if self._spots is None:
            self._spots = self._places()
        return self._spots

    def _places(self) -> list[tuple[int, int]]:
        spots: list[tuple[int, int]] = []
        at = 0
        for start, chunk in zip(places(self._text, self._chunks), self._chunks, strict=True):
            end = 0
            while end < len(chunk):
                token = self._seen[at]
                spots.append((start + token.start, start + token.end))
                end = token.end
                at += 1
        return spots

    def _groups(self) -> list[tuple[int, int, Run | None]]:
        """(first token, count, slot or phrase) of what is kept, in order."""
        runs = dict(self._runs)
        groups: list[tuple[int, int, Run | None]] = []
        at = self._first
        while at < self._last:
            run = runs.get(at)
            count = 1 if run is None else run.length
            groups.append((at, count, run))
            at += count
        return groups

    def _elements(self) -> list[Element]:
        spots = self.spots()
        elements: list[Keyed] = []
        for at, count, run in self._groups():
            start, end = spots[at][0], spots[at + count - 1][1]
            token = self._seen[at]
            if run is None:
                elements.append((Element(start, end, token.form, token.word), token.said))
            else:
                elements.append((Element(start, end, run.reads, run.word), ""))
        return with_verbs(elements, self._lexicon, self._text)

    def _tile(self) -> tuple[Span, ...]:
        explained = [(at, 1, "polite") for at in range(self._first)]
        for at, count, run in self._groups():
            explained.append((at, count, self._seen[at].reason if run is None else run.reason))
        for at in range(self._last, len(self._seen)):
            ends = self._seen[at].kind == "punct" and self._seen[at].key in _END_MARKS
            explained.append((at, 1, "stop" if ends else "polite"))
        spots = self.spots()
        spans: list[Span] = []
        position = 0
        for at, count, reason in explained:
            start, end = spots[at][0], spots[at + count - 1][1]
            if start > position:
                spans.append(Span(start=position, end=start, reason="space"))
            spans.append(Span(start=start, end=end, reason=reason))
            position = end
        if position < len(self._text):
            spans.append(Span(start=position, end=len(self._text), reason="space"))
        return tuple(spans)


def lexicon_of(request: Request) -> Lexicon:
    """The lexicon that explained a request, with the words that an operator added; else that of its language.

    Raises:
        ValueError: No lexicon of its language is shipped.
    """
    explanation = request.explanation
    if isinstance(explanation, Explained) and explanation.lexicon.language == request.language:
        return explanation.lexicon
    return lexicon_for(request.language)
