"""What the person said, explained token by token. Pure data; `request.understand` makes it."""

from __future__ import annotations

from typing import Any, Final, Literal, Protocol, get_args

import msgspec

from metnos.sdk import EffectClass

SlotKind = Literal[
    "path", "glob", "integer", "number", "size", "duration", "time", "date", "period", "address", "url", "quoted", "name",
    "paths", "globs", "addresses", "urls", "texts",
]  # fmt: skip
Act = Literal["append", "copy", "delete", "make_folder", "move", "rename", "write"]
"""What may be asked to be done to files, as a model may read it (`request.acts`)."""
ACTS: Final[tuple[Act, ...]] = get_args(Act)
LIST_OF: dict[SlotKind, SlotKind] = {
    "path": "paths",
    "glob": "globs",
    "address": "addresses",
    "url": "urls",
    "quoted": "texts",
}
"""Kind of an item → kind of a list of such items."""


class Span(msgspec.Struct, frozen=True, kw_only=True):
    """`text[start:end]` and the one reason why it is there. Spans tile the text."""

    start: int
    end: int
    reason: str
    """`slot(kind)`, `keyword(word)`, `synonym(of)`, `typo(of)`, `polite`, `stop`, `space`, `unknown`."""


class Slot(msgspec.Struct, frozen=True, kw_only=True):
    kind: SlotKind
    start: int
    end: int
    text: str
    value: Any
    """The value the slot's own rule gives: "1 MB" → 1000000, "PDFs" → "*.pdf", "five" → 5; a duration → ISO 8601; a
    date → ISO 8601, `--MM-DD` or a word that counts from today; a period → its RUNTIME key (or two, `day-7..day`); of a
    list → the list of the values."""
    items: tuple[Slot, ...] = ()
    """Of a list: its items."""


class RequestIntent(msgspec.Struct, frozen=True, kw_only=True):
    verb: str
    object: str
    effect: EffectClass = "read"
    """The strongest effect these words ask for."""
    modifiers: tuple[str, ...] = ()


class Clause(msgspec.Struct, frozen=True, kw_only=True):
    start: int
    end: int
    intents: tuple[RequestIntent, ...] = ()


class Explanation(Protocol):
    """What each token is there for, and what is asked for."""

    @property
    def spans(self) -> tuple[Span, ...]:
        """They tile the text."""
        ...

    @property
    def clauses(self) -> tuple[Clause, ...]:
        """In the order said."""
        ...

    def has_unknown(self) -> bool:
        """Whether a span is `unknown`; asked far more often than the spans themselves."""
        ...


class Told(msgspec.Struct, frozen=True):
    """An explanation that is there already."""

    spans: tuple[Span, ...] = ()
    clauses: tuple[Clause, ...] = ()

    def has_unknown(self) -> bool:
        """Whether a span is `unknown`."""
        return any(span.reason == "unknown" for span in self.spans)


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """A request as it is looked up; `spans`, `clauses` and `intents` are worked out when somebody asks."""

    text: str
    language: str
    normal_form: str
    """Strict grade, slots abstracted as `{kind}`; equal forms are equal requests up to slot values."""
    loose_form: str = ""
    """Loose grade, for requests that only read: the strict form without what `metnos.request.loose` may drop."""
    slots: tuple[Slot, ...] = ()
    negated: bool = False
    explanation: Explanation = Told()

    @property
    def spans(self) -> tuple[Span, ...]:
        """Every part of the text with its reason; they tile it."""
        return self.explanation.spans

    @property
    def clauses(self) -> tuple[Clause, ...]:
        """The clauses with what each asks for."""
        return self.explanation.clauses

    @property
    def unknown(self) -> tuple[str, ...]:
        """What nothing explains, as it was written."""
        if not self.explanation.has_unknown():
            return ()
        return tuple([self.text[span.start : span.end] for span in self.spans if span.reason == "unknown"])

    @property
    def intents(self) -> tuple[RequestIntent, ...]:
        """What is asked for, in the order said."""
        return tuple(intent for clause in self.clauses for intent in clause.intents)
