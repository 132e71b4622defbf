"""What a look-up answers: a `Match` with a whole plan, or a `Miss` with its reason. Pure data.

Law: a `Match` holds no `${SLOT:…}` any more, and every literal of its plan has its origin. A miss says why
with a reason of `MISS_REASONS` and nothing else; `detail` is for people, in words of the request itself.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

import msgspec

from metnos.request.model import Request

TemplateReason = Literal[
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
"""Why no template serves a request."""
LearnedReason = Literal[
    # A plan was learned for this request, and is not served (`cache.validity` compares):
    "executor-changed",  # a tool of the plan has another signature: contract, files, SDK, distributions
    "executor-removed",  # a tool of the plan is not in the catalog any more
    "executor-unavailable",  # a tool of the plan is there and cannot run now
    "family-changed",  # another tool could do what is asked for now, or one of these is gone
    "rules-changed",  # validator, guards, vocabulary, synonyms or plan language are others
    "policy-changed",
    "lexicon-changed",  # the owner's own lexicon files are others
    "channel-differs",  # it was learned in another class of channel
    "place-differs",  # the plan names a place unsaid, and folder, home or roots are others
    "expired",  # nobody used it for too long
    "clock-moved-back",  # it was learned in what is now the future
    "demoted",  # a turn that it was served to failed
    "negative-feedback",  # a person said that this plan was bad
    # What stood there was nothing that may be believed; it is in quarantine, and an alarm was sounded:
    "bad-signature",
    "signer-unknown",
    "malformed-row",
    "key-differs",  # a valid entry, under the key of another request
    "foreign-scope",  # a valid entry of another owner
    # Nothing was looked for:
    "not-seen",  # nothing was learned for this request
    "confirm-failed",  # a near one was found, and who was to confirm it raised something
    "store-unusable",  # the store cannot be read
    "attachments",
    "open-dialog",
    "unresolved-device",
    "resumed",  # a resumed turn reads no cache
    "no-cache",
    "refresh",
]
"""Why nothing that was learned serves a request; `docs/caching.md` has a row for each."""
MissReason = TemplateReason | LearnedReason
TEMPLATE_REASONS: tuple[TemplateReason, ...] = get_args(TemplateReason)
LEARNED_REASONS: tuple[LearnedReason, ...] = get_args(LearnedReason)
MISS_REASONS: tuple[MissReason, ...] = (*TEMPLATE_REASONS, *LEARNED_REASONS)


Layer = Literal["l0", "l1", "template", "near", "command"]
"""What served a request: the same request, the same form, a publisher's template, a near one, a slash command."""


class Match(msgspec.Struct, frozen=True, kw_only=True):
    """A plan that serves, whole: its slots are bound."""

    plan: dict[str, Any]
    """Framework v1 as JSON."""
    entry: str
    """`id@sha256:…`, for a learned one `l0:<key>@sha256:…`: the digest is over the signed bytes."""
    origins: dict[str, str]
    """JSON pointer of each literal in `plan` → `user` (it holds a bound slot) or `author`."""
    template: str = ""
    language: str = ""
    slots: dict[str, Any] = {}
    """Slot name → bound value, for people (`metnos cache explain`)."""
    layer: Layer = "template"


class Hole(msgspec.Struct, frozen=True, kw_only=True):
    """One slot that is missing at the end of a sentence."""

    template: str
    slot: str
    words: str
    """That come before it, in normal form; may be empty."""
    forms: tuple[str, ...]
    """Normal forms of the whole sentence, one for each kind that the slot takes."""


class Miss(msgspec.Struct, frozen=True, kw_only=True):
    """No known plan serves this request."""

    reason: MissReason
    detail: str = ""
    hole: Hole | None = None
    """What the sentence lacks, where it lacks one thing only."""


Bypass = Literal["", "attachments", "open-dialog", "unresolved-device", "resumed", "no-cache", "refresh"]
"""Why a turn does not read what was learned; empty: it does."""


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Where a turn stands: what a literal of a plan could name without its having been said."""

    folder: str = "/"
    home: str = ""
    roots: tuple[str, ...] = ()


class Asking(msgspec.Struct, frozen=True, kw_only=True):
    """Who asks, from where, and when: all that a look-up may know beside the request."""

    owner: str = "local"
    channel: str = "terminal"
    language: str = "en"
    now: int = 0
    """µs since 1970 UTC; nothing here reads a clock."""
    bypass: Bypass = ""
    place: Place = Place()


class Tried(msgspec.Struct, frozen=True, kw_only=True):
    """One key that a look-up looked under."""

    layer: Literal["l0", "l1"]
    grade: Literal["strict", "loose"]
    key: str
    entry: str = ""
    """Reference of what stands there; empty: nothing does, or nothing that is believed."""
    result: Match | Miss | None = None
    """None: nothing stands there."""


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """Why a request hit or missed."""

    request: Request
    tried: tuple[Tried, ...]
    result: Match | Miss


class Learned(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a success: the entries that were written, and why no more were (`admission.HELD`)."""

    admitted: tuple[str, ...] = ()
    held: tuple[str, ...] = ()


class Example(msgspec.Struct, frozen=True, kw_only=True):
    """One sentence that is known to hit."""

    template: str
    language: str
    text: str
    description: str
    effect: str = "read"
