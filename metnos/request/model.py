"""What the person said, explained token by token. Pure data; `request.understand` makes it."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from metnos.sdk import EffectClass

SlotKind = Literal[
    "path", "glob", "integer", "number", "size", "date", "period", "address", "url", "quoted", "name", "list"
]


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
    """The value the slot's own rule gives: "1 MB" → 1000000, "PDFs" → "*.pdf", "five" → 5; a period → its RUNTIME key (or two, `day-7..day`)."""


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


class Request(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    language: str
    normal_form: str
    """Strict grade, slots abstracted as `{kind}`; equal forms are equal requests up to slot values."""
    loose_form: str = ""
    """Loose grade, for requests that only read: the strict form without what `metnos.request.loose` may drop."""
    spans: tuple[Span, ...] = ()
    slots: tuple[Slot, ...] = ()
    clauses: tuple[Clause, ...] = ()
    negated: bool = False

    @property
    def intents(self) -> tuple[RequestIntent, ...]:
        return tuple(intent for clause in self.clauses for intent in clause.intents)
