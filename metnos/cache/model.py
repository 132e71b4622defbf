"""What a look-up answers: a `Match` with a whole plan, or a `Miss` with its reason. Pure data.

Law: a `Match` holds no `${SLOT:…}` any more, and every literal of its plan has its origin. A miss says why
with a reason of `MISS_REASONS` and nothing else; `detail` is for people, in words of the request itself.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

import msgspec

MissReason = Literal[
    "empty-request",  # nothing was said
    "unknown-words",  # a span is `unknown`: the request is not wholly explained
    "negated",  # something is negated, and no template has these words
    "quantified",  # a quantifier stands outside the words of every template
    "unbound-slot",  # the words fit a template, one of the request's values does not
    "no-template",  # explained, but no template has this form
    "ambiguous",  # more than one template has this form
    "no-delete",  # the request asks for this, and no plan does it (with these words); so the ones below
    "no-move",
    "no-rename",
    "no-copy",
    "no-append",
    "no-send",
    "no-run",
    "no-library",  # no template was admitted for this language
]
MISS_REASONS: tuple[MissReason, ...] = get_args(MissReason)


class Match(msgspec.Struct, frozen=True, kw_only=True):
    """A template's plan with its slots bound."""

    plan: dict[str, Any]
    """Framework v1 as JSON."""
    entry: str
    """`id@sha256:…`: the digest is over the signed bytes."""
    origins: dict[str, str]
    """JSON pointer of each literal in `plan` → `user` (it holds a bound slot) or `author`."""
    template: str = ""
    language: str = ""
    slots: dict[str, Any] = {}
    """Slot name → bound value, for people (`metnos cache explain`)."""


class Miss(msgspec.Struct, frozen=True, kw_only=True):
    """No template serves this request."""

    reason: MissReason
    detail: str = ""


class Example(msgspec.Struct, frozen=True, kw_only=True):
    """One sentence that is known to hit."""

    template: str
    language: str
    text: str
    description: str
    effect: str = "read"
